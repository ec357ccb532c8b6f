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
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from indiff.data.hierarchy import Hierarchy
from indiff.data.reading.input_files import Reading
from indiff.data.schema import Kind
from indiff.engines.protocol import Engine, EngineName, Resources, connect
from indiff.errors import UserError, option, unknown
from indiff.risk.in_memory import Cells, GroupsInMemory, hold
from indiff.risk.sizes import EXACT_SIZES, SIZE_STEPS, SizeRow, ValueExtremes
from indiff.risk.values import (
    Sensitive,
    Values,
    code_values,
    decide_kind,
    totals,
    with_codes,
)

SIZE_BIN = (
    f"CASE WHEN size <= {EXACT_SIZES} THEN size "
    f"ELSE {EXACT_SIZES} + CAST(FLOOR(LOG2(size) * {SIZE_STEPS}) AS BIGINT) END"
)
_H = "CASE WHEN d = 1 THEN 0.0 ELSE GREATEST(0.0, LOG2(n) - clogc / n) END"


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
    engine: Engine, terms: str, values: Values
) -> tuple[tuple[SizeRow, ...], ValueExtremes]:
    """Reduce per-group terms of a sensitive attribute to a row per size, and extremes over all."""
    means = values.mean_reach, values.mean_place
    sql = f"""
        SELECT {_SIZES},
          MAX(top / n), MIN(d),
          MAX(top - CASE WHEN d < {values.distinct} THEN 0 ELSE low END),
          MAX(most / n), MIN(least / n), MAX(excess / n),
          MAX(CASE WHEN d = 1 THEN CAST('Infinity' AS DOUBLE) ELSE top / (n - top) END),
          MAX(CASE WHEN d = 1 THEN 0.0 ELSE reach / n END),
          MAX(GREATEST(ABS(reach / n - ({means[0]!r})), ABS(place / n - ({means[1]!r})))),
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


class GroupsInEngine:
    """The groups of some quasi-identifiers with the values of one sensitive attribute."""

    def __init__(self, counted: Counted, columns: Sequence[int], number: int) -> None:
        self._engine, self._values = counted.engine, counted.values[number]
        self._made: list[str] = []
        self.columns, self._pairs = columns, counted.pairs(columns, number)
        is_finest = tuple(columns) == counted.positions
        if not is_finest:  # few rows, read several times
            self._pairs = self._keep(f"SELECT * FROM {self._pairs} p")
        if is_finest and number == 0 and counted.people is None:
            self._terms = counted.groups
        else:
            terms = value_terms(self._pairs, self._values.table, columns)
            self._terms = self._keep(f"SELECT * FROM {terms} t")

    def _keep(self, sql: str) -> str:
        self._made.append(self._engine.keep(sql))
        return self._made[-1]

    def reduced(self) -> tuple[tuple[SizeRow, ...], ValueExtremes]:
        """Return a row per group size, and extremes over all groups."""
        return reduce_values(self._engine, self._terms, self._values)

    def candidates(self, least: float) -> str:
        """Make a table of the groups of several values whose reach is no less."""
        return self._engine.keep(f"""
            SELECT {keys(self.columns, "p.")}{", " if self.columns else ""}p.x, p.c, g.n
            FROM {self._pairs} p JOIN (
              SELECT {listed(self.columns)}n FROM {self._terms}
              WHERE d > 1 AND reach / n >= {least!r}) g
            ON {same(self.columns, "p", "g") or "TRUE"}""")

    def equally_far(self, least: float) -> float:
        """Return the largest distance of these groups from the whole table, values equally far.

        Half the absolute differences: only values that a group has too much of count.
        """
        candidates, records = self.candidates(least), self._values.records
        ((found,),) = self._engine.query(f"""
            SELECT MAX(t) FROM (
              SELECT SUM(GREATEST(c / n - total / CAST({records} AS DOUBLE), 0.0)) AS t
              FROM (SELECT {listed(self.columns)}x, c, CAST(n AS DOUBLE) AS n FROM {candidates}) k
              JOIN {self._values.table} v ON k.x = v.code {group_by(self.columns)}) q""")
        self._engine.forget(candidates)
        return found or 0.0

    def worst_tail(self, least: int) -> float:
        """Return the largest r₁ / (r_ℓ + … + r_m) over groups, for ℓ = ``least``."""
        by = keys(self.columns)
        ((worst,),) = self._engine.query(f"""
            SELECT MAX(top / tail) FROM (
              SELECT MAX(c) AS top,
                CAST(SUM(CASE WHEN place >= {least} THEN c ELSE 0 END) AS BIGINT) AS tail
              FROM (SELECT {by}, c,
                      ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY c DESC) AS place
                    FROM {self._pairs} p) r
              GROUP BY {by}) q""")
        return float(worst)

    def close(self) -> None:
        """Forget what was made."""
        for table in self._made:
            self._engine.forget(table)


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
    people: str | None
    values: tuple[Values, ...]
    records: int
    h_individual: float
    individual: str | None = None
    household: tuple[str, int] | None = None
    """The column that tells households apart, and its position."""
    held: Cells | None = None
    """The cells in memory, where they are there and each record is one individual."""

    @cached_property
    def cells(self) -> str:
        """The table of counts with the codes of the sensitive values."""
        return with_codes(self.engine, self.engine.counts["cells"], self.values)

    @cached_property
    def groups(self) -> str:
        """A row per group of all quasi-identifiers with its terms: the first attribute's."""
        return self.engine.keep(f"SELECT * FROM {self.finest()} t")

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

    def values_of(self, positions: Sequence[int], number: int) -> GroupsInEngine | GroupsInMemory:
        """Return the groups of some quasi-identifiers with the values of one attribute."""
        if self.held is not None:
            return self.held.groups(positions, number)
        return GroupsInEngine(self, positions, number)

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
    people, held = engine.counts.get("people"), engine.held.get("cells")
    if held is None:
        ((records,),) = engine.query(f"SELECT CAST(SUM(n) AS BIGINT) FROM {engine.counts['cells']}")
    else:
        records = held.records
    asked: list[Sensitive] = []
    tables: dict[tuple[int, ...], str] = {}
    for position, name in enumerate(sensitive, len(quasi)):
        tree, order = question.hierarchies.get(name), question.orders.get(name)
        tree = Hierarchy.read(tree) if isinstance(tree, str | Path) else tree
        order = None if order is None else tuple(map(str, order))
        kind, cells = question.kinds.get(name), totals(engine, [position])
        kind = decide_kind(engine, cells, position, name, kind, order is not None, tree is not None)
        asked.append(Sensitive(name, (position,), kind, order, tree))
        tables[position,] = cells
    if question.joint and len(asked) > 1:
        places = tuple(part.columns[0] for part in asked)
        asked = [Sensitive(", ".join(sensitive), places, Kind.CATEGORICAL)]
        tables[places] = totals(engine, places)
    values = tuple(code_values(engine, tables[one.columns], one, records) for one in asked)
    h_individual = math.log2(records)
    if people is not None:
        rows_of_each = summed(people, f"c{len(quasi) + len(sensitive)}")
        ((used,),) = engine.query(f"SELECT SUM(c * LOG2(c)) FROM {rows_of_each} w")
        h_individual = max(0.0, h_individual - used / records)
    household = question.household
    house = None if household is None else (household, question.columns.index(household))
    return Counted(
        engine, quasi, people, values, records, h_individual,
        individual=question.individual, household=house,
        held=None if held is None or people is not None
        else hold(engine, held, len(quasi), values, tables),
    )  # fmt: skip
