"""Grows a decision tree on TF features, as far as the way of the one target it is asked about.

The tree is CART's (Breiman et al. 1984) by Gini's impurity, fully grown: a node is split on the
column that leaves both sides purest, until it is of one class or no column tells its records
apart. Of columns that are equally good the first listed is taken.

A target's own features are all 1, so that the tree only ever asks it to go where a feature is 1: a
node on its way is the records that cover it on the columns asked so far, whatever their order.
Nothing else of the tree is grown. A target that some record covers everywhere is believed to be
like the records that do: those are where its way ends, unless a node before is of one class, which
is then theirs, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import inner, kernel

Floats = NDArray[np.float64]

# Scores are per record and between 0 and 1: whatever is nearer than this is a tie, not rounding.
NEAR = 1e-10
NO_SPLIT = -1


def beliefs_from_tallies(counts: Floats) -> Floats:
    """Return what trees believe of targets, from counts by target, pattern and class.

    The patterns are those of :class:`~indiff.inference.encodings.Tally`: the first column's bit is
    the highest. On ``[[5, 0], [0, 0], [0, 1], [1, 3]]`` the first of two columns is asked, then
    the second:

    >>> beliefs_from_tallies(np.array([[[5, 0], [0, 0], [0, 1], [1, 3.0]]])).tolist()
    [[0.25, 0.75]]
    """
    beliefs = np.empty((counts.shape[0], counts.shape[2]))
    descend_all(np.ascontiguousarray(counts, np.float64), beliefs)
    return beliefs


def belief_from_rows(
    features: Floats, classes: NDArray[np.int32], weights: Floats | None, values: int
) -> tuple[Floats, list[int]]:
    """Return the same from rows, however many columns there are: counts, and the columns asked.

    >>> rows = np.array([[0, 0], [1, 0], [1, 1], [1, 1.0]])
    >>> belief_from_rows(rows, np.array([0, 1, 0, 1], np.int32), np.array([5, 1, 1, 3.0]), 2)
    (array([1., 3.]), [0, 1])
    """
    weights = np.ones(len(classes)) if weights is None else weights
    covers, way = features > 0, list[int]()
    unasked = np.ones(features.shape[1], np.bool_)
    while True:
        total = np.bincount(classes, weights, values).astype(np.float64)
        covering = np.array([np.bincount(classes[on], weights[on], values) for on in covers.T])
        column = int(choose_split(total, total.sum(), covering, unasked))
        if column == NO_SPLIT:
            return total, way
        way.append(column)
        unasked[column], kept = False, covers[:, column]
        covers, classes, weights = covers[kept], classes[kept], weights[kept]


@kernel
def choose_split(total: Any, size: Any, covering: Any, unasked: Any) -> Any:
    """The column on which a node is split, the first among equals; NO_SPLIT of a leaf.

    A node has ``total[c]`` records of each class, ``size`` in all, of which ``covering[a, c]``
    cover the target on column a. Gini's impurity of both sides, weighted by their sizes, is least
    where Σ_c n_c² / n of them is most. A split that gains nothing is made like any other.
    """
    largest = 0.0
    for c in range(total.shape[0]):
        largest = max(largest, total[c])
    column, best = NO_SPLIT, -np.inf
    if largest >= size:
        return column
    for a in range(covering.shape[0]):
        if not unasked[a]:
            continue
        inside, squares, others = 0.0, 0.0, 0.0
        for c in range(total.shape[0]):
            held, left = covering[a, c], total[c] - covering[a, c]
            inside += held
            squares += held * held
            others += left * left
        if inside <= 0.0 or inside >= size:
            continue
        score = squares / inside + others / (size - inside)
        if score > best + NEAR * size:
            column, best = a, score
    return column


@inner
def count_node(counts: Any, node: Any, total: Any, covering: Any, unasked: Any) -> Any:
    """Count a node's records by class, and those that cover the target on each column.

    A node is a number with the bits of the columns asked so far.
    """
    columns, rest = covering.shape[0], (counts.shape[0] - 1) ^ node
    total[:] = 0.0
    covering[:] = 0.0
    others = rest
    while True:  # every pattern with the bits of the node; whole rows are added, without a look
        held = counts[node | others]
        for c in range(total.shape[0]):
            total[c] += held[c]
        for a in range(columns):
            unasked[a] = (rest >> (columns - 1 - a)) & 1
            if (others >> (columns - 1 - a)) & 1:
                for c in range(total.shape[0]):
                    covering[a, c] += held[c]
        if others == 0:
            break
        others = (others - 1) & rest
    size = 0.0
    for c in range(total.shape[0]):
        size += total[c]
    return size


@inner
def descend(counts: Any, node: Any, total: Any, covering: Any, unasked: Any, belief: Any) -> Any:
    """Write the belief about the target of a tally whose way has come to a node."""
    while True:
        size = count_node(counts, node, total, covering, unasked)
        column = choose_split(total, size, covering, unasked)
        if column == NO_SPLIT:
            break
        node |= 1 << (covering.shape[0] - 1 - column)
    for c in range(total.shape[0]):
        belief[c] = total[c] / size


@kernel
def descend_all(tallies: Any, beliefs: Any) -> Any:
    """Write the belief about each tally's target."""
    patterns, columns = tallies.shape[1], 0
    while 1 << columns < patterns:
        columns += 1
    total, covering = np.empty(tallies.shape[2]), np.empty((columns, tallies.shape[2]))
    unasked = np.empty(columns, np.bool_)
    for place in range(tallies.shape[0]):
        descend(tallies[place], np.int64(0), total, covering, unasked, beliefs[place])
