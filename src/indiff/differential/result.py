"""Holds what a differential test measured, how, and on what."""

from __future__ import annotations

import math
import platform
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.first_use import OnFirstUse
from indiff.differential.noise.bracket import Limits, largest_tail, smallest_epsilon
from indiff.errors import UserError, option
from indiff.release.release import to_backend
from indiff.release.unmeasured import Unmeasured
from indiff.text import FORMAT, json_text
from indiff.version import __version__

Exactness = Literal["exact", "estimate", "lower-bound", "approximation"]
Floats = NDArray[np.float64]

_PLAIN = (
    "sanitizer", "constraint_met", "generalized_without", "uncovered", "uncovered_without", "model",
    "distance")  # fmt: skip
_IF_THERE = ("individual", "people", "guarantee", "out_of_time")


class Reported:
    """What the results of one model and of several have in common."""

    distances: Floats
    beliefs: Floats
    beliefs_without: Floats
    classes: NDArray[np.int32]
    records: NDArray[np.int64]
    backend: str
    exactness: Exactness
    entry: Callable[[int], dict[str, Any]]
    to_arrow: Callable[[], pa.Table]
    to_dict: Callable[..., dict[str, Any]]

    @property
    @abstractmethod
    def predictions_changed(self) -> Floats:
        """For each record, the probability that the most probable value is another without it."""

    @property
    @abstractmethod
    def changed_interval(self) -> tuple[float, float] | None:
        """Limits on :attr:`changed_predictions`; None where it is no estimate."""

    def _repr_html_(self) -> str:
        from indiff.differential.notebook import tested

        return tested(self)

    @property
    def delta(self) -> float:
        """δ: the largest distance (DIT v2, Definition 1); a lower bound if not all were tested."""
        return float(self.distances.max()) if len(self.distances) else math.nan

    @property
    def worst_case(self) -> float:
        """Worst-case differentiation (DIT draft, Definition 1): the same number as δ."""
        return self.delta

    @property
    def mean(self) -> float:
        """The mean distance of the records; infinite where one is."""
        return float(self.distances.mean()) if len(self.distances) else math.nan

    average_case = mean  # its name in the DIT draft, Definition 1

    @property
    def std(self) -> float:
        """The standard deviation of the finite distances."""
        finite = self.distances[np.isfinite(self.distances)]
        return float(finite.std()) if len(finite) else math.nan

    @property
    def infinite(self) -> int:
        """How many distances are infinite; they are kept, never clipped."""
        return int(np.isinf(self.distances).sum())

    def quantile(self, share: float) -> float:
        """Return the smallest distance that at least this share of the records does not exceed."""
        if not 0 <= share <= 1:
            raise UserError("a quantile is a share from 0 to 1", share, field="share")
        some = self.distances if len(self.distances) else [math.nan]
        return float(np.quantile(some, share, method="inverted_cdf"))

    @property
    def quantiles(self) -> dict[float, float]:
        """The usual quantiles of the distances."""
        shares = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
        return {share: self.quantile(share) for share in shares}

    def cdf(self) -> tuple[Floats, Floats]:
        """Return the distinct distances and the share of records at or below each (Figure 2)."""
        values, counts = np.unique(self.distances, return_counts=True)
        return values, np.cumsum(counts) / len(self.distances)

    @property
    def changed_predictions(self) -> float:
        """The percentage of records whose prediction changes (DIT v1, Section 3.4.1)."""
        return float(100 * self.predictions_changed.mean()) if len(self.distances) else math.nan

    @property
    def changed_upper(self) -> float:
        """What a limit on changed predictions is checked against."""
        limits = self.changed_interval
        return self.changed_predictions if limits is None else limits[1]

    @property
    def changed_exactness(self) -> Exactness:
        """How exact :attr:`changed_predictions` is: limits make it an estimate."""
        return self.exactness if self.changed_interval is None else "estimate"

    def changed_part(self) -> dict[str, Any]:
        """Return changed predictions as plain data: how exact they are stands beside them."""
        found = {"changed_predictions_percent": self.changed_predictions}
        if (limits := self.changed_interval) is not None:
            low, high = limits
            found |= {"changed_predictions_lower": low, "changed_predictions_upper": high}
        return {**found, "changed_predictions_exactness": self.changed_exactness}

    def worst(self, count: int = 10) -> list[dict[str, Any]]:
        """Return the records with the largest distances, largest first."""
        order = np.lexsort((self.records, -self.distances))[:count]
        return [self.entry(int(place)) for place in order]

    @property
    def true_beliefs(self) -> Floats:
        """The belief in each record's true value, with the record in the table."""
        return self.beliefs[np.arange(len(self.classes)), self.classes]

    @property
    def true_beliefs_without(self) -> Floats:
        """The belief in each record's true value, without the record."""
        return self.beliefs_without[np.arange(len(self.classes)), self.classes]

    def to_frame(self) -> Any:
        """Return :meth:`to_arrow` in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)

    def to_json(self, *, worst: int = 10) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(worst=worst))


@dataclass(frozen=True, eq=False)
class DifferentialResult(Reported):
    """The outcome of a differential test (DIT v2, Section 3.2; DIT draft, Definition 1).

    ``distances`` has one number per tested record, in table order, or in the order of ``targets``
    where they were given by number; ``records`` says whose each is. ``delta`` is the largest.
    A small δ says that *this* model, from *this* release, learns little about any tested record
    from that record. It does not say so of other models, of other attributes, of people
    outside the table, nor of an adversary who compares two releases. Where ``individual`` names
    a column, each row is a person instead: ``records`` is the person's first record, ``sizes`` is
    how many the person has, and distance and beliefs are those of the record among them with the
    largest distance. ``failures`` are records for which a call failed again and again;
    ``guarantee`` is what a random draw of targets says about everybody. ``constraint_met`` says
    whether the release keeps what its sanitizer promises (None: it promises nothing), ``unmet``
    why not. ``unmeasured`` are columns of the release that the test does not look at.

    A sampled result (``exactness="estimate"``, or ``"lower-bound"`` of some of the records) has
    ``lower`` and ``upper`` limits per record that hold for all tested records together with the
    given ``confidence``, and ``run_distances``, records × runs. Its ``distances`` are conservative
    estimates: for ``wasserstein`` the sample's upper end, which in the mean is not below the true
    distance; limits are checked against :attr:`delta_upper`. Its beliefs are means over runs, or
    expectations where ``method="closed-form"``; no adversary sees them. ``change_chances`` are
    therefore the probabilities that the prediction changes, with ``change_limits`` on their mean
    where they come from runs.
    """

    distances: Floats
    beliefs: Floats
    beliefs_without: Floats
    records: NDArray[np.int64]
    classes: NDArray[np.int32]
    sensitive_name: str
    sensitive_values: tuple[Any, ...]
    sanitizer: str
    model: str
    distance: str
    method: str
    exactness: Exactness
    table_size: int
    fingerprint: OnFirstUse[str] = OnFirstUse()  # noqa: RUF009 - a descriptor
    constraint_met: bool | None = None
    unmet: str | None = None
    generalized_without: int = 0
    uncovered: int = 0
    uncovered_without: int = 0
    dropped: int = 0
    requested: int = 0
    failures: tuple[str, ...] = ()
    seed: int | None = None
    seconds: float = 0.0
    backend: str = "pyarrow"
    notes: tuple[str, ...] = ()
    lower: Floats | None = None
    upper: Floats | None = None
    run_distances: Floats | None = None
    confidence: float | None = None
    runs: int | None = None
    largest: float = math.inf
    out_of_time: bool = False
    individual: str | None = None
    people: int | None = None
    sizes: NDArray[np.int64] | None = None
    guarantee: str | None = None
    change_chances: Floats | None = None
    change_limits: tuple[float, float] | None = None
    unmeasured: tuple[Unmeasured, ...] = ()

    def __repr__(self) -> str:
        return (
            f"DifferentialResult(delta={self.delta:.4g}, mean={self.mean:.4g}, "
            f"records={len(self.distances):,}, sanitizer={self.sanitizer!r}, "
            f"model={self.model!r}, distance={self.distance!r}, exactness={self.exactness!r})"
        )

    @property
    def complete(self) -> bool:
        """Whether every requested record was measured."""
        return len(self.distances) == self.requested and not self.failures

    @property
    def interrupted(self) -> bool:
        """Whether an interruption left requested records unmeasured."""
        reached = len(self.distances) + len(self.failures)
        return reached < self.requested and not self.out_of_time

    @property
    def population(self) -> int:
        """How many people the table is about: its records, unless a column names people."""
        return self.table_size if self.people is None else self.people

    @property
    def delta_interval(self) -> tuple[float, float] | None:
        """Limits on δ with the result's confidence; None where δ is no estimate.

        Nor is there any where some records were not tested: limits on the largest of the others
        are none on δ, which is then only known to be at least the largest ``lower``.
        """
        if self.lower is None or not len(self.lower) or self.exactness == "lower-bound":
            return None
        return float(self.lower.max()), self.delta_upper

    @property
    def uppers(self) -> Floats:
        """What limits are checked against: each record's distance, or its upper limit."""
        return self.distances if self.upper is None else self.upper

    @property
    def delta_upper(self) -> float:
        """What a limit on δ is checked against: δ, or the largest upper limit of estimates."""
        return float(self.uppers.max()) if len(self.uppers) else math.nan

    @property
    def mean_upper(self) -> float:
        """What a limit on the mean is checked against: the mean, or that of the upper limits."""
        return float(self.uppers.mean()) if len(self.uppers) else math.nan

    def tail(self, epsilon: float) -> Limits:
        """Return δ of (ε, δ)-differentiability for a given ε (DIT v1, Definition 1).

        It is the largest probability, over records, that one run's distance is at least ε, with
        exact binomial limits; the record is its number in the input. A run with and a run without
        the record share their random numbers wherever the sanitizer takes them.
        """
        found = largest_tail(self._runs_of("tail"), epsilon, confidence=self.confidence or 0.95)
        return replace(found, record=int(self.records[found.record]))

    def epsilon_for(self, delta: float) -> Limits:
        """Return the smallest ε for which (ε, δ)-differentiability holds (DIT v1, Definition 1).

        ``upper`` is the largest possible distance where R runs are too few for another limit.
        """
        runs, confidence = self._runs_of("epsilon_for"), self.confidence or 0.95
        found = smallest_epsilon(runs, delta, confidence=confidence, largest=self.largest)
        return replace(found, record=int(self.records[found.record]))

    def _runs_of(self, name: str) -> Floats:
        if self.run_distances is None:
            raise UserError(
                f"{name}() needs the distances of single runs, which method "
                f"{self.method!r} does not make",
                way_out=f"Test a randomized sanitizer with {option('method', 'sampled')}",
                field="method",
            )
        return self.run_distances

    @cached_property
    def predictions_changed(self) -> Floats:
        """For each record, the probability that the most probable value is another without it.

        It is 1 or 0 where nothing is left to chance; among values that tie for the first place
        (to 1e-12) the first listed is then the prediction, so that rounding never makes a change.
        ``docs/randomized.md`` defines it for noise, where ties are split evenly.
        """
        if self.change_chances is not None:
            return self.change_chances
        first, second = (
            np.argmax(held >= held.max(axis=1, keepdims=True) - 1e-12, axis=1)
            for held in (self.beliefs, self.beliefs_without)
        )
        return (first != second).astype(np.float64)

    @property
    def changed_interval(self) -> tuple[float, float] | None:
        """Limits on :attr:`changed_predictions`; None where it is no estimate."""
        limits = self.change_limits
        return None if limits is None else (100 * limits[0], 100 * limits[1])

    def entry(self, place: int) -> dict[str, Any]:
        """Return what is said of one record: its number, distance and beliefs."""
        return {
            "record": int(self.records[place]),
            "distance": float(self.distances[place]),
            "belief": float(self.true_beliefs[place]),
            "belief_without": float(self.true_beliefs_without[place]),
            "prediction_changed": float(self.predictions_changed[place]),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per record: its number, distance and beliefs; no value of the table."""
        columns = {
            "record": self.records,
            "distance": self.distances,
            "lower": self.lower,
            "upper": self.upper,
            "records": self.sizes,
            "belief": self.true_beliefs,
            "belief_without": self.true_beliefs_without,
            "prediction_changed": self.predictions_changed,
        }
        return pa.table({name: held for name, held in columns.items() if held is not None})

    def to_dict(self, *, worst: int = 10) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "format": FORMAT,
            "kind": "differential-test",
            "delta": self.delta,
            **self._interval(),
            "mean": self.mean,
            "std": self.std,
            "quantiles": {str(share): value for share, value in self.quantiles.items()},
            "infinite": self.infinite,
            **self.changed_part(),
            "exactness": self.exactness,
            "method": self.method,
            "complete": self.complete,
            "records_tested": len(self.distances),
            "records_requested": self.requested,
            "records_in_table": self.table_size,
            "records_dropped": self.dropped,
            **{name: value for name in _IF_THERE if (value := getattr(self, name))},
            "failures": list(self.failures),
            **{name: getattr(self, name) for name in _PLAIN},
            "sensitive": self.sensitive_name,
            "sensitive_value_count": len(self.sensitive_values),
            "worst": self.worst(worst),
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "notes": list(self.notes),
            "versions": {
                "indiff": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "timing": {"seconds": self.seconds},
        }

    def _interval(self) -> dict[str, Any]:
        """Return what a sampled result adds to the plain data."""
        found: dict[str, Any] = {}
        if self.lower is not None and len(self.lower):
            found = {"delta_lower": float(self.lower.max())}
        if self.delta_interval is not None:
            found |= {"delta_upper": self.delta_upper, "mean_upper": self.mean_upper}
        if self.confidence is not None:
            found |= {"confidence": self.confidence, "runs": self.runs}
        return found

    def places(self, records: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return where these records stand, all of which were tested."""
        if np.array_equal(self.records, records):
            return np.arange(len(records))
        order = np.argsort(self.records, kind="stable")
        return order[np.searchsorted(self.records, records, sorter=order)]
