"""Follows every way on which a decision tree may send its target, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from indiff.kernels import inner, kernel

# Scores of splits are per record and between 0 and log(classes): scikit-learn's own differ from
# these by rounding, a hundred thousand times less. Whatever is nearer is taken for a tie.
NEAR = 1e-10
SAME = 1e-12  # of two beliefs
MOST_NODES = 64  # beyond it growing the tree takes no longer
GINI, ENTROPY = 0, 1
NO_LIMIT = -1


@kernel
def follow_all(tallies: Any, criterion: Any, most_depth: Any, beliefs: Any) -> Any:
    """Write the belief of each tally's target; tell of which it is that of every tree."""
    patterns, classes = tallies.shape[1], tallies.shape[2]
    columns = 0
    while 1 << columns < patterns:
        columns += 1
    sure, seen = np.zeros(tallies.shape[0], np.bool_), np.zeros(patterns, np.bool_)
    ways, scores = np.empty((MOST_NODES, 2), np.int64), np.empty(columns)
    total, covering = np.empty(classes), np.empty((columns, classes))
    for place in range(tallies.shape[0]):
        seen[:] = False
        sure[place] = follow(
            tallies[place], columns, criterion, most_depth, seen, ways, total, covering, scores,
            beliefs[place],
        )  # fmt: skip
    return sure


@inner
def follow(
    counts: Any, columns: Any, criterion: Any, most_depth: Any, seen: Any, ways: Any, total: Any,
    covering: Any, scores: Any, belief: Any,
) -> Any:  # fmt: skip
    """Write a target's belief; tell whether all ways end in it.

    A node is a number whose bits are the features asked so far; ``ways`` are nodes still to be
    looked at, each with its depth.
    """
    waiting, met, known = 1, 1, False
    ways[0, 0], ways[0, 1], seen[0] = 0, 0, True
    while waiting > 0:
        waiting -= 1
        node, depth = ways[waiting, 0], ways[waiting, 1]
        unasked = (counts.shape[0] - 1) ^ node
        size = count_node(counts, node, unasked, columns, total, covering)
        largest = 0.0
        for c in range(total.shape[0]):
            largest = max(largest, total[c])
        best = -np.inf
        if depth != most_depth and largest < size:
            for feature in range(columns):
                scores[feature] = -np.inf
                if unasked >> feature & 1:
                    scores[feature] = score_split(total, size, covering[feature], criterion)
                    best = max(best, scores[feature])
        near = best - NEAR * size
        if best == -np.inf or best - purity(total, total, 0.0, size, criterion) <= NEAR * size:
            for c in range(total.shape[0]):
                if known and abs(belief[c] - total[c] / size) > SAME:
                    return False
                belief[c] = total[c] / size
            known = True
        for feature in range(columns):
            child = node | (1 << feature)
            if best == -np.inf or child == node or scores[feature] < near or seen[child]:
                continue
            if met == MOST_NODES:
                return False
            seen[child] = True
            ways[waiting, 0], ways[waiting, 1] = child, depth + 1
            waiting, met = waiting + 1, met + 1
    return known


@inner
def count_node(
    counts: Any, node: Any, unasked: Any, columns: Any, total: Any, covering: Any
) -> Any:
    """Count the records of a node by class, and those that cover the target on each feature."""
    total[:] = 0.0
    covering[:] = 0.0
    size, rest = 0.0, unasked
    while True:  # every pattern with the bits of the node
        for c in range(total.shape[0]):
            held = counts[node | rest, c]
            if held != 0.0:
                size += held
                total[c] += held
                for feature in range(columns):
                    if rest >> feature & 1:
                        covering[feature, c] += held
        if rest == 0:
            return size
        rest = (rest - 1) & unasked


@inner
def score_split(total: Any, size: Any, covering: Any, criterion: Any) -> Any:
    """How pure both sides of a split are; −∞ where it tells no records apart."""
    inside = 0.0
    for c in range(total.shape[0]):
        inside += covering[c]
    if inside == 0.0 or inside == size:
        return -np.inf
    score = purity(covering, covering, 0.0, inside, criterion)
    return score + purity(total, covering, 1.0, size - inside, criterion)


@inner
def purity(held: Any, taken: Any, times: Any, size: Any, criterion: Any) -> Any:
    """How pure a set of records is, weighted by its size: higher is purer.

    It holds ``held`` of each class but for so many times ``taken``.
    """
    score = 0.0
    for c in range(held.shape[0]):
        count = held[c] - times * taken[c]
        if criterion == GINI:
            score += count * count
        elif count > 0.0:
            score += count * math.log(count / size)
    return score / size if criterion == GINI else score
