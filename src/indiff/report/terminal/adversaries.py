"""Prints the strongest of several adversaries, explanations and membership inference.

No value of the table is shown, except in explanations for which the user asked to see them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from indiff import text as plain
from indiff.report.terminal import tables as terminal
from indiff.report.words import EXACTNESS
from indiff.text import number

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
        ("distance", terminal.distance_line(first)),
        (
            "records" if first.individual is None else "people",
            f"{tested:,} tested by every model, of {result.population:,}",
        ),
        ("seed", str(first.seed)),
        ("fingerprint", first.fingerprint[:16]),
    ]
    if result.guarantee is not None:
        lines.append(("sample", plain.message(result.guarantee)))
    if result.untried:
        lines.append(("not tried", plain.message(", ".join(result.untried))))
    lines += [*terminal.missing_lines(result), *_notes(result, known)]
    title = f"Strongest adversary against {plain.name(result.sensitive_name)}"
    terminal.section(console, title, lines)
    _show_models(console, result)
    if tested:
        heading = "Result (for each record, the model that sees most)"
        terminal.section(console, heading, _numbers(result))
        terminal.show_worst(console, result.worst(worst))
        terminal.show_cdf(console, result.distances)


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
    ] + ([("note", plain.message(result.left_out))] if result.left_out else [])  # fmt: skip


def _show_models(console: Console, result: StrongestResult) -> None:
    columns = [("model", "fold"), *terminal.right("δ", "mean"), ("limits of δ", "left")]
    rows = [
        (
            plain.name(name),
            number(one.delta),
            number(one.mean),
            " to ".join(map(number, one.delta_interval or ())),
            f"{one.method}; {one.exactness}",
        )
        for name, one in result.results.items()
    ]
    terminal.show_grid(console, "Each model", [*columns, ("method", "fold")], rows)


def _numbers(result: StrongestResult) -> list[tuple[str, str]]:
    return [
        *terminal.constraint_lines(result),
        ("δ, the largest", f"{number(result.delta)}, seen by {plain.name(result.model)}"),
        *terminal.limit_lines(result, " for all models together"),
        ("mean", number(result.mean)),
        ("changed predictions", f"{terminal.changed_share(result)}, by any model"),
        ("exactness", EXACTNESS[result.exactness]),
    ]


def show_outliers(
    console: Console, result: StrongestResult, planted: Sequence[int], limit: float
) -> None:
    """Show what each adversary sees of the planted outliers and of everybody, and what it means."""
    if not len(result.distances):
        return
    rows = []
    for name, one in result.results.items():
        worst = [row["record"] for row in one.worst(len(planted))]
        found = sum(record in worst for record in planted)
        above = int((one.distances > limit).sum())
        rows.append(
            (
                plain.name(name),
                number(one.delta),
                f"{above:,} of {len(one.distances):,}",
                f"{found} of {len(planted)}",
            )
        )
    heads = ("δ", f"above {limit:g}", f"planted among its {len(planted)} worst")
    title = "What each adversary sees"
    terminal.show_grid(console, title, [("adversary", "fold"), *terminal.right(*heads)], rows)
    first = next(iter(result.results.values()))
    shown = first.worst(1)[0]
    terminal.headline(console, "What this means")
    meaning = (
        "Every group of this release has at least 5 records that look alike. Still, "
        f"{plain.name(first.model)}, who weighs each column by itself, believes in the true "
        f"diagnosis of record {shown['record']} with probability {shown['belief']:.2f} if that "
        f"record is in the table, and {shown['belief_without']:.2f} if it is not: the difference "
        f"is owed to that one person's record. The planted outliers ({_listed(planted)}) are those "
        "who stand out from the crowd. Whoever looks at one group alone, as frequency does, or "
        "chooses the columns that tell most, as a tree does, learns from five records about many "
        "more: a group of 5 hides hardly anyone from them. δ is the strongest's; another adversary "
        "may learn more, and a small δ would not prove safety."
    )
    terminal.print_clean(console, Text(meaning))


def _listed(records: Sequence[int]) -> str:
    return ", ".join(map(str, records))


def show_why(console: Console, explanations: Sequence[Explanation]) -> None:
    """Show why the worst records make a difference, one paragraph each."""
    terminal.headline(console, "Why")
    for explanation in explanations:
        terminal.print_clean(console, Text(plain.message(str(explanation))))


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
        terminal.section(console, f"Membership inference with {plain.name(name)}", lines)


def _estimate(found: Estimate) -> str:
    return f"{number(found.value)} ({number(found.lower)} to {number(found.upper)})"
