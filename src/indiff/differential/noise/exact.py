"""The closed form on a table: count each record's cell, then integrate once per distinct case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.noise import closed_form
from indiff.errors import InternalError
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import (
    Gaussian,
    Geometric,
    Laplace,
    NoisySanitizer,
    RandomizedResponse,
)


@dataclass(frozen=True)
class Cases:
    """The distinct situations of some targets: a cell's counts and the target's own value.

    ``back`` says which case each target is; ``first`` is the lowest record number in the table
    with that cell and value, the same whichever targets are asked for.
    """

    counts: NDArray[np.int64]
    values: NDArray[np.int64]
    first: NDArray[np.int64]
    back: NDArray[np.intp]

    @property
    def counts_without(self) -> NDArray[np.int64]:
        """The counts without the target's record."""
        without = self.counts.copy()
        without[np.arange(len(without)), self.values] -= 1
        return without

    def part(self, places: range) -> Cases:
        """Return some of the cases, each for a target of its own."""
        chosen = slice(places.start, places.stop)
        back = np.arange(len(places), dtype=np.intp)
        return Cases(self.counts[chosen], self.values[chosen], self.first[chosen], back)


@dataclass(frozen=True)
class ExactNoise:
    """Exact distances and expected beliefs, one row per target."""

    distances: NDArray[np.float64]
    with_record: NDArray[np.float64]
    without: NDArray[np.float64]


def exact_noise(sanitizer: NoisySanitizer, cases: Cases) -> ExactNoise:
    """Return the exact distance of every target: DIT v2, Section 3.2, for 4.2.2's adversary.

    The cells are the same with and without a record; what their making from the records tells is
    not measured. ``docs/closed-form.md`` has the theorem.
    """
    mechanism = as_mechanism(sanitizer)
    distances = closed_form.distances(mechanism, cases.counts, cases.values)
    # One call for both, since many a cell without a record is like another with it.
    both = np.concatenate([cases.counts, cases.counts_without])
    present, absent = np.split(closed_form.expected_beliefs(mechanism, both), 2)
    return ExactNoise(distances[cases.back], present[cases.back], absent[cases.back])


def find_cases(table: Table, grid: Grid, rows: NDArray[np.intp]) -> Cases:
    """Return the distinct cases of these rows of the table."""
    cell, counts = grid.occupied(table)
    value = grid.classes(table)
    key = cell.astype(np.int64) * len(grid.sensitive_values) + value
    wanted, back = np.unique(key[rows], return_inverse=True)
    known, first = np.unique(key, return_index=True)
    rows_of = first[np.searchsorted(known, wanted)]
    return Cases(
        counts[cell[rows_of]],
        value[rows_of].astype(np.int64),
        table.records[rows_of],
        back.ravel().astype(np.intp),
    )


def as_mechanism(sanitizer: NoisySanitizer) -> closed_form.Mechanism:
    """Return the mechanism whose transforms the closed form knows."""
    match sanitizer:
        case Laplace():
            return closed_form.LaplaceNoise(sanitizer.epsilon)
        case Geometric():
            return closed_form.GeometricNoise(sanitizer.epsilon)
        case Gaussian():
            return closed_form.GaussianNoise(sanitizer.sigma)
        case RandomizedResponse():
            return closed_form.RandomizedResponse(sanitizer.epsilon)
    raise InternalError(f"no closed form for {type(sanitizer).__name__}")
