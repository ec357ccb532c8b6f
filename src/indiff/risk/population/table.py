"""Counts the population that a table has, and looks up the groups of the release in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indiff.data.fingerprint import spelled
from indiff.data.hierarchy import ROOT, Hierarchy
from indiff.data.reading.input_files import Reading
from indiff.engines.protocol import Engine, EngineName, Resources
from indiff.errors import UserError
from indiff.risk.counts import SIZE_BIN, Counted, Question, count, keys, summed

Trees = Mapping[str, str | Path | Hierarchy]


@dataclass(frozen=True)
class MatchedSizes:
    """How many released groups and records have a population group of one size behind them.

    Sizes above 50,000 are ranges.
    """

    smallest: int
    largest: int
    groups: int
    records: int


@dataclass(frozen=True)
class KnownPopulation:
    """The release against a table of its population; every number is counted.

    A released group that the population does not have is no protection for anybody in it: its
    population size is 0, its share 1, and every record of it counts as linked.
    """

    people: int
    groups: int
    k_map: int
    """The smallest population group behind a released group."""
    presence: tuple[float, float]
    """The smallest and the largest share of a population group that is in the release."""
    presence_released: tuple[float, float]
    """The same over the groups that the release has."""
    journalist: float
    journalist_average: float
    """The larger of ``marketer`` and released groups per person behind them (as ARX has it)."""
    marketer: float
    lacking_groups: int
    """Released groups that the population does not have."""
    lacking_records: int
    crowded_groups: int
    """Released groups with more records than the population has people."""
    sizes: tuple[MatchedSizes, ...]
    notes: tuple[str, ...] = ()

    def at_risk(self, threshold: float) -> float:
        """Return the share of records whose chance of a correct link, 1/F, is above a threshold."""
        risky = [one for one in self.sizes if one.largest * threshold < 1]
        return sum(one.records for one in risky) / sum(one.records for one in self.sizes)


@dataclass(frozen=True)
class Matched:
    """The groups of the release with their size in the population."""

    found: KnownPopulation
    groups: str
    """A table in the release's engine: the groups' columns, ``f``, ``w`` (people) and ``r``."""


def match(
    counted: Counted,
    population: Any,
    *,
    trees: Trees,
    individual: str | None,
    engine: EngineName,
    reading: Reading,
    resources: Resources,
) -> Matched:
    """Count the population by the same columns and look up every released group in it."""
    own, positions = counted.engine, counted.positions
    question = Question(counted.quasi, individual=individual)
    other = count(population, question, engine, reading, resources)
    try:
        maps = _maps(counted, other.engine, trees)
        people, notes = _people(other, maps)
        texts = ", ".join(f"{_text(own, i, maps)} AS t{i}" for i in positions)
        size = counted.size
        released = own.keep(f"SELECT {keys(positions)}, {size} AS f, {texts} FROM {counted.groups}")
        joined = _joined(own, other.engine, released, people, positions, other.records)
        found = _summary(own, joined, other, people, notes)
    finally:
        other.engine.close()
    risk = "CASE WHEN w < 1 THEN CAST(1 AS DOUBLE) ELSE 1 / CAST(w AS DOUBLE) END AS r"
    groups = own.keep(f"SELECT {keys(positions)}, f, w, {risk} FROM {joined}")
    for table in (released, joined):
        own.forget(table)
    return Matched(found, groups)


def _text(engine: Engine, position: int, maps: Mapping[int, str]) -> str:
    """Return SQL for a released value as both tables spell it."""
    if position in maps:
        return spelled("text", f"CAST(c{position} AS STRING)", engine.dialect)
    return engine.spelled(position)


def _maps(counted: Counted, other: Engine, trees: Trees) -> dict[int, str]:
    """Make a table (leaf, label) for every column with a hierarchy, in the population's engine.

    Each of the population's values is generalized to the one released label that covers it. Rows
    that are suppressed in every column are left aside: everybody fits them.
    """
    found = {}
    kept = " OR ".join(f"CAST(c{i} AS STRING) IS DISTINCT FROM '{ROOT}'" for i in counted.positions)
    for position, name in enumerate(counted.quasi):
        if name not in trees:
            continue
        tree = trees[name]
        tree = Hierarchy.read(tree) if isinstance(tree, str | Path) else tree
        rows = counted.engine.query(
            f"SELECT DISTINCT CAST(c{position} AS STRING) FROM {counted.groups} WHERE {kept}"
        )
        label_of = _label_of(name, tree, [label for (label,) in rows if label in tree])
        found[position] = other.put(
            {"leaf": list(label_of), "label": list(label_of.values())}, ["STRING", "STRING"]
        )
    return found


def _label_of(name: str, tree: Hierarchy, released: Sequence[str]) -> dict[str, str]:
    """Return the released label that covers each label of a hierarchy, or the label itself."""
    found: dict[str, str] = {}
    for label in released:
        node = tree.node(label)
        inside = (tree.first >= tree.first[node]) & (tree.last <= tree.last[node])
        for below in np.flatnonzero(inside):
            if found.setdefault(tree.labels[below], label) != label:
                raise UserError(
                    "a population is generalized as the release is, each value to one label",
                    f"column {name!r}, in which a value has several",
                    "Give a population that is generalized already",
                    field="population",
                )
    return {label: label for label in tree.labels} | found


def _people(other: Counted, maps: Mapping[int, str]) -> tuple[str, list[str]]:
    """Make a table of the population's groups as texts, generalized, with their people ``w``."""
    engine, notes, columns, joins = other.engine, [], [], []
    for position, name in enumerate(other.quasi):
        if position not in maps:
            columns.append(f"{engine.spelled(position)} AS t{position}")
            continue
        raw, map_ = f"CAST(g.c{position} AS STRING)", f"m{position}"
        joins.append(f"LEFT JOIN {maps[position]} {map_} ON {raw} = {map_}.leaf")
        text = spelled("text", f"COALESCE({map_}.label, {raw})", engine.dialect)
        columns.append(f"{text} AS t{position}")
        ((strange,),) = engine.query(
            f"""SELECT CAST(COALESCE(SUM(g.{other.size}), 0) AS BIGINT) FROM {other.groups} g
              {joins[-1]} WHERE g.c{position} IS NOT NULL AND {map_}.leaf IS NULL"""
        )
        if strange:
            notes.append(
                f"{strange:,} people of the population have a value of {name!r} that is not in its "
                "hierarchy: they count only behind rows that show this very value, or nothing"
            )
    rows = (
        f"SELECT {', '.join(columns)}, g.{other.size} AS n FROM {other.groups} g {' '.join(joins)}"
    )
    by = ", ".join(f"t{i}" for i in other.positions)
    return engine.keep(f"SELECT {by}, c AS w FROM {summed(f'({rows}) r', by)} s"), notes


def _joined(
    own: Engine, other: Engine, released: str, people: str, positions: Sequence[int], whole: int
) -> str:
    """Make the released groups with their people; where both are, the fewer rows are moved."""
    where, left, right = own, released, people
    if other.dialect == "spark" and own.dialect != "spark":
        where, left = other, other.load(own.fetch(released))
    elif not (other.dialect == own.dialect == "spark"):
        right = own.load(other.fetch(people))
    match = " AND ".join(f"g.t{i} IS NOT DISTINCT FROM p.t{i}" for i in positions)
    suppressed = " AND ".join(
        f"CAST(g.c{i} AS STRING) IS NOT DISTINCT FROM '{ROOT}'" for i in positions
    )
    joined = where.keep(
        f"""SELECT {keys(positions, "g.")}, g.f,
          CASE WHEN {suppressed} THEN {whole} ELSE COALESCE(p.w, 0) END AS w,
          CASE WHEN {suppressed} THEN 1 ELSE 0 END AS hidden
          FROM {left} g LEFT JOIN {right} p ON {match}"""
    )
    return joined if where is own else own.load(where.fetch(joined))


def _summary(
    own: Engine, joined: str, other: Counted, people: str, notes: Sequence[str]
) -> KnownPopulation:
    """Reduce the joined groups to a row per size of the population's group."""
    size_bin = SIZE_BIN.replace("size", "w")
    rows = own.query(f"""
        SELECT CAST(MIN(w) AS BIGINT), CAST(MAX(w) AS BIGINT), COUNT(*), CAST(SUM(f) AS BIGINT),
          CAST(SUM(w) AS BIGINT), SUM(f / GREATEST(CAST(w AS DOUBLE), CAST(f AS DOUBLE))),
          MIN(f / GREATEST(CAST(w AS DOUBLE), CAST(f AS DOUBLE))),
          MAX(f / GREATEST(CAST(w AS DOUBLE), CAST(f AS DOUBLE))),
          CAST(SUM(CASE WHEN w < f AND w > 0 THEN 1 ELSE 0 END) AS BIGINT),
          SUM(CASE WHEN w < 1 THEN f ELSE f / CAST(w AS DOUBLE) END),
          CAST(SUM(CASE WHEN w > 0 THEN 1 - hidden ELSE 0 END) AS BIGINT),
          CAST(SUM(hidden) AS BIGINT)
        FROM {joined} GROUP BY {size_bin}""")
    ((groups, everybody),) = other.engine.query(
        f"SELECT COUNT(*), CAST(SUM(w) AS BIGINT) FROM {people}"
    )
    rows = sorted(rows)
    sizes = tuple(MatchedSizes(*map(int, row[:4])) for row in rows)
    records, matched = sum(one.records for one in sizes), sum(int(row[10]) for row in rows)
    least, most = min(row[6] for row in rows), max(row[7] for row in rows)
    is_whole = all(row[11] == row[2] for row in rows)  # every record is suppressed: one group
    k_map = sizes[0].smallest
    lacking = sizes[0] if k_map == 0 else MatchedSizes(0, 0, 0, 0)
    linked = math.fsum(row[3] / row[0] if row[0] == row[1] and row[0] else row[9] for row in rows)
    marketer = min(1.0, linked / records)
    behind = sum(int(row[4]) for row in rows)
    per_group = min(1.0, sum(one.groups for one in sizes) / behind) if behind else 1.0
    crowded = sum(int(row[8]) for row in rows)
    return KnownPopulation(
        people=int(everybody),
        groups=int(groups),
        k_map=k_map,
        presence=(0.0 if matched < groups and not is_whole else float(least), float(most)),
        presence_released=(float(least), float(most)),
        journalist=1 / max(k_map, 1),
        journalist_average=max(marketer, per_group),
        marketer=marketer,
        lacking_groups=lacking.groups,
        lacking_records=lacking.records,
        crowded_groups=crowded,
        sizes=sizes,
        notes=(*notes, *_warnings(lacking, crowded)),
    )


def _warnings(lacking: MatchedSizes, crowded: int) -> list[str]:
    found = []
    if lacking.groups:
        found.append(
            f"{lacking.groups:,} released groups ({lacking.records:,} records) are not in the "
            "population: everybody in them counts as found. Either the population lacks people, or "
            "its columns are not generalized as the release's are (by hierarchies, for example)"
        )
    if crowded:
        found.append(
            f"{crowded:,} released groups have more records than the population has people: the "
            "table is no part of this population"
        )
    return found
