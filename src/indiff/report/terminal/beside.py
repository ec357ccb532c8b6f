"""Prints a release beside its original: linkage, beliefs, the dropped-row test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from indiff import text as plain
from indiff.report.terminal import tables as terminal
from indiff.text import number, percent_down

if TYPE_CHECKING:
    from indiff.differential.beside.result import ReleaseResult


def show_release_result(
    console: Console, result: ReleaseResult, *, known: Sequence[str] = ()
) -> None:
    """Show which rows each record could be, what is believed about it, and the test if any."""
    linkage, shift = result.linkage.to_dict(), result.shift.to_dict()
    total = linkage["records"]

    def of_all(count: int) -> str:
        return f"{count:,} of {total:,} records ({percent_down(count, total)})"

    lines = [
        ("released rows", f"{linkage['released_rows']:,} for {result.table_size:,} records"),
        ("no candidate", of_all(linkage["no_candidate"])),
        ("one candidate", of_all(linkage["one_candidate"])),
        ("certain", f"{of_all(linkage['certain'])} whose closest candidates all hold their value"),
        ("candidates", _spread(linkage["candidates"])),
        ("closest", f"{_spread(linkage['closest'])}: the most specific candidates"),
        ("groups", _spread(linkage["groups"])),
    ]
    lines += [("note", plain.message(note)) for note in result.notes if note not in known]
    terminal.section(console, f"Linkage of records to rows of {plain.name(result.name)}", lines)
    believed = (
        f"believed with {number(shift['mean_belief_in_true_value'])} in the mean; its share "
        f"is {number(shift['mean_share_of_true_value'])}"
    )
    lines = [
        ("model", plain.message(result.model)),
        ("distance", plain.name(result.distance)),
        ("largest", number(shift["largest"])),
        ("mean", number(shift["mean"])),
        ("true value", f"{believed}; raised for {of_all(shift['true_value_raised'])}"),
        ("meaning", "learned from the crowd and from the record alike: no leak by itself"),
    ]
    about = plain.name(result.sensitive_name)
    terminal.section(console, f"Beliefs about {about} against its shares", lines)
    if result.test is None:
        reason = plain.message(result.skipped or "")
        terminal.section(console, "Dropped-row test", [("skipped", reason)])
    else:
        terminal.show_result(console, result.test, known=(*known, *result.notes))


def _spread(counts: dict[str, Any]) -> str:
    return (
        f"{counts['least']:,} to {counts['most']:,} a record, median {counts['median']:g}, "
        f"mean {number(counts['mean'])}"
    )
