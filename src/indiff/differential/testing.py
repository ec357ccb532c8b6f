"""differential_test: choose the path, run it, measure the distances."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.choosing import METHODS, Method, Named, by_method, choose_model
from indiff.differential.handout import Handout
from indiff.differential.leave_one_out import leave_one_out
from indiff.differential.measured import Measurement, from_beliefs
from indiff.differential.randomized import measure_by_runs, measure_exactly
from indiff.differential.refit import Beliefs, Progress, refit
from indiff.differential.result import DifferentialResult, Exactness
from indiff.differential.strongest import combine, each_confidence
from indiff.distances import DEFAULT, Distance
from indiff.errors import InternalError, UserError
from indiff.ground import Emd, bind_distance
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.inference.background import with_background
from indiff.inference.smoothed_frequency import SmoothedFrequency
from indiff.sanitizers.mondrian import Mondrian
from indiff.sanitizers.noisy import NoisySanitizer, OnGrid
from indiff.sanitizers.oracle import Oracle
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.table import Table

__all__ = ["METHODS", "Method", "as_rows", "check_testable", "describe", "differential_test"]


def differential_test(
    table: Table,
    sanitizer: Any,
    *,
    model: str | Model | Sequence[str | Model] | None = None,
    distance: str | Distance | Emd | Sequence[str | Distance | Emd] = DEFAULT,
    targets: Iterable[int] | None = None,
    method: Method = "auto",
    runs: int = 100,
    confidence: float = 0.95,
    jobs: int = -1,
    seed: int = 0,
    prior: Mapping[Any, Any] | str | Path | None = None,
    known: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> Any:
    """Measure how far each record moves an adversary's belief about it (DIT v2, Section 3.2).

    ``sanitizer`` is a name (``"mondrian:k=5"``), a sanitizer, any function from frame to frame,
    or a list of these; ``targets`` are record numbers (all by default); ``distance`` is a name, a
    function, an :class:`~indiff.ground.Emd`, or a list of them. Returns a
    :class:`DifferentialResult`; a list of sanitizers gives a list, several distances a mapping
    from their names, several sensitive attributes a mapping from theirs.

    ``model`` is ``frequency`` for a noisy table or randomized response and ``naive-bayes``
    otherwise, unless given. ``method`` is chosen: ``closed-form`` or ``leave-one-out`` where they
    are exact, ``sampled`` for other randomized sanitizers and models (``runs`` of each with and
    without a record, limits that hold with ``confidence``), ``refit`` for the rest.

    A list of models gives a :class:`~indiff.differential.strongest.StrongestResult`: each one's
    result, and for each record the largest distance that any of them sees. ``prior`` and
    ``known`` are what the adversary knows beforehand (:mod:`indiff.inference.background`): the
    probability of each sensitive value, for all or for each record, and the only
    quasi-identifiers that he can look at.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(
    ...     pa.table({"Age": [28, 36, 47, 53, 72], "Gender": list("MMFMF"),
    ...               "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...     quasi=["Age", "Gender"], sensitive="Disease")
    >>> result = differential_test(table, Mondrian(k=2, regions="cut"), model="frequency")
    >>> result.distances.round(3), result.delta
    (array([1.   , 1.   , 0.667, 0.333, 0.333]), 1.0)
    """
    options: dict[str, Any] = {
        "model": model, "distance": distance, "targets": targets, "method": method, "runs": runs,
        "confidence": confidence, "jobs": jobs, "seed": seed, "prior": prior, "known": known,
        "progress": progress,
    }  # fmt: skip
    if isinstance(sanitizer, Sequence) and not isinstance(sanitizer, str):
        return [differential_test(table, one, **options) for one in sanitizer]
    if len(table.sensitives) > 1:
        return {
            s.name: differential_test(table.focus(s.name), sanitizer, **options)
            for s in table.sensitives
        }
    if isinstance(model, Sequence) and not isinstance(model, str):
        options["confidence"] = each_confidence(confidence, len(model))
        adversaries = [choose_model(one, as_sanitizer(sanitizer)) for one in model]
        return combine(
            [describe(one) for one in adversaries],
            lambda place: differential_test(
                table, sanitizer, **{**options, "model": adversaries[place]}
            ),
            confidence,
        )
    several = isinstance(distance, Sequence) and not isinstance(distance, str)
    measures: Sequence[Any] = distance if several else [distance]  # type: ignore[assignment]
    chosen = as_sanitizer(sanitizer)
    wanted = [_bind(measure, table, chosen) for measure in measures]
    if len({name for name, _ in wanted}) < max(1, len(wanted)):
        raise UserError(
            "distances need names of their own; got "
            f"{', '.join(name for name, _ in wanted) or 'none'}. Define a function for each."
        )
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise UserError(f"jobs is a number of processes, or -1 for all cores; got {jobs!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"seed must be a whole number of at least 0; got {seed!r}.")
    adversary = choose_model(model, chosen)
    informed = prior is not None or known is not None
    if informed and isinstance(chosen, NoisySanitizer) and isinstance(adversary, Frequency):
        adversary = SmoothedFrequency()  # how frequency reads noisy counts; here without a theorem
    adversary, notes = with_background(adversary, table, prior, known)
    notes = (*getattr(adversary, "notes", ()), *notes)
    test = Test(table, chosen, adversary, runs, confidence, jobs, seed, progress, notes)
    names = describe(test.sanitizer), describe(test.model)
    check_testable(table)
    groups = by_method(test.sanitizer, test.model, wanted, method, names)
    rows = as_rows(table, targets)
    results = {}
    for path, measured in groups.items():
        start = time.perf_counter()
        path, measurement = _measure(test, path, measured, rows, forced=method != "auto")
        seconds = time.perf_counter() - start
        for name in measurement.columns:
            results[name] = _result(test, measurement, name, path, len(rows), seconds)
    return {name: results[name] for name, _ in wanted} if several else results[wanted[0][0]]


def _bind(measure: Any, table: Table, sanitizer: Sanitizer) -> Named:
    """Name a distance, and tell one with a ground distance which values the beliefs are in."""
    grounded = isinstance(measure, Emd) or str(measure).startswith("emd:")
    if grounded and isinstance(sanitizer, NoisySanitizer):
        return bind_distance(measure, table.sensitive, sanitizer.grid(table).sensitive_values)
    return bind_distance(measure, table.sensitive)


@dataclass(frozen=True)
class Test:
    """One table, one sanitizer, one model, and how to run them."""

    __test__ = False  # pytest: no test of this project

    table: Table
    sanitizer: Sanitizer
    model: Model
    runs: int
    confidence: float
    jobs: int
    seed: int
    progress: Progress | None
    notes: tuple[str, ...]


def _measure(
    test: Test, method: str, distances: Sequence[Named], rows: NDArray[np.intp], *, forced: bool
) -> tuple[str, Measurement]:
    """Take the chosen path; an oracle that turns out to be random is sampled instead."""
    table, sanitizer, model = test.table, test.sanitizer, test.model
    if method == "closed-form" and isinstance(sanitizer, NoisySanitizer):
        return method, measure_exactly(table, sanitizer, distances, rows)
    notes: tuple[str, ...] = ()
    unknown = method == "refit" and not forced and isinstance(sanitizer, Oracle)
    if unknown and not _repeats(table, sanitizer, model, rows):
        method = "sampled"
        notes = (f"two runs of {describe(sanitizer)} on the same table differ: sampled",)
    if method == "sampled":
        measurement = measure_by_runs(
            table, sanitizer, model, distances, rows, runs=test.runs,
            confidence=test.confidence, seed=test.seed, jobs=test.jobs, progress=test.progress,
        )  # fmt: skip
        return method, replace(measurement, notes=(*measurement.notes, *notes))
    if method == "leave-one-out":
        beliefs = _leave_one_out(test, rows)
    else:
        if isinstance(sanitizer, NoisySanitizer):
            sanitizer, model = _without_noise(table, sanitizer, model)
        beliefs = refit(table, sanitizer, model, rows, jobs=test.jobs, progress=test.progress)
    _check_beliefs(test, beliefs)
    columns = from_beliefs(distances, beliefs.with_record, beliefs.without)
    classes = table.sensitive.codes[beliefs.rows]
    return method, Measurement(beliefs, columns, classes, table.sensitive.values)


def _leave_one_out(test: Test, rows: NDArray[np.intp]) -> Beliefs:
    if not isinstance(test.sanitizer, Mondrian):
        raise InternalError("leave-one-out was chosen for a sanitizer that it does not know")
    if isinstance(test.model, NaiveBayes | Frequency):  # these need only counts
        return leave_one_out(
            test.table, test.sanitizer, test.model, rows, jobs=test.jobs, progress=test.progress
        )
    return refit(
        test.table, test.sanitizer, test.model, rows, jobs=test.jobs, progress=test.progress,
        source=Handout,
    )  # fmt: skip


def _repeats(table: Table, oracle: Sanitizer, model: Model, rows: NDArray[np.intp]) -> bool:
    """Tell whether two calls on the same table lead to the same beliefs."""
    targets = table.take(rows)
    first, second = (model.beliefs(oracle.sanitize(table), targets) for _ in range(2))
    return bool(np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True))


def _without_noise(
    table: Table, sanitizer: NoisySanitizer, model: Model
) -> tuple[Sanitizer, Model]:
    """Return a mechanism at ε = ∞ on fixed cells; a value that nobody holds then has no weight."""
    domains = {k: v for k, v in sanitizer.domains.items() if k != table.sensitive.name}
    plain = replace(sanitizer, domains=domains)
    smoothed = SmoothedFrequency() if isinstance(model, Frequency) else model
    return OnGrid(plain, plain.grid(table)), smoothed


def check_testable(table: Table) -> None:
    """Refuse tables on which the test says nothing."""
    if len(table) < 2:
        raise UserError(
            f"the differential test needs at least 2 records; the table has {len(table)}. "
            "Add records."
        )
    held = int((table.sensitive.counts > 0).sum())
    if held < 2:
        raise UserError(
            f"a sensitive attribute needs at least 2 values; {table.sensitive.name!r} has {held}, "
            "so nothing can be learned about it. Choose another column."
        )


def as_rows(table: Table, targets: Iterable[int] | None) -> NDArray[np.intp]:
    """Translate record numbers (positions in the input) to rows of the table."""
    if targets is None:
        return np.arange(len(table), dtype=np.intp)
    wanted = np.unique(np.fromiter((int(t) for t in targets), np.int64))
    if not len(wanted):
        raise UserError("targets names no record; leave it out to test all of them.")
    place = np.searchsorted(table.records, wanted)
    found = (place < len(table)) & (table.records[np.minimum(place, len(table) - 1)] == wanted)
    if not found.all():
        stray = int(wanted[~found][0])
        raise UserError(
            f"targets are record numbers from 0 to {int(table.records[-1]):,} that were not "
            f"dropped; got {stray:,}."
        )
    return place.astype(np.intp)


def _check_beliefs(test: Test, beliefs: Beliefs) -> None:
    for held in (beliefs.with_record, beliefs.without):
        if not (np.abs(held.sum(axis=1) - 1) < 1e-6).all():  # NaN is not below it either
            stray = int(np.flatnonzero(~(np.abs(held.sum(axis=1) - 1) < 1e-6))[0])
            raise UserError(
                "a belief must be probabilities that sum to 1; "
                f"{describe(test.model)} gave {held[stray].tolist()} for record "
                f"{int(test.table.records[beliefs.rows[stray]]):,}. Check the model and its prior."
            )


def _result(
    test: Test, measurement: Measurement, name: str, method: str, requested: int, seconds: float
) -> DifferentialResult:
    table, beliefs, column = test.table, measurement.beliefs, measurement.columns[name]
    exactness: Exactness = "exact" if len(beliefs.rows) == len(table) else "lower-bound"
    sampled = column.run_distances is not None
    return DifferentialResult(
        distances=column.distances,
        beliefs=beliefs.with_record,
        beliefs_without=beliefs.without,
        records=table.records[beliefs.rows],
        classes=measurement.classes,
        sensitive_name=table.sensitive.name,
        sensitive_values=measurement.sensitive_values,
        sanitizer=describe(test.sanitizer),
        model=describe(test.model),
        distance=name,
        method=method,
        exactness="estimate" if sampled else exactness,
        table_size=len(table),
        fingerprint=table.fingerprint,
        constraint_met=beliefs.constraint_met,
        generalized_without=int(beliefs.generalized.sum()),
        uncovered=int(beliefs.uncovered.sum()),
        uncovered_without=int(beliefs.uncovered_without.sum()),
        dropped=table.dropped,
        requested=requested,
        seed=test.seed,
        seconds=seconds,
        backend=table.backend,
        notes=(*table.notes, *test.notes, *measurement.notes, *column.notes),
        lower=column.lower,
        upper=column.upper,
        run_distances=column.run_distances,
        confidence=test.confidence if sampled else None,
        runs=test.runs if sampled else None,
        largest=column.largest,
    )


def describe(part: object) -> str:
    """Name a sanitizer or model as the command line does."""
    named = type(part).__str__ is not object.__str__ and "<" not in str(part)
    return str(part) if named else type(part).__name__.lower()
