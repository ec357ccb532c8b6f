"""The one aggregation: from counts per (group, value) to totals, extremes and sizes.

Both stages run in the engine. Stage one is the engine's table of cells: a row per combination of
values, with its number of records. Stage two, here, rolls the cells up to groups (combinations of
some quasi-identifiers), computes each group's terms, and reduces them to one row per group size.
Sizes up to 50,000 are kept apart and larger ones in steps of 0.07 %, so that the driver receives
fewer than 100,000 rows whatever the data. Every metric of ``information`` and ``groups`` is a
function of these rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

from indiff.engines.protocol import Engine

_EXACT_SIZES = 50_000
_SIZE = (
    f"CASE WHEN size <= {_EXACT_SIZES} THEN size "
    f"ELSE {_EXACT_SIZES} + CAST(FLOOR(LOG2(size) * 1000) AS BIGINT) END"
)
_H = "CASE WHEN d = 1 THEN 0.0 ELSE GREATEST(0.0, LOG2(n) - clogc / n) END"


class SizeRow(NamedTuple):
    """Everything that is kept of the groups of one size.

    ``size`` counts individuals: records where each record is one, distinct individuals otherwise.
    """

    smallest: int
    largest: int
    groups: int
    individuals: int
    records: int
    nlogn: float
    clogc: float
    least_weighted_h: float
    least_h: float
    homogeneous_groups: int
    homogeneous_records: int
    largest_records: int
    least_records: int
    linked: float
    """Σ over records of 1/size: the expected number of correct links."""


@dataclass(frozen=True)
class ValueExtremes:
    """Extremes over all groups of what needs the distribution of a sensitive attribute."""

    top_share: float
    least_distinct: int
    spread: int
    most_ratio: float
    least_ratio: float
    enhanced_excess: float
    runner_up: float
    mixed_reach: float
    reach_bound: float
    homogeneous_reach: float


@dataclass(frozen=True)
class Grouped:
    """Stage two's result for one set of columns and one X."""

    columns: tuple[str, ...]
    rows: tuple[SizeRow, ...]
    extremes: ValueExtremes | None = None

    @cached_property
    def groups(self) -> int:
        """The number of groups, |Ω_Y|."""
        return sum(row.groups for row in self.rows)

    @cached_property
    def records(self) -> int:
        """The number of records, N."""
        return sum(row.records for row in self.rows)

    @cached_property
    def h_groups(self) -> float:
        """H(Y), from Σ n log n."""
        return max(0.0, math.log2(self.records) - self.nlogn / self.records)

    @cached_property
    def nlogn(self) -> float:
        """Σ n log n over groups; exact where sizes are kept apart."""
        return math.fsum(
            row.records * math.log2(row.largest_records)
            if row.least_records == row.largest_records
            else row.nlogn
            for row in self.rows
        )

    @cached_property
    def clogc(self) -> float:
        """Σ c log c over (group, value) pairs."""
        return math.fsum(row.clogc for row in self.rows)


def keys(columns: Sequence[int], prefix: str = "") -> str:
    """Return the SQL names of some columns.

    >>> keys([0, 2])
    'c0, c2'
    """
    return ", ".join(f"{prefix}c{i}" for i in columns)


def same(columns: Sequence[int], one: str, other: str) -> str:
    """Return the SQL condition that two rows agree on some columns, missing values included."""
    return " AND ".join(f"{one}.c{i} IS NOT DISTINCT FROM {other}.c{i}" for i in columns)


def group_by(columns: Sequence[int]) -> str:
    """Return the GROUP BY clause for some columns; nothing for none."""
    return f"GROUP BY {keys(columns)}" if columns else ""


def listed(columns: Sequence[int]) -> str:
    """Return some columns with a comma after them."""
    return f"{keys(columns)}, " if columns else ""


def total(engine: Engine, table: str) -> int:
    """Return the number of records behind a table of counts."""
    return int(engine.query(f"SELECT CAST(SUM(n) AS BIGINT) FROM {table}")[0][0])


def roll_up(table: str, columns: Sequence[int], value: str) -> str:
    """Return SQL for the pairs: a row per (group, value) with its count ``c``."""
    return (
        f"(SELECT {keys(columns)}, {value} AS x, CAST(SUM(n) AS BIGINT) AS c FROM {table} "
        f"GROUP BY {keys(columns)}, {value})"
    )


_SIZES = """CAST(MIN(size) AS BIGINT), CAST(MAX(size) AS BIGINT), COUNT(*),
          CAST(SUM(size) AS BIGINT), CAST(SUM(n) AS BIGINT),
          SUM(n * LOG2(n)), SUM(clogc), MIN(n * h), MIN(h),
          CAST(SUM(CASE WHEN d = 1 THEN 1 ELSE 0 END) AS BIGINT),
          CAST(SUM(CASE WHEN d = 1 THEN n ELSE 0 END) AS BIGINT),
          CAST(MAX(n) AS BIGINT), CAST(MIN(n) AS BIGINT),
          SUM(n / CAST(size AS DOUBLE))"""


def reduce_sizes(engine: Engine, terms: str, *, size: str = "n") -> tuple[SizeRow, ...]:
    """Reduce per-group terms (n, d, clogc) to one row per group size."""
    sql = f"""
        SELECT {_SIZES}
        FROM (SELECT n, d, clogc, {size} AS size, {_H} AS h FROM {terms}) g
        GROUP BY {_SIZE}"""
    return tuple(sorted(SizeRow(*row) for row in engine.query(sql)))


def each_record(rows: Sequence[SizeRow]) -> tuple[SizeRow, ...]:
    """Return what is kept of the same groups when every record is one individual.

    The rows of a sensitive attribute have the sizes already; H(X|y) of n individuals is log₂ n.

    >>> [row] = each_record([SizeRow(4, 4, 3, 12, 12, 24.0, 6.0, 0.0, 0.0, 1, 4, 4, 4, 3.0)])
    >>> row.least_h, row.least_weighted_h, row.homogeneous_groups
    (2.0, 8.0, 0)
    """
    found = []
    for row in rows:
        alone, h = row.largest == 1, math.log2(row.smallest)
        found.append(
            row._replace(
                clogc=0.0,
                least_weighted_h=row.smallest * h,
                least_h=h,
                homogeneous_groups=row.groups if alone else 0,
                homogeneous_records=row.records if alone else 0,
            )
        )
    return tuple(found)


def plain_terms(pairs: str, columns: Sequence[int]) -> str:
    """Return SQL for the terms of groups that entropies need."""
    return (
        f"(SELECT {listed(columns)}CAST(SUM(c) AS BIGINT) AS n, COUNT(*) AS d, "
        f"SUM(c * LOG2(c)) AS clogc FROM {pairs} p {group_by(columns)})"
    )


def row_terms(groups: str) -> str:
    """Return SQL for the terms of groups when every record is one individual."""
    return f"(SELECT *, c AS n, c AS d, CAST(0 AS DOUBLE) AS clogc FROM {groups})"


def value_terms(pairs: str, values: str, columns: Sequence[int]) -> str:
    """Return SQL for the terms of groups when X is a sensitive attribute."""
    return f"""(SELECT {listed(columns)}CAST(SUM(c) AS BIGINT) AS n, COUNT(*) AS d,
          SUM(c * LOG2(c)) AS clogc, MAX(c) AS top, MIN(c) AS low,
          MAX(c * lift) AS most, MIN(c * lift) AS least, MAX(c * enhanced) AS excess,
          SUM(c * reach) AS reach, SUM(c * place) AS place
        FROM {pairs} p JOIN {values} v ON p.x = v.code {group_by(columns)})"""


def reduce_values(
    engine: Engine, terms: str, distinct: int, mean_reach: float, mean_place: float
) -> tuple[tuple[SizeRow, ...], ValueExtremes]:
    """Reduce per-group terms of a sensitive attribute to a row per size, and extremes over all."""
    sql = f"""
        SELECT {_SIZES},
          MAX(top / n), MIN(d),
          MAX(top - CASE WHEN d < {distinct} THEN 0 ELSE low END),
          MAX(most / n), MIN(least / n), MAX(excess / n),
          MAX(CASE WHEN d = 1 THEN CAST('Infinity' AS DOUBLE) ELSE top / (n - top) END),
          MAX(CASE WHEN d = 1 THEN 0.0 ELSE reach / n END),
          MAX(GREATEST(ABS(reach / n - ({mean_reach!r})), ABS(place / n - ({mean_place!r})))),
          MAX(CASE WHEN d = 1 THEN reach / n ELSE 0.0 END)
        FROM (SELECT *, n AS size, {_H} AS h FROM {terms}) g
        GROUP BY {_SIZE}"""
    rows, width = engine.query(sql), len(SizeRow._fields)
    by_extreme = zip(*(row[width:] for row in rows), strict=True)
    least = ("least_distinct", "least_ratio")
    extremes = {
        field.name: min(found) if field.name in least else max(found)
        for field, found in zip(fields(ValueExtremes), by_extreme, strict=True)
    }
    return tuple(sorted(SizeRow(*row[:width]) for row in rows)), ValueExtremes(**extremes)
