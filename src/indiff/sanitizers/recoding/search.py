"""Finds the node of least loss among those that suppress few enough records, and proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indiff.sanitizers.mondrian.layout import Limits
from indiff.sanitizers.recoding.lattice import Groups, Lattice
from indiff.sanitizers.recoding.limits import meet_all
from indiff.sanitizers.recoding.losses import Loss, State

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
    """Visit nodes, the least bound first, until no bound is at most ``worst()``; count the visits.

    Whoever is not visited has a bound above the worst score that still matters, or lies below a
    node of which nothing finer can do. So what was best among the visited is best of all.
    """
    left = bounds.reshape(lattice.shape).copy()
    flat, visits = left.reshape(-1), 0
    while True:
        number = int(flat.argmin())
        if flat[number] == np.inf or flat[number] > worst():
            return visits
        told, levels = visit(number), lattice.node(number)
        visits += 1
        flat[number] = np.inf
        if told.none_below:
            left[tuple(slice(level + 1) for level in levels)] = np.inf
        if told.bound_above > -np.inf:
            above = left[tuple(slice(level, None) for level in levels)]
            np.maximum(above, told.bound_above, out=above)


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
            return Visit(self.rules.rising, above)
        score, rank = self.loss.score(state), self.lattice.rank
        if score < self.score or (score == self.score and rank[number] < rank[self.number]):
            self.score, self.number, self.state = score, number, state
        return Visit(bound_above=above)


def optimum(lattice: Lattice, loss: Loss, rules: Rules) -> Best:
    """Return the best node; its number is −1 where no node suppresses few enough records."""
    best = Best(lattice, loss, rules)
    search(lattice, loss.bounds, best.visit, lambda: best.score)
    return best
