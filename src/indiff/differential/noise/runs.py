"""Runs a randomized sanitizer or model: R beliefs with a record and R without it.

Run r has the same random numbers with and without the record, wherever sanitizer and model take
them from us: common random numbers. They depend on the seed and on r, never on the order in which
targets are computed, so that one core gives what many give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.people import People, fallback, without_rows
from indiff.errors import InternalError
from indiff.inference import Frequency, Model
from indiff.inference.models import is_randomized_model
from indiff.release.unmeasured import Unmeasured, judge_columns, of_all
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import (
    NoisySanitizer,
    NoisyTable,
    OnGrid,
    RandomizedResponse,
)
from indiff.sanitizers.oracles.function import BlackBox, Oracle, SeededOracle
from indiff.sanitizers.sanitizer import Sanitizer, all_kept

Floats = NDArray[np.float64]

# The first key of a run's random numbers: the test's own pairs, the repetition for the null, or
# the answers from which changed predictions are read.
PAIRED, REPEATED, ANSWERED = 0, 1, 2


@dataclass(frozen=True)
class Pairs:
    """Beliefs about one target, runs × sensitive values, with and without its record.

    ``lost`` and ``generalized`` say that in some run without it no released record covered the
    target, or the sanitizer's constraint was not met.
    """

    present: Floats
    absent: Floats
    lost: bool = False
    generalized: bool = False


@dataclass(frozen=True)
class TableRuns:
    """Runs of any sanitizer and any model: sanitize the whole table again for every run."""

    table: Table
    sanitizer: Sanitizer
    model: Model
    people: People
    runs: int
    seed: int

    def __len__(self) -> int:
        return len(self.people)

    @property
    def paired(self) -> bool:
        """Whether run r has the same random numbers with and without the record.

        A sanitizer that ignores its generator makes the pairs independent, and the bracket wider;
        it does not make it wrong, since its upper end holds for any two runs put side by side.
        """
        model_repeats = not is_randomized_model(self.model) or hasattr(self.model, "seeded")
        # A black box that says it is random takes our numbers, but for a function without ``rng``.
        f: Any = self.sanitizer
        function = isinstance(f, Oracle) and not isinstance(f, SeededOracle)
        takes_ours = f.randomized and not function
        return model_repeats and (takes_ours or not isinstance(f, BlackBox))

    @cached_property
    def whole(self) -> Believed:
        """The R runs of the whole table, from which every target's ``present`` is read."""
        targets = self.table.take(self.people.rows)
        return self._believe(self.table, targets, PAIRED, self.sanitizer)

    def pairs(self, place: int) -> list[Pairs]:
        """Sanitize the table without the target's records, and ask the model, R times."""
        rows, first = self.people.of(place), int(self.people.starts[place])
        targets, without = self.table.take(rows), without_rows(self.table, rows)
        believed = self._believe(without, targets, PAIRED, fallback(self.sanitizer))
        return [
            Pairs(
                np.ascontiguousarray(self.whole.beliefs[:, first + record]),
                np.ascontiguousarray(believed.beliefs[:, record]),
                bool(believed.uncovered[record]),
                believed.constraint_met is False,
            )
            for record in range(len(rows))
        ]

    def size(self, place: int) -> int:
        """Return how many records the target has."""
        return len(self.people.of(place))

    def repeated(self, place: int, record: int) -> Floats:
        """Return as many runs with one of the target's records, from other random numbers."""
        target = self.table.take(self.people.of(place)[record : record + 1])
        return self._believe(self.table, target, REPEATED, self.sanitizer).beliefs[:, 0]

    def _believe(
        self, table: Table, targets: Table, purpose: int, sanitizer: Sanitizer
    ) -> Believed:
        # An oracle that says it is not randomized may be: it is called for every run.
        fixed = not sanitizer.randomized and not isinstance(sanitizer, BlackBox)
        release = sanitizer.sanitize(table) if fixed else None
        beliefs, met, columns = [], [], []
        uncovered = np.zeros(len(targets), np.bool_)
        for run in range(self.runs):
            if release is None or not fixed:
                seed = SeedSequence(self.seed, spawn_key=(purpose, run))
                release = sanitizer.sanitize(table, np.random.default_rng(seed))
            model = self._seeded_model(purpose, run)
            beliefs.append(np.asarray(model.beliefs(release, targets), np.float64))
            met.append(release.constraint_met)
            # A noisy table has a cell for everybody.
            inner = sanitizer.sanitizer if isinstance(sanitizer, OnGrid) else sanitizer
            everybody = isinstance(inner, NoisySanitizer)
            if (run == 0 or not fixed) and not everybody:
                uncovered |= ~Frequency().beliefs_and_coverage(release, targets)[1]
            if (run == 0 or not fixed) and table is self.table:
                columns.append(judge_columns(release, table))
        return Believed(np.stack(beliefs), uncovered, all_kept(met), of_all(columns))

    def _seeded_model(self, purpose: int, run: int) -> Model:
        """Return the model with this run's seed, if it is randomized and offers one."""
        make: Any = getattr(self.model, "seeded", None)
        if not is_randomized_model(self.model) or make is None:
            return self.model
        state = SeedSequence(self.seed, spawn_key=(purpose, run, 0)).generate_state(1)
        return make(int(state[0]))


@dataclass(frozen=True)
class Believed:
    """The beliefs of all runs of one table, and what happened in any of them."""

    beliefs: Floats  # runs × targets × sensitive values
    uncovered: NDArray[np.bool_]
    constraint_met: bool | None
    unmeasured: tuple[Unmeasured, ...]  # of the releases of the whole table


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


def find_cases(table: Table, grid: Grid, rows: NDArray[np.intp]) -> Cases:
    """Return the distinct cases of these rows of the table."""
    cell, counts = grid.occupied(table)
    value = grid.classes(table)
    key = cell.astype(np.int64) * len(grid.sensitive_values) + value
    wanted, back = np.unique(key[rows], return_inverse=True)
    known, first = np.unique(key, return_index=True)
    rows_of = first[np.searchsorted(known, wanted)]
    own = value[rows_of].astype(np.int64)
    return Cases(counts[cell[rows_of]], own, table.records[rows_of], back.ravel().astype(np.intp))


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
        """Return the runs of one case, with common noise."""
        counts, value = self.cases.counts[place], int(self.cases.values[place])
        without = counts - np.eye(len(counts), dtype=np.int64)[value]
        rng = self._rng(PAIRED, place)
        if isinstance(self.sanitizer, RandomizedResponse):
            others = self._answers(self.sanitizer, without, rng)
            own = self._answers(self.sanitizer, counts - without, rng)
            return [Pairs(_smooth(others + own), _smooth(others))]
        noises = self._noise(rng)
        return [Pairs(_smooth(counts + noises), _smooth(without + noises))]

    def size(self, place: int) -> int:
        """Return how many records a case stands for: one."""
        return 1

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
