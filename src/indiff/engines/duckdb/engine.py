"""DuckDB: strings, high cardinality, millions of groups; spills to disk."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from indiff.engines.canonical import CanonicalKind, as_text, hash_part
from indiff.engines.source import Source, nested, no_rows, require_columns
from indiff.errors import InternalError, UserError, said

NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIMESTAMP", "HUGEINT")
NESTED = ("STRUCT", "MAP", "UNION", "[")
MANY_COUNTS = 20_000
"""From so many rows on, counts are grouped so often that numbering their texts pays."""
FEW_TEXTS = 50_000
PLAIN_NUMBER = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][-+]?[0-9]+)?"


def connect(
    source: Source,
    columns: Sequence[str],
    countings: Mapping[str, Sequence[int]],
    *,
    missing_tokens: Sequence[str],
    threads: int | None = None,
    memory_limit: str | None = None,
    master: str | None = None,
) -> DuckDBEngine:
    """Count the rows of a source inside DuckDB."""
    engine = DuckDBEngine(source, columns, missing_tokens, threads, memory_limit)
    try:
        engine.count(countings)
    except BaseException:
        engine.close()
        raise
    return engine


class DuckDBEngine:
    """Counts in a DuckDB of its own, which reads the source where it is."""

    name = "duckdb"

    def __init__(
        self,
        source: Source,
        columns: Sequence[str],
        missing_tokens: Sequence[str],
        threads: int | None,
        memory_limit: str | None,
    ) -> None:
        self.source, self.columns, self.tokens = source, tuple(columns), tuple(missing_tokens)
        self.counts: Mapping[str, str] = {}
        self._enums: dict[int, str] = {}
        self._spelling: Mapping[str, str] = {}
        self._threads = threads
        self._names = (f"t{number}" for number in itertools.count())
        self._spill = tempfile.TemporaryDirectory(prefix="indiff-")
        config: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": self._spill.name,
        }
        if threads is not None:
            config["threads"] = threads
        if memory_limit is not None:
            config["memory_limit"] = memory_limit
        try:
            self._connection = duckdb.connect(config=config)
        except duckdb.Error as error:
            self._spill.cleanup()
            raise UserError(
                "memory_limit must be a size such as 2GB", f"{memory_limit!r} ({error})"
            ) from None
        self._connection.execute("SET enable_progress_bar = false")  # it prints to the output
        try:
            self._relation = self._open()
            self.classes = tuple(self._classify(name) for name in self.columns)
        except BaseException:
            self.close()
            raise

    def count(self, countings: Mapping[str, Sequence[int]]) -> None:
        """Run stage one: a table of counts for every counting."""
        self._enumerate_frame()
        values, counts = self._normalised(), {}
        for name, positions in countings.items():
            keys = ", ".join(f"c{i}" for i in positions)
            made = self._keep_from_source(
                f"SELECT {keys}, COUNT(*) AS n FROM (SELECT {values} FROM source) GROUP BY {keys}"
            )
            counts[name] = self.numbered(made, positions)
        self.counts = counts
        if not self.query(f"SELECT 1 FROM {self.counts['cells']} LIMIT 1"):
            raise no_rows(self.source.name)

    def _open(self) -> duckdb.DuckDBPyRelation:
        connection, source = self._connection, self.source
        try:
            if source.kind == "parquet":
                found = connection.read_parquet(list(source.paths))
            elif source.kind == "csv":
                found = connection.read_csv(list(source.paths), **csv_options(source.paths))
            elif source.kind == "frame":
                found = connection.from_arrow(source.frame)
            elif source.kind == "relation":
                return source.relation
            else:
                raise UserError(
                    "a Spark DataFrame is counted by Spark; use engine='spark' or 'auto'."
                )
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise unreadable(source, error) from None
        if source.kind == "parquet":  # DuckDB renames an empty name, and "Age" beside "age"
            names = pq.read_schema(source.paths[0]).names
            self._spelling = dict(zip(names, found.columns, strict=True))
        require_columns(self.columns, list(self._spelling) or found.columns)
        found.create_view("source")
        return found

    def spelled(self, name: str) -> str:
        """Return a column's name as DuckDB's identifier."""
        return quoted(self._spelling.get(name, name))

    def _type(self, name: str) -> str:
        spelled = self._spelling.get(name, name)
        return str(self._relation.types[self._relation.columns.index(spelled)])

    def _classify(self, name: str) -> Any:
        kind = self._type(name)
        if kind.startswith("ENUM") or kind in ("VARCHAR", "JSON"):
            return "text"
        if any(word in kind for word in NESTED):
            raise nested(name, kind)
        return "number" if any(word in kind for word in NUMBERS) else "other"

    def _normalised(self) -> str:
        """Select every column with one missing value: null, NaN and the tokens are the same."""
        parts = []
        for position, name in enumerate(self.columns):
            kind, value = self._type(name), self.spelled(name)
            if kind in ("DOUBLE", "FLOAT"):
                value = f"CASE WHEN isnan({value}) THEN NULL ELSE {value} + 0.0 END"  # −0 is 0
            elif kind == "TIMESTAMP WITH TIME ZONE":
                value = f"make_timestamp(epoch_us({value}))"
            elif kind == "TIMESTAMPTZ_NS":
                value = f"make_timestamp_ns(epoch_ns({value}))"
            elif self.classes[position] == "text":
                value = f"CAST({value} AS VARCHAR)"
                if self.tokens:
                    tokens = ", ".join(map(literal, self.tokens))
                    value = f"CASE WHEN {value} IN ({tokens}) THEN NULL ELSE {value} END"
                if position in self._enums:
                    value = f"CAST({value} AS {self._enums[position]})"
            parts.append(f"{value} AS c{position}")
        return ", ".join(parts)

    def _keep_from_source(self, sql: str) -> str:
        """Make a table from the rows themselves; a relation is read by its own connection."""
        try:
            if self.source.kind != "relation":
                return self.keep(sql)
            return self.load(self._relation.query("source", sql).to_arrow_reader())
        except duckdb.Error as error:
            raise unreadable(self.source, error) from None

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
            if self.classes[position] != "text" or len(texts := pc.unique(frame[name])) > FEW_TEXTS:
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
        from indiff.engines import MOST_ROWS

        rows = self._connection.execute(sql).fetchmany(MOST_ROWS + 1)
        if len(rows) > MOST_ROWS:
            raise InternalError(f"a statement returned more than {MOST_ROWS:,} rows: {sql[:200]}")
        return rows

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

    def canonical(self, position: int) -> str:
        """Return SQL for the text of a column's values, the same on every engine."""
        kind = self._type(self.columns[position])
        found: CanonicalKind = "plain"
        if self.classes[position] == "text":
            found = "text"
        elif kind in ("DOUBLE", "FLOAT"):
            found = "float"
        elif kind == "BLOB":
            found = "bytes"
        elif kind == "UUID":
            found = "uuid"
        elif kind.startswith("TIMESTAMP"):
            found = "time"
        return as_text(found, f"c{position}", "duckdb")

    def hash_part(self, text: str, part: int) -> str:
        """Return SQL for 48 bits of a text's hash."""
        return hash_part(text, part, "duckdb")

    def close(self) -> None:
        """Close the connection and remove what was spilled."""
        self._connection.close()
        self._spill.cleanup()


def small_table(columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> pa.Table:
    """Return the driver's values as Arrow, of the types that SQL calls so."""
    kinds = {"STRING": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64()}
    return pa.table(
        {
            name: pa.array(list(values), kinds[kind])
            for (name, values), kind in zip(columns.items(), types, strict=True)
        }
    )


def csv_options(paths: Sequence[str]) -> dict[str, Any]:
    """Read every column as text: ``01`` and ``1`` are two values, on every engine."""
    options: dict[str, Any] = {"all_varchar": True, "header": True, "null_padding": False}
    if all(".tsv" in path.lower() for path in paths):
        options["sep"] = "\t"
    return options


def csv_columns(source: Source) -> list[str]:
    """Return the names of the columns of text files."""
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        try:
            return list(
                connection.read_csv(list(source.paths), **csv_options(source.paths)).columns
            )
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise unreadable(source, error) from None


def quoted(name: str) -> str:
    """Return a column's name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def unreadable(source: Source, error: Exception) -> UserError:
    """Return the error for a source that the engine cannot read."""
    reason = str(error).splitlines()[0]
    return UserError(f"{source.name!r} cannot be read ({said(reason)}); check or repair it.")
