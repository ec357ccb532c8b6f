"""Says what a uniform random sample of targets tells about all records, whatever the distances.

Proposition (docs/targets.md has the proof): of n records m are drawn uniformly without
replacement, T is the (x + 1)-th largest distance of the sample, and K is such that a draw hits a
fixed set of K + 1 records at most x times with probability at most α. Then with probability at
least 1 − α at most K of the n records exceed T. No assumption is made on the distances, and ties
do no harm. The probability is the hypergeometric tail, so it is exact for any n, also where m is
a large part of n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.differential.noise.bracket import check_confidence
from indiff.errors import UserError, option

Floats = NDArray[np.float64]

# Ranks of the table of thresholds, as shares of the sample: fixed, so that no result picks them.
RANKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5)


@dataclass(frozen=True)
class Bound:
    """At most ``records`` of the population, which are ``share`` of it, exceed ``threshold``."""

    threshold: float
    records: int
    share: float


@dataclass(frozen=True)
class Guarantee:
    """What a random sample says about the whole population; ``str()`` says it in words.

    ``largest`` is the statement on the sample's largest distance, which holds by itself with the
    stated confidence; where that distance is infinite, it is on the records that reach it. Those
    of ``bounds`` hold **all together** with that confidence, so each is a little weaker. The
    largest distance of a sample is a lower bound on δ: a record above it may exceed it by far.
    """

    population: int
    sampled: int
    failed: int
    confidence: float
    largest: Bound
    bounds: tuple[Bound, ...]

    @property
    def delta_at_least(self) -> float:
        """The largest distance of the sample: δ of the population is at least this."""
        return self.largest.threshold

    def __str__(self) -> str:
        top = self.largest
        if self.sampled == self.population and not self.failed:
            return (
                f"all {self.population:,} records were measured: none exceeds {_up(top.threshold)}"
            )
        beyond = (
            f"exceed {_up(top.threshold)}; the largest distance of a sample is a lower bound on δ"
        )
        if math.isinf(top.threshold):
            beyond = "have an infinite distance; δ is infinite"
        return (
            f"with {100 * self.confidence:.6g} % confidence at most {_up(100 * top.share, 2)} % of "
            f"the records {beyond}"
        )


def statement(
    distances: ArrayLike, *, population: int, confidence: float = 0.95, failed: int = 0
) -> Guarantee:
    """Bound how many records of a population exceed distances that a random sample shows.

    ``distances`` are those of targets drawn uniformly without replacement from ``population``
    records, before anything was known about them: not worst-first, and not a sample that was
    ended because of what it showed. ``failed`` counts drawn targets without a result; each is
    taken to exceed everything. What is bounded is the share of records, never how far one of
    them exceeds a threshold.

    >>> print(statement([0.12] + [0.01] * 499, population=100_000))
    with 95 % confidence at most 0.6 % of the records exceed 0.12; the largest distance of a sample is a lower bound on δ
    >>> [(bound.threshold, bound.records) for bound in statement([3, 1, 2], population=3).bounds]
    [(3.0, 0), (2.0, 1), (1.0, 2)]
    """  # noqa: E501 - what is printed is one line
    found = _check(distances, population, confidence, failed)
    ordered = np.sort(found)[::-1]
    sampled, error = len(found) + failed, 1 - confidence

    def bound(place: int, allowed: float) -> Bound:
        threshold = float(ordered[place])
        # That a distance is infinite is a threshold which no sample chooses.
        seen = int(np.isinf(found).sum()) if math.isinf(threshold) else place
        if not failed:
            most = most_above(seen, sampled, population, allowed)
        else:  # those that fail, and of the others those that exceed: each may err by half
            most = most_above(failed, sampled, population, allowed / 2)
            most += most_above(seen, len(found), population - failed, allowed / 2)
        most = min(most, population)
        return Bound(threshold, most, most / population)

    places = sorted({min(math.ceil(rank * len(found)), len(found) - 1) for rank in RANKS})
    return Guarantee(
        population=population,
        sampled=sampled,
        failed=failed,
        confidence=confidence,
        largest=bound(0, error),
        bounds=tuple(bound(place, error / len(places)) for place in places),
    )


def say(distances: Floats, population: int, confidence: float, failed: int, *, people: bool) -> str:
    """Say what a random draw of records, or of people, tells about everybody."""
    found = statement(distances, population=population, confidence=confidence, failed=failed)
    return str(found).replace("records", "people") if people else str(found)


def share_above(
    distances: ArrayLike,
    threshold: float,
    *,
    population: int,
    confidence: float = 0.95,
    failed: int = 0,
) -> Bound:
    """Bound how many records of the population exceed one threshold, fixed beforehand.

    A limit that was set before the run is such a threshold. Of several thresholds each statement
    holds by itself; for J of them together ask for a confidence of 1 − (1 − confidence) / J.

    >>> share_above([0.0] * 300, 0.1, population=300_000).share < 0.01
    True
    """
    if math.isnan(threshold):
        raise UserError("threshold must be a number", "NaN", "Give a distance", field="threshold")
    found = _check(distances, population, confidence, failed)
    above = int((found > threshold).sum()) + failed
    most = most_above(above, len(found) + failed, population, 1 - confidence)
    return Bound(float(threshold), most, most / population)


@lru_cache(maxsize=1024)
def most_above(seen: int, sampled: int, population: int, error: float) -> int:
    """Return the least K for which a draw hits K + 1 fixed records ``seen`` times or fewer rarely.

    Rarely: with probability at most ``error``. It is 0 hits of 1 record where every record is
    drawn, and at most ``population`` − ``sampled`` + ``seen``.

    >>> most_above(0, 59, 10**6, 0.05)  # the binomial 1 − 0.05^(1/59) is 4.95 %
    49506
    >>> most_above(2, 10, 10, 0.05)
    2
    """
    from scipy.stats import hypergeom

    low, high = seen, population - sampled + seen  # more than high cannot be, whatever the error
    allowed = error * (1 - 1e-9)  # rounding must not make a bound too small
    while low < high:
        middle = (low + high) // 2
        if hypergeom.cdf(seen, population, middle + 1, sampled) <= allowed:
            high = middle
        else:
            low = middle + 1
    return low


def _check(distances: ArrayLike, population: int, confidence: float, failed: int) -> Floats:
    check_confidence(confidence)
    found = np.asarray(distances, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        raise UserError(
            "a statement needs the distances of at least one drawn target, as a list",
            f"an array of shape {found.shape}",
            field="distances",
        )
    if np.isnan(found).any():
        raise UserError(
            f"distances must be numbers; {int(np.isnan(found).sum()):,} of {len(found):,} are NaN",
            way_out=f"Count targets without a result in {option('failed')}",
            field="distances",
        )
    if failed < 0:
        raise UserError("failed must be at least 0", failed, field="failed")
    if len(found) + failed > population:
        raise UserError(
            "a sample without replacement has at most as many targets as the "
            f"population has records ({population:,})",
            f"{len(found) + failed:,}",
        )
    return found


def _up(number: float, figures: int = 3) -> str:
    """Write a number with a few figures, rounded up, so that what is said of it stays true."""
    if number == 0 or not math.isfinite(number):
        return f"{number:.{figures}g}"
    digits = figures - 1 - math.floor(math.log10(abs(number)))
    near = round(number, digits)
    # What is already that short in decimal, such as 0.12, stays as it is.
    raised = near if near >= number else near + 10.0**-digits
    return f"{raised:.{figures}g}"
