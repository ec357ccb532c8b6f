"""Shows in the terminal what several releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.text import percent_down

if TYPE_CHECKING:
    from indiff.differential.beside.several_result import SeveralResult

_PAIRS = 10  # shown, those that do most damage


def show_several(console: Console, result: SeveralResult, *, known: Sequence[str] = ()) -> None:
    """Show what each release leaves by itself, what each one more adds, and the worst pairs."""
    document, total = result.to_dict(), len(result.records)

    def of_all(count: int) -> str:
        return f"{count:,} of {total:,} records ({percent_down(count, total)})"

    lines = [
        ("determined", f"{of_all(document['determined'])}: only their own value is left"),
        ("by one release", of_all(document["determined_alone"])),
        ("only together", f"{of_all(document['only_together'])}, though by none of them alone"),
    ]
    if document["determined_by_closest"] > document["determined"]:
        who = of_all(document["determined_by_closest"])
        lines.append(("by closest rows", f"{who}: rows that fit nearly anybody left aside"))
    lines.append(("meaning", "what all candidate rows of each release leave possible: no estimate"))
    for one in result.considered:
        lines += [
            ("note", plain.message(f"{plain.name(one.name)}: {note}"))
            for note in one.notes
            if note not in known
        ]
    about = plain.name(result.sensitive_name)
    section(console, f"What {len(result.considered)} releases tell together of {about}", lines)
    alone = {one["release"]: one["determined_alone"] for one in document["releases"]}
    rows = []
    for one in document["growth"]:
        left, values = one["candidates_left"], one["values_left"]
        cells = [
            f"{alone[one['release']]:,}",
            f"{one['determined']:,}",
            f"{one['one_candidate']:,}",
        ]
        cells += ["", ""] if left is None else [f"{left['median']:g}", f"{values['median']:g}"]
        rows.append([plain.name(one["release"]), *cells])
    titles: tuple[str, ...]
    titles = ("alone", "together", "one row", "rows left", "values")
    show_grid(
        console, "Determined records, release by release", [("", "left"), *right(*titles)], rows
    )
    if len(result.considered) > 2:
        rows = [
            [" and ".join(map(plain.name, one["releases"])), f"{one['determined']:,}",
             f"{one['only_together']:,}"]
            for one in result.pairs[:_PAIRS]
        ]  # fmt: skip
        titles = ("determined", "by neither alone")
        show_grid(console, "The pairs that do most damage", [("", "left"), *right(*titles)], rows)
    found = [one for one in result.differences if one.groups]
    if found:
        rows = [
            [" and ".join(map(plain.name, one.releases)), f"{one.groups:,}",
             f"{one.smallest[0].size:,}"]
            for one in found[:_PAIRS]
        ]  # fmt: skip
        titles = (f"groups below {found[0].k} rows", "smallest")
        show_grid(console, "Small differences of counts", [("", "left"), *right(*titles)], rows)
    named = [(one.releases, each) for one in found for each in one.smallest if each.regions]
    lines = [
        (" and ".join(map(plain.name, pair)), f"{each.size:,} in {_group(each.regions)}")
        for pair, each in named[:_PAIRS]
    ]
    if lines:
        section(console, "Where they are", lines)


def _group(regions: Mapping[str, str] | None) -> str:
    return ", ".join(
        f"{plain.name(name)} {plain.name(one)}" for name, one in (regions or {}).items()
    )
