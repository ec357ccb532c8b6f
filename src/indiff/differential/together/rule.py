"""Combines beliefs from several releases into one: prior times likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def combine(prior: Floats, parts: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return the belief from a prior and from each part's belief and the prior that it was from.

    Per value c: belief(c) ∝ prior(c) · Π_r belief_r(c) / prior_r(c), Bayes' rule for releases that
    are independent given c. All arrays end with the values; others are broadcast. A value that no
    record of a part's table holds is impossible there. Where the parts leave no value possible,
    they contradict each other, and the belief is the prior.

    >>> import numpy as np
    >>> half = np.array([0.5, 0.5])
    >>> combine(half, [(np.array([0.8, 0.2]), half), (np.array([0.8, 0.2]), half)]).round(4)
    array([0.9412, 0.0588])
    >>> combine(half, [(np.array([1.0, 0.0]), half), (np.array([0.0, 1.0]), half)])
    array([0.5, 0.5])
    """
    belief = prior
    for believed, before in parts:
        held = before > 0
        ratio = np.where(held, believed / np.where(held, before, 1.0), 0.0)
        product = belief * ratio
        total = product.sum(axis=-1, keepdims=True)
        # Divided at once, so that many small ratios stay numbers; 0 stays 0.
        belief = product / np.where(total > 0, total, 1.0)
    possible = belief.sum(axis=-1, keepdims=True) > 0
    return np.where(possible, belief, np.broadcast_to(prior, belief.shape))


def shares_with_and_without(codes: NDArray[np.int32], values: int, left_out: Floats) -> tuple[
    Floats, Floats
]:  # fmt: skip
    """Return the shares of values in a table, and for each person those of the others.

    ``left_out`` has a row for each person: how many of the person's records hold each value.

    >>> import numpy as np
    >>> shares_with_and_without(np.array([0, 0, 1]), 2, np.array([[0.0, 1.0]]))[1]
    array([[1., 0.]])
    """
    counts = np.bincount(codes, minlength=values).astype(np.float64)
    others = counts - left_out
    return counts / counts.sum(), others / others.sum(axis=1, keepdims=True)
