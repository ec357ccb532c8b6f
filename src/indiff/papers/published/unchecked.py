"""Sanitizes and breaks its promise, for comparison only: never publish with it.

The public Mondrian that DIT v1 and v2 were measured with cuts a group of m records at its median
if m // 2 is at least k, and never looks at how many records fall on the right-hand side. With many
records at the median, fewer than k are left there. This one does the same on purpose, so that the
papers' curves can be compared with those of a sanitizer that checks both sides. Everything else
is as in :class:`~indiff.sanitizers.mondrian.mondrian.Mondrian`. The public Mondrian comes with a
set-up of its own: 30,162 records of Adult and eight quasi-identifiers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.table import Table, read_table
from indiff.distances.functions import wasserstein
from indiff.errors import UserError
from indiff.inference import NaiveBayes
from indiff.papers.pages import Grid
from indiff.papers.published.program import NO_MISSING, Partition
from indiff.papers.run import Run
from indiff.release.release import Release
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.layout import Problem, total_extremes
from indiff.sanitizers.mondrian.mondrian import (
    Mondrian,
    RegionStyle,
    full_box,
    release_of_groups,
)

MOST_EXPOSED, OTHERS = 100, 400
TRAINING = 30_162  # complete records of Adult's training part, which comes first in the frame
QUASI = ("age", "workclass", "education-num", "marital-status", "occupation", "race", "sex",
         "native-country")  # fmt: skip
TREES = {
    "workclass": (
        "Private;*", "Self-emp-not-inc;Self-employ;*", "Self-emp-inc;Self-employ;*",
        "Federal-gov;gov;*", "Local-gov;gov;*", "State-gov;gov;*", "Without-pay;not-work;*",
        "Never-worked;not-work;*",
    ),
    "marital-status": (
        "Never-married;*", "Married-civ-spouse;Married;*", "Married-AF-spouse;Married;*",
        "Divorced;leave;*", "Separated;leave;*", "Widowed;alone;*", "Married-spouse-absent;alone;*",
    ),
}  # fmt: skip
FLAT = ("occupation", "race", "sex", "native-country")  # every value just below the root

Rows = NDArray[np.int64]
Codes = NDArray[np.int32]
Part = tuple[Rows, Codes, Codes]  # rows, or records, and the codes of the box around them
Side = tuple[NDArray[np.bool_], int, int]  # who is in it, and its codes on the attribute cut


@dataclass(frozen=True)
class UncheckedMondrian:
    """Mondrian whose numeric cuts leave fewer than k records on the right-hand side.

    Groups of the table that was first sanitized are remembered: a table without one record shares
    all of them except those that held it.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [20, 30, 30, 30, 50], "ill": list("yynny")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> UncheckedMondrian(k=2).sanitize(table).to_frame()["age"].to_pylist()
    ['[20, 30]', '[20, 30]', '[20, 30]', '[20, 30]', '50']
    """

    k: int
    regions: RegionStyle = "tight"
    known: dict[bytes, list[Part]] = field(default_factory=dict, compare=False, repr=False)

    randomized: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if type(self.k) is not int or self.k < 1:
            raise UserError("k must be a whole number of at least 1", repr(self.k), field="k")

    def __str__(self) -> str:
        style = "" if self.regions == "tight" else f",regions={self.regions}"
        return f"unchecked-mondrian:k={self.k}{style}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; its groups may be smaller than k, so its constraint is not met."""
        if any(a.has_missing for a in table.attributes):
            raise UserError(NO_MISSING, field="missing")
        sound = Mondrian(k=self.k, regions=self.regions)
        problem = sound.problem(table)
        rows = np.arange(len(table), dtype=np.int64)
        box = full_box(table, rows.astype(np.int32))
        leaves = _Growth(table, self, problem).grow(rows, *box)
        records, lows, highs = zip(*leaves, strict=True)
        place = np.empty(int(table.records.max()) + 1, np.int64)
        place[table.records] = rows
        groups = np.empty(len(table), np.int32)
        groups[place[np.concatenate(records)]] = np.repeat(
            np.arange(len(leaves)), [len(part) for part in records]
        )
        low, high = np.array(lows), np.array(highs)
        release = release_of_groups(table, problem, groups, low, high, sound)
        smallest = int(np.bincount(groups).min())
        return replace(release, sanitizer=str(self), constraint_met=smallest >= self.k)


class _Growth:
    """One partition; groups are named by their records, so that another table can share them."""

    def __init__(self, table: Table, sanitizer: UncheckedMondrian, problem: Problem) -> None:
        self._records, self._problem, self._k = table.records, problem, sanitizer.k
        self._tight = sanitizer.regions == "tight"
        self._known, self._remember = sanitizer.known, not sanitizer.known
        self._totals = total_extremes(table)

    def grow(self, rows: Rows, low: Codes, high: Codes) -> list[Part]:
        """Return the groups below one group, which lies in the cut box from low to high."""
        records = self._records[rows]
        name = hashlib.blake2b(digest_size=16)
        for part in (records, *self._totals, *(() if self._tight else (low, high))):
            name.update(part.tobytes())
        if name.digest() in self._known:
            return self._known[name.digest()]
        leaves = [leaf for part in self._cut(rows, low, high) for leaf in self.grow(*part)]
        if not leaves:
            leaves = [(records, *(self._tight_region(rows) if self._tight else (low, high)))]
        if self._remember:
            self._known[name.digest()] = leaves
        return leaves

    def _cut(self, rows: Rows, low: Codes, high: Codes) -> list[Part]:
        if len(rows) < 2 * self._k:
            return []
        codes = self._problem.codes[:, rows]
        least, most = codes.min(axis=1), codes.max(axis=1)
        widths = [self._width(a, int(least[a]), int(most[a])) for a in range(len(codes))]
        for a in sorted(range(len(codes)), key=lambda a: (-widths[a], a)):
            if least[a] == most[a]:
                continue
            if self._by_tree(a):
                sides = self._along_tree(a, codes[a], int(least[a]), int(most[a]))
            else:
                sides = self._on_line(codes[a], int(low[a]), int(high[a]))
            if sides:
                return [
                    (rows[inside], _with(low, a, first), _with(high, a, last))
                    for inside, first, last in sides
                ]
        return []

    def _on_line(self, codes: Codes, low: int, high: int) -> list[Side]:
        """Cut at the median; m // 2 ≥ k was asked for, the right-hand side is never counted."""
        middle = max(1, len(codes) // 2)
        cut = int(np.partition(codes, middle - 1)[middle - 1])
        left = codes <= cut
        return [] if left.all() else [(left, low, cut), (~left, cut + 1, high)]

    def _by_tree(self, a: int) -> bool:
        return bool(self._problem.meta[a, layout.CUT_BY] == layout.BY_TREE)

    def _along_tree(self, a: int, codes: Codes, low: int, high: int) -> list[Side]:
        level = self._problem.trees[self._node(a, low, high), layout.DEPTH] + 1
        child = self._problem.path[self._problem.meta[a, layout.LEAVES] + codes, level]
        kinds, counts = np.unique(child, return_counts=True)
        if len(kinds) < 2 or counts.min() < self._k:
            return []
        return [(child == kind, *self._span(int(kind))) for kind in kinds]

    def _node(self, a: int, low: int, high: int) -> int:
        """Return the lowest node above two values."""
        start = self._problem.meta[a, layout.LEAVES]
        one, other = self._problem.path[start + low], self._problem.path[start + high]
        shared = np.flatnonzero(one != other)
        return int(one[shared[0] - 1] if len(shared) else one[-1])

    def _span(self, node: int) -> tuple[int, int]:
        """Return the first and the last value below a node."""
        trees = self._problem.trees
        return int(trees[node, layout.FIRST]), int(trees[node, layout.LAST])

    def _width(self, a: int, low: int, high: int) -> float:
        meta, points = self._problem.meta[a], self._problem.points
        if self._by_tree(a):
            first, last = self._span(self._node(a, low, high))
            _, end = self._span(self._problem.path[meta[layout.LEAVES], 0])
            return (last - first + 1) / (end + 1)
        base, (total_low, total_high) = meta[layout.POINTS], self._totals
        whole = points[base + total_high[a]] - points[base + total_low[a]]
        return float((points[base + high] - points[base + low]) / whole) if whole > 0 else 0.0

    def _tight_region(self, rows: Rows) -> tuple[Codes, Codes]:
        codes = self._problem.codes[:, rows]
        low, high = codes.min(axis=1), codes.max(axis=1)
        for a in range(len(codes)):
            if self._by_tree(a):
                low[a], high[a] = self._span(self._node(a, int(low[a]), int(high[a])))
        return low, high


def _with(codes: Codes, place: int, value: int) -> Codes:
    changed = codes.copy()
    changed[place] = value
    return changed


@dataclass(frozen=True, eq=False)
class Comparison:
    """One k: sizes of the unchecked groups, and its distances on the chosen rows."""

    sizes: NDArray[np.int64]
    rows: NDArray[np.intp]
    random: NDArray[np.bool_]
    distances: NDArray[np.float64]


def chosen_rows(
    distances: NDArray[np.float64], seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows with the largest distances and as many others as asked, drawn at random.

    The second array tells which were drawn.
    """
    order = np.argsort(-distances, kind="stable")
    worst, rest = order[:MOST_EXPOSED], order[MOST_EXPOSED:]
    drawn = np.random.default_rng(seed).permutation(np.sort(rest))[:OTHERS]
    rows = np.concatenate([worst, drawn])
    place = np.argsort(rows)
    return rows[place], np.isin(rows[place], drawn)


def compare(
    table: Table,
    k: int,
    regions: RegionStyle,
    distances: NDArray[np.float64],
) -> Comparison:
    """Test the unchecked sanitizer on the rows most exposed by ours and on random ones.

    Its largest distance over them is a lower bound of its δ: other rows were not tested.
    """
    rows, random = chosen_rows(distances)
    sanitizer, model = UncheckedMondrian(k, regions), NaiveBayes()
    release = sanitizer.sanitize(table)
    groups = release.groups
    sizes = np.bincount(groups if groups is not None else np.zeros(len(table), np.int64))
    beliefs = model.beliefs(release, table.take(rows))
    without = np.empty_like(beliefs)
    for place, row in enumerate(rows):
        smaller = table.without(int(table.records[row]))
        without[place] = model.beliefs(sanitizer.sanitize(smaller), table.take([int(row)]))[0]
    return Comparison(sizes, rows, random, wasserstein(beliefs, without))


def own_setup(run: Run) -> Table:
    """Return the table on which the public implementation shows itself."""
    from indiff.datasets.fetch import adult_frame

    frame = adult_frame(None, folder=run.folder, download=run.download)
    training = frame.slice(0, TRAINING)
    trees = {name: Hierarchy.from_lines(lines) for name, lines in TREES.items()}
    for name in FLAT:
        values = sorted(set(training[name].to_pylist()))
        trees[name] = Hierarchy.from_lines([f"{value};*" for value in values])
    return read_table(
        training.select([*QUASI, "income"]), quasi=QUASI, sensitive="income", hierarchies=trees
    )


def small_groups(table: Table, k: int) -> tuple[int, int, int]:
    """Return how many groups it makes, how many are smaller than k, and the records in those."""
    sizes = np.array([len(leaf.rows) for leaf in Partition(table, "k", k).root.leaves()])
    return len(sizes), int((sizes < k).sum()), int(sizes[sizes < k].sum())


def own_groups(run: Run) -> Grid:
    """Return its groups at k = 2 and k = 16."""
    table = own_setup(run)
    return Grid(
        f"The public implementation on its own set-up: {len(table):,} records of Adult, "
        f"{len(QUASI)} quasi-identifiers",
        ("k", "groups", "smaller than k", "records in them"),
        [(k, *small_groups(table, k)) for k in (2, 16)],
    )
