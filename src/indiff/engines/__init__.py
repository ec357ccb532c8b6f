"""Where counts are made: in this process, in DuckDB, or on a Spark cluster.

Every engine file has one function, ``connect``, which counts the rows of a source once and
returns an :class:`Engine`: somewhere to run SQL over those counts. The risk metrics are one set
of SQL statements (``indiff.risk``) in the common part of DuckDB's and Spark's dialects.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from indiff.engines.source import Source, resolve
from indiff.errors import unknown

EngineName = Literal["auto", "in-process", "duckdb", "spark"]
ENGINES = {
    "in-process": "indiff.engines.in_process.engine",
    "duckdb": "indiff.engines.duckdb.engine",
    "spark": "indiff.engines.spark.engine",
}
MOST_ROWS = 100_000
"""The driver receives at most this many rows, whatever the data."""

ColumnClass = Literal["number", "text", "other"]


class Engine(Protocol):
    """Counts of a source's rows, and somewhere to run SQL over them.

    Column ``i`` of the request is called ``ci`` in every table, with null for the missing value.
    ``counts["cells"]`` names a table with a row per combination of values and its number of
    records in column ``n``.
    """

    name: str
    source: Source
    classes: tuple[ColumnClass, ...]
    counts: Mapping[str, str]

    def keep(self, sql: str) -> str:
        """Make a table of the statement's rows inside the engine; return the table's name."""

    def put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        """Make a small table of the driver's values inside the engine; return its name."""

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

    def canonical(self, position: int) -> str:
        """Return SQL for the text of a column's values, the same on every engine."""

    def hash_part(self, text: str, part: int) -> str:
        """Return SQL for 48 bits of a text's hash."""

    def close(self) -> None:
        """Drop everything the engine made."""


def connect(
    source: Any,
    columns: Sequence[str],
    countings: Mapping[str, Sequence[int]],
    *,
    engine: EngineName = "auto",
    missing_tokens: Sequence[str] = ("",),
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> Engine:
    """Count the rows of a source by each of the ``countings`` (positions in ``columns``).

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, None], "ill": ["yes", "", "no"]})
    >>> engine = connect(people, ["age", "ill"], {"cells": [0, 1]}, engine="duckdb")
    >>> engine.query(f"SELECT c0, c1, n FROM {engine.counts['cells']} ORDER BY c0, c1")
    [(30, 'yes', 1), (30, None, 1), (None, 'no', 1)]
    >>> engine.close()
    """
    if engine != "auto" and engine not in ENGINES:
        raise unknown("engine", engine, ["auto", *ENGINES])
    found = resolve(source, columns)
    columns = columns if found.frame is None else found.frame.column_names
    options: dict[str, Any] = {
        "missing_tokens": tuple(missing_tokens),
        "master": master,
        "threads": threads,
        "memory_limit": memory_limit,
    }
    if engine == "auto":
        return _connect_best(found, columns, countings, options)
    return importlib.import_module(ENGINES[engine]).connect(found, columns, countings, **options)


def _connect_best(
    found: Source,
    columns: Sequence[str],
    countings: Mapping[str, Sequence[int]],
    options: Mapping[str, Any],
) -> Engine:
    def start(name: str, **more: Any) -> Engine:
        module = importlib.import_module(ENGINES[name])
        return module.connect(found, columns, countings, **options, **more)

    if found.spark is not None or options["master"] is not None:
        return start("spark")
    if found.kind in ("parquet", "frame"):
        return start("in-process", or_in_duckdb=True)
    return start("duckdb")
