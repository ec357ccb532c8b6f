"""Measures how well an adversary tells from the two beliefs who is in the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.differential.noise.bracket import mean_limits
from indiff.differential.result import DifferentialResult
from indiff.errors import UserError, check_whole
from indiff.kernels import kernel

Floats = NDArray[np.float64]

RATES = (0.001, 0.01)
ROUNDING = 1e-12
DECIMALS = 12  # a difference beyond them is rounding, not knowledge
# Resamples that are counted side by side: as many as fit a processor's cache, and memory.
LEAST_AT_ONCE, MOST_AT_ONCE, MOST_COUNTS = 8, 64, 2**20


@dataclass(frozen=True)
class Estimate:
    """A number measured on the tested records, with its interval."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class MembershipResult:
    """How well one threshold on the belief in the true value tells "in" from "out".

    ``advantage`` is the largest true-positive minus false-positive rate over all thresholds,
    ``area`` the area under the ROC curve (½ is guessing), ``true_positives_at`` the
    true-positive rate at a false-positive rate of at most 0.1 % and 1 %. Each has an interval
    that holds with about the given ``confidence``: its upper end for any population, also one in
    which few people are exposed and none was drawn; its lower end by resampling records.

    ``told_apart`` is the share of records whose belief changes at all. With a deterministic
    sanitizer an adversary who holds both releases tells every one of them, whatever the
    advantage.
    """

    advantage: Estimate
    area: Estimate
    true_positives_at: dict[float, Estimate]
    told_apart: float
    records: int
    confidence: float
    resamples: int
    seed: int
    false_positive_rates: Floats = field(repr=False)
    true_positive_rates: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    notes: tuple[str, ...] = ()

    def roc(self) -> tuple[Floats, Floats]:
        """Return the ROC curve: false-positive and true-positive rates, from (0, 0) to (1, 1)."""
        return self.false_positive_rates, self.true_positive_rates

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "kind": "membership-inference",
            "advantage": asdict(self.advantage),
            "area": asdict(self.area),
            "true_positives_at": {
                str(rate): asdict(found) for rate, found in self.true_positives_at.items()
            },
            "told_apart": self.told_apart,
            "records": self.records,
            "confidence": self.confidence,
            "resamples": self.resamples,
            "seed": self.seed,
            "notes": list(self.notes),
        }


def membership_inference(
    result: DifferentialResult, *, confidence: float = 0.95, resamples: int = 1000, seed: int = 0
) -> MembershipResult:
    """Turn a differential test into membership inference (DIT v2, Section 2.1).

    The score is the belief in the record's true value: "in" from ``beliefs``, "out" from
    ``beliefs_without``. A record is said to be in if its score is at least a threshold, the same
    for all. The numbers describe the tested population under that rule. They do not bound what is
    learned about one target: with a deterministic sanitizer any distance above 0 tells an
    adversary who holds both releases. As thresholds are chosen on the same records, the advantage
    is slightly too high on few records, never too low in the mean.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, differential_test, read_table
    >>> table = read_table(
    ...     pa.table({"Age": [28, 36, 47, 53, 72], "Gender": list("MMFMF"),
    ...               "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...     quasi=["Age", "Gender"], sensitive="Disease")
    >>> result = differential_test(table, Mondrian(k=2, regions="cut"), model="frequency")
    >>> found = membership_inference(result)
    >>> round(found.advantage.value, 3), found.told_apart
    (0.8, 1.0)
    """
    (found,) = membership_inferences(
        [result], confidence=confidence, resamples=resamples, seed=seed
    )
    return found


def membership_inferences(
    results: Sequence[DifferentialResult], *, confidence: float, resamples: int = 1000, seed: int
) -> list[MembershipResult]:
    """Do so for several adversaries: those of equally many records share what is drawn."""
    for result in results:
        _check(result, confidence, resamples, seed)
    scores = [_Scores.of(result) for result in results]
    drawn = resampled([one.places for one in scores], resamples, seed)
    return [
        _inferred(result, one, *each, confidence, seed)
        for result, one, each in zip(results, scores, drawn, strict=True)
    ]


class _Scores(NamedTuple):
    """The belief in each record's true value with and without it, and the thresholds it reaches."""

    present: Floats
    absent: Floats
    thresholds: Floats
    places: NDArray[np.intp]

    @classmethod
    def of(cls, result: DifferentialResult) -> _Scores:
        present, absent = result.true_beliefs, result.true_beliefs_without
        absent = np.where(np.abs(present - absent) <= 10.0**-DECIMALS, present, absent)
        present, absent = np.round(present, DECIMALS), np.round(absent, DECIMALS)
        both = np.concatenate([present, absent])
        return cls(present, absent, *np.unique(both, return_inverse=True))


def _inferred(
    result: DifferentialResult, scores: _Scores, drawn: Floats, above: Floats, confidence: float,
    seed: int,
) -> MembershipResult:  # fmt: skip
    present, absent, thresholds, places = scores
    size = len(present)
    # The share of records at or above each threshold, from none to all.
    true, false = (
        np.append(0, np.cumsum(np.bincount(one, minlength=len(thresholds))[::-1])) / size
        for one in (places[:size], places[size:])
    )
    found = np.array(_summary(false, true))
    lower = _lower(found, drawn, above, confidence)
    upper = _upper(present, absent, found, drawn, confidence)
    advantage, area, *rates = (
        Estimate(*map(float, limits)) for limits in zip(found, lower, upper, strict=True)
    )
    moved = np.abs(result.beliefs - result.beliefs_without).max(axis=1) > 10.0**-DECIMALS
    notes = [
        "membership inference describes the tested records together; it does not bound what is "
        "learned about one of them"
    ]
    if size < 1 / RATES[0]:
        notes.append(
            f"with {size:,} records a false-positive rate of at most 0.1 % means none at all"
        )
    return MembershipResult(
        advantage, area, dict(zip(RATES, rates, strict=True)), float(moved.mean()), size,
        confidence, len(drawn), seed, false, true, np.append(math.inf, thresholds[::-1]),
        tuple(notes),
    )  # fmt: skip


def resampled(
    each: Sequence[NDArray[np.intp]], resamples: int, seed: int
) -> list[tuple[Floats, Floats]]:
    """Return the summary of each resample, and how far its curve goes above the one measured.

    ``each`` are the thresholds that the beliefs of one adversary reach, first those with the
    record, then those without.
    """
    found = [(np.empty((resamples, 2 + len(RATES))), np.empty(resamples)) for _ in each]
    for size in {len(places) // 2 for places in each}:
        rng = np.random.default_rng(seed)
        asked = [place for place, one in enumerate(each) if len(one) == 2 * size]
        curves = {place: _in_order(each[place]) for place in asked}
        at_once = min(max(MOST_COUNTS // size, LEAST_AT_ONCE), MOST_AT_ONCE)
        for start in range(0, resamples, at_once):
            runs = slice(start, min(start + at_once, resamples))
            samples = rng.integers(size, size=(runs.stop - start, size), dtype=np.int32)
            weights = np.zeros(samples.shape[::-1], np.int32)
            _weigh(samples, weights)
            for place in asked:
                counts, area = _resample(weights, *curves[place])
                drawn, above = found[place]
                drawn[runs, 0], above[runs], drawn[runs, 2:] = (
                    one.T / size for one in (counts[0], counts[1], counts[2:])
                )
                drawn[runs, 1] = area / (2.0 * size * size)
    return found


def _in_order(places: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
    """Return what a resample needs of the beliefs, from the highest down."""
    size = len(places) // 2
    order = np.argsort(-places, kind="stable")
    records, is_in = (order % size).astype(np.int32), order < size
    ends = np.append(np.diff(places[order]) != 0, True)
    lead = np.cumsum(np.where(is_in, 1, -1)).astype(np.int32)
    shares = np.arange(size + 1) / size
    most = np.searchsorted(shares, np.add(RATES, ROUNDING), side="right") - 1
    return records, is_in, ends, lead, most.astype(np.int32)


@kernel
def _weigh(samples: Any, weights: Any) -> None:
    """Count how often each record is in each sample: ``weights`` has a row for each record."""
    for run in range(samples.shape[0]):
        for record in samples[run]:
            weights[record, run] += 1


@kernel
def _resample(
    weights: Any, records: Any, is_in: Any, ends: Any, lead: Any, most: Any
) -> tuple[Any, Any]:
    """Go through the beliefs from the highest down, each as often as its record is in a sample.

    Behind the ``ends`` of a threshold, so many are in and so many are out. The counts, a column for
    each sample, are the largest difference of the two; how far it goes above ``lead``, that of the
    records themselves; and those who are in where at most so many are out. The area below the
    curve is in squares of half a record. All samples go side by side, which compiled code does
    several of at once.
    """
    runs = weights.shape[1]
    inside, outside = np.zeros(runs, np.int32), np.zeros(runs, np.int32)
    true, false = np.zeros(runs, np.int32), np.zeros(runs, np.int32)
    counts, twice_area = np.zeros((2 + most.shape[0], runs), np.int32), np.zeros(runs, np.int64)
    few = True  # whether at most so many are out in any sample
    for place in range(records.shape[0]):
        weight = weights[records[place]]
        if is_in[place]:
            for run in range(runs):
                inside[run] += weight[run]
        else:
            for run in range(runs):
                outside[run] += weight[run]
        if ends[place]:
            for run in range(runs):
                difference = inside[run] - outside[run]
                counts[0, run] = max(counts[0, run], difference)
                counts[1, run] = max(counts[1, run], difference - lead[place])
            for run in range(runs):
                out = np.int64(outside[run] - false[run])
                twice_area[run] += out * (inside[run] + true[run])
                true[run], false[run] = inside[run], outside[run]
            if few:
                few = False
                for number in range(most.shape[0]):
                    for run in range(runs):
                        if outside[run] <= most[number]:
                            counts[2 + number, run] = inside[run]
                            few = True
    return counts, twice_area


def _lower(found: Floats, drawn: Floats, above: Floats, confidence: float) -> Floats:
    """Return the lower limit of each number, from what resampling drew.

    A threshold is chosen anew in every resample, and a record's two beliefs go together: both
    push what is measured up, and a resample up again. The quantiles alone then lie above the
    truth, so they are joined by their mirror image at what was measured. The advantage is a
    maximum over all thresholds: it is too high by no more than the difference of the two rates
    is at any of them, and ``above`` has how much that is in each resample.
    """
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    lower = np.minimum.reduce([low, found, 2 * found - high])
    lower[0] = min(lower[0], found[0] - np.quantile(above, 1 - tail))
    return np.clip(lower, 0.0, 1.0)


def _upper(
    present: Floats, absent: Floats, found: Floats, drawn: Floats, confidence: float
) -> Floats:
    """Return the upper limit of each number, which holds however few people are exposed.

    Resampling records of whom none is exposed draws none either, so these limits come from the
    tested records themselves. At the best threshold of the population, which does not depend on
    the sample, the advantage is the share of records whose belief rises past it less the share
    whose belief falls past it: two binomial shares (Clopper–Pearson), taken at the threshold where
    their difference is largest. The area less ½ is the mean over records of how far the belief
    moves among all beliefs without the record, a variable from −1 to 1 whose two sides have
    limits for any law. A rate is what so few of so many still allow, and at least what resampling
    draws: which threshold has so few false positives depends on the sample, too.
    """
    from scipy.stats import beta

    tail, size = (1 - confidence) / 2, len(present)

    def share_upper(count: Any, error: float) -> Floats:
        count = np.minimum(count, size - 1)
        return np.asarray(beta.ppf(1 - error, count + 1, size - count))

    def crossing(low: Floats, high: Floats) -> NDArray[np.intp]:
        """Count the pairs that each threshold separates."""
        below = np.searchsorted(np.sort(low), thresholds)
        return below - np.searchsorted(np.sort(high), thresholds)

    rises, falls = present > absent, absent > present
    thresholds = np.unique(np.concatenate([[-1.0], present[rises], absent[falls]]))
    rising = crossing(absent[rises], present[rises])
    falling = crossing(present[falls], absent[falls])
    # Of thresholds past which equally many rise, the one past which fewest fall is enough.
    fewest = np.full(size + 1, size)
    np.minimum.at(fewest, rising, falling)
    rising = np.unique(rising)
    falling = fewest[rising]
    at_most = np.where(rising == size, 1.0, share_upper(rising, tail / 2))
    at_least = np.where(
        falling == 0, 0.0, beta.ppf(tail / 2, np.maximum(falling, 1), size - falling + 1)
    )
    order = np.sort(absent)
    place = (np.searchsorted(order, [present, absent], "left")
             + np.searchsorted(order, [present, absent], "right")) / (2 * size)  # fmt: skip
    moves = place[0] - place[1]
    up = mean_limits(np.maximum(moves, 0), largest=1.0, error=tail / 2)[1]
    down = mean_limits(np.maximum(-moves, 0), largest=1.0, error=tail / 2)[0]
    told = np.round(found[2:] * size)
    low, high = np.quantile(drawn[:, 2:], [tail, 1 - tail], axis=0)
    rates = np.maximum.reduce([share_upper(told, tail), high, 2 * found[2:] - low])
    limits = [float((at_most - at_least).max()), 0.5 + up - down, *rates]
    return np.clip(np.maximum(limits, found), 0.0, 1.0)


def _summary(false: Floats, true: Floats) -> list[float]:
    """Return the advantage, the area, and the true-positive rate at each false-positive rate."""
    area = float((np.diff(false) * (true[1:] + true[:-1])).sum() / 2)
    at = [float(true[np.searchsorted(false, rate + ROUNDING, side="right") - 1]) for rate in RATES]
    return [float((true - false).max()), area, *at]


def _check(result: DifferentialResult, confidence: float, resamples: int, seed: int) -> None:
    if result.method in ("sampled", "closed-form"):
        raise UserError(
            "membership inference needs the beliefs of a deterministic sanitizer and "
            f"model; method {result.method!r} gives means over runs, which no "
            "adversary sees",
            way_out="Use tail() or delta_interval for randomized ones",
        )
    if not len(result.records):
        raise UserError("membership inference needs at least 1 tested record", "none")
    if not 0 < confidence < 1:
        rule = "confidence is a share between 0 and 1"
        raise UserError(rule, repr(confidence), field="confidence")
    check_whole("resamples", resamples, 100)
    check_whole("seed", seed, 0)
