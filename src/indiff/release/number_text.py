"""Reads and writes numeric and date regions: ``47``, ``[20, 40]``, ``(20, 45]``, ``<=45``."""

from __future__ import annotations

import datetime
import math
import re

import numpy as np

from indiff.errors import UserError, from_data
from indiff.release.regions import (
    MISSING,
    Anything,
    Domain,
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
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_LONGEST_NUMBER = 400  # characters: more than any float needs, less than int() refuses
_COMPARISON = re.compile(r"(<=|>=|<|>|≤|≥)(.*)", re.DOTALL)


class NumberText:
    """Writes and reads the regions of one numeric or date column."""

    def __init__(self, domain: Domain) -> None:
        self._is_date = domain.is_date
        self._has_missing = any(plain(value) is None for value in domain.values[-1:].tolist())

    def write(self, region: Region) -> str:
        """Return the region as text."""
        match region:
            case Anything():
                return "*"
            case Missing():
                return self._write_missing()
            case Interval():
                return self._write_interval(region)
            case ValueSet(values):
                members = [self._write_number(number) for number in sorted(_numbers(values))]
                if None in values:
                    members.append(self._write_missing())
                return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"
        raise UserError(
            f"a numeric column has intervals, sets of numbers, {MISSING!r} and '*'",
            from_data(region, str),
            "Declare the column categorical",
        )

    def _write_missing(self) -> str:
        if not self._has_missing:
            raise UserError(
                "the region of the missing value needs a column with missing values; "
                "this one has none: use '*' for a suppressed cell."
            )
        return MISSING

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
                raise UserError(
                    "a date is a whole number of days", f"{from_data(number)}: round it"
                )
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
                f"{'an empty cell' if not text else repr(text)} needs a column with missing "
                "values; the original has none here: write '*' for a suppressed cell."
            )
        number = self._number(text)
        if number is not None:
            return Interval(number, number)
        if text[:1] == "{" and text[-1:] == "}":
            return self._read_set(text)
        if text.endswith("*"):
            raise UnreadableRegion(
                f"{shown(text)} is a mask, and masks are read in text columns only; "
                "declare the column categorical (kinds={column: 'categorical'}) to read it."
            )
        interval = self._read_comparison(text) or self._read_brackets(text)
        return interval or self._read_range(text)

    def _number(self, text: str) -> float | int | None:
        """Return a complete number (days for a date), or None."""
        text = text.strip()
        if len(text) > _LONGEST_NUMBER:
            return None
        if self._is_date:
            return _days(text)
        if not _NUMBER.fullmatch(text):
            return _INFINITE.get(text)
        try:
            return int(text)
        except ValueError:
            number = float(text)
            return number if math.isfinite(number) else None

    def _read_set(self, text: str) -> Region:
        members: set[Value] = set()
        for part in text[1:-1].split(","):
            if part.strip() == MISSING and self._has_missing:
                members.add(None)
                continue
            number = self._number(part)
            if number is None:
                raise UnreadableRegion(
                    f"the set {shown(text)} has {shown(part.strip())}, which is no "
                    f"{self._what()}; {self._way_out()}"
                )
            members.add(number)
        return ValueSet(frozenset(members))

    def _read_comparison(self, text: str) -> Interval | None:
        match = _COMPARISON.fullmatch(text)
        bound = self._number(match[2]) if match else None
        if match is None or bound is None:
            return None
        if abs(bound) == math.inf:
            raise UnreadableRegion(f"{shown(text)} compares with infinity; {self._way_out()}")
        closed = match[1] not in ("<", ">")
        if match[1] in ("<", "<=", "≤"):
            return Interval(-math.inf, bound, high_closed=closed)
        return Interval(bound, math.inf, low_closed=closed)

    def _read_brackets(self, text: str) -> Interval | None:
        if len(text) < 2 or text[0] not in "[](" or text[-1] not in "[])":
            return None
        ends = [self._number(part) for part in text[1:-1].split(",")]
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            return None
        return self._interval(text, ends[0], ends[1], text[0] == "[", text[-1] == "]")

    def _read_range(self, text: str) -> Interval:
        """Read ``a-b`` or ``a~b``: both ends complete, and exactly one way to split."""
        ends = []
        for i in (i for i, mark in enumerate(text[: _LONGEST_NUMBER + 1]) if mark in "-~"):
            low, high = self._number(text[:i]), self._number(text[i + 1 :])
            if low is not None and high is not None:
                ends.append((low, high))
        if len(ends) > 1:
            raise UnreadableRegion(
                f"{shown(text)} can be split in more than one way; write [a, b] instead."
            )
        if not ends:
            raise UnreadableRegion(
                f"{shown(text)} is no {self._what()} or interval; {self._way_out()}"
            )
        return self._interval(text, *ends[0])

    def _interval(
        self,
        text: str,
        low: float,
        high: float,
        low_closed: bool = True,
        high_closed: bool = True,
    ) -> Interval:
        if low > high:
            raise UnreadableRegion(
                f"{shown(text)} runs from {from_data(low, self._write_number)} down to "
                f"{from_data(high, self._write_number)}; write the smaller end first."
            )
        if low == high and not (low_closed and high_closed) and abs(low) != math.inf:
            raise UnreadableRegion(f"{shown(text)} covers nothing; close both ends: [a, a].")
        return Interval(low, high, low_closed, high_closed)

    def _what(self) -> str:
        return "date" if self._is_date else "number"

    def _way_out(self) -> str:
        a, b = ("2020-01-31", "2020-02-29") if self._is_date else ("20", "40")
        return f"write {a}, [{a}, {b}], ({a}, {b}], {a}-{b}, {a}~{b}, <{b}, >={b} or *."


def _numbers(values: frozenset[Value]) -> list[float]:
    for value in values:
        if isinstance(value, str):
            raise UserError(
                "a set in a numeric column holds numbers",
                from_data(value),
                "Declare the column categorical",
            )
    return [value for value in values if isinstance(value, float | int)]


def _days(text: str) -> int | float | None:
    if not _DATE.fullmatch(text):
        return _INFINITE.get(text)
    try:
        return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
    except ValueError:  # the 30th of February
        return None


def _iso(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    if not _DATE.fullmatch(text) or text.startswith("0000"):
        raise UserError(
            "dates run from 0001-01-01 to 9999-12-31", f"{from_data(text, str)}: correct the column"
        )
    return text
