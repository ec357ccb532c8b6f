"""Combines the results of several models: for each record, the one that sees most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.result import DifferentialResult, Exactness, Reported, changed_part
from indiff.errors import UserError
from indiff.sanitizers.promise import all_kept
from indiff.text import FORMAT

# From the one that says least to the one that says most.
WEAKEST: tuple[Exactness, ...] = ("approximation", "estimate", "lower-bound", "exact")


def _shared(name: str, meaning: str) -> Any:
    """Return a property that has the same value in every model's result."""
    return property(lambda self: getattr(next(iter(self.results.values())), name), doc=meaning)


@dataclass(frozen=True, eq=False)
class StrongestResult(Reported):
    """Each model's result, and the pointwise maximum of their distances.

    ``distances[r]`` is the largest distance that any model sees for record r and ``seen_by[r]``
    the model that sees it (the first listed among equals). It is the strongest of *these*
    adversaries: another one may see more. ``confidence`` is that of the limits of all models
    together. ``untried`` are models that an interruption left out.
    """

    results: dict[str, DifferentialResult]
    distances: NDArray[np.float64]
    records: NDArray[np.int64] = field(repr=False)
    seen_by: NDArray[np.str_] = field(repr=False)
    confidence: float | None = None
    untried: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"StrongestResult(delta={self.delta:.4g}, model={self.model!r}, "
            f"records={len(self.distances):,}, models={list(self.results)})"
        )

    @property
    def deltas(self) -> dict[str, float]:
        """δ of each model."""
        return {name: result.delta for name, result in self.results.items()}

    @property
    def delta(self) -> float:
        """The largest δ of all models."""
        return _largest(self.deltas.values())

    @property
    def delta_upper(self) -> float:
        """What a limit on δ is checked against: the largest upper limit of all models."""
        return _largest(result.delta_upper for result in self.results.values())

    @property
    def delta_interval(self) -> tuple[float, float] | None:
        """Limits on the largest δ; None where no model's δ is an estimate."""
        each = [result.delta_interval for result in self.results.values()]
        lowers = [limits[0] for limits in each if limits is not None]
        if not lowers:
            return None
        exact = [result.delta for result in self.results.values() if result.delta_interval is None]
        return _largest(lowers + exact), self.delta_upper

    @property
    def mean_upper(self) -> float:
        """What a limit on the mean is checked against: the mean of the largest upper limits."""
        if not len(self.distances):
            return math.nan
        uppers = [
            (result.distances if result.upper is None else result.upper)[self._rows(result)]
            for result in self.results.values()
        ]
        return float(np.max(uppers, axis=0).mean())

    @property
    def changed_predictions(self) -> float:
        """The percentage of predictions of which at least one model's changes.

        Where chance decides, nothing says how the models' changes go together: the probabilities
        are added up, to 1 at most, which is not below the truth.
        """
        if not len(self.distances):
            return math.nan
        return self._any_changed(self.results.values())

    @property
    def changed_interval(self) -> tuple[float, float] | None:
        """Limits on :attr:`changed_predictions`; None where every model's changes are certain.

        At least as often as the model with most changes, at most as often as all of them in turn.
        """
        results = self.results.values()
        if not len(self.distances) or all(one.change_chances is None for one in results):
            return None
        drawn = [one for one in results if one.change_limits is not None]
        known = [one for one in results if one.change_limits is None]
        least = [100 * float(one.predictions_changed[self._rows(one)].mean()) for one in known]
        least += [one.changed_interval[0] for one in drawn if one.changed_interval is not None]
        most = self._any_changed(known) + sum(one.changed_upper for one in drawn)
        return max(least), min(most, 100.0)

    @property
    def changed_upper(self) -> float:
        """What a limit on changed predictions is checked against."""
        return (
            self.changed_predictions if self.changed_interval is None else self.changed_interval[1]
        )

    @property
    def changed_exactness(self) -> Exactness:
        """How exact :attr:`changed_predictions` is: a bracket makes it an estimate."""
        return self.exactness if self.changed_interval is None else "estimate"

    def _any_changed(self, results: Iterable[DifferentialResult]) -> float:
        each = [one.predictions_changed[self._rows(one)] for one in results]
        return 100 * float(np.minimum(np.sum(each, axis=0), 1).mean()) if each else 0.0

    def _rows(self, result: DifferentialResult) -> NDArray[np.intp]:
        return np.searchsorted(result.records, self.records)

    sensitive_name = _shared("sensitive_name", "The sensitive attribute.")
    sanitizer = _shared("sanitizer", "The sanitizer's name.")
    table_size = _shared("table_size", "How many records the table has.")
    population = _shared("population", "How many people the table is about.")
    requested = _shared("requested", "How many records were to be measured.")
    backend = _shared("backend", "The kind of frame that the table was read from.")

    @property
    def out_of_time(self) -> bool:
        """Whether the time was up before every model had tested everybody."""
        return any(result.out_of_time for result in self.results.values())

    @property
    def constraint_met(self) -> bool | None:
        """Whether the release keeps what its sanitizer promises; None where that is nothing."""
        return all_kept(result.constraint_met for result in self.results.values())

    @property
    def largest(self) -> float:
        """The largest value that any model's distance can take."""
        return _largest(result.largest for result in self.results.values())

    @property
    def unmet(self) -> str | None:
        """Why the release does not keep what its sanitizer promises."""
        return next((one.unmet for one in self.results.values() if one.unmet), None)

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed, of any model."""
        return tuple(text for result in self.results.values() for text in result.failures)

    @property
    def interrupted(self) -> bool:
        """Whether an interruption left out a model or a record."""
        stopped = any(result.interrupted for result in self.results.values())
        return stopped or (bool(self.untried) and not self.out_of_time)

    @property
    def model(self) -> str:
        """The model with the largest δ; the first listed among equals."""
        deltas = self.deltas
        return max(deltas, key=lambda name: _largest([-math.inf, deltas[name]]))

    @property
    def complete(self) -> bool:
        """Whether every model measured every requested record."""
        return not self.untried and all(result.complete for result in self.results.values())

    @property
    def exactness(self) -> Exactness:
        """The weakest of the models' own."""
        held = {result.exactness for result in self.results.values()}
        return next(level for level in WEAKEST if level in held)

    def worst(self, count: int = 10) -> list[dict[str, Any]]:
        """Return the records with the largest distances, and the model that sees each."""
        order = np.lexsort((self.records, -self.distances))[:count]
        return [self._entry(int(place)) for place in order]

    def _entry(self, place: int) -> dict[str, Any]:
        name, record = str(self.seen_by[place]), int(self.records[place])
        result = self.results[name]
        entry = result.entry(int(np.searchsorted(result.records, record)))
        return {"record": record, "distance": entry.pop("distance"), "model": name, **entry}

    def to_arrow(self) -> pa.Table:
        """Return one row per record: its number, largest distance, model, and each distance."""
        seen_by = pa.array(self.seen_by.tolist(), pa.string())
        columns = {"record": self.records, "distance": self.distances, "model": seen_by}
        each = {name: _at(result, self.records) for name, result in self.results.items()}
        return pa.table({**columns, **each})

    def to_dict(self, *, worst: int = 10) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "format": FORMAT,
            "kind": "strongest-adversary",
            "sensitive": self.sensitive_name,
            "delta": self.delta,
            "delta_upper": self.delta_upper,
            "model": self.model,
            "deltas": self.deltas,
            "untried": list(self.untried),
            "mean": self.mean,
            "mean_upper": self.mean_upper,
            **changed_part(self),
            "exactness": self.exactness,
            "complete": self.complete,
            "confidence": self.confidence,
            "worst": self.worst(worst),
            "results": {name: result.to_dict(worst=worst) for name, result in self.results.items()},
        }


def each_confidence(confidence: float, models: int) -> float:
    """Return the confidence of each model's limits, so that all hold together (Bonferroni).

    >>> round(each_confidence(0.95, 5), 9)
    0.99
    """
    if models < 1:
        raise UserError(
            "model names no adversary; give at least one, or leave it out.", field="model"
        )
    # What is no confidence at all is refused where it is used, as it was given.
    return 1 - (1 - confidence) / models if 0 < confidence < 1 else confidence


def combine(names: Sequence[str], run: Callable[[int], Any], confidence: float) -> Any:
    """Run each model, and put their results together; several distances give a mapping."""
    if len(set(names)) < len(names):
        raise UserError(
            "models need names of their own",
            ", ".join(names),
            "Name each of them once",
            field="model",
        )
    found: dict[str, Any] = {}
    for place, name in enumerate(names):
        found[name] = run(place)
        now = found[name].values() if isinstance(found[name], dict) else [found[name]]
        if any(one.interrupted or one.out_of_time for one in now):
            break  # whoever interrupts one model does not ask for the next
    untried = tuple(names[len(found) :])
    if not isinstance(found[names[0]], dict):
        return strongest(found, confidence, untried)
    return {
        distance: strongest(
            {name: each[distance] for name, each in found.items()}, confidence, untried
        )
        for distance in found[names[0]]
    }


def strongest(
    results: dict[str, DifferentialResult],
    confidence: float = 0.95,
    untried: tuple[str, ...] = (),
) -> StrongestResult:
    """Take the pointwise maximum over models of the records that all of them measured.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, differential_test, read_table
    >>> table = read_table(
    ...     pa.table({"Age": [28, 36, 47, 53, 72], "Gender": list("MMFMF"),
    ...               "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...     quasi=["Age", "Gender"], sensitive="Disease")
    >>> differential_test(table, Mondrian(k=2, regions="cut"), model=["naive-bayes", "frequency"])
    StrongestResult(delta=1, model='frequency', records=5, models=['naive-bayes', 'frequency'])
    """
    records = reduce(np.intersect1d, [result.records for result in results.values()])
    each = np.stack([_at(result, records) for result in results.values()])
    names = np.array(list(results))
    sampled = any(result.confidence is not None for result in results.values())
    return StrongestResult(
        results,
        each.max(axis=0),
        np.asarray(records, np.int64),
        names[each.argmax(axis=0)],
        confidence if sampled else None,
        untried,
    )


def _at(result: DifferentialResult, records: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances of these records, all of which the result has."""
    return result.distances[np.searchsorted(result.records, records)]


def _largest(numbers: Iterable[float]) -> float:
    return max((number for number in numbers if not math.isnan(number)), default=math.nan)
