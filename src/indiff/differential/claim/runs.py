"""Calls a sanitizer with and without records, and keeps the statistics of every call.

Each call has random numbers of its own, by the seed, the side and the number of the run. Calls go
the way of all calls of a test: shared out, repeated if they fail, and kept in the run's folder one
by one, so that a killed run goes on and makes the same choices.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Asking, Calls, Progress, Watch
from indiff.differential.calls.identity import identity, table_identity
from indiff.differential.calls.journal import Journal
from indiff.differential.claim.statistics import copies_of, statistic_names, statistics_of
from indiff.differential.people import People, fallback, without_rows
from indiff.errors import marked
from indiff.inference import Model
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NotDifferentiallyPrivate
from indiff.sanitizers.oracles.folder import Releases
from indiff.sanitizers.oracles.function import OracleFailed
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]

WHOLE = -1  # the person who is left out where nobody is
_CLAIM = 7  # the first key of the random numbers of these calls
_PLACES = 10**9  # calls of one person in the names of a journal


@dataclass(frozen=True)
class Call:
    """One call: without which person (``WHOLE``: nobody), and which run of it."""

    person: int
    run: int

    @property
    def name(self) -> int:
        """Its name in a journal."""
        return (self.person + 1) * _PLACES + self.run


@dataclass(frozen=True)
class Scout:
    """Asks for a release of the whole table and counts in it the copies of every record."""

    table: Table
    sanitizer: Sanitizer
    seed: int
    calls: tuple[Call, ...]

    def __call__(self, place: int) -> Floats:
        """Return the copies of each record."""
        call = self.calls[place]
        return copies_of(release_of(self.sanitizer, self.table, self.seed, call), self.table)

    def write(self, place: int, value: Floats) -> Mapping[str, Any]:
        """Return the counts as what JSON has."""
        return {"copies": value.tolist()}

    def read(self, place: int, written: Mapping[str, Any]) -> Floats:
        """Return the counts again."""
        return np.array(written["copies"], np.float64)


@dataclass(frozen=True)
class Look:
    """Asks for a release and reads off it the statistics about some people, people × statistics.

    Of a release of the whole table it reads those about everybody who is ``looked_at``, of a
    release without a person those about that person. A person with several records is looked at
    by the first of them.
    """

    table: Table
    sanitizer: Sanitizer
    models: tuple[Model, ...]
    people: People
    seed: int
    calls: tuple[Call, ...]

    def __call__(self, place: int) -> Floats:
        """Return the statistics about each person."""
        call, table, sanitizer = self.calls[place], self.table, self.sanitizer
        firsts = self.people.firsts
        if call.person != WHOLE:
            table = without_rows(table, self.people.of(call.person))
            sanitizer, firsts = fallback(sanitizer), firsts[call.person : call.person + 1]
        release = release_of(sanitizer, table, self.seed, call)
        return statistics_of(release, self.table.take(firsts), self.models)

    def write(self, place: int, value: Floats) -> Mapping[str, Any]:
        """Return the statistics as what JSON has."""
        return {"statistics": value.tolist()}

    def read(self, place: int, written: Mapping[str, Any]) -> Floats:
        """Return the statistics again."""
        return np.array(written["statistics"], np.float64)


@dataclass(frozen=True)
class Single:
    """Asks for one release without some rows, and reads off it the statistics about others."""

    table: Table
    sanitizer: Sanitizer
    models: tuple[Model, ...]
    left_out: NDArray[np.intp]
    rows: NDArray[np.intp]
    seed: int

    def __call__(self, place: int) -> Floats:
        """Return the statistics about each row."""
        table = without_rows(self.table, self.left_out)
        release = release_of(fallback(self.sanitizer), table, self.seed, Call(WHOLE, 0))
        return statistics_of(release, self.table.take(self.rows), self.models)

    write, read = Look.write, Look.read


def release_of(sanitizer: Sanitizer, table: Table, seed: int, call: Call) -> Release:
    """Make the release of one call, from random numbers that no other call has.

    A noisy table is made as it would be published, by OpenDP where it is installed: the noise of
    a seed has digits that tell what it was added to (Mironov 2012), and is never published. Of a
    folder of releases every call reads a file of its own.
    """
    if isinstance(sanitizer, NoisySanitizer):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotDifferentiallyPrivate)
            return sanitizer.sanitize(table)
    if isinstance(sanitizer, Releases):
        return sanitizer.read_run(table, call.run)
    key = (_CLAIM, call.person + 1, call.run)
    return sanitizer.sanitize(table, np.random.default_rng(SeedSequence(seed, spawn_key=key)))


@dataclass
class Caller:
    """Makes the calls of a test round by round, and tells the progress of all of them."""

    table: Table
    sanitizer: Sanitizer
    models: tuple[Model, ...]
    seed: int
    calls: Calls
    run: Path | None = None
    progress: Progress | None = None
    total: int = 0
    done: int = 0
    interrupted: bool = False
    failures: dict[int, str] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the statistics."""
        return statistic_names(self.table, self.models)

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to be asked."""
        return self.interrupted or self.calls.is_over

    def copies(self, runs: int) -> Floats | None:
        """Return how often each record is found in releases of the whole table, in the mean."""
        calls = tuple(Call(WHOLE, run) for run in range(runs))
        ask = Scout(self.table, self.sanitizer, self.seed, calls)
        found = self._collect(ask, calls, "scout", {})
        return np.mean(list(found.values()), axis=0) if found else None

    def look(
        self, people: People, stage: str, present: range, absent: Mapping[int, range]
    ) -> tuple[Floats, dict[int, Floats]]:
        """Make the runs of the whole table and without some people; return their statistics.

        The first is people × runs × statistics, then for each person runs × statistics. A call
        that failed is a row of NaN; one that was never made is no row.
        """
        calls = tuple(
            Call(person, run)
            for person, runs in ((WHOLE, present), *absent.items())
            for run in runs
        )
        ask = Look(self.table, self.sanitizer, self.models, people, self.seed, calls)
        told = {"set of targets": identity(self.table.records[people.rows])}
        found = self._collect(ask, calls, stage, told)
        size = len(self.names)
        lost = {call for call in calls if call.name in self.failures}
        whole = [
            found.get(call, np.full((len(people), size), np.nan))
            for call in calls
            if call.person == WHOLE and (call in found or call in lost)
        ]
        sides = {
            person: np.array(
                [found[call][0] if call in found else np.full(size, np.nan)
                 for call in calls if call.person == person and (call in found or call in lost)]
            ).reshape(-1, size)
            for person in absent
        }  # fmt: skip
        stacked = np.stack(whole, axis=1) if whole else np.empty((len(people), 0, size))
        return stacked, sides

    def release_without(self, left_out: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats | None:
        """Make one call without some rows; return the statistics about others, if it succeeds."""
        ask = Single(self.table, self.sanitizer, self.models, left_out, rows, self.seed)
        told = {"set of targets": identity(self.table.records[rows])}
        call = Call(WHOLE, 0)
        return self._collect(ask, (call,), "one-run", told).get(call)

    def _collect(
        self, ask: Any, calls: Sequence[Call], stage: str, told: Mapping[str, str]
    ) -> dict[Call, Floats]:
        """Make calls; the very first one alone, since where it fails the others would, too."""
        if self.done:
            return self._make(ask, calls, stage, told)
        first, rest = calls[:1], calls[1:]
        found = self._make(replace(ask, calls=first) if rest else ask, first, stage, told)
        if self.failures:
            raise OracleFailed(marked(next(iter(self.failures.values()))))
        if not found or not rest:
            return found
        return found | self._make(replace(ask, calls=rest), rest, stage, told)

    def _make(
        self, ask: Any, calls: Sequence[Call], stage: str, told: Mapping[str, str]
    ) -> dict[Call, Floats]:
        found: dict[Call, Floats] = {}
        names = np.array([call.name for call in calls], np.int64)

        def keep(place: int, value: Floats) -> None:
            found[calls[place]] = value

        def count(done: int, _: int) -> None:
            if self.progress is not None:
                self.progress(self.done + done, self.total)

        folder = None if self.run is None else self.run / stage
        opened = nullcontext() if folder is None else Journal(folder, self._settings(told))
        with opened as journal:
            one_by_one = replace(self.calls, one_by_one=journal is not None)
            asking = Asking(calls=one_by_one, journal=journal, watch=Watch(count))
            failed, _ = asking.collect(ask, names, np.arange(len(calls)), ask, keep)
        self.failures |= {calls[place].name: why for place, why in failed.items()}
        handed = len(found) + len(failed)
        self.done += handed
        if handed < len(calls) and not self.calls.is_over:
            self.interrupted = True
        return found

    def _settings(self, told: Mapping[str, str]) -> dict[str, str]:
        """Say what the calls depend on, in words that complete "the … is another one"."""
        return {
            "table": table_identity(self.table),
            "sanitizer": f"{describe(self.sanitizer)} {identity(self.sanitizer)}",
            "model": " ".join(f"{describe(one)} {identity(one)}" for one in self.models),
            "seed": str(self.seed),
            "number of calls": str(self.total),
            **told,
        }
