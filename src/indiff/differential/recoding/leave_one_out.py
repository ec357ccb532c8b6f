"""Leaves each record out of a recoding exactly: one search for all records, then counts."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Progress
from indiff.differential.path import Beliefs
from indiff.differential.recoding.changes import NodeChange, node_change
from indiff.differential.recoding.choice import choose, classes_apart, good_without
from indiff.differential.recoding.counts import (
    Published,
    Seen,
    believe_by_totals,
    distinct_rows,
    stretches,
)
from indiff.differential.refit.refit import Releases
from indiff.inference import Frequency, NaiveBayes
from indiff.release.release import Release
from indiff.sanitizers.recoding.lattice import Lattice
from indiff.sanitizers.recoding.limits import meet_all
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.recoding.search import Best, Rules, optimum
from indiff.sanitizers.recoding.state import State

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class _Pairs:
    """Beliefs about pairs of cell and class, whose records are all alike to a recoding."""

    def __init__(self, lattice: Lattice) -> None:
        pairs, classes = len(lattice.cells.cell), lattice.cells.classes
        self.lattice = lattice
        self.beliefs = np.zeros((pairs, classes))
        self.uncovered = np.zeros(pairs, np.bool_)
        self.unmet = np.zeros(pairs, np.bool_)

    def see(
        self, state: State, pairs: Places, model: NaiveBayes | Frequency, keep: bool, rules: Rules,
        *, leave: bool,
    ) -> None:  # fmt: skip
        """Note what the release at a node lets one believe, without a record of each pair."""
        published = Published(state, keep)
        first, back = published.alike(pairs, leave=leave)
        for part in stretches(len(first), self.lattice):
            some = first[part]
            after = good_without(rules, self.lattice, state.groups, some) if leave else None
            seen = Seen(published, some, after)
            self.beliefs[some] = seen.beliefs(model)
            self.uncovered[some] = ~seen.covering.any(axis=1)
            if keep:  # rows of ``*`` are a group, too
                held, same = distinct_rows(seen.starred)
                broken = held.any(axis=1) & ~meet_all(held, rules.limits)
                self.unmet[some] = broken[same]
        for known in (self.beliefs, self.uncovered, self.unmet):
            known[pairs] = known[first][back]

    def see_nothing(self, pairs: Places, model: NaiveBayes | Frequency, *, leave: bool) -> None:
        """Note what one group lets one believe in which every cell is ``*``."""
        cells = self.lattice.cells
        totals = np.tile(cells.totals, (len(pairs), 1))
        totals[np.arange(len(pairs)), cells.of_class[pairs]] -= leave
        self.unmet[pairs] = True
        if isinstance(model, Frequency):
            self.beliefs[pairs] = totals / totals.sum(axis=1, keepdims=True)
            return
        counts = np.repeat(totals[:, None, :], len(self.lattice.shape), axis=1)
        self.beliefs[pairs] = believe_by_totals(model, totals, counts.astype(np.float64))


def leave_one_out(
    table: Table,
    sanitizer: Recoding,
    model: NaiveBayes | Frequency,
    rows: Places,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Beliefs:
    """Return the beliefs about the targets with and without their records, exactly.

    The same numbers as re-sanitizing and refitting for every target (``refit``), from one search
    of the lattice; ``docs/leave-one-out.md`` has the proof. One thread is enough (``jobs``).
    """
    lattice = Lattice(table)
    loss, keep = sanitizer.loss_of(lattice), sanitizer.suppressed == "keep"
    rules = sanitizer.rules(table)
    best = optimum(lattice, loss, rules)
    everyone = np.arange(len(lattice.cells.cell))
    present, absent = _Pairs(lattice), _Pairs(lattice)
    met: bool | None = False
    if best.state is None:
        if sanitizer.unmet == "error":
            raise sanitizer.obstacle(table, lattice)
        present.see_nothing(everyone, model, leave=False)
    else:
        present.see(best.state, everyone, model, keep, rules, leave=False)
        met = not present.unmet.any()
    number = choose(sanitizer, lattice, loss)
    for shared, pairs in classes_apart(sanitizer, lattice):
        for node in np.unique(number[pairs]).tolist():
            some = pairs[number[pairs] == node]
            if node < 0:
                absent.see_nothing(some, model, leave=True)
                continue
            groups = lattice.groups(lattice.node(node))
            state = State(lattice, groups, shared.good(lattice, groups))
            absent.see(state, some, model, keep, shared, leave=True)
    if progress is not None:
        progress(len(rows), len(rows))
    of_row = lattice.cells.pair_of_row[rows]
    return Beliefs(
        rows,
        present.beliefs[of_row],
        absent.beliefs[of_row],
        present.uncovered[of_row],
        absent.uncovered[of_row],
        absent.unmet[of_row],
        met,
        None if best.state is None else sanitizer.release(table, best.state),
    )


class RecodingReleases(Releases):
    """Makes f(D⁻ⁱ) for one table and one recoding, record by record, without a search for each."""

    def __init__(self, table: Table, sanitizer: Recoding) -> None:
        super().__init__(table, sanitizer)

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice(self.table)

    @cached_property
    def _number(self) -> NDArray[np.int64]:
        return choose(self.sanitizer, self._lattice, self.sanitizer.loss_of(self._lattice))

    @cached_property
    def _best(self) -> Best:
        loss = self.sanitizer.loss_of(self._lattice)
        return optimum(self._lattice, loss, self.sanitizer.rules(self.table))

    def _node(self, row: int) -> int:
        return int(self._number[self._lattice.cells.pair_of_row[row]])

    def change(self, row: int) -> NodeChange | None:
        """Return what changes without the record in this row; None if D has no node itself."""
        if self._best.state is None:
            return None
        return node_change(self.sanitizer, self._best.state, self._node(row), row)

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        others = self.table.without(row)
        number = self._node(row)
        if number < 0:
            made: Release = self.sanitizer.sanitize(others)
            return made
        lattice = Lattice(others, self._lattice.levels)
        groups = lattice.groups(lattice.node(number))
        state = State(lattice, groups, self.sanitizer.rules(others).good(lattice, groups))
        release: Release = self.sanitizer.release(others, state)
        return release
