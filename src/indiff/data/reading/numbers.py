"""The ways in which a column of text can be read as numbers: which sign stands before a fraction.

A column becomes numeric only if nothing is lost by it: `01234` keeps its zero, and an integer
that 64 bits cannot hold keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.input_files import Reading
from indiff.data.reading.kinds import Typed, all_match, any_match, first_of, question
from indiff.errors import option

NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
EXACT_INTEGERS = 2**53  # a float holds every whole number below this
SURE_DIGITS = 15  # so many decimal digits survive in a float
# The signs that may stand in a number, as patterns and in words.
_SIGNS = {".": r"\.", ",": ",", "'": "['’]", " ": "[ \u00a0\u2009\u202f]"}
_NAMES = {".": "a point", ",": "a comma", "'": "an apostrophe", " ": "a blank"}
_NO_POINT = "[,'’ \u00a0\u2009\u202f]"
_ANY_SIGN = "[.,'’ \u00a0\u2009\u202f]"


def as_numbers(
    name: str, text: pa.ChunkedArray, reading: Reading, proven: str | None
) -> Typed | None:
    """Return the column as numbers, or as text that says why not; None: another kind."""
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
        asked = question(
            name,
            "decimal",
            f"the numbers of column {name!r} must tell their decimal sign; in every one that has "
            "a sign, three digits follow it, as they follow thousands and could be a fraction",
            f"Give {option('decimal', '.')} where a fraction follows a point, "
            f"{option('decimal', ',')} where it follows a comma, or",
        )
        return Typed(text, [], asked)
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


def _numbers(name: str, text: pa.ChunkedArray) -> tuple[pa.ChunkedArray | None, list[str]]:
    """Return integers or floats, or why the text must be kept."""
    padded = pc.match_substring_regex(text, LEADING_ZERO)
    if pc.any(padded).as_py():
        return None, [f"column {name!r} has leading zeros ({first_of(padded)}): kept as text"]
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
                f"({first_of(inexact)}): kept as text"
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
