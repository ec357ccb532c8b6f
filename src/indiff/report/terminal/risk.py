"""Prints risk metrics: each with its range and what it means, and what causes them.

No value of the table is shown unless asked for: a value is named by how many records hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from indiff import text as plain
from indiff.report.terminal.tables import listed, print_clean, right, section, show_grid
from indiff.risk.values import GROUNDS
from indiff.text import number, percent, percent_down

if TYPE_CHECKING:
    from rich.console import Console

    from indiff.risk.columns import Combination, Level
    from indiff.risk.measure import Method, Risk
    from indiff.risk.metrics import InformationRisk, SensitiveGroups

RARE = 10
MOST_LEVELS, MOST_COMBINATIONS, LONGEST_VALUE = 3, 10, 24

Row = tuple[str, str, str, str]


def hidden(records: int) -> str:
    """Name a value without telling it.

    >>> hidden(9), hidden(10)
    ('a rare value', 'a value')
    """
    return "a rare value" if records < RARE else "a value"


def show_risk(
    console: Console,
    risk: Risk,
    source: str,
    *,
    show_values: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Show every metric of a result, what causes the worst, and which columns add what."""
    _show_question(console, risk, source, notes)
    who = "Who: how far the columns tell to whom a record belongs"
    _show_metrics(console, who, _information(risk.reidentification, "person"))
    section(console, "Where the worst of it comes from", _causes(risk))
    for name, found in risk.inference.items():
        what = f"What: how far the columns tell {plain.name(name)}"
        _show_metrics(console, what, _information(found, "value"))
        section(console, "Where the worst of it comes from", [("one value", _cause(found))])
    _show_metrics(console, "Groups: records with equal quasi-identifiers", _sizes(risk))
    for name, models in risk.groups.sensitive.items():
        ground = GROUNDS[risk.method.ground_distances[name]]
        _show_metrics(console, f"Groups: {plain.name(name)} in them", _models(models, ground))
    _show_contributions(console, risk)
    _show_levels(console, risk, show_values)
    _show_outliers(console, risk, show_values)
    _show_combinations(console, risk)
    if risk.keys:
        _show_sets(console, "Keys: the combinations that were named", risk.keys)
    _show_special(console, risk)


def _show_question(console: Console, risk: Risk, source: str, notes: Sequence[str]) -> None:
    method = risk.method
    kinds = [f"{plain.name(name)} ({_kind(method, name)})" for name in method.sensitive]
    who = "each record is one" if method.individual is None else plain.name(method.individual)
    lines = [
        ("records", f"{risk.records:,}"),
        ("individuals", who),
        ("quasi", listed([plain.name(name) for name in method.quasi])),
        ("sensitive", listed(kinds) if kinds else "none"),
        ("engine", method.engine),
        ("fingerprint", plain.fingerprint(method.fingerprint)),
    ]
    notes = [
        *notes,
        *risk.groups.notes,
        *(note for x in risk.inference.values() for note in x.notes),
    ]
    lines += [("note", plain.message(note)) for note in notes]
    section(console, f"Risk of {plain.name(source)}", lines)


def _kind(method: Method, name: str) -> str:
    bins = method.bins.get(name)
    return method.kinds[name] if bins is None else f"{method.kinds[name]}, {bins} bins"


def _information(found: InformationRisk, what: str) -> list[Row]:
    """Return the metrics of the ITPR paper; ``what`` is what is told apart."""
    most = number(found.h)
    spread = [] if found.lambda_ is None else [f"{found.lambda_:,}"]
    return [
        ("ITPR", number(found.itpr), "DR to 1", "the worst group; 1: one is fully told"),
        ("DR", number(found.dr), "0 to 1", "average share of H(X) removed"),
        ("MI", number(found.mi), f"0 to {most}", "bits learned on average"),
        ("CP", number(found.cp), "0 to 1", "the same, rescaled: 1 − 2^−MI"),
        ("MIL", number(found.mil), f"0 to {most}", "most bits from one group, weighted"),
        ("MIL, source's", number(found.mil_unweighted), f"to {most}", "the same, unweighted"),
        ("ELD", number(found.eld), "0 to 1", f"1: a group has a single {what}"),
        ("H(X)", number(found.h), "0 up", "bits to guess without the columns"),
        ("H(X|Y)", number(found.h_conditional), f"0 to {most}", "bits left afterwards; 0: none"),
        ("H(X|Y)/H(X)", number(found.h_normalised), "0 to 1", "the share left; 0: none"),
        ("H(X, Y)", number(found.h_joint), "0 up", "bits in both together"),
        ("ε", f"{found.epsilon:,}", "0 up", "largest group minus smallest (Eq. 11)"),
        *(("λ", count, "0 up", "spread of counts in a group (Eq. 12)") for count in spread),
        ("ϑ", number(found.theta), f"to {most}", "group against table, in bits (Eq. 13)"),
    ]


def _cause(found: InformationRisk) -> str:
    """Say what drives ITPR and ELD to their maximum, or that nothing does."""
    cause = found.at_maximum
    if not cause.groups:
        return "in no group: no metric is at its maximum"
    return f"{cause}, {percent_down(cause.records, found.records)} of all"


def _causes(risk: Risk) -> list[tuple[str, str]]:
    """Say how many records are alone, in groups of which sizes, and by how many columns."""
    lines = [("alone", _cause(risk.reidentification))]
    widths = dict(risk.singled_out_by_width)
    if risk.columns:
        singled = {name: part.groups.singled_out for name, part in risk.columns.items()}
        widths.setdefault(1, max(singled.values()))
    widths.setdefault(len(risk.method.quasi), risk.groups.singled_out)
    for width, count in sorted(widths.items()):
        columns = "1 column" if width == 1 else f"{width} columns"
        most = "" if width == len(risk.method.quasi) else "at most "
        lines.append((columns, f"{most}{count:,} records singled out"))
    return lines


def _sizes(risk: Risk) -> list[Row]:
    groups = risk.groups
    alone = f"0 to {groups.records:,}"
    return [
        ("k", f"{groups.k:,}", "1 up", "smallest group; more: safer"),
        ("groups", f"{groups.groups:,}", f"1 to {groups.records:,}", "different combinations"),
        ("singled out", f"{groups.singled_out:,}", alone, "records alone in their group"),
        ("prosecutor", number(groups.prosecutor), "0 to 1", "1/k: the target is in the table"),
        ("journalist", number(groups.journalist), "0 to 1", "as prosecutor: upper bound (note)"),
        ("marketer", number(groups.marketer), "0 to 1", "share of records linked correctly"),
    ]


def _models(found: SensitiveGroups, ground: str) -> list[Row]:
    c, least = found.recursive
    return [
        ("l", number(found.l), "1 up", "no value has more than 1/l; more: safer"),
        ("distinct l", f"{found.distinct_l:,}", "1 up", "fewest values in a group"),
        ("entropy l", number(found.entropy_l), "1 up", "2^H of the least diverse group"),
        ("recursive", f"({number(c)}, {least})", "c over 0", "(c, l)-diverse for every larger c"),
        ("alpha", number(found.alpha), "0 to 1", "largest share of one value in a group"),
        ("t", number(found.t), "0 to 1", f"largest distance of a group to the table, {ground}"),
        ("beta", number(found.beta), "0 up", "largest relative gain of a value's share"),
        ("beta, enhanced", number(found.beta_enhanced), "0 up", "the same; ∞: no β is enough"),
        ("delta", number(found.delta_disclosure), "0 up", "δ-disclosure; ∞: a group lacks a value"),
    ]


def _show_metrics(console: Console, heading: str, rows: Iterable[Row]) -> None:
    columns = [("metric", "left"), *right("value"), ("range", "left"), ("meaning", "fold")]
    show_grid(console, heading, columns, rows)


def _name(column: str, longest: int = 20) -> str:
    return plain.shortened(plain.escaped(column), longest)


def _show_contributions(console: Console, risk: Risk) -> None:
    if not risk.contributions:
        return
    heading = "Columns: alone, and what each adds to the others"
    rows = [
        (
            _name(part.column),
            f"{risk.distinct_values[part.column]:,}",
            number(part.alone.itpr),
            f"{part.alone.singled_out:,}",
            f"{part.added_singled_out:,}",
            number(part.added_dr),
            number(part.added_marketer),
        )
        for part in sorted(risk.contributions, key=lambda p: (-p.added_marketer, p.column))
    ]
    titles = ("values", "ITPR", "alone", "adds: alone", "DR", "links")
    show_grid(console, heading, [("column", "left"), *right(*titles)], rows)
    meaning = (
        "alone: records singled out by that column only; adds: what all columns lose without it "
        "(links: share of records linked correctly). Columns that say the same add nothing each."
    )
    print_clean(console, Text(meaning, "dim"))


def _show_levels(console: Console, risk: Risk, show_values: bool) -> None:
    if not risk.levels:
        return
    heading = f"Values: the {MOST_LEVELS} of each column with most of the risk"
    rows = [
        (
            _name(column),
            _value(level, show_values),
            f"{level.records:,}",
            f"{level.singled_out:,}",
            f"{100 * level.share_of_risk:.3g} %",
            "outlier" if level.is_outlier else "",
        )
        for column in risk.method.quasi
        for level in sorted(
            (one for one in risk.levels if one.column == column),
            key=lambda one: (-one.share_of_risk, one.records),
        )[:MOST_LEVELS]
    ]
    columns = [("column", "left"), ("value", "left"), *right("records", "alone", "of the risk")]
    show_grid(console, heading, [*columns, ("", "left")], rows)
    if not show_values:
        meaning = f"a rare value: fewer than {RARE} records; --show-values names them."
        print_clean(console, Text(meaning, "dim"))


def _value(level: Level, show_values: bool) -> str:
    if not show_values:
        return hidden(level.records)
    if level.value is None:
        return "(missing)"
    return plain.shortened(plain.escaped(str(level.value)), LONGEST_VALUE)


def _show_outliers(console: Console, risk: Risk, show_values: bool) -> None:
    lines = []
    for column in risk.method.quasi:
        own = [level for level in risk.outliers if level.column == column]
        if own:
            named = f": {listed([_value(level, True) for level in own])}" if show_values else ""
            held = sum(level.records for level in own)
            told = f"{plain.counted(len(own), 'value')}, held by {plain.counted(held, 'record')}"
            lines.append((plain.name(column), f"{told}{named}"))
    if lines:
        section(console, "Outliers: check, correct or suppress", lines)


def _show_combinations(console: Console, risk: Risk) -> None:
    if not risk.combinations:
        return
    shown = risk.combinations[:MOST_COMBINATIONS]
    heading = f"Combinations: the worst {len(shown)} of {len(risk.combinations):,}"
    _show_sets(console, heading, shown)


def _show_sets(console: Console, heading: str, shown: Sequence[Combination]) -> None:
    rows = [
        (
            number(found.itpr),
            f"{found.singled_out:,}",
            number(found.dr),
            f"{found.k:,}",
            listed([plain.name(column) for column in found.columns]),
        )
        for found in shown
    ]
    columns = [*right("ITPR", "alone", "DR", "k"), ("columns", "fold")]
    show_grid(console, heading, columns, rows)


def _show_special(console: Console, risk: Risk) -> None:
    """Show how many records few columns single out, how likely that is right, and by what."""
    if (special := risk.special) is None:
        return
    sizes = [
        f"{count:,} by {size} column{'s' * (size > 1)}"
        for size, count in special.smallest.items()
        if count
    ]
    adds = sorted(special.contributions.items(), key=lambda one: -one[1])
    dis = f"{number(special.largest_dis)} at most, {number(special.dis)} for the file"
    lines = [
        ("records", f"{special.special:,} of {special.records:,} ({', '.join(sizes) or 'none'})"),
        ("MSUs", f"{sum(special.msus.values()):,} of up to {special.size} columns"),
        ("score", f"{number(special.largest_score)} at most (SUDA)"),
        ("DIS", f"{dis}, if it is {percent(special.sampling)} of the population: a guess"),
        ("columns", listed([f"{plain.name(x)} {percent(share)}" for x, share in adds])),
    ]
    heading = "Special uniques: records that few columns single out"
    section(console, heading, lines)
