"""Frames of pandas, Polars, PyArrow, and whatever narwhals or Arrow's C stream can hand over."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from typing import Any, Literal

import narwhals as nw
import pyarrow as pa

from indiff.data.reading.columns import Column, checked_names, ordered_texts, plain_column
from indiff.data.reading.kinds import without_missing
from indiff.data.reading.values import column_of
from indiff.errors import UserError

Backend = Literal["pyarrow", "pandas", "polars"]
Frame = tuple[list[tuple[str, Column]], list[str], Backend]
WHERE = "the frame"


def read_frame(source: Any, *, tokens: Sequence[str]) -> Frame:
    """Return the named, typed columns of a frame, the notes, and which library the frame is of."""
    source = arrow_native(nw.to_native(source, pass_through=True))
    if nw.dependencies.is_pandas_dataframe(source):
        return _from_pandas(source, tokens)
    if isinstance(source, pa.Table):
        return *read_arrow(source, tokens=tokens, where=WHERE), "pyarrow"
    try:
        wrapped = nw.from_native(source, pass_through=True)
        if isinstance(wrapped, nw.LazyFrame):
            wrapped = wrapped.collect()
    except nw.exceptions.DuplicateError as error:
        raise UserError(
            f"column names must differ; those of {WHERE} do not ({' '.join(str(error).split())}): "
            "rename the ones that are equal."
        ) from None
    if isinstance(wrapped, nw.DataFrame):
        if wrapped.implementation.is_pandas_like():
            return _from_pandas(wrapped.to_pandas(), tokens)
        polars = wrapped.implementation.is_polars()
        if polars:
            _check_polars(wrapped)
        columns, notes = read_arrow(wrapped.to_arrow(), tokens=tokens, where=WHERE)
        return columns, notes, "polars" if polars else "pyarrow"
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        try:
            table = pa.table(source)
        except (pa.ArrowException, TypeError, ValueError):
            raise _wrong_type(source) from None
        return *read_arrow(table, tokens=tokens, where=WHERE), "pyarrow"
    raise _wrong_type(source)


def arrow_native(source: Any) -> Any:
    """Return Arrow's batches, readers, scanners and datasets as tables; all else as it is.

    >>> arrow_native(pa.record_batch({"age": [31]})).to_pydict()
    {'age': [31]}
    """
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    is_lazy = type(source).__module__ == "pyarrow._dataset" and hasattr(source, "to_table")
    return source.to_table() if is_lazy else source


def read_arrow(
    table: pa.Table, *, tokens: Sequence[str], where: str
) -> tuple[list[tuple[str, Column]], list[str]]:
    """Return the named, typed columns of an Arrow table, and the notes."""
    names, notes = checked_names(table.column_names, where)
    _check_records(table.num_rows, where)
    columns = [
        (name, plain_column(name, column, tokens))
        for name, column in zip(names, table.columns, strict=True)
    ]
    return columns, notes + [note for _, column in columns for note in column.notes]


def _check_records(records: int, where: str) -> None:
    if not records:
        raise UserError(f"a table needs at least one record; {where} has none: add rows.")


def _wrong_type(source: object) -> UserError:
    return UserError(
        "a table must be a path or a frame of pandas, Polars or PyArrow",
        f"a {type(source).__name__}: make it a frame, for example with pyarrow.table(...)",
    )


def _check_polars(frame: nw.DataFrame[Any]) -> None:
    """Polars hands 128-bit integers and Python objects over in ways that Arrow cannot read."""
    for name, kind in frame.schema.items():
        if isinstance(kind, nw.Object | nw.Int128 | nw.UInt128):
            raise UserError(
                "a column must hold 64-bit numbers, text, dates or booleans; column "
                f"{name!r} is of Polars type {kind}: cast it to Int64 or String, or leave it out."
            )


def _from_pandas(frame: Any, tokens: Sequence[str]) -> Frame:
    """Column by column, for columns of Python objects have no one Arrow type."""
    names, notes = checked_names(list(frame.columns), WHERE)
    _check_records(len(frame), WHERE)
    columns = []
    for position, name in enumerate(names):
        column = _from_series(name, frame.iloc[:, position], tokens)
        notes += column.notes
        columns.append((name, column))
    return columns, notes, "pandas"


def _from_series(name: str, series: Any, tokens: Sequence[str]) -> Column:
    if str(series.dtype) == "category":
        return _from_categorical(name, series, tokens)
    array, notes = _as_arrow(name, series)
    column = plain_column(name, array, tokens)
    return Column(column.values, column.order, (*notes, *column.notes))


def _as_arrow(name: str, series: Any) -> tuple[pa.ChunkedArray, list[str]]:
    kind = str(series.dtype)
    if kind.startswith("Sparse"):
        series = series.sparse.to_dense()
    if kind.startswith(("period", "interval")):  # Arrow would make numbers of them
        raise _wrong_pandas_type(name, kind)
    if kind == "object":
        try:
            missing = series.isna()
        except (
            decimal.InvalidOperation
        ):  # it is compared with itself, which a signalling NaN is not
            raise UserError(
                f"numbers must be finite; column {name!r} has a decimal that is none (sNaN): "
                "replace it by a number or by null."
            ) from None
        values = [None if gone else v for v, gone in zip(series, missing, strict=True)]
        array, notes = column_of(name, values)
        return pa.chunked_array([array]), notes
    try:
        array = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError):
        raise _wrong_pandas_type(name, kind) from None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]), []


def _wrong_pandas_type(name: str, kind: str) -> UserError:
    return UserError(
        f"a column must hold numbers, text, dates or booleans; column {name!r} is of pandas type "
        f"{kind}: cast it to text with astype(str)."
    )


def _from_categorical(name: str, series: Any, tokens: Sequence[str]) -> Column:
    categories = series.cat.categories.to_series()
    if str(categories.dtype).startswith(("period", "interval")):
        categories = categories.map(str).astype(object)  # pandas.cut makes intervals
    declared, notes = _as_arrow(name, categories)
    codes = series.cat.codes.to_numpy()
    indices = pa.array(codes, pa.int64(), mask=codes < 0)
    if not series.cat.ordered:
        column = plain_column(name, declared.take(indices), tokens)
        return Column(column.values, None, (*notes, *column.notes))
    plain = plain_column(name, declared, ())
    texts = plain.values.cast(pa.string())
    order = ordered_texts(name, Column(without_missing(texts, tokens)))
    return Column(without_missing(texts.take(indices), tokens), order, (*notes, *plain.notes))
