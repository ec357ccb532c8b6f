"""Counts the groups of any node of the lattice of levels from those of a finer one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.sanitizers.recoding.levels import Level, levels_of
from indiff.sanitizers.recoding.merging import merge

Ints = NDArray[np.int64]
Places = NDArray[np.intp]

MOST_NODES = 1_000_000
MOST_KEPT = 20_000_000
"""How many groups all kept nodes may have together, counted as often as they are held."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct combinations of a table's values, and what of each class they hold.

    A cell is a combination of quasi-identifiers, a pair a cell with a class. All records of a pair
    are alike to a recoding, which never looks at a row again.
    """

    codes: NDArray[np.int32]
    cell: Places
    of_class: NDArray[np.int32]
    count: Ints
    pair_of_row: Places
    classes: int

    @staticmethod
    def of(table: Table) -> Cells:
        """Count a table's cells and pairs."""
        columns = [a.codes for a in table.attributes]
        sizes = [len(a.values) for a in table.attributes]
        classes = len(table.sensitive.values)
        first, of_row = distinct([*columns, table.sensitive.codes], [*sizes, classes])
        held = [column[first] for column in columns]
        some, cell = distinct(held, sizes)
        return Cells(
            np.stack([column[some] for column in held], axis=1),
            cell,
            table.sensitive.codes[first],
            np.bincount(of_row, minlength=len(first)).astype(np.int64),
            of_row,
            classes,
        )

    @cached_property
    def sizes(self) -> Ints:
        """How many records each cell holds."""
        return add_up(self.cell, self.count, len(self.codes))

    @cached_property
    def totals(self) -> Ints:
        """How many records hold each class."""
        return add_up(self.of_class, self.count, self.classes)

    def counts(self, group_of_cell: NDArray[np.int32], groups: int) -> Ints:
        """Return how many records of each class each group holds."""
        keys = group_of_cell[self.cell].astype(np.int64) * self.classes + self.of_class
        flat = add_up(keys, self.count, groups * self.classes)
        return flat.reshape(groups, self.classes)


def add_up(places: NDArray[np.integer], amounts: Ints, size: int) -> Ints:
    """Add whole amounts at places; exact below 2⁵³."""
    return np.bincount(places, weights=amounts, minlength=size).astype(np.int64)


def distinct(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> tuple[Places, Places]:
    """Return a place of each distinct combination, and for each place which of them it is."""
    keys, room = np.zeros(len(columns[0]), np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if room * size >= 2**62:
            keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
            room = len(keys)
        keys, room = keys * size + column, room * size
    if room <= 4 * len(keys) + 1024:  # marking takes less time than sorting
        place = np.full(room, -1, np.int64)
        place[keys] = np.arange(len(keys))
        shown = np.flatnonzero(place >= 0)
        number = np.empty(room, np.intp)
        number[shown] = np.arange(len(shown))
        return place[shown], number[keys]
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back.ravel()


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one node, by their first cell: this cell, and how many records each holds.

    ``merged`` has for each group of a ``finer`` node in which of these it lies.
    """

    levels: tuple[int, ...]
    cell: Places
    sizes: Ints
    merged: NDArray[np.int32]
    finer: Groups | None

    def __len__(self) -> int:
        return len(self.cell)

    @cached_property
    def of_cell(self) -> NDArray[np.int32]:
        """The group of every cell."""
        found, below = self.merged, self.finer
        while below is not None:
            found, below = found[below.merged], below.finer
        return found


class Lattice:
    """All combinations of one level for each column, and the groups of those that were asked for.

    Nodes are numbered so that levels count like digits, the last column's fastest.
    """

    def __init__(self, table: Table, levels: tuple[tuple[Level, ...], ...] | None = None) -> None:
        self.table = table
        self.levels = levels or tuple(map(levels_of, table.attributes))
        self.shape = tuple(map(len, self.levels))
        nodes = math.prod(self.shape)
        if nodes > MOST_NODES:
            raise UserError(
                f"a lattice of at most {MOST_NODES:,} nodes is searched; the levels of these "
                f"{len(self.shape)} quasi-identifiers make {nodes:,}",
                way_out="Give hierarchies with fewer levels, or fewer quasi-identifiers",
                field="quasi",
            )
        self.size = nodes
        self.cells = Cells.of(table)
        each = np.arange(len(self.cells.codes))
        bottom = Groups((0,) * len(self.shape), each, self.cells.sizes, each.astype(np.int32), None)
        self._kept = [bottom]
        self._place = {bottom.levels: 0}
        self._room = MOST_KEPT
        self._at = np.zeros((64, len(self.shape)), np.int32)
        self._lengths = np.full(64, len(bottom))
        held = [[level.of for level in column] for column in self.levels]
        self._labels = np.concatenate([of for column in held for of in column])
        ends = np.cumsum([len(of) for column in held for of in column])
        self._starts = np.split(np.append(0, ends[:-1]), np.cumsum(self.shape)[:-1])

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """What one level more of each column adds to a node's number."""
        return tuple(math.prod(self.shape[column + 1 :]) for column in range(len(self.shape)))

    @cached_property
    def height(self) -> Ints:
        """The sum of levels of every node."""
        return np.indices(self.shape).reshape(len(self.shape), -1).sum(axis=0)

    @cached_property
    def rank(self) -> Ints:
        """The place of every node among all: lower sums first, then lower levels, left to right."""
        order = np.argsort(self.height, kind="stable")
        rank = np.empty(self.size, np.int64)
        rank[order] = np.arange(self.size)
        return rank

    def node(self, number: int) -> tuple[int, ...]:
        """Return the levels of a node."""
        return tuple(int(level) for level in np.unravel_index(number, self.shape))

    def labels(self, levels: Sequence[int], cells: Places) -> list[NDArray[np.int32]]:
        """Return the labels of cells at a node, column by column."""
        chosen = zip(self.levels, levels, self.cells.codes.T, strict=True)
        return [column[level].of[codes[cells]] for column, level, codes in chosen]

    def groups(self, levels: tuple[int, ...]) -> Groups:
        """Return the groups of a node, rolled up from the fewest of a finer node.

        What is handed out is a copy: what it works out for itself is not kept.
        """
        known = self._place.get(levels)
        if known is not None:
            return replace(self._kept[known])
        count = len(self._kept)
        below = np.flatnonzero((self._at[:count] <= levels).all(axis=1))
        source = self._kept[below[self._lengths[below].argmin()]]
        sizes = np.array(
            [len(each[level]) for each, level in zip(self.levels, levels, strict=True)]
        )
        starts = np.array([each[level] for each, level in zip(self._starts, levels, strict=True)])
        columns = np.flatnonzero(sizes > 1)
        cell, held, merged = merge(
            self.cells.codes, source.cell, source.sizes, self._labels, starts, sizes, columns
        )
        found = Groups(levels, cell, held, merged, source)
        self._keep(found)
        return replace(found)

    def _keep(self, groups: Groups) -> None:
        cost = len(groups.merged) + 4 * len(groups)
        if cost > self._room:
            return
        self._room -= cost
        count = len(self._kept)
        if count == len(self._at):
            self._at = np.concatenate([self._at, self._at])
            self._lengths = np.concatenate([self._lengths, self._lengths])
        self._at[count], self._lengths[count] = groups.levels, len(groups)
        self._place[groups.levels] = count
        self._kept.append(groups)
