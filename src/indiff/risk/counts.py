"""Counts a source, and reduces the counts of groups: to totals, extremes and sizes.

Both stages run in the engine. Stage one is the engine's table of cells: a row per combination of
values, with its number of records. Stage two rolls the cells up to groups (combinations of some
quasi-identifiers), computes each group's terms, and reduces them to one row per group size. Sizes
up to 50,000 are kept apart and larger ones in steps of 0.07 %, so that the driver receives fewer
than 100,000 rows whatever the data. Every metric of ``metrics`` is a function of these rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from indiff.data.hierarchy import Hierarchy
from indiff.data.reading.input_files import Reading
from indiff.data.schema import Kind
from indiff.engines.protocol import Engine, EngineName, Resources, connect
from indiff.errors import UserError, option, unknown
from indiff.risk.values import Sensitive, Values, code_values, decide_kind

_EXACT_SIZES = 50_000
SIZE_BIN = (
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


def summed(table: str, by: str, shown: str | None = None) -> str:
    """Return SQL for a row per combination of some columns with its number of records, ``c``."""
    return f"(SELECT {shown or by}, CAST(SUM(n) AS BIGINT) AS c FROM {table} GROUP BY {by})"


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
        GROUP BY {SIZE_BIN}"""
    return tuple(sorted(SizeRow(*row) for row in engine.query(sql)))


def each_record(rows: Sequence[SizeRow]) -> tuple[SizeRow, ...]:
    """Return what is kept of the same groups when every record is one individual.

    The rows of a sensitive attribute have the sizes already; H(X|y) of n individuals is log₂ n.

    >>> [row] = each_record([SizeRow(4, 4, 3, 12, 12, 24.0, 6.0, 0.0, 0.0, 1, 4, 4, 4, 3.0)])
    >>> row.least_h, row.least_weighted_h, row.homogeneous_groups, row.homogeneous_records
    (2.0, 8.0, 0, 0)
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


def plain_terms(pairs: str, by: str) -> str:
    """Return SQL for the terms of groups that entropies need."""
    return (
        f"(SELECT {by}, CAST(SUM(c) AS BIGINT) AS n, COUNT(*) AS d, "
        f"SUM(c * LOG2(c)) AS clogc FROM {pairs} p GROUP BY {by})"
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
        GROUP BY {SIZE_BIN}"""
    rows, width = engine.query(sql), len(SizeRow._fields)
    by_extreme = zip(*(row[width:] for row in rows), strict=True)
    least = ("least_distinct", "least_ratio")
    extremes = {
        field.name: min(found) if field.name in least else max(found)
        for field, found in zip(fields(ValueExtremes), by_extreme, strict=True)
    }
    return tuple(sorted(SizeRow(*row[:width]) for row in rows)), ValueExtremes(**extremes)


@dataclass(frozen=True)
class Question:
    """What is asked of a source: its columns by role, and what is known of the sensitive ones."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    individual: str | None = None
    joint: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchies: Mapping[str, str | Path | Hierarchy] = field(default_factory=dict)
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        if not self.quasi:
            raise UserError(
                f"at least one quasi-identifier is needed; name it with {option('quasi')}.",
                field="quasi",
            )
        for name in (everything := self.columns):
            if everything.count(name) > 1:
                raise UserError(
                    f"a column may be named once; {name!r} is named {everything.count(name)} times "
                    "among quasi, sensitive, individual, weight and household."
                )
        if self.weight is not None and self.individual is not None:
            raise UserError(
                "weights are of records, each of which is one person",
                way_out=f"Leave {option('weight')} or {option('individual')} out",
                field="weight",
            )
        for role in ("kinds", "orders", "hierarchies"):
            for name in getattr(self, role):
                if name not in self.sensitive:
                    raise unknown("sensitive attribute", name, self.sensitive, field=role)

    @property
    def columns(self) -> list[str]:
        """Every column that is asked for."""
        more = (self.individual, self.weight, self.household)
        return [*self.quasi, *self.sensitive, *(name for name in more if name is not None)]


@dataclass(frozen=True)
class Partition:
    """A table of counts, and the columns of it that tell its groups apart."""

    table: str
    by: str


@dataclass(frozen=True)
class Counted:
    """A source after stage one: what stage two works on."""

    engine: Engine
    quasi: tuple[str, ...]
    cells: str
    people: str | None
    values: tuple[Values, ...]
    records: int
    h_individual: float
    groups: str = ""
    """A row per group of all quasi-identifiers with its terms, of the first attribute if any."""
    individual: str | None = None
    household: tuple[str, int] | None = None
    """The column that tells households apart, and its position."""

    @property
    def who(self) -> str:
        """The individual's column in the table of people."""
        return f"c{len(self.quasi) + sum(len(v.sensitive.columns) for v in self.values)}"

    @property
    def size(self) -> str:
        """The column of ``groups`` that counts individuals."""
        return "n" if self.people is None else "d"

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of all quasi-identifiers."""
        return tuple(range(len(self.quasi)))

    def pairs(self, positions: Sequence[int], number: int) -> str:
        """Return SQL for a row per (group, value of sensitive attribute ``number``)."""
        only = len(self.values) == 1 and tuple(positions) == self.positions
        if only and not self.values[0].merges:  # the cells are the pairs already
            return f"(SELECT {keys(positions)}, s0 AS x, n AS c FROM {self.cells})"
        by = f"{keys(positions)}, s{number}"
        return summed(self.cells, by, f"{by} AS x")

    def finest(self) -> str:
        """Return SQL for the terms of the groups of all quasi-identifiers."""
        if self.people is not None:
            return plain_terms(f"(SELECT *, n AS c FROM {self.people})", keys(self.positions))
        if self.values:
            return value_terms(self.pairs(self.positions, 0), self.values[0].table, self.positions)
        return row_terms(summed(self.cells, keys(self.positions)))


def count(
    source: Any, question: Question, engine: EngineName, reading: Reading, resources: Resources
) -> Counted:
    """Run stage one and code the sensitive values."""
    columns, known = question.columns, len(question.quasi)
    countings: dict[str, list[int]] = {"cells": list(range(known + len(question.sensitive)))}
    if question.individual is not None:
        countings["people"] = [*range(known), columns.index(question.individual)]
    if question.household is not None:
        countings["households"] = [*range(known), columns.index(question.household)]
    weight = None if question.weight is None else columns.index(question.weight)
    connected = connect(
        source, columns, countings, weight=weight, engine=engine, reading=reading,
        resources=resources,
    )  # fmt: skip
    try:
        return _coded(connected, question)
    except BaseException:
        connected.close()
        raise


def _coded(engine: Engine, question: Question) -> Counted:
    quasi, sensitive = question.quasi, question.sensitive
    cells, people = engine.counts["cells"], engine.counts.get("people")
    ((records,),) = engine.query(f"SELECT CAST(SUM(n) AS BIGINT) FROM {cells}")
    asked = []
    for position, name in enumerate(sensitive, len(quasi)):
        tree, order = question.hierarchies.get(name), question.orders.get(name)
        tree = Hierarchy.read(tree) if isinstance(tree, str | Path) else tree
        order = None if order is None else tuple(map(str, order))
        kind = question.kinds.get(name)
        kind = decide_kind(engine, position, name, kind, order is not None, tree is not None)
        asked.append(Sensitive(name, (position,), kind, order, tree))
    if question.joint and len(asked) > 1:
        places = tuple(part.columns[0] for part in asked)
        asked = [Sensitive(", ".join(sensitive), places, Kind.CATEGORICAL)]
    coded, values = code_values(engine, cells, asked, records)
    h_individual = math.log2(records)
    if people is not None:
        rows_of_each = summed(people, f"c{len(quasi) + len(sensitive)}")
        ((used,),) = engine.query(f"SELECT SUM(c * LOG2(c)) FROM {rows_of_each} w")
        h_individual = max(0.0, h_individual - used / records)
    household = question.household
    house = None if household is None else (household, question.columns.index(household))
    counted = Counted(
        engine, quasi, coded, people, values, records, h_individual,
        individual=question.individual, household=house,
    )  # fmt: skip
    return replace(counted, groups=engine.keep(f"SELECT * FROM {counted.finest()} t"))
