"""Measures sets of columns: all, each alone, without each other, combined; and their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from indiff.errors import UserError, option
from indiff.risk import counts, metrics
from indiff.risk.counts import Counted, Partition, keys, plain_terms, summed
from indiff.risk.in_memory import Cells
from indiff.risk.left_out import FEW_COLUMNS, without_each
from indiff.risk.metrics import GroupRisk, InformationRisk, information_risk
from indiff.risk.sizes import Grouped, SizeRow, ValueExtremes, each_record
from indiff.risk.values import Values
from indiff.text import duration

MOST_LEVELS = 1_000
MOST_COMBINATIONS = 100_000
SECONDS_EACH = 0.003
"""What the shortest statement takes: the least that a combination costs."""
MOST_PASSED, PASSED_A_SECOND = 10**11, 10**8
"""Cells that a cluster groups to leave out each column in turn, and how many at the quickest."""
OUTLIER_SHARE = 0.1


@dataclass(frozen=True)
class ColumnsRisk:
    """Every metric for one set of columns."""

    columns: tuple[str, ...]
    reidentification: InformationRisk
    inference: dict[str, InformationRisk]
    groups: GroupRisk


@dataclass(frozen=True)
class Combination:
    """What one combination of quasi-identifiers gives away."""

    columns: tuple[str, ...]
    itpr: float
    dr: float
    k: int
    singled_out: int
    marketer: float
    inference: dict[str, float]
    """ITPR of each sensitive attribute."""


@dataclass(frozen=True)
class Contribution:
    """What one quasi-identifier adds to the risk of all of them together.

    ``added_*`` is the risk with all quasi-identifiers minus the risk without this one. Two columns
    that say the same both add nothing: look at ``alone`` too.
    """

    column: str
    alone: Combination
    without: Combination | None
    added_dr: float
    added_marketer: float
    added_singled_out: int
    added_inference_dr: dict[str, float]


@dataclass(frozen=True)
class Level:
    """What one value of a quasi-identifier adds to the risk of all of them together."""

    column: str
    value: Any
    records: int
    itpr: float
    """The value's own term of the column's ITPR for re-identification."""
    singled_out: int
    """Records with this value that are alone in their group of all quasi-identifiers."""
    share_of_risk: float
    """The share of the expected correct links (marketer risk) that falls on these records."""
    is_outlier: bool
    """Rare where the column's other values are not: an error, or a value to suppress (§5.4)."""


def measure_columns(counted: Counted, positions: Sequence[int]) -> ColumnsRisk:
    """Run stage two for one set of quasi-identifiers."""
    whats: list[Grouped] = []
    inference: dict[str, InformationRisk] = {}
    found: dict[str, metrics.SensitiveGroups] = {}
    for number, values in enumerate(counted.values):
        name = values.sensitive.name
        what, found[name] = _measure_values(counted, positions, number)
        spread = what.extremes.spread if what.extremes else None
        inference[name] = information_risk(name, what, _entropy(values), spread)
        whats.append(what)
    who = _measure_who(counted, positions, whats)
    reidentification = information_risk("individual", who, counted.h_individual, None)
    groups = metrics.group_risk(who, found)
    trees = [one.sensitive.hierarchy for one in counted.values if one.sensitive.hierarchy]
    told = [note for tree in trees for note in tree.notes]
    groups = replace(groups, notes=(*groups.notes, *told))
    return ColumnsRisk(who.columns, reidentification, inference, groups)


def _measure_partition(
    counted: Counted, columns: tuple[str, ...], cells: Partition, people: Partition | None
) -> ColumnsRisk:
    """Run stage two for one partition of the records, without the group models."""
    engine, whats = counted.engine, []
    for number in range(len(counted.values)):
        pairs = summed(cells.table, f"{cells.by}, s{number}")
        whats.append(counts.reduce_sizes(engine, plain_terms(pairs, cells.by)))
    if people is not None:
        terms = plain_terms(summed(people.table, f"{people.by}, {counted.who}"), people.by)
        sizes = counts.reduce_sizes(engine, terms, size=counted.size)
    elif whats:
        sizes = each_record(whats[0])
    else:
        sizes = counts.reduce_sizes(engine, counts.row_terms(summed(cells.table, cells.by)))
    return _plain_risk(counted, columns, sizes, whats)


def _measure_held(counted: Counted, held: Cells, positions: Sequence[int]) -> ColumnsRisk:
    """Do the same for some quasi-identifiers and cells in memory."""
    whats = [held.pairs(positions, number).sizes() for number in range(len(counted.values))]
    sizes = each_record(whats[0] if whats else held.pairs(positions).sizes())
    return _plain_risk(counted, tuple(counted.quasi[i] for i in positions), sizes, whats)


def _plain_risk(
    counted: Counted,
    columns: tuple[str, ...],
    sizes: tuple[SizeRow, ...],
    whats: Sequence[tuple[SizeRow, ...]],
) -> ColumnsRisk:
    inference, who = {}, Grouped(columns, sizes)
    for values, rows in zip(counted.values, whats, strict=True):
        name, what = values.sensitive.name, Grouped(columns, rows)
        inference[name] = information_risk(name, what, _entropy(values), None)
    reidentification = information_risk("individual", who, counted.h_individual, None)
    return ColumnsRisk(columns, reidentification, inference, metrics.group_risk(who, {}))


def _measure_values(
    counted: Counted, positions: Sequence[int], number: int
) -> tuple[Grouped, metrics.SensitiveGroups]:
    """Return what is kept of the groups, and the group models of one sensitive attribute."""
    values = counted.values[number]
    groups = counted.values_of(positions, number)
    rows, extremes = groups.reduced()
    what = Grouped(tuple(counted.quasi[i] for i in positions), rows, extremes)
    t = metrics.closeness(counted.engine, groups, values, extremes)
    recursive = _recursive_diversity(groups.worst_tail, extremes)
    groups.close()
    name = values.sensitive.name
    return what, metrics.sensitive_groups(name, what, values.distinct, t, recursive)


def _recursive_diversity(
    worst_tail: Callable[[int], float], extremes: ValueExtremes
) -> tuple[float, int]:
    """Return (c, ℓ) with ℓ = distinct ℓ: the largest r₁ / (r_ℓ + … + r_m) over groups.

    Recursive (c', ℓ)-diversity (Machanavajjhala et al. 2007) holds for every c' above c. Counts
    10 and 1 with ℓ = 2 give c = 10.
    """
    least = extremes.least_distinct
    if least == 1:
        return extremes.top_share, 1
    if least == 2:
        return extremes.runner_up, 2
    return worst_tail(least), least


def _entropy(values: Values) -> float:
    """Return H(X) of a sensitive attribute (Eq. 1)."""
    if values.distinct == 1:
        return 0.0
    return max(0.0, math.log2(values.records) - values.clogc / values.records)


def _measure_who(counted: Counted, positions: Sequence[int], whats: Sequence[Grouped]) -> Grouped:
    """Run stage two for X the individual, or derive it from what was measured of an attribute."""
    names = tuple(counted.quasi[i] for i in positions)
    if counted.people is None and whats:
        return Grouped(names, each_record(whats[0].rows))
    if counted.held is not None:
        return Grouped(names, each_record(counted.held.pairs(positions).sizes()))
    if tuple(positions) == counted.positions:
        terms = counted.groups
    elif counted.people is None:
        terms = counts.row_terms(summed(counted.groups, keys(positions)))
    else:
        pairs = summed(counted.people, f"{keys(positions)}, {counted.who}")
        terms = plain_terms(pairs, keys(positions))
    return Grouped(names, counts.reduce_sizes(counted.engine, terms, size=counted.size))


def contributions(
    counted: Counted, together: ColumnsRisk, single: Mapping[str, ColumnsRisk]
) -> tuple[Contribution, ...]:
    """Compare all quasi-identifiers with all but one, for each of them."""
    found = []
    for position, rest in _without_each(counted, together):
        name, without = counted.quasi[position], _summary(rest) if rest else None
        before = {x: risk.dr for x, risk in rest.inference.items()} if rest else {}
        found.append(
            Contribution(
                column=name,
                alone=_summary(single[name]),
                without=without,
                added_dr=together.reidentification.dr - (without.dr if without else 0.0),
                added_marketer=together.groups.marketer
                - (without.marketer if without else 1 / counted.records),
                added_singled_out=together.groups.singled_out
                - (without.singled_out if without else 0),
                added_inference_dr={
                    x: risk.dr - before.get(x, 0.0) for x, risk in together.inference.items()
                },
            )
        )
    return tuple(found)


def _without_each(
    counted: Counted, together: ColumnsRisk
) -> Iterator[tuple[int, ColumnsRisk | None]]:
    """Yield the risk without each quasi-identifier; nothing where there is no other."""
    if len(counted.quasi) == 1:
        yield 0, None
        return
    if counted.held is not None:
        for position in counted.positions:
            others = [other for other in counted.positions if other != position]
            yield position, _measure_held(counted, counted.held, others)
        return
    codes = [f"s{number}" for number in range(len(counted.values))]
    groups, tables = together.groups.groups, {counted.cells: ", ".join([*codes, "n"])}
    if counted.people is not None:
        tables[counted.people] = f"{counted.who}, n"
    partitions = (
        without_each(counted.engine, table, counted.positions, others, groups)
        for table, others in tables.items()
    )
    for both in zip(*partitions, strict=True):
        (position, cells), people = both[0], both[-1][1] if len(both) > 1 else None
        rest = tuple(other for other in counted.quasi if other != counted.quasi[position])
        if cells is None:
            yield position, replace(together, columns=rest)
        else:
            yield position, _measure_partition(counted, rest, cells, people)


def _summary(risk: ColumnsRisk) -> Combination:
    return Combination(
        columns=risk.columns,
        itpr=risk.reidentification.itpr,
        dr=risk.reidentification.dr,
        k=risk.groups.k,
        singled_out=risk.groups.singled_out,
        marketer=risk.groups.marketer,
        inference={name: part.itpr for name, part in risk.inference.items()},
    )


def require_few_combinations(quasi: int, largest: int) -> None:
    """Raise, with what it would cost, where more combinations are asked for than can be ranked."""
    if largest < 0:
        raise UserError("combinations must be 0 or more columns", largest, field="combinations")
    number = 0
    for size in range(1, min(largest, quasi) + 1):
        number += math.comb(quasi, size)
        if number > MOST_COMBINATIONS:
            raise UserError(
                f"at most {MOST_COMBINATIONS:,} combinations of columns are ranked",
                f"{number:,} of up to {size} of {quasi:,} columns, which would take "
                f"{duration(number * SECONDS_EACH)} or longer",
                f"Use {option('combinations', size - 1)}, or name fewer columns",
                field="combinations",
            )


def require_few_passes(counted: Counted) -> None:
    """Raise, with what it would cost, where Spark would group by very many columns for each."""
    columns = len(counted.quasi)
    if columns <= FEW_COLUMNS or counted.engine.dialect != "spark":
        return
    ((rows,),) = counted.engine.query(f"SELECT COUNT(*) FROM {counted.cells}")
    if (passed := rows * columns**2) > MOST_PASSED:
        raise UserError(
            "on Spark each column is left out by a pass over all the others, and at most "
            f"{MOST_PASSED:,} cells are passed",
            f"{passed:,} ({rows:,} different rows, {columns:,} columns), which would take "
            f"{duration(passed / PASSED_A_SECOND)} or longer",
            f"Use {option('details', False)}, or name fewer columns",
            field="quasi",
        )


def search(counted: Counted, largest: int) -> tuple[Combination, ...]:
    """Rank every combination of up to ``largest`` quasi-identifiers, the most dangerous first.

    ITPR is 1 as soon as one record is unique, so ties are ranked by the records singled out, then
    by DR; among equals the smaller combination comes first. Every combination is rolled up from
    the counts of the finest groups; the data is not read again.
    """
    sizes = range(1, min(largest, len(counted.quasi)) + 1)
    found = chosen(
        counted, (one for size in sizes for one in combinations(counted.positions, size))
    )
    return tuple(
        sorted(found, key=lambda c: (-c.itpr, -c.singled_out, -c.dr, len(c.columns), c.columns))
    )


def chosen(counted: Counted, sets: Iterable[Sequence[int]]) -> tuple[Combination, ...]:
    """Measure these combinations of quasi-identifiers, in their order."""
    found = []
    for positions in sets:
        if counted.held is not None:
            found.append(_summary(_measure_held(counted, counted.held, positions)))
            continue
        names, by = tuple(counted.quasi[i] for i in positions), keys(positions)
        people = None if counted.people is None else Partition(counted.people, by)
        cells = Partition(counted.cells, by)
        found.append(_summary(_measure_partition(counted, names, cells, people)))
    return tuple(found)


def levels(
    counted: Counted, single: Mapping[str, ColumnsRisk], threshold: float
) -> tuple[tuple[Level, ...], dict[str, int]]:
    """Measure every value of every quasi-identifier; at most 1,000 per column, most risk first.

    The risk is that which a value's records carry together: the correct links to expect of them.

    Returns the levels, and the number of distinct values of each column. A value is an outlier
    when its own term of the column's ITPR reaches ``threshold`` while fewer records hold it than
    a tenth of the column's average: in a column whose values are all rare none stands out.
    """
    engine, h, found = counted.engine, counted.h_individual, []
    distinct = {name: risk.groups.groups for name, risk in single.items()}
    linked, tables = _by_value(counted)
    for position, (name, by_value) in enumerate(zip(counted.quasi, tables, strict=True)):
        weighted, joined = _weighted_entropy(counted, position)
        rows = engine.query(
            f"""SELECT v.c{position}, v.n, v.single, v.linked, {weighted}
              FROM {by_value} v {joined}
              ORDER BY ROUND(v.linked, 9) DESC, v.n, v.c{position} NULLS LAST
              LIMIT {MOST_LEVELS}"""
        )
        few = OUTLIER_SHARE * counted.records / distinct[name]
        for value, records, alone, own, nh in rows:
            itpr = 0.0 if h == 0 else 1 - distinct[name] * max(0.0, nh) / counted.records / h
            outlier = bool(records < few and itpr >= threshold)
            found.append(Level(name, value, int(records), itpr, int(alone), own / linked, outlier))
    return tuple(found), distinct


def _by_value(counted: Counted) -> tuple[float, Iterable[str]]:
    """Return the correct links to expect, and SQL for each column's values with their own."""
    if counted.held is not None:
        return counted.held.levels()
    size, each = counted.size, f"n / CAST({counted.size} AS DOUBLE)"
    ((linked,),) = counted.engine.query(f"SELECT SUM({each}) FROM {counted.groups}")
    return linked, [
        f"""(SELECT c{position}, CAST(SUM(n) AS BIGINT) AS n,
              CAST(SUM(CASE WHEN {size} = 1 THEN n ELSE 0 END) AS BIGINT) AS single,
              SUM({each}) AS linked
            FROM {counted.groups} GROUP BY c{position})"""
        for position in counted.positions
    ]


def _weighted_entropy(counted: Counted, position: int) -> tuple[str, str]:
    """Return SQL for n·H(X|y) of a column's value y, X the individual, and the join it needs."""
    if counted.people is None:
        return "v.n * LOG2(v.n)", ""
    terms = f"""(SELECT c{position}, SUM(c) * LOG2(SUM(c)) - SUM(c * LOG2(c)) AS nh
        FROM (SELECT c{position}, {counted.who}, CAST(SUM(n) AS BIGINT) AS c
              FROM {counted.people} GROUP BY c{position}, {counted.who}) p GROUP BY c{position})"""
    return "w.nh", f"JOIN {terms} w ON {counts.same([position], 'v', 'w')}"
