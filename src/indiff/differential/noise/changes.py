"""Tells whether runs change the prediction about a record, and limits how often they do.

With chance in a release or a model, a prediction changes with a probability: that the most
probable value from the release with the record is another one than from the release without it.
``docs/randomized.md``, "Changed predictions", defines it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indiff.differential.noise.bracket import mean_limits
from indiff.differential.path import Changes

Floats = NDArray[np.float64]
TIES = 1e-12  # beliefs that differ by no more share the first place


def change_limits(changes: Changes, confidence: float) -> tuple[float, float] | None:
    """Return limits on the mean over the records; None where it is known.

    They hold at any number of runs: the mean over the drawn records of one run lies in [0, 1].

    >>> known = Changes(np.array([0.25]), np.full((1, 100), 0.25), np.array([False]))
    >>> change_limits(known, 0.95)
    (0.25, 0.25)
    >>> low, high = change_limits(Changes.from_runs(np.zeros((3, 100))), 0.95)
    >>> low, round(high, 3)
    (0.0, 0.043)
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


def join_changes(parts: Sequence[Changes], order: NDArray[np.intp], runs: int) -> Changes:
    """Put records together of which some have a known probability and others runs."""
    each = np.concatenate([part.each for part in parts])[order]
    rows = np.concatenate(
        [
            np.repeat(part.each[:, None], runs, axis=1) if part.runs is None else part.runs
            for part in parts
            if len(part.each)
        ]
    )
    drawn = np.concatenate(
        [np.full(len(part.each), False) if part.drawn is None else part.drawn for part in parts]
    )
    return Changes(each, rows[order], drawn[order])


def changed(present: Floats, absent: Floats) -> Floats:
    """Return for each row of two tables of beliefs the probability that the prediction differs.

    Among values that share the first place the lot decides, the same on both sides: with A and B
    those in front, the prediction stays with probability |A ∩ B| / |A ∪ B|.

    >>> changed(np.array([[0.6, 0.4], [0.5, 0.5], [0.5, 0.5]]),
    ...         np.array([[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]))
    array([1. , 0. , 0.5])
    """
    first, second = (one >= one.max(axis=1, keepdims=True) - TIES for one in (present, absent))
    both, either = (first & second).sum(axis=1), (first | second).sum(axis=1)
    return np.asarray(1 - both / either)
