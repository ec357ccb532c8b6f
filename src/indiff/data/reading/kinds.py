"""Text to numbers and dates, column by column, from all of its values.

A column becomes numeric only if nothing is lost by it: `01234` keeps its zero, and an integer
that 64 bits cannot hold keeps its digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEADING_ZERO = r"^-?0[0-9]"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
EXACT_INTEGERS = 2**53  # a float holds every whole number below this
SURE_DIGITS = 15  # so many decimal digits survive in a float
BLANKS = " \t"

Typed = tuple[pa.ChunkedArray, list[str]]
Converted = tuple[pa.ChunkedArray | None, list[str]]


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


def typed(name: str, text: pa.ChunkedArray) -> Typed:
    """Return a text column as integers, floats or ISO dates where all its values are, else as text.

    Blanks around a number or date do not count; in text they are kept.

    >>> typed("zip", pa.chunked_array([["01234", "4321"]]))[1]
    ["column 'zip' has leading zeros (first in record 0): kept as text"]
    """
    if text.null_count == len(text):
        return text, [f"column {name!r} has no values at all: read as text"]
    integers = _canonical_integers(text)
    if integers is not None:
        return integers, []
    bare = pc.ascii_trim(text, characters=BLANKS)
    converted, notes = _converted(name, bare)
    if converted is not None:
        return converted, notes
    padded = pc.not_equal(text, bare)
    if pc.any(padded).as_py():
        notes.append(f"column {name!r} has blanks around values ({_first(padded)}): kept")
    return text, notes


def _canonical_integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The fast way: integers that print again exactly as they were written."""
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), text))
    return integers if same.as_py() else None


def _converted(name: str, text: pa.ChunkedArray) -> Converted:
    """Return numbers or dates, or None where the column stays text, and why."""
    number = pc.match_substring_regex(text, NUMBER)
    if pc.all(number).as_py():
        return _numbers(name, text)
    if pc.all(pc.match_substring_regex(text, DATE)).as_py():
        return _dates(name, text)
    numbers, values = pc.sum(number).as_py(), len(text) - text.null_count
    if 2 * numbers >= values:
        return None, [
            f"column {name!r} is kept as text: {numbers:,} of its {values:,} values are numbers, "
            f"others not ({_first(pc.invert(number))})"
        ]
    return None, []


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
