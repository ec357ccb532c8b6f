"""The ways in which a column of text can be read as dates: day first, month first, or as told."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.kinds import Typed, all_match, first_of, question
from indiff.errors import UserError, from_data, option

EXCEL = "excel"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TWO_DIGITS = r"^[0-9]{1,2}(?:\.[0-9]{1,2}\.|/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{2}$"
_MIDNIGHT = r"[T ]00:00(?::00(?:\.0+)?)?Z?$"
_SIGNS = {".": r"\.", "/": "/", "-": "-"}


class DateReading(NamedTuple):
    """One way to read a column: its format, the dates, and how many values have no other way."""

    format: str
    dates: pa.ChunkedArray
    proofs: int = 0


def check_date_format(text: object) -> None:
    """Refuse what is no date format."""
    if text == EXCEL:
        return
    signs = re.findall(r"(?s)%(.|$)", text) if isinstance(text, str) else []
    if "y" in signs:
        raise UserError(
            "a year of two digits does not tell its century",
            f"{text!r}",
            "Write years of four digits into the file, then give %Y",
            field="date_format",
        )
    told = sorted(sign for sign in signs if sign != "%")
    if told not in [sorted(f"dY{month}") for month in "mbB"]:
        raise UserError(
            f"{option('date_format')} must have %d (day), %m (month; %b or %B: its English name) "
            "and %Y (year), each once, or be 'excel'",
            f"{text!r}",
            "Write for example %d.%m.%Y for 04.07.1976",
            field="date_format",
        )


def as_dates(name: str, text: pa.ChunkedArray, detect: bool) -> Typed | None:
    """Return the column as dates, or as text that says why not; None: another kind."""
    if all_match(text, DATE):
        no_year = pc.starts_with(text, "0000")
        if pc.any(no_year).as_py():
            return Typed(
                text, [f"column {name!r} has years 0000 ({first_of(no_year)}): kept as text"]
            )
        try:
            return Typed(text.cast(pa.date32()), [])
        except pa.ArrowInvalid:
            why = f"column {name!r} has dates that are not in the calendar: kept as text"
            return Typed(text, [why])
    if not detect:
        return None
    bare = pc.replace_substring_regex(text, _MIDNIGHT, "")
    if all_match(bare, TWO_DIGITS):
        asked = question(
            name,
            "date_format",
            f"the dates of column {name!r} must tell their century; their years have two digits",
            "Write years of four digits into the file, or give",
        )
        return Typed(text, [], asked)
    ways = date_readings(bare)
    if not ways:
        return None
    if len(ways) > 1:
        day, month = (option("date_format", {name: way.format}) for way in ways)
        asked = question(
            name,
            "date_format",
            f"the dates of column {name!r} must tell the day from the month; every one can be "
            "read in two ways",
            f"Give {day} where the day comes first, {month} where the month does, or",
        )
        return Typed(text, [], asked)
    values, way = len(text) - text.null_count, ways[0]
    note = f"column {name!r} is read as dates ({way.format}): all of its {values:,} values are"
    if way.proofs:
        note += f", {way.proofs:,} of them with a day above 12, which shows the order"
    return Typed(way.dates, [note], is_rewritten=True)


def date_readings(text: pa.ChunkedArray) -> list[DateReading]:
    """Return every way to read all values as dates of the calendar."""
    for sign, escaped in _SIGNS.items():
        if all_match(text, f"^[0-9]{{4}}{escaped}[0-9]{{1,2}}{escaped}[0-9]{{1,2}}$"):
            orders = [("Y", "m", "d")]
        elif all_match(text, f"^[0-9]{{1,2}}{escaped}[0-9]{{1,2}}{escaped}[0-9]{{4}}$"):
            orders = [("d", "m", "Y"), ("m", "d", "Y")]
        else:
            continue
        ways = []
        for order in orders:
            told = sign.join(f"%{part}" for part in order)
            dates, _ = dates_as_told(text, told)
            if dates is not None:
                ways.append(DateReading(told, dates, _proofs(text, order.index("d"), escaped)))
        if len(ways) == 2 and ways[0].dates.equals(ways[1].dates):
            return ways[:1]
        return ways
    return []


def _proofs(text: pa.ChunkedArray, place: int, sign: str) -> int:
    """Count the values whose day, above 12, cannot be a month: in the first place or the second."""
    before = f"[0-9]+{sign}" if place else ""
    pattern = f"^{before}(?:1[3-9]|2[0-9]|3[01]){sign}"
    return pc.sum(pc.match_substring_regex(text, pattern)).as_py() or 0


def told_dates(
    name: str, text: pa.ChunkedArray, told: str | Mapping[str, str] | None
) -> pa.ChunkedArray | None:
    """Return the dates in the format that was given, or None where there is none for the column."""
    alone = isinstance(told, Mapping)
    one = told.get(name) if isinstance(told, Mapping) else told
    if one is None or (one == EXCEL and not alone):
        return None
    dates, record = dates_as_told(text, one)
    if dates is None and alone:
        raise UserError(
            f"every value of column {name!r} must be a date as {option('date_format')} says "
            f"({one})",
            f"{from_data(text[record].as_py())} in record {record}",
            "Correct the value or the format",
            field="date_format",
        )
    return dates


def dates_as_told(text: pa.ChunkedArray, told: str) -> tuple[pa.ChunkedArray | None, int]:
    """Return the dates in a format that was given; or None and the first record that is none."""
    made: dict[str, datetime.date] = {}
    for value in text.drop_null().unique().to_pylist():
        try:
            strict = datetime.datetime.strptime
            made[value] = _serial(value) if told == EXCEL else strict(value, told).date()
        except (ValueError, OverflowError):
            return None, pc.index(text, value).as_py()
    places = pc.index_in(text, value_set=pa.array(list(made), pa.string()))
    return pa.chunked_array([pa.array(list(made.values()), pa.date32())]).take(places), -1


def _serial(value: str) -> datetime.date:
    """Count as Excel does, for which 1900 had a 29 February: earlier days are one further on."""
    number = float(value)
    if not number.is_integer() or not 0 < number <= 2_958_465 or number == 60:
        raise ValueError(value)
    return datetime.date(1899, 12, 30) + datetime.timedelta(days=int(number) + (number < 60))
