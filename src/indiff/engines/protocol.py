"""Says what every engine does (count a source once, run SQL over the counts), and chooses one.

The risk metrics are one set of SQL statements (``indiff.risk``) in the common part of DuckDB's and
Spark's dialects.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import pyarrow as pa

from indiff.data.fingerprint import Dialect
from indiff.data.reading.input_files import Reading
from indiff.data.reading.source import Source, open_source
from indiff.data.table import Table
from indiff.engines.held import Held
from indiff.errors import InternalError, UserError, said, unknown
from indiff.release.release import Release

EngineName = Literal["auto", "in-process", "duckdb", "spark"]
ColumnClass = Literal["number", "text", "other"]
MOST_THREADS = 1024
LARGEST_WEIGHT = 1e12
MOST_ROWS = 100_000
"""The driver receives at most this many rows, whatever the data."""

UNCOUNTED = ("households",)
"""Countings of which an engine may hand over the rows themselves, each with a count of 1."""
Countings = Mapping[str, Sequence[int]]
"""What is counted, by name: positions among the requested columns."""


@dataclass(frozen=True)
class Resources:
    """What an engine may use."""

    master: str | None = None
    threads: int | None = None
    memory_limit: str | None = None
    spills: bool = False
    """Whether DuckDB, which spills to disk, counts what is not counted in this process."""

    def __post_init__(self) -> None:
        if self.threads is not None and not 1 <= self.threads <= MOST_THREADS:
            raise UserError(
                f"threads must be at least 1 and at most {MOST_THREADS:,}",
                self.threads,
                field="threads",
            )


class Engine(Protocol):
    """Counts of a source's rows, and somewhere to run SQL over them.

    Column ``i`` of the request is called ``ci`` in every table, with null for the missing value.
    ``counts["cells"]`` names a table with a row per combination of values and its number of
    records in column ``n``; with weights also their sum ``w``, and ``unweighted``, the number of
    records whose weight is no positive number. ``held`` has the countings that are in memory, too.
    """

    name: str
    source: Source
    classes: tuple[ColumnClass, ...]
    counts: Mapping[str, str]
    held: Mapping[str, Held]

    @property
    def dialect(self) -> Dialect:
        """The dialect of the statements that ``query`` runs."""

    def count(self, countings: Countings, weight: int | None = None) -> None:
        """Make the table of counts of every counting; ``weight`` is the column of weights."""

    def keep(self, sql: str) -> str:
        """Make a table of the statement's rows inside the engine; return the table's name."""

    def put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        """Make a small table of the driver's values inside the engine; return its name."""

    def load(self, rows: pa.Table) -> str:
        """Make a table of Arrow data inside the engine; return its name."""

    def fetch(self, table: str) -> pa.Table:
        """Return a table as Arrow."""

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the statement's rows, at most ``MOST_ROWS``."""

    def forget(self, table: str) -> None:
        """Drop a table that ``keep`` or ``put`` made."""

    def records(self) -> str:
        """Return the name of a view of the rows themselves: ``record``, ``c0``, ``c1``, …"""

    def write(self, sql: str, path: str, tables: Sequence[str]) -> None:
        """Write the statement's rows to a CSV or Parquet file without passing the driver.

        ``tables`` are those that ``keep`` made and the statement joins with the records.
        """

    def quoted(self, name: str) -> str:
        """Return a name as an identifier."""

    def is_number(self, column: str) -> str:
        """Return SQL that tells whether a text is a plain number without leading zeros."""

    def spelled(self, position: int) -> str:
        """Return SQL for the one spelling of a column's values, the same on every engine."""

    def close(self) -> None:
        """Drop everything the engine made."""


def small_table(columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> pa.Table:
    """Return the driver's values as Arrow, of the types that SQL calls so."""
    kinds = {"STRING": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in zip(columns, types, strict=True)])
    return pa.table({name: list(values) for name, values in columns.items()}, schema)


def few_rows(rows: list[tuple[Any, ...]], sql: str) -> list[tuple[Any, ...]]:
    """Return a statement's rows, or raise where there are more than the driver takes."""
    if len(rows) > MOST_ROWS:
        raise InternalError(f"a statement returned more than {MOST_ROWS:,} rows: {sql[:200]}")
    return rows


def weighed(column: str, kind: ColumnClass) -> str:
    """Return SQL for a group's sum of weights, and for how many of its records have none."""
    value = f"CAST({column} AS DOUBLE)"
    if kind != "number":
        value = f"TRY_CAST(CAST({column} AS STRING) AS DOUBLE)"
    held = f"CASE WHEN {value} > 0 AND {value} < {LARGEST_WEIGHT!r} THEN {value} END"
    return f"COALESCE(SUM({held}), 0.0) AS w, COUNT(*) - COUNT({held}) AS unweighted"


def no_records(source: Source) -> UserError:
    """Return the error for a source without rows."""
    where = repr(source.name) if source.paths else source.name
    return UserError(f"a table needs at least one record; {where} has none: add rows.")


def unreadable(source: Source, reason: str) -> UserError:
    """Return the error for a source that the engine cannot read."""
    return UserError(f"{source.name!r} cannot be read ({said(reason)}); check or repair it.")


ENGINES = {
    "in-process": ("indiff.engines.in_process", "InProcessEngine"),
    "duckdb": ("indiff.engines.duckdb", "DuckDBEngine"),
    "spark": ("indiff.engines.spark", "SparkEngine"),
}


def connect(
    source: Any,
    columns: Sequence[str],
    countings: Countings,
    *,
    weight: int | None = None,
    engine: EngineName = "auto",
    reading: Reading | None = None,
    resources: Resources | None = None,
) -> Engine:
    """Count the rows of a source by each of the ``countings`` (positions in ``columns``).

    ``weight`` is the position of a column whose numbers are added up for the cells.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, None], "ill": ["yes", "", "no"]})
    >>> engine = connect(people, ["age", "ill"], {"cells": [0, 1]}, engine="duckdb")
    >>> engine.query(f"SELECT c0, c1, n FROM {engine.counts['cells']} ORDER BY c0, c1")
    [(30, 'yes', 1), (30, None, 1), (None, 'no', 1)]
    >>> engine.close()
    """
    if engine != "auto" and engine not in ENGINES:
        raise unknown("engine", engine, ["auto", *ENGINES], field="engine")
    reading, resources = reading or Reading(), resources or Resources()
    found = open_source(_records_of(source), columns, reading)
    if isinstance(source, Table | Release):
        found = replace(found, name=type(source).__name__)
    columns = columns if found.frame is None else found.frame.column_names
    # The door has made null of them in text.
    tokens = () if found.is_text_here else reading.missing_tokens
    chosen = _best(found, resources) if engine == "auto" else engine
    module, name = ENGINES[chosen]
    opened: Source | Engine = found
    try:
        kind = getattr(importlib.import_module(module), name)
        may_use = replace(resources, spills=engine == "auto")
        opened = made = kind(found, columns, tokens, may_use)
        made.count(countings, weight)
    except BaseException:
        opened.close()
        raise
    return made


def _best(found: Source, resources: Resources) -> str:
    if found.spark is not None or resources.master is not None:
        return "spark"
    return "in-process" if found.kind in ("parquet", "frame") else "duckdb"


def _records_of(source: Any) -> Any:
    """Return the records of a table, or those of a release with its regions as text."""
    if isinstance(source, Release):
        if source.weights is not None:
            raise UserError(
                "risk is measured on records, one per row; this release has weighted rows (noisy "
                "counts), which stand for no record."
            )
        return source.to_frame()
    return source.frame() if isinstance(source, Table) else source
