"""Measures risk: the question, the counting, and the answers in one frozen result."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from indiff.data.coding import code_sensitive
from indiff.data.expressions import with_expressions
from indiff.data.fingerprint import digest, sums
from indiff.data.hierarchy import Hierarchy
from indiff.data.reading.door import read_raw
from indiff.data.reading.input_files import Reading, is_address
from indiff.data.reading.source import column_names
from indiff.data.table import Table
from indiff.engines.duckdb import enough_memory
from indiff.engines.protocol import Engine, EngineName, Resources
from indiff.errors import UserError, unknown
from indiff.release.release import Release
from indiff.risk import columns
from indiff.risk.columns import ColumnsRisk, Combination, Contribution, Level, measure_columns
from indiff.risk.counts import Counted, Question, count
from indiff.risk.identifying.keys import Key, few_columns, read_keys, special_of
from indiff.risk.identifying.special_uniques import SAMPLING, SpecialRisk
from indiff.risk.metrics import DERIVED, GroupRisk, InformationRisk
from indiff.risk.population.measure import Asked, PopulationRisk, measure_population
from indiff.risk.records import write_records
from indiff.risk.values import Ground
from indiff.text import FORMAT, html, html_table, json_text, number
from indiff.version import __version__


@dataclass(frozen=True)
class Method:
    """What was asked, of what, and by which versions."""

    source: str
    engine: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    individual: str | None
    missing_tokens: tuple[str, ...]
    kinds: dict[str, str]
    ground_distances: dict[str, Ground]
    """What t takes for the distance of two values of each sensitive attribute."""
    bins: dict[str, int]
    """How many bins stand for the numbers of a sensitive attribute, where bins were asked for."""
    versions: dict[str, str]
    fingerprint: str
    """A keyed digest of the columns' names and roles and of all records' values, in any order.

    Equal for the same records on every engine and from every file, by the same key. Floats count
    to about 10⁻⁶.
    """


@dataclass(frozen=True)
class Risk:
    """The risk metrics of a table, for all quasi-identifiers together and for each alone."""

    records: int
    reidentification: InformationRisk
    inference: dict[str, InformationRisk]
    groups: GroupRisk
    population: PopulationRisk | None
    """Risk against the population, where something is known of it."""
    columns: dict[str, ColumnsRisk]
    contributions: tuple[Contribution, ...]
    levels: tuple[Level, ...]
    distinct_values: dict[str, int]
    combinations: tuple[Combination, ...]
    keys: tuple[Combination, ...]
    """The combinations of columns that were named as keys, in their order."""
    special: SpecialRisk | None
    """Records that few columns single out (SUDA2), where they were asked for."""
    method: Method

    def _repr_html_(self) -> str:
        groups = self.groups
        about = f"Risk of {self.records:,} records: k = {groups.k}, {groups.singled_out:,} alone"
        parts = {"whose record it is": self.reidentification, **self.inference}
        rows = []
        for place, (name, one) in enumerate(parts.items()):
            models = [groups.sensitive[name].l, groups.sensitive[name].t] if place else []
            cells = [number(value) for value in (one.itpr, one.dr, one.mi, *models)]
            rows.append([name, *cells, *[""] * (5 - len(cells))])
        heads = ("about", "ITPR (worst group)", "DR (average)", "MI", "ℓ", "t")
        return f"<div><h3>{html(about)}</h3>{html_table(heads, rows)}</div>"

    @property
    def outliers(self) -> tuple[Level, ...]:
        """The values flagged for cleaning (ITPR paper, Section 5.4)."""
        return tuple(level for level in self.levels if level.is_outlier)

    def value_of(self, name: str) -> float:
        """Return what a limit of this name is checked against: of an interval the worse end."""
        plane, _, rest = name.partition(".")
        if self.population is not None and (found := self.population.figure(name)) is not None:
            return found.worst
        if plane in ("keys", "special"):
            return few_columns(self.keys, self.special, name)
        if plane == "reidentification":
            return float(getattr(self.reidentification, rest))
        if plane == "inference":
            attribute, _, metric = rest.rpartition(".")
            return float(getattr(self.inference[attribute], metric))
        return float(getattr(self.groups, name))

    def verb_of(self, name: str) -> str:
        """Return ``is`` for what was counted, ``may be`` in an interval, or that it is a guess."""
        found = None if self.population is None else self.population.figure(name)
        if found is not None and found.interval is not None:
            return "may be"
        guess = name == "special.dis" if found is None else found.exactness == "estimate"
        return "is estimated at" if guess else "is"

    @property
    def singled_out_by_width(self) -> dict[int, int]:
        """The most records that any combination of so many columns singles out (if searched)."""
        most: dict[int, int] = {}
        for found in self.combinations:
            width = len(found.columns)
            most[width] = max(most.get(width, 0), found.singled_out)
        return dict(sorted(most.items()))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {"format": FORMAT, "kind": "risk", **plain(self)}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(), indent=1)


def plain(value: Any) -> Any:
    """Turn results into plain values: dictionaries, lists, numbers and texts."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {
            field.name.rstrip("_"): plain(getattr(value, field.name)) for field in fields(value)
        }
        if isinstance(value, GroupRisk):
            found.update({name: plain(getattr(value, name)) for name in DERIVED})
        return found
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)  # dates, decimals


def fingerprint(
    engine: Engine, quasi: Sequence[str], sensitive: Sequence[str], individual: str | None
) -> str:
    """Return the fingerprint of the records, that of the table itself where each row is one."""
    names = [*quasi, *sensitive]
    known = sorted(range(len(quasi)), key=quasi.__getitem__)
    others = sorted(range(len(quasi), len(names)), key=names.__getitem__)
    wanted = {"cells": [*known, *others]}
    if individual is not None:
        wanted["people"] = [*known, len(names)]
    found = []
    for table, positions in wanted.items():
        texts = [engine.spelled(position) for position in positions]
        if table in engine.held:
            found += engine.held[table].hashed(positions, texts)
        else:
            found += engine.query(sums(texts, engine.counts[table], engine.dialect))
    return digest(quasi, sensitive, individual, found)


Progress = Callable[[str], object]
Bins = int | Sequence[float]
_version = cache(importlib.metadata.version)  # it reads a file


def measure_risk(
    source: Any,
    *,
    quasi: Sequence[str] | str,
    sensitive: Sequence[str] | str | None = None,
    individual: str | None = None,
    joint: bool = False,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
    bins: Bins | Mapping[str, Bins] | None = None,
    missing_tokens: Sequence[str] = ("",),
    encoding: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    decimal: str | None = None,
    date_format: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    engine: EngineName = "auto",
    combinations: int = 0,
    keys: Sequence[Key] | str = (),
    special: int = 0,
    details: bool = True,
    records: str | Path | None = None,
    outlier: float = 0.9,
    population: Any = None,
    sampling: float | None = None,
    weight: str | None = None,
    household: str | None = None,
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Risk:
    """Measure what quasi-identifiers tell about who a record is and what its values are.

    ``source`` is a path, a folder, a pattern, a frame, a DuckDB relation or a Spark DataFrame (see
    docs/inputs.md), or a release. ``sensitive`` names columns or expressions over them, and
    ``bins`` groups sensitive numbers, as in :func:`indiff.read_table`. ``individual`` names
    the column whose equal values are one individual; without it each row is one.
    Null, NaN and ``missing_tokens`` are one missing value, a value of its own in every column.
    ``details=False`` leaves out what concerns single columns and their values;
    ``combinations=3`` ranks all combinations of up to three quasi-identifiers, ``keys`` measures
    those that are named (``["age+sex+zip"]``), and ``special=3`` finds the records that up to three
    columns single out (:func:`indiff.special_uniques`). ``records`` names a CSV or Parquet file to
    which the engine writes one row per record.

    ``population`` is the table that these records are a sample of (with the same columns; those
    with a hierarchy are generalized as the release is), or its size; ``sampling`` is the share of
    it that was drawn. ``weight`` names the column of survey weights, and ``household`` the one
    whose equal values are one household. With any of them ``risk.population`` is measured.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 47, 47], "ill": ["flu", "flu", "flu", "HIV"]})
    >>> risk = measure_risk(people, quasi="age", sensitive="ill")
    >>> risk.reidentification.itpr, risk.groups.k, risk.groups.distinct_l
    (0.5, 2, 1)
    >>> risk.inference["ill"].itpr, str(risk.inference["ill"].at_maximum)
    (1.0, '2 records in 1 groups (2 in groups of 2)')
    >>> risk = measure_risk(people, quasi="age", population=pa.table({"age": [30] * 8 + [47] * 5}))
    >>> risk.population.table.k_map, risk.population.table.marketer
    (5, 0.1625)

    A low number does not prove that a release is safe: it speaks of an attacker who knows these
    columns and nothing else, and of this table alone.
    """
    reading = Reading(missing_tokens, encoding, sheet, header_row, decimal, date_format, separator)
    source, made = _with_made_columns(source, _names(sensitive), bins, reading)
    trees = dict(hierarchies or {})
    above = {name: trees.pop(name) for name in _names(quasi) if name in trees}
    asked = Asked(population, sampling, weight, household, above)
    question = Question(
        _names(quasi),
        _names(sensitive),
        individual,
        joint,
        kinds or {},
        made | dict(orders or {}),
        trees,
        weight,
        household,
    )
    columns.require_few_combinations(len(question.quasi), combinations)
    named = read_keys(keys, question.quasi)
    say = progress or (lambda _: None)
    say("counting")
    resources = Resources(master, threads, memory_limit)
    with enough_memory(resources):
        counted = count(source, question, engine, reading, resources)
        try:
            if details:
                columns.require_few_passes(counted)
            say("all quasi-identifiers together")
            together = measure_columns(counted, counted.positions)
            single = {}
            if details and len(counted.quasi) > 1:
                for position, name in enumerate(counted.quasi):
                    say(f"column {name}")
                    single[name] = measure_columns(counted, [position])
            elif details:
                single = {counted.quasi[0]: together}
            say("values")
            levels, distinct = columns.levels(counted, single, outlier) if details else ((), {})
            parts = columns.contributions(counted, together, single) if details else ()
            say("combinations")
            ranked = columns.search(counted, combinations) if combinations else ()
            asked_keys = columns.chosen(counted, named)
            share, each = sampling or SAMPLING, records is not None
            uniques, scored = (
                special_of(counted, special, share, each=each) if special else (None, None)
            )
            if asked:
                say("population")
            against, risks = measure_population(
                counted, together.groups.sizes, asked, engine=engine, reading=reading,
                resources=resources,
            )  # fmt: skip
            if records is not None:
                say("records")
                who, what = together.reidentification, together.inference
                write_records(counted, str(records), who, what, risks, scored)
            return Risk(
                records=counted.records,
                reidentification=together.reidentification,
                inference=together.inference,
                groups=_with_population(together.groups, against),
                population=against,
                columns=single,
                contributions=parts,
                levels=levels,
                distinct_values=distinct,
                combinations=ranked,
                keys=asked_keys,
                special=uniques,
                method=_method(counted, question, missing_tokens, made),
            )
        finally:
            counted.engine.close()


def _names(names: Sequence[str] | str | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _with_population(groups: GroupRisk, found: PopulationRisk | None) -> GroupRisk:
    """Return the group models with the journalist's risk against the population's table."""
    if found is None or found.table is None:
        return groups
    notes = (*groups.notes[1:], *found.notes)
    return replace(groups, journalist=found.table.journalist, notes=notes)


def _method(
    counted: Counted, question: Question, tokens: Sequence[str], made: Mapping[str, Sequence[str]]
) -> Method:
    """Say what was asked, of what, and by which versions."""
    attributes = [values.sensitive for values in counted.values]
    return Method(
        source=counted.engine.source.name,
        engine=counted.engine.name,
        quasi=counted.quasi,
        sensitive=tuple(one.name for one in attributes),
        individual=question.individual,
        missing_tokens=tuple(tokens),
        kinds={one.name: str(one.kind) for one in attributes},
        ground_distances={one.name: one.ground for one in attributes},
        bins={name: len(order) for name, order in made.items()},
        versions=_versions(counted),
        fingerprint=fingerprint(
            counted.engine, question.quasi, question.sensitive, question.individual
        ),
    )


def _versions(counted: Counted) -> dict[str, str]:
    engines = {"in-process": ("pyarrow", "numba", "duckdb"), "duckdb": ("duckdb",)}
    used = engines.get(counted.engine.name, ("pyspark",))
    return {
        "indiff": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in used},
    }


def _with_made_columns(
    source: Any,
    sensitive: Sequence[str],
    bins: Bins | Mapping[str, Bins] | None,
    reading: Reading,
) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the source with a column for every sensitive attribute, and the orders of bins.

    A source whose columns are all there is returned as it is. Otherwise it is read as a test
    reads it, with numbers and dates as such.
    """
    edges = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(sensitive, bins)
    for name in edges:
        if name not in sensitive:
            raise unknown("sensitive attribute to bin", name, sensitive, field="bins")
    binned = {name: one for name, one in edges.items() if one is not None}
    if isinstance(source, Table | Release) or (isinstance(source, str) and is_address(source)):
        if binned:
            raise UserError("bins are made of a table that is read here; leave bins out.")
        return source, {}
    if not binned and set(sensitive) <= set(column_names(source, reading)):
        return source, {}
    raw, _ = with_expressions(read_raw(source, reading), sensitive, reading.missing_tokens)
    frame, orders = raw.frame, {}
    for name, one in binned.items():
        made = code_sensitive(name, frame[name], None, None, None, one)
        labels = [None if value is None else str(value) for value in made["values"]]
        cells = pa.array(labels, pa.string()).take(pa.array(made["codes"]))
        frame = frame.set_column(frame.column_names.index(name), name, cells)
        orders[name] = tuple(label for label in labels if label is not None)
    return frame, orders
