"""Gives DuckDB the rows of a source: Arrow data, Parquet files or a relation, never text."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence

import duckdb
import pyarrow.parquet as pq

from indiff.data.fingerprint import duckdb_spelling, spelled
from indiff.data.reading.kinds import missing_pattern
from indiff.data.reading.parquet import nested, require_columns
from indiff.data.reading.source import Source
from indiff.engines.protocol import ColumnClass, unreadable
from indiff.errors import UserError, option

NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIMESTAMP", "HUGEINT")
NESTED = ("STRUCT", "MAP", "UNION", "[")


class Rows:
    """The rows as a relation, which is also the view ``source`` where the connection is ours."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source: Source,
        columns: Sequence[str],
        tokens: Sequence[str],
    ) -> None:
        self.columns, self._tokens = columns, tokens
        self._names: Mapping[str, str] = {}
        if source.kind == "relation":
            self.relation = source.relation
        else:
            self.relation = self._open(connection, source)
            self.relation.create_view("source")
        self.classes = tuple(self._classify(name) for name in columns)

    def _open(
        self, connection: duckdb.DuckDBPyConnection, source: Source
    ) -> duckdb.DuckDBPyRelation:
        if source.frame is not None:
            return connection.from_arrow(source.frame)
        if source.spark is not None or source.is_elsewhere:
            what = "a Spark DataFrame" if source.spark is not None else f"{source.name!r}"
            raise UserError(
                f"{what} is counted by Spark",
                way_out=f"Use {option('engine', 'spark')}",
                field="engine",
            )
        try:  # a file is called what it is called: its name is no pattern, its folder no column
            paths = [glob.escape(path) for path in source.paths]
            found = connection.read_parquet(paths, hive_partitioning=False)
        except duckdb.Error as error:
            raise unreadable(source, str(error).splitlines()[0]) from None
        # DuckDB renames an empty name, and "Age" beside "age".
        names = pq.read_schema(source.paths[0]).names
        self._names = dict(zip(names, found.columns, strict=True))
        require_columns(self.columns, names)
        return found

    def identifier(self, name: str) -> str:
        """Return a column's name as DuckDB's identifier."""
        return quoted(self._names.get(name, name))

    def _type(self, name: str) -> str:
        place = self.relation.columns.index(self._names.get(name, name))
        return str(self.relation.types[place])

    def _classify(self, name: str) -> ColumnClass:
        kind = self._type(name)
        if kind.startswith("ENUM") or kind in ("VARCHAR", "JSON"):
            return "text"
        if any(word in kind for word in NESTED):
            raise nested(name, kind)
        return "number" if any(word in kind for word in NUMBERS) else "other"

    def normalised(self, enums: Mapping[int, str]) -> str:
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
                if self._tokens:
                    is_missing = (
                        f"REGEXP_MATCHES({value}, {literal(missing_pattern(self._tokens))})"
                    )
                    value = f"CASE WHEN {is_missing} THEN NULL ELSE {value} END"
                if position in enums:
                    value = f"CAST({value} AS {enums[position]})"
            parts.append(f"{value} AS c{position}")
        return ", ".join(parts)

    def spelled(self, position: int) -> str:
        """Return SQL for the one spelling of a column's values."""
        kind = self._type(self.columns[position])
        return spelled(duckdb_spelling(kind), f"c{position}", "duckdb")


def quoted(name: str) -> str:
    """Return a column's name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"
