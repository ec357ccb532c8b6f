"""Runs the differential test of DIT v2, Section 3.2, step by step.

1. Choose records of D: :func:`~indiff.differential.people.choose_targets`.
2. Sanitize D, and D without the record; fit the model 𝒜 to each release.
3. and 4. Believe: ask both models about the record.
5. Measure how far the two beliefs are apart.
6. Do so for every record: ``path.measure`` does Steps 2 to 5 for all of them. The plain procedure
   is :mod:`~indiff.differential.refit.refit`; other paths arrive at the same numbers faster, or
   estimate them for what is random (:data:`PATHS`).
7. Sum up, δ first: :func:`~indiff.differential.summary.sum_up`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path as Folder
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Calls, Progress
from indiff.differential.leave_one_out import LeaveOneOut
from indiff.differential.memory import check_memory
from indiff.differential.noise.path import ClosedForm, Sampled
from indiff.differential.path import Asked, Beside, Named, Path, Test, part_of
from indiff.differential.people import (
    Deadline,
    Order,
    as_deadline,
    as_rows,
    choose_targets,
    describe_people,
    find_people,
)
from indiff.differential.refit.refit import Refit
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import Adversaries, StrongestResult, choose_models, strongest
from indiff.differential.summary import sum_up
from indiff.differential.targets.worst_first import rank
from indiff.differential.together.path import TogetherPath
from indiff.differential.together.sanitizer import Together, together_of
from indiff.distances.functions import DEFAULT, Distance, Emd, as_emd, bind_distance
from indiff.errors import UserError, check_whole, option, unknown
from indiff.inference import Frequency, Model
from indiff.inference.background import with_background
from indiff.inference.models import SmoothedFrequency
from indiff.sanitizers.noise.mechanisms import CellMechanism, NoisySanitizer
from indiff.sanitizers.perturbation.perturbed import Perturbed
from indiff.sanitizers.sanitizer import Sanitizer, as_sanitizer
from indiff.text import describe

__all__ = ["as_rows", "check_testable", "describe", "differential_test", "part_of"]

# From the exact ones to the one that is right for anything: a path of one's own goes here.
PATHS: tuple[Path, ...] = (LeaveOneOut(), ClosedForm(), Refit(), Sampled())
METHODS = ("auto", *(path.name for path in PATHS))


def differential_test(
    table: Table | Sequence[Table],
    sanitizer: Any,
    *,
    model: str | Model | Sequence[str | Model] | None = None,
    distance: str | Distance | Emd | Sequence[str | Distance | Emd] = DEFAULT,
    targets: Iterable[int] | int | np.integer[Any] | None = None,
    order: Order | None = None,
    individual: str | None = None,
    method: str = "auto",
    runs: int = 100,
    confidence: float = 0.95,
    jobs: int = -1,
    backend: str = "loky",
    scheduler: str | None = None,
    retries: int = 2,
    time: float | str | Deadline | None = None,
    run: str | Folder | None = None,
    seed: int = 0,
    prior: Mapping[Any, Any] | str | Folder | None = None,
    known: Sequence[str] | str | None = None,
    progress: Progress | None = None,
    together: bool = False,
    beside: Beside | None = None,
) -> Any:
    """Measure how far each record moves an adversary's belief about it (DIT v2, Section 3.2).

    ``sanitizer`` is a name (``"mondrian:k=5"``), a sanitizer, any function from frame to frame,
    or a list of these; ``distance`` is a name, a function, an ``Emd``, or a list of them.
    Returns a :class:`DifferentialResult`, for several models the strongest of them; a list of
    sanitizers gives a list, several distances a mapping from their names, several sensitive
    attributes a mapping from theirs.

    Unless ``model`` is given, it is ``frequency`` for a noisy table or randomized response, and
    otherwise the strongest of ``naive-bayes``, ``frequency`` and, where Mondrian's exact walk feeds
    it from counts and the table is not large, ``tree``
    (:func:`~indiff.differential.strongest.choose_models`).
    ``method`` is chosen: ``closed-form`` or ``leave-one-out`` where they are exact, ``sampled`` for
    other randomized sanitizers and models (``runs`` of each with and without a record, limits that
    hold with ``confidence``), ``refit`` for the rest.

    Several models give a :class:`~indiff.differential.strongest.StrongestResult`: each one's
    result, and for each record the largest distance that any of them sees, with the beliefs of
    that model. ``prior`` and
    ``known`` are what the adversary knows beforehand (:mod:`indiff.inference.background`): the
    probability of each sensitive value, for all or for each record, and the only
    quasi-identifiers that he can look at.

    ``targets`` are record numbers, or how many; all by default. The result has record numbers'
    distances in the order given, each record once. ``order`` says which come first:
    ``worst-first``, ``random`` (the default for a number,
    and where time may run out) or as ``given``. The largest distance of some of the records is a
    lower bound on δ. ``individual`` names the column whose equal values are one person: all of a
    person's records are left out at once, a belief is formed about each of them, and the largest
    distance is the person's (:mod:`indiff.differential.people`).

    Where calls are long: ``run`` is a folder in which every finished target is kept at once, so
    that the call goes on there (:mod:`~indiff.differential.calls.journal`); ``time`` (``"2h"``) is
    a budget after which no target is begun; a call that fails is made ``retries`` times more, and
    is then one of the result's ``failures``; ``backend="dask"`` makes the calls on the cluster of
    ``scheduler`` instead of in ``jobs`` processes.

    With ``together=True`` one adversary reads the releases of all the sanitizers, and i is left out
    of all of them: belief ∝ prior · Π belief_r / prior_r (:mod:`indiff.differential.together.rule`;
    ``docs/several-releases.md``). ``table`` may then be a list, a table for each sanitizer, of
    other quasi-identifiers or another year: records are matched by ``individual``, or else by their
    numbers, and those of the first table are tested.

    Calls that ask one model each may share an exact walk: give all the same ``beside``, which
    names their models.

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
    if isinstance(targets, np.integer):
        targets = int(targets)
    if targets is not None and not isinstance(targets, int):
        targets = list(targets)  # several tests ask for them
    check_whole("seed", seed, 0)
    deadline = as_deadline(time)
    moment = None if deadline is None else deadline.moment
    asked = Asked(
        model=model, distance=distance, targets=targets, order=order, individual=individual,
        method=method, runs=runs, confidence=confidence, seed=seed, prior=prior, known=known,
        calls=Calls(jobs, backend, scheduler, retries, moment),
        run=None if run is None else Folder(run), progress=progress, beside=beside or Beside(),
    )  # fmt: skip
    tables = [table] if isinstance(table, Table) else list(table)
    if together:
        sanitizer = together_of(None if isinstance(table, Table) else tables, sanitizer)
    elif tables != [table]:
        rule = "a test is about one table, unless several are read together"
        way_out = f"Use {option('together', True)}"
        raise UserError(rule, f"{len(tables)} tables", way_out, field="together")
    return _each_sanitizer(tables[0], sanitizer, asked)


def choose_path(sanitizer: Sanitizer, model: Model, distance: Named, method: str) -> Path:
    """Return the path that measures one distance; a method that was named is that or refused.

    >>> from indiff.distances.functions import tv, wasserstein
    >>> from indiff.inference import Frequency
    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> [choose_path(Laplace(0.5), Frequency(), named, "auto").name
    ...  for named in (("wasserstein", wasserstein), ("tv", tv))]
    ['closed-form', 'sampled']
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS, field="method")
    if isinstance(sanitizer, Together):
        if method == "auto":
            return TogetherPath(choose_path)
        raise UserError("releases that are tested together choose their methods", method,
                        "Leave it out", field="method")  # fmt: skip
    for path in PATHS:
        if method in ("auto", path.name):
            obstacle = path.obstacle(sanitizer, model, distance)
            if obstacle is None:
                return path
            if method != "auto":
                raise obstacle
    raise AssertionError("nothing stands against runs")


def _test(
    table: Table, sanitizer: Sanitizer, model: Model, asked: Asked
) -> dict[str, DifferentialResult]:
    """Test one sanitizer f against one model 𝒜, for one or several distances, by their names."""
    distances = _named_distances(table, sanitizer, asked)
    model, notes = _with_knowledge(table, sanitizer, model, asked)
    check_testable(table)
    paths: dict[Path, list[Named]] = {}
    for distance in distances:
        path = choose_path(sanitizer, model, distance, asked.method)
        paths.setdefault(path, []).append(distance)
    test = _choose_targets(table, sanitizer, model, notes, asked)
    check_memory(len(test.chosen.people.rows), len(table.sensitive.values))
    results: dict[str, DifferentialResult] = {}
    for place, (path, measured) in enumerate(paths.items()):
        start = perf_counter()
        here = replace(test, run=part_of(test.run, "method", place)) if len(paths) > 1 else test
        measurement = path.measure(here, measured)
        seconds = perf_counter() - start
        results |= {name: sum_up(here, measurement, name, seconds) for name, _ in measured}
    return {name: results[name] for name, _ in distances}


def _choose_targets(
    table: Table, sanitizer: Sanitizer, model: Model, notes: tuple[str, ...], asked: Asked
) -> Test:
    """Choose whom to test, and in which order."""
    everyone = find_people(table, asked.individual)
    left = sanitizer.notes(table) if isinstance(sanitizer, Perturbed) else ()
    whole = cache(lambda: sanitizer.sanitize(table))

    def exposed() -> NDArray[np.intp]:
        """Rank the rows; what is not random has a release that tells more about them."""
        if sanitizer.randomized or isinstance(sanitizer, Together):
            return rank(table, seed=asked.seed)
        return rank(table, seed=asked.seed, release=whole(), model=model)

    timed = asked.calls.deadline is not None
    chosen = choose_targets(
        table, everyone, asked.targets, order=asked.order, timed=timed, seed=asked.seed,
        rank=exposed,
    )  # fmt: skip
    return Test(
        **{**vars(asked), "model": model}, table=table, sanitizer=sanitizer, chosen=chosen,
        population=len(everyone), notes=(*notes, *describe_people(everyone), *left), whole=whole,
    )  # fmt: skip


def _named_distances(table: Table, sanitizer: Sanitizer, asked: Asked) -> list[Named]:
    """Name the distances, and tell those with a ground distance the values of the beliefs."""
    noisy = sanitizer if isinstance(sanitizer, CellMechanism) else None
    found = []
    for distance in asked.distance if _several(asked.distance) else [asked.distance]:
        emd = as_emd(distance)
        values = None if emd is None or noisy is None else noisy.grid(table).sensitive_values
        found.append(bind_distance(emd or distance, table.sensitive, values))
    names = [name for name, _ in found]
    if not names or len(set(names)) < len(names):
        raise UserError(
            "distances need names of their own",
            ", ".join(names) or "none",
            "Define a function for each",
            field="distance",
        )
    return found


def _with_knowledge(
    table: Table, sanitizer: Sanitizer, model: Model, asked: Asked
) -> tuple[Model, tuple[str, ...]]:
    """Give the adversary what he knows beforehand, and say so."""
    notes: tuple[str, ...] = ()
    if asked.prior is not None or asked.known is not None:
        if isinstance(sanitizer, NoisySanitizer) and isinstance(model, Frequency):
            model = SmoothedFrequency()  # how frequency reads noisy counts; here without a theorem
        prior = None if isinstance(sanitizer, Together) else asked.prior  # there, it is asked for
        model, notes = with_background(model, table, prior, asked.known)
    return model, (*getattr(model, "notes", ()), *notes)


def _each_sanitizer(table: Table, sanitizer: Any, asked: Asked) -> Any:
    if _several(sanitizer):
        return [
            _each_sanitizer(table, one, asked.part("sanitizer", place, len(sanitizer)))
            for place, one in enumerate(sanitizer)
        ]
    chosen = as_sanitizer(sanitizer)
    if len(table.sensitives) < 2:
        return _each_model(table, chosen, asked)
    names = [sensitive.name for sensitive in table.sensitives]
    return {
        name: _each_model(table.focus(name), chosen, asked.part("attribute", place, len(names)))
        for place, name in enumerate(names)
    }


def _each_model(table: Table, sanitizer: Sanitizer, asked: Asked) -> Any:
    chosen = choose_models(
        asked.model, sanitizer, table, targets=asked.targets, individual=asked.individual,
        method=asked.method,
    )  # fmt: skip
    found: Mapping[str, DifferentialResult | StrongestResult]
    if len(chosen.models) == 1 and not _several(asked.model):
        found = _test(table, sanitizer, chosen.models[0], asked)
    else:
        found = _strongest(table, sanitizer, chosen, asked)
    return found if _several(asked.distance) else next(iter(found.values()))


def _strongest(
    table: Table, sanitizer: Sanitizer, chosen: Adversaries, asked: Asked
) -> dict[str, StrongestResult]:
    """Test against each of several models, and put their results together."""
    names = [describe(one) for one in chosen.models]
    if len(set(names)) < len(names):
        raise UserError(
            "models need names of their own",
            ", ".join(names),
            "Name each of them once",
            field="model",
        )
    confidence = each_confidence(asked.confidence, len(names))
    each = replace(asked, confidence=confidence, beside=Beside(chosen.models))
    if asked.order == "worst-first" and isinstance(asked.targets, int):  # the same for every model
        everyone = find_people(table, asked.individual)
        blind = partial(rank, table, seed=asked.seed)
        few = choose_targets(table, everyone, asked.targets, order=asked.order, rank=blind)
        each = replace(each, targets=table.records[few.people.firsts].tolist())
    found: dict[str, dict[str, DifferentialResult]] = {}
    for place, (name, model) in enumerate(zip(names, chosen.models, strict=True)):
        found[name] = _test(table, sanitizer, model, each.part("model", place, len(names)))
        if any(one.interrupted or one.out_of_time for one in found[name].values()):
            break  # whoever interrupts one model does not ask for the next
    untried = tuple(names[len(found) :])
    return {
        distance: strongest(
            {name: results[distance] for name, results in found.items()},
            asked.confidence,
            untried,
            chosen.left_out,
        )
        for distance in found[names[0]]
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


def _several(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


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
            field="sensitive",
        )
