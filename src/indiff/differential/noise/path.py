"""Measures randomized sanitizers and models: by the closed form where it holds, else by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking
from indiff.differential.noise.cells import Cases, CellRuns, find_cases
from indiff.differential.noise.changes import join_changes
from indiff.differential.noise.randomized import measure_by_runs, measure_exactly
from indiff.differential.path import Column, Measurement, Named, Test, join_beliefs
from indiff.distances.functions import DISTANCES
from indiff.errors import InternalError, Message, UserError, marked, option
from indiff.inference import Frequency, Model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer
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
    order = _order(exact.beliefs.rows, sampled.beliefs.rows, beliefs.rows)
    columns = {
        name: _join(exact.columns[name], sampled.columns[name], each, order)
        for (name, _), each in zip(distances, _each_run(source, cases, distances), strict=True)
    }
    note = (
        f"the {len(several):,} people with several records have no closed form and were sampled; "
        f"the distances of the other {len(rows):,} are exact"
    )
    classes = np.concatenate([exact.classes, sampled.classes])[order]
    parts = [part.changes for part in (exact, sampled) if part.changes is not None]
    changes = join_changes(parts, order, test.runs)
    return replace(
        sampled,
        beliefs=beliefs,
        columns=columns,
        classes=classes,
        notes=(*exact.notes, note),
        changes=changes,
    )


def _order(
    one: NDArray[np.intp], two: NDArray[np.intp], joined: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return where the joined rows stand in the one followed by the two."""
    both = np.concatenate([one, two])
    place = np.empty(int(both.max(initial=0)) + 1, np.intp)
    place[both] = np.arange(len(both))
    return place[joined]


def _each_run(source: CellRuns, cases: Cases, distances: Sequence[Named]) -> list[Floats]:
    """Return for each distance targets × runs."""
    pairs = [source.pairs(place)[0] for place in range(len(source))]
    return [
        np.stack([np.asarray(function(one.present, one.absent), np.float64) for one in pairs])[
            cases.back
        ]
        for _, function in distances
    ]


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
