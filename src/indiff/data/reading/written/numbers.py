"""The ways in which a column of text can be read as numbers: which sign is the decimal one?"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

DECIMALS = (".", ",")
_GROUPS = {".": r"\.", ",": ",", "'": "['’]", " ": "[ \u00a0\u2009\u202f]"}
_NAMES = {".": "a point", ",": "a comma", "'": "an apostrophe", " ": "a blank"}
_ANY_SIGN = "[.,'’ \u00a0\u2009\u202f]"
_SIGNS = "[0-9.,'’ \u00a0\u2009\u202feE+-]"


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
        """The signs in words.

        >>> cells = pa.chunked_array([["1.234,5"]])
        >>> number_readings(cells)[0].words
        'a comma before the fraction and a point between thousands'
        """
        signs = [] if self.decimal == "." else [f"{_NAMES[self.decimal]} before the fraction"]
        if self.group is not None:
            signs.append(f"{_NAMES[self.group]} between thousands")
        return " and ".join(signs)


def number_readings(text: pa.ChunkedArray, decimal: str | None = None) -> list[NumberReading]:
    """Return every way to read all values as numbers; those that give the same numbers once.

    Thousands are groups of three behind one to three digits; whoever writes groups may leave out
    the sign in numbers of four digits, not in longer ones.

    >>> cells = pa.chunked_array([["1,65", "2"]])
    >>> [(way.decimal, way.plain.to_pylist()) for way in number_readings(cells)]
    [(',', ['1.65', '2'])]
    >>> [way.decimal for way in number_readings(pa.chunked_array([["1.234", "12.500"]]))]
    ['.', ',']
    """
    found: list[NumberReading] = []
    signed = pc.match_substring_regex(text, _ANY_SIGN)
    shaped = pc.match_substring_regex(text, f"^{_SIGNS}+$")
    if not pc.any(signed).as_py() or not pc.all(shaped).as_py():
        return found
    groups = [sign for sign in _GROUPS if pc.any(_has(text, sign)).as_py()]
    for sign in DECIMALS if decimal is None else (decimal,):
        for group in (None, *groups):
            if group == sign or not pc.all(_matches(text, sign, group)).as_py():
                continue
            plain = _plain(text, sign, group)
            if not any(plain.equals(other.plain) for other in found):
                found.append(NumberReading(sign, group, plain, pc.sum(signed).as_py() or 0))
    return found


def proven_decimal(readings: list[NumberReading], text: pa.ChunkedArray) -> str | None:
    """Return the decimal sign that a column's way of writing proves for the whole file."""
    if len(readings) != 1:
        return None
    way = readings[0]
    has_sign = way.group in DECIMALS or pc.any(pc.match_substring(text, way.decimal)).as_py()
    return way.decimal if has_sign else None


def looks_like_a_number(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell for each value whether it has the shape of a number, in whatever signs."""
    return pc.match_substring_regex(text, f"^[-+−]?[.,]?[0-9]{_SIGNS}*$")


def _has(text: pa.ChunkedArray, sign: str) -> pa.ChunkedArray:
    return pc.match_substring_regex(text, _GROUPS[sign])


def _matches(text: pa.ChunkedArray, decimal: str, group: str | None) -> pa.ChunkedArray:
    whole = "[0-9]+"
    if group is not None:
        whole = f"(?:[1-9][0-9]{{0,2}}(?:{_GROUPS[group]}[0-9]{{3}})+|[0-9]{{1,4}})"
    sign = _GROUPS[decimal]
    exponent = "(?:[eE][+-]?[0-9]+)?" if group is None else ""
    return pc.match_substring_regex(
        text, f"^-?(?:{whole}(?:{sign}[0-9]*)?|{sign}[0-9]+){exponent}$"
    )


def _plain(text: pa.ChunkedArray, decimal: str, group: str | None) -> pa.ChunkedArray:
    if group is not None:
        text = pc.replace_substring_regex(text, _GROUPS[group], "")
    return text if decimal == "." else pc.replace_substring(text, decimal, ".")
