"""Measures how well one release of a randomized sanitizer tells whether a record was in the table.

Runs with and runs without each of some records give two laws of every statistic. A threshold that
is chosen on half of the runs is counted on the other half; so the lower ends hold whatever was
chosen. The upper ends are those of the best threshold, which no run moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Calls, Progress
from indiff.differential.claim.bound import share_lower, share_upper
from indiff.differential.claim.claim import as_models, people_with
from indiff.differential.claim.events import LEARNED, learn_ratio
from indiff.differential.claim.made_runs import TRUSTED, people_with_runs
from indiff.differential.claim.runs import Caller
from indiff.differential.claim.targets import Order, choose_records
from indiff.differential.explain.membership import DECIMALS, RATES, Estimate
from indiff.differential.noise.bracket import check_confidence
from indiff.differential.people import Deadline, as_deadline, as_rows, find_people
from indiff.errors import UserError, check_whole
from indiff.inference import Model
from indiff.sanitizers.oracles.folder import Releases
from indiff.sanitizers.sanitizer import as_sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]

TARGETS, RUNS = 20, 100
LEAST_MADE = 10  # runs in a folder of releases
MOST_THRESHOLDS = 300
LEAST_TO_LEARN = 8  # runs
BELIEF = "belief"  # how the names of beliefs begin: their thresholds are the same for everybody


@dataclass(frozen=True)
class Rates:
    """How well one statistic tells "in" from "out".

    ``advantage`` is the largest true-positive minus false-positive rate of any threshold,
    ``true_positives_at`` the largest true-positive rate at a false-positive rate of at most so
    much.
    """

    advantage: Estimate
    true_positives_at: dict[float, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return the rates as plain data."""
        at = {str(rate): asdict(found) for rate, found in self.true_positives_at.items()}
        return {"advantage": asdict(self.advantage), "true_positives_at": at}


@dataclass(frozen=True)
class MembershipRuns:
    """Membership inference from runs: overall and for each record, by statistic.

    ``overall`` is about all ``records`` that were tested, with one threshold for all of them; of
    statistics other than beliefs it is of how far they are from their mean without the record.
    ``each`` has a mapping for each record. ``strongest`` is the statistic that the choosing half of
    the runs found best overall. Each interval holds by itself with ``confidence``, over the chance
    in the sanitizer, for these records; other records and statistics may tell more.
    """

    sensitive_name: str
    sanitizer: str
    records: tuple[int, ...]
    runs: int
    overall: dict[str, Rates]
    each: tuple[dict[str, Rates], ...]
    strongest: str
    confidence: float
    seed: int
    seconds: float
    notes: tuple[str, ...] = ()

    def worst(self, number: int = 10) -> list[dict[str, Any]]:
        """Return the records that the strongest statistic tells best, by the lower end."""
        rows = [
            {"record": record, "statistic": self.strongest, **rates[self.strongest].to_dict()}
            for record, rates in zip(self.records, self.each, strict=True)
        ]
        key = lambda row: (-row["advantage"]["lower"], -row["advantage"]["value"])  # noqa: E731
        return sorted(rows, key=key)[:number]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "kind": "membership-runs",
            "sensitive": self.sensitive_name,
            "sanitizer": self.sanitizer,
            "records": list(self.records),
            "runs": self.runs,
            "strongest": self.strongest,
            "overall": {name: rates.to_dict() for name, rates in self.overall.items()},
            "worst": self.worst(len(self.records)),
            "confidence": self.confidence,
            "seed": self.seed,
            "notes": list(self.notes),
        }


def infer_membership(
    table: Table,
    sanitizer: Any,
    *,
    targets: Iterable[int] | int = TARGETS,
    order: Order = "worst-first",
    runs: int = RUNS,
    model: str | Model | Sequence[str | Model] | None = None,
    individual: str | None = None,
    confidence: float = 0.95,
    jobs: int = -1,
    backend: str = "loky",
    scheduler: str | None = None,
    retries: int = 2,
    time: float | str | Deadline | None = None,
    run: str | Path | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> MembershipRuns:
    """Tell members from others by one release, of a sanitizer or generator that is random.

    ``runs`` releases are made of the whole table, and as many without each of ``targets``: record
    numbers, or how many, chosen by ``order`` (``worst-first``; ``outlying`` takes those farthest
    from their neighbours, which generators memorise; ``random``; ``given``). The statistics are
    the beliefs in the record's true value and those of :func:`~indiff.test_claim`. The numbers are
    about these records; they do not bound what a stronger statistic tells.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> def some(frame, rng):  # publishes four of five records as they are
    ...     return frame.filter(pa.array(rng.random(frame.num_rows) < 0.8))
    >>> table = read_table(pa.table({"age": [28, 36, 47, 52, 60, 71], "ill": list("nynyny")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> found = infer_membership(table, some, targets=[0], runs=60)
    >>> found.overall["exact copies"].advantage.lower > 0.3
    True
    """
    check_confidence(confidence)
    check_whole("runs", runs, 2, "Use 100 or more: the intervals narrow with the number of runs")
    check_whole("seed", seed, 0)
    start, chosen, deadline = perf_counter(), as_sanitizer(sanitizer), as_deadline(time)
    people, notes = find_people(table, individual), []
    if isinstance(chosen, Releases):
        number = targets if isinstance(targets, int) else None
        if number is None:
            people = people_with(people, as_rows(table, list(targets)))  # type: ignore[arg-type]
        people, *made = people_with_runs(chosen, table, people, least=LEAST_MADE, most=number)
        runs, notes = min(runs, *made), [TRUSTED]
    else:
        people = people_with(people, choose_records(table, targets, order=order, seed=seed))
    caller = Caller(
        table, chosen, as_models(model), seed,
        Calls(jobs, backend, scheduler, retries, None if deadline is None else deadline.moment),
        None if run is None else Path(run), progress, runs * (len(people) + 1),
    )  # fmt: skip
    everybody = range(len(people))
    whole, apart = caller.look(
        people, "membership", range(runs), {person: range(runs) for person in everybody}
    )
    whole = whole[:, ~np.isnan(whole).any(axis=(0, 2))]
    apart = {person: one[~np.isnan(one).any(axis=1)] for person, one in apart.items()}
    least = min(whole.shape[1], *(len(one) for one in apart.values()))
    if least < 2:
        raise UserError(
            "membership inference needs at least 2 finished runs with and without every target",
            f"{least:,}", "Give it more time, or fewer targets",
        )  # fmt: skip
    if least < runs:
        notes.append(f"{least:,} of {runs:,} runs were finished with and without every target")
    absent = np.stack([apart[person][:least] for person in everybody])
    overall, each, strongest = membership_rates(
        caller.names, whole[:, :least], absent, error=1 - confidence
    )
    if not chosen.randomized and not isinstance(chosen, Releases):
        notes.append("runs that are all alike count as so many: differential_test is exact here")
    return MembershipRuns(
        table.sensitive.name, describe(chosen), tuple(table.records[people.firsts].tolist()), least,
        overall, each, strongest, confidence, seed, perf_counter() - start, tuple(notes),
    )  # fmt: skip


def membership_rates(
    names: tuple[str, ...], present: Floats, absent: Floats, *, error: float
) -> tuple[dict[str, Rates], tuple[dict[str, Rates], ...], str]:
    """Return the rates of each statistic overall and for each record, and the strongest one.

    ``present`` and ``absent`` are records × runs × statistics. The runs of ``present`` are of
    releases that all records share; those of ``absent`` are independent of each other.
    """
    scores: dict[str, tuple[Floats, Floats]] = {}
    for place, name in enumerate(names):
        one, two = present[:, :, place], absent[:, :, place]
        if not name.startswith(BELIEF):
            one, two = _standardised(one, two)
        scores[name] = np.round(one, DECIMALS), np.round(two, DECIMALS)
    if present.shape[1] >= LEAST_TO_LEARN:
        learned = [
            learn_ratio(one[::2], two[::2]) for one, two in zip(present, absent, strict=True)
        ]
        ratios = [
            np.stack([score(runs) for score, runs in zip(learned, side, strict=True)])
            for side in (present, absent)
        ]
        scores[LEARNED[0]] = ratios[0], ratios[1]
    # What was learned or standardised on the even runs is counted on the odd ones alone.
    fresh = {name: not name.startswith(BELIEF) for name in scores}
    overall = {name: _rates(*two, error=error, fresh=fresh[name]) for name, two in scores.items()}
    each = tuple(
        {
            name: _rates(one[k : k + 1], two[k : k + 1], error=error, fresh=fresh[name])
            for name, (one, two) in scores.items()
        }
        for k in range(len(present))
    )
    leads = {name: _lead(one[:, ::2], two[:, ::2])[1] for name, (one, two) in scores.items()}
    return overall, each, max(leads, key=lambda name: leads[name])


def _standardised(present: Floats, absent: Floats) -> tuple[Floats, Floats]:
    """Take each record's mean and spread without it, by the even runs, as what is expected."""
    known = absent[:, ::2]
    mean, spread = known.mean(axis=1, keepdims=True), known.std(axis=1, keepdims=True)
    scale = np.where(spread > 0, spread, 1.0)
    # Which way it goes, the even runs say, too: a near row speaks for a record, a far one against.
    up = np.where(present[:, ::2].mean(axis=1, keepdims=True) < mean, -1.0, 1.0)
    return up * (present - mean) / scale, up * (absent - mean) / scale


def _above(scores: Floats, thresholds: Floats) -> Floats:
    """Return the share of scores at or above each threshold."""
    ordered = np.sort(scores.ravel())
    return np.asarray(1 - np.searchsorted(ordered, thresholds, "left") / len(ordered))


def _lead(present: Floats, absent: Floats) -> tuple[float, float]:
    """Return the threshold with the largest difference of the two shares, and the difference."""
    values = np.unique(np.concatenate([present.ravel(), absent.ravel()]))
    leads = _above(present, values) - _above(absent, values)
    best = int(leads.argmax())
    return float(values[best]), float(leads[best])


def _coarse(present: Floats, absent: Floats) -> tuple[Floats, Floats]:
    """Put scores that are very many on the steps of a ladder, which the even runs set."""
    known = np.unique(np.concatenate([present[:, ::2].ravel(), absent[:, ::2].ravel()]))
    if len(np.unique(np.concatenate([present.ravel(), absent.ravel()]))) <= MOST_THRESHOLDS:
        return present, absent
    places = np.linspace(0, len(known) - 1, MOST_THRESHOLDS - 30).round().astype(int)
    steps = known[np.unique(np.concatenate([places, len(known) - 1 - np.arange(30)]))]
    first, second = (
        np.searchsorted(steps, one, "right").astype(np.float64) for one in (present, absent)
    )
    return first, second


def _rates(present: Floats, absent: Floats, *, error: float, fresh: bool) -> Rates:
    """Return the rates of scores, records × runs; of the odd runs alone where scores are fresh.

    An upper end is that of the best threshold, which is fixed though nobody knows it: the largest
    of the limits at any threshold is no less than the limit there. A lower end is that of the
    threshold which the even runs choose, by the odd runs. Each of its two shares may err by a
    quarter of the error.
    """
    known = _lead(present, absent)[1] if not fresh else _lead(present[:, 1::2], absent[:, 1::2])[1]
    exact = present, absent
    present, absent = _coarse(present, absent)
    first, second = (present[:, ::2], absent[:, ::2]), (present[:, 1::2], absent[:, 1::2])
    counted = second if fresh or exact[0] is not present else (present, absent)
    values = np.append(np.unique(np.concatenate([one.ravel() for one in counted])), np.inf)
    highest = _shared_limits(counted[0], values, error / 4)[1]
    lowest = _independent_limits(counted[1], values, error / 4)[0]
    if exact[0] is not present:  # the best threshold may lie between a step and the next one
        lowest = np.append(lowest[1:], 0.0)
    best = np.array([_lead(*first)[0]])
    low = _shared_limits(second[0], best, error / 4)[0] - _independent_limits(
        second[1], best, error / 4
    )[1]  # fmt: skip
    advantage = _estimate(max(known, 0.0), float(low[0]), float((highest - lowest).max()))
    true, false = _above(counted[0], values), _above(counted[1], values)
    at = {}
    for rate in RATES:
        value = float(true[false <= rate + 1e-12].max(initial=0.0))
        upper = float(highest[lowest <= rate].max(initial=0.0))
        at[rate] = _estimate(value, _lower_at(rate, first, second, error / 4), upper)
    return Rates(advantage, at)


def _lower_at(
    rate: float, first: tuple[Floats, Floats], second: tuple[Floats, Floats], error: float
) -> float:
    """Return a lower end of the true-positive rate at a threshold with few false positives.

    The threshold is chosen on the first half; that it has so few is confirmed on the second, or
    else nothing is known.
    """
    values = np.unique(np.concatenate([one.ravel() for one in first]))
    few = values[_above(first[1], values) <= rate / 2]
    if not len(few) or _independent_limits(second[1], few[:1], error)[1][0] > rate:
        return 0.0
    return float(_shared_limits(second[0], few[:1], error)[0][0])


def _estimate(value: float, lower: float, upper: float) -> Estimate:
    lower, upper = float(np.clip(lower, 0.0, 1.0)), float(np.clip(upper, 0.0, 1.0))
    return Estimate(value, min(lower, value), max(upper, value))


def _shared_limits(scores: Floats, thresholds: Floats, error: float) -> tuple[Floats, Floats]:
    """Return limits on the share at or above each threshold, of runs that all records share.

    Of several records the shares of single runs are independent numbers between 0 and 1: Chernoff
    or empirical Bernstein (Maurer and Pontil 2009, Theorem 4), with half of the error each.
    """
    hits = scores[None] >= thresholds[:, None, None]
    if len(scores) == 1:
        return _exact_limits(hits)(error)
    runs = hits.mean(axis=1)
    number, means = runs.shape[1], runs.mean(axis=1)
    if number < 2:
        return np.zeros(len(means)), np.ones(len(means))
    allowed, log = np.log(2 / error) / number, np.log(4 / error)
    margin = np.sqrt(2 * runs.var(axis=1, ddof=1) * log / number) + 7 * log / (3 * (number - 1))
    lower = np.maximum(1 - _chernoff(1 - means, allowed), means - margin)
    return lower, np.minimum(_chernoff(means, allowed), means + margin)


def _independent_limits(scores: Floats, thresholds: Floats, error: float) -> tuple[Floats, Floats]:
    """Return limits on the share at or above each threshold, of runs independent of each other.

    Of several records each has a probability of its own: Chernoff's limits hold for the mean of
    independent variables between 0 and 1 (Hoeffding 1963, Theorem 1).
    """
    hits = scores[None] >= thresholds[:, None, None]
    if len(scores) == 1:
        return _exact_limits(hits)(error)
    means, allowed = hits.mean(axis=(1, 2)), np.log(1 / error) / scores.size
    return 1 - _chernoff(1 - means, allowed), _chernoff(means, allowed)


def _chernoff(means: Floats, allowed: float) -> Floats:
    """Return the largest q with KL(mean, q) ≤ allowed, for each mean."""
    low, high = means.copy(), np.ones(len(means))
    for _ in range(50):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.where(means > 0, means * np.log(means / middle), 0.0)
            second = np.where(means < 1, (1 - means) * np.log((1 - means) / (1 - middle)), 0.0)
        within = first + second <= allowed
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return high


def _exact_limits(hits: NDArray[np.bool_]) -> Callable[[float], tuple[Floats, Floats]]:
    counts, runs = hits.sum(axis=(1, 2)), hits.shape[2]
    return lambda error: (share_lower(counts, runs, error), share_upper(counts, runs, error))
