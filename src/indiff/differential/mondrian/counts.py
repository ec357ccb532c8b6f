"""Counts whom the regions of a whole release cover, N[a][v][c], and turns counts into beliefs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.inference import Classifier, Model, NaiveBayes
from indiff.kernels import borrow, first_at_least, inline, inner, kernel
from indiff.sanitizers.mondrian.layout import END, LABEL, MEMBERS, START, Problem, Tree

NAIVE_BAYES, FREQUENCY, TREE = 1, 2, 4  # bits of Adversary.models
COUNTING = NAIVE_BAYES | TREE  # those that ask for N[a][v][c]
PRODUCTS, LOGARITHMS = 0, 1
UNFINISHED, NO_TREE = -1, 2  # in Outcome.uncovered
DONE, STOP = 0, 1  # places in Outcome.ticker
LARGEST_POWER = 280  # a product of this many powers of ten still fits a floating-point number
SPOT, TIMES = 0, 1  # rows of the terms of N_ac
EVERYBODY = -1  # in place of the class of the record that has left


class Counted(NamedTuple):
    """Counts N[a][v][c] of a release, for some of the codes of every attribute.

    ``codes[starts[a] : starts[a + 1]]`` are attribute a's, ascending; ``counts`` has a row for
    each of them, and a column per class.
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    counts: NDArray[np.int32]


class Adversary(NamedTuple):
    """The models as data: which ones, and the smoothing and prior of naive Bayes.

    ``totals`` are N_c of the whole table, ``prior`` the weights of the classes, ``scale`` the
    products of N_c + 2α over attributes: each for the whole table, and without one record of the
    class.
    """

    models: np.int64
    arithmetic: np.int64
    alpha: np.float64
    prior: NDArray[np.float64]
    totals: NDArray[np.int32]
    scale: NDArray[np.float64]


class Outcome(NamedTuple):
    """Where the walk writes, one row per record: beliefs, and whether a group covers it.

    ``bayes``, ``frequency`` and ``tree`` are the beliefs by the model, without rows where it is not
    asked; a tree's are those of frequency wherever a group covers the record, and not repeated.
    ``uncovered`` is UNFINISHED until a record's beliefs are there, and NO_TREE where a tree's are
    not. ``ticker`` counts the finished records, and stops the walk between two groups once STOP is
    set.
    """

    bayes: NDArray[np.float64]
    frequency: NDArray[np.float64]
    tree: NDArray[np.float64]
    uncovered: NDArray[np.int8]
    ticker: NDArray[np.int64]


def empty_outcome(adversary: Adversary, records: int) -> Outcome:
    """Make the room for the beliefs about this many records."""
    classes = len(adversary.totals)
    bayes, frequency, tree = (
        np.empty((records if adversary.models & bit else 0, classes))
        for bit in (NAIVE_BAYES, FREQUENCY, TREE)
    )
    ticker = np.zeros(2, np.int64)
    return Outcome(bayes, frequency, tree, np.full(records, UNFINISHED, np.int8), ticker)


def as_adversary(models: Sequence[Model], table: Table) -> Adversary:
    """Return the models, each kind once at most, as data for compiled code."""
    counting = [model for model in models if isinstance(model, NaiveBayes)]
    model = counting[0] if counting else NaiveBayes()
    asked = NAIVE_BAYES * bool(counting) + FREQUENCY * (len(counting) < len(models))
    asked += TREE * any(isinstance(model, Classifier) for model in models)
    factor = math.log10(len(table) + 2 * model.alpha + 1) - min(0.0, math.log10(model.alpha))
    many = len(table.attributes) * factor > LARGEST_POWER
    totals = table.sensitive.counts
    held = totals - np.array([[0], [1]])
    scale = np.ones(held.shape)
    if not many:
        for _ in table.attributes:
            scale *= held + 2 * model.alpha
    weights = held if model.prior == "release" else model.prior_weights(np.ones(len(totals)))
    return Adversary(
        np.int64(asked),
        np.int64(LOGARITHMS if many else PRODUCTS),
        np.float64(model.alpha),
        np.where(held > 0, weights, 0.0).astype(np.float64),
        totals.astype(np.int32),
        scale,
    )


def count_all(table: Table, problem: Problem, tree: Tree, adversary: Adversary) -> Counted:
    """Return N[a][v][c] of a partition, for every code of every attribute."""
    sizes = [len(a.values) for a in table.attributes]
    codes = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    asked = adversary.models & COUNTING
    counts = np.zeros((len(codes) if asked else 0, int(problem.class_count)), np.int32)
    counted = Counted(codes, np.cumsum([0, *sizes]).astype(np.int64), counts)
    if asked:
        add_leaves(problem, tree, tree.leaves, 1, counted)
        sum_steps(problem.meta, counted)
    return counted


@inline
def plain_terms(attributes: Any) -> Any:
    """What :func:`believe` adds up where the table's rows are the counts, one per attribute."""
    terms = np.zeros((2, attributes), np.int64)
    for a in range(attributes):
        terms[SPOT, a] = a
    return terms


# Arrays go into the next two one by one: handing all of an Adversary and an Outcome over, record
# by record, took as long as the beliefs themselves.


@inner
def by_products(
    table: Any, terms: Any, group: Any, own: Any, less: Any, alpha: Any, prior: Any, scale: Any,
    belief: Any,
) -> Any:  # fmt: skip
    """Write prior · Π_a (N_ac + α) / scale of every class, over their sum.

    The classes are multiplied side by side, attribute by attribute; whole numbers are added as
    floating-point numbers, which is as exact and can be done for several at once.
    """
    table, terms, group = borrow(table), borrow(terms), borrow(group)
    prior, scale, belief = borrow(prior), borrow(scale), borrow(belief)
    classes, d = belief.shape[0], terms.shape[1]
    for c in range(classes):
        belief[c] = prior[0, c]
    for a in range(d):
        row, times = table[terms[SPOT, a]], np.float64(terms[TIMES, a])
        for c in range(classes):
            belief[c] *= np.float64(row[c]) + times * np.float64(group[c]) + alpha
    for c in range(classes):
        belief[c] /= scale[0, c]
    if own != EVERYBODY:
        score = prior[1, own]
        for a in range(d):
            score *= table[terms[SPOT, a], own] + terms[TIMES, a] * group[own] - less + alpha
        belief[own] = score / scale[1, own]
    total = 0.0
    for c in range(classes):
        total += belief[c]
    for c in range(classes):
        belief[c] /= total


@inner
def by_logarithms(
    table: Any, terms: Any, group: Any, own: Any, less: Any, alpha: Any, prior: Any, totals: Any,
    belief: Any,
) -> Any:  # fmt: skip
    """Write the same beliefs where a product could leave the range of floating-point numbers."""
    table, terms, group = borrow(table), borrow(terms), borrow(group)
    prior, totals, belief = borrow(prior), borrow(totals), borrow(belief)
    highest, total = -np.inf, 0.0
    for c in range(belief.shape[0]):
        left = 1 if c == own else 0
        held, weight = totals[c] - left, prior[left, c]
        score = math.log(weight) if weight > 0.0 else -np.inf
        for a in range(terms.shape[1]):
            if score > -np.inf:
                count = table[terms[SPOT, a], c] + terms[TIMES, a] * group[c] - left * less
                score += math.log((count + alpha) / (held + 2.0 * alpha))
        belief[c] = score
        highest = max(highest, score)
    for c in range(belief.shape[0]):
        belief[c] = math.exp(belief[c] - highest)
        total += belief[c]
    for c in range(belief.shape[0]):
        belief[c] /= total


@inner
def by_frequency(group: Any, group_size: Any, own: Any, totals: Any, belief: Any) -> Any:
    """Write the share of every class in the covering group, or in the table where none covers."""
    group, totals, belief = borrow(group), borrow(totals), borrow(belief)
    size = 0.0
    for c in range(belief.shape[0]):
        belief[c] = group[c] if group_size > 0 else totals[c] - (c == own)
        size += belief[c]
    for c in range(belief.shape[0]):
        belief[c] /= size


@inline
def believe(
    adversary: Any, own: Any, table: Any, terms: Any, less: Any, group: Any, group_size: Any,
    row: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Write beliefs from N_ac (naive Bayes) and from the covering group (frequency).

    ``own`` is the class of the record that has left, or EVERYBODY. N_ac is the row
    ``terms[SPOT, a]`` of ``table`` and ``terms[TIMES, a]`` times the group; for ``own``, ``less``
    is taken off.
    """
    if adversary.models & FREQUENCY:
        by_frequency(group, group_size, own, adversary.totals, outcome.frequency[row])
    if adversary.models & NAIVE_BAYES:
        alpha, prior, belief = adversary.alpha, adversary.prior, outcome.bayes[row]
        if adversary.arithmetic == LOGARITHMS:
            totals = adversary.totals
            by_logarithms(table, terms, group, own, less, alpha, prior, totals, belief)
        else:
            scale = adversary.scale
            by_products(table, terms, group, own, less, alpha, prior, scale, belief)


@kernel
def believe_all(
    problem: Any, adversary: Any, tree: Any, ids: Any, counted: Any, outcome: Any
) -> Any:
    """Write the beliefs about every record from the release that contains it."""
    problem, adversary, outcome = borrow(problem), borrow(adversary), borrow(outcome)
    tree, ids, counted = borrow(tree), borrow(ids), borrow(counted)
    d, own_group = problem.codes.shape[0], np.zeros(adversary.totals.shape[0], np.int32)
    own_terms = plain_terms(d)
    group, terms = borrow(own_group), borrow(own_terms)
    for position in range(tree.leaves.shape[0]):
        leaf = tree.leaves[position]
        start, end = tree.nodes[leaf, START], tree.nodes[leaf, END]
        group[:] = 0
        for place in range(start, end):
            group[problem.classes[place]] += 1
        for place in range(start, end):
            for a in range(d):
                terms[SPOT, a] = counted.starts[a] + problem.codes[a, place]
            outcome.uncovered[ids[place]] = 0
            believe(
                adversary, np.int64(EVERYBODY), counted.counts, terms, np.int64(0), group,
                np.int64(end - start), np.int64(ids[place]), outcome,
            )  # fmt: skip
    # Looked at once more, so that they are held as long as they are borrowed.
    return own_group.shape[0] + own_terms.shape[0]


@kernel
def finish_generalized(problem: Any, adversary: Any, rows: Any, leave: Any, outcome: Any) -> Any:
    """Write beliefs from one group in which every cell is ``*``, with or without the target."""
    counts = np.zeros((problem.codes.shape[0], adversary.totals.shape[0]), np.int32)
    group, terms = adversary.totals.copy(), plain_terms(counts.shape[0])
    for place in range(rows.shape[0]):
        row = rows[place]
        own = problem.classes[row]
        group[own] -= leave
        for a in range(counts.shape[0]):
            for c in range(counts.shape[1]):
                counts[a, c] = group[c]
        size = np.int64(problem.classes.shape[0] - leave)
        left = np.int64(own if leave else EVERYBODY)
        believe(adversary, left, counts, terms, np.int64(0), group, size, np.int64(row), outcome)
        group[own] += leave
        outcome.uncovered[row] = 0
        outcome.ticker[DONE] += 1


@inner
def locate(codes: Any, start: Any, stop: Any, bound: Any) -> Any:
    """The first place in ``codes[start:stop]``, ascending from 0 on, that is not below ``bound``.

    Found at once where no code up to ``bound`` is missing.
    """
    spot = start + bound
    if spot < stop and codes[spot] == bound:
        return spot
    return first_at_least(codes, start, stop, bound)


@kernel
def add_leaves(problem: Any, tree: Any, leaves: Any, sign: Any, counted: Any) -> Any:
    """Add some leaves of a tree to counts that are still steps.

    A region from low to high is a step up at low and one down after high; :func:`sum_steps` adds
    them up. One that is a set of values is added to each of them.
    """
    problem, tree, counted = borrow(problem), borrow(tree), borrow(counted)
    leaves, order, classes = borrow(leaves), tree.order, problem.classes
    codes, starts, steps = counted.codes, counted.starts, counted.counts
    for a in range(problem.codes.shape[0]):
        begin, stop, row = starts[a], starts[a + 1], problem.codes[a]
        for position in range(leaves.shape[0]):
            leaf = leaves[position]
            s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
            if problem.meta[a, LABEL] == MEMBERS:
                alike = tree.low[leaf, a] == tree.high[leaf, a]
                for place in range(s, s + 1 if alike else e):
                    seen, code = s, row[order[place]]
                    while row[order[seen]] != code:
                        seen += 1
                    if seen < place:
                        continue
                    up = locate(codes, begin, stop, np.int64(code))
                    if up < stop and codes[up] == code:
                        for other in range(s, e):
                            steps[up, classes[order[other]]] += sign
                continue
            up = locate(codes, begin, stop, np.int64(tree.low[leaf, a]))
            down = locate(codes, begin, stop, tree.high[leaf, a] + 1)
            if up == down:
                continue
            if down == stop:
                for place in range(s, e):
                    steps[up, classes[order[place]]] += sign
                continue
            for place in range(s, e):
                c = classes[order[place]]
                steps[up, c] += sign
                steps[down, c] -= sign


@kernel
def sum_steps(meta: Any, counted: Any) -> Any:
    """Turn steps into counts, attribute by attribute."""
    meta, counted = borrow(meta), borrow(counted)
    starts, steps = counted.starts, counted.counts
    for a in range(starts.shape[0] - 1):
        if meta[a, LABEL] != MEMBERS:
            for spot in range(starts[a] + 1, starts[a + 1]):
                for c in range(steps.shape[1]):
                    steps[spot, c] += steps[spot - 1, c]


@inline
def somebody_holds(codes: Any, order: Any, start: Any, end: Any, code: Any) -> Any:
    """Whether a record of a group holds this code."""
    for place in range(start, end):  # noqa: SIM110 - numba compiles no generator
        if codes[order[place]] == code:
            return True
    return False


@inner
def cover_one(
    problem: Any, tree: Any, leaves: Any, sign: Any, record: Any, counts: Any, group: Any
) -> Any:
    """Add to ``counts[a, c]`` the records of leaves whose region covers one record's values.

    Those of leaves that cover all of its values are added to ``group[c]`` as well.
    """
    problem, tree, leaves = borrow(problem), borrow(tree), borrow(leaves)
    counts, group = borrow(counts), borrow(group)
    d, classes, order = problem.codes.shape[0], problem.classes, tree.order
    for position in range(leaves.shape[0]):
        leaf = leaves[position]
        s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
        covered = 0
        for a in range(d):
            code = problem.codes[a, record]
            covers = tree.low[leaf, a] <= code <= tree.high[leaf, a]
            if covers and problem.meta[a, LABEL] == MEMBERS:
                covers = somebody_holds(problem.codes[a], order, s, e, code)
            if covers:
                covered += 1
                for place in range(s, e):
                    counts[a, classes[order[place]]] += sign
        if covered == d:
            for place in range(s, e):
                group[classes[order[place]]] += sign
