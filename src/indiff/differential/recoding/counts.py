"""Counts whom a recoded table covers, with or without one record, and turns it into beliefs."""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from indiff.inference import Frequency, NaiveBayes
from indiff.sanitizers.recoding.lattice import Ints, Lattice, distinct
from indiff.sanitizers.recoding.state import State

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Bools = NDArray[np.bool_]

MOST_NUMBERS = 4_000_000  # held at a time


class Published:
    """What the release of a whole table at one node holds, as counts by class."""

    def __init__(self, state: State, keep: bool) -> None:
        self.state, self.keep = state, keep
        self.cells = state.lattice.cells
        self.held = self.cells.counts(state.groups.of_cell, len(state.groups))
        self.kept = self.held[state.good].sum(axis=0)
        self.starred = self.held[~state.good].sum(axis=0)

    @cached_property
    def by_value(self) -> list[Ints]:
        """How many kept records of each class cover each value, column by column."""
        found = []
        good, lattice = self.state.good, self.state.lattice
        for place, number in enumerate(self.state.groups.levels):
            level = lattice.levels[place][number]
            shown = np.zeros((len(level), self.cells.classes), np.int64)
            np.add.at(shown, self.state.labels[place][good], self.held[good])
            covered = np.zeros((len(level.of), self.cells.classes), np.int64)
            for labels in level.covering:
                covered += np.where(labels[:, None] >= 0, shown[labels], 0)
            found.append(covered)
        return found

    @cached_property
    def by_cell(self) -> Ints:
        """How many kept records of each class cover each cell on every column."""
        groups, lattice, good = self.state.groups, self.state.lattice, self.state.good
        own = np.where(good[:, None], self.held, 0)
        found = own[groups.of_cell]
        levels = [lattice.levels[a][number] for a, number in enumerate(groups.levels)]
        choices = [range(len(level.covering)) for level in levels]
        for rows in product(*choices):
            if any(rows):  # where labels cover one another, other groups may cover a cell, too
                columns = zip(rows, levels, self.cells.codes.T, strict=True)
                labels = [level.covering[row][codes] for row, level, codes in columns]
                found += self._held_by(labels, [len(level) for level in levels], own)
        return found

    def alike(self, pairs: Places, *, leave: bool) -> tuple[Places, Places]:
        """Return some of the pairs, and for each pair which of them lets one believe the same.

        Their values are covered by the same labels, and if one is left out, it is of one class.
        """
        groups, lattice, cell = self.state.groups, self.state.lattice, self.cells.cell[pairs]
        levels = [lattice.levels[a][number] for a, number in enumerate(groups.levels)]
        columns, sizes = [groups.of_cell[cell]], [len(groups)]
        for level, codes in zip(levels, self.cells.codes.T, strict=True):
            if len(level.covering) > 1:
                shown, same = np.unique(level.covering, axis=1, return_inverse=True)
                columns.append(same.ravel()[codes[cell]].astype(np.int32))
                sizes.append(shown.shape[1])
        if leave:
            columns.append(self.cells.of_class[pairs])
            sizes.append(self.cells.classes)
        first, back = distinct(columns, sizes)
        return pairs[first], back

    def _held_by(self, labels: list[NDArray[np.int32]], sizes: list[int], own: Ints) -> Ints:
        """Return what the groups with these labels hold, one for each cell; −1 is no label."""
        asked = np.logical_and.reduce([column >= 0 for column in labels])
        found = np.zeros((len(asked), own.shape[1]), np.int64)
        places = np.flatnonzero(asked)
        shown = [
            np.concatenate([mine, column[places]])
            for mine, column in zip(self.state.labels, labels, strict=True)
        ]
        _, same = distinct(shown, sizes)
        group = np.full(len(same), -1, np.intp)
        group[same[: len(own)]] = np.arange(len(own))
        which = group[same[len(own) :]]
        found[places] = np.where(which[:, None] >= 0, own[which], 0)
        return found


class Seen:
    """What the releases without one record of each of some pairs hold, as counts by class.

    Without a record only its own group changes: it is one smaller, and may be newly suppressed or
    newly allowed. ``after`` tells whether it then satisfies the limits; None leaves nobody out.
    """

    def __init__(self, published: Published, pairs: Places, after: Bools | None) -> None:
        state, cells = published.state, published.cells
        self.published, self.cell = published, cells.cell[pairs]
        kept = starred = np.zeros((len(pairs), cells.classes), np.int64)
        if after is not None:
            group = state.groups.of_cell[self.cell]
            own = published.held[group]
            left = own.copy()
            left[np.arange(len(pairs)), cells.of_class[pairs]] -= 1
            good, after = state.good[group][:, None], after[:, None]
            kept = np.where(after, left, 0) - np.where(good, own, 0)
            starred = np.where(after, 0, left) - np.where(good, 0, own)
        self.starred = published.starred + starred
        shown = self.starred if published.keep else np.zeros_like(self.starred)
        self.totals = published.kept + kept + shown
        self.change = kept + shown

    @property
    def covering(self) -> Ints:
        """The released records of each class whose regions all cover the target."""
        return self.published.by_cell[self.cell] + self.change

    def column(self, place: int) -> Ints:
        """The released records of each class whose region on a column covers the target."""
        codes = self.published.cells.codes[self.cell, place]
        return self.published.by_value[place][codes] + self.change

    def beliefs(self, model: NaiveBayes | Frequency) -> Floats:
        """Return the belief about each target."""
        if isinstance(model, Frequency):
            counts = self.covering.astype(np.float64)
            everybody = np.where(self.totals.any(axis=1, keepdims=True), self.totals, 1)
            counts = np.where(counts.any(axis=1, keepdims=True), counts, everybody)
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))
        columns = range(len(self.published.state.groups.levels))
        counts = np.stack([self.column(place) for place in columns], axis=1).astype(np.float64)
        return believe_by_totals(model, self.totals, counts)


def distinct_rows(rows: Ints) -> tuple[Ints, Places]:
    """Return each distinct row once, and for each row which of them it is.

    Rows are compared by one number made of theirs, and whole where two numbers could coincide.
    """
    factors = np.random.default_rng(0).integers(2**61, size=rows.shape[1])
    with np.errstate(over="ignore"):
        keys = (rows * factors).sum(axis=1)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    if (rows[first][back.ravel()] == rows).all():
        return rows[first], back.ravel()
    found, back = np.unique(rows, axis=0, return_inverse=True)
    return found, back.ravel()


def believe_by_totals(model: NaiveBayes, totals: Ints, counts: Floats) -> Floats:
    """Return naive Bayes' beliefs, each release's class totals once."""
    different, back = distinct_rows(totals)
    order = np.argsort(back, kind="stable")
    ends = np.cumsum(np.bincount(back, minlength=len(different)))
    found = np.empty((len(totals), totals.shape[1]))
    for one, rows in zip(different, np.split(order, ends[:-1]), strict=True):
        found[rows] = model.from_counts(one.astype(np.float64), counts[rows])
    return found


def stretches(pairs: int, lattice: Lattice) -> list[slice]:
    """Cut so many pairs into as many as memory holds at a time."""
    each = max(1, MOST_NUMBERS // max(1, len(lattice.shape) * lattice.cells.classes))
    return [slice(start, start + each) for start in range(0, pairs, each)]
