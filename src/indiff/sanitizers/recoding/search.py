"""Finds the node of least loss among those that suppress few enough records, and proves it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.sanitizers.mondrian.layout import Limits
from indiff.sanitizers.recoding.lattice import Groups, Lattice
from indiff.sanitizers.recoding.limits import meet_all
from indiff.sanitizers.recoding.losses import Loss
from indiff.sanitizers.recoding.state import State

Floats = NDArray[np.float64]


def budget(suppression: float, records: int) -> int:
    """Return how many records may be suppressed: ⌊suppression · records⌋, as it is written.

    >>> budget(0.29, 100), budget(0.02, 30162), budget(0, 5)
    (29, 603, 0)
    """
    return int(Fraction(str(suppression)) * records)


@dataclass(frozen=True)
class Rules:
    """The limits that groups must satisfy, and how many records may lie in those that do not."""

    limits: Limits
    budget: int

    @property
    def sizes_decide(self) -> bool:
        """Whether k alone is asked for."""
        return bool(self.limits.l <= 1 and not self.limits.more)

    @property
    def rising(self) -> bool:
        """Whether a node that suppresses too many records says so of all finer ones.

        A group that grows stays large, and keeps its distinct values: never are more records
        suppressed than in a finer node. Of the other limits only this holds: groups that satisfy
        them do so when they merge, so that a node without any suppression is below such nodes.
        """
        limits = self.limits
        others = limits.l > 1 or limits.log_entropy_l > 0 or limits.recursive_l > 0 or limits.t < 1
        return self.budget == 0 or not bool(others)

    @cached_property
    def least_size(self) -> int:
        """The fewest records of a group that satisfies the limits: it holds so many values."""
        limits = self.limits
        values = math.ceil(math.exp(limits.log_entropy_l) - 1e-6)
        held = (limits.k, limits.l, limits.distinct_l, limits.recursive_l)
        return max(1, values, *map(int, held))

    def none_below(self, groups: Groups, leaving: int = 0) -> bool:
        """Tell of a node that suppresses too many records whether all finer ones do so, too.

        Also where the limits do not say so, groups that are too small for any of them are cut
        into smaller ones. Of these, at most one record less is suppressed where one is ``leaving``.
        """
        if self.rising:
            return True
        small = int(groups.sizes[groups.sizes < self.least_size].sum())
        return small - leaving > self.budget

    def good(self, lattice: Lattice, groups: Groups) -> NDArray[np.bool_]:
        """Tell which groups satisfy every limit."""
        if self.sizes_decide:
            return groups.sizes >= max(1, int(self.limits.k))
        counts = lattice.cells.counts(groups.of_cell, len(groups))
        found: NDArray[np.bool_] = meet_all(counts, self.limits)
        return found


@dataclass(frozen=True)
class Visit:
    """What visiting a node told: that none below can do, and what none above can be below."""

    none_below: bool = False
    bound_above: float = -np.inf


def search(
    lattice: Lattice, bounds: Floats, visit: Callable[[int], Visit], worst: Callable[[], float]
) -> int:
    """Visit nodes until no bound is at most ``worst()``; return how many were visited.

    Whoever is not visited has a bound above the worst score that still matters, or lies below a
    node of which nothing finer can do. So what was best among the visited is best of all. The node
    of the least bound comes first. Where it is not known whether it could do, a way up from it is
    halved, until it is known from where on nodes could (as Kohlmayer et al. 2012 do, "Flash").
    """
    left = bounds.reshape(lattice.shape).copy()
    could = np.zeros(lattice.shape, np.bool_)
    flat, visits = left.reshape(-1), 0
    while True:
        number = int(flat.argmin())
        if flat[number] == np.inf or flat[number] > worst():
            return visits
        way = _way_up(lattice, number, flat, could.reshape(-1), worst())
        low, high = 0, len(way)
        while low < high:
            middle = (low + high) // 2
            told, levels = visit(way[middle]), lattice.node(way[middle])
            visits += 1
            flat[way[middle]] = np.inf
            above = tuple(slice(level, None) for level in levels)
            if told.bound_above > -np.inf:
                np.maximum(left[above], told.bound_above, out=left[above])
            if told.none_below:
                left[tuple(slice(level + 1) for level in levels)] = np.inf
                low = middle + 1
            else:
                could[above] = True
                high = middle


def _way_up(
    lattice: Lattice, number: int, left: Floats, could: NDArray[np.bool_], worst: float
) -> list[int]:
    """Return a node and ever coarser ones, of which it is not known whether they could do."""
    way, levels = [number], list(lattice.node(number))
    while not could[way[-1]]:
        steps = [
            (left[way[-1] + step], column)
            for column, step in enumerate(lattice.steps)
            if levels[column] + 1 < lattice.shape[column]
            and left[way[-1] + step] <= worst
            and left[way[-1] + step] < np.inf
            and not could[way[-1] + step]
        ]
        if not steps:
            break
        column = min(steps)[1]
        levels[column] += 1
        way.append(way[-1] + lattice.steps[column])
    return way


@dataclass
class Best:
    """The best node so far; of equal losses the one of the lower rank."""

    lattice: Lattice
    loss: Loss
    rules: Rules
    score: float = np.inf
    number: int = -1
    state: State | None = field(default=None, repr=False)

    def visit(self, number: int) -> Visit:
        """Judge one node."""
        groups = self.lattice.groups(self.lattice.node(number))
        state = State(self.lattice, groups, self.rules.good(self.lattice, groups))
        above = self.loss.bound_above(state, 0)
        if state.suppressed > self.rules.budget:
            return Visit(self.rules.none_below(groups), above)
        score, rank = self.loss.score(state), self.lattice.rank
        if score < self.score or (score == self.score and rank[number] < rank[self.number]):
            self.score, self.number, self.state = score, number, state
        return Visit(bound_above=above)


def optimum(lattice: Lattice, loss: Loss, rules: Rules) -> Best:
    """Return the best node; its number is −1 where no node suppresses few enough records."""
    best = Best(lattice, loss, rules)
    search(lattice, loss.bounds, best.visit, lambda: best.score)
    return best
