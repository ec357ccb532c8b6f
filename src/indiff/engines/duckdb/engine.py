"""Counts in DuckDB: texts, many values, millions of groups; it spills to disk."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.fingerprint import Dialect
from indiff.data.reading.source import Source
from indiff.engines.duckdb.input import Rows, literal, quoted
from indiff.engines.protocol import (
    MOST_ROWS,
    Countings,
    Resources,
    few_rows,
    no_records,
    small_table,
    unreadable,
)
from indiff.errors import UserError, said

MANY_COUNTS = 20_000
"""From so many rows on, counts are grouped so often that numbering their texts pays."""
FEW_TEXTS = 50_000
PROBE = 1_000_000
PLAIN_NUMBER = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][-+]?[0-9]+)?"


def connect(
    source: Source,
    columns: Sequence[str],
    countings: Countings,
    missing_tokens: Sequence[str],
    resources: Resources,
) -> DuckDBEngine:
    """Count the rows of a source inside DuckDB."""
    engine = DuckDBEngine(source, columns, missing_tokens, resources)
    try:
        engine.count(countings)
    except BaseException:
        engine.close()
        raise
    return engine


class DuckDBEngine:
    """Counts in a DuckDB of its own, which reads the source where it is."""

    name = "duckdb"

    @property
    def dialect(self) -> Dialect:
        """DuckDB's own."""
        return "duckdb"

    def __init__(
        self,
        source: Source,
        columns: Sequence[str],
        missing_tokens: Sequence[str],
        resources: Resources,
    ) -> None:
        self.source, self.columns, self.tokens = source, tuple(columns), tuple(missing_tokens)
        self.counts: Mapping[str, str] = {}
        self._enums: dict[int, str] = {}
        self._threads = resources.threads
        self._names = (f"t{number}" for number in itertools.count())
        self._spill = tempfile.TemporaryDirectory(prefix="indiff-")
        config: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": self._spill.name,
        }
        given = {"threads": resources.threads, "memory_limit": resources.memory_limit}
        config |= {name: value for name, value in given.items() if value is not None}
        try:
            self._connection = duckdb.connect(config=config)
        except duckdb.Error as error:
            self._spill.cleanup()
            raise UserError(
                "memory_limit must be a size such as 2GB",
                f"{resources.memory_limit!r} ({said(str(error))})",
                field="memory_limit",
            ) from None
        self._connection.execute("SET enable_progress_bar = false")  # it prints to the output
        try:
            self._rows = Rows(self._connection, source, self.columns, self.tokens)
            self.classes = self._rows.classes
        except BaseException:
            self.close()
            raise

    def count(self, countings: Countings) -> None:
        """Run stage one: a table of counts for every counting."""
        self._enumerate_frame()
        values, counts = self._rows.normalised(self._enums), {}
        for name, positions in countings.items():
            keys = ", ".join(f"c{i}" for i in positions)
            made = self._keep_from_source(
                f"SELECT {keys}, COUNT(*) AS n FROM (SELECT {values} FROM source) GROUP BY {keys}"
            )
            counts[name] = self.numbered(made, positions)
        self.counts = counts
        if not self.query(f"SELECT 1 FROM {self.counts['cells']} LIMIT 1"):
            raise no_records(self.source)

    def _keep_from_source(self, sql: str) -> str:
        """Make a table from the rows themselves; a relation is read by its own connection."""
        try:
            if self.source.kind != "relation":
                return self.keep(sql)
            return self.load(self._rows.relation.query("source", sql).to_arrow_reader())
        except duckdb.Error as error:
            raise unreadable(self.source, str(error).splitlines()[0]) from None

    def load(self, rows: Any) -> str:
        """Make a table of an Arrow table or of a stream of Arrow batches; return its name."""
        self._connection.register("rows_to_load", rows)
        name = self.keep("SELECT * FROM rows_to_load")
        self._connection.unregister("rows_to_load")
        return name

    def numbered(self, table: str, positions: Sequence[int]) -> str:
        """Return counts whose texts, where a column has few, are enumerated.

        An ENUM's values are texts to every statement, and integers to GROUP BY and joins.
        """
        if self._enums or self.query(f"SELECT COUNT(*) < {MANY_COUNTS} FROM {table}")[0][0]:
            return table
        columns = [
            f"CAST(c{position} AS {self._enumerated(table, position)}) AS c{position}"
            if self.classes[position] == "text"
            else f"c{position}"
            for position in positions
        ]
        narrow = self.keep(f"SELECT {', '.join(columns)}, n FROM {table}")
        self.forget(table)
        return narrow

    def _enumerate_frame(self) -> None:
        """Number the texts of a large frame before it is counted: Arrow lists them quickly."""
        frame = self.source.frame
        if frame is None or frame.num_rows < MANY_COUNTS:
            return
        for position, name in enumerate(self.columns):
            if self.classes[position] != "text":
                continue
            if len(pc.unique(frame[name].slice(0, PROBE))) > FEW_TEXTS:
                continue
            if len(texts := pc.unique(frame[name])) > FEW_TEXTS:
                continue
            table = self.load(pa.table({"x": texts}))
            self._enums[position] = self._enum(table, "x")
            self.forget(table)

    def _enumerated(self, table: str, position: int) -> str:
        """Make an ENUM of a column's texts, in their order; plain text where there are too many."""
        texts = self.keep(f"SELECT DISTINCT c{position} FROM {table}")
        kind = self._enum(texts, f"c{position}")
        self.forget(texts)
        return kind

    def _enum(self, texts: str, column: str) -> str:
        """Make an ENUM of distinct texts; return plain text's type for none or too many."""
        ((number,),) = self.query(f"SELECT COUNT({column}) FROM {texts}")
        if not 0 < number <= FEW_TEXTS:
            return "VARCHAR"
        kind = next(self._names)
        self._connection.execute(
            f"CREATE TYPE {kind} AS ENUM (SELECT CAST({column} AS VARCHAR) FROM {texts} "
            f"WHERE {column} IS NOT NULL ORDER BY 1)"
        )
        return kind

    def keep(self, sql: str) -> str:
        """Make a temporary table of the statement's rows; return its name."""
        name = next(self._names)
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        return name

    def put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        """Copy a small table of the driver's values; return its name."""
        return self.load(small_table(columns, types))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the statement's rows, at most ``MOST_ROWS``."""
        return few_rows(self._connection.execute(sql).fetchmany(MOST_ROWS + 1), sql)

    def forget(self, table: str) -> None:
        """Drop a table."""
        self._connection.execute(f"DROP TABLE IF EXISTS {table}")

    def records(self) -> str:
        """Return the name of a view of the rows, numbered in the order of the source."""
        values = self._rows.normalised(self._enums)
        rows = f"SELECT ROW_NUMBER() OVER () - 1 AS record, {values} FROM source"
        if self.source.kind == "relation":
            return self._keep_from_source(rows)
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW records AS {rows}")
        return "records"

    def fetch(self, table: str) -> pa.Table:
        """Return a small table as Arrow."""
        return self._connection.table(table).to_arrow_table()

    def write(self, sql: str, path: str, tables: Sequence[str]) -> None:
        """Write the statement's rows to one CSV or Parquet file."""
        options = "FORMAT parquet" if path.lower().endswith((".parquet", ".pq")) else "HEADER"
        options = "HEADER, DELIMITER '\t'" if path.lower().endswith(".tsv") else options
        if not Path(path).resolve().parent.is_dir():
            raise UserError(f"the folder of {path!r} does not exist; make it first.")
        try:
            self._connection.execute(f"COPY ({sql}) TO {literal(path)} ({options})")
        except duckdb.IOException as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"{path!r} cannot be written ({reason}).") from None

    def quoted(self, name: str) -> str:
        """Return a name as an identifier."""
        return quoted(name)

    def is_number(self, column: str) -> str:
        """Return SQL that tells whether a text is a plain number without leading zeros."""
        return f"regexp_full_match({column}, '{PLAIN_NUMBER}')"

    def spelled(self, position: int) -> str:
        """Return SQL for the one spelling of a column's values, the same on every engine."""
        return self._rows.spelled(position)

    def close(self) -> None:
        """Close the connection and remove what was spilled."""
        self._connection.close()
        self._spill.cleanup()
        self.source.close()
