"""Lays out the levels to which one column can be recoded, from its values up to ``*``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import ROOT, Hierarchy
from indiff.data.hierarchy_builders import calendar_starts, nested_widths
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.release.regions import (
    Anything,
    Interval,
    Missing,
    Region,
    ValueSet,
    node_region,
    region_of,
)

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a column: which label each value gets, and what every label stands for.

    Label j covers the codes from ``low[j]`` to ``high[j]``. Labels of a ragged hierarchy may
    cover one another, as *Artist* covers *Dancer* where a third value is already at *Artist*.
    """

    of: Codes
    low: Codes
    high: Codes
    make: Callable[[int], Region]

    def __len__(self) -> int:
        return len(self.low)

    @cached_property
    def region(self) -> Callable[[int], Region]:
        """Return the region of a label, each made once."""
        return lru_cache(maxsize=None)(self.make)

    @cached_property
    def covering(self) -> Codes:
        """All labels that cover each value, a column for each value, −1 where there are no more."""
        if int((self.high - self.low + 1).sum()) == len(self.of):
            return self.of[None, :]
        rows = [self.of]
        for label in range(len(self)):
            span = np.arange(self.low[label], self.high[label] + 1)
            others = span[self.of[span] != label]
            while len(others):  # into the first row that has room
                place = next((r for r in rows[1:] if (r[others[:1]] == -1).all()), None)
                if place is None:
                    place = np.full(len(self.of), -1, np.int32)
                    rows.append(place)
                free = others[place[others] == -1]
                place[free] = label
                others = np.setdiff1d(others, free)
        return np.stack(rows)


def levels_of(attribute: Attribute) -> tuple[Level, ...]:
    """Return a column's levels: those of its hierarchy, or built from its kind.

    Numbers get nested intervals (:func:`~indiff.data.hierarchy_builders.nested_widths`), dates
    the months, quarters, years and decades, ordinal values groups of 2, 4, 8, … neighbours, and
    other values nothing between themselves and ``*``. The missing value stays apart up to ``*``.
    All of this follows from the values of the full table: a table without one record has the same
    levels.
    """
    size = len(attribute.values)
    each = np.arange(size, dtype=np.int32)
    top = Level(
        np.zeros(size, np.int32), np.zeros(1, np.int32), np.array([size - 1], np.int32),
        lambda _: Anything(),
    )  # fmt: skip
    if attribute.hierarchy is not None:
        tree = attribute.hierarchy
        first = Level(each, each, each, lambda code: ValueSet(frozenset({tree.values[code]})))
        return (first, *_of_tree(tree), top)
    first = Level(each, each, each, lambda code: region_of(attribute, code, code))
    if attribute.kind == Kind.NUMERIC:
        between = _of_dates(attribute) if attribute.is_date else _of_numbers(attribute)
    else:
        between = _of_ranks(attribute) if attribute.kind == Kind.ORDINAL else []
    found, known = [first], size - attribute.has_missing
    for level in between:  # what merges nothing more, or everything, is no level
        if len(level) < len(found[-1]) and len(level) - attribute.has_missing > 1 < known:
            found.append(level)
    return (*found, top)


def _of_tree(tree: Hierarchy) -> list[Level]:
    """Return the levels between the values and the root."""
    found = list[Level]()
    missing = np.array([value is None for value in tree.values])
    for nodes in tree.level_nodes[1:]:
        if (nodes[~missing] == 0).all():
            break
        shown, numbers = np.unique(nodes, return_inverse=True)

        def make(label: int, shown: NDArray[np.int32] = shown) -> Region:
            node = int(shown[label])
            if tree.values[tree.first[node]] is None and node:
                return ValueSet(frozenset({None}))
            return node_region(tree, ROOT if node == 0 else tree.labels[node])

        of: Codes = numbers.ravel().astype(np.int32)
        found.append(Level(of, tree.first[shown], tree.last[shown], make))
    return found


def _of_numbers(attribute: Attribute) -> list[Level]:
    """Return nested intervals of numbers."""
    known = attribute.values[: len(attribute.values) - attribute.has_missing]
    if len(known) < 2:
        return []
    low, high = Decimal(str(known[0].item())), Decimal(str(known[-1].item()))
    whole = bool((known == np.floor(known)).all())
    found = []
    for width in nested_widths(low, high, whole=whole):
        first, last = int(low // width) - 1, int(high // width) + 1  # // rounds towards 0
        number = int if whole else float
        edges = [number(place * width) for place in range(first, last + 1)]
        found.append(_between(attribute, edges, closed=whole))
    return found


def _of_dates(attribute: Attribute) -> list[Level]:
    """Return the parts of the calendar."""
    known = attribute.values[: len(attribute.values) - attribute.has_missing]
    if len(known) < 2:
        return []
    starts = calendar_starts(int(known[0]), int(known[-1]))
    return [_between(attribute, edges, closed=True) for edges in starts]


def _between(attribute: Attribute, edges: list[int] | list[float], *, closed: bool) -> Level:
    """Return a level of intervals that begin at these edges; whole numbers close both ends."""
    known = len(attribute.values) - attribute.has_missing
    begin = np.searchsorted(attribute.values[:known], np.array(edges), side="left")
    begin = np.append(begin, known)
    full = np.flatnonzero(begin[:-1] < begin[1:])
    low, high = begin[full].astype(np.int32), (begin[full + 1] - 1).astype(np.int32)
    width = edges[1] - edges[0]

    def make(label: int) -> Region:
        if label == len(full):
            return Missing()
        place = int(full[label])
        end = edges[place + 1] if place + 1 < len(edges) else edges[place] + width
        return (
            Interval(edges[place], end - 1) if closed else Interval(edges[place], end, True, False)
        )

    return _with_missing(attribute, low, high, make)


def _of_ranks(attribute: Attribute) -> list[Level]:
    """Return groups of 2, 4, 8, … neighbours."""
    known = len(attribute.values) - attribute.has_missing
    found, width = [], 2
    while width < known:
        low = np.arange(0, known, width, dtype=np.int32)
        high = np.minimum(low + width - 1, known - 1).astype(np.int32)

        def make(label: int, low: Codes = low, high: Codes = high) -> Region:
            if label == len(low):
                return Missing()
            return region_of(attribute, int(low[label]), int(high[label]))

        found.append(_with_missing(attribute, low, high, make))
        width *= 2
    return found


def _with_missing(
    attribute: Attribute, low: Codes, high: Codes, make: Callable[[int], Region]
) -> Level:
    """Return a level of neighbours, and beside them the missing value where there is one."""
    if attribute.has_missing:
        code = np.array([attribute.missing_code], np.int32)
        low, high = np.append(low, code), np.append(high, code)
    of = np.repeat(np.arange(len(low), dtype=np.int32), high - low + 1)
    return Level(of, low, high, make)
