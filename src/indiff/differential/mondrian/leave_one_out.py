"""Measures Mondrian exactly for models that need only counts: milliseconds, not hours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.run import Progress
from indiff.differential.measurement import Beliefs
from indiff.differential.mondrian.beliefs import (
    FREQUENCY,
    LOGARITHMS,
    NAIVE_BAYES,
    PRODUCTS,
    STOP,
    UNFINISHED,
    Adversary,
    Outcome,
    believe_all,
    empty_outcome,
    finish_generalized,
)
from indiff.differential.mondrian.coverage import Counted, add_forest
from indiff.differential.mondrian.walk import finish_alone, walk
from indiff.inference import Frequency, NaiveBayes
from indiff.kernels import Shared
from indiff.sanitizers.mondrian.constraints import meets
from indiff.sanitizers.mondrian.layout import (
    CUT_BY,
    ON_A_LINE,
    Problem,
    Tree,
    relative_to,
    total_extremes,
)
from indiff.sanitizers.mondrian.mondrian import Mondrian, grow_parts, missing_parts

# A product of this many powers of ten still fits a floating-point number.
LARGEST_POWER = 280


def leave_one_out(
    table: Table,
    sanitizer: Mondrian,
    model: NaiveBayes | Frequency,
    rows: NDArray[np.intp],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Beliefs:
    """Return the beliefs about the targets with and without their records, exactly.

    The same numbers as re-sanitizing and refitting for every target (``refit``), from one
    partition of the table; ``docs/leave-one-out.md`` has the proof.
    """
    parts = missing_parts(table)
    problem = sanitizer.problem(table)
    obstacle = sanitizer.obstacle(table, problem, parts)
    if obstacle is not None and sanitizer.unmet == "error":
        raise obstacle
    adversary = as_adversary(model, table)
    size = len(table.sensitive.values)
    outcome = empty_outcome(len(table), size)
    believed = empty_outcome(len(table), size)
    # A table that meets the constraints may not without a record, and the other way round: the
    # partition of D is the base of the walk even where D itself is published as one group.
    tree = grow_parts(table, problem, parts)
    counted = _count(table, problem, tree, adversary)
    totals, everyone = _totals(problem), rows.astype(np.int32)
    if obstacle is None:
        believe_all(problem, adversary, tree, counted, totals, believed)
    else:
        finish_generalized(problem, adversary, totals, everyone, False, believed)
    generalized = unmet_without(problem, parts)
    finish_generalized(problem, adversary, totals, everyone[generalized[rows]], True, outcome)
    todo = np.zeros(len(table), dtype=bool)
    todo[rows] = True
    shared = Shared(jobs, progress, len(rows))
    walks = _Walks(table, sanitizer, problem, adversary, parts, outcome, shared)
    walks.run(todo & ~generalized, tree, counted)
    rows = rows[outcome.uncovered[rows] != UNFINISHED]  # an interruption keeps what is done
    everybody = np.array_equal(rows, np.arange(len(table)))  # then nothing needs copying
    return Beliefs(
        rows,
        believed.beliefs if everybody else believed.beliefs[rows],
        outcome.beliefs if everybody else outcome.beliefs[rows],
        believed.uncovered[rows].astype(bool),
        outcome.uncovered[rows].astype(bool),
        generalized[rows],
        obstacle is None,
    )


def as_adversary(model: NaiveBayes | Frequency, table: Table) -> Adversary:
    """Return the model as data for compiled code."""
    size = len(table.sensitive.values)
    if isinstance(model, Frequency):
        return Adversary(
            np.int64(FREQUENCY), np.int64(PRODUCTS), np.float64(1), np.int64(1), np.ones(size)
        )
    follow = model.prior == "release"
    factor = math.log10(len(table) + 2 * model.alpha + 1) - min(0.0, math.log10(model.alpha))
    many = len(table.attributes) * factor > LARGEST_POWER
    return Adversary(
        np.int64(NAIVE_BAYES),
        np.int64(LOGARITHMS if many else PRODUCTS),
        np.float64(model.alpha),
        np.int64(follow),
        model.prior_weights(np.ones(size)).astype(np.float64),
    )


def _count(table: Table, problem: Problem, tree: Tree, adversary: Adversary) -> Counted:
    """Return N[a][v][c] of a partition, for every code of every attribute."""
    sizes = [len(a.values) for a in table.attributes]
    codes = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    counts = np.zeros((len(codes), int(problem.class_count)), np.int32)
    counted = Counted(codes, np.cumsum([0, *sizes]).astype(np.int64), counts)
    if adversary.model == NAIVE_BAYES:
        add_forest(problem, tree, counted)
    return counted


def _totals(problem: Problem) -> NDArray[np.int64]:
    return np.bincount(problem.classes, minlength=int(problem.class_count)).astype(np.int64)


def unmet_without(problem: Problem, parts: list[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Tell for every record whether the table without it cannot meet the constraints at all."""
    unmet = np.zeros(len(problem.classes), dtype=bool)
    size = int(problem.class_count)
    counts = [np.bincount(problem.classes[part], minlength=size).astype(np.int64) for part in parts]
    if problem.limits.l <= 1 and not problem.limits.more:  # sizes alone decide
        k, small = problem.limits.k, [len(part) < problem.limits.k for part in parts]
        for place, part in enumerate(parts):
            others = small[:place] + small[place + 1 :]
            unmet[part] = 1 <= len(part) - 1 < k or any(others)
        return unmet
    for place, part in enumerate(parts):
        for c in np.flatnonzero(counts[place]):
            counts[place][c] -= 1
            reference = np.sum(counts, axis=0)
            limits = problem.limits._replace(reference=reference / max(1, reference.sum()))
            # A part of missing values that becomes empty is no longer published.
            fails = any(held.any() and not meets(held, held.sum(), limits) for held in counts)
            unmet[part[problem.classes[part] == c]] = fails
            counts[place][c] += 1
    return unmet


def global_extremes(problem: Problem, table: Table) -> NDArray[np.bool_]:
    """Find the records that alone hold the table's lowest or highest value of an attribute."""
    alone = np.zeros(len(table), dtype=bool)
    low, high = total_extremes(table)
    for a in np.flatnonzero(problem.meta[:, CUT_BY] == ON_A_LINE):
        for extreme in (low[a], high[a]):
            holders = np.flatnonzero(problem.codes[a] == extreme)
            if len(holders) == 1:
                alone[holders[0]] = True
    return alone


@dataclass(frozen=True, eq=False)
class _Walks:
    """What every walk of one test needs; ``parts`` are the rows of each root of a partition."""

    table: Table
    sanitizer: Mondrian
    problem: Problem
    adversary: Adversary
    parts: list[NDArray[np.int32]]
    outcome: Outcome
    shared: Shared

    def run(self, todo: NDArray[np.bool_], tree: Tree, counted: Counted) -> None:
        """Walk the targets; those that change the table's own ranges are rebuilt one by one."""
        widening = global_extremes(self.problem, self.table)
        for row in np.flatnonzero(todo & widening):
            self._rebuild(int(row))
        todo = todo & ~widening
        if self.sanitizer.t is None:
            self._walk(self.problem, tree, counted, todo)
            return
        # t-closeness refers to the distribution of the table being sanitized: D⁻ⁱ's depends on
        # i's sensitive value alone, so each value has a base partition of its own.
        for c in np.unique(self.problem.classes[todo]):
            shifted = self._without_value(c)
            base = grow_parts(self.table, shifted, self.parts)
            counted = _count(self.table, shifted, base, self.adversary)
            if self.outcome.ticker[STOP]:
                return
            self._walk(shifted, base, counted, todo & (self.problem.classes == c))

    def _walk(
        self, problem: Problem, tree: Tree, counted: Counted, todo: NDArray[np.bool_]
    ) -> None:
        """Walk the targets, in threads that each take the records of one stretch of the tree.

        Neighbours in the tree share their way down, so that hardly any work is done twice; and as
        every belief comes from whole-number counts, the threads change no bit of it.
        """
        if not todo.any():
            return

        def run(stretch: NDArray[np.int32]) -> None:
            mark = np.zeros(len(self.table), np.int32)
            mark[stretch[todo[stretch]]] = 1
            tally = np.zeros(len(counted.codes), np.int32)
            walk(
                problem, self.adversary, tree, len(self.parts), counted, mark, 1,
                _totals(problem), tally, self.outcome,
            )  # fmt: skip

        stretches = np.array_split(tree.order, self.shared.threads(len(self.table)))
        self.shared.run(run, stretches, self.outcome.ticker)

    def _rebuild(self, row: int) -> None:
        """Partition D⁻ⁱ from scratch: its ranges differ from D's, so any decision may flip."""
        problem = self.problem
        if self.sanitizer.t is not None:
            problem = self._without_value(problem.classes[row])
        problem = relative_to(problem, *total_extremes(self.table.without(row)))
        left = [part[part != row] for part in self.parts]
        tree = grow_parts(self.table, problem, [part for part in left if len(part)])
        totals = _totals(problem)
        nothing = np.zeros((len(self.table.attributes), len(totals)), np.int64)
        finish_alone(problem, self.adversary, tree, row, nothing, totals, self.outcome)

    def _without_value(self, value: int) -> Problem:
        """Return the problem with the distribution of a table that lacks one record's value."""
        reference = _totals(self.problem)
        reference[value] -= 1
        return self.sanitizer.problem(self.table, reference)
