"""Chooses, on some of the runs, the event that is to tell best whether a record was there.

A run is a row of numbers, one for each statistic. The candidates are ``x ≥ t`` and ``x = v``, more
frequent with or without the record, for every statistic and for two learned from half of the
choosing runs: a sum of log-likelihood ratios, and a linear discriminant. Whatever is chosen here,
the bound is right: it is counted on other runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.differential.claim.bound import SPLITS, Counted, bounds

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]

MOST_THRESHOLDS = 200  # of a statistic
FREQUENT = 0.05  # the share of runs from which on a single value is looked at
LEAST_TO_LEARN = 16  # runs on each side
BINS = 8
RIDGE = 0.1
# The errors that candidates are compared at: by the strict one lucky candidates fall behind; only
# where none is left does the other one choose.
STRICT, LOOSE, LITTLE = 0.001, 0.3, 1e-6

LEARNED = ("likelihood ratio", "linear discriminant")


@dataclass(frozen=True, eq=False)
class Event:
    """One event: the ``score`` of a run is ``≥`` or ``=`` a threshold.

    ``absent`` says that it is the more frequent one without the record. ``seen`` is the bound on
    the choosing runs, which proves nothing.
    """

    statistic: str
    score: Score
    sign: str
    threshold: float
    absent: bool
    split: float
    seen: float

    def happens(self, runs: Floats) -> NDArray[np.bool_]:
        """Tell in which runs it happens; a run without numbers is none of them."""
        scores = self.score(runs)
        happens = scores == self.threshold if self.sign == "=" else scores >= self.threshold
        return np.asarray(happens)

    def count(self, present: Floats, absent: Floats) -> Counted:
        """Count it in other runs; one that failed speaks against the bound on either side."""
        sides = [(runs, np.isnan(runs).any(axis=1)) for runs in (present, absent)]
        if self.absent:
            sides.reverse()
        (often, failed), (seldom, lost) = sides
        hits = int((self.happens(often) & ~failed).sum())
        return Counted(hits, len(often), int((self.happens(seldom) | lost).sum()), len(seldom))


def choose_event(
    names: tuple[str, ...], present: Floats, absent: Floats, *, delta: float = 0.0
) -> Event | None:
    """Return the event with the largest bound on these runs; None where none has one.

    ``present`` and ``absent`` are runs × statistics; runs that failed are left out.

    >>> rng = np.random.default_rng(0)
    >>> found = choose_event(("count",), rng.normal(3, 1, (99, 1)), rng.normal(0, 1, (99, 1)))
    >>> found.statistic, found.sign, found.absent
    ('count', '≥', False)
    """
    present, absent = (runs[~np.isnan(runs).any(axis=1)] for runs in (present, absent))
    if not len(present) or not len(absent):
        return None
    found: list[Event] = []
    for place, name in enumerate(names):
        score: Score = _Column(place)
        found += _best(name, score, score(present), score(absent), delta)
    if min(len(present), len(absent)) >= LEAST_TO_LEARN:
        # Learned on every other run and looked at on the rest, so as not to look better than it is.
        for name, learn in zip(LEARNED, (learn_ratio, _learn_linear), strict=True):
            score = learn(present[::2], absent[::2])
            found += _best(name, score, score(present[1::2]), score(absent[1::2]), delta)
    return max(found, key=lambda one: one.seen, default=None)


@dataclass(frozen=True)
class _Column:
    place: int

    def __call__(self, runs: Floats) -> Floats:
        return runs[:, self.place]


def _best(name: str, score: Score, present: Floats, absent: Floats, delta: float) -> list[Event]:
    """Return the best event of one statistic, if any tells something."""
    values, counts = np.unique(np.concatenate([present, absent]), return_counts=True)
    if len(values) < 2:
        return []
    steps = values[1:]
    if len(steps) > MOST_THRESHOLDS:  # the ends matter most: there lies what never happens
        inner = np.linspace(0, len(steps) - 1, MOST_THRESHOLDS - 20).round().astype(int)
        ends = np.concatenate([np.arange(10), len(steps) - 1 - np.arange(10)])
        steps = steps[np.unique(np.concatenate([inner, ends]))]
    # A threshold between two values that were seen, so that it does not hang on one of them.
    before = values[np.searchsorted(values, steps) - 1]
    middle = before + (steps - before) / 2
    middle = np.where(middle > before, middle, steps)
    frequent = values[counts >= FREQUENT * (len(present) + len(absent))]
    kinds = [("≥", middle), ("=", frequent if len(values) > 2 else frequent[:0])]
    best: Event | None = None
    for sign, thresholds in kinds:
        if not len(thresholds):
            continue
        sides = [_hits(np.sort(one), thresholds, sign) for one in (present, absent)]
        sizes = [len(present), len(absent)]
        for is_absent in (False, True):
            (hits, other), (runs, rest) = (
                (sides[::-1], sizes[::-1]) if is_absent else (sides, sizes)
            )
            for split in SPLITS:
                strict, loose = (
                    bounds(hits, runs, other, rest, delta=delta, error=error, split=split)
                    for error in (STRICT, LOOSE)
                )
                seen = strict + LITTLE * loose
                top = int(seen.argmax())
                if seen[top] > (0.0 if best is None else best.seen):
                    best = Event(
                        name, score, sign, float(thresholds[top]), is_absent, split,
                        float(seen[top]),
                    )  # fmt: skip
    return [] if best is None else [best]


def _hits(ordered: Floats, thresholds: Floats, sign: str) -> NDArray[np.int64]:
    first = np.searchsorted(ordered, thresholds, "left")
    if sign == "=":
        return np.asarray(np.searchsorted(ordered, thresholds, "right") - first)
    return np.asarray(len(ordered) - first)


def learn_ratio(present: Floats, absent: Floats) -> Score:
    """Learn the sum over statistics of the log-likelihood ratios of binned values.

    A statistic whose ratios are no larger than chance makes them is left out.
    """
    both = np.concatenate([present, absent])
    edges, ratios = [], []
    for place in range(both.shape[1]):
        values = np.unique(both[:, place])
        cuts = values[1:] if len(values) <= BINS else np.unique(
            np.quantile(both[:, place], np.linspace(0, 1, BINS + 1)[1:-1])
        )  # fmt: skip
        size = len(cuts) + 1
        shares = [
            (np.bincount(np.searchsorted(cuts, one[:, place], "right"), minlength=size) + 0.5)
            / (len(one) + 0.5 * size)
            for one in (present, absent)
        ]
        ratio = np.log(shares[0] / shares[1])
        told = float(((shares[0] - shares[1]) * ratio).sum())
        by_chance = (size - 1) * (1 / len(present) + 1 / len(absent))
        edges.append(cuts)
        ratios.append(ratio if told > 2 * by_chance else np.zeros(size))
    return _Ratio(tuple(edges), tuple(ratios))


@dataclass(frozen=True, eq=False)
class _Ratio:
    edges: tuple[Floats, ...]
    ratios: tuple[Floats, ...]

    def __call__(self, runs: Floats) -> Floats:
        total = np.zeros(len(runs))
        for place, (cuts, ratio) in enumerate(zip(self.edges, self.ratios, strict=True)):
            if ratio.any():
                total += ratio[np.searchsorted(cuts, runs[:, place], "right")]
        return total.round(9)


def _learn_linear(present: Floats, absent: Floats) -> Score:
    """Learn Fisher's discriminant of the standardised statistics, with a ridge."""
    both = np.concatenate([present, absent])
    mean, spread = both.mean(axis=0), both.std(axis=0)
    scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0.0)
    first, second = ((one - mean) * scale for one in (present, absent))
    inner = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    covariance = inner.T @ inner / len(inner) + RIDGE * np.eye(len(mean))
    weights = np.linalg.solve(covariance, first.mean(axis=0) - second.mean(axis=0)) * scale
    return _Linear(mean, weights)


@dataclass(frozen=True, eq=False)
class _Linear:
    mean: Floats
    weights: Floats

    def __call__(self, runs: Floats) -> Floats:
        return np.asarray((runs - self.mean) @ self.weights)
