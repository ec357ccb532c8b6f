"""Text to numbers and dates, column by column, from all of its values.

A column becomes numeric only if nothing is lost by it: `01234` keeps its zero, and an integer
that 64 bits cannot hold keeps its digits. What can be read in two ways stays text, with a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.written.dates import (
    EXCEL,
    check_date_format,
    date_readings,
    dates_as_told,
    looks_like_a_date,
    no_such_date,
    without_midnight,
)
from indiff.data.reading.written.hints import date_number_note
from indiff.data.reading.written.numbers import (
    DECIMALS,
    NumberReading,
    looks_like_a_number,
    number_readings,
    proven_decimal,
)
from indiff.errors import Message, UserError, option

NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TWO_DIGITS = r"^[0-9]{1,2}(?:\.[0-9]{1,2}\.|/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{2}$"
EXACT_INTEGERS = 2**53  # a float holds every whole number below this
SURE_DIGITS = 15  # so many decimal digits survive in a float
BLANKS = " \t"

Converted = tuple[pa.ChunkedArray | None, list[str]]


class Typed(NamedTuple):
    """A column, what was decided, what must be asked, and what it shows of its file.

    That is the decimal sign, and whether its first record seems to be the header.
    """

    values: pa.ChunkedArray
    notes: list[str]
    question: UserError | None = None
    decimal: str | None = None
    begins_with_header: bool = False
    is_rewritten: bool = False
    """Whether the values are not the text as a program would read it."""


@dataclass(frozen=True)
class Formats:
    """How numbers and dates are written: what was said of it, and whether the rest is found out.

    ``proven`` is the decimal sign that other columns of the file prove.
    """

    decimal: str | None = None
    date_format: str | Mapping[str, str] | None = None
    detect: bool = True
    proven: str | None = None
    header_row: int = 1

    def __post_init__(self) -> None:
        if self.decimal not in (None, *DECIMALS):
            raise UserError("decimal must be '.' or ','", repr(self.decimal), field="decimal")
        told = self.date_format
        for one in told.values() if isinstance(told, Mapping) else [told] if told else []:
            check_date_format(one)

    def date_of(self, name: str) -> tuple[str | None, bool]:
        """Return the date format that was given for a column, and whether for it alone."""
        if isinstance(self.date_format, Mapping):
            return self.date_format.get(name), True
        return self.date_format, False


AS_WRITTEN = Formats(detect=False)


def without_missing(text: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Return the column with null for every value that is a token, blanks around it aside.

    >>> without_missing(pa.chunked_array([["a", " ?", ""]]), ["?"]).to_pylist()
    ['a', None, '']
    """
    if not tokens:
        return text
    missing = pc.match_substring_regex(text, missing_pattern(tokens))
    if not pc.any(missing).as_py():
        return text
    return pc.if_else(missing, pa.scalar(None, pa.string()), text)


def missing_pattern(tokens: Sequence[str]) -> str:
    r"""Return the regular expression of a missing value: a token, with blanks around it or none.

    >>> missing_pattern(["", "?"])
    '^[ \\t]*(?:|\\?)[ \\t]*$'
    """
    return rf"^[ \t]*(?:{'|'.join(map(re.escape, tokens))})[ \t]*$"


def typed(name: str, text: pa.ChunkedArray, formats: Formats = Formats()) -> Typed:  # noqa: B008
    """Return a text column as integers, floats or dates where all its values are, else as text.

    Blanks around a number or date do not count; in text they are kept.

    >>> typed("zip", pa.chunked_array([["01234", "4321"]])).notes
    ["column 'zip' has leading zeros (first in record 0): kept as text"]
    >>> typed("height", pa.chunked_array([["1,65", "2"]])).values.to_pylist()
    [1.65, 2.0]
    """
    if text.null_count == len(text):
        return Typed(text, [f"column {name!r} has no values at all: read as text"])
    bare = pc.ascii_trim(text, characters=BLANKS)
    dates = told_dates(name, bare, formats)
    if dates is not None:
        return Typed(dates, [], is_rewritten=True)
    integers = _canonical_integers(text)
    if integers is not None:
        return Typed(integers, date_number_note(name, integers) if formats.detect else [])
    found = _as_numbers(name, bare, formats) or _as_dates(name, bare, formats)
    if found is not None and found.values is not None:
        return Typed(found.values, found.notes, None, found.decimal, False, found.is_rewritten)
    found = found or _as_text(name, bare, formats)
    padded = pc.not_equal(text, bare)
    if pc.any(padded).as_py():
        found.notes.append(f"column {name!r} has blanks around values ({_first(padded)}): kept")
    return Typed(text, *found[1:])


def told_dates(name: str, text: pa.ChunkedArray, formats: Formats) -> pa.ChunkedArray | None:
    """Return the dates in the format that was given, or None where there is none for the column."""
    told, alone = formats.date_of(name)
    if told is None or (told == EXCEL and not alone):
        return None
    dates, record = dates_as_told(text, told)
    if dates is None and alone:
        raise no_such_date(name, text, record, told)
    return dates


def _canonical_integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The fast way: integers that print again exactly as they were written."""
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), text))
    return integers if same.as_py() else None


class _Found(NamedTuple):
    """What a column may be: without values, it stays text."""

    values: pa.ChunkedArray | None
    notes: list[str]
    question: UserError | None = None
    decimal: str | None = None
    begins_with_header: bool = False
    is_rewritten: bool = False


def _as_numbers(name: str, text: pa.ChunkedArray, formats: Formats) -> _Found | None:
    """Return numbers, or why the column stays text; nothing where not all values are numbers."""
    ways = number_readings(text, formats.decimal)
    if not formats.detect and formats.decimal is None:
        ways = [way for way in ways if way.is_plain]
    if not ways:
        if formats.decimal == "," and pc.any(pc.match_substring(text, ".")).as_py():
            return None
        whole = pc.all(pc.match_substring_regex(text, NUMBER)).as_py()
        return _Found(*_numbers(name, text)) if whole else None
    proven = [way for way in ways if way.decimal == formats.proven]
    if len(ways) > 1 and len(proven) != 1:
        return _Found(None, [], _which_decimal(name))
    way = ways[0] if len(ways) == 1 else proven[0]
    numbers, notes = _numbers(name, way.plain)
    if numbers is not None and not way.is_plain:
        notes.append(_number_note(name, text, way, by_others=len(ways) > 1))
    decimal = proven_decimal(ways, text) if numbers is not None else None
    return _Found(numbers, notes, None, decimal, is_rewritten=not way.is_plain)


def _number_note(name: str, text: pa.ChunkedArray, way: NumberReading, *, by_others: bool) -> str:
    values = len(text) - text.null_count
    why = ", as other columns of the file show" if by_others else ""
    return (
        f"column {name!r} is read as numbers with {way.words}{why}: {way.written_so:,} of its "
        f"{values:,} values have such a sign"
    )


def _which_decimal(name: str) -> UserError:
    point, comma = option("decimal", "."), option("decimal", ",")
    return UserError(
        f"the numbers of column {name!r} must tell their decimal sign; in every one that has a "
        "sign, three digits follow it, as they follow thousands and could be a fraction",
        way_out=f"Give {point} where a fraction follows a point, {comma} where it follows a comma, "
        f"or {option('kinds', {name: 'categorical'})} to keep the text",
        field="decimal",
    )


def _as_dates(name: str, text: pa.ChunkedArray, formats: Formats) -> _Found | None:
    """Return dates, a question where they can be read in two ways, or nothing."""
    if pc.all(pc.match_substring_regex(text, DATE)).as_py():
        return _Found(*_dates(name, text))
    if not formats.detect:
        return None
    bare = without_midnight(text)
    if pc.all(pc.match_substring_regex(bare, TWO_DIGITS)).as_py():
        return _Found(None, [], _which_century(name))
    ways = date_readings(bare)
    if not ways:
        return None
    if len(ways) > 1:
        return _Found(None, [], _which_order(name, [way.format for way in ways]))
    values, way = len(text) - text.null_count, ways[0]
    note = f"column {name!r} is read as dates ({way.format}): all of its {values:,} values are"
    if way.proofs:
        note += f", {way.proofs:,} of them with a day above 12, which shows the order"
    return _Found(way.dates, [note], is_rewritten=True)


def _which_order(name: str, told: Sequence[str]) -> UserError:
    day, month = (option("date_format", {name: one}) for one in told)
    return UserError(
        f"the dates of column {name!r} must tell the day from the month; every one can be read in "
        "two ways",
        way_out=f"Give {day} where the day comes first, {month} where the month does, or "
        f"{option('kinds', {name: 'categorical'})} to keep the text",
        field="date_format",
    )


def _which_century(name: str) -> UserError:
    return UserError(
        f"the dates of column {name!r} must tell their century; their years have two digits",
        way_out="Write years of four digits into the file, or give "
        f"{option('kinds', {name: 'categorical'})} to keep the text",
        field="date_format",
    )


def _as_text(name: str, text: pa.ChunkedArray, formats: Formats) -> _Found:
    """Say it where most values look like dates or numbers, but not all."""
    values = len(text) - text.null_count
    for what, looks, way_out in (
        ("dates", looks_like_a_date, f"; where they are, give {option('date_format')}"),
        ("numbers", looks_like_a_number, ""),
    ):
        which = looks(text)
        count = pc.sum(which).as_py()
        if 2 * count < values or not formats.detect:
            continue
        kept = f"column {name!r} is kept as text:"
        if count == values:
            told = f"{kept} its values look like {what} that are not all written alike{way_out}"
            return _Found(None, [Message(told)])
        strange = pc.index(pc.invert(which), True).as_py()
        is_header = strange == 0 and count == values - 1 > 1
        if is_header:
            below = option("header_row", formats.header_row + 1)
            way_out += f"; where record 0 is the header, give {below}"
        told = (
            f"{kept} {count:,} of its {values:,} values are {what}, others not (first in record "
            f"{strange}){way_out}"
        )
        return _Found(None, [Message(told)], begins_with_header=is_header)
    return _Found(None, [])


def _numbers(name: str, text: pa.ChunkedArray) -> Converted:
    padded = pc.match_substring_regex(text, LEADING_ZERO)
    if pc.any(padded).as_py():
        return None, [f"column {name!r} has leading zeros ({_first(padded)}): kept as text"]
    fraction = pc.match_substring_regex(text, "[.eE]")
    if not pc.any(fraction).as_py():
        try:
            return text.cast(pa.int64()), []
        except pa.ArrowInvalid:
            return None, [f"column {name!r} has integers beyond 64 bits: kept as text"]
    floats = text.cast(pa.float64())
    if not pc.all(pc.is_finite(floats)).as_py():
        return None, [f"column {name!r} has numbers too large for a float: kept as text"]
    inexact = pc.and_(pc.invert(fraction), pc.greater_equal(pc.abs(floats), float(EXACT_INTEGERS)))
    if pc.any(inexact).as_py():
        return None, [
            f"column {name!r} mixes decimals with integers that a float cannot hold "
            f"({_first(inexact)}): kept as text"
        ]
    if _merges(text, floats):
        return None, [f"column {name!r} has numbers that a float cannot tell apart: kept as text"]
    return pc.add(floats, 0.0), []  # -0.0 becomes 0.0: one zero, not two


def _merges(text: pa.ChunkedArray, floats: pa.ChunkedArray) -> bool:
    """Tell whether different numbers become one float; fifteen digits and less never do."""
    distinct = pc.count_distinct(floats).as_py()
    if distinct == len(floats) - floats.null_count:
        return False
    written = text.drop_null().unique()
    long = pc.or_(
        pc.greater(pc.binary_length(written), SURE_DIGITS),
        pc.match_substring_regex(written, "[eE]"),
    )
    if not pc.any(long).as_py() or len(written) == distinct:
        return False
    try:
        numbers = {Decimal(number) for number in written.to_pylist()}
    except InvalidOperation:  # an exponent that no number has
        return True
    return len(numbers) > len(set(map(float, numbers)))


def _dates(name: str, text: pa.ChunkedArray) -> Converted:
    no_year = pc.starts_with(text, "0000")
    if pc.any(no_year).as_py():
        return None, [f"column {name!r} has years 0000 ({_first(no_year)}): kept as text"]
    try:
        return text.cast(pa.date32()), []
    except pa.ArrowInvalid:
        return None, [f"column {name!r} has dates that are not in the calendar: kept as text"]


def _first(which: pa.ChunkedArray) -> str:
    """Name the first such record by its number: notes are shown and stored, values are not."""
    return f"first in record {pc.index(which, True).as_py()}"
