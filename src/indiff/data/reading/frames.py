"""Reads frames of pandas, Polars, PyArrow, narwhals and Arrow's C stream, and Python values."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow.lib import _pandas_api

from indiff.data.reading.columns import Column, ordered_texts, plain_column
from indiff.data.reading.kinds import checked_names, without_missing
from indiff.data.reading.numbers import EXACT_INTEGERS
from indiff.errors import UserError, from_data
from indiff.text import is_text

if TYPE_CHECKING:
    import narwhals as nw

Backend = Literal["pyarrow", "pandas", "polars"]
Frame = tuple[list[tuple[str, Column]], list[str], Backend]
WHERE = "the frame"
FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("boolean", (bool, np.bool_)),
    ("integer", (int, np.integer)),
    ("float", (float, np.floating)),
    ("decimal", (decimal.Decimal,)),
    ("text", (str,)),
    ("date", (datetime.date,)),  # its subclass datetime too, at midnight
)


def read_frame(source: Any, *, tokens: Sequence[str]) -> Frame:
    """Return the named, typed columns of a frame, the notes, and which library the frame is of."""
    if isinstance(source, pa.Table):
        return *read_arrow(source, tokens=tokens, where=WHERE), "pyarrow"
    import narwhals as nw

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
    """Return Arrow's batches, readers, scanners and datasets as tables; all else as it is."""
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
    import narwhals as nw

    for name, kind in frame.schema.items():
        if isinstance(kind, nw.Object | nw.Int128 | nw.UInt128):
            raise UserError(
                "a column must hold 64-bit numbers, text, dates or booleans; column "
                f"{name!r} is of Polars type {kind}: cast it to Int64 or String, or leave it out."
            )


def _from_pandas(frame: Any, tokens: Sequence[str]) -> Frame:
    """Column by column, for columns of Python objects have no one Arrow type."""
    _pandas_api.pd  # noqa: B018 - Arrow may have looked for pandas before it was there
    names, notes = checked_names(list(frame.columns), WHERE)
    _check_records(len(frame), WHERE)
    columns = []
    for position, name in enumerate(names):
        series = frame.iloc[:, position]
        if str(series.dtype) == "category":
            column = _from_categorical(name, series, tokens)
        else:
            array, made = _as_arrow(name, series)
            column = plain_column(name, array, tokens)
            notes += made
        notes += column.notes
        columns.append((name, column))
    return columns, notes, "pandas"


def _as_arrow(name: str, series: Any) -> tuple[pa.ChunkedArray, list[str]]:
    kind = str(series.dtype)
    if kind.startswith("Sparse"):
        series = series.sparse.to_dense()
    if kind.startswith(("period", "interval")):  # Arrow would make numbers of them
        raise _wrong_pandas_type(name, kind)
    if kind == "object":
        try:
            missing = series.isna()
        except decimal.InvalidOperation:  # a signalling NaN cannot be compared, even with itself
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
    labels = series.cat.categories.tolist()
    broken = next((one for one in labels if isinstance(one, str) and not is_text(one)), None)
    if broken is not None:  # pandas itself makes no series of it
        raise UserError(
            f"text must be valid Unicode; column {name!r} has half a surrogate pair in a category "
            f"({from_data(broken[:40])}): replace it."
        )
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


def column_of(
    name: str, values: Sequence[object], *, merge_equal_texts: bool = False
) -> tuple[pa.Array, list[str]]:
    """Return the values as one Arrow array, None as null, and a note where types are mixed.

    Mixed types become the text of each value. Where that would make a number and a text the same
    value (1 and "1") it is an error, unless `merge_equal_texts`: a spreadsheet shows them alike.
    """
    families = _families(name, values)
    if families <= {"text"} or families <= {"boolean"}:
        return _array(name, values), []
    if families == {"date"}:
        return pa.array([_date(name, value) for value in values], pa.date32()), []
    if families == {"decimal"}:
        _check_finite(name, values)
        return _array_or_text(name, values, None, "decimals of too many digits", _digits)
    if families == {"integer"}:
        return _array_or_text(name, values, pa.int64(), "integers beyond 64 bits", str)
    if families <= {"integer", "float"}:
        whole = (int(value) for value in values if isinstance(value, int | np.integer))
        if all(abs(number) <= EXACT_INTEGERS for number in whole):
            return pa.array([None if v is None else float(v) for v in values], pa.float64()), []  # type: ignore[arg-type]
        note = (
            f"column {name!r} mixes decimals with integers that a float cannot hold: kept as text"
        )
        return _texts(name, values, _text), [note]
    if not merge_equal_texts:
        _refuse_equal_texts(name, values)
    kinds = " and ".join(word for word, _ in FAMILIES if word in families)
    return _texts(name, values, _text), [f"column {name!r} mixes {kinds}: read as text"]


def _families(name: str, values: Sequence[object]) -> set[str]:
    families = set()
    for kind in set(map(type, values)) - {type(None)}:
        family = next((word for word, kinds in FAMILIES if issubclass(kind, kinds)), None)
        if family is None:
            record = next(i for i, value in enumerate(values) if type(value) is kind)
            raise UserError(
                f"a cell must hold a number, a text, a date or a boolean; column {name!r} has a "
                f"{kind.__name__} in record {record}: cast the column to text or leave it out."
            )
        families.add(family)
    return families


def _array(name: str, values: Sequence[object]) -> pa.Array:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        record = next(
            i for i, one in enumerate(values) if isinstance(one, str) and not is_text(one)
        )
        raise UserError(
            f"text must be valid Unicode; column {name!r} has half a surrogate pair in record "
            f"{record} ({from_data(str(values[record])[:40])}): replace it."
        ) from None


def _texts(name: str, values: Sequence[object], written: Callable[[Any], str]) -> pa.Array:
    return _array(name, [None if value is None else written(value) for value in values])


def _array_or_text(
    name: str,
    values: Sequence[object],
    kind: pa.DataType | None,
    beyond: str,
    written: Callable[[Any], str],
) -> tuple[pa.Array, list[str]]:
    """Return the values as numbers, or the text of each where Arrow has no type for them all."""
    try:
        return pa.array(values, kind), []
    except (OverflowError, pa.ArrowInvalid):
        return _texts(name, values, written), [f"column {name!r} has {beyond}: kept as text"]


def _check_finite(name: str, values: Sequence[object]) -> None:
    for record, value in enumerate(values):
        if isinstance(value, decimal.Decimal) and not value.is_finite():
            raise UserError(
                f"numbers must be finite; column {name!r} has {from_data(value, str)} in record "
                f"{record}: replace it by a number or by null."
            )


def _digits(value: decimal.Decimal) -> str:
    """Equal decimals as equal texts, whatever their exponents: 1E+2 and 100.0 are 100."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _date(name: str, value: object) -> datetime.date | None:
    if not isinstance(value, datetime.datetime):
        assert value is None or isinstance(value, datetime.date)
        return value
    if value.time() != datetime.time.min:
        raise UserError(
            f"a date has no time of day; column {name!r} has {from_data(value, str)}: cast it to "
            "dates, or to text to keep the time."
        )
    return value.date()


def _refuse_equal_texts(name: str, values: Sequence[object]) -> None:
    words = {value for value in values if isinstance(value, str)}
    for value in values:
        if value is not None and not isinstance(value, str) and (text := _text(value)) in words:
            raise UserError(
                f"a column must not mix a value with its own text; column {name!r} has both "
                f"{from_data(value)} and {from_data(text)}: cast the column to text or to "
                "numbers."
            )


def _text(value: object) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time.min:
        return str(value.date())
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
