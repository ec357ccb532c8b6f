"""What every decision tree must believe about a target on TF features, without growing one.

A target's own features are all 1, so a tree only ever asks it to go where a feature is 1: a node
on its way is the records that cover it on the features asked so far, whatever their order. The
way is followed here from the counts alone. Where two splits are equally good, scikit-learn lets
chance decide between them, and where a split gains nothing, rounding decides whether it is made:
then all ways are followed. If they end in the same belief, it is the belief of every tree.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.inference.tally import Floats

Criterion = Literal["gini", "entropy"]

# Scores of splits are per record and between 0 and log(classes): scikit-learn's own differ from
# these by rounding, a hundred thousand times less. Whatever is nearer is taken for a tie.
NEAR = 1e-10
SAME = 1e-12  # of two beliefs
MOST_NODES = 64  # beyond it growing the tree takes no longer


def sure_belief(
    counts: Floats, criterion: Criterion = "gini", max_depth: int | None = None
) -> Floats | None:
    """Return the belief of any fully grown tree about a target; None where trees may differ.

    ``counts`` are those of a :class:`~indiff.inference.tally.Tally`: whole numbers of records, by
    pattern and class. The tree is CART's as scikit-learn grows it, with ``max_depth`` as its only
    limit: a node is split on the feature with the best score, until it is of one class or no
    feature tells its records apart.

    >>> sure_belief(np.array([[5, 0], [0, 0], [0, 1], [1, 3.0]]))
    array([0.25, 0.75])
    >>> print(sure_belief(np.array([[4, 4], [3, 1], [1, 3], [0, 0.0]])))  # two as good
    None
    """
    columns = len(counts).bit_length() - 1
    found: Floats | None = None
    seen = {0}
    todo = [(0, 0)]
    while todo:
        node, depth = todo.pop()
        splits, ends = _best_splits(counts, columns, node, criterion, depth == max_depth)
        if ends is not None:
            if found is not None and np.abs(found - ends).max() > SAME:
                return None
            found = ends
        fresh = {node | split for split in splits} - seen
        seen |= fresh
        if len(seen) > MOST_NODES:
            return None
        todo += [(child, depth + 1) for child in fresh]
    return found


def _best_splits(
    counts: Floats, columns: int, node: int, criterion: Criterion, last: bool
) -> tuple[list[int], Floats | None]:
    """Return the features by which a node may be split, and its belief if it may be a leaf."""
    patterns, features, bits = _node(columns, node)
    here = counts[patterns]
    total = here.sum(axis=0)
    size = total.sum()
    if last or total.max() == size or not len(features):
        return [], total / size
    covering = bits @ here
    others = total - covering
    sizes = covering.sum(axis=1)
    telling = np.flatnonzero((sizes > 0) & (sizes < size))
    if not len(telling):
        return [], total / size
    scores = _score(covering[telling], criterion) + _score(others[telling], criterion)
    best = scores.max()
    tied = telling[scores >= best - NEAR * size]
    gains_nothing = best - _score(total[None], criterion)[0] <= NEAR * size
    return features[tied].tolist(), total / size if gains_nothing else None


def _score(held: Floats, criterion: Criterion) -> Floats:
    """Return how pure some sets of records are, weighted by their size: higher is purer."""
    sizes = held.sum(axis=1)
    if criterion == "gini":
        return np.asarray((held * held).sum(axis=1) / sizes)
    shares = held / sizes[:, None]
    return np.asarray((held * np.log(np.where(held > 0, shares, 1.0))).sum(axis=1))


@cache
def _node(
    columns: int, node: int
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.float64]]:
    """Return a node's patterns, the features not asked yet, and which patterns cover on each."""
    patterns = np.arange(2**columns)
    patterns = patterns[patterns & node == node]
    features = np.array([1 << place for place in range(columns) if not node >> place & 1], np.int64)
    bits = (patterns & features[:, None] > 0).astype(np.float64)
    return patterns, features, bits
