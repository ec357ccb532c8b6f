"""(ε, δ)-differentiability: how often one run's two beliefs are far apart.

DIT v1, Definition 1: for every record, Pr[distance ≥ ε] ≤ δ over the randomness of sanitizer and
model. From R runs per record the probability is a proportion, so its limits are exact binomial
ones (Clopper–Pearson), and those of its quantile are order statistics. Each side takes half of
the allowed error, divided by the number of records, since the definition is about all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.differential.noise.bracket import check_confidence
from indiff.errors import UserError


@dataclass(frozen=True)
class Limits:
    """An estimate between two limits, and the (row of the) record that sets the estimate."""

    lower: float
    estimate: float
    upper: float
    record: int


def largest_tail(distances: ArrayLike, epsilon: float, *, confidence: float = 0.95) -> Limits:
    """Return δ for a given ε: the largest probability, over records, of a distance of ε or more.

    ``distances`` is records × runs, one distance per paired run (DIT v1, Definition 1). No run at
    or above ε does not prove δ = 0: see the upper limit.

    >>> found = largest_tail([[0.1, 0.2, 0.3, 0.9], [0.1, 0.1, 0.1, 0.1]], 0.25)
    >>> found.estimate, found.record
    (0.5, 0)
    >>> round(largest_tail([[0.0] * 100], 0.25).upper, 4)  # 1 − 0.025^(1/100)
    0.0362
    """
    from scipy.stats import beta

    table = _check(distances, confidence)
    if not epsilon >= 0:
        raise UserError("epsilon must be at least 0", epsilon, "Give a distance")
    records, runs = table.shape
    error = (1 - confidence) / 2 / records
    far = (table >= epsilon).sum(axis=1)
    worst = int(far.argmax())
    most = int(far[worst])  # both limits grow with the count, so the largest count sets both
    return Limits(
        lower=float(beta.ppf(error, most, runs - most + 1)) if most else 0.0,
        estimate=most / runs,
        upper=float(beta.ppf(1 - error, most + 1, runs - most)) if most < runs else 1.0,
        record=worst,
    )


def smallest_epsilon(
    distances: ArrayLike, delta: float, *, confidence: float = 0.95, largest: float = float("inf")
) -> Limits:
    """Return ε for a given δ: the smallest one that every record's tail probability allows.

    It is the largest, over records, of the (1 − δ)-quantiles of the distance, as an infimum.
    ``largest`` is the largest value the distance can take; it is the upper limit where R runs
    are too few to give another, always so for δ = 0.

    >>> runs = [[k / 100 for k in range(100)]]
    >>> found = smallest_epsilon(runs, 0.1)
    >>> found.lower, found.estimate, found.upper
    (0.83, 0.89, 0.95)
    >>> smallest_epsilon(runs, 0, largest=2.0).upper
    2.0
    """
    from scipy.stats import binom

    table = _check(distances, confidence)
    if not 0 <= delta < 1:
        raise UserError("delta must be at least 0 and below 1", delta, "Give a tail probability")
    records, runs = table.shape
    error = (1 - confidence) / 2 / records
    ordered = np.sort(table, axis=1)
    # V_(m), counted from 1, is at most the quantile where Binomial(R, 1−δ) ≥ m, and at least
    # the quantile where Binomial(R, 1−δ) ≤ m − 1.
    ranks = np.arange(1, runs + 1)
    below = np.flatnonzero(binom.sf(ranks - 1, runs, 1 - delta) >= 1 - error)
    above = np.flatnonzero(binom.cdf(ranks - 1, runs, 1 - delta) >= 1 - error)
    allowed = int(np.floor(delta * runs * (1 + 1e-12)))  # runs that may lie above the estimate
    estimates = ordered[:, runs - 1 - allowed]
    return Limits(
        lower=float(ordered[:, below[-1]].max()) if len(below) else 0.0,
        estimate=float(estimates.max()),
        upper=float(ordered[:, above[0]].max()) if len(above) else largest,
        record=int(estimates.argmax()),
    )


def _check(distances: ArrayLike, confidence: float) -> NDArray[np.float64]:
    check_confidence(confidence)
    table = np.asarray(distances, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise UserError(
            "distances must be a table of records × runs",
            f"shape {table.shape}",
            "Give one row per tested record",
        )
    if table.shape[1] < 2:
        raise UserError(
            "a randomized sanitizer needs at least 2 runs", table.shape[1], "Raise runs"
        )
    if not (table >= 0).all():
        raise UserError(
            "distances must be at least 0 in every run",
            "a negative or undefined one",
            "Choose a distance that is defined for these beliefs",
        )
    return table
