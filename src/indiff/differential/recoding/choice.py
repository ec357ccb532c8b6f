"""Finds for every record at once which node is published of the table without it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indiff.sanitizers.recoding.lattice import Groups, Lattice
from indiff.sanitizers.recoding.limits import meet_without
from indiff.sanitizers.recoding.losses import Loss
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.recoding.search import Rules, Visit, search
from indiff.sanitizers.recoding.state import State

Places = NDArray[np.intp]
Bools = NDArray[np.bool_]


def rules_without(sanitizer: Recoding, lattice: Lattice, of_class: int) -> Rules:
    """Return what a node must satisfy in a table that lacks one record of a class."""
    reference = lattice.cells.totals.copy()
    reference[of_class] -= 1
    return sanitizer.rules(lattice.table, reference)


def classes_apart(sanitizer: Recoding, lattice: Lattice) -> list[tuple[Rules, Places]]:
    """Return the pairs of cell and class that share their rules, with these.

    t-closeness refers to the table that is sanitized: the distribution of D⁻ⁱ depends on i's class
    alone. All other limits are the same whoever leaves.
    """
    pairs = lattice.cells.of_class
    if sanitizer.t is None:
        everyone = np.arange(len(pairs))
        return [(rules_without(sanitizer, lattice, int(pairs[0])), everyone)]
    return [
        (rules_without(sanitizer, lattice, int(c)), np.flatnonzero(pairs == c))
        for c in np.unique(pairs)
    ]


def good_without(rules: Rules, lattice: Lattice, groups: Groups, pairs: Places) -> Bools:
    """Tell for pairs whether their group satisfies the limits without one of their records.

    A group that is left without records is none any more, and breaks nothing.
    """
    group = groups.of_cell[lattice.cells.cell[pairs]]
    if rules.sizes_decide:
        sizes = groups.sizes[group]
        return (sizes - 1 >= rules.limits.k) | (sizes == 1)
    met = meet_without(lattice.cells.counts(groups.of_cell, len(groups)), rules.limits)
    found: Bools = met[group, lattice.cells.of_class[pairs]]
    return found


@dataclass
class _Search:
    """The best node so far of each of some pairs, with one of the pair's records left out."""

    lattice: Lattice
    loss: Loss
    rules: Rules
    pairs: Places
    score: NDArray[np.float64] = field(init=False)
    number: NDArray[np.int64] = field(init=False)
    open: Bools = field(init=False)
    worst: float = np.inf

    def __post_init__(self) -> None:
        self.score = np.full(len(self.pairs), np.inf)
        self.number = np.full(len(self.pairs), -1, np.int64)
        self.open = np.ones(len(self.pairs), np.bool_)

    def run(self) -> NDArray[np.int64]:
        """Return the number of each pair's node, −1 where none will do."""
        top = self.lattice.size - 1
        if self.rules.rising:
            # The top suppresses least: who has no node there has none at all.
            self.visit(top)
            self.open = self.number >= 0
            self._look()
        if self.open.any():
            search(self.lattice, self.loss.bounds_without, self.visit, lambda: self.worst)
        return self.number

    def _look(self) -> None:
        self.worst = float(self.score[self.open].max(initial=-np.inf))

    def visit(self, number: int) -> Visit:
        """Judge one node for all pairs."""
        lattice, rules = self.lattice, self.rules
        groups = lattice.groups(lattice.node(number))
        state = State(lattice, groups, rules.good(lattice, groups))
        above = self.loss.bound_above(state, 1)
        if state.suppressed_without.min() > rules.budget:
            return Visit(rules.none_below(groups, 1), above)
        after = good_without(rules, lattice, groups, self.pairs).astype(np.intp)
        cell = lattice.cells.cell[self.pairs]
        allowed = state.suppressed_without[after, groups.of_cell[cell]] <= rules.budget
        if not allowed.any():
            return Visit(rules.none_below(groups, 1), above)
        scores = self.loss.scores_without(state)[after, cell]
        rank = lattice.rank
        better = (scores < self.score) | (
            (scores == self.score) & (rank[number] < rank[self.number])
        )
        better &= allowed
        if better.any():
            self.score[better], self.number[better] = scores[better], number
            self._look()
        return Visit(bound_above=above)


def choose(sanitizer: Recoding, lattice: Lattice, loss: Loss) -> NDArray[np.int64]:
    """Return for each pair the number of the node that is published without one of its records.

    −1 where no node suppresses few enough. The same that searching each D⁻ⁱ finds: every score is
    made from the whole numbers that counting D⁻ⁱ would give (``docs/leave-one-out.md``).
    """
    number = np.full(len(lattice.cells.cell), -1, np.int64)
    for rules, pairs in classes_apart(sanitizer, lattice):
        number[pairs] = _Search(lattice, loss, rules, pairs).run()
    return number
