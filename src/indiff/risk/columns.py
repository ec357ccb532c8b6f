"""Which columns are dangerous: alone, without each other, combined; and which of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from indiff.risk.counted import ColumnsRisk, Counted, entropy, measure_what, measure_who
from indiff.risk.counts import same
from indiff.risk.groups import marketer
from indiff.risk.information import InformationRisk, information_risk

MOST_LEVELS = 1_000
OUTLIER_SHARE = 0.1


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


def describe(counted: Counted, positions: Sequence[int]) -> tuple[Combination, dict[str, float]]:
    """Measure one combination from the cells; return it and each sensitive attribute's DR."""
    whats = [measure_what(counted, positions, number) for number in range(len(counted.values))]
    who = measure_who(counted, positions, whats)
    risk = information_risk("individual", who, counted.h_individual, None)
    inference: dict[str, InformationRisk] = {}
    for what, values in zip(whats, counted.values, strict=True):
        name = values.sensitive.name
        inference[name] = information_risk(name, what, entropy(values), None)
    found = Combination(
        columns=who.columns,
        itpr=risk.itpr,
        dr=risk.dr,
        k=who.rows[0].smallest,
        singled_out=sum(row.records for row in who.rows if row.largest == 1),
        marketer=marketer(who),
        inference={name: part.itpr for name, part in inference.items()},
    )
    return found, {name: part.dr for name, part in inference.items()}


def contributions(
    counted: Counted, together: ColumnsRisk, single: Mapping[str, ColumnsRisk]
) -> tuple[Contribution, ...]:
    """Compare all quasi-identifiers with all but one, for each of them."""
    found = []
    for position, name in enumerate(counted.quasi):
        rest = [other for other in counted.positions if other != position]
        without, rest_dr = describe(counted, rest) if rest else (None, {})
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
                    x: risk.dr - rest_dr.get(x, 0.0) for x, risk in together.inference.items()
                },
            )
        )
    return tuple(found)


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


def search(counted: Counted, largest: int) -> tuple[Combination, ...]:
    """Rank every combination of up to ``largest`` quasi-identifiers, the most dangerous first.

    ITPR is 1 as soon as one record is unique, so ties are ranked by the records singled out, then
    by DR; among equals the smaller combination comes first. Every combination is rolled up from
    the counts of the finest groups; the data is not read again.
    """
    found = [
        describe(counted, chosen)[0]
        for size in range(1, min(largest, len(counted.quasi)) + 1)
        for chosen in combinations(counted.positions, size)
    ]
    return tuple(
        sorted(found, key=lambda c: (-c.itpr, -c.singled_out, -c.dr, len(c.columns), c.columns))
    )


def levels(
    counted: Counted, single: Mapping[str, ColumnsRisk], threshold: float
) -> tuple[tuple[Level, ...], dict[str, int]]:
    """Measure every value of every quasi-identifier; at most 1,000 per column, most risk first.

    The risk is that which a value's records carry together: the correct links to expect of them.

    Returns the levels, and the number of distinct values of each column. A value is an outlier
    when its own term of the column's ITPR reaches ``threshold`` while fewer records hold it than
    a tenth of the column's average: in a column whose values are all rare none stands out.
    """
    engine, groups, size, found = counted.engine, counted.groups, counted.size, []
    distinct = {name: risk.groups.groups for name, risk in single.items()}
    ((linked,),) = engine.query(f"SELECT SUM(n / CAST({size} AS DOUBLE)) FROM {groups}")
    for position, name in enumerate(counted.quasi):
        by_value = f"""(SELECT c{position}, CAST(SUM(n) AS BIGINT) AS n,
              CAST(SUM(CASE WHEN {size} = 1 THEN n ELSE 0 END) AS BIGINT) AS single,
              SUM(n / CAST({size} AS DOUBLE)) AS linked FROM {groups} GROUP BY c{position})"""
        weighted, joined = _weighted_entropy(counted, position)
        rows = engine.query(
            f"""SELECT v.c{position}, v.n, v.single, v.linked, {weighted}
              FROM {by_value} v {joined}
              ORDER BY ROUND(v.linked, 9) DESC, v.n, v.c{position} NULLS LAST
              LIMIT {MOST_LEVELS}"""
        )
        found += [_level(counted, name, distinct[name], row, linked, threshold) for row in rows]
    return tuple(found), distinct


def _weighted_entropy(counted: Counted, position: int) -> tuple[str, str]:
    """Return SQL for n·H(X|y) of a column's value y, X the individual, and the join it needs."""
    if counted.people is None:
        return "v.n * LOG2(v.n)", ""
    terms = f"""(SELECT c{position}, SUM(c) * LOG2(SUM(c)) - SUM(c * LOG2(c)) AS nh
        FROM (SELECT c{position}, {counted.who}, CAST(SUM(n) AS BIGINT) AS c
              FROM {counted.people} GROUP BY c{position}, {counted.who}) p GROUP BY c{position})"""
    return "w.nh", f"JOIN {terms} w ON {same([position], 'v', 'w')}"


def _level(
    counted: Counted,
    name: str,
    distinct: int,
    row: tuple[Any, ...],
    linked: float,
    threshold: float,
) -> Level:
    value, records, single, own, weighted = row
    h = counted.h_individual
    itpr = 0.0 if h == 0 else 1 - distinct * max(0.0, weighted) / counted.records / h
    rare = records < OUTLIER_SHARE * counted.records / distinct
    return Level(
        column=name,
        value=value,
        records=int(records),
        itpr=itpr,
        singled_out=int(single),
        share_of_risk=own / linked,
        is_outlier=bool(rare and itpr >= threshold),
    )
