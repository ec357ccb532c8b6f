"""Holds what a differential test measured, how, and on what."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.noise.tail import Limits, largest_tail, smallest_epsilon
from indiff.differential.reported import Reported
from indiff.errors import UserError, option
from indiff.release.unmeasured import Unmeasured
from indiff.text import FORMAT
from indiff.version import __version__

Exactness = Literal["exact", "estimate", "lower-bound", "approximation"]


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

    distances: NDArray[np.float64]
    beliefs: NDArray[np.float64] = field(repr=False)
    beliefs_without: NDArray[np.float64] = field(repr=False)
    records: NDArray[np.int64] = field(repr=False)
    classes: NDArray[np.int32] = field(repr=False)
    sensitive_name: str
    sensitive_values: tuple[Any, ...]
    sanitizer: str
    model: str
    distance: str
    method: str
    exactness: Exactness
    table_size: int
    fingerprint: str
    constraint_met: bool | None = None
    unmet: str | None = None
    generalized_without: int = 0
    uncovered: int = 0
    uncovered_without: int = 0
    dropped: int = 0
    requested: int = 0
    failures: tuple[str, ...] = ()
    seed: int | None = None
    seconds: float = field(default=0.0, compare=False)
    backend: str = field(default="pyarrow", repr=False)
    notes: tuple[str, ...] = ()
    lower: NDArray[np.float64] | None = field(default=None, repr=False)
    upper: NDArray[np.float64] | None = field(default=None, repr=False)
    run_distances: NDArray[np.float64] | None = field(default=None, repr=False)
    confidence: float | None = None
    runs: int | None = None
    largest: float = math.inf
    out_of_time: bool = False
    individual: str | None = None
    people: int | None = None
    sizes: NDArray[np.int64] | None = field(default=None, repr=False)
    guarantee: str | None = None
    change_chances: NDArray[np.float64] | None = field(default=None, repr=False)
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
    def delta(self) -> float:
        """δ: the largest distance (DIT v2, Definition 1); a lower bound if not all were tested."""
        return float(self.distances.max()) if len(self.distances) else math.nan

    @property
    def delta_interval(self) -> tuple[float, float] | None:
        """Limits on δ with the result's confidence; None where δ is no estimate.

        Nor is there any where some records were not tested: limits on the largest of the others
        are none on δ, which is then only known to be at least the largest ``lower``.
        """
        if self.lower is None or self.upper is None or not len(self.upper):
            return None
        if self.exactness == "lower-bound":
            return None
        return float(self.lower.max()), float(self.upper.max())

    @property
    def delta_upper(self) -> float:
        """What a limit on δ is checked against: δ, or the largest upper limit of estimates."""
        if self.upper is None or not len(self.upper):
            return self.delta
        return float(self.upper.max())

    @property
    def mean_upper(self) -> float:
        """What a limit on the mean is checked against: the mean, or that of the upper limits."""
        if self.upper is None or not len(self.upper):
            return self.mean
        return float(self.upper.mean())

    def tail(self, epsilon: float) -> Limits:
        """Return δ of (ε, δ)-differentiability for a given ε (DIT v1, Definition 1).

        It is the largest probability, over records, that one run's distance is at least ε, with
        exact binomial limits; the record is its number in the input. A run with and a run without
        the record share their random numbers wherever the sanitizer takes them.
        """
        found = largest_tail(self._runs_of("tail"), epsilon, confidence=self._level())
        return replace(found, record=int(self.records[found.record]))

    def epsilon_for(self, delta: float) -> Limits:
        """Return the smallest ε for which (ε, δ)-differentiability holds (DIT v1, Definition 1).

        ``upper`` is the largest possible distance where R runs are too few for another limit.
        """
        runs = self._runs_of("epsilon_for")
        found = smallest_epsilon(runs, delta, confidence=self._level(), largest=self.largest)
        return replace(found, record=int(self.records[found.record]))

    def _runs_of(self, name: str) -> NDArray[np.float64]:
        if self.run_distances is None:
            raise UserError(
                f"{name}() needs the distances of single runs, which method "
                f"{self.method!r} does not make",
                way_out=f"Test a randomized sanitizer with {option('method', 'sampled')}",
                field="method",
            )
        return self.run_distances

    def _level(self) -> float:
        return 0.95 if self.confidence is None else self.confidence

    @cached_property
    def predictions_changed(self) -> NDArray[np.float64]:
        """For each record, the probability that the most probable value is another without it.

        It is 1 or 0 where nothing is left to chance; among values that tie for the first place
        (to 1e-12) the first listed is then the prediction, so that rounding never makes a change.
        ``docs/randomized.md`` defines it for noise, where ties are split evenly.
        """
        if self.change_chances is not None:
            return self.change_chances
        return (_modes(self.beliefs) != _modes(self.beliefs_without)).astype(np.float64)

    @property
    def changed_interval(self) -> tuple[float, float] | None:
        """Limits on :attr:`changed_predictions`; None where it is no estimate."""
        if self.change_limits is None:
            return None
        low, high = self.change_limits
        return 100 * low, 100 * high

    @property
    def changed_upper(self) -> float:
        """What a limit on changed predictions is checked against."""
        return (
            self.changed_predictions if self.changed_interval is None else self.changed_interval[1]
        )

    @property
    def changed_exactness(self) -> Exactness:
        """How exact :attr:`changed_predictions` is: runs make it an estimate."""
        return self.exactness if self.change_limits is None else "estimate"

    def worst(self, count: int = 10) -> list[dict[str, Any]]:
        """Return the records with the largest distances, largest first."""
        order = np.lexsort((self.records, -self.distances))[:count]
        return [self.entry(int(place)) for place in order]

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
        columns: dict[str, Any] = {"record": self.records, "distance": self.distances}
        if self.lower is not None and self.upper is not None:
            columns |= {"lower": self.lower, "upper": self.upper}
        if self.sizes is not None:
            columns["records"] = self.sizes
        return pa.table(
            columns
            | {
                "belief": self.true_beliefs,
                "belief_without": self.true_beliefs_without,
                "prediction_changed": self.predictions_changed,
            }
        )

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
            **changed_part(self),
            "exactness": self.exactness,
            "method": self.method,
            "complete": self.complete,
            "records_tested": len(self.distances),
            "records_requested": self.requested,
            "records_in_table": self.table_size,
            "records_dropped": self.dropped,
            **self._extras(),
            "failures": list(self.failures),
            "sanitizer": self.sanitizer,
            "constraint_met": self.constraint_met,
            "generalized_without": self.generalized_without,
            "uncovered": self.uncovered,
            "uncovered_without": self.uncovered_without,
            "model": self.model,
            "distance": self.distance,
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

    def _extras(self) -> dict[str, Any]:
        """Return what a draw of targets, a budget, or people with several records add."""
        found = {"individual": self.individual, "people": self.people, "guarantee": self.guarantee}
        found["out_of_time"] = self.out_of_time or None
        return {name: value for name, value in found.items() if value is not None}

    def _interval(self) -> dict[str, Any]:
        """Return what a sampled result adds to the plain data."""
        found: dict[str, Any] = {}
        if self.lower is not None and len(self.lower):
            found = {"delta_lower": float(self.lower.max())}
        if self.delta_interval is not None:
            found |= {"delta_upper": self.delta_upper, "mean_upper": self.mean_upper}
        how = {"confidence": self.confidence, "runs": self.runs}
        return found if self.confidence is None else {**found, **how}

    def places(self, records: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return where these records stand, all of which were tested."""
        order = np.argsort(self.records, kind="stable")
        return order[np.searchsorted(self.records, records, sorter=order)]


def changed_part(result: Any) -> dict[str, Any]:
    """Return changed predictions as plain data: how exact they are stands beside them."""
    found = {"changed_predictions_percent": result.changed_predictions}
    if (limits := result.changed_interval) is not None:
        found |= {"changed_predictions_lower": limits[0], "changed_predictions_upper": limits[1]}
    return {**found, "changed_predictions_exactness": result.changed_exactness}


def _modes(beliefs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first sensitive value whose probability is the largest, up to rounding."""
    top = beliefs.max(axis=1, keepdims=True)
    return np.argmax(beliefs >= top - 1e-12, axis=1)
