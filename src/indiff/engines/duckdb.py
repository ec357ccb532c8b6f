"""Counts in DuckDB: texts, many values, millions of groups; it spills to disk.

It reads Arrow data, Parquet files or a relation, never text.
"""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb
import pyarrow as pa  # and pyarrow.parquet, slow to import, only where it is used
import pyarrow.compute as pc

from indiff.data.fingerprint import FEW_TEXTS, Dialect, duckdb_spelling, spelled
from indiff.data.reading.kinds import missing_pattern, nested
from indiff.data.reading.source import Source
from indiff.databases import opened
from indiff.engines import protocol
from indiff.engines.held import Held
from indiff.engines.protocol import MOST_ROWS, Resources, unreadable
from indiff.errors import UserError, option, reason_of, said
from indiff.files import written_whole

NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIMESTAMP", "HUGEINT")
NESTED = ("STRUCT", "MAP", "UNION", "[")
MANY_COUNTS = 20_000
"""From so many rows on, counts are grouped so often that numbering their texts pays."""
PROBE = 1_000_000
PLAIN_NUMBER = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][-+]?[0-9]+)?"


class DuckDBEngine:
    """Counts in a DuckDB of its own, which reads the source where it is."""

    name = "duckdb"

    @property
    def dialect(self) -> Dialect:
        """DuckDB's own."""
        return "duckdb"

    def __init__(
        self, source: Source, columns: Sequence[str], tokens: Sequence[str], resources: Resources
    ) -> None:
        self.source, self.columns, self.tokens = source, tuple(columns), tuple(tokens)
        self.counts: Mapping[str, str] = {}
        self.held: Mapping[str, Held] = {}
        self._enums: dict[int, str] = {}
        self._renamed: Mapping[str, str] = {}
        self._resources = resources
        self._names = (f"t{number}" for number in itertools.count())
        self._open_parts = ExitStack()
        given = {"threads": resources.threads, "memory_limit": resources.memory_limit}
        given = {name: value for name, value in given.items() if value is not None}
        try:
            self._connection = self._open_parts.enter_context(opened(**given))
        except duckdb.Error as error:
            raise UserError(
                "memory_limit must be a size such as 2GB",
                f"{resources.memory_limit!r} ({said(reason_of(error))})",
                field="memory_limit",
            ) from None
        # It prints to the output. Off already, it may not be set in a notebook without ipywidgets.
        shown = self._connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
        if shown == [(True,)]:
            self._connection.execute("SET enable_progress_bar = false")
        try:
            self._relation = self._open()
            self.classes = tuple(self._classify(name) for name in self.columns)
        except BaseException:
            self.close()
            raise

    def _open(self) -> duckdb.DuckDBPyRelation:
        """Return the rows as a relation, also the view ``source`` where the connection is ours."""
        source = self.source
        if source.kind == "relation":
            return source.relation
        if source.frame is not None:
            found = self._connection.from_arrow(source.frame)
        elif source.spark is not None or source.is_elsewhere:
            what = "a Spark DataFrame" if source.spark is not None else f"{source.name!r}"
            raise UserError(
                f"{what} is counted by Spark",
                way_out=f"Use {option('engine', 'spark')}",
                field="engine",
            )
        else:
            try:  # a file is called what it is called: its name is no pattern, its folder no column
                paths = [glob.escape(path) for path in source.paths]
                found = self._connection.read_parquet(paths, hive_partitioning=False)
            except duckdb.Error as error:
                raise unreadable(source, reason_of(error)) from None
            import pyarrow.parquet as pq

            # DuckDB renames an empty name, and "Age" beside "age".
            names = pq.read_schema(source.paths[0]).names
            self._renamed = dict(zip(names, found.columns, strict=True))
        found.create_view("source")
        return found

    def _type(self, name: str) -> str:
        place = self._relation.columns.index(self._renamed.get(name, name))
        return str(self._relation.types[place])

    def _classify(self, name: str) -> protocol.ColumnClass:
        kind = self._type(name)
        if kind.startswith("ENUM") or kind in ("VARCHAR", "JSON"):
            return "text"
        if any(word in kind for word in NESTED):
            raise nested(name, kind)
        return "number" if any(word in kind for word in NUMBERS) else "other"

    def identifier(self, name: str) -> str:
        """Return a column of the source as DuckDB calls it."""
        return quoted(self._renamed.get(name, name))

    def _normalised(self) -> str:
        """Select every column with one missing value: null, NaN and the tokens are the same."""
        parts = []
        for position, name in enumerate(self.columns):
            kind, value = self._type(name), self.identifier(name)
            if kind in ("DOUBLE", "FLOAT"):
                value = f"CASE WHEN isnan({value}) THEN NULL ELSE {value} + 0.0 END"  # −0 is 0
            elif kind == "TIMESTAMP WITH TIME ZONE":
                value = f"make_timestamp(epoch_us({value}))"
            elif kind == "TIMESTAMPTZ_NS":
                value = f"make_timestamp_ns(epoch_ns({value}))"
            elif self.classes[position] == "text":
                value = f"CAST({value} AS VARCHAR)"
                if self.tokens:
                    lost = f"REGEXP_MATCHES({value}, {_literal(missing_pattern(self.tokens))})"
                    value = f"CASE WHEN {lost} THEN NULL ELSE {value} END"
                if position in self._enums:
                    value = f"CAST({value} AS {self._enums[position]})"
            parts.append(f"{value} AS c{position}")
        return ", ".join(parts)

    def count(self, countings: protocol.Countings, weight: int | None = None) -> None:
        """Run stage one: a table of counts for every counting."""
        self._enumerate_frame()
        values, counts = self._normalised(), {}
        for name, positions in countings.items():
            if name in protocol.UNCOUNTED:
                counts[name] = self._each_row(positions)
                continue
            keys, sums = ", ".join(f"c{i}" for i in positions), "COUNT(*) AS n"
            if name == "cells" and weight is not None:
                sums += f", {protocol.weighed(f'c{weight}', self.classes[weight])}"
            made = self._keep_from_source(
                f"SELECT {keys}, {sums} FROM (SELECT {values} FROM source) GROUP BY {keys}"
            )
            counts[name] = self.numbered(made, positions)
        self.counts = counts
        if not self.query(f"SELECT 1 FROM {self.counts['cells']} LIMIT 1"):
            raise protocol.no_records(self.source)

    def _each_row(self, positions: Sequence[int]) -> str:
        """Return the name of a table or view that has the rows themselves, each counted once.

        Where nearly every row is a combination of its own, counting them first would be for
        nothing. What takes long to read again is read once.
        """
        keys = ", ".join(f"c{i}" for i in positions)
        rows = f"SELECT {keys}, 1 AS n FROM (SELECT {self._normalised()} FROM source)"
        if self.source.kind != "parquet":
            return self.numbered(self._keep_from_source(rows), positions)
        name = next(self._names)
        self._connection.execute(f"CREATE TEMP VIEW {name} AS {rows}")
        return name

    def _keep_from_source(self, sql: str) -> str:
        """Make a table from the rows themselves; a relation is read by its own connection."""
        try:
            if self.source.kind != "relation":
                return self.keep(sql)
            return self.load(self._relation.query("source", sql).to_arrow_reader())
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise unreadable(self.source, reason_of(error)) from None

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
        columns = []
        for position in positions:
            if self.classes[position] == "text":
                texts = self.keep(f"SELECT DISTINCT c{position} AS x FROM {table}")
                columns.append(f"CAST(c{position} AS {self._enum(texts)}) AS c{position}")
        replaced = f"REPLACE ({', '.join(columns)})" if columns else ""
        narrow = self.keep(f"SELECT * {replaced} FROM {table}")
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
            if len(texts := pc.unique(frame[name])) <= FEW_TEXTS:
                kind = self._enum(self.load(pa.table({"x": texts})))
                if kind != "VARCHAR":
                    self._enums[position] = kind

    def _enum(self, texts: str) -> str:
        """Make an ENUM of a table's distinct texts; plain text's type where none or too many."""
        ((number,),) = self.query(f"SELECT COUNT(x) FROM {texts}")
        kind = next(self._names) if 0 < number <= FEW_TEXTS else "VARCHAR"
        if kind != "VARCHAR":
            self._connection.execute(
                f"CREATE TYPE {kind} AS ENUM (SELECT CAST(x AS VARCHAR) FROM {texts} "
                f"WHERE x IS NOT NULL ORDER BY 1)"
            )
        self.forget(texts)
        return kind

    def keep(self, sql: str) -> str:
        """Make a temporary table of the statement's rows; return its name."""
        name = next(self._names)
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        return name

    def put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        """Copy a small table of the driver's values; return its name."""
        return self.load(protocol.small_table(columns, types))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the statement's rows, at most ``MOST_ROWS``."""
        return protocol.few_rows(self._connection.execute(sql).fetchmany(MOST_ROWS + 1), sql)

    def forget(self, table: str) -> None:
        """Drop a table."""
        self._connection.execute(f"DROP TABLE IF EXISTS {table}")

    def records(self) -> str:
        """Return the name of a view of the rows, numbered in the order of the source."""
        rows = f"SELECT ROW_NUMBER() OVER () - 1 AS record, {self._normalised()} FROM source"
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
        with written_whole(path) as place:
            copy = f"COPY ({sql}) TO {_literal(place)} ({options}, USE_TMP_FILE false)"
            try:
                self._connection.execute(copy)
            except duckdb.IOException as error:
                reason = reason_of(error).replace(place, path)
                raise UserError(f"{path!r} cannot be written ({reason}).") from None

    def quoted(self, name: str) -> str:
        """Return a name as an identifier."""
        return quoted(name)

    def is_number(self, column: str) -> str:
        """Return SQL that tells whether a text is a plain number without leading zeros."""
        return f"regexp_full_match({column}, '{PLAIN_NUMBER}')"

    def spelled(self, position: int) -> str:
        """Return SQL for the one spelling of a column's values, the same on every engine."""
        kind = self._type(self.columns[position])
        text = spelled(duckdb_spelling(kind), f"c{position}", "duckdb")
        if position not in self._enums:
            return text
        kind = self._enums[position]  # each of its few texts is spelled once
        each = f"SELECT CAST(UNNEST(ENUM_RANGE(NULL::{kind})) AS {kind}) AS c{position}"
        once = f"SELECT LIST({text} ORDER BY ENUM_CODE(c{position})) FROM ({each})"
        return f"({once})[ENUM_CODE(c{position}) + 1]"

    def close(self) -> None:
        """Close the connection and remove what was spilled."""
        self._open_parts.close()
        self.source.close()


@contextmanager
def enough_memory(resources: Resources) -> Iterator[None]:
    """Say which limit it was where DuckDB's memory does not suffice."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        if resources.memory_limit is None:
            raise MemoryError from None
        raise UserError(
            "memory_limit must suffice for the counts of this table",
            f"{resources.memory_limit!r}",
            "Raise it",
            field="memory_limit",
        ) from None


def quoted(name: str) -> str:
    """Return a name as DuckDB's identifier."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
