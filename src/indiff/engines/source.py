"""What the user passed as data, recognised and checked before any engine reads it."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from indiff.errors import UserError, said, unknown

PARQUET = (".parquet", ".pq")
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True)
class Source:
    """A recognised source: exactly one of ``paths``, ``frame``, ``relation`` and ``spark``."""

    kind: Literal["parquet", "csv", "frame", "relation", "spark"]
    name: str
    paths: tuple[str, ...] = ()
    frame: pa.Table | None = None
    """The wanted columns, named by their numbers."""
    relation: Any = None
    spark: Any = None


def resolve(source: Any, columns: Sequence[str]) -> Source:
    """Recognise a path, a glob, a pandas, Polars or PyArrow frame, a DuckDB relation or Spark.

    >>> import pyarrow as pa
    >>> resolve(pa.table({"age": [30]}), ["age"]).kind
    'frame'
    """
    if isinstance(source, str | Path):
        return _resolve_path(str(source), columns)
    module = type(source).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb"):
        require_columns(columns, source.columns)
        return Source("relation", "DuckDB relation", relation=source)
    if module == "pyspark":
        require_columns(columns, source.columns)
        return Source("spark", "Spark DataFrame", spark=source)
    name = type(source).__name__
    if module == "indiff":
        source = _records_of(source)
    return Source("frame", name, frame=_to_arrow(source, columns))


def _records_of(source: Any) -> Any:
    """Return the records of a table, or those of a release with its regions as text."""
    from indiff.data.table import Table
    from indiff.release.release import Release

    if isinstance(source, Release):
        if source.weights is not None:
            raise UserError(
                "risk is measured on records, one per row; this release has weighted rows (noisy "
                "counts), which stand for no record."
            )
        return source.to_frame()
    return source.frame() if isinstance(source, Table) else source


def require_columns(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise for the first wanted column that is not known."""
    for name in wanted:
        if name not in known:
            raise unknown("column", name, known)
        if list(known).count(name) > 1:
            raise UserError(f"a column's name must be unique; {name!r} occurs more than once.")


def column_names(source: Any) -> list[str]:
    """Return the names of a source's columns; only its head is read.

    >>> column_names(pa.table({"age": [30], "ill": ["flu"]}))
    ['age', 'ill']
    """
    found = resolve(source, ())
    if found.kind == "parquet" and "://" not in found.paths[0]:
        return list(pq.read_schema(found.paths[0]).names)
    if found.kind == "csv" and "://" not in found.paths[0]:
        from indiff.engines.duckdb.engine import csv_columns

        return csv_columns(found)
    if found.kind == "frame":
        return list(nw.from_native(source).collect_schema().names())
    if found.kind in ("relation", "spark"):
        return list(source.columns)
    raise UserError(f"name the quasi-identifiers of {found.name!r} with quasi=.")


def nested(name: str, kind: object) -> UserError:
    """Return the error for a column whose values are not single values."""
    return UserError(
        f"a column must hold single values; {name!r} is nested ({kind})",
        way_out="Unnest it, or turn it into text first",
    )


def in_utc(table: pa.Table) -> pa.Table:
    """Return a table whose times have no zone: the same instants, in UTC."""
    fields = [
        (field.name, pa.timestamp(field.type.unit))
        if pa.types.is_timestamp(field.type)
        else (field.name, field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def no_rows(name: str) -> UserError:
    """Return the error for a source without rows."""
    return UserError(f"risk needs at least one record; {name} has none.")


def _resolve_path(path: str, columns: Sequence[str]) -> Source:
    if "://" in path:  # only Spark reads remote paths; it reports those it cannot open
        kind: Literal["parquet", "csv"] = "csv" if path.lower().endswith(TEXT) else "parquet"
        return Source(kind, path, paths=(path,))
    if Path(path).is_dir():
        found = sorted(str(part) for part in Path(path).rglob("*.parquet"))
    elif Path(path).exists():
        found = [path]
    else:
        found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise UserError(f"no file matches {path!r}; check the path.")
    lower = [part.lower() for part in found]
    if all(part.endswith(PARQUET) for part in lower):
        _check_parquet(found, columns)
        return Source("parquet", path, paths=tuple(found))
    if all(part.endswith(TEXT) for part in lower):
        _check_headers(found)
        return Source("csv", path, paths=tuple(found))
    strange = next(part for part in found if not part.lower().endswith((*PARQUET, *TEXT)))
    raise UserError(
        "a file must be CSV (.csv, .tsv, .txt) or Parquet (.parquet, .pq), all of one format",
        f"{strange!r}",
        "Rename it, or pass a frame",
    )


def _check_headers(paths: Sequence[str]) -> None:
    """Compare the headers of several text files: engines join their columns by position."""
    if len(paths) == 1:
        return
    from indiff.engines.duckdb.engine import csv_columns

    first, *others = (csv_columns(Source("csv", path, paths=(path,))) for path in paths)
    for path, names in zip(paths[1:], others, strict=True):
        if names != first:
            raise UserError(
                f"text files that are read together must have the same header; {path!r} "
                f"has {', '.join(names)} and {paths[0]!r} has {', '.join(first)}",
                way_out="Rewrite one of them",
            )


def _check_parquet(paths: Sequence[str], columns: Sequence[str]) -> None:
    """Read every file's footer: one bad file among many must not surface half-way."""
    first: pa.Schema | None = None
    for path in paths:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise UserError(
                f"{path!r} cannot be read as Parquet ({reason}); remove or repair it."
            ) from None
        require_columns(columns, schema.names)
        for name in columns:
            kind = schema.field(name).type
            if pa.types.is_nested(kind):
                raise nested(name, kind)
            if pa.types.is_decimal256(kind):
                raise UserError(
                    f"a decimal may have 38 digits; {name!r} is {kind}",
                    way_out="Convert it to text first",
                )
            if first is not None and first.field(name).type != kind:
                raise UserError(
                    f"a column must have one type in all files; {name!r} is "
                    f"{first.field(name).type} in {paths[0]!r} and {kind} in {path!r}",
                    way_out="Rewrite one of them",
                )
        first = first or schema


def _to_arrow(source: Any, columns: Sequence[str]) -> pa.Table:
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise UserError(
            "risk is measured on a path, a pandas, Polars or PyArrow frame, a DuckDB "
            "relation or a Spark DataFrame",
            type(source).__name__,
        ) from None
    schema = frame.collect_schema()
    require_columns(columns, schema.names())
    for name in columns:  # Polars would hand over the addresses of its objects
        if frame.implementation.is_polars() and schema[name] == nw.Object:
            raise _mixed(f"{name!r} holds Python objects")
    eager = frame.select(list(dict.fromkeys(columns))).lazy().collect()
    try:
        table = eager.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        raise _mixed(str(error).splitlines()[0]) from None
    # Numbered, since an engine's SQL may not know an empty name, or "Age" beside "age".
    return plain_table(table.select(list(columns))).rename_columns(
        list(map(str, range(len(columns))))
    )


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns have types that every engine knows, with the same values.

    >>> plain_table(pa.table({"x": pa.array([0.5], pa.float16())})).schema.field("x").type
    DataType(float)
    """
    columns = [_plain(name, table[name]) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def _plain(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return _plain(name, pc.run_end_decode(column))
    if isinstance(kind, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return _plain(name, pa.chunked_array(chunks, kind.storage_type))
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_nested(value):
        raise nested(name, value)
    other = _known_everywhere(value)
    if other == value:
        return column
    try:
        return column.cast(other)
    except pa.ArrowInvalid as error:
        raise UserError(
            f"column {name!r} of type {value} has values that no engine holds ({said(str(error))})",
            way_out="Convert it to text first",
        ) from None


def _known_everywhere(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_decimal256(kind):
        return pa.decimal128(38, kind.scale)
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    return VIEWS.get(kind, kind)


def _mixed(reason: str) -> UserError:
    return UserError(
        f"a column must hold values of one type ({said(reason)})",
        way_out="Convert the column to text or to numbers first",
    )
