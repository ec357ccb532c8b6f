"""differential_test: choose the path, run it, measure the distances."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from indiff.differential.leave_one_out import leave_one_out
from indiff.differential.refit import Beliefs, Progress, refit
from indiff.differential.result import DifferentialResult, Exactness
from indiff.distances import DEFAULT, Distance, as_distance
from indiff.errors import UserError, unknown
from indiff.inference import Frequency, Model, NaiveBayes, as_model
from indiff.sanitizers.mondrian import Mondrian
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.table import Table

Method = Literal["auto", "leave-one-out", "refit"]
METHODS = ("auto", "leave-one-out", "refit")


def differential_test(
    table: Table,
    sanitizer: Any,
    *,
    model: str | Model = "naive-bayes",
    distance: str | Distance | Sequence[str | Distance] = DEFAULT,
    targets: Iterable[int] | None = None,
    method: Method = "auto",
    jobs: int = -1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Any:
    """Measure how far each record moves an adversary's belief about it (DIT v2, Section 3.2).

    ``sanitizer`` is a name (``"mondrian:k=5"``), a sanitizer, any function from frame to frame,
    or a list of these; ``targets`` are record numbers (all by default); ``distance`` is a name, a
    function, or a list of them. Returns a :class:`DifferentialResult`; a list of sanitizers gives
    a list, several distances a mapping from their names, several sensitive attributes a mapping
    from theirs.

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
    if isinstance(sanitizer, Sequence) and not isinstance(sanitizer, str):
        return [
            differential_test(
                table, one, model=model, distance=distance, targets=targets, method=method,
                jobs=jobs, seed=seed, progress=progress,
            )
            for one in sanitizer
        ]  # fmt: skip
    if len(table.sensitives) > 1:
        return {
            s.name: differential_test(
                table.focus(s.name), sanitizer, model=model, distance=distance, targets=targets,
                method=method, jobs=jobs, seed=seed, progress=progress,
            )
            for s in table.sensitives
        }  # fmt: skip
    several = isinstance(distance, Sequence) and not isinstance(distance, str)
    measures: Sequence[Any] = distance if several else [distance]  # type: ignore[assignment]
    wanted = [as_distance(measure) for measure in measures]
    if len({name for name, _ in wanted}) < max(1, len(wanted)):
        raise UserError(
            "distances need names of their own; got "
            f"{', '.join(name for name, _ in wanted) or 'none'}. Define a function for each."
        )
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise UserError(f"jobs is a number of processes, or -1 for all cores; got {jobs!r}.")
    chosen, adversary = as_sanitizer(sanitizer), as_model(model)
    check_testable(table)
    rows = as_rows(table, targets)
    start = time.perf_counter()
    path, beliefs = _run(table, chosen, adversary, rows, method, jobs, progress)
    seconds = time.perf_counter() - start
    everybody = len(beliefs.rows) == len(table)
    results = {
        name: _result(table, chosen, adversary, beliefs, name, function, path,
                      "exact" if everybody else "lower-bound", len(rows), seed, seconds)
        for name, function in wanted
    }  # fmt: skip
    return results if several else results[wanted[0][0]]


def _run(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    rows: NDArray[np.intp],
    method: str,
    jobs: int,
    progress: Progress | None,
) -> tuple[str, Beliefs]:
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if isinstance(sanitizer, Mondrian) and isinstance(model, NaiveBayes | Frequency):
        if method != "refit":
            return "leave-one-out", leave_one_out(table, sanitizer, model, rows)
    elif method == "leave-one-out":
        raise UserError(
            "method 'leave-one-out' needs Mondrian and a model that only counts (naive-bayes or "
            f"frequency); got {describe(sanitizer)} and {describe(model)}. Use method='refit'."
        )
    return "refit", refit(table, sanitizer, model, rows, jobs=jobs, progress=progress)


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


def _result(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    beliefs: Beliefs,
    name: str,
    distance: Distance,
    method: str,
    exactness: Exactness,
    requested: int,
    seed: int,
    seconds: float,
) -> DifferentialResult:
    for held in (beliefs.with_record, beliefs.without):
        if not (np.abs(held.sum(axis=1) - 1) < 1e-6).all():  # NaN is not below it either
            stray = int(np.flatnonzero(~(np.abs(held.sum(axis=1) - 1) < 1e-6))[0])
            raise UserError(
                "a belief must be probabilities that sum to 1; "
                f"{describe(model)} gave {held[stray].tolist()} for record "
                f"{int(table.records[beliefs.rows[stray]]):,}. Check the model and its prior."
            )
    distances = np.asarray(distance(beliefs.with_record, beliefs.without), np.float64)
    if distances.shape != (len(beliefs.rows),) or np.isnan(distances).any():
        raise UserError(
            f"the distance {name!r} must return one number per record; it returned shape "
            f"{distances.shape} with {int(np.isnan(distances).sum())} NaN."
        )
    return DifferentialResult(
        distances=distances,
        beliefs=beliefs.with_record,
        beliefs_without=beliefs.without,
        records=table.records[beliefs.rows],
        classes=table.sensitive.codes[beliefs.rows],
        sensitive_name=table.sensitive.name,
        sensitive_values=table.sensitive.values,
        sanitizer=describe(sanitizer),
        model=describe(model),
        distance=name,
        method=method,
        exactness=exactness,
        table_size=len(table),
        fingerprint=table.fingerprint,
        constraint_met=beliefs.constraint_met,
        generalized_without=int(beliefs.generalized.sum()),
        uncovered=int(beliefs.uncovered.sum()),
        uncovered_without=int(beliefs.uncovered_without.sum()),
        dropped=table.dropped,
        requested=requested,
        seed=seed,
        seconds=seconds,
        backend=table.backend,
        notes=table.notes,
    )


def describe(part: object) -> str:
    """Name a sanitizer or model as the command line does."""
    named = type(part).__str__ is not object.__str__ and "<" not in str(part)
    return str(part) if named else type(part).__name__.lower()
