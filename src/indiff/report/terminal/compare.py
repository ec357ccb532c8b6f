"""A comparison on a terminal, within 80 columns, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from indiff import text as plain
from indiff.report.terminal.tables import headline, number, print_clean, section

LONGEST_SETTING = 30
_RISK = (("delta", "δ"), ("mean", "mean"), ("itpr", "ITPR"), ("k", "k"), ("l", "ℓ"), ("t", "t"))
_UTILITY = (
    ("ncp", "NCP"),
    ("discernibility", "discernib."),
    ("average_group", "av. group"),
    ("accuracy", "accuracy"),
)
MEASURES = {
    "ncp": "NCP",
    "discernibility": "discernibility",
    "average_group": "average group",
    "accuracy": "accuracy",
}


def show_comparison(console: Console, document: Mapping[str, Any]) -> None:
    """Show the settings' risk, then what they keep, then what failed and what is recommended."""
    rows, before = document["rows"], document["before"]
    original = {"setting": "(original records)", **before}
    headline(console, "Risk: lower is safer, but for k and ℓ")
    _show(console, [original, *rows], _RISK, lambda row: row.get("exactness") or "")
    kept = {"setting": "(original records)", "accuracy": before["accuracy"]}
    kept |= {"ncp": 0.0, "average_group": None, "discernibility": None}
    headline(console, "Utility: lower keeps more, but for accuracy")
    _show(console, [kept, *rows], _UTILITY, lambda row: "on the front" if _front(row) else "")
    lines = [
        ("front", f"no other setting has less δ and keeps more by {_measure(document)}"),
        (
            "accuracy",
            f"of predicting {plain.name(document['task'])} for records held out; the most frequent "
            f"value alone: {number(document['accuracy_majority'])}",
        ),
        ("seed", str(document["seed"])),
        ("fingerprint", document["fingerprint"][:16]),
    ]
    lines += [(_name(row), f"FAILED: {plain.message(row['reason'])}") for row in rows if _lost(row)]
    unmet = [row for row in rows if row["constraint_met"] is False]
    lines += [(_name(row), "its own constraint is NOT met: never recommended") for row in unmet]
    for note in _notes(rows):
        lines.append(("note", plain.message(note)))
    section(console, f"{len(rows):,} settings, {document['records']:,} records", lines)


def recommendation(document: Mapping[str, Any]) -> str:
    """Say in a sentence what is recommended, or that nothing is."""
    limits = ", ".join(
        f"{name} {'at least' if name in ('k', 'l') else 'at most'} {value:g}"
        for name, value in document["limits"].items()
    )
    if document["recommended"] is None:
        return f"no setting keeps {limits}: try stronger ones"
    return (
        f"{plain.message(document['recommended'])} keeps {limits}, and of those that do it keeps "
        f"most by {_measure(document)}"
    )


def to_markdown(document: Mapping[str, Any]) -> str:
    """Return the comparison as Markdown: one table, then what failed and what is recommended."""
    columns = [*_RISK, *_UTILITY]
    titles = ["setting", *(title for _, title in columns), "front", "status"]
    out = ["# Comparison", "", _line(titles), _line(["---"] * len(titles))]
    for row in document["rows"]:
        cells = [_cell(row.get(key)) for key, _ in columns]
        front = "on the front" if row["on_front"] else ""
        out.append(_line([_escaped(row["setting"]), *cells, front, row["status"]]))
    out.append("")
    for row in document["rows"]:
        if _lost(row):
            out.append(f"- {_escaped(row['setting'])} failed: {_escaped(row['reason'])}")
    if document["limits"]:
        out.append(f"- Recommended: {_escaped(recommendation(document))}.")
    out.append(
        f"- The front is for δ against {_measure(document)}. Accuracy is that of predicting "
        f"{_escaped(document['task'])} for held-out records "
        f"({_cell(document['before']['accuracy'])} from the original records, "
        f"{_cell(document['accuracy_majority'])} by the most frequent value)."
    )
    return "\n".join(out) + "\n"


def _show(
    console: Console,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[tuple[str, str]],
    last: Any,
) -> None:
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    grid.add_column("setting", no_wrap=True)
    for _, title in columns:
        grid.add_column(title, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    for row in rows:
        cells = [_cell(row.get(key)) for key, _ in columns]
        end = "FAILED" if _lost(row) else last(row)
        grid.add_row(Text(_name(row)), *cells, Text(end))
    print_clean(console, grid)


def _name(row: Mapping[str, Any]) -> str:
    return plain.shortened(plain.escaped(row["setting"]), LONGEST_SETTING)


def _front(row: Mapping[str, Any]) -> bool:
    return bool(row.get("on_front"))


def _lost(row: Mapping[str, Any]) -> bool:
    return row.get("status") == "failed"


def _measure(document: Mapping[str, Any]) -> str:
    return MEASURES[document["utility"]]


def _cell(value: Any) -> str:
    """Write a number in at most eight characters; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}" if value < 1_000_000 else f"{value:.2e}"
    return number(float(value))


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each note once, with the settings that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in row["notes"]:
            if not note.startswith("normalised_average_group"):  # not shown here
                about.setdefault(note, []).append(_name(row))
    return [f"{', '.join(names)}: {note}" for note, names in about.items()]


def _escaped(text: str) -> str:
    """Write text so that Markdown shows it as it is, in one cell."""
    safe = plain.message(text)
    return "".join("\\" + letter if letter in r"\`*_{}[]<>()#+!|~" else letter for letter in safe)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
