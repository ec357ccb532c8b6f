"""Turns counts into beliefs, for the models that need nothing else: as data, and compiled."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import END, START
from indiff.sanitizers.mondrian.partition import group_counts

NAIVE_BAYES, FREQUENCY = 0, 1
PRODUCTS, LOGARITHMS = 0, 1
FINISHED = UNFINISHED = -1
DONE, STOP = 0, 1  # places in Outcome.ticker


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
