"""Text to numbers and dates, column by column, from all of its values.

A column becomes numeric only if nothing is lost by it: `01234` keeps its zero, and an integer
that 64 bits cannot hold keeps its digits. What can be read in two ways stays text, with a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.dates import (
    all_match,
    any_match,
    date_number_note,
    date_readings,
    looks_like_a_date,
    told_dates,
    without_midnight,
)
from indiff.data.reading.input_files import Reading
from indiff.errors import Message, UserError, option

NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TWO_DIGITS = r"^[0-9]{1,2}(?:\.[0-9]{1,2}\.|/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{2}$"
EXACT_INTEGERS = 2**53  # a float holds every whole number below this
SURE_DIGITS = 15  # so many decimal digits survive in a float
BLANKS = " \t"
# The signs that may stand in a number, as patterns and in words.
_SIGNS = {".": r"\.", ",": ",", "'": "['’]", " ": "[ \u00a0\u2009\u202f]"}
_NAMES = {".": "a point", ",": "a comma", "'": "an apostrophe", " ": "a blank"}
_NO_POINT = "[,'’ \u00a0\u2009\u202f]"
_ANY_SIGN = "[.,'’ \u00a0\u2009\u202f]"
_IN_NUMBERS = "[0-9.,'’ \u00a0\u2009\u202feE+-]"
_IN_DATES = "^[0-9./-]+(?:[T ]00:00[0:.Z]*)?$"


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


def without_missing(text: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Return the column with null for every value that is a token, blanks around it aside."""
    if not tokens:
        return text
    missing = pc.match_substring_regex(text, missing_pattern(tokens))
    if not pc.any(missing).as_py():
        return text
    return pc.if_else(missing, pa.scalar(None, pa.string()), text)


def missing_pattern(tokens: Sequence[str]) -> str:
    """Return the regular expression of a missing value: a token, with blanks around it or none."""
    return rf"^[ \t]*(?:{'|'.join(map(re.escape, tokens))})[ \t]*$"


def typed_columns(cells: Mapping[str, pa.ChunkedArray], reading: Reading) -> dict[str, Typed]:
    """Return the columns of one file as numbers, dates or text.

    What one column leaves open is decided by the decimal sign that the others prove.
    """
    read = {name: typed(name, column, reading) for name, column in cells.items()}
    proven = {one.decimal for one in read.values() if one.decimal is not None}
    if len(proven) == 1:
        sign = proven.pop()
        for name, one in read.items():
            if one.question is not None and one.question.field == "decimal":
                read[name] = typed(name, cells[name], reading, sign)
    return read


def typed(
    name: str, text: pa.ChunkedArray, reading: Reading | None = None, proven: str | None = None
) -> Typed:
    """Return a text column as integers, floats or dates where all its values are, else as text.

    Blanks around a number or date do not count; in text they are kept.

    >>> typed("zip", pa.chunked_array([["01234", "4321"]])).notes
    ["column 'zip' has leading zeros (first in record 0): kept as text"]
    >>> typed("height", pa.chunked_array([["1,65", "2"]])).values.to_pylist()
    [1.65, 2.0]
    """
    reading = reading or Reading()
    if text.null_count == len(text):
        return Typed(text, [f"column {name!r} has no values at all: read as text"])
    bare = pc.ascii_trim(text, characters=BLANKS)
    dates = told_dates(name, bare, reading.date_format)
    if dates is not None:
        return Typed(dates, [], is_rewritten=True)
    integers = _canonical_integers(text)
    if integers is not None:
        return Typed(integers, date_number_note(name, integers) if reading.detect else [])
    found = None
    if all_match(bare, f"^{_IN_NUMBERS}+$"):
        found = _as_numbers(name, bare, reading, proven)
    if found is None and all_match(bare, _IN_DATES):
        found = _as_dates(name, bare, reading.detect)
    if found is None:
        found = _as_text(name, bare, reading)
    if found.values is not bare:
        return found
    padded = pc.not_equal(text, bare)
    if pc.any(padded).as_py():
        found.notes.append(f"column {name!r} has blanks around values ({_first(padded)}): kept")
    return found._replace(values=text)


def _canonical_integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The fast way: integers that print again exactly as they were written."""
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), text))
    return integers if same.as_py() else None


# Each of these returns the text itself where it stays text, and nothing for another kind.


def _as_numbers(
    name: str, text: pa.ChunkedArray, reading: Reading, proven: str | None
) -> Typed | None:
    ways = number_readings(text, reading.decimal)
    if not reading.detect and reading.decimal is None:
        ways = [way for way in ways if way.is_plain]
    if not ways:
        pointed = reading.decimal == "," and pc.any(pc.match_substring(text, ".")).as_py()
        if pointed or not all_match(text, NUMBER):
            return None
        ways = [NumberReading(".", None, text, 0)]
    fitting = ways if len(ways) == 1 else [way for way in ways if way.decimal == proven]
    if len(fitting) != 1:
        question = _question(
            name,
            "decimal",
            f"the numbers of column {name!r} must tell their decimal sign; in every one that has "
            "a sign, three digits follow it, as they follow thousands and could be a fraction",
            f"Give {option('decimal', '.')} where a fraction follows a point, "
            f"{option('decimal', ',')} where it follows a comma, or",
        )
        return Typed(text, [], question)
    way = fitting[0]
    numbers, notes = _numbers(name, way.plain)
    if numbers is None:
        return Typed(text, notes)
    if not way.is_plain:
        why = ", as other columns of the file show" if len(ways) > 1 else ""
        notes.append(
            f"column {name!r} is read as numbers with {way.words}{why}: {way.written_so:,} of its "
            f"{len(text) - text.null_count:,} values have such a sign"
        )
    shows = way.group in (".", ",") or pc.any(pc.match_substring(text, way.decimal)).as_py()
    decimal = way.decimal if len(ways) == 1 and shows else None
    return Typed(numbers, notes, None, decimal, is_rewritten=not way.is_plain)


@dataclass(frozen=True)
class NumberReading:
    """One way to read a column: its signs, and the numbers as a program writes them."""

    decimal: str
    group: str | None
    plain: pa.ChunkedArray
    written_so: int

    @property
    def is_plain(self) -> bool:
        """Whether the text is as a program writes numbers."""
        return self.decimal == "." and self.group is None

    @property
    def words(self) -> str:
        """The signs in words."""
        signs = [] if self.decimal == "." else [f"{_NAMES[self.decimal]} before the fraction"]
        if self.group is not None:
            signs.append(f"{_NAMES[self.group]} between thousands")
        return " and ".join(signs)


def number_readings(text: pa.ChunkedArray, decimal: str | None = None) -> list[NumberReading]:
    """Return every way to read all values as numbers; those that give the same numbers once.

    Thousands are groups of three behind one to three digits; whoever writes groups may leave out
    the sign in numbers of four digits, not in longer ones. Every value is made of the signs that
    numbers have.
    """
    found: list[NumberReading] = []
    signed, groups = pc.match_substring(text, "."), ["."]
    if any_match(text, _NO_POINT):
        signed = pc.match_substring_regex(text, _ANY_SIGN)
        groups = [sign for sign, pattern in _SIGNS.items() if any_match(text, pattern)]
    if not pc.any(signed).as_py():
        return found
    for sign in (".", ",") if decimal is None else (decimal,):
        for group in (None, *groups):
            if group == sign or not all_match(text, _number_pattern(sign, group)):
                continue
            plain = text if group is None else pc.replace_substring_regex(text, _SIGNS[group], "")
            plain = plain if sign == "." else pc.replace_substring(plain, sign, ".")
            if not any(plain.equals(other.plain) for other in found):
                found.append(NumberReading(sign, group, plain, pc.sum(signed).as_py() or 0))
    return found


def _number_pattern(decimal: str, group: str | None) -> str:
    whole, exponent, sign = "[0-9]+", "(?:[eE][+-]?[0-9]+)?", _SIGNS[decimal]
    if group is not None:
        whole = f"(?:[1-9][0-9]{{0,2}}(?:{_SIGNS[group]}[0-9]{{3}})+|[0-9]{{1,4}})"
        exponent = ""
    return f"^-?(?:{whole}(?:{sign}[0-9]*)?|{sign}[0-9]+){exponent}$"


def _question(name: str, field: str, rule: str, way_out: str) -> UserError:
    keep = f"{option('kinds', {name: 'categorical'})} to keep the text"
    return UserError(rule, way_out=f"{way_out} {keep}", field=field)


def _as_dates(name: str, text: pa.ChunkedArray, detect: bool) -> Typed | None:
    if all_match(text, DATE):
        no_year = pc.starts_with(text, "0000")
        if pc.any(no_year).as_py():
            return Typed(
                text, [f"column {name!r} has years 0000 ({_first(no_year)}): kept as text"]
            )
        try:
            return Typed(text.cast(pa.date32()), [])
        except pa.ArrowInvalid:
            why = f"column {name!r} has dates that are not in the calendar: kept as text"
            return Typed(text, [why])
    if not detect:
        return None
    bare = without_midnight(text)
    if all_match(bare, TWO_DIGITS):
        question = _question(
            name,
            "date_format",
            f"the dates of column {name!r} must tell their century; their years have two digits",
            "Write years of four digits into the file, or give",
        )
        return Typed(text, [], question)
    ways = date_readings(bare)
    if not ways:
        return None
    if len(ways) > 1:
        day, month = (option("date_format", {name: way.format}) for way in ways)
        question = _question(
            name,
            "date_format",
            f"the dates of column {name!r} must tell the day from the month; every one can be "
            "read in two ways",
            f"Give {day} where the day comes first, {month} where the month does, or",
        )
        return Typed(text, [], question)
    values, way = len(text) - text.null_count, ways[0]
    note = f"column {name!r} is read as dates ({way.format}): all of its {values:,} values are"
    if way.proofs:
        note += f", {way.proofs:,} of them with a day above 12, which shows the order"
    return Typed(way.dates, [note], is_rewritten=True)


def _looks_like_a_number(text: Any) -> Any:
    return pc.match_substring_regex(text, f"^[-+−]?[.,]?[0-9]{_IN_NUMBERS}*$")


def _as_text(name: str, text: pa.ChunkedArray, reading: Reading) -> Typed:
    """Say it where most values look like dates or numbers, but not all."""
    values = len(text) - text.null_count
    written = text.unique()  # most columns of text have few different values
    for what, looks, way_out in (
        ("dates", looks_like_a_date, f"; where they are, give {option('date_format')}"),
        ("numbers", _looks_like_a_number, ""),
    ):
        if not reading.detect or not pc.any(looks(written)).as_py():
            continue
        which = looks(text)
        count = pc.sum(which).as_py()
        if 2 * count < values:
            continue
        kept = f"column {name!r} is kept as text:"
        if count == values:
            told = f"{kept} its values look like {what} that are not all written alike{way_out}"
            return Typed(text, [Message(told)])
        strange = pc.index(pc.invert(which), True).as_py()
        is_header = strange == 0 and count == values - 1 > 1
        if is_header:
            below = option("header_row", (reading.header_row or 1) + 1)
            way_out += f"; where record 0 is the header, give {below}"
        told = (
            f"{kept} {count:,} of its {values:,} values are {what}, others not (first in record "
            f"{strange}){way_out}"
        )
        return Typed(text, [Message(told)], begins_with_header=is_header)
    return Typed(text, [])


def _numbers(name: str, text: pa.ChunkedArray) -> tuple[pa.ChunkedArray | None, list[str]]:
    """Return integers or floats, or why the text must be kept."""
    padded = pc.match_substring_regex(text, LEADING_ZERO)
    if pc.any(padded).as_py():
        return None, [f"column {name!r} has leading zeros ({_first(padded)}): kept as text"]
    if not pc.any(pc.match_substring(text, ".")).as_py() and not any_match(text, "[eE]"):
        try:
            return text.cast(pa.int64()), []
        except pa.ArrowInvalid:
            return None, [f"column {name!r} has integers beyond 64 bits: kept as text"]
    floats = text.cast(pa.float64())
    if not pc.all(pc.is_finite(floats)).as_py():
        return None, [f"column {name!r} has numbers too large for a float: kept as text"]
    large = pc.greater_equal(pc.abs(floats), float(EXACT_INTEGERS))
    if pc.any(large).as_py():
        inexact = pc.and_(large, pc.invert(pc.match_substring_regex(text, "[.eE]")))
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
    if pc.max(pc.binary_length(text)).as_py() <= SURE_DIGITS and not any_match(text, "[eE]"):
        return False
    distinct = pc.count_distinct(floats).as_py()
    if distinct == len(floats) - floats.null_count:
        return False
    written = text.drop_null().unique()
    if len(written) == distinct:
        return False
    try:
        numbers = {Decimal(number) for number in written.to_pylist()}
    except InvalidOperation:  # an exponent that no number has
        return True
    return len(numbers) > len(set(map(float, numbers)))


def _first(which: pa.ChunkedArray) -> str:
    """Name the first such record by its number: notes are shown and stored, values are not."""
    return f"first in record {pc.index(which, True).as_py()}"
