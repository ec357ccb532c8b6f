"""Leaves each record out of Mondrian exactly: by counts in milliseconds, or release by release.

A model that needs only counts is asked by one walk over the partition of the whole table
(:mod:`~indiff.differential.mondrian.walk`). For any other model f(D⁻ⁱ) is made: only the part of
the partition that changes is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Progress
from indiff.differential.mondrian.context import empty_desk
from indiff.differential.mondrian.counts import (
    NO_TREE,
    STOP,
    TREE,
    UNFINISHED,
    Adversary,
    Counted,
    Outcome,
    as_adversary,
    believe_all,
    count_all,
    empty_outcome,
    finish_generalized,
)
from indiff.differential.mondrian.cover_index import index_groups
from indiff.differential.mondrian.shown import OF_TABLE, Index, Shown, empty_shown, note
from indiff.differential.mondrian.tallies import tally_without
from indiff.differential.mondrian.walk import rebuild_alone, walk
from indiff.differential.path import Beliefs
from indiff.differential.refit.refit import Releases
from indiff.inference import Classifier, Frequency, Model, NaiveBayes
from indiff.inference.encodings import Tally
from indiff.kernels import Shared
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.layout import Problem, Tree, meets, relative_to, total_extremes
from indiff.sanitizers.mondrian.mondrian import (
    Mondrian,
    grow_parts,
    missing_parts,
)


def leave_one_out(
    table: Table,
    sanitizer: Mondrian,
    model: Model,
    rows: NDArray[np.intp],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Beliefs:
    """Return the beliefs about the targets with and without their records, exactly.

    The same numbers as re-sanitizing and refitting for every target (``refit``), from one
    partition of the table; ``docs/leave-one-out.md`` has the proof.
    """
    return leave_one_out_for(table, sanitizer, [model], rows, jobs=jobs, progress=progress)[0]


def leave_one_out_for(
    table: Table,
    sanitizer: Mondrian,
    models: Sequence[Model],
    rows: NDArray[np.intp],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Beliefs]:
    """Do so for several models that only count, each kind once at most, in one walk."""
    parts = missing_parts(table)
    problem = sanitizer.problem(table)
    obstacle = sanitizer.obstacle(table, problem, parts)
    if obstacle is not None and sanitizer.unmet == "error":
        raise obstacle
    adversary = as_adversary(models, table)
    outcome = empty_outcome(adversary, len(table))
    believed = empty_outcome(adversary, len(table))
    everyone = rows.astype(np.int32)
    # A table that meets the constraints may not without a record, and the other way round: the
    # partition of D is the base of the walk even where D itself is published as one group.
    base = _Base.of(table, problem, parts, adversary)
    if obstacle is None:
        believe_all(base.problem, adversary, base.tree, base.ids, base.counted, believed)
    else:
        finish_generalized(problem, adversary, everyone, False, believed)
    generalized = unmet_without(problem, parts)
    finish_generalized(problem, adversary, everyone[generalized[rows]], True, outcome)
    todo = np.zeros(len(table), dtype=bool)
    todo[rows] = True
    shared = Shared(jobs, progress, len(rows))
    walks = _Walks(table, sanitizer, adversary, parts, outcome, shared)
    del problem, everyone  # large, and of no use any more
    walks.run(todo & ~generalized, base)
    done = outcome.uncovered[rows] != UNFINISHED
    rows = rows if done.all() else rows[done]  # an interruption keeps what is done
    if adversary.models & TREE:
        _finish_trees(table, sanitizer, models, outcome)
    # Nothing needs copying where it is everybody.
    chosen = slice(None) if np.array_equal(rows, np.arange(len(table))) else rows
    uncovered, uncovered_without = believed.uncovered[chosen] != 0, outcome.uncovered[chosen] != 0
    return [
        Beliefs(
            rows,
            believed.bayes[chosen] if isinstance(model, NaiveBayes) else believed.frequency[chosen],
            _asked(outcome, model)[chosen],
            uncovered,
            uncovered_without,
            generalized[chosen],
            obstacle is None,
        )
        for model in models
    ]


def _asked(outcome: Outcome, model: Model) -> NDArray[np.float64]:
    if isinstance(model, Frequency):
        return outcome.frequency
    return outcome.bayes if isinstance(model, NaiveBayes) else outcome.tree


def _finish_trees(
    table: Table, sanitizer: Mondrian, models: Sequence[Model], outcome: Outcome
) -> None:
    """Write what trees believe of the records that a group covers, or that had no room."""
    np.copyto(outcome.tree, outcome.frequency, where=(outcome.uncovered == 0)[:, None])
    tree = next(model for model in models if isinstance(model, Classifier))
    for row in np.flatnonzero(outcome.uncovered == NO_TREE):
        release = sanitizer.sanitize(table.without(int(row)))
        outcome.tree[row] = tree.beliefs(release, table.take([int(row)]))[0]


def _totals(problem: Problem, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Count the sensitive values of some rows."""
    counts = np.bincount(problem.classes[rows], minlength=int(problem.class_count))
    return counts.astype(np.int64)


class _Base(NamedTuple):
    """A partition of the table to walk down: the table's rows ``ids`` lie in its order."""

    problem: Problem
    tree: Tree
    ids: NDArray[np.int32]
    counted: Counted

    @staticmethod
    def of(
        table: Table, problem: Problem, parts: list[NDArray[np.int32]], adversary: Adversary
    ) -> _Base:
        """Partition the table and count whom the regions cover."""
        tree = grow_parts(table, problem, parts)
        laid = in_order(problem, tree.order)
        ids, tree = tree.order, tree._replace(order=np.arange(len(table), dtype=np.int32))
        return _Base(laid, tree, ids, count_all(table, laid, tree, adversary))

    def shown(self, adversary: Adversary, index: Index | None = None) -> Shown:
        """Return the groups as a tree sees them, if there is one."""
        if not adversary.models & TREE:
            return empty_shown(self.problem, self.ids, 0)
        shown = empty_shown(self.problem, self.ids, len(self.tree.leaves))
        note(self.problem, self.tree, self.tree.leaves, 1, self.ids, shown)
        groups = shown.used[OF_TABLE] = len(self.tree.leaves)
        if index is None:
            values = np.diff(self.counted.starts)
            index = index_groups(
                values, np.argsort(values, kind="stable"), shown.kinds, shown.boxes[:groups],
                shown.held[:groups], len(self.ids),
            )  # fmt: skip
        return shown._replace(lookup=index)


def in_order(problem: Problem, order: NDArray[np.int32]) -> Problem:
    """Return the problem with its records in this order."""
    codes = np.take(problem.codes, order, axis=1)
    return problem._replace(codes=codes, classes=problem.classes[order])


def unmet_without(problem: Problem, parts: list[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Tell for every record whether the table without it cannot meet the constraints at all."""
    unmet = np.zeros(len(problem.classes), dtype=bool)
    if problem.limits.l <= 1 and not problem.limits.more:  # sizes alone decide
        k, small = problem.limits.k, [len(part) < problem.limits.k for part in parts]
        for place, part in enumerate(parts):
            others = small[:place] + small[place + 1 :]
            unmet[part] = 1 <= len(part) - 1 < k or any(others)
        return unmet
    counts = [_totals(problem, part) for part in parts]
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


def global_extremes(table: Table) -> NDArray[np.bool_]:
    """Find the records that alone hold the table's lowest or highest value of an attribute."""
    alone = np.zeros(len(table), dtype=bool)
    low, high = total_extremes(table)
    for a, attribute in enumerate(table.attributes):
        for extreme in (low[a], high[a]) if attribute.hierarchy is None else ():
            held = attribute.codes == extreme
            if np.count_nonzero(held) == 1:
                alone |= held
    return alone


@dataclass(frozen=True, eq=False)
class _Walks:
    """What every walk of one test needs; ``parts`` are the rows of each root of a partition."""

    table: Table
    sanitizer: Mondrian
    adversary: Adversary
    parts: list[NDArray[np.int32]]
    outcome: Outcome
    shared: Shared

    def run(self, todo: NDArray[np.bool_], base: _Base) -> None:
        """Walk the targets; those that change the table's own ranges are rebuilt one by one."""
        classes = self.table.sensitive.codes
        if self.sanitizer.t is None:
            self._from(base, todo)
            return
        # t-closeness refers to the distribution of the table being sanitized: D⁻ⁱ's depends on
        # i's sensitive value alone, so each value has a base partition of its own.
        for c in np.unique(classes[todo]):
            base = _Base.of(self.table, self._without_value(c), self.parts, self.adversary)
            if self.outcome.ticker[STOP]:
                return
            self._from(base, todo & (classes == c))

    def _from(self, base: _Base, todo: NDArray[np.bool_]) -> None:
        """Begin at one partition of the table."""
        widening, shown = global_extremes(self.table), base.shown(self.adversary)
        self._rebuild(base, todo & widening, shown)
        self._walk(base, todo & ~widening, shown)

    def _walk(self, base: _Base, todo: NDArray[np.bool_], shown: Shown) -> None:
        """Walk the targets, in threads that each take the records of one stretch of the tree.

        Neighbours in the tree share their way down, so that hardly any work is done twice; and as
        every belief comes from whole-number counts, the threads change no bit of it.
        """
        if not todo.any():
            return
        asked = todo[base.ids].astype(np.int32)

        def run(stretch: slice) -> None:
            target = np.zeros(len(self.table), np.int32)
            target[stretch] = asked[stretch]
            own = shown if threads == 1 else base.shown(self.adversary, shown.lookup)
            desk = empty_desk(base.problem, base.counted, own)
            walk(
                base.problem, self.adversary, base.tree, len(self.parts), base.ids, target,
                base.counted, desk, self.outcome,
            )  # fmt: skip

        threads = self.shared.threads(len(asked))
        ends = [len(asked) * thread // threads for thread in range(threads + 1)]
        self.shared.run(run, list(map(slice, ends, ends[1:])), self.outcome.ticker)

    def _rebuild(self, base: _Base, todo: NDArray[np.bool_], shown: Shown) -> None:
        """Partition D⁻ⁱ from the roots on: its ranges differ from D's, so any decision may flip."""
        if not todo.any():
            return
        spans = base.problem.points[base.problem.meta[:, layout.RANGE_AT]]
        for place in np.flatnonzero(todo[base.ids]):
            row = int(base.ids[place])
            problem = relative_to(base.problem, *total_extremes(self.table.without(row)))
            room = empty_room(problem, len(self.table))
            rebuild_alone(
                problem, self.adversary, base.tree, 0, len(self.parts), place, row, base.counted,
                spans, room, shown, self.outcome,
            )  # fmt: skip

    def _without_value(self, value: int) -> Problem:
        """Return the problem with the distribution of a table that lacks one record's value."""
        reference = self.table.sensitive.counts.copy()
        reference[value] -= 1
        return self.sanitizer.problem(self.table, reference)


class MondrianReleases(Releases):
    """Makes f(D⁻ⁱ) for one table and one Mondrian, record by record.

    What TF features show of it is counted without making it: the groups that do not have the
    record stay as they are (``docs/leave-one-out.md``, Lemma 6). Not so with t-closeness, nor of
    the few records that alone hold the table's lowest or highest value.
    """

    @cached_property
    def _base(self) -> tuple[Problem, Tree, int, NDArray[np.intp]]:
        """The table in the order of its partition, that one with its roots, each record's place."""
        parts, problem = missing_parts(self.table), self.sanitizer.problem(self.table)
        tree = grow_parts(self.table, problem, parts)
        laid = tree._replace(order=np.arange(len(self.table), dtype=np.int32))
        return in_order(problem, tree.order), laid, len(parts), np.argsort(tree.order)

    @cached_property
    def _from_scratch(self) -> NDArray[np.bool_]:
        parts, problem = missing_parts(self.table), self.sanitizer.problem(self.table)
        met = self.sanitizer.obstacle(self.table, problem, parts) is None
        if not met or self.sanitizer.t is not None:
            return np.ones(len(self.table), dtype=bool)
        return global_extremes(self.table) | unmet_without(problem, parts)

    def tally(self, row: int) -> Tally | None:
        """Return what TF features show of f(D⁻ⁱ) to its record; None where f(D⁻ⁱ) must be made."""
        if self._from_scratch[row]:
            return None
        problem, tree, roots, places = self._base
        counts = tally_without(problem, tree, roots, places[row])
        return Tally(tuple(a.name for a in self.table.attributes), counts)
