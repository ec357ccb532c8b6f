"""Measures targets by their cells of a noisy table: exactly, or by runs of one cell's noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.noise import closed_form
from indiff.differential.noise.predictions import (
    answer_changes,
    change_probabilities,
    tie_changes,
)
from indiff.differential.noise.runs import PAIRED, REPEATED, Floats, Pairs
from indiff.differential.path import Changes
from indiff.errors import InternalError
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NoisyTable, RandomizedResponse


@dataclass(frozen=True)
class Cases:
    """The distinct situations of some targets: a cell's counts and the target's own value.

    ``back`` says which case each target is; ``first`` is the lowest record number in the table
    with that cell and value, the same whichever targets are asked for.
    """

    counts: NDArray[np.int64]
    values: NDArray[np.int64]
    first: NDArray[np.int64]
    back: NDArray[np.intp]

    @property
    def counts_without(self) -> NDArray[np.int64]:
        """The counts without the target's record."""
        without = self.counts.copy()
        without[np.arange(len(without)), self.values] -= 1
        return without

    def part(self, places: range) -> Cases:
        """Return some of the cases, each for a target of its own."""
        chosen = slice(places.start, places.stop)
        back = np.arange(len(places), dtype=np.intp)
        return Cases(self.counts[chosen], self.values[chosen], self.first[chosen], back)


def find_cases(table: Table, grid: Grid, rows: NDArray[np.intp]) -> Cases:
    """Return the distinct cases of these rows of the table."""
    cell, counts = grid.occupied(table)
    value = grid.classes(table)
    key = cell.astype(np.int64) * len(grid.sensitive_values) + value
    wanted, back = np.unique(key[rows], return_inverse=True)
    known, first = np.unique(key, return_index=True)
    rows_of = first[np.searchsorted(known, wanted)]
    return Cases(
        counts[cell[rows_of]],
        value[rows_of].astype(np.int64),
        table.records[rows_of],
        back.ravel().astype(np.intp),
    )


@dataclass(frozen=True)
class ExactNoise:
    """Exact distances and expected beliefs, one row per target."""

    distances: NDArray[np.float64]
    with_record: NDArray[np.float64]
    without: NDArray[np.float64]


def exact_noise(sanitizer: NoisySanitizer, cases: Cases) -> ExactNoise:
    """Return the exact distance of every target: DIT v2, Section 3.2, for 4.2.2's adversary.

    The cells are the same with and without a record; what their making from the records tells is
    not measured. ``docs/closed-form.md`` has the theorem.
    """
    distances = closed_form.distances(sanitizer, cases.counts, cases.values)
    # One call for both, since many a cell without a record is like another with it.
    both = np.concatenate([cases.counts, cases.counts_without])
    present, absent = np.split(closed_form.expected_beliefs(sanitizer, both), 2)
    return ExactNoise(distances[cases.back], present[cases.back], absent[cases.back])


def cell_changes(sanitizer: NoisySanitizer, cases: Cases, *, runs: int, seed: int) -> Changes:
    """Return how often each target's record changes the prediction.

    It is exact for noise on counts. The answers of randomized response are not independent of each
    other, so that they are drawn; without noise nothing is left to draw.
    """
    if isinstance(sanitizer, NoisyTable):
        return Changes(change_probabilities(sanitizer, cases.counts, cases.values)[cases.back])
    if not isinstance(sanitizer, RandomizedResponse):
        raise InternalError(f"no predictions for {type(sanitizer).__name__}")
    if not sanitizer.randomized:
        rows = np.arange(len(cases.values))
        return Changes(tie_changes(cases.counts_without)[rows, cases.values][cases.back])
    drawn, sources = answer_changes(sanitizer, cases.counts, cases.values, runs=runs, seed=seed)
    return Changes.from_runs(drawn[cases.back], sources[cases.back])


@dataclass(frozen=True)
class CellRuns:
    """R beliefs from noisy counts 1 + max(0, count + noise) (DIT v2, Eqs. 2 to 4), per case.

    The noise is that of the whole table's mechanism, restricted to one cell; a case's random
    numbers depend on the seed and on the case alone.
    """

    sanitizer: NoisySanitizer
    cases: Cases
    runs: int
    seed: int
    paired: bool = True

    def __len__(self) -> int:
        return len(self.cases.values)

    def pairs(self, place: int) -> list[Pairs]:
        """Return runs × sensitive values with and without the record, with common noise."""
        counts, value = self.cases.counts[place], int(self.cases.values[place])
        without = counts - np.eye(len(counts), dtype=np.int64)[value]
        rng = self._rng(PAIRED, place)
        if isinstance(self.sanitizer, RandomizedResponse):
            others = self._answers(self.sanitizer, without, rng)
            own = self._answers(self.sanitizer, counts - without, rng)
            return [Pairs(_smooth(others + own), _smooth(others))]
        noises = self._noise(rng)
        return [Pairs(_smooth(counts + noises), _smooth(without + noises))]

    def repeated(self, place: int, record: int) -> Floats:
        """Return as many runs with the record, from other random numbers."""
        counts, rng = self.cases.counts[place], self._rng(REPEATED, place)
        if isinstance(self.sanitizer, RandomizedResponse):
            return _smooth(self._answers(self.sanitizer, counts, rng))
        return _smooth(counts + self._noise(rng))

    def _rng(self, purpose: int, place: int) -> Generator:
        key = (purpose, int(self.cases.first[place]))
        return np.random.default_rng(SeedSequence(self.seed, spawn_key=key))

    def _noise(self, rng: Generator) -> Floats:
        if not isinstance(self.sanitizer, NoisyTable):
            raise InternalError(f"no runs for {type(self.sanitizer).__name__}")
        shape = (self.runs, self.cases.counts.shape[1])
        return noise.draw(self.sanitizer.kind, self.sanitizer.scale, shape, rng)

    def _answers(
        self, response: RandomizedResponse, counts: NDArray[np.int64], rng: Generator
    ) -> Floats:
        """Return how many of the records report each value, runs × values."""
        number = len(counts)
        keep = response.keep(number)
        total = np.zeros((self.runs, number))
        for value, count in enumerate(counts):
            chances = np.full(number, (1 - keep) / (number - 1))
            chances[value] = keep
            total += rng.multinomial(int(count), chances, self.runs)
        return total


def _smooth(counts: NDArray[np.float64]) -> Floats:
    clipped = 1 + np.maximum(counts, 0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))
