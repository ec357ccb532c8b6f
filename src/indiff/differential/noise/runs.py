"""Runs a randomized sanitizer or model: R beliefs with a record and R without it.

Run r has the same random numbers with and without the record, wherever sanitizer and model take
them from us: common random numbers. They depend on the seed and on r, never on the order in which
targets are computed, so that one core gives what many give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.people import People, fallback, without_rows
from indiff.errors import check_whole
from indiff.inference import Model
from indiff.inference.protocol import is_randomized_model
from indiff.release.release import Release
from indiff.release.unmeasured import Unmeasured, judge_columns
from indiff.sanitizers.noise.mechanisms import OnGrid
from indiff.sanitizers.oracles.function import BlackBox, Oracle
from indiff.sanitizers.promise import all_kept
from indiff.sanitizers.protocol import Sanitizer

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


class RunSource(Protocol):
    """Where the runs of each distinct target, a person with one or more records, come from."""

    @property
    def paired(self) -> bool:
        """Whether run r has the same random numbers with and without the record."""
        ...

    def __len__(self) -> int:
        """Return the number of distinct targets."""
        ...

    def pairs(self, place: int) -> list[Pairs]:
        """Return the runs of one target, for each of its records."""
        ...

    def repeated(self, place: int, record: int) -> Floats:
        """Return as many runs with one of the target's records, from other random numbers."""
        ...


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
        """Whether the same random numbers can be given again.

        A sanitizer that ignores its generator makes the pairs independent, and the bracket wider;
        it does not make it wrong, since its upper end holds for any two runs put side by side.
        """
        model_repeats = not is_randomized_model(self.model) or hasattr(self.model, "seeded")
        # A black box that says it is random takes our numbers, but for a function without ``rng``.
        takes_ours = self.sanitizer.randomized and not isinstance(self.sanitizer, Oracle)
        return model_repeats and (takes_ours or not isinstance(self.sanitizer, BlackBox))

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

    def repeated(self, place: int, record: int) -> Floats:
        """Sanitize the whole table R times more."""
        target = self.table.take(self.people.of(place)[record : record + 1])
        return self._believe(self.table, target, REPEATED, self.sanitizer).beliefs[:, 0]

    def _believe(
        self, table: Table, targets: Table, purpose: int, sanitizer: Sanitizer
    ) -> Believed:
        # An oracle that says it is not randomized may be: it is called for every run.
        fixed = not sanitizer.randomized and not isinstance(sanitizer, BlackBox)
        release = sanitizer.sanitize(table) if fixed else None
        beliefs, met = [], []
        columns: tuple[Unmeasured, ...] = ()
        uncovered = np.zeros(len(targets), np.bool_)
        for run in range(self.runs):
            if release is None or not fixed:
                seed = SeedSequence(self.seed, spawn_key=(purpose, run))
                release = sanitizer.sanitize(table, np.random.default_rng(seed))
            model = _seeded(self.model, self.seed, purpose, run)
            beliefs.append(np.asarray(model.beliefs(release, targets), np.float64))
            met.append(release.constraint_met)
            if run == 0 or not fixed:
                uncovered |= _uncovered(sanitizer, release, targets)
            if run == 0 and table is self.table:
                columns = judge_columns(release, table)
        return Believed(np.stack(beliefs), uncovered, all_kept(met), columns)


@dataclass(frozen=True)
class Believed:
    """The beliefs of all runs of one table, and what happened in any of them."""

    beliefs: Floats  # runs × targets × sensitive values
    uncovered: NDArray[np.bool_]
    constraint_met: bool | None
    unmeasured: tuple[Unmeasured, ...]  # of the first run


def _uncovered(sanitizer: Sanitizer, release: Release, targets: Table) -> NDArray[np.bool_]:
    """Tell which targets no released record covers on all quasi-identifiers."""
    lost = np.zeros(len(targets), np.bool_)
    if isinstance(sanitizer, OnGrid):  # a grid has a cell for everybody
        return lost
    codes = [targets.attribute(column.attribute.name).codes for column in release.columns]
    distinct, back = np.unique(np.stack(codes), axis=1, return_inverse=True)
    found = np.zeros(distinct.shape[1], np.bool_)
    for place, combination in enumerate(distinct.T):
        mask = np.ones(len(release), np.bool_) if release.weights is None else release.weights > 0
        for column, code in zip(release.columns, combination, strict=True):
            mask = mask & column.covering(int(code))
        found[place] = mask.any()
    return np.asarray(~found[back.ravel()])


def _seeded(model: Model, seed: int, purpose: int, run: int) -> Model:
    """Return the model with this run's seed, if it is randomized and offers ``seeded(seed)``."""
    make: Any = getattr(model, "seeded", None)
    if not is_randomized_model(model) or make is None:
        return model
    state = SeedSequence(seed, spawn_key=(purpose, run, 0)).generate_state(1)
    return make(int(state[0]))


def check_number_of_runs(runs: int) -> None:
    """Refuse a number of runs from which nothing follows."""
    way_out = "Use 100 or more: the interval narrows with the number of runs"
    check_whole("runs", runs, 2, way_out)
