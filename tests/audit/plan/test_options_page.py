"""The page of options is what the declarations say.

``python -m tests.audit.plan.test_options_page`` writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indiff.audit.plan.changes import COMMANDS
from indiff.audit.plan.option import REQUIRED
from indiff.audit.plan.options import SECTIONS
from indiff.audit.plan.recipe import OPTIONS, Declared, options_of

PAGE = Path(__file__).parents[3] / "docs" / "options.md"


def test_the_page_is_made_from_the_declarations() -> None:
    assert PAGE.read_text(encoding="utf-8") == options_page()


def test_the_audits_page_names_every_key_of_a_plan() -> None:
    rows = (PAGE.parent / "audit.md").read_text(encoding="utf-8").splitlines()
    for section in filter(None, SECTIONS):
        (row,) = (one for one in rows if one.startswith(f"| `[{section}]` |"))
        keys = [x.field for x in OPTIONS.values() if x.section == section and section != "limits"]
        assert [key for key in keys if f"`{key}`" not in row] == []


def options_page() -> str:
    """Return ``docs/options.md``: every option with its range, default, help and commands."""
    lines = [
        "# Options",
        "",
        "Every option of `indiff " + "`, `indiff ".join(COMMANDS) + "`, as it is declared in",
        "`indiff.audit.plan.options`. A plan (TOML) and `indiff.Plan` in Python name it",
        "by the key of its section.",
        "This page is written by `python -m tests.audit.plan.test_options_page`.",
    ]
    for section, holder in SECTIONS.items():
        title = f"`[{section}]` in a plan" if section else "Only on the command line"
        lines += ["", f"## {title}", "", str(holder.__doc__), ""]
        heads = ["key", "option", "default", "range", "commands", "what it says"]
        lines += [_row(heads), _row(["---"] * len(heads))]
        lines += [_row(_cells(one)) for one in OPTIONS.values() if one.section == section]
    return "\n".join(lines) + "\n"


def _cells(one: Declared) -> list[str]:
    takers = {command: _taken(command, one.name) for command in COMMANDS}
    option = one.option
    typed = option.metavar if one.name == "data" else f"--{one.name} {option.metavar or ''}".strip()
    typed = f"`{typed}`" if any(takers.values()) else ""
    words = [option.help]
    for command, taken in takers.items():
        if taken is not None and taken.option.help != option.help:
            words.append(f"On {command}: {taken.option.help}")
        if taken is not None and taken.default != one.default:
            words.append(f"Default on {command}: {_default(taken.default) or 'none'}.")
    commands = ", ".join(command for command, taken in takers.items() if taken is not None)
    return [
        f"`{one.field}`", typed, _default(one.default),
        one.bounds and f"`{one.bounds}`", commands or "plans", " ".join(words),
    ]  # fmt: skip


def _taken(command: str, name: str) -> Declared | None:
    return next((one for one in options_of(command) if one.name == name), None)


def _default(value: Any) -> str:
    if value is REQUIRED:
        return "required"
    return "" if value is None or value == {} or value == [] else f"`{value}`"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(options_page(), encoding="utf-8")
