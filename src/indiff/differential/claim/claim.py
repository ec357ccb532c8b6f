"""Tests a claim of differential privacy: is the ε that was observed larger than the one claimed?

Half of the calls choose whom to look at and which event tells best; the other half count it. As
the choice depends on none of the runs that are counted, the bound holds with its confidence over
everything that was tried.
"""
# ruff: noqa: PT028 - test_claim is no test of this project

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Calls, Progress
from indiff.differential.claim.bound import check_budget, epsilon_lower, most_that_runs_show
from indiff.differential.claim.events import Event, choose_event
from indiff.differential.claim.made_runs import TRUSTED, people_with_runs
from indiff.differential.claim.one_run import observe_once, one_run_lower
from indiff.differential.claim.result import NEIGHBOURS_PEOPLE, ClaimResult, Observed
from indiff.differential.claim.runs import Caller
from indiff.differential.claim.statistics import default_models
from indiff.differential.claim.targets import Order, choose_records, record_multiplicity
from indiff.differential.noise.bracket import check_confidence
from indiff.differential.people import Deadline, People, as_deadline, as_rows, find_people
from indiff.errors import UserError, check_whole
from indiff.inference import Model, as_model
from indiff.sanitizers.oracles.folder import Releases
from indiff.sanitizers.sanitizer import as_sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]

LEAST_CALLS = 40
LOOKED_AT, FEW = 20, 3  # people in the first and in the second round


class Runs(Protocol):
    """Where runs come from: a sanitizer that is called, or draws of a known law."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the statistics."""
        ...

    def look(
        self, people: People, stage: str, present: range, absent: Mapping[int, range]
    ) -> tuple[Floats, dict[int, Floats]]:
        """Return the statistics of runs with everybody, and without each of some people."""
        ...


@dataclass(frozen=True)
class Rounds:
    """How many calls each round makes: a scout, two rounds that choose, and one that counts."""

    scout: int
    first: tuple[int, int]  # with everybody; without each of the people
    second: tuple[int, int]
    count: tuple[int, int]

    @classmethod
    def of_made(cls, present: int, absent: int) -> Rounds:
        """Let one half of the runs that were made choose, and the other half count.

        >>> Rounds.of_made(101, 40)
        Rounds(scout=0, first=(50, 20), second=(0, 0), count=(51, 20))
        """
        first = present // 2, absent // 2
        return cls(0, first, (0, 0), (present - first[0], absent - first[1]))

    @classmethod
    def of(cls, calls: int, people: int, scout: bool, counted: int) -> Rounds:
        """Share out the calls: half of them choose.

        >>> Rounds.of(2000, 20, True, 1)
        Rounds(scout=20, first=(122, 18), second=(249, 83), count=(500, 500))
        """
        choosing = calls // 2
        looks = min(20, choosing // 20) if scout else 0
        left = choosing - looks
        without = max(2, left * 3 // 8 // people)
        present = max(2, left // 8)
        left -= present + without * people
        few = min(FEW, people)
        each = max(0, left // 2 // few)
        second = (max(0, left - each * few), each)
        measured = calls - choosing
        present_counted = measured // (counted + 1)
        return cls(looks, (present, without), second,
                   (present_counted, (measured - present_counted) // counted))  # fmt: skip


def observe(
    runs: Runs, people: People, rounds: Rounds, *, delta: float = 0.0, error: float = 0.05,
    counted: int = 1,
) -> tuple[list[Observed], bool]:  # fmt: skip
    """Choose people and events on some runs and count them on others; say whether all was done.

    The bounds of all that is returned hold together, with a probability of at least 1 − ``error``.
    """
    everybody = range(len(people))
    start, step = rounds.first
    whole, apart = runs.look(
        people, "first", range(start), {person: range(step) for person in everybody}
    )
    done = _are_made(whole, apart, start, step)
    present = {person: whole[person] for person in everybody}
    events = _events(runs.names, everybody, present, apart, delta)
    few = sorted(everybody, key=lambda person: -_seen(events.get(person)))[: min(FEW, len(people))]
    more, beyond = rounds.second
    if beyond:
        whole, again = runs.look(
            people, "second", range(start, start + more),
            {person: range(step, step + beyond) for person in few},
        )  # fmt: skip
        done = done and _are_made(whole, again, more, beyond)
        present = {one: np.concatenate([present[one], whole[one]]) for one in few}
        apart = {one: np.concatenate([apart[one], again[one]]) for one in few}
        events = _events(runs.names, few, present, apart, delta)
    best = sorted(few, key=lambda person: -_seen(events.get(person)))[:counted]
    chosen = {person: event for person in best if (event := events.get(person)) is not None}
    if not chosen:
        return [], done
    start, step = start + more, step + beyond
    size, other = rounds.count
    whole, apart = runs.look(
        people, "count", range(start, start + size),
        {person: range(step, step + other) for person in chosen},
    )  # fmt: skip
    found = []
    for person, event in chosen.items():
        count = event.count(whole[person], apart[person])
        share = error / len(chosen)
        bound = epsilon_lower(count, delta=delta, error=share, split=event.split)
        found.append(Observed(person, bound, event, count))
    return found, done and _are_made(whole, apart, size, other)


def _are_made(whole: Floats, apart: Mapping[int, Floats], present: int, absent: int) -> bool:
    """Tell whether all runs were made that a round asked for."""
    return whole.shape[1] == present and all(len(one) == absent for one in apart.values())


def _events(
    names: tuple[str, ...], people: Iterable[int], present: Mapping[int, Floats],
    absent: Mapping[int, Floats], delta: float,
) -> dict[int, Event]:  # fmt: skip
    found = {p: choose_event(names, present[p], absent[p], delta=delta) for p in people}
    return {person: event for person, event in found.items() if event is not None}


def _seen(event: Event | None) -> float:
    return -1.0 if event is None else event.seen


def test_claim(
    table: Table,
    sanitizer: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    calls: int = 2000,
    canaries: int | None = None,
    targets: Iterable[int] | int | None = None,
    order: Order = "worst-first",
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
) -> ClaimResult:
    """Bound from below the ε of a randomized sanitizer, and compare it with the one claimed.

    ``calls`` releases are made, half of the whole table and half without one of a few ``targets``
    (record numbers, or how many to look at; 20, chosen by ``order``). The first half of the calls
    chooses the target and the event that tell best, from many statistics; the second half counts
    it (Clopper–Pearson). With ``canaries`` there is one call only, of a table in which each of so
    many records is in or out by lot (:mod:`~indiff.differential.claim.one_run`). Of a folder of
    releases (:class:`~indiff.Releases`) all runs that it holds are read.

    The bound holds with ``confidence`` over everything that was tried, for neighbours by adding or
    removing one record, provided that calls are independent of each other. It is one-sided: a
    small bound does not prove a small ε. ``docs/claims.md`` says which mistakes it has caught.

    >>> import numpy as np, pyarrow as pa
    >>> from indiff import read_table
    >>> def count(frame, rng):  # says that it adds noise of scale 1, and adds hardly any
    ...     noisy = max(frame.num_rows + rng.laplace(0, 0.1), 0)
    ...     return pa.table({"age": ["*"], "ill": ["no"], "weight": [noisy]})
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> found = test_claim(table, count, epsilon=1, calls=400)
    >>> found.refuted, found.epsilon > 2
    (True, True)
    """
    if epsilon is not None:
        check_budget(epsilon, delta)
    check_budget(0.0, delta)
    check_confidence(confidence)
    check_whole("seed", seed, 0)
    check_whole("calls", calls, LEAST_CALLS, "Use 2,000: few runs refute little")
    deadline = as_deadline(time)
    start, chosen = perf_counter(), as_sanitizer(sanitizer)
    caller = Caller(
        table, chosen, as_models(model), seed,
        Calls(jobs, backend, scheduler, retries, None if deadline is None else deadline.moment),
        None if run is None else Path(run), progress, calls if canaries is None else 1,
    )  # fmt: skip
    result = ClaimResult(
        table.sensitive.name, describe(chosen), 0.0, epsilon, delta, confidence,
        "runs" if canaries is None else "one-run", 0, caller.total, 0, len(table), 0.0,
        caller.names, seed=seed,
    )  # fmt: skip
    if canaries is not None:
        result = _by_one_run(result, caller, canaries, order)
    elif isinstance(chosen, Releases):
        result = _by_made_runs(result, caller, chosen, targets, individual)
    else:
        result = _by_runs(result, caller, targets, order, individual)
    return replace(
        result, calls=caller.done, requested=caller.total, interrupted=caller.interrupted,
        out_of_time=caller.calls.is_over and caller.done < caller.total and not result.complete,
        failures=tuple(caller.failures.values()), seconds=perf_counter() - start,
    )  # fmt: skip


def as_models(model: str | Model | Sequence[str | Model] | None) -> tuple[Model, ...]:
    """Return the models whose beliefs are looked at."""
    if model is None or model == "auto" or model == ["auto"]:
        return default_models()
    several = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    return tuple(map(as_model, several))


def _by_one_run(result: ClaimResult, caller: Caller, canaries: int, order: Order) -> ClaimResult:
    table = caller.table
    if isinstance(caller.sanitizer, Releases):
        raise UserError(
            "canaries are put into the table or left out by lot before a release is made; those of "
            f"{describe(caller.sanitizer)} are there already",
            way_out="Leave them out",
            field="canaries",
        )
    check_whole("canaries", canaries, 10, "Use 100 or more: each is one guess at most")
    rows = choose_records(table, min(canaries, len(table) - 2), order=order, seed=caller.seed)
    error = 1 - result.confidence
    bound, guesses, hidden = observe_once(caller, rows, delta=result.delta, error=error)
    most = one_run_lower(hidden, hidden, hidden, delta=result.delta, error=error)
    return replace(
        result, epsilon=bound, guesses=guesses, records=len(rows), most=most,
        complete=guesses is not None,
    )  # fmt: skip


def _by_runs(
    result: ClaimResult, caller: Caller, targets: Iterable[int] | int | None, order: Order,
    individual: str | None,
) -> ClaimResult:  # fmt: skip
    table, calls = caller.table, caller.total
    everyone = find_people(table, individual)
    number = LOOKED_AT if targets is None else targets
    if isinstance(number, int):
        check_whole("targets", number, 1)
        number = min(number, max(calls // 20, 1), len(everyone))
    scouting = isinstance(number, int) and order == "worst-first"
    rounds = Rounds.of(calls, number if isinstance(number, int) else 1, scouting, 1)
    copied = caller.copies(rounds.scout) if rounds.scout else None
    if copied is not None:
        held = record_multiplicity(table)
        copied = np.where(held == 1, copied, 0.0)
    rows = choose_records(table, number, order=order, seed=caller.seed, copied=copied)
    people = people_with(everyone, rows)
    if not isinstance(number, int):
        rounds = Rounds.of(calls, len(people), False, 1)
    return _counted(result, caller, people, rounds, individual)


def _by_made_runs(
    result: ClaimResult, caller: Caller, folder: Releases,
    targets: Iterable[int] | int | None, individual: str | None,
) -> ClaimResult:  # fmt: skip
    """Observe the runs that a folder holds, without the people who have such runs."""
    table, everyone = caller.table, find_people(caller.table, individual)
    number = targets if isinstance(targets, int) else None
    if targets is not None and number is None:
        everyone = people_with(everyone, as_rows(table, list(targets)))  # type: ignore[arg-type]
    people, present, absent = people_with_runs(
        folder, table, everyone, least=LEAST_CALLS // 2, most=number
    )
    rounds = Rounds.of_made(present, absent)
    caller.total = present + len(people) * rounds.first[1] + rounds.count[1]
    found = _counted(result, caller, people, rounds, individual)
    return replace(found, notes=(*found.notes, TRUSTED))


def _counted(
    result: ClaimResult, caller: Caller, people: People, rounds: Rounds, individual: str | None
) -> ClaimResult:
    """Observe these people, and put what was found into the result."""
    table = caller.table
    error, done = 1 - result.confidence, False
    found: list[Observed] = []
    if not caller.stopped:
        found, done = observe(caller, people, rounds, delta=result.delta, error=error)
    records = table.records[people.firsts]
    named = tuple(replace(one, record=int(records[one.person])) for one in found)
    notes = (
        () if found or not done else ("no event was more frequent on one side: nothing counted",)
    )
    return replace(
        result, epsilon=max((one.epsilon for one in found), default=0.0), observed=named,
        records=len(people), most=most_that_runs_show(*rounds.count, error=error),
        complete=done and not caller.interrupted,
        neighbours=result.neighbours if individual is None else NEIGHBOURS_PEOPLE, notes=notes,
    )  # fmt: skip


def people_with(everyone: People, rows: NDArray[np.intp]) -> People:
    """Return the people who have these rows, in the order of the rows."""
    owner = np.empty(len(everyone.rows), np.intp)
    owner[everyone.rows] = everyone.owners
    return everyone.choose(np.array(list(dict.fromkeys(owner[rows].tolist())), np.intp))
