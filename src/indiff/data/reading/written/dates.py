"""The ways in which a column of text can be read as dates: day first, month first, or as told."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from indiff.errors import UserError, from_data

EXCEL = "excel"
_DAY_ZERO = datetime.date(1899, 12, 30)
_MIDNIGHT = r"[T ]00:00(?::00(?:\.0+)?)?Z?$"
_SIGNS = {".": r"\.", "/": "/", "-": "-"}
_DIRECTIVES = re.compile(r"%(.)")


@dataclass(frozen=True)
class DateReading:
    """One way to read a column: its format, the dates, and how many values have no other way."""

    format: str
    dates: pa.ChunkedArray
    proofs: int = 0


def check_date_format(text: object) -> str:
    """Return a date format, or refuse what is none.

    >>> check_date_format("%d.%m.%Y")
    '%d.%m.%Y'
    """
    known = {"d", "m", "Y", "b", "B", "%"}
    if isinstance(text, str) and text == EXCEL:
        return text
    signs = set(_DIRECTIVES.findall(text)) if isinstance(text, str) else set()
    if "y" in signs:
        raise UserError(
            "a year of two digits does not tell its century",
            f"{text!r}",
            "Write years of four digits into the file, then give %Y",
            field="date_format",
        )
    if not {"d", "Y"} <= signs <= known or not signs & {"m", "b", "B"}:
        raise UserError(
            "date_format must be made of %d (day), %m (month; %b and %B: its English name) and %Y "
            "(year), or be 'excel'",
            f"{text!r}",
            "Write for example %d.%m.%Y for 04.07.1976",
            field="date_format",
        )
    assert isinstance(text, str)
    return text


def without_midnight(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the text without times of day that are all midnight.

    >>> without_midnight(pa.chunked_array([["1976-07-04 00:00:00", None]])).to_pylist()
    ['1976-07-04', None]
    """
    if not pc.any(pc.match_substring_regex(text, _MIDNIGHT)).as_py():
        return text
    return pc.replace_substring_regex(text, _MIDNIGHT, "")


def date_readings(text: pa.ChunkedArray) -> list[DateReading] | None:
    """Return every way to read all values as dates of the calendar; None where none looks so.

    >>> [way.format for way in date_readings(pa.chunked_array([["29/07/1953", "4/7/1976"]]))]
    ['%d/%m/%Y']
    >>> [way.format for way in date_readings(pa.chunked_array([["04/07/1976"]]))]
    ['%d/%m/%Y', '%m/%d/%Y']
    """
    for sign, escaped in _SIGNS.items():
        if _all(text, f"^[0-9]{{4}}{escaped}[0-9]{{1,2}}{escaped}[0-9]{{1,2}}$"):
            found = _read(text, f"%Y{sign}%m{sign}%d")
            return [] if found is None else [found]
        if _all(text, f"^[0-9]{{1,2}}{escaped}[0-9]{{1,2}}{escaped}[0-9]{{4}}$"):
            ways = [_read(text, f"%{a}{sign}%{b}{sign}%Y") for a, b in ("dm", "md")]
            kept = [way for way in ways if way is not None]
            if len(kept) == 2 and kept[0].dates.equals(kept[1].dates):
                return kept[:1]
            return [_proven(text, way, sign) for way in kept]
    return None


def looks_like_a_date(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell for each value whether it has the shape of a date, a valid one or not."""
    month = "(?:jan|feb|m[aä]r|apr|ma[yi]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*"
    shapes = (
        "[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:[T ][0-9:.+Z-]*)?",
        f"[0-9]{{1,2}}[. -]+{month}[. ,-]+[0-9]{{2,4}}",
        f"{month}[. ]+[0-9]{{1,2}}(?:st|nd|rd|th)?,? +[0-9]{{4}}",
    )
    return pc.match_substring_regex(text, f"(?i)^(?:{'|'.join(shapes)})$")


def dates_as_told(text: pa.ChunkedArray, told: str) -> tuple[pa.ChunkedArray | None, int]:
    """Return the dates in a format that was given; or None and the first record that is none."""
    made: dict[str, datetime.date] = {}
    read: Callable[[str], datetime.date] = _serial if told == EXCEL else _strict(told)
    for value in text.drop_null().unique().to_pylist():
        try:
            made[value] = read(value)
        except (ValueError, OverflowError):
            return None, pc.index(text, value).as_py()
    return _mapped(text, made), -1


def no_such_date(name: str, text: pa.ChunkedArray, record: int, told: str) -> UserError:
    """Return the error for a value that is no date in the format that its column was said to have.

    It is for a format that was given for this column.
    """
    return UserError(
        f"every value of column {name!r} must be a date as date_format says ({told})",
        f"{from_data(text[record].as_py())} in record {record}",
        "Correct the value or the format",
        field="date_format",
    )


def _strict(told: str) -> Callable[[str], datetime.date]:
    return lambda value: datetime.datetime.strptime(value, told).date()


def _serial(value: str) -> datetime.date:
    """Count as Excel does, for which 1900 had a 29 February: earlier days are one further on."""
    number = float(value)
    if not number.is_integer() or not 0 < number <= 2_958_465 or number == 60:
        raise ValueError(value)
    return _DAY_ZERO + datetime.timedelta(days=int(number) + (number < 60))


def _all(text: pa.ChunkedArray, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(text, pattern)).as_py() is True


def _read(text: pa.ChunkedArray, told: str) -> DateReading | None:
    dates, _ = dates_as_told(text, told)
    return None if dates is None else DateReading(told, dates)


def _proven(text: pa.ChunkedArray, way: DateReading, sign: str) -> DateReading:
    """Count the values whose day, above 12, cannot be a month."""
    day = "(?:1[3-9]|2[0-9]|3[01])"
    pattern = f"^{day}" if way.format.startswith("%d") else f"^[0-9]+{_SIGNS[sign]}{day}"
    proofs = pc.sum(pc.match_substring_regex(text, f"{pattern}{_SIGNS[sign]}")).as_py()
    return DateReading(way.format, way.dates, proofs or 0)


def _mapped(text: pa.ChunkedArray, made: dict[str, datetime.date]) -> pa.ChunkedArray:
    places = pc.index_in(text, value_set=pa.array(list(made), pa.string()))
    return pa.chunked_array([pa.array(list(made.values()), pa.date32())]).take(places)
