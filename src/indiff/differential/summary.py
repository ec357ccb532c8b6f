"""Sums up what a path measured of records in results about people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.noise.bracket import change_limits
from indiff.differential.path import Beliefs, Measurement, Test, fold
from indiff.differential.result import DifferentialResult, Exactness
from indiff.differential.targets.guarantee import say
from indiff.errors import Message, marked
from indiff.release.release import Release
from indiff.release.unmeasured import Unmeasured, broken, gaps, judge_columns
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import promise_of
from indiff.text import describe


def sum_up(test: Test, measurement: Measurement, name: str, seconds: float) -> DifferentialResult:
    """Return the result for one distance: each person's largest, and how it came about."""
    table, people, beliefs = test.table, test.people, measurement.beliefs
    owner = np.empty(len(table), np.int64)
    owner[people.rows] = people.owners
    owners = owner[beliefs.rows]
    column, place = fold(measurement.columns[name], owners)
    starts = place  # of each person's records
    if len(place) < len(owners):
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
    tested = owners[starts]
    changes = None if measurement.changes is None else measurement.changes.fold(starts)
    limits = None if changes is None else change_limits(changes, test.confidence)
    chances = None if changes is None else changes.each
    if test.chosen.listed is not None:
        order = np.argsort(np.argsort(test.chosen.listed)[tested])  # as they were asked for
        column = column.change(lambda numbers: numbers[order])
        place, tested = place[order], tested[order]
        chances = None if chances is None else chances[order]
    sampled = column.run_distances is not None
    exactness: Exactness = "estimate" if sampled else "exact"
    if len(tested) < test.population:
        exactness = "lower-bound"
    failures, failed = beliefs.failures, len(beliefs.failures.texts)
    out_of_time = test.calls.is_over and len(tested) + failed < len(people)
    told = [*table.notes, *test.notes, *measurement.notes, *column.notes]
    promise = promise_of(test.sanitizer, table, beliefs.constraint_met)
    told += filter(None, [promise.why_not])
    unmeasured = beliefs.unmeasured or _unmeasured(beliefs.release, table)
    told += [*broken(unmeasured), *gaps(unmeasured)] if unmeasured else []
    guarantee = None
    drawn = test.chosen.random_draw and len(tested) + failed == len(people)  # not cut short
    if drawn and len(tested) and not sampled:
        several = people.column is not None
        guarantee = say(column.distances, test.population, test.confidence, failed, people=several)

    shown = _shown(place, len(owners))
    return DifferentialResult(
        distances=column.distances,
        beliefs=beliefs.with_record[shown],
        beliefs_without=beliefs.without[shown],
        records=table.records[people.firsts[tested]],
        classes=measurement.classes[place],
        sensitive_name=table.sensitive.name,
        sensitive_values=measurement.sensitive_values,
        sanitizer=describe(test.sanitizer),
        model=describe(test.model),
        distance=name,
        method=measurement.method,
        exactness=exactness,
        table_size=len(table),
        fingerprint=lambda: table.fingerprint,  # of most tests of an audit, nobody asks for it
        constraint_met=promise.kept,
        unmet=promise.why_not,
        generalized_without=_count(beliefs.generalized, starts),
        uncovered=_count(beliefs.uncovered, starts),
        uncovered_without=_count(beliefs.uncovered_without, starts),
        dropped=table.dropped,
        requested=len(people),
        failures=tuple(
            Message(f"record {int(table.records[row])}: {marked(text)}")
            for row, text in sorted(failures.texts.items())
        ),
        seed=test.seed,
        seconds=seconds,
        backend=table.backend,
        notes=(*told, *_notes(test, beliefs, len(tested), out_of_time)),
        lower=column.lower,
        upper=column.upper,
        run_distances=column.run_distances,
        confidence=test.confidence if sampled or limits is not None else None,
        runs=test.runs if sampled or limits is not None else None,
        largest=column.largest,
        out_of_time=out_of_time,
        individual=people.column,
        people=None if people.column is None else test.population,
        sizes=None if people.column is None else people.sizes[tested],
        change_chances=chances,
        change_limits=limits,
        guarantee=guarantee,
        unmeasured=unmeasured,
    )


def _count(flags: NDArray[np.bool_], starts: NDArray[np.intp]) -> int:
    """Count the people with a flag on any of their records, which begin at ``starts``."""
    if len(starts) < len(flags):
        flags = np.logical_or.reduceat(flags, starts)
    return int(np.count_nonzero(flags))


def _shown(place: NDArray[np.intp], records: int) -> NDArray[np.intp] | slice:
    """Return which records are shown; nothing needs copying where all are, as they come."""
    same = len(place) == records and not np.any(np.diff(place) != 1)
    return slice(None) if same else place


def _unmeasured(release: Release | None, table: Table) -> tuple[Unmeasured, ...]:
    carries = release is not None and release.carried is not None
    return judge_columns(release, table) if carries else ()


def _notes(test: Test, beliefs: Beliefs, tested: int, out_of_time: bool) -> list[str]:
    notes, release, failures = [], beliefs.release, beliefs.failures
    if release is not None and release.weights is None and len(release) > len(test.table):
        notes.append(f"the release has {len(release):,} rows for {len(test.table):,} records")
    if release is not None and isinstance(test.sanitizer, Recoding):
        notes += release.notes
    if failures.repeated:
        notes.append(
            f"{failures.repeated:,} of the calls failed at first and gave an answer when repeated"
        )
    if out_of_time:
        notes.append("the time was up before every target was tested")
    if tested < test.population:
        who = "records" if test.people.column is None else "people"
        notes.append(
            f"{tested:,} of {test.population:,} {who} were tested: their largest distance is a "
            "lower bound on that of all"
        )
    return notes
