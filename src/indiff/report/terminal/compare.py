"""Prints a comparison of settings, within 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.report.words import (
    MEASURES,
    RISK_COLUMNS,
    UTILITY_COLUMNS,
    compared_number,
)

LONGEST_SETTING = 30


def show_comparison(console: Console, document: Mapping[str, Any]) -> None:
    """Show the settings' risk, then what they keep, then what failed and what is recommended."""
    rows, before = document["rows"], document["before"]
    original = {"setting": "(original records)", **before}
    heading = "Risk: lower is safer, but for k and ℓ"
    _show(console, heading, [original, *rows], RISK_COLUMNS, lambda row: row.get("exactness") or "")
    kept = {"setting": "(original records)", "accuracy": before["accuracy"]}
    kept |= {"ncp": 0.0, "average_group": None, "discernibility": None}
    heading = "Utility: lower keeps more, but for accuracy"
    _show(console, heading, [kept, *rows], UTILITY_COLUMNS, _front)
    measure = MEASURES[document["utility"]]
    predicted = f"of predicting {plain.name(document['task'])} for records held out"
    majority = compared_number(document["accuracy_majority"])
    lines = [
        ("front", f"no other setting has less δ and keeps more by {measure}"),
        ("accuracy", f"{predicted}; the most frequent value alone: {majority}"),
        ("seed", str(document["seed"])),
        ("fingerprint", document["fingerprint"][:16]),
    ]
    lines += [(_name(row), f"FAILED: {plain.message(row['reason'])}") for row in rows if _lost(row)]
    unmet = [row for row in rows if row["constraint_met"] is False]
    lines += [(_name(row), "its own constraint is NOT met: never recommended") for row in unmet]
    lines += [("note", plain.message(note)) for note in _notes(rows)]
    section(console, f"{len(rows):,} settings, {document['records']:,} records", lines)


def _show(
    console: Console,
    heading: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    last: Callable[[Mapping[str, Any]], str],
) -> None:
    cells = [
        (
            _name(row),
            *(compared_number(row.get(key)) for key in columns),
            "FAILED" if _lost(row) else last(row),
        )
        for row in rows
    ]
    shown = [("setting", "left"), *right(*columns.values()), ("", "left")]
    show_grid(console, heading, shown, cells, gap=1)


def _name(row: Mapping[str, Any]) -> str:
    return plain.shortened(plain.escaped(row["setting"]), LONGEST_SETTING)


def _front(row: Mapping[str, Any]) -> str:
    return "on the front" if row.get("on_front") else ""


def _lost(row: Mapping[str, Any]) -> bool:
    return row.get("status") == "failed"


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each note once, with the settings that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in row["notes"]:
            if not note.startswith("normalised_average_group"):  # not shown here
                about.setdefault(note, []).append(_name(row))
    return [f"{', '.join(names)}: {note}" for note, names in about.items()]
