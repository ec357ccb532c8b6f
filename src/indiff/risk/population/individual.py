"""Measures the risk of each record against the population, and that of its household, in SQL."""

from __future__ import annotations

import math
from dataclasses import dataclass

from indiff.engines.protocol import Engine
from indiff.errors import InternalError, UserError
from indiff.risk.counts import Counted, keys, same

_RECURSION = 9  # up to so many records a group is computed by the recursion, where p is small
_TERMS = 80
_SERIES = 6


@dataclass(frozen=True)
class HouseholdRisk:
    """The chance that at least one member of a household is re-identified: 1 − Π(1 − r)."""

    column: str
    households: int
    maximum: float
    average: float
    """Over records: each has the risk of its household."""
    expected: float
    """How many households are expected to have a re-identified member."""


@dataclass(frozen=True)
class IndividualRisk:
    """The individual risk of every record, summed up.

    With weights or a population size it is Benedetti and Franconi's (1998): the mean of 1/F over
    the sizes F that the record's group may have in the population, of which f are in the sample.
    With a population table it is 1/F, counted.
    """

    weight: str | None
    population: float
    """The people in the population: given, counted, or the sum of the weights."""
    smallest: float
    """The smallest group of the population behind a released one, estimated or counted."""
    maximum: float
    average: float
    """The global risk: the expected share of records that are re-identified."""
    expected: float
    """The sum over records: how many re-identifications to expect."""
    above: int
    """Groups that weigh less than they have records; their risk is 1/f."""
    household: HouseholdRisk | None = None


def franconi_sql(f: str, p: str) -> str:
    """Return SQL for r = p^f/f · ₂F₁(f, f; f+1; 1−p) (Benedetti and Franconi 1998).

    By Euler's and Pfaff's transformations it is p/f · ₂F₁(1, 1; f+1; 1−p), a sum of positive terms
    of which 80 suffice for f above 9 or p above ½. Below, with a = p/(1−p), r = a·I(f), where
    I(1) = −ln p and I(f) = 1/(f−1) − a·I(f−1): errors shrink from step to step. It says nothing
    about people whose group is rarer or more frequent in the population than the weights have it.
    """
    f, p = f"CAST({f} AS DOUBLE)", f"CAST({p} AS DOUBLE)"
    series = "1.0"
    for k in range(_TERMS, 0, -1):
        series = f"(1.0 + (1.0 - {p}) * {k}.0 / ({f} + {k}.0) * {series})"
    a, integral, cases = f"({p} / (1.0 - {p}))", f"(-LN({p}))", ""
    for size in range(1, _RECURSION + 1):
        if size > 1:
            integral = f"({1 / (size - 1)!r} - {a} * {integral})"
        cases += f" WHEN {f} = {size} THEN {a} * {integral}"
    return (
        f"CASE WHEN {p} > 0.5 OR {f} > {_RECURSION} THEN {p} / {f} * {series} "
        f"ELSE CASE{cases} END END"
    )


def weighted_groups(counted: Counted) -> str:
    """Make a table of the groups with ``f``, their weight ``w`` and their individual risk ``r``."""
    by = keys(counted.positions)
    rows = f"SELECT {by}, SUM(n) AS f, SUM(w) AS w FROM {counted.cells} GROUP BY {by}"
    return _with_risk(counted, rows)


def equal_groups(counted: Counted, population: int, people: int) -> str:
    """Make the same table where every record weighs as much: N/n."""
    each = population / people
    rows = f"SELECT {keys(counted.positions)}, {counted.size} AS f, {counted.size} * {each!r} AS w "
    return _with_risk(counted, f"{rows} FROM {counted.groups}")


def _with_risk(counted: Counted, rows: str) -> str:
    by = keys(counted.positions)
    chance = f"SELECT *, LEAST(CAST(1 AS DOUBLE), CAST(f AS DOUBLE) / w) AS p FROM ({rows}) g"
    return counted.engine.keep(
        f"SELECT {by}, f, w, {franconi_sql('f', 'p')} AS r FROM ({chance}) h"
    )


def require_weights(engine: Engine, cells: str, weight: str) -> None:
    """Refuse a column of weights in which some record has none."""
    ((lacking,),) = engine.query(f"SELECT CAST(SUM(unweighted) AS BIGINT) FROM {cells}")
    if lacking:
        raise UserError(
            "a survey weight is a positive number of people",
            f"{lacking:,} records without one in column {weight!r}",
            "Fill it in, or leave these records out",
            field="weight",
        )


def individual_risk(
    counted: Counted, groups: str, weight: str | None, household: tuple[str, int] | None
) -> IndividualRisk:
    """Sum up a table of groups with f, w and r; ``household`` is a column and its position."""
    ((top, expected, records, population, smallest, above),) = counted.engine.query(
        f"""SELECT MAX(r), SUM(f * r), CAST(SUM(f) AS BIGINT), SUM(w), MIN(w),
          CAST(SUM(CASE WHEN w < f * (1 - 1e-9) THEN 1 ELSE 0 END) AS BIGINT) FROM {groups}"""
    )
    return IndividualRisk(
        weight=weight,
        population=float(population),
        smallest=float(smallest),
        maximum=float(top),
        average=float(expected) / records,
        expected=float(expected),
        above=int(above),
        household=None if household is None else _household_risk(counted, groups, *household),
    )


def household_groups(counted: Counted, groups: str, position: int) -> str:
    """Return SQL for a row per household ``h`` with its ``members`` and its ``risk``."""
    by, houses = counted.positions, counted.engine.counts["households"]
    # ln(1 − r) and 1 − e^x by their series where digits would be lost
    powers = repr(1 / _SERIES)
    for k in range(_SERIES - 1, 0, -1):
        powers = f"({1 / k!r} + r * {powers})"
    safe = f"CASE WHEN r < 1e-3 THEN -r * {powers} WHEN r < 1 THEN LN(1 - r) ELSE 0.0 END"
    grown = "1.0"
    for k in range(_SERIES, 1, -1):
        grown = f"(1.0 + x / {k} * {grown})"
    return f"""(SELECT h, members, CASE WHEN certain = 1 THEN 1.0
            WHEN x > -1e-3 THEN -x * {grown} ELSE 1 - EXP(x) END AS risk
          FROM (SELECT h, SUM(n) AS members, SUM(n * x) AS x, MAX(certain) AS certain
            FROM (SELECT t.c{position} AS h, t.n, g.x, g.certain FROM {houses} t
                  JOIN (SELECT *, {safe} AS x, CASE WHEN r >= 1 THEN 1 ELSE 0 END AS certain
                        FROM {groups}) g ON {same(by, "t", "g")}) m GROUP BY h) q)"""


def _household_risk(counted: Counted, groups: str, column: str, position: int) -> HouseholdRisk:
    ((number, top, expected, weighted, records, lacking),) = counted.engine.query(
        f"""SELECT COUNT(*), MAX(risk), SUM(risk), SUM(members * risk),
            CAST(SUM(members) AS BIGINT),
            CAST(SUM(CASE WHEN h IS NULL THEN members ELSE 0 END) AS BIGINT)
          FROM {household_groups(counted, groups, position)} every_one"""
    )
    if records != counted.records:
        raise InternalError("some records were found in no group when households were measured.")
    if lacking:
        raise UserError(
            "every record belongs to a household",
            f"{lacking:,} records without one in column {column!r}",
            "Give each of them a household of its own",
            field="household",
        )
    average = float(weighted) / records
    assert math.isfinite(average)
    return HouseholdRisk(column, int(number), float(top), average, float(expected))
