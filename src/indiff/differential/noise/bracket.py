"""Limits what R runs of a randomized sanitizer say: distances, their tail, changed predictions.

The distance of DIT v2, Section 3.2 is W = Σ_j W1(law of p_j, law of p'_j). Samples give two ends:

- every coupling of the two laws obeys |E p_j − E p'_j| ≤ W1_j ≤ E|p_j − p'_j|, so paired runs
  (the same seed with and without the record) give a lower and an upper end;
- unpaired runs have Eq. 1, the distance of the two empirical laws by order statistics. Its mean
  is at least W: a supremum over test functions, of which W is the one at the mean. It is an upper
  end, never an estimate.

Beliefs lie in [0, 1] and sum to 1, so every limit below holds at any R and for any law: nothing
is assumed to be normal. (ε, δ)-differentiability (DIT v1, Definition 1: for every record,
Pr[distance ≥ ε] ≤ δ over the randomness of sanitizer and model) is about a proportion of runs, so
its limits are exact binomial ones (Clopper–Pearson), and those of its quantile are order
statistics. Each side takes half of the allowed error, divided by the number of records, since the
definition is about all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.differential.path import Changes
from indiff.errors import UserError

Floats = NDArray[np.float64]

LARGEST_DISTANCE = 2.0  # Σ_j |p_j − p'_j| of two beliefs


@dataclass(frozen=True)
class Bracket:
    """Two limits that hold together with a given confidence, and the estimates behind them.

    ``lower`` ≤ W ≤ ``upper``; ``lower_end`` and ``upper_end`` are the sample's own ends, without
    their uncertainty. What it does not prove: that W is near either end.
    """

    lower: float
    lower_end: float
    upper_end: float
    upper: float


def bracket(
    present: ArrayLike,
    absent: ArrayLike,
    *,
    paired: bool,
    confidence: float = 0.95,
    records: int = 1,
) -> Bracket:
    """Return limits on one record's distance from R beliefs with it and R beliefs without it.

    ``present`` and ``absent`` are runs × sensitive values; with ``paired`` row r of both comes
    from the same random numbers. ``records`` is the number of brackets that must hold together
    (Bonferroni): give the number of tested records where their maximum, δ, is reported.

    Half of the allowed error goes to each side. Below: the difference of means of each coordinate
    less a margin that holds for all coordinates together. Above: the mean of Σ_j |p_j − p'_j|, or
    Eq. 1 of DIT v2 where the runs are not paired, plus a margin on the sum.

    >>> with_it, without_it = [[0.6, 0.4], [0.7, 0.3]] * 500, [[0.5, 0.5], [0.6, 0.4]] * 500
    >>> found = bracket(with_it, without_it, paired=True)
    >>> round(found.lower_end, 3), round(found.upper_end, 3)
    (0.2, 0.2)
    >>> found.lower < 0.2 < found.upper
    True
    """
    first, second = check_runs(present, absent)
    check_confidence(confidence)
    if records < 1:
        raise UserError("records must be at least 1", records, "Give the number of tested records")
    runs, n = first.shape
    error = (1 - confidence) / records / 2
    difference = first.mean(axis=0) - second.mean(axis=0)
    if paired:
        margin = _mean_margin(first - second, width=2.0, error=error / n)
        each = np.abs(first - second).sum(axis=1)
        upper_end = float(each.mean())
        upper = LARGEST_DISTANCE * _mean_upper(each / LARGEST_DISTANCE, error=error)
    else:
        margin = _mean_margin(first, width=1.0, error=error / n / 2)
        margin = margin + _mean_margin(second, width=1.0, error=error / n / 2)
        upper_end = order_statistics_distance(first, second)
        # McDiarmid: one run replaced moves the sum by at most 2/R, and there are 2R runs.
        upper = upper_end + 2 * math.sqrt(math.log(1 / error) / runs)
    return Bracket(
        lower=float(np.maximum(np.abs(difference) - margin, 0).sum()),
        lower_end=float(np.abs(difference).sum()),
        upper_end=upper_end,
        upper=min(LARGEST_DISTANCE, upper),
    )


def order_statistics_distance(present: ArrayLike, absent: ArrayLike) -> float:
    """Return Eq. 1 of DIT v2, summed over coordinates: sort both samples, average the gaps.

    It is biased upward: two independent samples of the same law have a positive value.
    """
    first, second = check_runs(present, absent)
    gaps = np.abs(np.sort(first, axis=0) - np.sort(second, axis=0))
    return float(gaps.mean(axis=0).sum())


def indistinguishable_from_noise(
    present: ArrayLike,
    repeated: ArrayLike,
    absent: ArrayLike,
    *,
    level: float = 0.05,
    splits: int = 999,
    seed: int = 0,
) -> bool:
    """Tell whether R runs cannot tell the record's absence from a mere repetition.

    ``present`` and ``repeated`` are two sets of runs of the *same* table, with different random
    numbers; ``absent`` has the runs without the record and must be independent of ``repeated``.
    Eq. 1 between ``repeated`` and ``absent`` is compared with Eq. 1 between random halves of the
    two sets of the same table. Not being distinguishable is a statement about this R, not about
    the record: it never lowers a distance, and nothing is subtracted.
    """
    check_confidence(1 - level)
    if splits < 1 / level - 1:
        rule = f"splits must be at least {math.ceil(1 / level - 1)} for level {level}"
        raise UserError(rule, splits, "Use more splits")
    observed = order_statistics_distance(repeated, absent)
    pool = np.concatenate(check_runs(present, repeated))
    runs = len(pool) // 2
    rng = np.random.default_rng(seed)
    exceeding = 0
    for _ in range(splits):
        pool = rng.permutation(pool)
        exceeding += order_statistics_distance(pool[:runs], pool[runs:]) >= observed
    return (1 + exceeding) / (1 + splits) > level


def mean_limits(each: Floats, *, largest: float, error: float) -> tuple[float, float]:
    """Return limits on the mean of a distance that is at most ``largest``; each side may err.

    Without a largest value no upper limit follows from samples, whatever they are: it is infinite.
    The mean of min(distance, 1) is then a lower limit.

    >>> low, high = mean_limits(np.full(1000, 0.25), largest=1.0, error=0.025)
    >>> 0.2 < low < 0.25 < high < 0.3
    True
    >>> mean_limits(np.full(1000, 0.25), largest=np.inf, error=0.025)[1]
    inf
    """
    if largest == 0:  # a ground distance that tells no two values apart
        return 0.0, 0.0
    if len(each) < 2:  # one value says nothing of the spread
        return 0.0, largest
    bound = largest if np.isfinite(largest) else 1.0
    share = np.minimum(each, bound) / bound
    margin = float(_mean_margin(share[:, None], width=1.0, error=error)[0])
    lower = bound * max(float(share.mean()) - margin, 0.0)
    upper = bound * _mean_upper(share, error=error) if np.isfinite(largest) else np.inf
    return lower, upper


def check_runs(present: ArrayLike, absent: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays of floats, or raise: same shape, R ≥ 2, rows are beliefs."""
    first, second = np.asarray(present, dtype=np.float64), np.asarray(absent, dtype=np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise UserError(
            "runs with and without the record must be two tables of one shape, runs × "
            "sensitive values",
            f"{first.shape} and {second.shape}",
            "Make as many runs of each",
        )
    _check_number(len(first))
    for beliefs in (first, second):
        sound = (beliefs >= -1e-9).all(axis=1) & (np.abs(beliefs.sum(axis=1) - 1) <= 1e-6)
        if not sound.all():
            rule = "beliefs must not be negative and must sum to 1 in each run"
            got = beliefs[int(sound.argmin())].tolist()
            raise UserError(rule, got, "Return probabilities from the model")
    return first, second


def _check_number(runs: int) -> None:
    if runs < 2:
        raise UserError("a randomized sanitizer needs at least 2 runs", runs, "Raise runs")


def check_confidence(confidence: float) -> None:
    """Raise where ``confidence`` is no probability strictly between 0 and 1."""
    if not 0 < confidence < 1:
        rule = "confidence must lie between 0 and 1, both excluded"
        raise UserError(rule, confidence, "Use 0.95")


def change_limits(changes: Changes, confidence: float) -> tuple[float, float] | None:
    """Return limits on the mean over the records; None where it is known.

    They hold at any number of runs: the mean over the drawn records of one run lies in [0, 1].
    """
    if changes.runs is None or changes.drawn is None or not len(changes.each):
        return None
    known = float(changes.each[~changes.drawn].sum()) / len(changes.each)
    share = float(changes.drawn.mean())
    if share == 0:
        return known, known
    sources = None if changes.sources is None else changes.sources[changes.drawn]
    low, high = _drawn_limits(changes.runs[changes.drawn], sources, error=(1 - confidence) / 2)
    return known + share * low, known + share * high


def _drawn_limits(
    runs: Floats, sources: NDArray[np.intp] | None, *, error: float
) -> tuple[float, float]:
    """Return limits on the mean over the drawn records; each side may err."""
    each = runs.mean(axis=0)
    if sources is None:
        return mean_limits(each, largest=1.0, error=error)
    # Half of the error each: the runs as before, and Hoeffding's limit for independent sources.
    low, high = mean_limits(each, largest=1.0, error=error / 2)
    weights = np.unique(sources, return_counts=True)[1] / len(runs)
    margin = math.sqrt(math.log(2 / error) * float((weights**2).sum()) / (2 * len(each)))
    mean = float(each.mean())
    return max(low, mean - margin), min(high, mean + margin)


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
    """
    from scipy.stats import beta

    table = _check_distances(distances, confidence)
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
    """
    from scipy.stats import binom

    table = _check_distances(distances, confidence)
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


def _check_distances(distances: ArrayLike, confidence: float) -> NDArray[np.float64]:
    check_confidence(confidence)
    table = np.asarray(distances, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        rule = "distances must be a table of records × runs"
        raise UserError(rule, f"shape {table.shape}", "Give one row per tested record")
    _check_number(table.shape[1])
    if not (table >= 0).all():
        rule, got = "distances must be at least 0 in every run", "a negative or undefined one"
        raise UserError(rule, got, "Choose a distance that is defined for these beliefs")
    return table


def _mean_margin(sample: Floats, *, width: float, error: float) -> Floats:
    """Return, per column, how far the mean may be from the sample's, on either side.

    The smaller of two margins with half of the error each: Hoeffding's, and the empirical
    Bernstein margin (Maurer and Pontil 2009, Theorem 4), which uses the sample's variance.
    """
    runs = len(sample)
    log = math.log(4 / error)  # two margins, two sides
    hoeffding = width * math.sqrt(log / (2 * runs))
    log = math.log(8 / error)  # and two events inside Bernstein's
    variance = sample.var(axis=0, ddof=1)
    bernstein = np.sqrt(2 * variance * log / runs) + 7 * width * log / (3 * (runs - 1))
    return np.minimum(hoeffding, bernstein)


def _mean_upper(sample: Floats, *, error: float) -> float:
    """Return an upper limit on the mean of a variable in [0, 1].

    The smaller of two limits with half of the error each: Chernoff's, the largest mean m with
    R·KL(sample mean, m) ≤ ln(1/error), which is sharp near 0, and empirical Bernstein.
    """
    runs, mean = len(sample), float(sample.mean())
    allowed = math.log(2 / error) / runs
    low, high = mean, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(mean, middle) <= allowed else (low, middle)
    log = math.log(4 / error)
    spread = math.sqrt(2 * float(sample.var(ddof=1)) * log / runs)
    return min(high, mean + spread + 7 * log / (3 * (runs - 1)))


def _divergence(p: float, q: float) -> float:
    """Return KL(p, q) of two coins, with p ≤ q < 1 or p = q."""
    if q >= 1:
        return 0.0 if p >= 1 else math.inf
    first = p * math.log(p / q) if p > 0 else 0.0
    second = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return first + second
