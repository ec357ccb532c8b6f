"""Exact leave-one-out for Mondrian and models that need only counts: milliseconds, not hours."""

from __future__ import annotations

import math
from typing import TypeAlias

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
from indiff.differential.mondrian.coverage import add_forest
from indiff.differential.mondrian.threads import Shared
from indiff.differential.mondrian.walk import finish_alone, walk
from indiff.errors import UserError
from indiff.inference import Frequency, NaiveBayes
from indiff.sanitizers.mondrian.constraints import meets
from indiff.sanitizers.mondrian.layout import CUT_BY, ON_A_LINE, Problem, Tree
from indiff.sanitizers.mondrian.mondrian import Mondrian, grow_parts, missing_parts, total_extremes

# A product of this many powers of ten still fits a floating-point number.
LARGEST_POWER = 280

Counted: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]


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
        raise UserError(obstacle)
    adversary = as_adversary(model, table)
    size = len(table.sensitive.values)
    outcome = empty_outcome(len(table), size)
    believed = empty_outcome(len(table), size)
    # A table that meets the constraints may not without a record, and the other way round: the
    # partition of D is the base of the walk even where D itself is published as one group.
    tree = grow_parts(table, problem, parts)
    release = count_release(table, problem, tree, adversary)
    if obstacle is None:
        believe_all(problem, adversary, tree, *release[1:], _totals(problem), believed)
    else:
        _generalize(problem, adversary, rows, believed, leave=False)
    generalized = unmet_without(problem, parts)
    _generalize(problem, adversary, rows[generalized[rows]], outcome, leave=True)
    _walk_all(
        table, sanitizer, problem, adversary, parts, tree, release, rows, generalized, outcome,
        Shared(jobs, progress, len(rows)),
    )  # fmt: skip
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


def all_codes(table: Table) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return every code of every attribute, and where each attribute's codes start."""
    sizes = [len(a.values) for a in table.attributes]
    needed = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    return needed, np.cumsum([0, *sizes]).astype(np.int64)


def count_release(
    table: Table, problem: Problem, tree: Tree, adversary: Adversary
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return every code, where each attribute's start, and N[a][v][c] of a partition."""
    needed, starts = all_codes(table)
    counts = np.zeros((len(needed), int(problem.class_count)), np.int32)
    if adversary.model == NAIVE_BAYES:
        add_forest(problem, tree, needed, starts, counts)
    return needed, starts, counts


def _totals(problem: Problem) -> NDArray[np.int64]:
    return np.bincount(problem.classes, minlength=int(problem.class_count)).astype(np.int64)


def _generalize(
    problem: Problem,
    adversary: Adversary,
    rows: NDArray[np.intp],
    outcome: Outcome,
    *,
    leave: bool,
) -> None:
    """Write the beliefs from one fully generalized group, in which every value is covered."""
    finish_generalized(problem, adversary, _totals(problem), rows.astype(np.int32), leave, outcome)


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


def _walk_all(
    table: Table,
    sanitizer: Mondrian,
    problem: Problem,
    adversary: Adversary,
    parts: list[NDArray[np.int32]],
    tree: Tree,
    release: Counted,
    rows: NDArray[np.intp],
    generalized: NDArray[np.bool_],
    outcome: Outcome,
    shared: Shared,
) -> None:
    """Walk every target that is left; those that change the table's own ranges one by one."""
    widening = global_extremes(problem, table)
    todo = np.zeros(len(table), dtype=bool)
    todo[rows] = True
    todo &= ~generalized
    for row in np.flatnonzero(todo & widening):
        _rebuild(table, sanitizer, problem, adversary, parts, int(row), outcome)
    todo &= ~widening
    if sanitizer.t is None:
        _walk(table, problem, adversary, tree, release, todo, outcome, shared)
        return
    # t-closeness refers to the distribution of the table being sanitized: D⁻ⁱ's depends on i's
    # sensitive value alone, so each value has a base partition of its own.
    for c in np.unique(problem.classes[todo]):
        reference = _totals(problem)
        reference[c] -= 1
        shifted = sanitizer.problem(table, reference)
        base = grow_parts(table, shifted, parts)
        counted = count_release(table, shifted, base, adversary)
        chosen = todo & (problem.classes == c)
        if outcome.ticker[STOP]:
            return
        _walk(table, shifted, adversary, base, counted, chosen, outcome, shared)


def _walk(
    table: Table,
    problem: Problem,
    adversary: Adversary,
    tree: Tree,
    release: Counted,
    todo: NDArray[np.bool_],
    outcome: Outcome,
    shared: Shared,
) -> None:
    """Walk the targets, in threads that each take the records of one stretch of the tree.

    Neighbours in the tree share their way down, so that hardly any work is done twice; and as
    every belief comes from whole-number counts, the threads change no bit of it.
    """
    if not todo.any():
        return
    needed, starts, counts = release
    roots = len(missing_parts(table))

    def run(stretch: NDArray[np.int32]) -> None:
        mark = np.zeros(len(table), np.int32)
        mark[stretch[todo[stretch]]] = 1
        walk(
            problem, adversary, tree, roots, *total_extremes(table), needed, starts, counts, mark,
            1, _totals(problem), np.zeros(len(needed), np.int32), outcome,
        )  # fmt: skip

    shared.run(run, np.array_split(tree.order, shared.threads(len(table))), outcome.ticker)


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


def _rebuild(
    table: Table, sanitizer: Mondrian, problem: Problem, adversary: Adversary,
    parts: list[NDArray[np.int32]], row: int, outcome: Outcome,
) -> None:  # fmt: skip
    """Partition D⁻ⁱ from scratch: its ranges differ from D's, so any decision may flip."""
    totals = _totals(problem)
    if sanitizer.t is not None:
        totals[problem.classes[row]] -= 1
        problem = sanitizer.problem(table, totals)
        totals[problem.classes[row]] += 1
    left = [part[part != row] for part in parts]
    tree = grow_parts(
        table, problem, [part for part in left if len(part)], total_extremes(table.without(row))
    )
    nothing = np.zeros((len(table.attributes), len(totals)), np.int64)
    finish_alone(problem, adversary, tree, row, nothing, totals, outcome)
