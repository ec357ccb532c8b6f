"""Python values of any types (pandas' object columns, spreadsheet cells) to one Arrow column."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from indiff.data.reading.kinds import EXACT_INTEGERS
from indiff.errors import UserError, from_data

FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("boolean", (bool, np.bool_)),
    ("integer", (int, np.integer)),
    ("float", (float, np.floating)),
    ("decimal", (decimal.Decimal,)),
    ("text", (str,)),
    ("date", (datetime.date,)),  # its subclass datetime too, at midnight
)


def column_of(
    name: str, values: Sequence[object], *, merge_equal_texts: bool = False
) -> tuple[pa.Array, list[str]]:
    """Return the values as one Arrow array, None as null, and a note where types are mixed.

    Mixed types become the text of each value. Where that would make a number and a text the same
    value (1 and "1") it is an error, unless `merge_equal_texts`: a spreadsheet shows them alike.

    >>> column_of("dose", [1, "high", None])
    (<pyarrow.lib.StringArray object at ...>
    [
      "1",
      "high",
      null
    ], ["column 'dose' mixes integer and text: read as text"])
    """
    families = _families(name, values)
    if families <= {"text"} or families <= {"boolean"}:
        return _array(name, values), []
    if families == {"decimal"}:
        return _decimals(name, values)
    if families == {"integer"}:
        return _integers(name, values)
    if families <= {"integer", "float"}:
        return _numbers(name, values)
    if families == {"date"}:
        return pa.array([_date(name, value) for value in values], pa.date32()), []
    return _mixed(name, values, families, merge_equal_texts)


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
        record = next(i for i, value in enumerate(values) if _is_broken(value))
        raise UserError(
            f"text must be valid Unicode; column {name!r} has half a surrogate pair in record "
            f"{record} ({from_data(str(values[record])[:40])}): replace it."
        ) from None


def _is_broken(value: object) -> bool:
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)


def _integers(name: str, values: Sequence[object]) -> tuple[pa.Array, list[str]]:
    try:
        return pa.array(values, pa.int64()), []
    except (OverflowError, pa.ArrowInvalid):
        note = f"column {name!r} has integers beyond 64 bits: kept as text"
        return _array(name, [None if v is None else str(v) for v in values]), [note]


def _decimals(name: str, values: Sequence[object]) -> tuple[pa.Array, list[str]]:
    """Decimals of one precision, or the text of each where Arrow has no precision for them all."""
    for record, value in enumerate(values):
        if isinstance(value, decimal.Decimal) and not value.is_finite():
            raise UserError(
                f"numbers must be finite; column {name!r} has {from_data(value, str)} in record "
                f"{record}: replace it by a number or by null."
            )
    try:
        return pa.array(values), []
    except pa.ArrowInvalid:
        note = f"column {name!r} has decimals of too many digits: kept as text"
        return _array(name, [None if v is None else _digits(v) for v in values]), [note]


def _digits(value: object) -> str:
    """Equal decimals as equal texts, whatever their exponents: 1E+2 and 100.0 are 100."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _numbers(name: str, values: Sequence[object]) -> tuple[pa.Array, list[str]]:
    inexact = any(
        isinstance(value, int | np.integer) and abs(int(value)) > EXACT_INTEGERS for value in values
    )
    if inexact:
        note = (
            f"column {name!r} mixes decimals with integers that a float cannot hold: kept as text"
        )
        return _array(name, [None if v is None else _text(name, v) for v in values]), [note]
    return pa.array([None if v is None else float(v) for v in values], pa.float64()), []  # type: ignore[arg-type]


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


def _mixed(
    name: str, values: Sequence[object], families: set[str], merge_equal_texts: bool
) -> tuple[pa.Array, list[str]]:
    texts = [None if value is None else _text(name, value) for value in values]
    words = {value for value in values if isinstance(value, str)}
    if not merge_equal_texts:
        for value, text in zip(values, texts, strict=True):
            if text in words and not isinstance(value, str):
                raise UserError(
                    f"a column must not mix a value with its own text; column {name!r} has both "
                    f"{from_data(value)} and {from_data(text)}: cast the column to text or to "
                    "numbers."
                )
    kinds = " and ".join(word for word, _ in FAMILIES if word in families)
    return _array(name, texts), [f"column {name!r} mixes {kinds}: read as text"]


def _text(name: str, value: object) -> str:
    if isinstance(value, datetime.date):
        return str(value) if _is_timed(value) else str(_date(name, value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _is_timed(value: datetime.date) -> bool:
    return isinstance(value, datetime.datetime) and value.time() != datetime.time.min
