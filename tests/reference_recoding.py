"""Full-domain recoding by trying everything, from the definitions: the oracle of tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from indiff.data.table import Table
from indiff.release.penalties import region_penalties
from indiff.release.release import ReleasedColumn
from indiff.sanitizers.recoding.levels import levels_of
from indiff.sanitizers.recoding.recoding import Recoding
from tests import checker

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Node:
    """One node: its levels, its loss, and which rows are suppressed."""

    levels: tuple[int, ...]
    loss: float
    suppressed: frozenset[int]


class Tried:
    """A table with every node of its lattice tried, row by row."""

    def __init__(self, table: Table, sanitizer: Recoding, ground: checker.Ground) -> None:
        self.table, self.sanitizer, self.ground = table, sanitizer, ground
        self.levels = [levels_of(attribute) for attribute in table.attributes]
        self.codes = [attribute.codes.tolist() for attribute in table.attributes]
        self.sensitive = [table.sensitive.values[code] for code in table.sensitive.codes]
        self.whole = Counter(self.sensitive)
        names = [attribute.name for attribute in table.attributes]
        self.weights = [float((sanitizer.weights or {}).get(name, 1)) for name in names]

    def nodes(self) -> list[Node]:
        """Return every node that suppresses few enough records."""
        most = math.floor(Fraction(str(self.sanitizer.suppression)) * len(self.table))
        found = []
        for levels in product(*(range(len(each)) for each in self.levels)):
            rows = [
                tuple(
                    int(self.levels[a][level].of[self.codes[a][row]])
                    for a, level in enumerate(levels)
                )
                for row in range(len(self.table))
            ]
            bad = self._bad(rows)
            if len(bad) <= most:
                loss = _LOSSES[self.sanitizer.loss](self, levels, rows, bad)
                found.append(Node(levels, loss, frozenset(bad)))
        return found

    def _bad(self, rows: list[Row]) -> set[int]:
        f, members = self.sanitizer, dict[Row, list[int]]()
        for place, row in enumerate(rows):
            members.setdefault(row, []).append(place)
        bad: set[int] = set()
        for group in members.values():
            counts = Counter(self.sensitive[place] for place in group)
            broken = [checker.too_small(counts, f.k)]
            if f.l is not None:
                broken.append(checker.too_frequent(counts, f.l))
            if f.distinct_l is not None:
                broken.append(checker.too_few_values(counts, f.distinct_l))
            if f.entropy_l is not None:
                broken.append(checker.too_little_entropy(counts, f.entropy_l))
            if f.recursive is not None:
                broken.append(checker.too_skewed(counts, *f.recursive))
            if f.t is not None:
                broken.append(checker.too_far(counts, self.whole, f.t, self.ground))
            if any(broken):
                bad.update(group)
        return bad

    def mean(self, numbers: Sequence[float]) -> float:
        """Return the weighted mean over columns."""
        pairs = zip(self.weights, numbers, strict=True)
        return sum(weight * number for weight, number in pairs) / sum(self.weights)

    def shares(self, levels: Row, rows: list[Row], bad: set[int]) -> list[float]:
        """Return for each column the rescaled mean share of leaves."""
        found, n = [], len(rows)
        for a, level in enumerate(levels):
            of = self.levels[a][level].of.tolist()
            leaves = len(of)
            mean = sum(1 if r in bad else of.count(rows[r][a]) / leaves for r in range(n)) / n
            found.append((mean - 1 / leaves) / (1 - 1 / leaves) if leaves > 1 else 0.0)
        return found


def _geometric(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    shares = self.shares(levels, rows, bad)
    return math.exp(self.mean([math.log(1 + share) for share in shares])) - 1


def _arithmetic(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    return self.mean(self.shares(levels, rows, bad))


def _ncp(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    found = []
    for a, level in enumerate(levels):
        at = self.levels[a][level]
        each = np.arange(len(at), dtype=np.int32)
        attribute = self.table.attributes[a]
        column = ReleasedColumn(attribute, each, each, at.low, at.high, len(at), at.region)
        costs = region_penalties(column).tolist()
        total = sum(1 if r in bad else costs[rows[r][a]] for r in range(len(rows)))
        found.append(total / len(rows))
    return self.mean(found)


def _precision(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    kept, n = len(rows) - len(bad), len(rows)
    tops = [len(each) - 1 for each in self.levels]
    return self.mean(
        [(kept * level / top + len(bad)) / n for level, top in zip(levels, tops, strict=True)]
    )


def _height(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    return sum(weight * level for weight, level in zip(self.weights, levels, strict=True))


def _discernibility(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    kept = Counter(rows[r] for r in range(len(rows)) if r not in bad)
    return sum(size**2 for size in kept.values()) + len(rows) * len(bad)


def _average(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    kept = {rows[r] for r in range(len(rows)) if r not in bad}
    return len(rows) / (len(kept) + bool(bad))


def _entropy(self: Tried, levels: Row, rows: list[Row], bad: set[int]) -> float:
    total = 0.0
    for a, weight in enumerate(self.weights):
        values = Counter(self.codes[a])
        labels = Counter(row[a] for row in rows)
        of = {self.codes[a][r]: rows[r][a] for r in range(len(rows))}
        bits = -sum(count * math.log2(count / labels[of[v]]) for v, count in values.items())
        hidden = Counter(rows[r][a] for r in bad)
        bits -= sum(count * math.log2(count / len(bad)) for count in hidden.values())
        total += weight * bits
    return total


_LOSSES: dict[str, Callable[[Tried, Row, list[Row], set[int]], float]] = {
    "loss": _geometric,
    "loss-mean": _arithmetic,
    "ncp": _ncp,
    "precision": _precision,
    "height": _height,
    "discernibility": _discernibility,
    "average-group": _average,
    "entropy": _entropy,
}
