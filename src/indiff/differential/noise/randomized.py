"""Measures randomized sanitizers and models: by the closed form, or by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking, attempt
from indiff.differential.noise.bracket import check_confidence
from indiff.differential.noise.cells import CellRuns, cell_changes, exact_noise, find_cases
from indiff.differential.noise.runs import RunSource, TableRuns, check_number_of_runs
from indiff.differential.noise.sampling import (
    Sampled,
    Settings,
    is_like_noise,
    sample,
)
from indiff.differential.path import (
    Beliefs,
    Changes,
    Column,
    Failures,
    Measurement,
    Named,
    Test,
    from_beliefs,
)
from indiff.differential.people import People, distinct_people, each_record
from indiff.distances.functions import largest_distance
from indiff.errors import Message, marked
from indiff.inference import Frequency
from indiff.inference.counting import SmoothedFrequency
from indiff.release.unmeasured import Unmeasured
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, OnGrid, RandomizedResponse


def measure_exactly(
    test: Test, sanitizer: NoisySanitizer, distances: Sequence[Named], rows: NDArray[np.intp]
) -> Measurement:
    """Measure a noisy table by its closed form; beliefs are expectations over the noise."""
    table, grid = test.table, sanitizer.grid(test.table)
    cases = find_cases(table, grid, rows)
    found = exact_noise(sanitizer, cases)
    if sanitizer.randomized:
        size = found.with_record.shape[1]
        columns = {
            distance[0]: Column(found.distances, largest=largest_distance(distance, size))
            for distance in distances
        }
    else:
        columns = from_beliefs(distances, found.with_record, found.without)
    covered = np.zeros(len(rows), np.bool_)
    return Measurement(
        Beliefs(rows, found.with_record, found.without, covered, covered, covered, None),
        columns,
        grid.classes(table)[rows],
        grid.sensitive_values,
        "closed-form",
        (*grid_notes(grid), SMOOTHED, *_answers_notes(sanitizer)),
        cell_changes(sanitizer, cases, runs=test.runs, seed=test.seed),
    )


def measure_by_runs(
    test: Test, distances: Sequence[Named], people: People, asking: Asking
) -> Measurement:
    """Measure any sanitizer and model from R runs with and R runs without each person."""
    table, sanitizer, model = test.table, test.sanitizer, test.model
    runs, confidence, seed = test.runs, test.confidence, test.seed
    check_number_of_runs(runs)
    check_confidence(confidence)
    classes, values = table.sensitive.codes[people.rows], table.sensitive.values
    notes: tuple[str, ...] = ()
    mechanism, reads_one_cell = sanitizer, False
    if isinstance(sanitizer, NoisySanitizer):
        grid = sanitizer.grid(table)
        classes, values = grid.classes(table)[people.rows], grid.sensitive_values
        notes = (*grid_notes(grid), *_answers_notes(sanitizer))
        mechanism = OnGrid(sanitizer, grid)
        if isinstance(model, Frequency):
            notes, model = (*notes, SMOOTHED), SmoothedFrequency()
            reads_one_cell = people.are_records
    source: RunSource
    if isinstance(sanitizer, NoisySanitizer) and reads_one_cell:
        cases = find_cases(table, grid, people.rows)
        source, back, names = CellRuns(sanitizer, cases, runs, seed), cases.back, cases.first
        distinct = each_record(people.rows[np.unique(back, return_index=True)[1]])
    else:
        chosen, back = distinct_people(table, people, sanitizer, model)
        distinct = people.choose(chosen)
        source = TableRuns(table, mechanism, model, distinct, runs, seed)
        whole = source.whole  # before the work is shared out
        names = table.records[distinct.firsts]
    settings = Settings(tuple(distances), confidence, records=len(distinct.rows))
    samples = sample(source, settings, asking, names=names, back=back)
    known = np.isin(np.arange(len(source)), list(samples.done))
    finished = known[back]  # of each person
    chosen = np.flatnonzero(known)
    done = [one for place in chosen.tolist() for one in samples.done[place]]
    parts = distinct.choose(chosen)
    place = parts.places((np.cumsum(known) - 1)[back][finished])  # of each record among those done
    columns = {
        distance[0]: replace(
            _column(source, done, number, chosen, parts, place, distance[0], asking, seed),
            largest=largest_distance(distance, len(values)),
        )
        for number, distance in enumerate(distances)
    }
    rows = np.repeat(finished, people.sizes)
    uncovered, met = np.zeros(len(done), np.bool_), None
    unmeasured: tuple[Unmeasured, ...] = ()
    if isinstance(source, TableRuns):
        unmeasured = whole.unmeasured
        uncovered, met = whole.uncovered[distinct.places(chosen)], whole.constraint_met
    beliefs = replace(
        _mean_beliefs(done, people.rows[rows], place, uncovered, len(values)),
        constraint_met=met,
        unmeasured=unmeasured,
        failures=Failures.of_people(people, back, samples.failed, samples.repeated),
    )
    changes = Changes.from_runs(
        np.stack([one.changed for one in done])[place] if done else np.empty((0, 0)),
        place if isinstance(source, CellRuns) else None,
    )
    return Measurement(beliefs, columns, classes[rows], values, "sampled", notes, changes)


SMOOTHED = (
    "frequency reads every count of a noisy table as 1 + max(0, count + noise) and every count "
    "of answers as 1 + count (DIT v2, Eqs. 2 to 4)"
)


def _answers_notes(sanitizer: NoisySanitizer) -> tuple[str, ...]:
    """Say what randomized response cannot do, however much chance there is in it."""
    if not (isinstance(sanitizer, RandomizedResponse) and sanitizer.randomized):
        return ()
    return (
        "the distances of randomized response do not fall with ε: the comparison is with a table "
        "that has one answer less, and an answer moves the shares of its cell as far when it is "
        "given at random as when it is true",
    )


def grid_notes(grid: Grid) -> tuple[str, ...]:
    """Say where the cells come from; no value of the table is in it."""
    notes = []
    if any(not axis.declared for axis in grid.axes):
        notes.append(
            "bins come once from the full table and are kept when a record is left out: what "
            "making them from the records tells is not measured"
        )
    for axis in grid.axes:
        if axis.fewer_than is not None:
            missing = " and one for missing values" if axis.attribute.has_missing else ""
            number = len(axis) - bool(missing)
            notes.append(
                f"{axis.attribute.name} has {number} bins instead of {axis.fewer_than}{missing}, "
                "since values tie"
            )
    return tuple(notes)


def _column(
    source: RunSource,
    done: Sequence[Sampled],
    number: int,
    chosen: NDArray[np.intp],
    parts: People,
    place: NDArray[np.intp],
    name: str,
    asking: Asking,
    seed: int,
) -> Column:
    measured = [outcome.measured[number] for outcome in done]
    if not measured:
        empty = np.empty(0)
        return Column(empty, empty, empty, np.empty((0, 0)))
    estimates = np.array([one.estimate for one in measured])
    upper = np.array([one.upper for one in measured])
    worst = int(estimates.argmax())
    notes: list[str] = []
    if len(chosen) == len(source):  # after an interruption nothing more is run
        person = int(parts.owners[worst])
        record = worst - int(parts.starts[person])
        asked = attempt(
            lambda place: is_like_noise(source, place, record, seed=seed),
            int(chosen[person]), asking.calls.retries,
        )  # fmt: skip
        if asked.failure is not None:
            why = marked(asked.failure)
            notes.append(Message(f"the largest distance could not be repeated ({why})"))
        elif asked.value:
            runs = len(measured[worst].each)
            notes.append(f"the largest distance is indistinguishable from noise at {runs:,} runs")
    if not source.paired:
        notes.append(
            "runs with and without a record have no random numbers in common: the distances "
            "and the changed predictions include the noise, and the interval is wide"
        )
    if np.isinf(upper).any():
        notes.append(f"{name} has no largest value, so samples give it no upper limit")
    return Column(
        estimates[place],
        np.array([one.lower for one in measured])[place],
        upper[place],
        np.stack([one.each for one in measured])[place],
        tuple(notes),
    )


def _mean_beliefs(
    done: Sequence[Sampled],
    rows: NDArray[np.intp],
    place: NDArray[np.intp],
    uncovered: NDArray[np.bool_],
    values: int,
) -> Beliefs:
    def gather(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.stack(parts)[place] if parts else np.empty((0, values))

    return Beliefs(
        rows,
        gather([outcome.present for outcome in done]),
        gather([outcome.absent for outcome in done]),
        uncovered[place],
        np.array([outcome.lost for outcome in done], np.bool_)[place],
        np.array([outcome.generalized for outcome in done], np.bool_)[place],
        None,
    )
