"""Shows in the terminal what one synthetic file tells of the records behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.text import percent_down

if TYPE_CHECKING:
    from indiff.differential.synthetic.result import SyntheticResult


def show_synthetic(console: Console, result: SyntheticResult, *, known: Sequence[str] = ()) -> None:
    """Show copies, links, claims, distances, and what exceeds chance."""
    document, total = result.to_dict(), len(result.records)
    copies, links = document["copies"], document["linkage"]

    def of(count: int, all_of_them: int) -> str:
        return f"{count:,} of {all_of_them:,} records ({percent_down(count, all_of_them)})"

    chance = (
        f"{copies['expected']:,.1f} would equal one of {copies['rows_compared']:,} other records "
        "(leave-one-out)"
    )
    if copies["rows_compared"] < result.rows:
        chance += f"; {copies['comparable']:,.1f} equal one of so many rows"
    lines = [
        ("rows", f"{result.rows:,} for {total:,} records"),
        ("copied", f"{of(copies['records'], total)}, in {copies['rows']:,} rows"),
        ("by chance", chance),
        ("single", f"{copies['single_records']:,} of the copied equal no other record; in a fresh "
                   f"sample as many have p = {copies['p_value_fresh_sample']:.2g}"),
    ]  # fmt: skip
    lines += [("note", plain.message(note)) for note in result.notes if note not in known]
    section(console, f"Copies in {plain.name(result.name)}", lines)
    compared = links["records"]
    lines = [
        ("covered", f"{of(links['covered'], compared)} have a row of their quasi-identifiers"),
        ("one candidate", of(links["one_candidate"], compared)),
        ("by distance", f"{of(links['linked_by_distance'], compared)} are the one nearest of a "
                        f"row; {links['linked_with_own_value']:,} of such a row with their value"),
    ]  # fmt: skip
    section(console, "Linkage of rows to records", lines)
    _show_claims(console, document, plain.name(result.sensitive_name))
    _show_distances(console, document["distance_to_closest"])
    if result.excesses:
        rows = [
            [one["name"], f"{one['original']:,}/{one['people']:,}",
             f"{one['held_out']:,}/{one['others']:,}", f"{one['p_value']:.2g}",
             "yes" if one["proved"] else "no"]
            for one in document["excesses"]
        ]  # fmt: skip
        titles = ("original", "held out", "p", "proved")
        heading = f"Beside people held out, at {result.confidence:.0%} for all together"
        show_grid(console, heading, [("", "left"), *right(*titles)], rows)


def _show_claims(console: Console, document: Mapping[str, Any], about: str) -> None:
    whom = {
        "from_release": "the file",
        "never_saw_the_person": "the other records",
        "held_out": "the file, of people held out",
    }
    rows = []
    for name, found in document["inference"].items():
        for key, words in whom.items():
            one = found[key]
            if one is None:
                continue
            precision = "" if one["precision"] is None else f"{one['precision']:.1%}"
            first = name.replace("-", " ") if key == "from_release" else ""
            rows.append([first, words, precision, f"{one['recall']:.1%}"])
    heads = [("", "left"), ("by", "left"), *right("precision", "recall")]
    show_grid(console, f"Claims about {about}", heads, rows)


def _show_distances(console: Console, found: Mapping[str, Any]) -> None:
    lines = [
        (title, f"median {one['median']:.3g}, 5 % within {one['quantile_0.05']:.3g}, smallest "
                f"{one['smallest']:.3g}")
        for title, one in (("original", found["original"]), ("held out", found["held_out"]),
                           ("among records", found["among_records"]))
        if one is not None
    ]  # fmt: skip
    section(console, "Distance to the closest row", [*lines, ("meaning", found["meaning"])])
