"""Chooses the adversaries, and tells of each record what the one sees that sees most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.result import DifferentialResult, Exactness, Reported
from indiff.differential.targets.guarantee import say
from indiff.errors import Message, option
from indiff.inference import Classifier, Frequency, Model, NaiveBayes, as_model
from indiff.inference.encodings import MOST_COUNTED
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer, all_kept
from indiff.text import FORMAT, describe

# A tree is asked by default up to so much work: targets × (records + patterns × values), where the
# patterns are 2 to the number of quasi-identifiers. All of 10,000 records take some 15 ms, and of
# 100,000 a second where all ages and weights differ, and a few where regions are wide as well.
MOST_WORK = 10**10
# From the one that says least to the one that says most.
WEAKEST: tuple[Exactness, ...] = ("approximation", "lower-bound", "estimate", "exact")
T = TypeVar("T")
_PLAIN = (
    "exactness", "method", "complete", "sanitizer", "constraint_met", "distance", "individual",
    "people", "confidence", "runs", "guarantee", "left_out", "seed", "fingerprint",
)  # fmt: skip


@dataclass(frozen=True)
class Adversaries:
    """The models that are asked, and a note on one that was left out although it might see more."""

    models: tuple[Model, ...]
    left_out: str | None = None

    @property
    def named(self) -> dict[str, Model]:
        """The models by their names."""
        return {describe(model): model for model in self.models}


def choose_model(model: str | Model | None, sanitizer: Sanitizer) -> Model:
    """Return the one model asked for; by default the one that the papers pair with the sanitizer.

    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> str(choose_model(None, Laplace(0.5))), str(choose_model("auto", Mondrian(k=2)))
    ('frequency', 'naive-bayes')
    """
    if is_auto(model):
        return Frequency() if isinstance(sanitizer, NoisySanitizer) else NaiveBayes()
    assert model is not None
    return as_model(model)


def choose_models(
    model: str | Model | Sequence[str | Model | None] | None,
    sanitizer: Sanitizer,
    table: Table | None = None,
    *,
    targets: Iterable[int] | int | None = None,
    individual: str | None = None,
    method: str = "auto",
    share: int = 1,
) -> Adversaries:
    """Return the models asked for; where that is None or ``auto``, the strongest that are fast.

    These are naive Bayes and conditional frequency, which are exact wherever the sanitizer is not
    random, and a tree where Mondrian's exact walk grows it from counts and the work is small
    (:data:`MOST_WORK`; ``share`` is how many tests the work is for). Of a noisy table it is
    frequency, for which alone there is a closed form. Without a table no tree is chosen.

    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> [list(choose_models("auto", one).named) for one in (Laplace(0.5), Mondrian(k=2))]
    [['frequency'], ['naive-bayes', 'frequency']]
    >>> list(choose_models(["auto", "knn"], Mondrian(k=2)).named)
    ['naive-bayes', 'frequency', 'knn']
    """
    asked = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    given = [as_model(one) for one in asked if one is not None and not is_auto(one)]
    if len(given) == len(asked):
        return Adversaries(tuple(given))
    usual: list[Model] = [NaiveBayes(), Frequency()]
    left_out = None
    if isinstance(sanitizer, NoisySanitizer):
        usual = [Frequency()]
    elif getattr(sanitizer, "coverage_says_little", False):
        usual.append(Classifier("tree", encoding="Scaling-Hot"))  # which reads values
    elif table is not None:
        why = _against_tree(sanitizer, table, targets, individual, method, share)
        if why is None:
            usual.append(Classifier("tree"))
        else:
            way_out = option("model", ["auto", "tree"])
            left_out = Message(f"no tree was tried: {why}; ask for it by {way_out}")
    taken = {describe(one) for one in given}
    added = [one for one in usual if describe(one) not in taken]
    return Adversaries((*added, *given), None if "tree" in taken else left_out)


def possible_models(model: Any, sanitizer: Sanitizer) -> dict[str, Model]:
    """Return every model that may have been chosen, by its name."""
    found = choose_models(model, sanitizer).named
    asked = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    return found | {"tree": Classifier("tree")} if any(map(is_auto, asked)) else found


def is_auto(model: Any) -> bool:
    """Tell whether the choice was left to us."""
    return model is None or (isinstance(model, str) and model == "auto")


def _against_tree(
    sanitizer: Sanitizer, table: Table, targets: Iterable[int] | int | None,
    individual: str | None, method: str, share: int,
) -> str | None:  # fmt: skip
    """Say why a tree is not asked unless the user wants it; None where it costs little."""
    if not isinstance(sanitizer, Mondrian) or method not in ("auto", "leave-one-out"):
        return "it would learn again from a whole release for each record"
    columns, values = len(table.attributes), len(table.sensitive.values)
    if columns > MOST_COUNTED:
        return f"with {columns} quasi-identifiers it would learn again for each record"
    if individual is not None:
        return "without all records of a person the table is sanitized again"
    count = len(table) if targets is None else targets
    count = count if isinstance(count, int) else len(list(count))
    work = share * min(count, len(table)) * (len(table) + 2**columns * values)
    if work > MOST_WORK:
        times = "once" if share == 1 else f"{share} times"
        return f"testing {count:,} of {len(table):,} records {times} would take it long"
    return None


def _over(together: Callable[[Iterable[Any]], T], name: str, meaning: str) -> T:
    """Return a property that puts together what the models' results have under one name."""
    found: Any = property(
        lambda self: together(getattr(one, name) for one in self.results.values()), doc=meaning
    )
    return found


def _largest(numbers: Iterable[float]) -> float:
    return max((number for number in numbers if not math.isnan(number)), default=math.nan)


def _shared(name: str, meaning: str) -> Any:
    """Return a property that has the same value in every model's result."""
    return _over(lambda each: next(iter(each)), name, meaning)


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
    records: NDArray[np.int64]
    seen_by: NDArray[np.str_]
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

    delta = _over(_largest, "delta", "The largest δ of all models.")
    delta_upper = _over(_largest, "delta_upper", "What a limit on δ is checked against.")

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
    def uppers(self) -> NDArray[np.float64]:
        """What limits are checked against, record by record: the largest of all models."""
        uppers = [one.uppers[one.places(self.records)] for one in self.results.values()]
        return np.asarray(np.max(uppers, axis=0))

    @property
    def mean_upper(self) -> float:
        """What a limit on the mean is checked against: the mean of the largest upper limits."""
        return float(self.uppers.mean()) if len(self.distances) else math.nan

    @property
    def predictions_changed(self) -> NDArray[np.float64]:
        """For each record, the probability that at least one model's prediction changes.

        Where chance decides, nothing says how the models' changes go together: the probabilities
        are added up, to 1 at most, which is not below the truth.
        """
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
        least = [100 * float(self._any_changed([one]).mean()) for one in known]
        least += [one.changed_interval[0] for one in drawn if one.changed_interval is not None]
        most = 100 * float(self._any_changed(known).mean())
        most += sum(one.changed_upper for one in drawn)
        return max(least), min(most, 100.0)

    def _any_changed(self, results: Iterable[DifferentialResult]) -> NDArray[np.float64]:
        changed = np.zeros(len(self.records))
        for one in results:
            changed += one.predictions_changed[one.places(self.records)]
        return np.minimum(changed, 1.0)

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
    out_of_time = _over(any, "out_of_time", "Whether the time was up before all were tested.")
    constraint_met = _over(all_kept, "constraint_met", "Whether the release keeps its promise.")
    largest = _over(_largest, "largest", "The largest value that any model's distance can take.")
    unmet = _over(lambda each: next(filter(None, each), None), "unmet", "Why it does not.")
    failures = _over(lambda each: tuple(chain(*each)), "failures", "What failed, of any model.")
    method = _over(lambda each: ", ".join(dict.fromkeys(each)), "method", "How it was measured.")
    runs = _over(lambda each: max(filter(None, each), default=None), "runs", "How many, if any.")

    @property
    def interrupted(self) -> bool:
        """Whether an interruption left out a model or a record."""
        stopped = any(result.interrupted for result in self.results.values())
        return stopped or (bool(self.untried) and not self.out_of_time)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all models, each once, and which one was left out."""
        told = chain(*(result.notes for result in self.results.values()))
        return tuple(dict.fromkeys([*told, *filter(None, [self.left_out])]))

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
    def exactness(self) -> Exactness:  # type: ignore[override]
        """The weakest of the models' own; a lower bound where one of them was not tried."""
        held = {result.exactness for result in self.results.values()}
        held |= {"lower-bound"} if self.untried else set()
        return next(level for level in WEAKEST if level in held)

    def entry(self, place: int) -> dict[str, Any]:
        """Return what is said of one record: its distance, and the model that sees it."""
        name = str(self.seen_by[place])
        result = self.results[name]
        entry = result.entry(int(result.places(self.records[place : place + 1])[0]))
        number, distance = entry.pop("record"), entry.pop("distance")
        return {"record": number, "distance": distance, "model": name, **entry}

    def to_arrow(self) -> pa.Table:
        """Return one row per record: its number, largest distance, model, and each distance."""
        seen_by = pa.array(self.seen_by.tolist(), pa.string())
        columns = {"record": self.records, "distance": self.distances, "model": seen_by}
        each = {name: one.distances[one.places(self.records)] for name, one in self.results.items()}
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
            **self.changed_part(),
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
        if not np.array_equal(records, others):
            records = records[np.isin(records, others)]
    distances, seen_by = np.full(len(records), -np.inf), np.zeros(len(records), np.intp)
    for place, result in enumerate(results.values()):
        own = result.distances[result.places(records)]
        seen_by[own > distances] = place
        distances = np.maximum(distances, own)
    first = next(iter(results.values()))
    guarantee = None
    if len(distances) and all(one.guarantee is not None for one in results.values()):
        failed, people = first.requested - len(distances), first.individual is not None
        guarantee = say(distances, first.population, confidence, failed, people=people)
    sampled = any(result.confidence is not None for result in results.values())
    return StrongestResult(
        results,
        distances,
        np.asarray(records, np.int64),
        np.array(list(results))[seen_by],
        confidence if sampled else None,
        untried,
        left_out,
        guarantee,
    )
