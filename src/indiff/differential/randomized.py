"""The two paths for randomized sanitizers and models: the closed form, and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indiff.differential.bracket import check_confidence
from indiff.differential.exact_noise import exact_noise, find_cases
from indiff.differential.measured import Column, Measurement, from_beliefs
from indiff.differential.noisy_runs import CellRuns
from indiff.differential.refit import Beliefs, Progress, identical_targets
from indiff.differential.runs import RunSource, TableRuns, check_number_of_runs, table_runs
from indiff.differential.sampling import (
    Sampled,
    Settings,
    is_like_noise,
    largest_distance,
    sample,
)
from indiff.distances import Distance
from indiff.inference import Frequency, Model
from indiff.sanitizers.grid import Grid
from indiff.sanitizers.noisy import NoisySanitizer, OnGrid
from indiff.sanitizers.protocol import Sanitizer
from indiff.table import Table

Named = tuple[str, Distance]


def measure_exactly(
    table: Table, sanitizer: NoisySanitizer, distances: Sequence[Named], rows: NDArray[np.intp]
) -> Measurement:
    """Measure a noisy table by its closed form; beliefs are expectations over the noise."""
    grid = sanitizer.grid(table)
    found = exact_noise(sanitizer, find_cases(table, grid, rows))
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
        Beliefs(rows, found.with_record, found.without, covered, covered, covered, True),
        columns,
        grid.classes(table)[rows],
        grid.sensitive_values,
        (*grid_notes(grid), SMOOTHED),
    )


def measure_by_runs(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    distances: Sequence[Named],
    rows: NDArray[np.intp],
    *,
    runs: int,
    confidence: float,
    seed: int,
    jobs: int,
    progress: Progress | None,
) -> Measurement:
    """Measure any sanitizer and model from R runs with and R runs without each record."""
    check_number_of_runs(runs)
    check_confidence(confidence)
    classes, values = table.sensitive.codes[rows], table.sensitive.values
    notes: tuple[str, ...] = ()
    mechanism = sanitizer
    if isinstance(sanitizer, NoisySanitizer):
        grid = sanitizer.grid(table)
        classes, values, notes = grid.classes(table)[rows], grid.sensitive_values, grid_notes(grid)
        mechanism = OnGrid(sanitizer, grid)
    source: RunSource
    if isinstance(sanitizer, NoisySanitizer) and isinstance(model, Frequency):
        cases = find_cases(table, grid, rows)
        source, back = CellRuns(sanitizer, cases, runs, seed), cases.back
        notes = (*notes, SMOOTHED)
    else:
        firsts, back = identical_targets(table, rows, model)
        source = table_runs(table, mechanism, model, firsts, runs=runs, seed=seed)
    settings = Settings(tuple(distances), confidence, records=len(source))
    sharing = np.bincount(back, minlength=len(source))
    outcomes = sample(source, settings, sharing=sharing, jobs=jobs, progress=progress)
    known = np.array([outcome is not None for outcome in outcomes], np.bool_)
    done = [outcome for outcome in outcomes if outcome is not None]
    keep = known[back]
    place = (np.cumsum(known) - 1)[back][keep]  # of each measured row among those done
    chosen = np.flatnonzero(known)
    columns = {
        distance[0]: replace(
            _column(source, done, number, chosen, place, distance[0], seed),
            largest=largest_distance(distance, len(values)),
        )
        for number, distance in enumerate(distances)
    }
    beliefs = _mean_beliefs(source, done, chosen, rows[keep], place, len(values))
    return Measurement(beliefs, columns, classes[keep], values, notes)


SMOOTHED = (
    "frequency reads every count of a noisy table as 1 + max(0, count + noise) and every count "
    "of answers as 1 + count (DIT v2, Eqs. 2 to 4)"
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
    place: NDArray[np.intp],
    name: str,
    seed: int,
) -> Column:
    measured = [outcome.measured[number] for outcome in done]
    if not measured:
        empty = np.empty(0)
        return Column(empty, empty, empty, np.empty((0, 0)))
    estimates = np.array([one.estimate for one in measured])
    upper = np.array([one.upper for one in measured])
    worst = int(estimates.argmax())
    notes = []
    interrupted = len(done) < len(source)  # then nothing more is run
    if not interrupted and is_like_noise(source, int(chosen[worst]), seed=seed):
        runs = len(measured[worst].each)
        notes.append(f"the largest distance is indistinguishable from noise at {runs:,} runs")
    if not source.paired:
        notes.append(
            "runs with and without a record have no random numbers in common: the distances "
            "include the noise, and the interval is wide"
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
    source: RunSource,
    done: Sequence[Sampled],
    chosen: NDArray[np.intp],
    rows: NDArray[np.intp],
    place: NDArray[np.intp],
    values: int,
) -> Beliefs:
    def gather(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.stack(parts)[place] if parts else np.empty((0, values))

    uncovered = np.zeros(len(done), np.bool_)
    met = True
    if isinstance(source, TableRuns):
        uncovered = source.uncovered[chosen]
        met = source.constraint_met
    return Beliefs(
        rows,
        gather([outcome.present for outcome in done]),
        gather([outcome.absent for outcome in done]),
        uncovered[place],
        np.array([outcome.lost for outcome in done], np.bool_)[place],
        np.array([outcome.generalized for outcome in done], np.bool_)[place],
        met,
    )
