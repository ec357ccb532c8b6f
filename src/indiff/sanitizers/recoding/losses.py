"""Measures what a node of the lattice loses, in whole numbers, with all records or without one.

Every loss is worked out from whole numbers by the same operations, whether records were counted
with or without a record, so that ties are ties in both. What is no whole number by nature (the
width of an interval, n log n) is rounded to 2⁻³² once, before anything is added up.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.release.penalties import region_penalties
from indiff.release.release import ReleasedColumn
from indiff.sanitizers.recoding.lattice import Ints, Lattice, add_up
from indiff.sanitizers.recoding.state import State

Floats = NDArray[np.float64]

UNIT = 2**32
ROUNDING = 1 - 1e-12  # a bound may not exceed what it bounds by rounding


class Loss(ABC):
    """What a node loses, smaller is better; ``weights`` has a number for each column."""

    by_column: ClassVar[bool] = True
    """Whether columns can be weighed."""

    def __init__(self, lattice: Lattice, weights: Sequence[float] | None) -> None:
        self.lattice = lattice
        self.records = len(lattice.table)
        self.weights = weights

    @cached_property
    def bounds(self) -> Floats:
        """For each node a number that its score cannot be below, known before it is counted."""
        return self._bounds(0)

    @cached_property
    def bounds_without(self) -> Floats:
        """The same for a table that lacks any one record."""
        return self._bounds(1)

    def _bounds(self, leaving: int) -> Floats:
        return np.full(self.lattice.size, -np.inf)

    def bound_above(self, state: State, leaving: int) -> float:
        """Return what no node above this one can be below, known once this one is counted."""
        return -np.inf

    @abstractmethod
    def score(self, state: State) -> float:
        """Return a number by which nodes compare as by their loss."""

    @abstractmethod
    def scores_without(self, state: State) -> Floats:
        """Return the scores without one record of each cell, by what its group then is.

        The first row is for groups that break a limit without the record, the second for others.
        """

    def value(self, score: float) -> float:
        """Return the loss of a score."""
        return score

    def _over_columns(self, each: Sequence[Floats]) -> Floats:
        """Add up the columns' numbers by their weights."""
        weights = self.weights or [1.0] * len(each)
        total = np.zeros_like(each[0])
        for weight, column in zip(weights, each, strict=True):
            total = total + weight * column
        return total

    def _mean(self, sums: Sequence[Ints], units: Sequence[int], records: int) -> Floats:
        """Return the mean over columns of shares of their units; equal where it is equal.

        Without weights one whole number is divided once, so that no rounding breaks a tie.
        """
        least = math.lcm(*units)
        if self.weights is None and records * least * len(units) < 2**62:
            whole = [total * (least // unit) for total, unit in zip(sums, units, strict=True)]
            return np.asarray(sum(whole) / (records * least * len(units)))
        each = [total / (records * unit) for total, unit in zip(sums, units, strict=True)]
        return self._over_columns(each) / self._whole_weight

    @cached_property
    def _whole_weight(self) -> float:
        return float(sum(self.weights or [1.0] * len(self.lattice.shape)))


class Cost(Loss):
    """A mean over columns of what each record's label costs; a suppressed record costs the most.

    ``_costs`` has what each label costs by column and level, ``_units`` the most of each column.
    """

    charges_suppression: ClassVar[bool] = True

    def __init__(self, lattice: Lattice, weights: Sequence[float] | None) -> None:
        super().__init__(lattice, weights)
        self._costs: list[list[Ints]] = []
        self._units: list[int] = []
        for place in range(len(lattice.shape)):
            costs, unit = self._price(place)
            self._costs.append(costs)
            self._units.append(unit)

    @abstractmethod
    def _price(self, place: int) -> tuple[list[Ints], int]:
        """Return what the labels of a column cost, level by level, and the most it can be."""

    @abstractmethod
    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        """Return the score from what all records cost, column by column."""

    @cached_property
    def _totals(self) -> list[Ints]:
        """What all records cost at each level, column by column."""
        cells, found = self.lattice.cells, []
        for levels, codes, costs in zip(
            self.lattice.levels, cells.codes.T, self._costs, strict=True
        ):
            held = add_up(codes, cells.sizes, len(levels[0].of))
            each = zip(levels, costs, strict=True)
            found.append(np.array([(held * cost[level.of]).sum() for level, cost in each]))
        return found

    def _bounds(self, leaving: int) -> Floats:
        sums = []
        for place, height in enumerate(self.lattice.shape):
            most = np.array([cost.max() for cost in self._costs[place]])
            shape = [1] * len(self.lattice.shape)
            shape[place] = height
            least = (self._totals[place] - leaving * most).reshape(shape)
            sums.append(np.broadcast_to(least, self.lattice.shape).ravel())
        return self._scored(sums, max(1, self.records - leaving)) * ROUNDING

    def score(self, state: State) -> float:
        """Return a number by which nodes compare as by their loss."""
        sums = []
        for place, level in enumerate(state.groups.levels):
            total = self._totals[place][level]
            if self.charges_suppression:
                cost = self._costs[place][level][state.bad_labels[place]]
                saved = (state.groups.sizes[state.bad] * cost).sum()
                total = total + state.suppressed * self._units[place] - saved
            sums.append(np.array([total]))
        return float(self._scored(sums, self.records)[0])

    def scores_without(self, state: State) -> Floats:
        """Return the scores without one record of each cell, by what its group then is."""
        sums = []
        for place, level in enumerate(state.groups.levels):
            cost = self._costs[place][level][state.labels[place]]
            total = self._totals[place][level] - cost
            if self.charges_suppression:
                before = (state.bad_sizes * cost).sum()
                spared = before - state.bad_sizes * cost + state.bad_after * cost
                total = total - spared + state.suppressed_without * self._units[place]
            else:
                total = np.stack([total, total])
            sums.append(total)
        return state.by_cell(self._scored(sums, max(1, self.records - 1)))


class Shares(Cost):
    """ARX's loss, by the mean: what share of a column's values its labels stand for."""

    def _price(self, place: int) -> tuple[list[Ints], int]:
        levels = self.lattice.levels[place]
        return [np.bincount(level.of, minlength=len(level)) for level in levels], len(levels[0].of)

    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        units = [max(1, unit - 1) for unit in self._units]
        return self._mean([total - records for total in sums], units, records)


class GeometricShares(Shares):
    """ARX's loss: the same by the geometric mean of one more than each column's."""

    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        pairs = zip(sums, self._units, strict=True)
        each = [(total - records) / (records * max(1, unit - 1)) for total, unit in pairs]
        if self.weights is not None:
            return self._over_columns([np.log1p(column) for column in each])
        product = np.ones_like(each[0])
        for column in each:
            product = product * (1 + column)
        return product

    def value(self, score: float) -> float:
        """Return the loss of a score."""
        power = 1 / self._whole_weight
        return float(np.expm1(score * power) if self.weights is not None else score**power - 1)


class CertaintyPenalty(Cost):
    """NCP (Xu et al. 2006), as :func:`indiff.utility.measure` measures a release."""

    def _price(self, place: int) -> tuple[list[Ints], int]:
        attribute, found = self.lattice.table.attributes[place], []
        for level in self.lattice.levels[place]:
            labels = np.arange(len(level), dtype=np.int32)
            column = ReleasedColumn(
                attribute, labels, labels, level.low, level.high, len(level), level.region
            )
            found.append(np.rint(region_penalties(column) * UNIT).astype(np.int64))
        return found, UNIT

    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        return self._mean(sums, self._units, records)


class Precision(Cost):
    """Level over top level, a mean over records and columns (Sweeney 2002, the other way round)."""

    def _price(self, place: int) -> tuple[list[Ints], int]:
        levels = self.lattice.levels[place]
        costs = [np.full(len(level), number, np.int64) for number, level in enumerate(levels)]
        return costs, len(levels) - 1

    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        return self._mean(sums, self._units, records)


class Height(Precision):
    """The sum of levels; suppression is free."""

    charges_suppression: ClassVar[bool] = False

    def _scored(self, sums: Sequence[Ints], records: int) -> Floats:
        return self._over_columns([total / records for total in sums])


class Discernibility(Loss):
    """Σ |E|² over groups, and n for each suppressed record (Bayardo and Agrawal 2005)."""

    by_column: ClassVar[bool] = False

    def bound_above(self, state: State, leaving: int) -> float:
        """Groups that merge have larger squares."""
        sizes = state.groups.sizes
        return float((sizes**2).sum() - leaving * (2 * sizes.max() - 1))

    def score(self, state: State) -> float:
        """Return the loss."""
        kept = (state.groups.sizes[state.good] ** 2).sum()
        return float(kept + self.records * state.suppressed)

    def scores_without(self, state: State) -> Floats:
        """Return the scores without one record of each cell, by what its group then is."""
        sizes = state.groups.sizes
        kept = (sizes[state.good] ** 2).sum() - np.where(state.good, sizes**2, 0)
        after = np.stack([np.zeros_like(sizes), (sizes - 1) ** 2])
        scores = kept + after + (self.records - 1) * state.suppressed_without
        return state.by_cell(scores.astype(np.float64))


class AverageGroup(Loss):
    """Records over groups, of which all suppressed records are one."""

    by_column: ClassVar[bool] = False

    def bound_above(self, state: State, leaving: int) -> float:
        """Groups that merge are fewer."""
        return (self.records - leaving) / len(state.groups)

    def score(self, state: State) -> float:
        """Return the loss."""
        return self.records / (int(state.good.sum()) + (state.suppressed > 0))

    def scores_without(self, state: State) -> Floats:
        """Return the scores without one record of each cell, by what its group then is."""
        kept = int(state.good.sum()) - state.good.astype(np.int64)
        after = np.stack([np.zeros_like(kept), (state.groups.sizes > 1).astype(np.int64)])
        groups = kept + after + (state.suppressed_without > 0)
        return state.by_cell((self.records - 1) / np.maximum(groups, 1))


class Entropy(Loss):
    """Non-uniform entropy: the bits that it takes to tell the values behind every label.

    Of a suppressed record also those that tell its label. In n log₂ n, each rounded to 2⁻³².
    """

    def __init__(self, lattice: Lattice, weights: Sequence[float] | None) -> None:
        super().__init__(lattice, weights)
        number = np.arange(self.records + 1, dtype=np.float64)
        self._bits = np.rint(number * np.log2(np.maximum(number, 1)) * UNIT).astype(np.int64)
        self._held: list[Ints] = []  # records by value
        self._shown: list[list[Ints]] = []  # records by label, level by level
        for levels, codes in zip(lattice.levels, lattice.cells.codes.T, strict=True):
            held = add_up(codes, lattice.cells.sizes, len(levels[0].of))
            self._held.append(held)
            self._shown.append([add_up(level.of, held, len(level)) for level in levels])

    def _lost(self, place: int, level: int) -> int:
        """Return the bits between a column's labels and values."""
        return int(
            self._bits[self._shown[place][level]].sum() - self._bits[self._held[place]].sum()
        )

    def _bounds(self, leaving: int) -> Floats:
        each = []
        for place, height in enumerate(self.lattice.shape):
            least = []
            for level in range(height):
                shown = self._shown[place][level]
                step = (self._bits[shown] - self._bits[np.maximum(shown - 1, 0)]).max()
                least.append(self._lost(place, level) - leaving * int(step))
            shape = [1] * len(self.lattice.shape)
            shape[place] = height
            numbers = np.array(least, np.float64).reshape(shape) / UNIT
            each.append(np.broadcast_to(numbers, self.lattice.shape).ravel())
        found = self._over_columns(each)
        return np.where(found > 0, found * ROUNDING, found / ROUNDING)

    def score(self, state: State) -> float:
        """Return the loss."""
        each = []
        for place, level in enumerate(state.groups.levels):
            sizes = state.groups.sizes[state.bad]
            held = add_up(state.bad_labels[place], sizes, len(self._shown[place][level]))
            bits = self._lost(place, level) + self._bits[state.suppressed] - self._bits[held].sum()
            each.append(np.array([bits / UNIT]))
        return float(self._over_columns(each)[0])

    def scores_without(self, state: State) -> Floats:
        """Return the scores without one record of each cell, by what its group then is."""
        each, bits = [], self._bits
        for place, level in enumerate(state.groups.levels):
            labels, shown = state.labels[place], self._shown[place][level]
            held = add_up(labels, state.bad_sizes, len(shown))
            own = held[labels]
            now = own - state.bad_sizes + state.bad_after
            apart = bits[state.suppressed_without] - (bits[held].sum() - bits[own] + bits[now])
            codes, values = self.lattice.cells.codes[:, place], self._held[place]
            under = shown[self.lattice.levels[place][level].of]
            lost = self._lost(place, level) - (bits[under] - bits[np.maximum(under - 1, 0)])
            lost = lost + bits[values] - bits[np.maximum(values - 1, 0)]
            each.append((apart[:, state.groups.of_cell] + lost[codes]) / UNIT)
        return self._over_columns(each)


LOSSES: Mapping[str, type[Loss]] = {
    "loss": GeometricShares,
    "loss-mean": Shares,
    "ncp": CertaintyPenalty,
    "precision": Precision,
    "height": Height,
    "discernibility": Discernibility,
    "average-group": AverageGroup,
    "entropy": Entropy,
}
