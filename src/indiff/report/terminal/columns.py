"""Prints which columns identify people: what each gives away, why, and the telling sets."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from indiff import text as plain
from indiff.report.terminal.tables import print_clean, right, section, show_grid
from indiff.text import percent

if TYPE_CHECKING:
    from rich.console import Console

    from indiff.risk.identifying.columns import ColumnFound, ColumnSet, IdentifyingColumns

MOST_SETS = 10


def show_columns(
    console: Console, found: IdentifyingColumns, data: str, notes: Sequence[str]
) -> None:
    """Show every column, the sets, what was noted while reading, and what the words mean."""
    source = plain.name(Path(data).name)
    columns = [("column", "fold"), ("role, guessed", "left"), *right("values", "missing", "alone")]
    columns += right("distinct", "separate")
    rows = [
        [
            plain.name(one.column), one.role, f"{one.distinct:,}", f"{one.missing:,}",
            f"{one.singled_out:,}", percent(one.distinction), percent(one.separation),
        ]
        for one in found.columns
    ]  # fmt: skip
    show_grid(console, f"Columns of {source}, {found.records:,} records", columns, rows, gap=1)
    section(console, "Why these roles", [(plain.name(x.column), _why(x)) for x in found.columns])
    _show_sets(console, found)
    if notes:
        section(console, "Beside", [("note", plain.message(note)) for note in notes])
    section(
        console,
        "Words",
        [
            ("alone", "records that no other record equals in these columns"),
            ("distinct", "different combinations of values for each record (distinction)"),
            ("separate", "pairs of records that differ in these columns (separation)"),
            ("quasi", "what an attacker may know from elsewhere; roles are yours to decide"),
            ("next", f"indiff audit --init {shlex.quote(data)} writes a plan with these roles"),
        ],
    )


def _why(one: ColumnFound) -> str:
    """Return the reason for a role, and what else speaks for a kind of identifier."""
    said = "name" if one.reason.startswith("its name") else "spread"
    more = [x for x in one.evidence if str(x) not in one.reason and x.how != said]
    if one.kind == "date":  # which the reason says
        more = [x for x in more if x.how != "value"]
    return "; ".join([one.reason, *map(str, more)])


def _show_sets(console: Console, found: IdentifyingColumns) -> None:
    share, most = percent(found.share), f"of up to {found.size} columns"
    if found.size == 1:
        most = "of 1 column"
    if found.telling:
        heading = f"Smallest sets {most} that single out {share} of the records or more"
        _show(console, heading, found.telling[:MOST_SETS], found.records)
        if len(found.telling) > MOST_SETS:
            more = len(found.telling) - MOST_SETS
            print_clean(console, f"and {more:,} more; --json FILE has them all")
        return
    heading = f"No set {most} singles out {share} of the records; these single out most"
    _show(console, heading, found.most_telling, found.records)


def _show(console: Console, heading: str, sets: Sequence[ColumnSet], records: int) -> None:
    columns = [("columns", "fold"), *right("alone", "share", "distinct", "separate")]
    rows = [
        [
            " + ".join(plain.name(name) for name in one.columns), f"{one.singled_out:,}",
            percent(one.singled_out / records), percent(one.distinction),
            percent(one.separation),
        ]
        for one in sets
    ]  # fmt: skip
    show_grid(console, heading, columns, rows)
