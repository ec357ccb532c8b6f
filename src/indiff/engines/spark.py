"""Counts in Spark: tables that do not fit here, on a cluster or on this machine's cores."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from indiff.data.fingerprint import EPOCH, Dialect, Spelling, spelled
from indiff.data.reading.kinds import BLANKS, nested, require_columns
from indiff.data.reading.source import Source, in_utc, plain_table
from indiff.engines import duckdb, protocol
from indiff.engines.protocol import MOST_ROWS, Resources, unreadable
from indiff.errors import InternalError, UserError, option, said

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
PLAIN_NUMBER = r"^-?(0|[1-9][0-9]{0,14})(\\.[0-9]+)?([eE][-+]?[0-9]+)?$"
FEW_COUNTS = 100_000
"""Counts of at most this many rows are reduced on the driver: one Spark job instead of dozens."""
LEAST_HEAP = 450
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT])(i?)B?", re.IGNORECASE)


class SparkEngine:
    """Counts in Spark; only totals, extremes and group sizes come back to the driver."""

    name = "spark"

    def __init__(
        self, source: Source, columns: Sequence[str], tokens: Sequence[str], resources: Resources
    ) -> None:
        require_spark()
        self._session, self._is_ours = _session(source, resources)
        self.source, self.columns, self.tokens = source, tuple(columns), tuple(tokens)
        self.counts: Mapping[str, str] = {}
        self.held: Mapping[str, Any] = {}
        prefix = f"indiff_{uuid.uuid4().hex[:12]}"
        self._names = (f"{prefix}_{number}" for number in itertools.count())
        self._kept: dict[str, DataFrame] = {}
        self._local: duckdb.DuckDBEngine | None = None
        self._frame = self._open()
        require_columns(self.columns, self._frame.columns)
        self.classes = tuple(map(self._classify, self.columns))

    def _open(self) -> DataFrame:
        from pyspark.errors import PySparkException

        session, source = self._session, self.source
        if source.spark is not None:
            return source.spark
        if source.frame is not None:
            return _frame_of(session, source.frame)
        if source.kind == "relation":
            wanted = source.relation.select(*dict.fromkeys(map(duckdb.quoted, self.columns)))
            return _frame_of(session, plain_table(wanted.to_arrow_table()))
        try:
            if source.kind == "text":  # elsewhere: as RFC 4180 has it
                separator = "\t" if ".tsv" in source.paths[0].lower() else ","
                return session.read.csv(
                    list(source.paths), header=True, multiLine=True, escape='"', mode="FAILFAST",
                    sep=separator,
                )  # fmt: skip
            if source.is_elsewhere:
                return session.read.parquet(*source.paths)
            # A file is called what it is called: its name is no pattern, its folder no column.
            paths = [re.sub(r"([\\*?{}\[\]])", r"\\\1", path) for path in source.paths]
            return session.read.option("recursiveFileLookup", True).parquet(*paths)
        except PySparkException as error:
            raise unreadable(source, _reason_of(error)) from None

    def _type(self, name: str) -> Any:
        return self._frame.schema[name].dataType

    def _classify(self, name: str) -> protocol.ColumnClass:
        from pyspark.sql import types

        kind = self._type(name)
        if isinstance(kind, types.StringType):
            return "text"
        if isinstance(kind, types.ArrayType | types.MapType | types.StructType):
            raise nested(name, kind.simpleString())
        numbers = types.NumericType | types.DateType | types.TimestampType | types.TimestampNTZType
        return "number" if isinstance(kind, numbers) else "other"

    def _normalised(self) -> list[Any]:
        """Select every column with one missing value: null, NaN and the tokens are the same."""
        from pyspark.sql import functions as f
        from pyspark.sql import types

        parts = []
        for position, name in enumerate(self.columns):
            kind, value = self._type(name), f.col(self.quoted(name))
            if isinstance(kind, types.FloatType | types.DoubleType):
                value = f.when(f.isnan(value), None).otherwise(value + f.lit(0.0).cast(kind))
            elif isinstance(kind, types.TimestampType):
                micros = f"UNIX_MICROS({self.quoted(name)})"  # whatever the session's time zone
                value = f.expr(f"TIMESTAMPADD(MICROSECOND, {micros}, {EPOCH})")
            elif isinstance(kind, types.NullType):
                value = value.cast("string")  # a join finds no equal nulls without a type
            elif self.classes[position] == "text" and self.tokens:
                bare = f.trim(value, f.lit(BLANKS))
                value = f.when(bare.isin(list(self.tokens)), None).otherwise(value)
            parts.append(value.alias(f"c{position}"))
        return parts

    def count(self, countings: protocol.Countings, weight: int | None = None) -> None:
        """Run stage one: a table of counts for every counting."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        rows = self._view(self._frame.select(*self._normalised()))
        counts = {}
        for name, positions in countings.items():
            keys, sums = ", ".join(f"c{i}" for i in positions), "COUNT(*) AS n"
            if name == "cells" and weight is not None:
                sums += f", {protocol.weighed(f'c{weight}', self.classes[weight])}"
            counts[name] = self.keep(f"SELECT {keys}, {sums} FROM {rows} GROUP BY {keys}")
        self.counts = counts
        try:
            rows_found = [self._kept[table].count() for table in counts.values()]
        except (PySparkException, Py4JError) as error:
            raise unreadable(self.source, _reason_of(error)) from None
        if not all(rows_found):
            raise protocol.no_records(self.source)
        if self.source.frame is not None:
            ((counted,),) = self.query(f"SELECT CAST(SUM(n) AS BIGINT) FROM {counts['cells']}")
            if counted != self.source.frame.num_rows:
                raise InternalError(
                    f"Spark counted {counted:,} of {self.source.frame.num_rows:,} records"
                )
        if sum(rows_found) <= FEW_COUNTS:
            self._finish_locally(counts)

    def _finish_locally(self, counts: Mapping[str, str]) -> None:
        """Move the counts, which are few, to a DuckDB beside the driver."""
        nothing = Source("frame", self.source.name, frame=pa.table({"unused": [0]}))
        local = duckdb.DuckDBEngine(nothing, (), (), Resources())
        self._local = local
        self.counts = {
            name: local.load(in_utc(self._kept[table].toArrow())) for name, table in counts.items()
        }

    def _view(self, frame: DataFrame) -> str:
        name = next(self._names)
        frame.createOrReplaceTempView(name)
        self._kept[name] = frame
        return name

    def keep(self, sql: str) -> str:
        """Make a table of the statement's rows, in memory or on the workers' disks."""
        from pyspark import StorageLevel

        if self._local is not None:
            return self._local.keep(sql)
        return self._view(self._session.sql(sql).persist(StorageLevel.MEMORY_AND_DISK))

    def put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        """Copy a small table of the driver's values; return its name."""
        if self._local is not None:
            return self._local.put(columns, types)
        return self._put(columns, types)

    def _put(self, columns: Mapping[str, Sequence[Any]], types: Sequence[str]) -> str:
        # Arrow, because rows of Python values need a Python of the same version on every worker.
        return self._view(self._session.createDataFrame(protocol.small_table(columns, types)))

    def load(self, rows: pa.Table) -> str:
        """Make a table of Arrow data; return its name."""
        if self._local is not None:
            return self._local.load(rows)
        return self._view(_frame_of(self._session, rows))

    def fetch(self, table: str) -> pa.Table:
        """Return a table as Arrow."""
        if self._local is not None:
            return self._local.fetch(table)
        return self._kept[table].toArrow()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the statement's rows, at most ``MOST_ROWS``."""
        if self._local is not None:
            return self._local.query(sql)
        found = self._session.sql(sql).limit(MOST_ROWS + 1).collect()
        return protocol.few_rows([tuple(row) for row in found], sql)

    def forget(self, table: str) -> None:
        """Drop a table."""
        if self._local is not None:
            return self._local.forget(table)
        return self._drop(table)

    def _drop(self, table: str) -> None:
        self._kept.pop(table).unpersist()
        self._session.catalog.dropTempView(table)

    def records(self) -> str:
        """Return the name of a view of the rows, numbered in the order of the source.

        Spark reads pieces in any order: rows are numbered within a piece (a block of a file, or a
        partition of a frame), and each piece starts where those before it end.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        place = f.monotonically_increasing_id()
        if self.source.paths:
            order = {os.path.abspath(path): n for n, path in enumerate(self.source.paths)}
            files = f.regexp_replace(f.col("_metadata.file_path"), "^file:/*", "/")
            piece = [
                f.url_decode(files).alias("file"),
                f.col("_metadata.file_block_start").alias("at"),
            ]
        else:
            order = {}
            piece = [f.lit("").alias("file"), f.shiftright(place, 33).alias("at")]
        rows = self._frame.select(*self._normalised(), *piece, place.alias("place"))
        counted = [tuple(row) for row in rows.groupBy("file", "at").count().collect()]
        counted.sort(key=lambda row: (order.get(row[0], 0), row[0], row[1]))
        starts = list(itertools.accumulate((row[2] for row in counted), initial=0))
        offsets = self._put(
            {
                "file": [row[0] for row in counted],
                "at": [row[1] for row in counted],
                "start": starts[:-1],
            },
            ["STRING", "BIGINT", "BIGINT"],
        )
        within = f.row_number().over(Window.partitionBy("file", "at").orderBy("place")) - 1
        numbered = rows.join(f.broadcast(self._kept[offsets]), ["file", "at"])
        numbered = numbered.withColumn("record", within + f.col("start"))
        return self._view(numbered.drop("file", "at", "place", "start"))

    def write(self, sql: str, path: str, tables: Sequence[str]) -> None:
        """Write the statement's rows to a folder of CSV or Parquet files, one per partition."""
        if self._local is not None:
            for table in tables:
                frame = self._session.createDataFrame(self._local.fetch(table))
                frame.createOrReplaceTempView(table)
                self._kept[table] = frame
        writer = self._session.sql(sql).write.mode("overwrite")
        if path.lower().endswith((".parquet", ".pq")):
            writer.parquet(path)
        else:
            writer.csv(path, header=True, sep="\t" if path.lower().endswith(".tsv") else ",")

    def quoted(self, name: str) -> str:
        """Return a name as an identifier."""
        return "`" + name.replace("`", "``") + "`"

    def is_number(self, column: str) -> str:
        """Return SQL that tells whether a text is a plain number without leading zeros."""
        if self._local is not None:
            return self._local.is_number(column)
        return f"{column} RLIKE '{PLAIN_NUMBER}'"

    def spelled(self, position: int) -> str:
        """Return SQL for the one spelling of a column's values, the same on every engine."""
        kind = SPELLINGS.get(type(self._type(self.columns[position])).__name__, "text")
        return spelled(kind, f"c{position}", self.dialect)

    @property
    def dialect(self) -> Dialect:
        """Spark's, or DuckDB's where the counts were moved beside the driver."""
        return "spark" if self._local is None else "duckdb"

    def close(self) -> None:
        """Drop every table; stop the session if it was started here."""
        for table in list(self._kept):
            self._drop(table)
        if self._local is not None:
            self._local.close()
        if self._is_ours:
            self._session.stop()
        self.source.close()


def require_spark() -> None:
    """Raise, with the command that helps, where PySpark or Java is missing."""
    if importlib.util.find_spec("pyspark") is None:
        raise UserError(
            "the Spark engine needs PySpark, which is not installed; "
            "run: pip install 'indiff[spark]'"
        )
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "no java on the PATH"
        raise UserError(
            f"the Spark engine needs Java 17 or later ({where}); install it, for example with: "
            "sudo apt install openjdk-17-jre-headless (macOS: brew install openjdk@17)"
        )


def _session(source: Source, resources: Resources) -> tuple[SparkSession, bool]:
    if source.spark is not None:
        return source.spark.sparkSession, False
    from pyspark.sql import SparkSession

    master, active = resources.master, SparkSession.getActiveSession()
    if active is not None:
        if master is not None and active.sparkContext.master != master:
            raise UserError(
                f"a Spark session on {active.sparkContext.master!r} is already running; stop it "
                f"before using {option('master', master)}.",
                field="master",
            )
        return active, False
    master = master or f"local[{resources.threads or '*'}]"
    builder = SparkSession.builder.appName("indiff").master(master)
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    if resources.memory_limit is not None:
        builder = builder.config("spark.driver.memory", _java_size(resources.memory_limit))
    if master.startswith("local"):
        builder = builder.config("spark.sql.shuffle.partitions", str(2 * (os.cpu_count() or 1)))
    return builder.getOrCreate(), True


def _java_size(size: str) -> str:
    """Return a size as Java writes it.

    >>> _java_size("2GB"), _java_size("1.5 GiB")
    ('1907m', '1536m')
    """
    found = SIZE.fullmatch(size.strip())
    if found is None:
        raise UserError(
            "memory_limit must be a size such as 2GB", f"{size!r}", field="memory_limit"
        )
    unit = (1024 if found[3] else 1000) ** (1 + "KMGT".index(found[2].upper()))
    size_in_mib = int(float(found[1]) * unit / 2**20)
    if size_in_mib < LEAST_HEAP:
        rule = f"memory_limit must be at least {LEAST_HEAP}MiB"
        raise UserError(rule, f"{size!r}", field="memory_limit")
    return f"{size_in_mib}m"


def _reason_of(error: Exception) -> str:
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
