"""Prints releases and what tests found: results, adversaries, explanations, membership, linkage.

No value of the table is shown, except in explanations for which the user asked to see them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from indiff import text as plain
from indiff.data.schema import Role
from indiff.report.finding import EXACTNESS, PROMISE
from indiff.report.terminal import tables as terminal
from indiff.report.terminal.tables import listed, right, section, show_grid
from indiff.text import number, percent_down

if TYPE_CHECKING:
    from indiff.data.table import Table
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.explain.membership import Estimate, MembershipResult
    from indiff.differential.explain.why import Explanation
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.release.release import Release

Lines = list[tuple[str, str]]


def show_release(
    console: Console, release: Release, table: Table, place: str, seed: int | None
) -> None:
    """Show what a release holds and where it was written."""
    shuffle = "at random" if seed is None else f"by seed {seed}, which can undo it"
    rows = "records" if release.weights is None else "cells"
    lines = [
        ("sanitizer", plain.message(release.sanitizer)),
        (rows, f"{len(release):,}, in an order shuffled {shuffle}"),
    ]
    if release.groups is not None and len(release):
        sizes = np.bincount(release.groups)
        sizes = sizes[sizes > 0]
        lines.append(("groups", f"{len(sizes):,} of {sizes.min():,} to {sizes.max():,} records"))
    lines.append(("constraint", PROMISE[release.constraint_met]))
    lines += [("note", plain.message(note)) for note in release.notes]
    dropped = table.schema.names(Role.IDENTIFIER)
    if release.kept is None:
        dropped += table.schema.names(Role.OTHER)
    else:
        lines.append(("kept as is", listed([_kept(release, n) for n in release.kept.column_names])))
        lines.append(("note", "no test or audit measures what columns kept as they are give away"))
    if dropped:
        lines.append(("left out", listed([plain.name(name) for name in dropped])))
    lines.append(("written to", plain.message(place)))
    lines.append(("fingerprint", f"{plain.fingerprint(table.fingerprint)} of the input"))
    section(console, "Release", lines)


def _kept(release: Release, name: str) -> str:
    """Name a kept column, and say so where it gives every record away."""
    import pyarrow.compute as pc

    assert release.kept is not None
    unique = pc.count_distinct(release.kept[name], mode="all").as_py() == len(release.kept) > 1
    return plain.name(name) + (" (DIFFERENT IN EVERY RECORD)" if unique else "")


def show_result(console: Console, result: DifferentialResult, *, known: Sequence[str] = ()) -> None:
    """Show a differential test: how it was made, its numbers, the worst records, the CDF."""
    who, tested = "records", f"{len(result.distances):,} tested of {result.table_size:,}"
    if result.individual is not None and result.sizes is not None:
        who, tested = "people", (
            f"{len(result.distances):,} tested of {result.population:,} by "
            f"{plain.name(result.individual)}; they hold {int(result.sizes.sum()):,} of "
            f"{result.table_size:,} records; shown by their first"
        )  # fmt: skip
    lines = [
        ("sanitizer", plain.message(result.sanitizer)),
        ("model", plain.message(result.model)),
        ("distance", f"{plain.name(result.distance)}, from 0 to {number(result.largest)}"),
        ("method", f"{result.method}; {EXACTNESS[result.exactness]}"),
        (who, tested),
        *_missing(result),
        *_repeated(result),
        *(("note", plain.message(note)) for note in result.notes if note not in known),
    ]
    section(console, f"Differential test of {plain.name(result.sensitive_name)}", lines)
    if len(result.distances):
        section(console, "Result", _numbers(result))
        terminal.show_worst(console, result.worst())
        terminal.show_cdf(console, result.distances)


def show_strongest(console: Console, result: StrongestResult, *, known: Sequence[str] = ()) -> None:
    """Show several models: δ of each, and the worst records with the model that sees each."""
    first, tested = next(iter(result.results.values())), len(result.distances)
    lines = [
        ("sanitizer", plain.message(result.sanitizer)),
        ("models", plain.message(", ".join(result.results))),
        ("distance", f"{plain.name(first.distance)}, from 0 to {number(first.largest)}"),
        (
            "records" if first.individual is None else "people",
            f"{tested:,} tested by every model, of {result.population:,}",
        ),
        *_repeated(result),
    ]
    if result.untried:
        lines.append(("not tried", plain.message(", ".join(result.untried))))
    about: dict[str, list[str]] = {}
    for name, one in result.results.items():
        for note in one.notes:
            if note not in known:
                about.setdefault(note, []).append(name)
    every = len(result.results)
    notes = [n if len(who) == every else f"{', '.join(who)}: {n}" for n, who in about.items()]
    notes += [result.left_out] if result.left_out else []
    lines += [*_missing(result), *(("note", plain.message(note)) for note in notes)]
    title = f"Strongest adversary against {plain.name(result.sensitive_name)}"
    section(console, title, lines)
    columns = [("model", "fold"), *right("δ", "mean"), ("limits of δ", "left"), ("method", "fold")]
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
    show_grid(console, "Each model", columns, rows)
    if tested:
        lines = [
            *_deltas(result, f", seen by {plain.name(result.model)}", " for all models together"),
            ("changed predictions", f"{_changed_share(result)}, by any model"),
            ("exactness", EXACTNESS[result.exactness]),
        ]
        section(console, "Result (for each record, the model that sees most)", lines)
        terminal.show_worst(console, result.worst())
        terminal.show_cdf(console, result.distances)


def _missing(result: DifferentialResult | StrongestResult) -> Lines:
    """Return lines about the calls that failed and the records that were not measured."""
    lines = []
    if result.failures:
        first = plain.message(result.failures[0])
        lines.append(("failures", f"{len(result.failures):,}; {first}"))
    if (missing := result.requested - len(result.distances)) > 0:
        lines.append(("incomplete", f"{missing:,} requested, not measured"))
    return lines


def _repeated(result: DifferentialResult | StrongestResult) -> Lines:
    """Return lines about what is needed to repeat a test."""
    lines = [("seed", str(result.seed)), ("fingerprint", plain.fingerprint(result.fingerprint))]
    if result.guarantee is not None:
        lines.append(("sample", plain.message(result.guarantee)))
    return lines


def _deltas(result: DifferentialResult | StrongestResult, beside: str, how: str) -> Lines:
    """Return the lines on δ, its limits and the mean, after a constraint that is not met."""
    lines = [("constraint", PROMISE[False])] if result.constraint_met is False else []
    lines.append(("δ, the largest", number(result.delta) + beside))
    if result.delta_interval is not None and result.confidence is not None:
        low, high = map(number, result.delta_interval)
        sure = f"{result.confidence:.4g} confidence{how}"
        lines.append(("δ, limits", f"{low} to {high} ({sure})"))
    return [*lines, ("mean", number(result.mean))]


def _numbers(result: DifferentialResult) -> Lines:
    infinite = f" ({result.infinite:,} infinite)" if result.infinite else ""
    usual = {0.5: "median", 0.95: "95 %", 0.99: "99 %"}
    quantiles = [f"{name} {number(result.quantile(share))}" for share, name in usual.items()]
    covered = f"{result.uncovered:,} targets with their record, {result.uncovered_without:,}"
    share = _changed_share(result)
    changed = f"{int(result.predictions_changed.sum()):,} of {len(result.distances):,} ({share})"
    lines = [
        *_deltas(result, infinite, f", {result.runs or 0:,} runs"),
        ("standard deviation", number(result.std)),
        ("quantiles", ", ".join(quantiles)),
        (
            "changed predictions",
            changed if result.change_chances is None else f"{share}, in the mean over the noise",
        ),
        ("not covered", f"{covered} without it"),
    ]
    if result.generalized_without:
        unmet = f"without {result.generalized_without:,} of the records the constraint is not met"
        lines.append(("generalized", f"{unmet} by what is then published"))
    return lines


def _changed_share(result: DifferentialResult | StrongestResult) -> str:
    """Return the percentage of changed predictions, with its limits where it is an estimate."""
    share, how = f"{result.changed_predictions:.2f} %", result.changed_exactness
    if result.changed_interval is None:
        return share if how == "exact" else f"{share} ({how})"
    low, high = result.changed_interval
    return f"{share} ({how}: {low:.2f} to {high:.2f} %)"


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
    show_grid(console, title, [("adversary", "fold"), *right(*heads)], rows)
    first = next(iter(result.results.values()))
    shown, outliers = first.worst(1)[0], ", ".join(map(str, planted))
    terminal.headline(console, "What this means")
    meaning = (
        "Every group of this release has 5 records or more with equal quasi-identifiers. Still, "
        f"{plain.name(first.model)}, who weighs each column by itself, believes in the true "
        f"diagnosis of record {shown['record']} with probability {shown['belief']:.2f} if that "
        f"record is in the table, and {shown['belief_without']:.2f} if it is not: the difference "
        f"is owed to that one person's record. The planted outliers ({outliers}) are those "
        "who stand out from the crowd. Whoever looks at one group alone, as frequency does, or "
        "chooses the columns that tell most, as a tree does, learns from five records about many "
        "more: a group of 5 hides hardly anyone from them. δ is the strongest's; another adversary "
        "may learn more, and a small δ would not prove safety."
    )
    terminal.print_clean(console, Text(meaning))


def show_why(console: Console, explanations: Sequence[Explanation]) -> None:
    """Show why the worst records make a difference, one paragraph each."""
    terminal.headline(console, "Why")
    for explanation in explanations:
        terminal.print_clean(console, Text(plain.message(str(explanation))))
        if explanation.log_odds is not None:
            odds = f"  added to its log-odds: {plain.message(explanation.log_odds)}"
            terminal.print_clean(console, Text(odds, style="dim"))


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
    section(console, f"Linkage of records to rows of {plain.name(result.name)}", lines)
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
    section(console, f"Beliefs about {about} against its shares", lines)
    if result.test is None:
        reason = plain.message(result.skipped or "")
        section(console, "Dropped-row test", [("skipped", reason)])
    else:
        show_result(console, result.test, known=(*known, *result.notes))


def _spread(counts: dict[str, Any]) -> str:
    return (
        f"{counts['least']:,} to {counts['most']:,} a record, median {counts['median']:g}, "
        f"mean {number(counts['mean'])}"
    )
