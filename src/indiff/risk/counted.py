"""A source after stage one, and stage two for any set of its quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from indiff.data.hierarchy import Hierarchy
from indiff.data.reading.input_files import Reading
from indiff.data.schema import Kind
from indiff.engines.protocol import Engine, EngineName, Resources, connect
from indiff.errors import UserError, option, unknown
from indiff.risk.counts import (
    Grouped,
    ValueExtremes,
    each_record,
    keys,
    plain_terms,
    reduce_sizes,
    reduce_values,
    roll_up,
    row_terms,
    total,
    value_terms,
)
from indiff.risk.groups import GroupRisk, SensitiveGroups, closeness, group_risk, sensitive_groups
from indiff.risk.information import InformationRisk, information_risk
from indiff.risk.values import Sensitive, Values, code_values, decide_kind


@dataclass(frozen=True)
class Counted:
    """A source after stage one: what stage two works on."""

    engine: Engine
    source: str
    quasi: tuple[str, ...]
    cells: str
    people: str | None
    groups: str
    """A row per group of all quasi-identifiers with its terms, of the first attribute if any."""
    values: tuple[Values, ...]
    records: int
    h_individual: float

    @property
    def who(self) -> str:
        """The individual's column in the table of people."""
        return f"c{len(self.quasi) + sum(len(v.sensitive.columns) for v in self.values)}"

    @property
    def size(self) -> str:
        """The column of ``groups`` that counts individuals."""
        return "n" if self.people is None else "d"

    def pairs(self, positions: Sequence[int], number: int) -> str:
        """Return SQL for a row per (group, value of sensitive attribute ``number``)."""
        return _pairs(self.cells, self.values, positions, number, self.positions)

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of all quasi-identifiers."""
        return tuple(range(len(self.quasi)))


@dataclass(frozen=True)
class ColumnsRisk:
    """Every metric for one set of columns."""

    columns: tuple[str, ...]
    reidentification: InformationRisk
    inference: dict[str, InformationRisk]
    groups: GroupRisk


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
                    "among quasi, sensitive and individual."
                )
        for role in ("kinds", "orders", "hierarchies"):
            for name in getattr(self, role):
                if name not in self.sensitive:
                    raise unknown("sensitive attribute", name, self.sensitive, field=role)

    @property
    def columns(self) -> list[str]:
        """Every column that is asked for; the individual's is the last."""
        whose = [] if self.individual is None else [self.individual]
        return [*self.quasi, *self.sensitive, *whose]


def count(
    source: Any, question: Question, engine: EngineName, reading: Reading, resources: Resources
) -> Counted:
    """Run stage one and code the sensitive values."""
    columns, known = question.columns, len(question.quasi)
    countings: dict[str, list[int]] = {"cells": list(range(known + len(question.sensitive)))}
    if question.individual is not None:
        countings["people"] = [*range(known), len(columns) - 1]
    connected = connect(
        source, columns, countings, engine=engine, reading=reading, resources=resources
    )
    try:
        return _coded(connected, question)
    except BaseException:
        connected.close()
        raise


def _coded(engine: Engine, question: Question) -> Counted:
    quasi, sensitive = question.quasi, question.sensitive
    cells = engine.counts["cells"]
    records = total(engine, cells)
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
    people = engine.counts.get("people")
    if people is not None:
        who = f"c{len(quasi) + len(sensitive)}"
        ((used,),) = engine.query(
            f"SELECT SUM(c * LOG2(c)) FROM "
            f"(SELECT CAST(SUM(n) AS BIGINT) AS c FROM {people} GROUP BY {who}) w"
        )
        h_individual = max(0.0, h_individual - used / records)
    groups = engine.keep(_finest(coded, people, values, tuple(range(len(quasi)))))
    return Counted(
        engine, engine.source.name, quasi, coded, people, groups, values, records, h_individual
    )


def _finest(
    cells: str, people: str | None, values: tuple[Values, ...], positions: tuple[int, ...]
) -> str:
    """Return SQL for the terms of the groups of all quasi-identifiers, from which all else is."""
    if people is not None:
        return f"SELECT * FROM {plain_terms(f'(SELECT *, n AS c FROM {people})', positions)} t"
    if values:
        pairs = _pairs(cells, values, positions, 0, positions)
        return f"SELECT * FROM {value_terms(pairs, values[0].table, positions)} t"
    return f"SELECT * FROM {row_terms(_groups(cells, positions))} t"


def _groups(cells: str, positions: Sequence[int]) -> str:
    return (
        f"(SELECT {keys(positions)}, CAST(SUM(n) AS BIGINT) AS c FROM {cells} "
        f"GROUP BY {keys(positions)})"
    )


def _pairs(
    cells: str,
    values: tuple[Values, ...],
    positions: Sequence[int],
    number: int,
    everything: tuple[int, ...],
) -> str:
    only = len(values) == 1 and tuple(positions) == everything
    if only and not values[0].merges:  # the cells are the pairs already
        return f"(SELECT {keys(positions)}, s0 AS x, n AS c FROM {cells})"
    return roll_up(cells, positions, f"s{number}")


def measure_columns(counted: Counted, positions: Sequence[int]) -> ColumnsRisk:
    """Run stage two for one set of quasi-identifiers."""
    names = tuple(counted.quasi[i] for i in positions)
    whats: list[Grouped] = []
    inference: dict[str, InformationRisk] = {}
    models: dict[str, SensitiveGroups] = {}
    for number, values in enumerate(counted.values):
        what, t, recursive = _measure_values(counted, positions, number)
        assert what.extremes is not None
        name = values.sensitive.name
        inference[name] = information_risk(name, what, entropy(values), what.extremes.spread)
        models[name] = sensitive_groups(name, what, values.distinct, t, recursive)
        whats.append(what)
    who = measure_who(counted, positions, whats)
    reidentification = information_risk("individual", who, counted.h_individual, None)
    groups = group_risk(who, models)
    trees = [one.sensitive.hierarchy for one in counted.values if one.sensitive.hierarchy]
    told = [note for tree in trees for note in tree.notes]
    groups = replace(groups, notes=(*groups.notes, *told))
    return ColumnsRisk(names, reidentification, inference, groups)


def _measure_values(
    counted: Counted, positions: Sequence[int], number: int
) -> tuple[Grouped, float, tuple[float, int]]:
    """Return what is kept of the groups, t, and recursive (c, ℓ) of one sensitive attribute."""
    engine, values, made = counted.engine, counted.values[number], []
    pairs = counted.pairs(positions, number)
    is_finest = tuple(positions) == counted.positions
    if not is_finest:  # few rows, read several times
        made.append(pairs := engine.keep(f"SELECT * FROM {pairs} p"))
    if is_finest and number == 0 and counted.people is None:
        terms = counted.groups
    else:
        terms = engine.keep(f"SELECT * FROM {value_terms(pairs, values.table, positions)} t")
        made.append(terms)
    rows, extremes = reduce_values(
        engine, terms, values.distinct, values.mean_reach, values.mean_place
    )
    what = Grouped(tuple(counted.quasi[i] for i in positions), rows, extremes)
    t = closeness(engine, pairs, terms, values, positions, extremes)
    recursive = recursive_diversity(engine, pairs, extremes, positions)
    for table in made:
        engine.forget(table)
    return what, t, recursive


def entropy(values: Values) -> float:
    """Return H(X) of a sensitive attribute (Eq. 1)."""
    if values.distinct == 1:
        return 0.0
    return max(0.0, math.log2(values.records) - values.clogc / values.records)


def measure_who(counted: Counted, positions: Sequence[int], whats: Sequence[Grouped]) -> Grouped:
    """Run stage two for X the individual, or derive it from what was measured of an attribute."""
    engine, names = counted.engine, tuple(counted.quasi[i] for i in positions)
    is_finest = tuple(positions) == counted.positions
    if counted.people is None and whats:
        return Grouped(names, each_record(whats[0].rows))
    if is_finest:
        terms = counted.groups
    elif counted.people is None:
        terms = row_terms(_groups(counted.groups, positions))
    else:
        pairs = f"""(SELECT {keys(positions)}, {counted.who}, CAST(SUM(n) AS BIGINT) AS c
            FROM {counted.people} GROUP BY {keys(positions)}, {counted.who})"""
        terms = plain_terms(pairs, positions)
    return Grouped(names, reduce_sizes(engine, terms, size=counted.size))


def measure_what(counted: Counted, positions: Sequence[int], number: int) -> Grouped:
    """Run the part of stage two that entropies need, for X a sensitive attribute."""
    names = tuple(counted.quasi[i] for i in positions)
    terms = plain_terms(counted.pairs(positions, number), positions)
    return Grouped(names, reduce_sizes(counted.engine, terms))


def recursive_diversity(
    engine: Engine, pairs: str, extremes: ValueExtremes, positions: Sequence[int]
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
    order = f"(PARTITION BY {keys(positions)} ORDER BY c DESC)"
    ((worst,),) = engine.query(f"""
        SELECT MAX(top / tail) FROM (
          SELECT MAX(c) AS top, CAST(SUM(CASE WHEN place >= {least} THEN c ELSE 0 END) AS BIGINT)
            AS tail
          FROM (SELECT {keys(positions)}, c, ROW_NUMBER() OVER {order} AS place FROM {pairs} p) r
          GROUP BY {keys(positions)}) q""")
    return float(worst), least
