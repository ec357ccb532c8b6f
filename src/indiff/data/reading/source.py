"""Recognises what a user wants counted (paths, frames, DuckDB, Spark), and opens it for engines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading import parquet
from indiff.data.reading.door import read_raw, text_blocks, typed_columns
from indiff.data.reading.frames import arrow_native
from indiff.data.reading.input_files import (
    Reading,
    format_of,
    found_files,
    is_address,
    opened,
    readable,
)
from indiff.data.reading.kinds import nested, require_columns
from indiff.data.reading.separated import SeparatedText
from indiff.errors import UserError, option, reason_of, said
from indiff.temporary import temporary_prefix

LOOKED_AT = 100_000
_SHAPE = "^[-+0-9.,'’/: \u00a0\u2009\u202fTZ]+$"
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
MOST_IN_MEMORY = 1 << 28


@dataclass(frozen=True)
class Source:
    """A recognised source: exactly one of ``paths``, ``frame``, ``relation`` and ``spark``.

    Text files that are here were read: their cells are a frame. Those elsewhere have addresses.
    """

    kind: Literal["parquet", "text", "frame", "relation", "spark"]
    name: str
    paths: tuple[str, ...] = ()
    frame: pa.Table | None = None
    """The wanted columns, named by their numbers."""
    relation: Any = None
    spark: Any = None
    folder: Any = None
    """The private folder of a frame that is too large for memory."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the paths are addresses, which only Spark reads."""
        return bool(self.paths) and is_address(self.paths[0])

    @property
    def is_text_here(self) -> bool:
        """Whether the frame has the cells of text files, in which missing values are null."""
        return self.kind == "text" and self.frame is not None

    def close(self) -> None:
        """Remove the private folder."""
        if self.folder is not None:
            self.folder.cleanup()


def open_source(source: Any, columns: Sequence[str], reading: Reading | None = None) -> Source:
    """Recognise a path, a pattern, a frame of pandas, Polars or PyArrow, DuckDB or Spark."""
    reading = reading or Reading()
    if isinstance(source, str | Path):
        return _open_path(str(source), columns, reading)
    reading.refuse_for(None, "a frame")
    module = type(source).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb"):
        require_columns(columns, source.columns)
        return Source("relation", "DuckDB relation", relation=source)
    if module == "pyspark":
        require_columns(columns, source.columns)
        return Source("spark", "Spark DataFrame", spark=source)
    return Source("frame", type(source).__name__, frame=_to_arrow(source, columns))


def column_names(source: Any, reading: Reading | None = None) -> list[str]:
    """Return the names of a source's columns; of files, only the head is read."""
    reading = reading or Reading()
    if not isinstance(source, str | Path):
        if type(source).__module__.split(".")[0] in ("duckdb", "_duckdb", "pyspark"):
            return list(source.columns)
        if type(source).__module__.startswith("pyarrow") and hasattr(source, "schema"):
            return list(source.schema.names)  # of a reader, which can be read only once
        import narwhals as nw

        try:
            return list(nw.from_native(source).collect_schema().names())
        except TypeError:  # what the door reads in another way, or refuses in its own words
            return read_raw(source, reading).frame.column_names
    given = str(source)
    if is_address(given):
        raise UserError(
            f"the quasi-identifiers of {given!r} must be named",
            way_out=f"Give {option('quasi')}",
            field="quasi",
        )
    paths, kind = found_files(given)
    where = repr(str(paths[0]))
    reading.refuse_for(kind, where)
    if kind == "text":
        with readable(where), opened(paths[0]) as file:
            return SeparatedText(file, where, reading).names
    if kind == "parquet":
        names = list(parquet.check_files(paths, ()).names)
        return names + list(parquet.partitions(Path(given), paths)[0])
    return read_raw(paths[0], reading).frame.column_names


def _open_path(given: str, columns: Sequence[str], reading: Reading) -> Source:
    if is_address(given):  # only Spark reads it, and reports what it cannot open
        reading.refuse_for(None, repr(given))
        is_text = format_of(given) == "text"
        return Source("text" if is_text else "parquet", given, paths=(given,))
    paths, kind = found_files(given)
    reading.refuse_for(kind, repr(str(paths[0])))
    if kind not in ("text", "parquet"):
        raw = read_raw(paths[0], reading)
        return Source("frame", given, frame=_to_arrow(raw.frame, columns))
    numbers = list(map(str, range(len(columns))))
    if kind == "text":
        blocks = text_blocks(paths, reading, columns, [])
        schema = pa.schema([(number, pa.string()) for number in numbers])
        frame, folder = gathered((block.rename_columns(numbers) for block in blocks), schema)
        return Source("text", given, frame=_as_meant(frame, columns, reading), folder=folder)
    folders = parquet.partitions(Path(given), paths)
    inside = [name for name in columns if name not in folders[0]]
    types = parquet.check_files(paths, inside)
    if len(inside) == len(columns):
        return Source("parquet", given, paths=tuple(map(str, paths)))
    rows = (
        plain_table(block).rename_columns(numbers)
        for block in parquet.partitioned_blocks(paths, columns, folders)
    )
    fields = [(name, types.field(name).type if name in inside else pa.string()) for name in columns]
    schema = plain_table(pa.schema(fields).empty_table()).rename_columns(numbers).schema
    frame, folder = gathered(rows, schema)
    return Source("frame", given, frame=frame, folder=folder)


def _as_meant(frame: pa.Table, names: Sequence[str], reading: Reading) -> pa.Table:
    """Return numbers and dates where people's way of writing them was told or shows.

    Other cells stay as they are written. A column is looked at whole only where its first cells
    could be such numbers or dates.
    """
    cells = {}
    for number, name in zip(frame.column_names, names, strict=True):
        start = frame[number].slice(0, LOOKED_AT)
        if pc.all(pc.match_substring_regex(start, _SHAPE)).as_py() is not False:
            cells[name] = frame[number]
    read = typed_columns(cells, reading)
    for place, name in enumerate(names):
        if name in read and read[name].is_rewritten:
            frame = frame.set_column(place, frame.column_names[place], read[name].values)
    return frame


def gathered(blocks: Iterable[pa.Table], schema: pa.Schema) -> tuple[pa.Table, Any]:
    """Return all blocks as one table, and the private folder that holds it beyond 256 MB.

    A table in a file is read where it lies: the system keeps in memory what there is room for.
    """
    waiting, size = [], 0
    blocks = iter(blocks)
    for block in blocks:
        waiting.append(block)
        size += block.nbytes
        if size > MOST_IN_MEMORY:
            break
    else:
        return pa.concat_tables(waiting or [schema.empty_table()]), None
    folder = tempfile.TemporaryDirectory(prefix=temporary_prefix(), ignore_cleanup_errors=True)
    place = str(Path(folder.name) / "cells.arrow")
    try:
        with pa.OSFile(place, "wb") as file, pa.ipc.new_file(file, schema) as writer:
            while waiting:
                writer.write_table(waiting.pop(0))
            for block in blocks:
                writer.write_table(block)
        return pa.ipc.open_file(pa.memory_map(place)).read_all(), folder
    except BaseException:
        folder.cleanup()
        raise


def in_utc(table: pa.Table) -> pa.Table:
    """Return a table whose times have no zone: the same instants, in UTC."""
    kinds = (
        pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else kind
        for kind in table.schema.types
    )
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))


def _to_arrow(source: Any, columns: Sequence[str]) -> pa.Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source if isinstance(source, pa.Table) else arrow_native(source))
    except TypeError:
        raise UserError(
            "risk is measured on a path, a pandas, Polars or PyArrow frame, a DuckDB "
            "relation or a Spark DataFrame",
            type(source).__name__,
        ) from None
    schema = frame.collect_schema()
    require_columns(columns, schema.names())
    mixed = "a column must hold values of one type ({})"
    way_out = "Convert the column to text or to numbers first"
    for name in columns:  # Polars would hand over the addresses of its objects
        if frame.implementation.is_polars() and schema[name] == nw.Object:
            raise UserError(mixed.format(f"{name!r} holds Python objects"), way_out=way_out)
    eager = frame.select(list(dict.fromkeys(columns))).lazy().collect()
    try:
        table = eager.to_arrow()
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError) as error:
        reason = said(reason_of(error))
        raise UserError(mixed.format(reason), way_out=way_out) from None
    # Numbered, since an engine's SQL may not know an empty name, or "Age" beside "age".
    numbers = list(map(str, range(len(columns))))
    return plain_table(table.select(list(columns))).rename_columns(numbers)


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns have types that every engine knows, with the same values."""
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
    if pa.types.is_decimal256(kind):
        return pa.decimal128(38, kind.scale)
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    others = {pa.float16(): pa.float32(), pa.null(): pa.string(), pa.date64(): pa.date32(), **VIEWS}
    return others.get(kind, kind)
