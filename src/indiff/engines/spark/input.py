"""Gives Spark the rows of a source: frames of types that it knows, Parquet files, addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indiff.data.fingerprint import EPOCH, Dialect, Spelling, spelled
from indiff.data.reading.kinds import BLANKS
from indiff.data.reading.parquet import nested, require_columns
from indiff.data.reading.source import Source, plain_table
from indiff.engines.duckdb.input import quoted as quoted_in_duckdb
from indiff.engines.protocol import ColumnClass, unreadable
from indiff.errors import UserError, option, said

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
SPELLINGS: dict[str, Spelling] = {
    "ByteType": "whole",
    "ShortType": "whole",
    "IntegerType": "whole",
    "LongType": "whole",
    "FloatType": "short float",
    "DoubleType": "float",
    "BinaryType": "bytes",
    "TimestampType": "time",
    "TimestampNTZType": "time",
}


class Rows:
    """The rows as a Spark frame."""

    def __init__(
        self, session: SparkSession, source: Source, columns: Sequence[str], tokens: Sequence[str]
    ) -> None:
        self.columns, self._tokens = columns, tokens
        self.frame = self._open(session, source)
        require_columns(columns, self.frame.columns)
        self.classes = tuple(self._classify(name) for name in columns)

    def _open(self, session: SparkSession, source: Source) -> DataFrame:
        from pyspark.errors import PySparkException

        if source.spark is not None:
            return source.spark
        if source.frame is not None:
            return _frame_of(session, source.frame)
        if source.kind == "relation":
            wanted = source.relation.select(*dict.fromkeys(map(quoted_in_duckdb, self.columns)))
            return _frame_of(session, plain_table(wanted.to_arrow_table()))
        try:
            if source.kind == "text":
                return session.read.csv(list(source.paths), **_csv_options(source.paths[0]))
            if source.is_elsewhere:
                return session.read.parquet(*source.paths)
            # A file is called what it is called: its name is no pattern, its folder no column.
            paths = [re.sub(r"([\\*?{}\[\]])", r"\\\1", path) for path in source.paths]
            return session.read.option("recursiveFileLookup", True).parquet(*paths)
        except PySparkException as error:
            raise unreadable(source, reason_of(error)) from None

    def _type(self, position: int) -> Any:
        return self.frame.schema[self.columns[position]].dataType

    def _classify(self, name: str) -> ColumnClass:
        from pyspark.sql import types

        kind = self.frame.schema[name].dataType
        if isinstance(kind, types.StringType):
            return "text"
        if isinstance(kind, types.ArrayType | types.MapType | types.StructType):
            raise nested(name, kind.simpleString())
        numbers = types.NumericType | types.DateType | types.TimestampType | types.TimestampNTZType
        return "number" if isinstance(kind, numbers) else "other"

    def normalised(self) -> list[Any]:
        """Select every column with one missing value: null, NaN and the tokens are the same."""
        from pyspark.sql import functions as f
        from pyspark.sql import types

        parts = []
        for position, name in enumerate(self.columns):
            kind, value = self._type(position), f.col(quoted(name))
            if isinstance(kind, types.FloatType | types.DoubleType):
                value = f.when(f.isnan(value), None).otherwise(value + f.lit(0.0).cast(kind))
            elif isinstance(kind, types.TimestampType):
                micros = f"UNIX_MICROS({quoted(name)})"  # whatever the session's time zone
                value = f.expr(f"TIMESTAMPADD(MICROSECOND, {micros}, {EPOCH})")
            elif isinstance(kind, types.NullType):
                value = value.cast("string")  # a join finds no equal nulls without a type
            elif self.classes[position] == "text" and self._tokens:
                bare = f.trim(value, f.lit(BLANKS))
                value = f.when(bare.isin(list(self._tokens)), None).otherwise(value)
            parts.append(value.alias(f"c{position}"))
        return parts

    def spelled(self, position: int, dialect: Dialect) -> str:
        """Return SQL for the one spelling of a column's values."""
        kind = SPELLINGS.get(type(self._type(position)).__name__, "text")
        return spelled(kind, f"c{position}", dialect)


def quoted(name: str) -> str:
    """Return a name as Spark's identifier."""
    return "`" + name.replace("`", "``") + "`"


def reason_of(error: Exception) -> str:
    """Return the line of Spark's many that says why."""
    lines = str(error).splitlines()
    return next((line for line in lines if "Exception" in line), lines[0]).lstrip(": ")


def _frame_of(session: SparkSession, table: pa.Table) -> DataFrame:
    from pyspark.errors import PySparkException

    table = _with_spark_types(table)
    batches = [batch for batch in table.to_batches() if batch.num_rows]
    try:  # without empty batches: PySpark drops what comes after one
        return session.createDataFrame(pa.Table.from_batches(batches, table.schema))
    except PySparkException as error:
        raise UserError(
            f"Spark does not know the type of a column ({said(str(error))})",
            way_out=f"Convert it to text first, or use {option('engine', 'duckdb')}",
        ) from None


def _with_spark_types(table: pa.Table) -> pa.Table:
    """Return a table with plain dictionaries, signed integers and times in microseconds."""

    def plain(kind: pa.DataType) -> pa.DataType:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_timestamp(kind):  # with a zone, or Spark assumes the session's
            return pa.timestamp("us", "UTC")
        return SIGNED.get(kind, kind)

    try:
        return table.cast(pa.schema([(field.name, plain(field.type)) for field in table.schema]))
    except pa.ArrowInvalid as error:
        raise UserError(
            f"Spark keeps times to the microsecond ({said(str(error))})",
            way_out=f"Round them, or use {option('engine', 'duckdb')}",
        ) from None


def _csv_options(path: str) -> dict[str, Any]:
    """Read text elsewhere as RFC 4180 has it, separated by tabs where the ending says so."""
    separator = "\t" if ".tsv" in path.lower() else ","
    return {"header": True, "multiLine": True, "escape": '"', "mode": "FAILFAST", "sep": separator}
