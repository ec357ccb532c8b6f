"""Makes the ITPR paper's tables of 10,000 records (Section 5), and measures every metric on them.

The paper tells which quantity each figure varies, not how the counts are made; each function
says which counts it chose.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.papers.itpr.tables import information_of
from indiff.papers.run import Run, once
from indiff.risk.metrics import InformationRisk

Counts = NDArray[np.int64]
RECORDS = 10_000
METRICS = ("ITPR", "DR", "MI", "CP", "ELD", "MIL")

EPSILONS_OF_TWO = (0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9998)
SMALLEST_OF_TEN = (1000, 900, 800, 700, 600, 500, 400, 300, 200, 100, 1)
LAMBDAS = (0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000)
GRADED = (0.2, 0.4, 0.6, 0.8, 1.0)
ONE_AGE = (0.0, 0.0, 0.0, 0.0, 1.0)
RARE, RAISED = 10, (10, 20, 40, 60, 90, 128, 160, 200)  # of 1,000 records of an age
EPSILONS_OF_SURFACE = (0, 400, 800, 1200)
THETAS_OF_SURFACE = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)


@dataclass(frozen=True)
class Point:
    """A place on the horizontal axis, and every metric of the table there."""

    x: float
    found: InformationRisk

    def value(self, metric: str) -> float:
        """Return a metric by the paper's name."""
        number: float = getattr(self.found, metric.lower())
        return number


def shared(total: int, parts: int) -> list[int]:
    """Share a number as equally as whole numbers allow."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def entropy(counts: Counts) -> float:
    """Return the entropy of counts in bits."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def measured(counts: Sequence[Sequence[int]] | Counts) -> InformationRisk:
    """Measure the table with these counts: ages down, diseases across; one column has none."""
    table = np.asarray(counts, dtype=np.int64)
    ages, diseases = np.nonzero(table)
    repeats = table[ages, diseases]
    data = {"age": np.repeat(ages, repeats)}
    if table.shape[1] > 1:
        data["disease"] = np.repeat(diseases, repeats)
    return information_of(data)


@once
def two_values(run: Run) -> list[Point]:
    """Figure 1: two values of Y, held by (10,000 ∓ ε)/2 records."""
    return _by_epsilon([((RECORDS - e) // 2, (RECORDS + e) // 2) for e in EPSILONS_OF_TWO])


@once
def ten_values(run: Run) -> list[Point]:
    """Figure 2: ten values of Y, one of them rarer and the other nine equally frequent."""
    return _by_epsilon([[n, *shared(RECORDS - n, 9)] for n in SMALLEST_OF_TEN])


def _by_epsilon(tables: Sequence[Sequence[int]]) -> list[Point]:
    found = [measured([[n] for n in sizes]) for sizes in tables]
    return [Point(risk.epsilon, risk) for risk in found]


@once
def common_disease(run: Run, strengths: Sequence[float]) -> list[Point]:
    """Figure 3: five ages of 2,000 records, ten diseases, one more frequent by λ · strength."""

    def age(more: int) -> list[int]:
        first, *rest = shared(2000 - more, 10)
        return [first + more, *rest]

    return [
        Point(most, measured([age(round(most * strength)) for strength in strengths]))
        for most in LAMBDAS
    ]


@dataclass(frozen=True)
class Raised(Point):
    """A table in which one age has a rare disease more often.

    ``x`` is H(X, q) − H(X) of that age, ``share`` how many of it have the disease, and
    ``mil_there`` is H(X) − p(q) · H(X|q).
    """

    share: float
    mil_there: float


@once
def rare_disease(run: Run) -> list[Raised]:
    """Figure 4: ten ages of 1,000 records; 1% of nine of them and more of the tenth are ill."""
    points = []
    for ill in RAISED:
        found = measured([*[[RARE, 1000 - RARE]] * 9, [ill, 1000 - ill]])
        there = entropy(np.array([ill, 1000 - ill]))
        mil = found.h - 0.1 * there
        points.append(Raised(max(0.0, there - found.h), found, ill / 1000, mil))
    return points


@once
def surface(run: Run) -> dict[tuple[int, float], InformationRisk]:
    """Figure 5: ten ages, five smaller by ε; 20 diseases, one more frequent in a small age.

    ϑ is Eq. 13's, the least that reaches the asked one with whole records.
    """
    places = [(e, t) for e in EPSILONS_OF_SURFACE for t in THETAS_OF_SURFACE]
    found = {}
    for done, (epsilon, theta) in enumerate(places):
        run.report(done, len(places))
        found[epsilon, theta] = measured(_skewed(epsilon, theta))
    return found


def _skewed(epsilon: int, theta: float) -> Counts:
    sizes = [(RECORDS // 10) + sign * epsilon // 2 for sign in (-1, 1) for _ in range(5)]
    table = np.array([shared(size, 20) for size in sizes])
    spare = range(int(table[0].sum() - table[0, 0]) + 1)
    more = bisect_left(spare, theta, key=lambda n: _theta(_with_common(table, n)))
    return _with_common(table, more)


def _with_common(table: Counts, more: int) -> Counts:
    own = int(table[0].sum())
    common = int(table[0, 0]) + more
    return np.vstack([[common, *shared(own - common, 19)], table[1:]])


def _theta(table: Counts) -> float:
    """Eq. 13 where the first group is the least diverse one."""
    return round(entropy(table.sum(axis=0)) - entropy(table[0]), 12)
