"""The chosen path, taken: one table, one sanitizer, one model, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indiff.data.table import Table
from indiff.differential.measurement import Measurement, from_beliefs, join_beliefs
from indiff.differential.method import Named
from indiff.differential.mondrian.handout import Handout
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.differential.noise.people import measure_noisy_people
from indiff.differential.noise.randomized import measure_by_runs, measure_exactly
from indiff.differential.people import People
from indiff.differential.refit.calls import Calls
from indiff.differential.refit.identity import identity, table_identity
from indiff.differential.refit.journal import Journal
from indiff.differential.refit.refit import Beliefs, check_beliefs, describe, refit
from indiff.differential.refit.run import Asking, Progress, Watch
from indiff.differential.targets.choice import Chosen
from indiff.errors import InternalError, UserError
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.inference.frequency import SmoothedFrequency
from indiff.release.release import Release
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, OnGrid
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.protocol import Sanitizer


@dataclass(frozen=True)
class Test:
    """One table, one sanitizer, one model, whom to test, and how to run them.

    ``whole`` gives the release of the whole table, made when it is first asked for.
    """

    __test__ = False  # pytest: no test of this project

    table: Table
    sanitizer: Sanitizer
    model: Model
    chosen: Chosen
    population: int
    runs: int
    confidence: float
    seed: int
    calls: Calls
    run: Path | None
    progress: Progress | None
    notes: tuple[str, ...]
    whole: Callable[[], Release]

    @property
    def people(self) -> People:
        """The people to test."""
        return self.chosen.people


def measure(
    test: Test, method: str, distances: Sequence[Named], *, forced: bool
) -> tuple[str, Measurement]:
    """Take the chosen path; an oracle that turns out to be random is sampled instead."""
    table, sanitizer, model = test.table, test.sanitizer, test.model
    notes: tuple[str, ...] = ()
    exact_too = False
    if method == "closed-form" and not test.people.are_records:
        if forced:
            raise UserError(
                "method 'closed-form' is about people with one record each; "
                f"{test.people.column!r} has people with several",
                way_out="Use method='sampled'",
            )
        method, notes = "sampled", ("people with several records have no closed form: sampled",)
        exact_too = bool((test.people.sizes == 1).any())
    release = test.whole() if method == "refit" and isinstance(sanitizer, BlackBox) else None
    if release is not None and not forced and not _repeats(test, release):
        method = "sampled"
        notes = (f"two runs of {describe(sanitizer)} on the same table differ: sampled",)
    with _asking(test, method, distances, exact_too=exact_too) as asking:
        if method == "closed-form" and isinstance(sanitizer, NoisySanitizer):
            return method, measure_exactly(table, sanitizer, distances, test.people.rows)
        if exact_too and isinstance(sanitizer, NoisySanitizer) and isinstance(model, Frequency):
            return method, measure_noisy_people(
                table, sanitizer, model, distances, test.people, asking, runs=test.runs,
                confidence=test.confidence, seed=test.seed,
            )  # fmt: skip
        if method == "sampled":
            measurement = measure_by_runs(
                table, sanitizer, model, distances, test.people, asking, runs=test.runs,
                confidence=test.confidence, seed=test.seed,
            )  # fmt: skip
            return method, replace(measurement, notes=(*measurement.notes, *notes))
        if method == "leave-one-out":
            beliefs, notes = _leave_one_out(test, asking)
        else:
            if isinstance(sanitizer, NoisySanitizer):
                sanitizer, model = _without_noise(table, sanitizer, model)
            beliefs = refit(table, sanitizer, model, test.people, asking, release=release)
    for held in (beliefs.with_record, beliefs.without):
        check_beliefs(held, table, beliefs.rows, model, UserError)
    columns = from_beliefs(distances, beliefs.with_record, beliefs.without)
    classes = table.sensitive.codes[beliefs.rows]
    return method, Measurement(beliefs, columns, classes, table.sensitive.values, notes)


@contextmanager
def _asking(
    test: Test, method: str, distances: Sequence[Named], *, exact_too: bool
) -> Iterator[Asking]:
    """Say how to ask, with the run's folder open if it has one."""
    asking = Asking(
        calls=test.calls,
        order=test.chosen.order,
        watch=Watch(test.progress, distances[0][1]),
    )
    if test.run is None:
        yield asking
        return
    settings = _settings(test, method, distances)
    if exact_too:  # limits then hold for fewer people together
        settings["method"] += " beside the closed form"
    with Journal(test.run, settings) as journal:
        yield replace(asking, journal=journal, calls=replace(test.calls, one_by_one=True))


def _settings(test: Test, method: str, distances: Sequence[Named]) -> dict[str, str]:
    """Say what a run depends on, in words that complete "the … is another one"."""
    settings = {
        "table": table_identity(test.table),
        "individual column": str(test.people.column),
        "sanitizer": f"{describe(test.sanitizer)} {identity(test.sanitizer)}",
        "model": f"{describe(test.model)} {identity(test.model)}",
        "seed": str(test.seed),
        "method": method,
    }
    if method == "sampled":  # what is kept are distances, with limits for all targets together
        names = test.table.records[test.people.firsts]
        settings |= {
            "number of runs": str(test.runs),
            "confidence": repr(test.confidence),
            "distance": ", ".join(f"{name} {identity(function)}" for name, function in distances),
            "set of targets": identity(names),
        }
    return settings


def _leave_one_out(test: Test, asking: Asking) -> tuple[Beliefs, tuple[str, ...]]:
    """Leave out one-record people by the exact walk, others by sanitizing again."""
    if not isinstance(test.sanitizer, Mondrian):
        raise InternalError("leave-one-out was chosen for a sanitizer that it does not know")
    table, people = test.table, test.people
    if not isinstance(test.model, NaiveBayes | Frequency):  # these need only counts
        return refit(table, test.sanitizer, test.model, people, asking, source=Handout), ()
    single = people.sizes == 1
    rows = people.firsts[single]
    walked = leave_one_out(
        table, test.sanitizer, test.model, rows, jobs=test.calls.jobs, progress=test.progress
    )
    if single.all():
        return walked, ()
    several = np.flatnonzero(~single)
    again = refit(
        table, test.sanitizer, test.model, people.choose(several), asking.about(~single)
    )  # fmt: skip
    note = (
        f"the {len(several):,} people with several records were measured by sanitizing again, "
        f"the other {len(rows):,} by the exact walk"
    )
    return join_beliefs(walked, again, people), (note,)


def _repeats(test: Test, release: Release) -> bool:
    """Tell whether a second call on the same table leads to the same beliefs."""
    targets = test.table.take(test.people.rows)
    again = test.sanitizer.sanitize(test.table)
    first, second = (test.model.beliefs(made, targets) for made in (release, again))
    return bool(np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True))


def _without_noise(
    table: Table, sanitizer: NoisySanitizer, model: Model
) -> tuple[Sanitizer, Model]:
    """Return a mechanism at ε = ∞ on fixed cells; a value that nobody holds then has no weight."""
    domains = {k: v for k, v in sanitizer.domains.items() if k != table.sensitive.name}
    plain = replace(sanitizer, domains=domains)
    smoothed = SmoothedFrequency() if isinstance(model, Frequency) else model
    return OnGrid(plain, plain.grid(table)), smoothed
