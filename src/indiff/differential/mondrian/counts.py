"""Counts whom the regions of a whole release cover, N[a][v][c], and turns counts into beliefs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.inference import Frequency, NaiveBayes
from indiff.kernels import first_at_least, kernel, sort
from indiff.sanitizers.mondrian.layout import END, LABEL, MEMBERS, START, Problem, Tree
from indiff.sanitizers.mondrian.partition import group_counts

NAIVE_BAYES, FREQUENCY = 0, 1
PRODUCTS, LOGARITHMS = 0, 1
FINISHED = UNFINISHED = -1
DONE, STOP = 0, 1  # places in Outcome.ticker
LARGEST_POWER = 280  # a product of this many powers of ten still fits a floating-point number


class Counted(NamedTuple):
    """Counts N[a][v][c] of a release, for some of the codes of every attribute.

    ``codes[starts[a] : starts[a + 1]]`` are attribute a's, ascending; ``counts`` has a row for
    each of them, and a column per class.
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    counts: NDArray[np.int32]


class Adversary(NamedTuple):
    """The model as data: which one, its smoothing, and its prior (``follow`` the release's)."""

    model: np.int64
    arithmetic: np.int64
    alpha: np.float64
    follow: np.int64
    prior: NDArray[np.float64]


class Outcome(NamedTuple):
    """Where the walk writes, one row per record: the belief, and whether a group covers it.

    ``uncovered`` is UNFINISHED until a record's belief is there. ``ticker`` counts the finished
    records, and stops the walk between two groups once STOP is set.
    """

    beliefs: NDArray[np.float64]
    uncovered: NDArray[np.int8]
    ticker: NDArray[np.int64]


def empty_outcome(records: int, classes: int) -> Outcome:
    """Make the room for the beliefs about this many records."""
    return Outcome(
        np.zeros((records, classes)), np.full(records, UNFINISHED, np.int8), np.zeros(2, np.int64)
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


def count_all(table: Table, problem: Problem, tree: Tree, adversary: Adversary) -> Counted:
    """Return N[a][v][c] of a partition, for every code of every attribute."""
    sizes = [len(a.values) for a in table.attributes]
    codes = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    counts = np.zeros((len(codes), int(problem.class_count)), np.int32)
    counted = Counted(codes, np.cumsum([0, *sizes]).astype(np.int64), counts)
    if adversary.model == NAIVE_BAYES:
        add_forest(problem, tree, counted)
    return counted


@kernel
def believe(
    adversary: Any, totals: Any, counts: Any, group: Any, group_size: Any, belief: Any
) -> Any:
    """Write a belief from N_c and N_ac (naive Bayes) or from the covering group (frequency)."""
    classes = totals.shape[0]
    if adversary.model == FREQUENCY:
        size = 0.0
        for c in range(classes):
            belief[c] = group[c] if group_size > 0 else totals[c]
            size += belief[c]
        for c in range(classes):
            belief[c] /= size
        return
    d, alpha = counts.shape[0], adversary.alpha
    total = 0.0
    highest = -np.inf
    for c in range(classes):
        weight = totals[c] if adversary.follow else adversary.prior[c]
        if totals[c] <= 0 or weight <= 0:
            belief[c] = -np.inf if adversary.arithmetic == LOGARITHMS else 0.0
            continue
        if adversary.arithmetic == LOGARITHMS:
            score = math.log(weight)
            for a in range(d):
                score += math.log((counts[a, c] + alpha) / (totals[c] + 2.0 * alpha))
            belief[c] = score
            highest = max(highest, score)
        else:
            scale = 1.0
            for a in range(d):
                weight *= counts[a, c] + alpha
                scale *= totals[c] + 2.0 * alpha
            belief[c] = weight / scale
            total += belief[c]
    if adversary.arithmetic == LOGARITHMS:
        for c in range(classes):
            belief[c] = math.exp(belief[c] - highest)
            total += belief[c]
    for c in range(classes):
        belief[c] /= total


@kernel
def believe_all(
    problem: Any, adversary: Any, tree: Any, counted: Any, totals: Any, outcome: Any
) -> Any:
    """Write the belief about every record from the release that contains it."""
    d = problem.codes.shape[0]
    counts = np.zeros((d, totals.shape[0]), np.int64)
    group = np.zeros(totals.shape[0], np.int64)
    starts, table = counted.starts, counted.counts
    for position in range(tree.leaves.shape[0]):
        leaf = tree.leaves[position]
        start, end = tree.nodes[leaf, START], tree.nodes[leaf, END]
        group_counts(problem.classes, tree.order, start, end, group)
        for place in range(start, end):
            record = tree.order[place]
            if adversary.model == NAIVE_BAYES:
                for a in range(d):
                    spot = starts[a] + problem.codes[a, record]
                    for c in range(totals.shape[0]):
                        counts[a, c] = table[spot, c]
            outcome.uncovered[record] = 0
            believe(adversary, totals, counts, group, end - start, outcome.beliefs[record])


@kernel
def finish_generalized(
    problem: Any, adversary: Any, totals: Any, records: Any, leave: Any, outcome: Any
) -> Any:
    """Write beliefs from one group in which every cell is ``*``, with or without the target."""
    counts = np.zeros((problem.codes.shape[0], totals.shape[0]), np.int64)
    for place in range(records.shape[0]):
        own = problem.classes[records[place]]
        totals[own] -= leave
        counts[:] = totals
        believe(adversary, totals, counts, totals, totals.sum(), outcome.beliefs[records[place]])
        totals[own] += leave
        outcome.uncovered[records[place]] = 0
        outcome.ticker[DONE] += 1


@kernel
def add_leaves(problem: Any, tree: Any, first: Any, last: Any, sign: Any, counted: Any) -> Any:
    """Add the leaves ``tree.leaves[first:last]`` to counts that are still steps.

    A region from low to high is a step up at low and one down after high; :func:`sum_steps` adds
    them up.
    """
    needed, steps = counted.codes, counted.counts
    for a in range(problem.codes.shape[0]):
        begin, stop = counted.starts[a], counted.starts[a + 1]
        if begin == stop:
            continue
        row = problem.codes[a]
        for position in range(first, last):
            leaf = tree.leaves[position]
            s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
            if problem.meta[a, LABEL] == MEMBERS:
                add_members(problem, tree.order, s, e, row, sign, needed, begin, stop, steps)
                continue
            up = first_at_least(needed, begin, stop, tree.low[leaf, a])
            down = first_at_least(needed, up, stop, tree.high[leaf, a] + 1)
            if up == down:
                continue
            for place in range(s, e):
                c = problem.classes[tree.order[place]]
                steps[up, c] += sign
                if down < stop:
                    steps[down, c] -= sign


@kernel
def add_members(
    problem: Any, order: Any, s: Any, e: Any, row: Any, sign: Any, needed: Any, begin: Any,
    stop: Any, steps: Any,
) -> Any:  # fmt: skip
    """Add a leaf whose region is the set of values that its records hold."""
    for place in range(s, e):
        code = row[order[place]]
        seen = False
        for other in range(s, place):
            if row[order[other]] == code:
                seen = True
                break
        if seen:
            continue
        spot = first_at_least(needed, begin, stop, code)
        if spot == stop or needed[spot] != code:
            continue
        for other in range(s, e):
            c = problem.classes[order[other]]
            steps[spot, c] += sign
            if spot + 1 < stop:
                steps[spot + 1, c] -= sign


@kernel
def sum_steps(counted: Any) -> Any:
    """Turn steps into counts, attribute by attribute."""
    starts, steps = counted.starts, counted.counts
    for a in range(starts.shape[0] - 1):
        for spot in range(starts[a] + 1, starts[a + 1]):
            for c in range(steps.shape[1]):
                steps[spot, c] += steps[spot - 1, c]


@kernel
def add_forest(problem: Any, tree: Any, counted: Any) -> Any:
    """Add the counts of a whole forest."""
    steps = Counted(counted.codes, counted.starts, np.zeros_like(counted.counts))
    add_leaves(problem, tree, 0, tree.leaves.shape[0], 1, steps)
    sum_steps(steps)
    counts = counted.counts
    counts += steps.counts


@kernel
def somebody_holds(codes: Any, a: Any, order: Any, start: Any, end: Any, code: Any) -> Any:
    """Whether a record of a group holds this code of attribute a."""
    for place in range(start, end):  # noqa: SIM110 - numba compiles no generator
        if codes[a, order[place]] == code:
            return True
    return False


@kernel
def cover_one(
    problem: Any, tree: Any, first: Any, last: Any, sign: Any, record: Any, counts: Any, group: Any
) -> Any:
    """Add to ``counts[a, c]`` the records of leaves whose region covers one record's values.

    Those of leaves that cover all of its values are added to ``group[c]`` as well.
    """
    d = problem.codes.shape[0]
    for position in range(first, last):
        leaf = tree.leaves[position]
        s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
        covered = 0
        for a in range(d):
            code = problem.codes[a, record]
            covers = tree.low[leaf, a] <= code <= tree.high[leaf, a]
            if covers and problem.meta[a, LABEL] == MEMBERS:
                covers = somebody_holds(problem.codes, a, tree.order, s, e, code)
            if covers:
                covered += 1
                for place in range(s, e):
                    counts[a, problem.classes[tree.order[place]]] += sign
        if covered == d:
            for place in range(s, e):
                group[problem.classes[tree.order[place]]] += sign


@kernel
def leaves_under(tree: Any, node: Any) -> Any:
    """The leaves below a node, as a range of positions in ``tree.leaves``."""
    return leaf_position(tree, tree.nodes[node, START]), leaf_position(tree, tree.nodes[node, END])


@kernel
def leaf_position(tree: Any, place: Any) -> Any:
    """How many leaves begin before ``place``; leaves lie in the order of their segments."""
    low, high = 0, tree.leaves.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tree.nodes[tree.leaves[middle], START] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def codes_of(problem: Any, records: Any) -> Any:
    """Counts, all 0, for the distinct codes of some records on every attribute."""
    d, count = problem.codes.shape[0], records.shape[0]
    starts = np.zeros(d + 1, np.int64)
    needed = np.empty(d * count, np.int32)
    codes = np.empty(count, np.int32)
    filled = 0
    for a in range(d):
        for place in range(count):
            codes[place] = problem.codes[a, records[place]]
        sort(codes)
        for place in range(count):
            if place == 0 or codes[place] != codes[place - 1]:
                needed[filled] = codes[place]
                filled += 1
        starts[a + 1] = filled
    return Counted(needed[:filled], starts, np.zeros((filled, problem.class_count), np.int32))
