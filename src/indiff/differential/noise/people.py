"""People in a noisy table, of whom some have several records: exact where the theorem applies.

The closed form is about one record in one cell, so those with several records are sampled. Their
limits then hold for fewer people together, and are narrower than if everybody were sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.run import Asking
from indiff.differential.measurement import Column, Measurement, Named, join_beliefs
from indiff.differential.noise.cell_runs import CellRuns
from indiff.differential.noise.exact import Cases, find_cases
from indiff.differential.noise.randomized import measure_by_runs, measure_exactly
from indiff.differential.path import Test
from indiff.errors import Message, marked
from indiff.sanitizers.noise.mechanisms import NoisySanitizer

Floats = NDArray[np.float64]


def measure_noisy_people(
    test: Test, sanitizer: NoisySanitizer, distances: Sequence[Named], asking: Asking
) -> Measurement:
    """Measure one-record people by the closed form and the others by runs.

    Both limits of an exact distance are the distance itself. The distances of single runs are
    drawn for everybody, since the tail of a single run (DIT v1, Definition 1) has no closed form.
    """
    table, people = test.table, test.people
    single = people.sizes == 1
    rows = people.firsts[single]
    several = people.choose(np.flatnonzero(~single))
    sampled = measure_by_runs(test, distances, several, asking.about(~single))
    exact = measure_exactly(table, sanitizer, distances, rows)
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
    return replace(
        sampled, beliefs=beliefs, columns=columns, classes=classes, notes=(*exact.notes, note)
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
