"""Makes any Arrow column one of five types: int64, float64, date32, bool or string."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from indiff.data.reading.kinds import CELL_LIMIT, without_missing
from indiff.data.reading.numbers import EXACT_INTEGERS
from indiff.errors import UserError, from_data

EARLIEST, LATEST = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, in days from 1970-01-01
LARGE_CHUNK = 1 << 30


@dataclass(frozen=True)
class Column:
    """A typed column, the declared order of its values if there is one, and what was decided."""

    values: pa.ChunkedArray
    order: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def plain_column(name: str, column: pa.ChunkedArray, tokens: Sequence[str]) -> Column:
    """Return the column as one of the five types, with null for NaN and the missing tokens."""
    if types.is_dictionary(column.type):
        return _from_dictionary(name, column, tokens)
    plain = _plain(name, column)
    if not types.is_string(plain.values.type):
        return replace(plain, values=_without_tokens(plain.values, tokens))
    values = without_missing(plain.values, tokens)
    sizes = pc.binary_length(values)
    if (pc.max(sizes).as_py() or 0) > CELL_LIMIT:
        record = pc.index(pc.greater(sizes, CELL_LIMIT), True).as_py()
        raise UserError(
            f"a cell may hold at most 1 MB ({CELL_LIMIT:,} bytes); column {name!r} has a larger "
            f"one in record {record}: shorten it or leave the column out."
        )
    return replace(plain, values=values)


def _plain(name: str, column: pa.ChunkedArray) -> Column:
    kind = column.type
    if types.is_null(kind):
        return Column(
            column.cast(pa.string()), notes=(f"column {name!r} has no values at all: read as text",)
        )
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(_as_string(column))
    if types.is_boolean(kind):
        return Column(column)
    if types.is_integer(kind):
        try:
            return Column(column.cast(pa.int64()))
        except pa.ArrowInvalid:
            note = f"column {name!r} has integers beyond 64 bits: kept as text"
            return Column(column.cast(pa.string()), notes=(note,))
    if types.is_floating(kind):
        return Column(_floats(name, column))
    if types.is_decimal(kind):
        return _decimals(name, column)
    if types.is_date(kind) or types.is_timestamp(kind):
        return Column(_dates(name, column))
    raise UserError(
        f"a column must hold numbers, text, dates or booleans; column {name!r} is of type "
        f"{kind}: cast it to text or leave it out."
    )


def _from_dictionary(name: str, column: pa.ChunkedArray, tokens: Sequence[str]) -> Column:
    """A declared order makes the column text, for the order is of its values as written."""
    decoded = pa.chunked_array(
        [chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type
    )
    if not column.type.ordered:
        return plain_column(name, decoded, tokens)
    dictionaries = [chunk.dictionary for chunk in column.chunks]
    if any(not other.equals(dictionaries[0]) for other in dictionaries[1:]):
        raise UserError(
            f"an ordered column must have one order; the parts of column {name!r} declare "
            "different ones: combine its dictionaries or cast it to text."
        )
    order = ordered_texts(name, plain_column(name, pa.chunked_array(dictionaries[:1]), tokens))
    values = _plain(name, decoded)
    text = without_missing(values.values.cast(pa.string()), tokens)
    return Column(text, order, values.notes)


def ordered_texts(name: str, categories: Column) -> tuple[str, ...]:
    """The declared values as text, lowest first; missing ones have no place in an order."""
    texts = tuple(t for t in categories.values.cast(pa.string()).to_pylist() if t is not None)
    if len(set(texts)) < len(texts):
        raise UserError(
            f"the values of an ordered column must differ; those of column {name!r} are "
            f"{from_data(texts)}: rename the ones that are equal."
        )
    return texts


def _as_string(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast to 32-bit offsets, in parts where one would not hold the text."""
    if types.is_string(column.type):
        return column
    if types.is_string_view(column.type):  # older PyArrow cannot tell how much text a view holds
        column = column.cast(pa.large_string())
    chunks: list[pa.Array] = []
    waiting = list(reversed(column.chunks))
    while waiting:
        chunk = waiting.pop()
        if chunk.nbytes > LARGE_CHUNK and len(chunk) > 1:
            half = len(chunk) // 2
            waiting += [chunk.slice(half), chunk.slice(0, half)]
        else:
            chunks.append(chunk.cast(pa.string()))
    return pa.chunked_array(chunks, pa.string())


def _floats(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if types.is_float32(column.type):
        # As it is written: the 0.1 of 32 bits is 0.1 to whoever releases it, not 0.10000000149.
        column = column.cast(pa.string())
    values = column.cast(pa.float64())
    values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
    infinite = pc.is_inf(values)
    if pc.any(infinite).as_py():
        record = pc.index(infinite, True).as_py()
        raise UserError(
            f"numbers must be finite; column {name!r} has "
            f"{from_data(values[record].as_py())} in record {record}: replace it by a number "
            "or by null."
        )
    return pc.add(values, 0.0)  # -0.0 becomes 0.0: one zero, not two


def _decimals(name: str, column: pa.ChunkedArray) -> Column:
    """Whole numbers as integers, fractions as floats, and as text what neither can hold."""
    try:
        return Column(column.cast(pa.int64()))
    except pa.ArrowInvalid:
        # By way of text: Arrow's own cast is off by a last digit, and 1.1 no longer 1.1.
        floats = column.cast(pa.string()).cast(pa.float64())
    digits = pc.abs(pc.multiply(floats, 10.0**column.type.scale))
    if column.type.precision <= 15 or pc.all(pc.less(digits, float(EXACT_INTEGERS))).as_py():
        return Column(floats)
    note = f"column {name!r} has decimals that a float cannot hold: kept as text"
    return Column(column.cast(pa.string()), notes=(note,))


def _dates(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if types.is_timestamp(column.type):
        if column.type.tz:
            column = pc.local_timestamp(column)
        day = pc.floor_temporal(column, unit="day")
        timed = pc.not_equal(day, column)
        if pc.any(timed).as_py():
            record = pc.index(timed, True).as_py()
            shown = column.slice(record, 1).cast(pa.timestamp("s"), safe=False).cast(pa.string())[0]
            raise UserError(
                f"a date has no time of day; column {name!r} has "
                f"{from_data(shown, str)} in record {record}: cast it to dates, or to text to "
                "keep the time."
            )
        column = day
    dates = column.cast(pa.date32(), safe=False)
    days = dates.cast(pa.int32())
    outside = pc.or_(pc.less(days, EARLIEST), pc.greater(days, LATEST))
    if pc.any(outside).as_py():
        raise UserError(
            f"dates must lie in the years 1 to 9999; column {name!r} has another in record "
            f"{pc.index(outside, True).as_py()}: correct it or replace it by null."
        )
    return dates


def _without_tokens(values: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Null where a number, date or boolean prints as one of the tokens, or is it: -9, '-9.0'."""
    tokens = [token for token in tokens if token.strip()]
    if not tokens:
        return values
    missing = pc.is_in(values.cast(pa.string()), value_set=pa.array(tokens, pa.string()))
    numbers = []
    for token in tokens:
        with suppress(ValueError):
            numbers.append(float(token))
    if types.is_integer(values.type):
        numbers = [one for one in numbers if one.is_integer() and abs(one) < EXACT_INTEGERS]
    if types.is_integer(values.type) or types.is_floating(values.type):
        known = pa.array(numbers, pa.float64()).cast(values.type)
        missing = pc.or_(missing, pc.is_in(values, value_set=known))
    return pc.if_else(missing, pa.scalar(None, values.type), values)
