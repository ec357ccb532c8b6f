"""The strongest of several adversaries, explanations and membership inference on a terminal.

No value of the table is shown, except in explanations for which the user asked to see them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from indiff import text as plain
from indiff.report.terminal.tables import (
    EXACTNESS,
    headline,
    number,
    print_clean,
    section,
    show_cdf,
    show_worst,
)

if TYPE_CHECKING:
    from indiff.differential.explain.membership import Estimate, MembershipResult
    from indiff.differential.explain.why import Explanation
    from indiff.differential.strongest import StrongestResult


def show_strongest(
    console: Console, result: StrongestResult, *, known: Sequence[str] = (), worst: int = 10
) -> None:
    """Show several models: δ of each, and the worst records with the model that sees each."""
    first = next(iter(result.results.values()))
    tested = len(result.distances)
    lines = [
        ("sanitizer", plain.message(result.sanitizer)),
        ("models", plain.message(", ".join(result.results))),
        ("distance", f"{plain.name(first.distance)}, from 0 to {number(first.largest)}"),
        (
            "records" if first.individual is None else "people",
            f"{tested:,} tested by every model, of {result.population:,}",
        ),
        ("seed", str(first.seed)),
        ("fingerprint", first.fingerprint[:16]),
    ]
    if result.untried:
        lines.append(("not tried", plain.message(", ".join(result.untried))))
    if not result.complete and result.requested > tested:
        lines.append(("incomplete", f"{result.requested - tested:,} requested, not measured"))
    if result.failures:
        failed = plain.message(result.failures[0])
        lines.append(("failures", f"{len(result.failures):,}; {failed}"))
    lines += _notes(result, known)
    title = f"Strongest adversary against {plain.name(result.sensitive_name)}"
    section(console, title, lines)
    _show_models(console, result)
    if not tested:
        return
    section(console, "Result (for each record, the model that sees most)", _numbers(result))
    show_worst(console, result.worst(worst))
    show_cdf(console, result.distances)


def _notes(result: StrongestResult, known: Sequence[str]) -> list[tuple[str, str]]:
    """Return each note once, with the model that it is about unless it is about all of them."""
    about: dict[str, list[str]] = {}
    for name, one in result.results.items():
        for note in one.notes:
            if note not in known:
                about.setdefault(note, []).append(name)
    return [
        ("note", plain.message(note if len(names) == len(result.results) else
                               f"{', '.join(names)}: {note}"))
        for note, names in about.items()
    ]  # fmt: skip


def _show_models(console: Console, result: StrongestResult) -> None:
    grid = Grid(box=None, padding=(0, 2), pad_edge=False, header_style="bold")
    grid.add_column("model", overflow="fold")
    for title in ("δ", "mean"):
        grid.add_column(title, justify="right", no_wrap=True)
    grid.add_column("limits of δ", no_wrap=True)
    grid.add_column("method", overflow="fold")
    for name, one in result.results.items():
        limits = one.delta_interval
        grid.add_row(
            Text(plain.name(name)),
            number(one.delta),
            number(one.mean),
            "" if limits is None else f"{number(limits[0])} to {number(limits[1])}",
            f"{one.method}; {one.exactness}",
        )
    headline(console, "Each model")
    print_clean(console, grid)


def _numbers(result: StrongestResult) -> list[tuple[str, str]]:
    lines = [("δ, the largest", f"{number(result.delta)}, seen by {plain.name(result.model)}")]
    if result.delta_interval is not None and result.confidence is not None:
        low, high = result.delta_interval
        sure = f"{result.confidence:.4g} confidence for all models together"
        lines.append(("δ, limits", f"{number(low)} to {number(high)} ({sure})"))
    if not result.constraint_met:
        lines.insert(0, ("constraint", "NOT met: everything was generalized; never a pass"))
    return [
        *lines,
        ("mean", number(result.mean)),
        ("changed predictions", f"{result.changed_predictions:.2f} % of records, by any model"),
        ("exactness", EXACTNESS[result.exactness]),
    ]


def show_why(console: Console, explanations: Sequence[Explanation]) -> None:
    """Show why the worst records make a difference, one paragraph each."""
    headline(console, "Why")
    for explanation in explanations:
        print_clean(console, Text(plain.message(str(explanation))))


def show_membership(console: Console, found: Mapping[str, MembershipResult]) -> None:
    """Show how well each model's belief tells "in" from "out"."""
    for name, one in found.items():
        lines = [("advantage", _estimate(one.advantage)), ("area under ROC", _estimate(one.area))]
        lines += [
            (f"true at {100 * rate:g} % false", _estimate(estimate))
            for rate, estimate in one.true_positives_at.items()
        ]
        lines += [
            ("told apart", f"{100 * one.told_apart:.2f} % of records, by whoever holds both "
             "releases"),
            ("limits", f"{one.confidence:.4g} confidence, {one.resamples:,} resamples of "
             f"{one.records:,} records"),
            *(("note", plain.message(note)) for note in one.notes),
        ]  # fmt: skip
        section(console, f"Membership inference with {plain.name(name)}", lines)


def _estimate(found: Estimate) -> str:
    return f"{number(found.value)} ({number(found.lower)} to {number(found.upper)})"
