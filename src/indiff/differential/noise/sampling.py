"""Measures by R runs with and R runs without each person: an honest bracket per record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking, attempt
from indiff.differential.noise.bracket import (
    bracket,
    check_confidence,
    check_runs,
    indistinguishable_from_noise,
    mean_limits,
)
from indiff.differential.noise.runs import CellRuns, Floats, Pairs, TableRuns, find_cases
from indiff.differential.path import Beliefs, Changes, Column, Failures, Measurement, Named, Test
from indiff.differential.people import People, distinct_people, each_record
from indiff.distances.functions import DISTANCES, largest_distance
from indiff.errors import Message, UserError, check_whole, marked
from indiff.inference import Frequency
from indiff.inference.models import SmoothedFrequency
from indiff.release.unmeasured import Unmeasured
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import (
    CellMechanism,
    NoisySanitizer,
    OnGrid,
    RandomizedResponse,
)

TIES = 1e-12  # beliefs that differ by no more share the first place
SMOOTHED = (
    "frequency reads every count of a noisy table as 1 + max(0, count + noise) and every count "
    "of answers as 1 + count (DIT v2, Eqs. 2 to 4)"
)


@dataclass(frozen=True, eq=False)
class Source:
    """Where runs come from, and about whom: ``back`` says which distinct person each one is."""

    source: Any
    distinct: People
    back: NDArray[np.intp]
    names: NDArray[np.int64]
    classes: NDArray[np.int32]
    values: tuple[Any, ...]
    uncovered: NDArray[np.bool_]
    constraint_met: bool | None
    unmeasured: tuple[Unmeasured, ...] = ()
    notes: tuple[str, ...] = ()


def measure_by_runs(
    test: Test, distances: Sequence[Named], people: People, asking: Asking
) -> Measurement:
    """Measure any sanitizer and model from R runs with and R runs without each person."""
    way_out = "Use 100 or more: the interval narrows with the number of runs"
    check_whole("runs", test.runs, 2, way_out)
    check_confidence(test.confidence)
    return measure_source(test, distances, people, asking, _source_of(test, people))


def _source_of(test: Test, people: People) -> Source:
    """Choose runs of single cells where the model reads no more, and else of the whole table."""
    table, sanitizer, model = test.table, test.sanitizer, test.model
    classes, values = table.sensitive.codes[people.rows], table.sensitive.values
    notes: tuple[str, ...] = ()
    mechanism, reads_one_cell = sanitizer, False
    if isinstance(sanitizer, CellMechanism):
        grid = sanitizer.grid(table)
        classes, values = grid.classes(table)[people.rows], grid.sensitive_values
        notes = (*grid_notes(grid), *answers_notes(sanitizer))
        mechanism = OnGrid(sanitizer, grid)
        if isinstance(sanitizer, NoisySanitizer) and isinstance(model, Frequency):
            notes, model = (*notes, SMOOTHED), SmoothedFrequency()
            reads_one_cell = people.are_records
    if isinstance(sanitizer, NoisySanitizer) and reads_one_cell:
        cases = find_cases(table, grid, people.rows)
        cells = CellRuns(sanitizer, cases, test.runs, test.seed)
        distinct = each_record(people.rows[np.unique(cases.back, return_index=True)[1]])
        nobody = np.zeros(len(cells), np.bool_)
        return Source(
            cells, distinct, cases.back, cases.first, classes, values, nobody, None, (), notes
        )
    chosen, back = distinct_people(table, people, sanitizer, model)
    distinct = people.choose(chosen)
    names = table.records[distinct.firsts]
    source = TableRuns(table, mechanism, model, distinct, test.runs, test.seed)
    whole = source.whole  # before the work is shared out
    return Source(
        source, distinct, back, names, classes, values, whole.uncovered, whole.constraint_met,
        whole.unmeasured, notes,
    )  # fmt: skip


def measure_source(
    test: Test, distances: Sequence[Named], people: People, asking: Asking, made: Source
) -> Measurement:
    """Bracket the distances of all people from the runs of a source."""
    source, distinct, back, values = made.source, made.distinct, made.back, made.values
    ask = Measure(source, tuple(distances), test.confidence, len(distinct.rows), len(values))
    samples: dict[int, list[Sampled]] = {}

    def keep(place: int, value: list[Sampled]) -> None:
        samples[place] = value
        asking.watch.distance(max(one.measured[0].estimate for one in value))

    failed, repeated = asking.collect(ask, made.names, back, ask, keep)
    known = np.isin(np.arange(len(source)), list(samples))
    finished = known[back]  # of each person
    chosen = np.flatnonzero(known)
    done = [one for place in chosen.tolist() for one in samples[place]]
    parts = distinct.choose(chosen)
    place = parts.places((np.cumsum(known) - 1)[back][finished])  # of each record among those done
    columns = {}
    for number, distance in enumerate(distances):
        measured = [one.measured[number] for one in done]
        column = _column(measured, place, distance[0], paired=source.paired)
        if measured and known.all():  # after an interruption nothing more is run
            worst = int(np.argmax([one.estimate for one in measured]))
            person = int(parts.owners[worst])
            record = worst - int(parts.starts[person])
            told = _like_noise(source, int(chosen[person]), record, test.seed, asking.calls.retries)
            column = replace(column, notes=(*told, *column.notes))
        columns[distance[0]] = replace(column, largest=largest_distance(distance, len(values)))
    rows = np.repeat(finished, people.sizes)

    def gather(one: list[Any], shape: tuple[int, ...], kind: type[Any]) -> NDArray[Any]:
        return np.array(one, kind).reshape(len(done), *shape)[place]

    beliefs = Beliefs(
        people.rows[rows],
        gather([one.present for one in done], (len(values),), np.float64),
        gather([one.absent for one in done], (len(values),), np.float64),
        made.uncovered[distinct.places(chosen)][place],
        gather([one.lost for one in done], (), np.bool_),
        gather([one.generalized for one in done], (), np.bool_),
        made.constraint_met,
        failures=Failures.of_people(people, back, failed, repeated),
        unmeasured=made.unmeasured,
    )
    changes = Changes.from_runs(
        np.stack([one.changed for one in done])[place] if done else np.empty((0, 0)),
        place if isinstance(source, CellRuns) else None,
    )
    classes = made.classes[rows]
    return Measurement(beliefs, columns, classes, values, "sampled", made.notes, changes)


@dataclass(frozen=True)
class Measured:
    """One target's distance: a conservative estimate, its limits, and the distance of each run.

    ``wasserstein`` and ``coordinate-tv`` compare the laws of each coordinate. Their estimate is
    the upper end of the bracket, which in the mean is not below the true distance. The other
    distances are between two beliefs: their estimate is the mean over runs.
    """

    estimate: float
    lower: float
    upper: float
    each: Floats


@dataclass(frozen=True)
class Sampled:
    """What the runs say about one target: mean beliefs, and one measurement per distance.

    ``changed`` says of each run whether the prediction changes.
    """

    present: Floats
    absent: Floats
    changed: Floats
    lost: bool
    generalized: bool
    measured: tuple[Measured, ...]


@dataclass(frozen=True)
class Measure:
    """Asks for targets: makes the runs of one, and brackets the distances of its records.

    The brackets of all ``records`` hold together. It also writes the samples of one target to a
    journal, and reads them back.
    """

    source: TableRuns | CellRuns
    distances: tuple[Named, ...]
    confidence: float
    records: int
    values: int

    def __call__(self, place: int) -> list[Sampled]:
        """Return what the runs say about each record of one target."""
        return [self._sampled(pairs) for pairs in self.source.pairs(place)]

    def _sampled(self, pairs: Pairs) -> Sampled:
        present, absent = check_runs(pairs.present, pairs.absent)
        return Sampled(
            present.mean(axis=0),
            absent.mean(axis=0),
            changed(present, absent),
            pairs.lost,
            pairs.generalized,
            tuple(self._measured(distance, present, absent) for distance in self.distances),
        )

    def _measured(self, distance: Named, present: Floats, absent: Floats) -> Measured:
        name, function = distance
        each = np.asarray(function(present, absent), np.float64)
        if each.shape != (len(present),) or np.isnan(each).any():
            raise UserError(
                f"the distance {name!r} must return one number per run; it returned shape "
                f"{each.shape} with {int(np.isnan(each).sum())} NaN."
            )
        if function is DISTANCES["wasserstein"]:
            paired, sure = self.source.paired, self.confidence
            found = bracket(present, absent, paired=paired, confidence=sure, records=self.records)
            return Measured(found.upper_end, found.lower, found.upper, each)
        error = (1 - self.confidence) / self.records / 2
        largest = largest_distance(distance, present.shape[1])
        lower, upper = mean_limits(each, largest=largest, error=error)
        if function is DISTANCES["coordinate-tv"]:
            # Runs side by side that differ bound how far two laws are apart; nothing bounds it
            # from below, since equal laws may differ in every run.
            lower = 0.0
        return Measured(float(each.mean()), lower, upper, each)

    def write(self, place: int, value: Sequence[Sampled]) -> Mapping[str, Any]:
        """Return the samples as what JSON has."""
        return {
            "records": [
                {
                    "with": one.present.tolist(),
                    "without": one.absent.tolist(),
                    "changed": one.changed.tolist(),
                    "lost": one.lost,
                    "generalized": one.generalized,
                    "measured": [
                        [m.estimate, m.lower, m.upper, m.each.tolist()] for m in one.measured
                    ],
                }
                for one in value
            ]
        }

    def read(self, place: int, written: Mapping[str, Any]) -> list[Sampled]:
        """Return the samples again; refuse those of other records, runs or values."""
        found = [
            Sampled(
                np.array(one["with"], np.float64),
                np.array(one["without"], np.float64),
                np.array(one["changed"], np.float64),
                bool(one["lost"]),
                bool(one["generalized"]),
                tuple(
                    Measured(float(estimate), float(low), float(up), np.array(each, np.float64))
                    for estimate, low, up, each in one["measured"]
                ),
            )
            for one in written["records"]
        ]
        beliefs, runs = (self.values,), (self.source.runs,)
        if len(found) != self.source.size(place) or not all(
            one.present.shape == one.absent.shape == beliefs
            and len(one.measured) == len(self.distances)
            and {one.changed.shape, *(m.each.shape for m in one.measured)} == {runs}
            for one in found
        ):
            raise ValueError("samples of other records, runs or values")
        return found


def changed(present: Floats, absent: Floats) -> Floats:
    """Return for each row of two tables of beliefs the probability that the prediction differs.

    Among values that share the first place the lot decides, the same on both sides: with A and B
    those in front, the prediction stays with probability |A ∩ B| / |A ∪ B|
    (``docs/randomized.md``, "Changed predictions").
    """
    first, second = (one >= one.max(axis=1, keepdims=True) - TIES for one in (present, absent))
    both, either = (first & second).sum(axis=1), (first | second).sum(axis=1)
    return np.asarray(1 - both / either)


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


def answers_notes(sanitizer: CellMechanism) -> tuple[str, ...]:
    """Say what randomized response cannot do, however much chance there is in it."""
    if not (isinstance(sanitizer, RandomizedResponse) and sanitizer.randomized):
        return ()
    return (
        "the distances of randomized response do not fall with ε: the comparison is with a table "
        "that has one answer less, and an answer moves the shares of its cell as far when it is "
        "given at random as when it is true",
    )


def _like_noise(
    source: TableRuns | CellRuns, place: int, record: int, seed: int, retries: int
) -> list[str]:
    """Say so where the runs of the worst record cannot be told from a mere repetition.

    It is a statement about the number of runs; it lowers no distance.
    """

    def repeat(place: int) -> bool:
        pairs, again = source.pairs(place)[record], source.repeated(place, record)
        return indistinguishable_from_noise(
            pairs.present, again, pairs.absent, splits=199, seed=seed
        )

    asked = attempt(repeat, place, retries)
    if asked.failure is not None:
        return [Message(f"the largest distance could not be repeated ({marked(asked.failure)})")]
    if asked.value:
        return [f"the largest distance is indistinguishable from noise at {source.runs:,} runs"]
    return []


def _column(
    measured: Sequence[Measured], place: NDArray[np.intp], name: str, *, paired: bool
) -> Column:
    if not measured:
        empty = np.empty(0)
        return Column(empty, empty, empty, np.empty((0, 0)))
    estimates, lower, upper = np.array([(m.estimate, m.lower, m.upper) for m in measured]).T
    notes = []
    if not paired:
        notes.append(
            "runs with and without a record have no random numbers in common: the distances "
            "and the changed predictions include the noise, and the interval is wide"
        )
    if np.isinf(upper).any():
        notes.append(f"{name} has no largest value, so samples give it no upper limit")
    each = np.stack([one.each for one in measured])
    return Column(estimates[place], lower[place], upper[place], each[place], tuple(notes))
