"""Turns how often an event happens with and without a record into a lower bound on ε.

A mechanism is (ε, δ)-differentially private if for any two tables that differ by one record, and
for any event, P(event, one table) ≤ e^ε P(event, the other) + δ. So a single event bounds ε from
below, and shares that were counted bound it with a confidence (Clopper and Pearson 1934). Nothing
bounds it from above: events that nobody thought of may tell more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# How much of the error the event's own side may have: an event that never happens on the other
# side needs nearly all of it there. Which of them is taken, the choosing runs say.
SPLITS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Counted:
    """How often an event happened: ``hits`` of ``runs`` on the side where it is the more frequent.

    ``other_hits`` of ``other_runs`` is the other side.
    """

    hits: int
    runs: int
    other_hits: int
    other_runs: int


def share_lower(hits: Any, runs: Any, error: float) -> Floats:
    """Return the lower Clopper–Pearson limit of a share, which errs with at most ``error``.

    >>> float(share_lower(10, 10, 0.05).round(4)), float(share_lower(0, 10, 0.05))
    (0.7411, 0.0)
    """
    from scipy.special import betaincinv

    hits, runs = np.broadcast_arrays(np.asarray(hits), np.asarray(runs))
    some = np.maximum(hits, 1)
    return np.where(hits > 0, betaincinv(some, runs - some + 1, error), 0.0)


def share_upper(hits: Any, runs: Any, error: float) -> Floats:
    """Return the upper Clopper–Pearson limit of a share, which errs with at most ``error``.

    >>> float(share_upper(0, 10, 0.05).round(4)), float(share_upper(10, 10, 0.05))
    (0.2589, 1.0)
    """
    hits, runs = np.broadcast_arrays(np.asarray(hits), np.asarray(runs))
    return np.asarray(1 - share_lower(runs - hits, runs, error))


def epsilon_lower(
    counted: Counted, *, delta: float = 0.0, error: float = 0.05, split: float = 0.5
) -> float:
    """Return a lower bound on ε that is wrong with a probability of at most ``error``.

    With p the probability of the event where it is the more frequent and q where it is not, both
    p ≤ e^ε q + δ and 1 − q ≤ e^ε (1 − p) + δ must hold; the bound puts in the lower limit of p and
    the upper limit of q, which share the error by ``split``. It does not prove that ε is near it.

    >>> round(epsilon_lower(Counted(100, 100, 0, 100)), 3)
    3.281
    >>> epsilon_lower(Counted(50, 100, 50, 100))
    0.0
    """
    low = share_lower(counted.hits, counted.runs, error * split)
    high = share_upper(counted.other_hits, counted.other_runs, error * (1 - split))
    return float(_bound(low, high, delta))


def _bound(low: Any, high: Any, delta: float) -> Floats:
    """Return the larger of ln((low − δ) / high) and ln((1 − high − δ) / (1 − low)), at least 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.log(np.maximum(low - delta, 0) / high)
        second = np.log(np.maximum(1 - high - delta, 0) / (1 - low))
    return np.maximum(np.maximum(np.nan_to_num(first, nan=0.0), np.nan_to_num(second, nan=0.0)), 0)


@lru_cache(maxsize=512)
def _limits(runs: int, error: float) -> tuple[Floats, Floats]:
    """Return the lower and upper limits for every number of hits, from none to all."""
    lower = share_lower(np.arange(runs + 1), runs, error)
    return lower, 1 - lower[::-1]


def bounds(
    hits: NDArray[Any], runs: int, other: NDArray[Any], other_runs: int, *, delta: float,
    error: float, split: float,
) -> Floats:  # fmt: skip
    """Return :func:`epsilon_lower` for many events at once."""
    low = _limits(runs, error * split)[0][hits]
    high = _limits(other_runs, error * (1 - split))[1][other]
    return _bound(low, high, delta)


def most_that_runs_show(runs: int, other_runs: int, *, error: float = 0.05) -> float:
    """Return the largest bound that so many runs can give, if an event tells all of them apart.

    >>> round(most_that_runs_show(500, 500), 2)
    5.08
    """
    sides = Counted(runs, runs, 0, other_runs)
    return max(epsilon_lower(sides, error=error, split=split) for split in SPLITS)


def check_budget(epsilon: float, delta: float) -> None:
    """Refuse what is no claim of differential privacy."""
    from indiff.errors import UserError

    if not 0 <= epsilon < math.inf:
        raise UserError("a claimed epsilon is a number of at least 0", epsilon, field="claim")
    if not 0 <= delta < 1:
        raise UserError("a claimed delta is at least 0 and below 1", delta, field="claim")
