"""Says what a path to the distances is given, one test, and what it returns, a measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path as Folder
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Asking, Calls, Progress, Share, Watch
from indiff.differential.calls.identity import identity, table_identity
from indiff.differential.calls.journal import Journal
from indiff.differential.people import Chosen, Order, People
from indiff.distances.functions import Distance, largest_distance
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.models import is_randomized_model
from indiff.release.release import Release
from indiff.release.unmeasured import Unmeasured
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]
Named = tuple[str, Distance]


@dataclass(frozen=True)
class Walked:
    """What an exact walk found for one model, of one table and one sanitizer."""

    table: Table
    sanitizer: Sanitizer
    model: Model
    beliefs: Beliefs


@dataclass(frozen=True)
class Beside:
    """All models that are asked about one table, and what one exact walk has found for them."""

    models: tuple[Model, ...] = ()
    walked: list[Walked] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked of all the tests that one call makes; the folder ``run`` keeps them."""

    model: Any
    distance: Any
    targets: list[int] | int | None
    order: Order | None
    individual: str | None
    method: str
    runs: int
    confidence: float
    calls: Calls
    run: Folder | None
    seed: int
    prior: Mapping[Any, Any] | str | Folder | None
    known: Sequence[str] | str | None
    progress: Progress | None
    beside: Beside = field(default_factory=Beside)

    def part(self, what: str, place: int, parts: int) -> Asked:
        """Return the same for one of several tests: its folder, and its share of the progress."""
        share = None if self.progress is None else Share(self.progress, place, parts)
        return replace(self, run=part_of(self.run, what, place), progress=share)


@dataclass(frozen=True, kw_only=True)
class Test(Asked):
    """One test of those that were asked for: one table, sanitizer f and model 𝒜, and whom to test.

    ``whole`` gives the release of the whole table, made when it is first asked for.
    """

    __test__ = False  # pytest: no test of this project

    table: Table
    sanitizer: Sanitizer
    model: Model
    chosen: Chosen
    population: int
    notes: tuple[str, ...]
    whole: Callable[[], Release]

    @property
    def forced(self) -> bool:
        """Whether the user named the method."""
        return self.method != "auto"

    @property
    def people(self) -> People:
        """The people to test."""
        return self.chosen.people

    @contextmanager
    def asking(
        self, method: str, distances: Sequence[Named], *, beside: str = ""
    ) -> Iterator[Asking]:
        """Say how to ask for targets, with the run's folder open if there is one.

        ``beside`` tells runs apart whose limits hold for another set of people.
        """
        watch = Watch(self.progress, distances[0][1])
        asking = Asking(calls=self.calls, order=self.chosen.order, watch=watch)
        if self.run is None:
            yield asking
            return
        with Journal(self.run, self._settings(method, distances, beside)) as journal:
            yield replace(asking, journal=journal, calls=replace(self.calls, one_by_one=True))

    def _settings(self, method: str, distances: Sequence[Named], beside: str) -> dict[str, str]:
        """Say what a run depends on, in words that complete "the … is another one"."""
        settings = {
            "table": table_identity(self.table),
            "individual column": str(self.people.column),
            "sanitizer": f"{describe(self.sanitizer)} {identity(self.sanitizer)}",
            "model": f"{describe(self.model)} {identity(self.model)}",
            "seed": str(self.seed),
            "method": method + beside,
        }
        if method == "sampled":  # what is kept are distances, with limits for all targets together
            of = ", ".join(f"{name} {identity(function)}" for name, function in distances)
            settings |= {
                "number of runs": str(self.runs),
                "confidence": repr(self.confidence),
                "distance": of,
                "set of targets": identity(self.table.records[self.people.firsts]),
            }
        return settings


class Path(Protocol):
    """One way to the distances of DIT v2, Section 3.2; ``test.PATHS`` lists them all.

    A path may do Steps 2 to 5 literally (``refit``), or arrive at the same numbers by a shorter
    way that it proves.
    """

    name: ClassVar[str]

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        ...

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Sanitize with and without each target, believe, and measure how far beliefs move."""
        ...


def part_of(run: str | Folder | None, what: str, place: int) -> Folder | None:
    """Return the folder inside a run's folder for one of its several tests.

    >>> str(part_of("night", "model", 0)), part_of(None, "model", 0)
    ('night/model-1', None)
    """
    return None if run is None else Folder(run) / f"{what}-{place + 1}"


def is_random(sanitizer: Sanitizer, model: Model) -> bool:
    """Tell whether a sanitizer or a model says of itself that two calls may differ."""
    return sanitizer.randomized or is_randomized_model(model)


@dataclass(frozen=True)
class Failures:
    """Targets without an answer, by row and with the reason, and how many needed another call."""

    texts: Mapping[int, str]
    repeated: int = 0

    @staticmethod
    def of_people(
        people: People, back: NDArray[np.intp], failed: Mapping[int, str], repeated: int
    ) -> Failures:
        """Name the failed targets by each person's first row; ``back`` says who is which target."""
        texts = {
            int(row): failed[place]
            for row, place in zip(people.firsts.tolist(), back.tolist(), strict=True)
            if place in failed
        }
        return Failures(texts, repeated)


@dataclass(frozen=True)
class Beliefs:
    """Beliefs about some targets (rows of the table) with and without their records."""

    rows: NDArray[np.intp]
    with_record: Floats
    without: Floats
    uncovered: NDArray[np.bool_]
    uncovered_without: NDArray[np.bool_]
    generalized: NDArray[np.bool_]
    constraint_met: bool | None
    release: Release | None = None
    failures: Failures = Failures({})
    unmeasured: tuple[Unmeasured, ...] = ()


@dataclass(frozen=True)
class Column:
    """One distance's numbers: one row per record, with limits and single runs if sampled.

    ``largest`` is the largest value that the distance can take, where it is known.
    """

    distances: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    run_distances: Floats | None = None
    notes: tuple[str, ...] = ()
    largest: float = np.inf

    def change(self, how: Callable[[Floats], Floats]) -> Column:
        """Return the column with all of its records' numbers changed alike."""

        def some(numbers: Floats | None) -> Floats | None:
            return None if numbers is None else how(numbers)

        return replace(
            self, distances=how(self.distances), lower=some(self.lower), upper=some(self.upper),
            run_distances=some(self.run_distances),
        )  # fmt: skip


@dataclass(frozen=True)
class Changes:
    """The probability that the prediction changes, of each record.

    It is known where ``runs`` is None. Else ``runs`` has a row of runs for each record, and
    ``each`` is its mean; a row of equal numbers where ``drawn`` is False, since the probability is
    known. Run r of all records is drawn independently of the other runs; records with different
    ``sources`` are drawn independently of each other, too.
    """

    each: Floats
    runs: Floats | None = None
    drawn: NDArray[np.bool_] | None = None
    sources: NDArray[np.intp] | None = None

    @staticmethod
    def from_runs(runs: Floats, sources: NDArray[np.intp] | None = None) -> Changes:
        """Return what runs say, records × runs."""
        each = runs.mean(axis=1) if runs.size else np.zeros(len(runs))
        return Changes(each, runs, np.ones(len(runs), np.bool_), sources)

    def fold(self, starts: NDArray[np.intp]) -> Changes:
        """Take the records of a person together: does the prediction about any of them change?

        ``starts`` are the places of each person's first record. A known probability is kept only
        by people with one record; those with several have runs.
        """
        if len(starts) == len(self.each) or not len(starts):
            return self
        assert self.runs is not None
        assert self.drawn is not None
        runs = np.maximum.reduceat(self.runs, starts, axis=0)
        drawn = np.logical_or.reduceat(self.drawn, starts)
        return Changes(runs.mean(axis=1), runs, drawn)


@dataclass(frozen=True)
class Measurement:
    """Beliefs about the measured rows, and a column for each distance, by name.

    ``method`` names the path that was taken in the end. Where chance moves the beliefs,
    ``changes`` says how often the prediction about each record changes.
    """

    beliefs: Beliefs
    columns: dict[str, Column]
    classes: NDArray[np.int32]
    sensitive_values: tuple[Any, ...]
    method: str
    notes: tuple[str, ...] = ()
    changes: Changes | None = None


def measure_beliefs(
    beliefs: Beliefs,
    table: Table,
    model: Model,
    distances: Sequence[Named],
    method: str,
    notes: tuple[str, ...] = (),
) -> Measurement:
    """Measure the distances between the two beliefs about each record (Step 5)."""
    for held in (beliefs.with_record, beliefs.without):
        check_beliefs(held, table, beliefs.rows, model, UserError)
    columns = from_beliefs(distances, beliefs.with_record, beliefs.without)
    classes = table.sensitive.codes[beliefs.rows]
    return Measurement(beliefs, columns, classes, table.sensitive.values, method, notes)


def from_beliefs(
    distances: Sequence[Named], with_record: Floats, without: Floats
) -> dict[str, Column]:
    """Measure the distances between two beliefs that no chance moves."""
    columns = {}
    for name, function in distances:
        measured = np.asarray(function(with_record, without), np.float64)
        if measured.shape != (len(with_record),) or np.isnan(measured).any():
            raise UserError(
                f"the distance {name!r} must return one number per record; it returned shape "
                f"{measured.shape} with {int(np.isnan(measured).sum())} NaN.",
                field="distance",
            )
        largest = largest_distance((name, function), with_record.shape[1])
        columns[name] = Column(measured, largest=largest)
    return columns


def join_beliefs(one: Beliefs, two: Beliefs, people: People) -> Beliefs:
    """Join beliefs about different people, in the order of people."""
    place = np.empty(int(people.rows.max()) + 1, np.intp)
    place[people.rows] = np.arange(len(people.rows))
    order = np.argsort(place[np.concatenate([one.rows, two.rows])], kind="stable")
    each = ("rows", "with_record", "without", "uncovered", "uncovered_without", "generalized")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(one, name), getattr(two, name)])[order] for name in each
    }
    return replace(two, **joined)


def fold(column: Column, owners: NDArray[np.int64]) -> tuple[Column, NDArray[np.intp]]:
    """Take each person's largest distance; return also the place of the record that has it.

    Limits hold for all records together, so the largest lower and the largest upper one are
    limits on the largest distance; a run's distance is the largest of that run. ``owners``
    ascends: the records of a person stand together.
    """
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    if len(starts) == len(owners):  # one record each
        return column, starts
    # The place of each owner's largest distance, the first among equals.
    place = np.lexsort((np.arange(len(owners)), -column.distances, owners))[starts]
    return column.change(lambda numbers: np.asarray(np.maximum.reduceat(numbers, starts))), place


def check_beliefs(
    beliefs: Floats, table: Table, rows: NDArray[np.intp], model: object, kind: type[UserError]
) -> None:
    """Refuse what are no probabilities, one for each sensitive value."""
    wanted = (len(rows), len(table.sensitive.values))
    if beliefs.shape != wanted:
        raise kind(
            "a model returns a row for each target and in it a probability for each sensitive "
            f"value of the table, here {wanted}; {describe(model)} returned {beliefs.shape}. Give "
            "a value that the release lacks the probability 0.",
            field="model",
        )
    # NaN is neither near 1 nor at least 0; rounding may leave less than nothing.
    sums = beliefs @ np.ones(wanted[1])
    if not len(beliefs) or (np.abs(sums - 1).max() < 5e-7 and beliefs.min() >= -1e-9):
        return  # looked at all at once; row by row takes ten times as long
    right = (np.abs(beliefs.sum(axis=1) - 1) < 1e-6) & (beliefs >= -1e-9).all(axis=1)
    wrong = np.flatnonzero(~right)
    if len(wrong):
        stray = int(wrong[0])
        raise kind(
            f"a belief must be probabilities that sum to 1; {describe(model)} gave "
            f"{beliefs[stray].tolist()} for record {int(table.records[rows[stray]]):,}. Check the "
            "model and its prior.",
            field="model",
        )
