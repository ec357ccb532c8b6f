"""Sanitizes again and fits again for every target: right for whatever is not random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.calls.calls import Asking
from indiff.differential.noise.path import Sampled
from indiff.differential.path import (
    Beliefs,
    Failures,
    Measurement,
    Named,
    Test,
    check_beliefs,
    is_random,
    measure_beliefs,
)
from indiff.differential.people import People, distinct_people, each_record, fallback, without_rows
from indiff.errors import UserError, option
from indiff.inference import Frequency, Model
from indiff.inference.encodings import Tally
from indiff.inference.models import SmoothedFrequency, TallyModel
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, OnGrid
from indiff.sanitizers.oracles.function import BlackBox, OracleFailed
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]

# How far two calls on the same table may be apart: rounding, no more.
SAME = 1e-9


class Refit:
    """Sanitizes again and fits again for every target (DIT v2, Section 3.2, Steps 2 to 5)."""

    name: ClassVar[str] = "refit"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        if not is_random(sanitizer, model):
            return None
        return UserError(
            "method 'refit' runs once with and once without a record, which says "
            "nothing about a randomized sanitizer or model",
            f"{describe(sanitizer)}, {describe(model)} and {distance[0]}",
            f"Use {option('method', 'sampled')}",
            field="method",
        )

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure the distances; a black box that turns out to be random is sampled instead."""
        sanitizer, model = test.sanitizer, test.model
        release = test.whole() if isinstance(sanitizer, BlackBox) else None
        if release is not None and not test.forced and not _repeats(test):
            note = f"two runs of {describe(sanitizer)} on the same table differ: sampled"
            measurement = Sampled().measure(test, distances)
            return replace(measurement, notes=(*measurement.notes, note))
        if isinstance(sanitizer, NoisySanitizer):
            sanitizer, model = _without_noise(test.table, sanitizer, model)
        with test.asking(self.name, distances) as asking:
            beliefs = refit(test.table, sanitizer, model, test.people, asking, release=release)
        return measure_beliefs(beliefs, test.table, model, distances, self.name)


def _repeats(test: Test) -> bool:
    """Tell whether a second call on the same table leads to the same beliefs."""
    targets = test.table.take(test.people.rows)
    releases = (test.whole(), test.sanitizer.sanitize(test.table))
    first, second = (test.model.beliefs(made, targets) for made in releases)
    return bool(np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True))


def _without_noise(
    table: Table, sanitizer: NoisySanitizer, model: Model
) -> tuple[Sanitizer, Model]:
    """Return a mechanism at ε = ∞ on fixed cells; a value that nobody holds then has no weight."""
    domains = {k: v for k, v in sanitizer.domains.items() if k != table.sensitive.name}
    plain = replace(sanitizer, domains=domains)
    smoothed = SmoothedFrequency() if isinstance(model, Frequency) else model
    return OnGrid(plain, plain.grid(table)), smoothed


class Releases:
    """Where f(D⁻ⁱ) comes from: here every D⁻ⁱ is sanitized anew, which is right for anything."""

    def __init__(self, table: Table, sanitizer: Any) -> None:
        self.table = table
        self.sanitizer = sanitizer

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        made: Release = self.sanitizer.sanitize(self.table.without(row))
        return made

    def tally(self, row: int) -> Tally | None:
        """Return what TF features show of f(D⁻ⁱ) to its record; None where f(D⁻ⁱ) must be made."""
        return None


def refit(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    whom: People | NDArray[np.intp],
    asking: Asking | None = None,
    *,
    source: type[Releases] = Releases,
    release: Release | None = None,
) -> Beliefs:
    """Sanitize D and D without every person, fit the model to each, and collect the beliefs.

    ``whom`` are people, or rows of which each is one. Identical targets (same quasi-identifiers
    and sensitive value) are computed once, unless sanitizer or model tell them apart. An
    interruption keeps what is done: the result then has fewer rows than were asked for. A call
    that fails on the whole table is an error; one that fails without a target is that target's.
    ``release`` is the whole table's, where it was made already.
    """
    asking = Asking() if asking is None else asking
    people = whom if isinstance(whom, People) else each_record(whom)
    release = sanitizer.sanitize(table) if release is None else release  # Step 2, with everybody
    targets = table.take(people.rows)
    believed = np.asarray(model.beliefs(release, targets), np.float64)
    check_beliefs(believed, table, people.rows, model, UserError)
    missed = ~Frequency().beliefs_and_coverage(release, targets)[1]
    chosen, back = distinct_people(table, people, sanitizer, model)
    distinct = people.choose(chosen)
    ask = Without(table, fallback(sanitizer), model, distinct, source)
    if asking.calls.backend != "dask":
        ask.prepare()
    kept = _Kept.before(ask, believed[people.places(chosen)])

    def keep(place: int, outcome: Outcome) -> None:
        kept.keep(place, outcome)
        asking.watch.beliefs(*kept.both(place))

    failed, repeated = asking.collect(ask, table.records[distinct.firsts], back, kept, keep)
    finished = kept.known[back]  # of each person
    rows = np.repeat(finished, people.sizes)
    same = distinct.places(back[finished])
    return Beliefs(
        people.rows[rows],
        kept.present[same],
        kept.absent[same],
        missed[rows],
        kept.lost[same],
        np.repeat(kept.generalized[back[finished]], people.sizes[finished]),
        release.constraint_met,
        release,
        Failures.of_people(people, back, failed, repeated),
    )


@dataclass(frozen=True)
class Outcome:
    """What the release without a person lets one believe about each of the person's records."""

    beliefs: Floats
    lost: NDArray[np.bool_]
    met: bool
    evidence: str | None = None


@dataclass(frozen=True)
class Without:
    """Asks for people: sanitizes the table without one, and fits the model to that."""

    table: Table
    sanitizer: Sanitizer
    model: Model
    people: People
    source: type[Releases]

    @cached_property
    def releases(self) -> Releases:
        """Where releases without one record come from."""
        return self.source(self.table, self.sanitizer)

    def tally(self, rows: NDArray[np.intp]) -> Tally | None:
        """Return the tally of the release without one record, if the model needs no more of it."""
        alone = len(rows) == 1 and self._tally_suffices
        return self.releases.tally(int(rows[0])) if alone else None

    def prepare(self) -> None:
        """Make what all tallies share, which is not to be taken for the time of one target."""
        if len(self.people):
            self.tally(self.people.of(0))

    @cached_property
    def _tally_suffices(self) -> bool:
        columns = len(self.table.attributes)
        return isinstance(self.model, TallyModel) and self.model.learns_from_tally(columns)

    def __call__(self, place: int) -> Outcome:
        """Sanitize without one person, fit, and believe (Steps 2 and 4)."""
        evidence = self.evidence(place)  # before what it is of is read
        rows = self.people.of(place)
        targets, tally = self.table.take(rows), self.tally(rows)
        if tally is not None and isinstance(self.model, TallyModel):
            beliefs = self.model.belief_from_tally(tally, targets)
            lost, met = np.array([not tally.covered]), True
        else:
            release = self._release(rows)
            beliefs = np.asarray(self.model.beliefs(release, targets), np.float64)
            lost = ~Frequency().beliefs_and_coverage(release, targets)[1]
            met = release.constraint_met is not False
        check_beliefs(beliefs, self.table, rows, self.model, OracleFailed)
        return Outcome(beliefs, lost, met, evidence)

    def _release(self, rows: NDArray[np.intp]) -> Release:
        if len(rows) == 1:
            return self.releases.without(int(rows[0]))
        return self.sanitizer.sanitize(without_rows(self.table, rows))

    def evidence(self, place: int) -> str | None:
        """Return a digest of the file that the release comes from, where it was made before."""
        if not isinstance(self.sanitizer, BlackBox):
            return None
        return self.sanitizer.evidence(self.table.records[self.people.of(place)].tolist())


@dataclass(frozen=True)
class _Kept:
    """What is known of each distinct person's records, and how a journal has it."""

    ask: Without
    present: Floats
    absent: Floats
    lost: NDArray[np.bool_]
    generalized: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @staticmethod
    def before(ask: Without, present: Floats) -> _Kept:
        """Begin with the beliefs that the whole table's release gives."""
        nobody = np.zeros(len(ask.people), np.bool_)
        absent, lost = np.full_like(present, np.nan), np.zeros(len(present), np.bool_)
        return _Kept(ask, present, absent, lost, nobody, nobody.copy())

    def _slice(self, place: int) -> slice:
        starts = self.ask.people.starts
        return slice(int(starts[place]), int(starts[place + 1]))

    def keep(self, place: int, outcome: Outcome) -> None:
        """Note what came of one person."""
        rows = self._slice(place)
        self.absent[rows], self.lost[rows] = outcome.beliefs, outcome.lost
        self.generalized[place], self.known[place] = not outcome.met, True

    def both(self, place: int) -> tuple[Floats, Floats]:
        """Return the beliefs about one person's records, with and without them."""
        return self.present[self._slice(place)], self.absent[self._slice(place)]

    def write(self, place: int, outcome: Outcome) -> Mapping[str, Any]:
        """Return the beliefs with and without one person as what JSON has."""
        evidence = {} if outcome.evidence is None else {"file": outcome.evidence}
        return {
            "with": self.present[self._slice(place)].tolist(),
            "without": outcome.beliefs.tolist(),
            "lost": outcome.lost.tolist(),
            "met": outcome.met,
            **evidence,
        }

    def read(self, place: int, written: Mapping[str, Any]) -> Outcome:
        """Return an outcome again; refuse it if the table's own release is another one by now."""
        rows = self._slice(place)
        before, without = (np.array(written[name], np.float64) for name in ("with", "without"))
        lost = np.array(written["lost"], np.bool_)
        if not before.shape == without.shape == self.present[rows].shape or (
            lost.shape != before.shape[:1]
        ):
            raise ValueError("beliefs of other records, or over other values")
        if not np.allclose(self.present[rows], before, rtol=0, atol=SAME):
            raise UserError(
                "a run goes on with the same sanitizer; the release of the whole table now "
                "leads to other beliefs than when this run began",
                way_out="Use another run folder",
                field="run",
            )
        evidence = self.ask.evidence(place)
        if evidence != written.get("file"):
            record = int(self.ask.table.records[self.ask.people.of(place)[0]])
            raise UserError(
                f"a run goes on with the same releases; that without record {record:,} is "
                "another file than when this run read it",
                way_out="Put it back, or use another run folder",
                field="run",
            )
        self.present[rows] = before
        return Outcome(
            without, lost,
            bool(written["met"]), evidence,
        )  # fmt: skip
