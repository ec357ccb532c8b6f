"""differential_test: choose the path, run it, measure the distances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from indiff.data.table import Table
from indiff.differential.measure import Test, measure
from indiff.differential.method import METHODS, Method, Named, by_method, choose_model
from indiff.differential.people import describe_people, find_people
from indiff.differential.refit.calls import Calls
from indiff.differential.refit.refit import describe
from indiff.differential.refit.run import Progress
from indiff.differential.strongest import combine, each_confidence
from indiff.differential.summary import as_result
from indiff.differential.targets.choice import Deadline, Order, as_deadline, as_rows, choose_targets
from indiff.distances.functions import DEFAULT, Distance
from indiff.distances.ground import Emd, bind_distance
from indiff.errors import UserError, unknown
from indiff.inference import Frequency, Model
from indiff.inference.background import with_background
from indiff.inference.frequency import SmoothedFrequency
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.protocol import Sanitizer

__all__ = ["METHODS", "Method", "as_rows", "check_testable", "describe", "differential_test"]

BACKENDS = ("loky", "dask")


def differential_test(
    table: Table,
    sanitizer: Any,
    *,
    model: str | Model | Sequence[str | Model] | None = None,
    distance: str | Distance | Emd | Sequence[str | Distance | Emd] = DEFAULT,
    targets: Iterable[int] | int | np.integer[Any] | None = None,
    order: Order | None = None,
    individual: str | None = None,
    method: Method = "auto",
    runs: int = 100,
    confidence: float = 0.95,
    jobs: int = -1,
    backend: str = "loky",
    scheduler: str | None = None,
    retries: int = 2,
    time: float | str | Deadline | None = None,
    run: str | Path | None = None,
    seed: int = 0,
    prior: Mapping[Any, Any] | str | Path | None = None,
    known: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> Any:
    """Measure how far each record moves an adversary's belief about it (DIT v2, Section 3.2).

    ``sanitizer`` is a name (``"mondrian:k=5"``), a sanitizer, any function from frame to frame,
    or a list of these; ``distance`` is a name, a function, an ``Emd``, or a list of them.
    Returns a :class:`DifferentialResult`; a list of sanitizers gives a list, several distances a
    mapping from their names, several sensitive attributes a mapping from theirs.

    ``model`` is ``frequency`` for a noisy table or randomized response and ``naive-bayes``
    otherwise, unless given. ``method`` is chosen: ``closed-form`` or ``leave-one-out`` where they
    are exact, ``sampled`` for other randomized sanitizers and models (``runs`` of each with and
    without a record, limits that hold with ``confidence``), ``refit`` for the rest.

    A list of models gives a :class:`~indiff.differential.strongest.StrongestResult`: each one's
    result, and for each record the largest distance that any of them sees. ``prior`` and
    ``known`` are what the adversary knows beforehand (:mod:`indiff.inference.background`): the
    probability of each sensitive value, for all or for each record, and the only
    quasi-identifiers that he can look at.

    ``targets`` are record numbers, or how many; all by default. ``order`` says which come first:
    ``worst-first``, ``random`` (the default for a number,
    and where time may run out) or as ``given``. The largest distance of some of the records is a
    lower bound on δ. ``individual`` names the column whose equal values are one person: all of a
    person's records are left out at once, a belief is formed about each of them, and the largest
    distance is the person's (:mod:`indiff.differential.people`).

    Where calls are long: ``run`` is a folder in which every finished target is kept at once, so
    that the call goes on there (:mod:`~indiff.differential.refit.journal`); ``time`` (``"2h"``) is
    a budget after which no target is begun; a call that fails is made ``retries`` times more, and
    is then one of the result's ``failures``; ``backend="dask"`` makes the calls on the cluster of
    ``scheduler`` instead of in ``jobs`` processes.

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
    time = as_deadline(time)
    if isinstance(targets, np.integer):
        targets = int(targets)
    if targets is not None and not isinstance(targets, int):
        targets = list(targets)  # several tests ask for them
    options: dict[str, Any] = {
        "model": model, "distance": distance, "targets": targets, "order": order,
        "individual": individual, "method": method, "runs": runs, "confidence": confidence,
        "jobs": jobs, "backend": backend, "scheduler": scheduler, "retries": retries, "time": time,
        "seed": seed, "prior": prior, "known": known, "progress": progress,
    }  # fmt: skip
    if isinstance(sanitizer, Sequence) and not isinstance(sanitizer, str):
        return [
            differential_test(table, one, **options, run=part_of(run, "sanitizer", place))
            for place, one in enumerate(sanitizer)
        ]
    if len(table.sensitives) > 1:
        return {
            s.name: differential_test(
                table.focus(s.name), sanitizer, **options, run=part_of(run, "attribute", place)
            )
            for place, s in enumerate(table.sensitives)
        }
    if isinstance(model, Sequence) and not isinstance(model, str):
        options["confidence"] = each_confidence(confidence, len(model))
        adversaries = [choose_model(one, as_sanitizer(sanitizer)) for one in model]
        if order == "worst-first" and isinstance(targets, int):  # the same for every model
            few = choose_targets(
                table, find_people(table, individual), targets, order=order, seed=seed
            )
            options["targets"] = table.records[few.people.firsts].tolist()
        return combine(
            [describe(one) for one in adversaries],
            lambda place: differential_test(
                table,
                sanitizer,
                **{**options, "model": adversaries[place]},
                run=part_of(run, "model", place),
            ),
            confidence,
        )
    several = isinstance(distance, Sequence) and not isinstance(distance, str)
    measures: Sequence[Any] = distance if several else [distance]  # type: ignore[assignment]
    chosen = as_sanitizer(sanitizer)
    wanted = [_bind(measure, table, chosen) for measure in measures]
    if len({name for name, _ in wanted}) < max(1, len(wanted)):
        raise UserError(
            "distances need names of their own",
            ", ".join((name for name, _ in wanted)) or "none",
            "Define a function for each",
        )
    _check_numbers(jobs, seed, retries)
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    adversary = choose_model(model, chosen)
    informed = prior is not None or known is not None
    if informed and isinstance(chosen, NoisySanitizer) and isinstance(adversary, Frequency):
        adversary = SmoothedFrequency()  # how frequency reads noisy counts; here without a theorem
    adversary, notes = with_background(adversary, table, prior, known)
    notes = (*getattr(adversary, "notes", ()), *notes)
    check_testable(table)
    groups = by_method(chosen, adversary, wanted, method, (describe(chosen), describe(adversary)))
    everyone = find_people(table, individual)
    whole = cache(lambda: chosen.sanitize(table))
    test = Test(
        table=table,
        sanitizer=chosen,
        model=adversary,
        chosen=choose_targets(
            table,
            everyone,
            targets,
            order=order,
            timed=time is not None,
            seed=seed,
            release=None if chosen.randomized else whole,
            model=None if chosen.randomized else adversary,
        ),
        population=len(everyone),
        runs=runs,
        confidence=confidence,
        seed=seed,
        calls=Calls(jobs, backend, scheduler, retries, None if time is None else time.moment),
        run=None,
        progress=progress,
        notes=(*notes, *describe_people(everyone)),
        whole=whole,
    )
    results = {}
    for place, (path, measured) in enumerate(groups.items()):
        start = perf_counter()
        folder = part_of(run, "method", place) if len(groups) > 1 else run
        here = replace(test, run=None if folder is None else Path(folder))
        path, measurement = measure(here, path, measured, forced=method != "auto")
        seconds = perf_counter() - start
        for name in measurement.columns:
            results[name] = as_result(here, measurement, name, path, seconds)
    return {name: results[name] for name, _ in wanted} if several else results[wanted[0][0]]


def part_of(run: str | Path | None, what: str, place: int) -> Path | None:
    """Return the folder inside a run's folder for one of its several tests.

    >>> str(part_of("night", "model", 0)), part_of(None, "model", 0)
    ('night/model-1', None)
    """
    return None if run is None else Path(run) / f"{what}-{place + 1}"


def _check_numbers(jobs: Any, seed: Any, retries: Any) -> None:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise UserError("jobs is a number of processes, or -1 for all cores", f"{jobs!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError("seed must be a whole number of at least 0", f"{seed!r}")
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise UserError("retries must be a whole number of at least 0", f"{retries!r}")


def _bind(measure: Any, table: Table, sanitizer: Sanitizer) -> Named:
    """Name a distance, and tell one with a ground distance which values the beliefs are in."""
    grounded = isinstance(measure, Emd) or str(measure).startswith("emd:")
    if grounded and isinstance(sanitizer, NoisySanitizer):
        return bind_distance(measure, table.sensitive, sanitizer.grid(table).sensitive_values)
    return bind_distance(measure, table.sensitive)


def check_testable(table: Table) -> None:
    """Refuse tables on which the test says nothing."""
    if len(table) < 2:
        raise UserError(
            f"the differential test needs at least 2 records; the table has {len(table)}",
            way_out="Add records",
        )
    held = int((table.sensitive.counts > 0).sum())
    if held < 2:
        raise UserError(
            f"a sensitive attribute needs at least 2 values; {table.sensitive.name!r} "
            f"has {held}, so nothing can be learned about it",
            way_out="Choose another column",
        )
