"""Reads and writes numeric and date regions: ``47``, ``[20, 40]``, ``(20, 45]``, ``<=45``, ``80+``.

In a date column a year (``1976``) or a month (``1976-07``) stands for all its days, also as an end
of an interval: ``[1970, 1980[`` ends with 1979, ``]1970, 1980]`` begins with 1971.

A column may be written as people do: ``1.234,5``, ``31.07.1976``. That is a style of all its cells.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from indiff.data.table import Attribute
from indiff.errors import UserError, from_data
from indiff.release.regions import (
    MISSING,
    Anything,
    Interval,
    Missing,
    Region,
    UnreadableRegion,
    Value,
    ValueSet,
    plain,
    shown,
)

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?)?)?)?", re.ASCII)
_INFINITE = {sign + name: float(sign + "inf") for name in ("inf", "∞") for sign in ("", "+", "-")}
_LONGEST_NUMBER = 400  # characters: more than any float needs, less than int() refuses
_COMPARISON = re.compile(r"(<=|>=|<|>|≤|≥)(.*)", re.DOTALL)
_BETWEEN = re.compile(r"[-~‐‑‒–—−]|\bto\b")
_START = datetime.date(1970, 1, 1)
_MASK = re.compile(r"(\d*)(\*+)", re.ASCII)
Span = tuple[float, float]
"""The first and the last number that an end stands for: they differ for a year or a month."""


@dataclass(frozen=True)
class Style:
    """How people write the numbers or dates of a column, where not as programs do."""

    words: str
    pattern: re.Pattern[str]
    decimal: str = "."
    order: str = ""


def _numbers_with(decimal: str, groups: str) -> re.Pattern[str]:
    whole = rf"\d+|[1-9]\d{{0,2}}(?:[{groups}]\d{{3}})+"
    return re.compile(rf"[+-]?(?:{whole})(?:{re.escape(decimal)}\d*)?", re.ASCII)


_BLANKS = "'’ \u00a0\u2009\u202f"
_DAY_LAST = re.compile(r"(?:(?:(\d{1,2})[./-])?(\d{1,2})[./-])?(\d{4})", re.ASCII)
NUMBER_STYLES = (
    Style("numbers with a comma before the fraction", _numbers_with(",", f".{_BLANKS}"), ","),
    Style("numbers with signs between thousands", _numbers_with(".", f",{_BLANKS}")),
)
DATE_STYLES = (
    Style("dates with the day first", _DAY_LAST, order="dm"),
    Style("dates with the month first", _DAY_LAST, order="md"),
)


class NumberText:
    """Writes and reads the regions of one numeric or date column."""

    def __init__(
        self, column: Attribute, style: Style | None = None, has_missing: bool | None = None
    ) -> None:
        self._style = style
        self._values = column.values
        self._is_date = column.is_date
        self._what = "date" if column.is_date else "number"
        self._way_out = (
            "write 2020, 2020-01, 2020-01-31, [2020-01-31, 2020-02-29], <2020-01, 2020+ or *."
            if column.is_date
            else "write 20, [20, 40], (20, 40], 20-40, 20 to 40, <40, >=40, 40+ or *."
        )
        if has_missing is None:
            has_missing = any(plain(value) is None for value in column.values[-1:].tolist())
        self._has_missing = has_missing

    def write(self, region: Region) -> str:
        """Return the region as text."""
        match region:
            case Anything():
                return "*"
            case Interval():
                return self._write_interval(region)
            case Missing():
                return self._write_set(frozenset({None}))
            case ValueSet(values):
                return self._write_set(values)
        raise UserError(
            f"a numeric column has intervals, sets of numbers, {MISSING!r} and '*'",
            from_data(region, str),
            "Declare the column categorical",
        )

    def _write_set(self, values: frozenset[Value]) -> str:
        strange = [value for value in values if isinstance(value, str)]
        if strange:
            raise UserError(
                "a set in a numeric column holds numbers",
                from_data(strange[0]),
                "Declare the column categorical",
            )
        numbers = sorted(value for value in values if isinstance(value, float | int))
        members = [self._write_number(number) for number in numbers]
        if None in values:
            if not self._has_missing:
                raise UserError(
                    "the region of the missing value needs a column with missing values; "
                    "this one has none: use '*' for a suppressed cell."
                )
            members.append(MISSING)
        return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"

    def _write_interval(self, region: Interval) -> str:
        low, high = self._write_number(region.low), self._write_number(region.high)
        if region.low == region.high:
            return low
        if region.low == -math.inf and region.high != math.inf:
            return ("<=" if region.high_closed else "<") + high
        if region.high == math.inf and region.low != -math.inf:
            return (">=" if region.low_closed else ">") + low
        opening, closing = "[" if region.low_closed else "(", "]" if region.high_closed else ")"
        return f"{opening}{low}, {high}{closing}"

    def _write_number(self, number: float) -> str:
        if abs(number) == math.inf:
            return str(float(number))
        if self._is_date:
            if number != int(number):
                got = f"{from_data(number)}: round it"
                raise UserError("a date is a whole number of days", got)
            return _iso(int(number))
        if isinstance(number, float) and number.is_integer() and abs(number) < 1e16:
            return str(int(number))
        return repr(number)

    def read(self, text: str | None) -> Region:
        """Return the region that a cell stands for; None is an empty cell."""
        text = (text or "").strip()
        if text == "*":
            return Anything()
        if text in ("", MISSING):
            if self._has_missing:
                return Missing()
            raise UnreadableRegion(
                f"{repr(MISSING) if text else 'an empty cell'} needs a column with missing "
                "values; the original has none here: write '*' for a suppressed cell."
            )
        span = self._span(text)
        if span is not None:
            return Interval(*span)
        found = (read(text) for read in self._notations)
        readings = list(dict.fromkeys(region for region in found if region is not None))
        if len(readings) == 1:
            return readings[0]
        if readings:
            raise UnreadableRegion(
                f"{shown(text)} can be read in more than one way; write [a, b] instead."
            )
        raise UnreadableRegion(f"{shown(text)} is no {self._what} or interval; {self._way_out}")

    @property
    def _notations(self) -> tuple[Callable[[str], Region | None], ...]:
        return (
            self._read_set,
            self._read_mask,
            self._read_comparison,
            self._read_at_least,
            self._read_brackets,
            self._read_range,
        )

    def _span(self, text: str) -> Span | None:
        """Return a complete number, or the first and last day of a date, month or year."""
        text = text.strip()
        if len(text) > _LONGEST_NUMBER:
            return None
        if text in _INFINITE:
            return _INFINITE[text], _INFINITE[text]
        if self._is_date:
            return _days(text, self._style)
        if self._style is not None:
            if not self._style.pattern.fullmatch(text):
                return None
            whole, _, fraction = text.partition(self._style.decimal)
            text = re.sub(r"[^\d+-]", "", whole) + (f".{fraction}" if fraction else "")
        elif not _NUMBER.fullmatch(text):
            return None
        try:
            number: float = int(text)
        except ValueError:
            number = float(text)
        return (number, number) if math.isfinite(number) else None

    def _read_set(self, text: str) -> Region | None:
        if text[:1] != "{" or text[-1:] != "}":
            return None
        members: set[Value] = set()
        parts = self._parts(text[1:-1])
        if self._style is not None and len(parts) < 2:
            return None
        for part in parts:
            if part.strip() == MISSING and self._has_missing:
                members.add(None)
                continue
            span = self._span(part)
            if span is None or span[0] != span[1]:
                raise UnreadableRegion(
                    f"the set {shown(text)} has {shown(part.strip())}, which is no "
                    f"{self._what}; {self._way_out}"
                )
            members.add(span[0])
        return ValueSet(frozenset(members))

    def _parts(self, text: str) -> list[str]:
        """Split at commas; where they stand in numbers, at those before a blank, or semicolons."""
        return text.split(",") if self._style is None else re.split(r";|,\s", text)

    def _read_mask(self, text: str) -> Interval | None:
        """Read ``750**`` where all numbers that begin so have as many digits."""
        match = _MASK.fullmatch(text)
        if match is None or self._is_date:
            return None
        if not match[1]:
            return Interval(-math.inf, math.inf)
        sizes = {
            len(digits)
            for digits in self._digits
            if len(digits) > len(match[1]) and digits.startswith(match[1])
        }
        if len(sizes) != 1:
            what = "several numbers of digits" if sizes else "no number of this column"
            raise UnreadableRegion(
                f"{shown(text)} is a mask that stands for {what}; declare the column categorical, "
                "write an interval, or *."
            )
        hidden = 10 ** (sizes.pop() - len(match[1]))
        return Interval(int(match[1]) * hidden, (int(match[1]) + 1) * hidden - 1)

    @cached_property
    def _digits(self) -> list[str]:
        """The column's numbers as digits, where all of them are whole and none is negative."""
        numbers = [value for value in self._values.tolist() if plain(value) is not None]
        whole = all(number >= 0 and float(number).is_integer() for number in numbers)
        return [str(int(number)) for number in numbers] if whole else []

    def _read_comparison(self, text: str) -> Interval | None:
        match = _COMPARISON.fullmatch(text)
        span = self._span(match[2]) if match else None
        if match is None or span is None:
            return None
        if abs(span[0]) == math.inf:
            raise UnreadableRegion(f"{shown(text)} compares with infinity; {self._way_out}")
        closed = match[1] not in ("<", ">")
        if match[1][0] in "<≤":
            return Interval(-math.inf, span[closed], high_closed=closed)
        return Interval(span[not closed], math.inf, low_closed=closed)

    def _read_at_least(self, text: str) -> Interval | None:
        """Read ``80+``."""
        span = self._span(text[:-1]) if text[-1] == "+" else None
        return None if span is None or abs(span[0]) == math.inf else Interval(span[0], math.inf)

    def _read_brackets(self, text: str) -> Interval | None:
        if len(text) < 2 or text[0] not in "[](" or text[-1] not in "[])":
            return None
        inner, ends = text[1:-1], []
        for parts in (self._parts(inner), inner.split(";") if self._style is None else ()):
            spans = [self._span(part) for part in parts]
            if len(spans) == 2 and spans[0] is not None and spans[1] is not None:
                ends.append((spans[0], spans[1]))
        if text[0] + text[-1] != "()":  # round brackets may be open ends, or no ends at all
            ends += self._splits(inner)
        if len(ends) != 1:
            return None
        return self._interval(text, *ends[0], text[0] == "[", text[-1] == "]")

    def _read_range(self, text: str) -> Interval | None:
        """Read ``a-b``, ``a~b`` or ``a to b``: both ends complete, and one way to split."""
        ends = self._splits(text)
        if len(ends) > 1:
            raise UnreadableRegion(
                f"{shown(text)} can be split in more than one way; write [a, b] instead."
            )
        return self._interval(text, *ends[0]) if ends else None

    def _splits(self, text: str) -> list[tuple[Span, Span]]:
        found = []
        for mark in _BETWEEN.finditer(text, 0, 2 * _LONGEST_NUMBER):
            low, high = self._span(text[: mark.start()]), self._span(text[mark.end() :])
            if low is not None and high is not None:
                found.append((low, high))
        return found

    def _interval(
        self, text: str, first: Span, last: Span, low_closed: bool = True, high_closed: bool = True
    ) -> Interval:
        low, high = first[not low_closed], last[high_closed]
        if first[0] > last[1]:
            raise UnreadableRegion(f"{shown(text)} runs downwards; write the smaller end first.")
        if low >= high and not (low_closed and high_closed) and abs(low) != math.inf:
            raise UnreadableRegion(f"{shown(text)} covers nothing; close both ends: [a, a].")
        return Interval(low, high, low_closed, high_closed)


def _days(text: str, style: Style | None) -> Span | None:
    """Return the first and the last day of a day, a month or a year, counted from 1970."""
    match = (_PERIOD if style is None else style.pattern).fullmatch(text)
    if match is None:
        return None
    year, month, day = match.groups()
    if style is not None:
        first_part, second, year = match.groups()
        day, month = (first_part, second) if style.order == "dm" else (second, first_part)
        if first_part is None:  # a month and a year have one order
            day, month = None, second
    try:
        first = last = datetime.date(int(year), int(month or 1), int(day or 1))
        if day is None:
            end = int(month or 12)
            last = first.replace(month=end, day=calendar.monthrange(first.year, end)[1])
    except ValueError:  # the 30th of February, a month 00
        return None
    return (first - _START).days, (last - _START).days


def _iso(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    if not _DATE.fullmatch(text) or text.startswith("0000"):
        raise UserError(
            "dates run from 0001-01-01 to 9999-12-31", f"{from_data(text, str)}: correct the column"
        )
    return text
