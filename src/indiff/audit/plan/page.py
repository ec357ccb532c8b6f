"""Writes the page of options from their declarations: ``python -m indiff.audit.plan.page``."""

from __future__ import annotations

from typing import Any

from indiff.audit.plan.recipe import COMMANDS, OPTIONS, REQUIRED, SECTIONS, Declared, options_of


def options_page() -> str:
    """Return ``docs/options.md``: every option with its range, default, help and commands."""
    lines = [
        "# Options",
        "",
        "Every option of `indiff " + "`, `indiff ".join(COMMANDS) + "`, as it is declared in",
        "`indiff.audit.plan.options`. A plan (TOML) and `indiff.Plan` in Python name it",
        "by the key of its section.",
        "This page is written by `python -m indiff.audit.plan.page > docs/options.md`.",
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
    words = [option.help]
    for command, taken in takers.items():
        if taken is not None and taken.option.help != option.help:
            words.append(f"On {command}: {taken.option.help}")
        if taken is not None and taken.default != one.default:
            words.append(f"Default on {command}: {_default(taken.default) or 'none'}.")
    commands = ", ".join(command for command, taken in takers.items() if taken is not None)
    return [
        f"`{one.field}`", f"`{typed}`", _default(one.default),
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
    print(options_page(), end="")  # noqa: T201 - the page is what this module prints
