"""Combines the results of several models: for each record, the one that sees most."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.reported import Reported
from indiff.differential.result import DifferentialResult, Exactness, changed_part
from indiff.differential.targets.guarantee import statement
from indiff.errors import UserError
from indiff.sanitizers.promise import all_kept
from indiff.text import FORMAT

# From the one that says least to the one that says most.
WEAKEST: tuple[Exactness, ...] = ("approximation", "lower-bound", "estimate", "exact")


_PLAIN = (
    "exactness", "method", "complete", "sanitizer", "constraint_met", "distance", "individual",
    "people", "confidence", "runs", "guarantee", "left_out", "seed", "fingerprint",
)  # fmt: skip


def _shared(name: str, meaning: str) -> Any:
    """Return a property that has the same value in every model's result."""
    return property(lambda self: getattr(next(iter(self.results.values())), name), doc=meaning)


def _seen(name: str, meaning: str) -> Any:
    """Return a property that has of each record what the model says that sees it most."""
    return property(lambda self: self._of_seen_by(name), doc=meaning)


@dataclass(frozen=True, eq=False)
class StrongestResult(Reported):
    """Each model's result, and the pointwise maximum of their distances.

    ``distances[r]`` is the largest distance that any model sees for record r, ``seen_by[r]`` the
    model that sees it (the first listed among equals), and ``beliefs[r]`` are that model's. It is
    the strongest of *these* adversaries: another one may see more. ``confidence`` is that of the
    limits of all models together. ``untried`` are models that an interruption left out, and
    ``left_out`` says why one was not asked by default. ``guarantee`` is what a random draw of
    targets says about everybody.
    """

    results: dict[str, DifferentialResult]
    distances: NDArray[np.float64]
    records: NDArray[np.int64] = field(repr=False)
    seen_by: NDArray[np.str_] = field(repr=False)
    confidence: float | None = None
    untried: tuple[str, ...] = ()
    left_out: str | None = None
    guarantee: str | None = None

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
        if not lowers or any(r.exactness == "lower-bound" for r in self.results.values()):
            return None
        exact = [result.delta for result in self.results.values() if result.delta_interval is None]
        return _largest(lowers + exact), self.delta_upper

    @property
    def mean_upper(self) -> float:
        """What a limit on the mean is checked against: the mean of the largest upper limits."""
        if not len(self.distances):
            return math.nan
        uppers = [
            (result.distances if result.upper is None else result.upper)[
                result.places(self.records)
            ]
            for result in self.results.values()
        ]
        return float(np.max(uppers, axis=0).mean())

    @property
    def predictions_changed(self) -> NDArray[np.float64]:
        """For each record, the probability that at least one model's prediction changes.

        Where chance decides, nothing says how the models' changes go together: the probabilities
        are added up, to 1 at most, which is not below the truth.
        """
        each = [one.predictions_changed[one.places(self.records)] for one in self.results.values()]
        return np.minimum(np.sum(each, axis=0), 1.0)

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
        least = [
            100 * float(one.predictions_changed[one.places(self.records)].mean()) for one in known
        ]
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
        each = [one.predictions_changed[one.places(self.records)] for one in results]
        return 100 * float(np.minimum(np.sum(each, axis=0), 1).mean()) if each else 0.0

    def _of_seen_by(self, name: str) -> Any:
        columns = {model: getattr(result, name) for model, result in self.results.items()}
        some = next(iter(columns.values()))
        found = np.empty((len(self.records), *some.shape[1:]), some.dtype)
        for model, result in self.results.items():
            own = self.seen_by == model
            found[own] = columns[model][result.places(self.records[own])]
        return found

    beliefs = _seen("beliefs", "What the model that sees most of a record believes about it.")
    beliefs_without = _seen("beliefs_without", "The same without the record.")
    classes = _seen("classes", "Where in ``sensitive_values`` each record's true value stands.")
    sensitive_values = _shared("sensitive_values", "The values that the beliefs are about.")
    distance = _shared("distance", "The distance between two beliefs.")
    fingerprint = _shared("fingerprint", "The fingerprint of the table.")
    seed = _shared("seed", "The seed of every random choice.")
    dropped = _shared("dropped", "How many records were dropped when the table was read.")
    individual = _shared("individual", "The column that names people, if there is one.")
    people = _shared("people", "How many people that column names.")
    sensitive_name = _shared("sensitive_name", "The sensitive attribute.")
    sanitizer = _shared("sanitizer", "The sanitizer's name.")
    table_size = _shared("table_size", "How many records the table has.")
    population = _shared("population", "How many people the table is about.")
    requested = _shared("requested", "How many records were to be measured.")
    unmeasured = _shared("unmeasured", "Columns of the release that no model looks at.")
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
    def method(self) -> str:
        """How the distances were measured; several ways where models need them."""
        return ", ".join(dict.fromkeys(result.method for result in self.results.values()))

    @property
    def runs(self) -> int | None:
        """How many runs there were of what is sampled, if anything is."""
        return max((r.runs for r in self.results.values() if r.runs is not None), default=None)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all models, each once, and which one was left out."""
        told = [note for result in self.results.values() for note in result.notes]
        return tuple(dict.fromkeys([*told, *([self.left_out] if self.left_out else [])]))

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
        """The weakest of the models' own; a lower bound where one of them was not tried."""
        held = {result.exactness for result in self.results.values()}
        held |= {"lower-bound"} if self.untried else set()
        return next(level for level in WEAKEST if level in held)

    def worst(self, count: int = 10) -> list[dict[str, Any]]:
        """Return the records with the largest distances, and the model that sees each."""
        order = np.lexsort((self.records, -self.distances))[:count]
        return [self._entry(int(place)) for place in order]

    def _entry(self, place: int) -> dict[str, Any]:
        name = str(self.seen_by[place])
        result = self.results[name]
        entry = result.entry(int(result.places(self.records[place : place + 1])[0]))
        return {
            "record": entry.pop("record"),
            "distance": entry.pop("distance"),
            "model": name,
            **entry,
        }

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
            "records_tested": len(self.distances),
            "records_requested": self.requested,
            "records_in_table": self.table_size,
            "records_dropped": self.dropped,
            **{name: getattr(self, name) for name in _PLAIN},
            "failures": list(self.failures),
            "notes": list(self.notes),
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


def combine(
    names: Sequence[str],
    run: Callable[[int], Any],
    confidence: float,
    left_out: str | None = None,
) -> Any:
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
        return strongest(found, confidence, untried, left_out)
    return {
        distance: strongest(
            {name: each[distance] for name, each in found.items()}, confidence, untried, left_out
        )
        for distance in found[names[0]]
    }


def strongest(
    results: dict[str, DifferentialResult],
    confidence: float = 0.95,
    untried: tuple[str, ...] = (),
    left_out: str | None = None,
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
    each_has = [result.records for result in results.values()]
    records = each_has[0]  # in its order
    for others in each_has[1:]:
        records = records[np.isin(records, others)]
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
        left_out,
        _guarantee(results.values(), each.max(axis=0), confidence),
    )


def _guarantee(
    results: Collection[DifferentialResult], distances: NDArray[np.float64], confidence: float
) -> str | None:
    """Say what a random draw, the same for all models, says about everybody."""
    first = next(iter(results))
    if any(one.guarantee is None for one in results) or not len(distances):
        return None
    found = str(
        statement(
            distances,
            population=first.population,
            confidence=confidence,
            failed=first.requested - len(distances),
        )
    )
    return found if first.individual is None else found.replace("records", "people")


def _at(result: DifferentialResult, records: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances of these records, all of which the result has."""
    return result.distances[result.places(records)]


def _largest(numbers: Iterable[float]) -> float:
    return max((number for number in numbers if not math.isnan(number)), default=math.nan)
