"""Measures randomized sanitizers and models: by the closed form where it holds, else by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking
from indiff.differential.noise import closed_form
from indiff.differential.noise.predictions import answer_changes, change_probabilities, tie_changes
from indiff.differential.noise.runs import Cases, CellRuns, find_cases
from indiff.differential.noise.sampling import (
    SMOOTHED,
    answers_notes,
    grid_notes,
    measure_by_runs,
)
from indiff.differential.path import (
    Beliefs,
    Changes,
    Column,
    Measurement,
    Named,
    Test,
    from_beliefs,
    join_beliefs,
)
from indiff.distances.functions import DISTANCES, largest_distance
from indiff.errors import InternalError, Message, UserError, marked, option
from indiff.inference import Frequency, Model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NoisyTable, RandomizedResponse
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe

Floats = NDArray[np.float64]

_SAMPLED = f"Use {option('method', 'sampled')}"


class ClosedForm:
    """Exact for noisy tables and randomized response (``docs/closed-form.md``)."""

    name: ClassVar[str] = "closed-form"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        name, function = distance
        theorem = name == "wasserstein" and DISTANCES[name] is function
        if (
            isinstance(sanitizer, NoisySanitizer)
            and isinstance(model, Frequency)
            and (theorem or not sanitizer.randomized)  # without noise any distance will do
        ):
            return None
        return UserError(
            "method 'closed-form' needs a noisy table or randomized response, the "
            "model frequency and the distance wasserstein",
            f"{describe(sanitizer)}, {describe(model)} and {name}",
            _SAMPLED,
            field="method",
        )

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure by the theorem, which is about one record; people with several by runs."""
        if not isinstance(test.sanitizer, NoisySanitizer):
            raise InternalError("the closed form was chosen for a sanitizer that it does not know")
        if test.people.are_records:
            with test.asking(self.name, distances):
                return measure_exactly(test, test.sanitizer, distances, test.people.rows)
        if test.forced:
            raise UserError(
                "method 'closed-form' is about people with one record each; "
                f"{test.people.column!r} has people with several",
                way_out=_SAMPLED,
                field="method",
            )
        if not (test.people.sizes == 1).any():
            note = "people with several records have no closed form: sampled"
            measurement = Sampled().measure(test, distances)
            return replace(measurement, notes=(*measurement.notes, note))
        beside = " beside the closed form"  # limits then hold for fewer people together
        with test.asking(Sampled.name, distances, beside=beside) as asking:
            return _measure_people(test, test.sanitizer, distances, asking)


class Sampled:
    """R runs with and R runs without each person, and limits from them; right for anything."""

    name: ClassVar[str] = "sampled"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return None: runs can measure any distance."""
        return None

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Estimate the distances from runs with common random numbers."""
        with test.asking(self.name, distances) as asking:
            return measure_by_runs(test, distances, test.people, asking)


def measure_exactly(
    test: Test, sanitizer: NoisySanitizer, distances: Sequence[Named], rows: NDArray[np.intp]
) -> Measurement:
    """Measure a noisy table by its closed form; beliefs are expectations over the noise.

    DIT v2, Section 3.2, for 4.2.2's adversary (``docs/closed-form.md`` has the theorem). The cells
    are the same with and without a record; what making them from the records tells is not measured.
    """
    table, grid = test.table, sanitizer.grid(test.table)
    cases = find_cases(table, grid, rows)
    # One call for both, since many a cell without a record is like another with it.
    both = np.concatenate([cases.counts, cases.counts_without])
    expected = np.split(closed_form.expected_beliefs(sanitizer, both), 2)
    present, absent = (beliefs[cases.back] for beliefs in expected)
    if sanitizer.randomized:
        exact = closed_form.distances(sanitizer, cases.counts, cases.values)[cases.back]
        size = present.shape[1]
        columns = {one[0]: Column(exact, largest=largest_distance(one, size)) for one in distances}
    else:
        columns = from_beliefs(distances, present, absent)
    covered = np.zeros(len(rows), np.bool_)
    return Measurement(
        Beliefs(rows, present, absent, covered, covered, covered, None),
        columns,
        grid.classes(table)[rows],
        grid.sensitive_values,
        "closed-form",
        (*grid_notes(grid), SMOOTHED, *answers_notes(sanitizer)),
        _changes(sanitizer, cases, runs=test.runs, seed=test.seed),
    )


def _changes(sanitizer: NoisySanitizer, cases: Cases, *, runs: int, seed: int) -> Changes:
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


def _measure_people(
    test: Test, sanitizer: NoisySanitizer, distances: Sequence[Named], asking: Asking
) -> Measurement:
    """Measure one-record people by the closed form and the others by runs.

    The closed form is about one record in one cell. The limits of the others hold for fewer people
    together, and are narrower than if everybody were sampled; both limits of an exact distance are
    the distance itself. The distances of single runs are drawn for everybody, since the tail of a
    single run (DIT v1, Definition 1) has no closed form.
    """
    table, people = test.table, test.people
    single = people.sizes == 1
    rows = people.firsts[single]
    several = people.choose(np.flatnonzero(~single))
    sampled = measure_by_runs(test, distances, several, asking.about(~single))
    exact = measure_exactly(test, sanitizer, distances, rows)
    cases = find_cases(table, sanitizer.grid(table), rows)
    source = CellRuns(sanitizer, cases, test.runs, test.seed)
    beliefs = join_beliefs(exact.beliefs, sampled.beliefs, people)
    # Where the joined rows stand among the exact ones followed by the others.
    both = np.concatenate([exact.beliefs.rows, sampled.beliefs.rows])
    place = np.empty(int(both.max(initial=0)) + 1, np.intp)
    place[both] = np.arange(len(both))
    order = place[beliefs.rows]
    pairs = [source.pairs(case)[0] for case in range(len(source))]
    columns = {}
    for name, function in distances:
        each = [np.asarray(function(one.present, one.absent), np.float64) for one in pairs]
        runs = np.stack(each)[cases.back]
        columns[name] = _join(exact.columns[name], sampled.columns[name], runs, order)
    note = (
        f"the {len(several):,} people with several records have no closed form and were sampled; "
        f"the distances of the other {len(rows):,} are exact"
    )
    classes = np.concatenate([exact.classes, sampled.classes])[order]
    parts = [part.changes for part in (exact, sampled) if part.changes is not None]
    return replace(
        sampled, beliefs=beliefs, columns=columns, classes=classes, notes=(*exact.notes, note),
        changes=_join_changes(parts, order, test.runs),
    )  # fmt: skip


def _join(exact: Column, sampled: Column, each: Floats, order: NDArray[np.intp]) -> Column:
    def joined(first: Floats, second: Floats | None) -> Floats:
        # Where nobody's runs were finished, the second has no number of runs either.
        parts = [first] if second is None or not len(second) else [first, second]
        return np.asarray(np.concatenate(parts)[order])

    return replace(
        sampled,
        distances=joined(exact.distances, sampled.distances),
        lower=joined(exact.distances, sampled.lower),
        upper=joined(exact.distances, sampled.upper),
        run_distances=joined(each, sampled.run_distances),
        notes=tuple(
            Message(f"of the people with several records: {marked(text)}") for text in sampled.notes
        ),
    )


def _join_changes(parts: Sequence[Changes], order: NDArray[np.intp], runs: int) -> Changes:
    """Put records together of which some have a known probability and others runs."""
    each = np.concatenate([part.each for part in parts])[order]
    rows = [
        np.repeat(part.each[:, None], runs, axis=1) if part.runs is None else part.runs
        for part in parts
        if len(part.each)
    ]
    drawn = [np.full(len(part.each), False) if part.drawn is None else part.drawn for part in parts]
    return Changes(each, np.concatenate(rows)[order], np.concatenate(drawn)[order])
