"""Spark: tables that do not fit here, on a cluster or on this machine's cores."""

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

from indiff.engines.canonical import EPOCH, CanonicalKind, Dialect, as_text, hash_part
from indiff.engines.duckdb.engine import DuckDBEngine, small_table
from indiff.engines.duckdb.engine import quoted as duckdb_quoted
from indiff.engines.source import Source, in_utc, nested, no_rows, plain_table, require_columns
from indiff.engines.spark.input import csv_options, with_spark_types
from indiff.errors import InternalError, UserError, said

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLAIN_NUMBER = r"^-?(0|[1-9][0-9]{0,14})(\\.[0-9]+)?([eE][-+]?[0-9]+)?$"
FEW_COUNTS = 100_000
"""Counts of at most this many rows are reduced on the driver: one Spark job instead of dozens."""
LEAST_HEAP = 450
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT])(i?)B?", re.IGNORECASE)


def connect(
    source: Source,
    columns: Sequence[str],
    countings: Mapping[str, Sequence[int]],
    *,
    missing_tokens: Sequence[str],
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> SparkEngine:
    """Count the rows of a source with Spark."""
    require_spark()
    session, is_ours = _session(source, master, threads, memory_limit)
    engine = SparkEngine(session, source, columns, missing_tokens, is_ours)
    try:
        engine.count(countings)
    except BaseException:
        engine.close()
        raise
    return engine


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


def _session(
    source: Source, master: str | None, threads: int | None, memory_limit: str | None
) -> tuple[SparkSession, bool]:
    if source.spark is not None:
        return source.spark.sparkSession, False
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if master is not None and active.sparkContext.master != master:
            raise UserError(
                f"a Spark session on {active.sparkContext.master!r} is already running; stop it "
                f"before using master={master!r}."
            )
        return active, False
    master = master or f"local[{threads or '*'}]"
    builder = SparkSession.builder.appName("indiff").master(master)
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    if memory_limit is not None:
        builder = builder.config("spark.driver.memory", _java_size(memory_limit))
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
        raise UserError("memory_limit must be a size such as 2GB", f"{size!r}")
    unit = (1024 if found[3] else 1000) ** (1 + "KMGT".index(found[2].upper()))
    size_in_mib = int(float(found[1]) * unit / 2**20)
    if size_in_mib < LEAST_HEAP:
        raise UserError(f"Spark needs memory_limit of at least {LEAST_HEAP}MiB", f"{size!r}")
    return f"{size_in_mib}m"


class SparkEngine:
    """Counts in Spark; only totals, extremes and group sizes come back to the driver."""

    name = "spark"

    def __init__(
        self,
        session: SparkSession,
        source: Source,
        columns: Sequence[str],
        missing_tokens: Sequence[str],
        is_ours: bool,
    ) -> None:
        self.source, self.columns, self.tokens = source, tuple(columns), tuple(missing_tokens)
        self.counts: Mapping[str, str] = {}
        self._session, self._is_ours = session, is_ours
        prefix = f"indiff_{uuid.uuid4().hex[:12]}"
        self._names = (f"{prefix}_{number}" for number in itertools.count())
        self._kept: dict[str, DataFrame] = {}
        self._local: DuckDBEngine | None = None
        self._frame = self._open()
        require_columns(self.columns, self._frame.columns)
        self.classes = tuple(self._classify(name) for name in self.columns)

    def count(self, countings: Mapping[str, Sequence[int]]) -> None:
        """Run stage one: a table of counts for every counting."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        rows = self._view(self._frame.select(*self._normalised()))
        counts = {}
        for name, positions in countings.items():
            keys = ", ".join(f"c{i}" for i in positions)
            counts[name] = self.keep(f"SELECT {keys}, COUNT(*) AS n FROM {rows} GROUP BY {keys}")
        self.counts = counts
        try:
            rows_found = [self._kept[table].count() for table in counts.values()]
        except (PySparkException, Py4JError) as error:
            raise self._unreadable(error) from None
        if not all(rows_found):
            raise no_rows(self.source.name)
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
        local = DuckDBEngine(nothing, (), (), None, None)
        self._local = local
        self.counts = {
            name: local.load(in_utc(self._kept[table].toArrow())) for name, table in counts.items()
        }

    def _open(self) -> DataFrame:
        from pyspark.errors import PySparkException

        session, source = self._session, self.source
        if source.spark is not None:
            return source.spark
        if source.frame is not None:
            return self._frame_of(source.frame)
        if source.kind == "relation":
            wanted = source.relation.select(*dict.fromkeys(map(duckdb_quoted, self.columns)))
            return self._frame_of(plain_table(wanted.to_arrow_table()))
        try:
            if source.kind == "parquet":
                return session.read.parquet(*source.paths)
            return session.read.csv(list(source.paths), **csv_options(source.paths[0]))
        except PySparkException as error:
            raise self._unreadable(error) from None

    def _frame_of(self, table: pa.Table) -> DataFrame:
        from pyspark.errors import PySparkException

        table = with_spark_types(table)
        batches = [batch for batch in table.to_batches() if batch.num_rows]
        try:  # without empty batches: PySpark drops what comes after one
            return self._session.createDataFrame(pa.Table.from_batches(batches, table.schema))
        except PySparkException as error:
            raise UserError(
                f"Spark does not know the type of a column ({said(str(error))}); convert it to "
                "text first, or use engine='duckdb'."
            ) from None

    def _classify(self, name: str) -> Any:
        from pyspark.sql import types

        kind = self._frame.schema[name].dataType
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
            value = f.col(self.quoted(name))
            if isinstance(self._frame.schema[name].dataType, types.FloatType | types.DoubleType):
                value = f.when(f.isnan(value), None).otherwise(value + f.lit(0.0))
            elif isinstance(self._frame.schema[name].dataType, types.TimestampType):
                micros = f"UNIX_MICROS({self.quoted(name)})"  # whatever the session's time zone
                value = f.expr(f"TIMESTAMPADD(MICROSECOND, {micros}, {EPOCH})")
            elif isinstance(self._frame.schema[name].dataType, types.NullType):
                value = value.cast("string")  # a join finds no equal nulls without a type
            elif self.classes[position] == "text" and self.tokens:
                value = f.when(value.isin(list(self.tokens)), None).otherwise(value)
            parts.append(value.alias(f"c{position}"))
        return parts

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
        return self._view(self._session.createDataFrame(small_table(columns, types)))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the statement's rows, at most ``MOST_ROWS``."""
        from indiff.engines import MOST_ROWS

        if self._local is not None:
            return self._local.query(sql)
        rows = [tuple(row) for row in self._session.sql(sql).limit(MOST_ROWS + 1).collect()]
        if len(rows) > MOST_ROWS:
            raise InternalError(f"a statement returned more than {MOST_ROWS:,} rows: {sql[:200]}")
        return rows

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

    def canonical(self, position: int) -> str:
        """Return SQL for the text of a column's values, the same on every engine."""
        from pyspark.sql import types

        kind = self._frame.schema[self.columns[position]].dataType
        found: CanonicalKind = "plain"
        if isinstance(kind, types.StringType):
            found = "text"
        elif isinstance(kind, types.FloatType | types.DoubleType):
            found = "float"
        elif isinstance(kind, types.BinaryType):
            found = "bytes"
        elif isinstance(kind, types.TimestampType | types.TimestampNTZType):
            found = "time"
        return as_text(found, f"c{position}", self._dialect)

    def hash_part(self, text: str, part: int) -> str:
        """Return SQL for 48 bits of a text's hash."""
        return hash_part(text, part, self._dialect)

    @property
    def _dialect(self) -> Dialect:
        return "spark" if self._local is None else "duckdb"

    def close(self) -> None:
        """Drop every table; stop the session if it was started here."""
        for table in list(self._kept):
            self._drop(table)
        if self._local is not None:
            self._local.close()
        if self._is_ours:
            self._session.stop()

    def _unreadable(self, error: Exception) -> UserError:
        lines = str(error).splitlines()
        reason = next((line for line in lines if "Exception" in line), lines[0]).lstrip(": ")
        return UserError(
            f"{self.source.name!r} cannot be read ({said(reason)}); check or repair it."
        )
