"""Regions: what one generalized cell stands for, and which values of a column it covers."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import ROOT, Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import UserError, from_data

Value: TypeAlias = str | float | int | None
"""One cell of the original table: None is the missing value, a date is its days since 1970."""

MISSING = "missing"
"""How the missing value is written, unless the column has this word as a value of its own."""

_LONGEST_SHAPE = 30


class UnreadableRegion(UserError):
    """A cell that stands for no region of its column, or for more than one."""


def shown(text: str) -> str:
    """Return a cell as an error message quotes it: its shape, never its value.

    Digits are 9, letters are a, and at most 30 characters are shown.

    >>> print(shown("Zürich 8004"), shown("x" * 100))
    'aaaaaa 9999' 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    cut = text[:_LONGEST_SHAPE] + ("…" if len(text) > _LONGEST_SHAPE else "")
    shape = [
        "9" if c.isnumeric() else c if unicodedata.category(c)[0] in "PSZ" else "a" for c in cut
    ]
    return repr("".join(shape))


def plain(value: Any) -> Value:
    """Return a cell as a plain Python value, with None for NaN."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers between two ends, each closed or open; an infinite end is always closed."""

    low: float
    high: float
    low_closed: bool = True
    high_closed: bool = True

    def __post_init__(self) -> None:
        for end in ("low", "high"):
            number = plain(getattr(self, end))
            if number is None or isinstance(number, str):
                raise UserError("the ends of an interval must be numbers", from_data(number))
            object.__setattr__(self, end, number)
            if abs(number) == math.inf:  # one way to write an end that is not there
                object.__setattr__(self, f"{end}_closed", True)
        if self.low > self.high:
            raise UserError(
                "an interval must not start above its end",
                f"{from_data(self.low)} to {from_data(self.high)}: put the smaller number first",
            )
        if self.low == self.high and not (self.low_closed and self.high_closed):
            raise UserError(
                "an interval must cover a number",
                f"{from_data(self.low)} to {from_data(self.high)} with an open end: close both "
                "ends",
            )

    def covers(self, value: Value) -> bool:
        """Say whether the interval contains this number; it never contains the missing value."""
        if value is None or isinstance(value, str):
            return False
        above = self.low <= value if self.low_closed else self.low < value
        below = value <= self.high if self.high_closed else value < self.high
        return above and below


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of values, of which the missing value may be one."""

    values: frozenset[Value]

    def __post_init__(self) -> None:
        if not self.values:
            raise UserError("a set region must have a value", "the empty set")
        object.__setattr__(self, "values", frozenset(map(plain, self.values)))

    def covers(self, value: Value) -> bool:
        """Say whether the value is in the set."""
        return plain(value) in self.values


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the column's hierarchy, with the values below it."""

    label: str
    values: frozenset[Value]

    def covers(self, value: Value) -> bool:
        """Say whether the value is below the node."""
        return plain(value) in self.values


@dataclass(frozen=True, slots=True)
class Mask:
    """The texts that start with a prefix and go on: ``3551*`` hides one character or more."""

    prefix: str

    def __post_init__(self) -> None:
        if self.prefix.endswith("*"):
            raise UserError(
                "the prefix of a mask must not end in '*'",
                f"{from_data(self.prefix)}: leave out the stars that stand for hidden characters",
            )

    def covers(self, value: Value) -> bool:
        """Say whether the value is a text of the prefix and at least one more character."""
        longer = isinstance(value, str) and len(value) > len(self.prefix)
        return longer and str(value).startswith(self.prefix)


@dataclass(frozen=True, slots=True)
class Anything:
    """Every value, the missing one included: a suppressed cell, ``*``."""

    def covers(self, value: Value) -> bool:
        """Return True."""
        return True


@dataclass(frozen=True, slots=True)
class Missing:
    """The missing value alone: the records set apart from a numeric or ordinal column."""

    def covers(self, value: Value) -> bool:
        """Say whether the value is the missing one."""
        return plain(value) is None


Region: TypeAlias = Interval | ValueSet | Node | Mask | Anything | Missing


def node_region(hierarchy: Hierarchy, label: str) -> Region:
    """Return the region of a hierarchy's node; the root stands for anything."""
    return Anything() if label == ROOT else Node(label, hierarchy.values_below(label))


class Coverage:
    """Which values of one column a region covers, prepared once for many regions."""

    def __init__(self, column: Attribute) -> None:
        self._values = column.values
        self._numeric = column.kind == Kind.NUMERIC

    @cached_property
    def _code_of(self) -> dict[Value, int]:
        return {plain(value): code for code, value in enumerate(self._values.tolist())}

    @cached_property
    def _texts(self) -> tuple[list[str], NDArray[np.int64]]:
        codes = {text: code for text, code in self._code_of.items() if isinstance(text, str)}
        texts = sorted(codes)
        return texts, np.array([codes[text] for text in texts], np.int64)

    def of(self, region: Region) -> NDArray[np.bool_]:
        """Return one bool per value of the column, in code order."""
        mask = np.zeros(len(self._values), np.bool_)
        match region:
            case Anything():
                mask[:] = True
            case Missing():
                mask[self._codes([None])] = True
            case ValueSet(values) | Node(_, values):
                mask[self._codes(values)] = True
            case Mask(prefix):
                texts, codes = self._texts
                start, stop = prefix_range(texts, prefix)
                mask[codes[start:stop]] = True
            case Interval():
                if self._numeric:
                    mask[slice(*self._between(region))] = True
        return mask

    def spans_of(self, region: Region) -> list[tuple[int, int]]:
        """Return the first and the last code of each run of values that a region covers."""
        if isinstance(region, Interval) and self._numeric:
            low, end = self._between(region)
            return [(low, end - 1)] if low < end else []
        edges = np.diff(np.concatenate(([0], self.of(region).view(np.int8), [0])))
        first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def _codes(self, values: Iterable[Value]) -> list[int]:
        return [self._code_of[value] for value in values if value in self._code_of]

    def _between(self, region: Interval) -> tuple[int, int]:
        # Python's comparisons of whole numbers and floats are exact, numpy's round beyond 2**53.
        exact, end = methodcaller("item"), len(self._values)
        if self._values.dtype.kind == "f":
            end -= int(np.isnan(self._values).sum())
        from_low = bisect_left if region.low_closed else bisect_right
        to_high = bisect_right if region.high_closed else bisect_left
        low = from_low(self._values, region.low, 0, end, key=exact)
        return low, to_high(self._values, region.high, 0, end, key=exact)


def prefix_range(texts: list[str], prefix: str) -> tuple[int, int]:
    """Return where, in sorted texts, those with this prefix and at least one character more are."""
    # The prefix itself, if it is a text, is the first of those that start with it.
    size = len(prefix)
    start = bisect_right(texts, prefix)
    return start, bisect_right(texts, prefix, lo=start, key=lambda text: text[:size])


def region_of(attribute: Attribute, low: int, high: int) -> Region:
    """Return the tight region from one code to another: an interval, or a set of values."""
    if attribute.kind != Kind.CATEGORICAL and high == attribute.missing_code:
        return Missing()
    if attribute.kind == Kind.NUMERIC:
        first, last = attribute.values[low].item(), attribute.values[high].item()
        return Interval(int(first), int(last)) if attribute.is_date else Interval(first, last)
    return ValueSet(frozenset(plain(value) for value in attribute.values[low : high + 1]))


def is_value(region: Region) -> bool:
    """Tell whether a region says which one value it stands for: not so [30, 39].

    >>> is_value(Interval(30, 30)), is_value(Interval(30, 39)), is_value(Missing())
    (True, False, True)
    """
    if isinstance(region, Interval):
        return region.low == region.high
    one = isinstance(region, ValueSet) and len(region.values) == 1
    return one or isinstance(region, Missing)
