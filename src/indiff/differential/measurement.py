"""What a path hands to the result: beliefs, and the numbers of each distance, per record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.people import People
from indiff.differential.refit.refit import Beliefs
from indiff.distances.functions import Distance
from indiff.distances.ground import largest_distance
from indiff.errors import UserError


@dataclass(frozen=True)
class Column:
    """One distance's numbers: one row per record, with limits and single runs if sampled.

    ``largest`` is the largest value that the distance can take, where it is known.
    """

    distances: NDArray[np.float64]
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    run_distances: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    largest: float = np.inf


@dataclass(frozen=True)
class Measurement:
    """Beliefs about the measured rows, and a column for each distance, by name."""

    beliefs: Beliefs
    columns: dict[str, Column]
    classes: NDArray[np.int32]
    sensitive_values: tuple[Any, ...]
    notes: tuple[str, ...] = ()


def from_beliefs(
    distances: Sequence[tuple[str, Distance]],
    with_record: NDArray[np.float64],
    without: NDArray[np.float64],
) -> dict[str, Column]:
    """Measure the distances between two beliefs that no chance moves."""
    columns = {}
    for name, function in distances:
        measured = np.asarray(function(with_record, without), np.float64)
        if measured.shape != (len(with_record),) or np.isnan(measured).any():
            raise UserError(
                f"the distance {name!r} must return one number per record; it returned shape "
                f"{measured.shape} with {int(np.isnan(measured).sum())} NaN."
            )
        largest = largest_distance((name, function), with_record.shape[1])
        columns[name] = Column(measured, largest=largest)
    return columns


def join_beliefs(one: Beliefs, two: Beliefs, people: People) -> Beliefs:
    """Join beliefs about different people, in the order of people."""
    place = np.empty(int(people.rows.max()) + 1, np.intp)
    place[people.rows] = np.arange(len(people.rows))
    order = np.argsort(place[np.concatenate([one.rows, two.rows])], kind="stable")

    def joined(first: Any, second: Any) -> Any:
        return np.concatenate([first, second])[order]

    return replace(
        two,
        rows=joined(one.rows, two.rows),
        with_record=joined(one.with_record, two.with_record),
        without=joined(one.without, two.without),
        uncovered=joined(one.uncovered, two.uncovered),
        uncovered_without=joined(one.uncovered_without, two.uncovered_without),
        generalized=joined(one.generalized, two.generalized),
    )


def fold(column: Column, owners: NDArray[np.int64]) -> tuple[Column, NDArray[np.intp]]:
    """Take each person's largest distance; return also the place of the record that has it.

    Limits hold for all records together, so the largest lower and the largest upper one are
    limits on the largest distance; a run's distance is the largest of that run. ``owners``
    ascends: the records of a person stand together.
    """
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    place = _largest(column.distances, owners, starts)

    def top(numbers: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if numbers is None else np.asarray(np.maximum.reduceat(numbers, starts))

    if not len(owners):
        return column, place
    folded = replace(
        column, distances=column.distances[place], lower=top(column.lower),
        upper=top(column.upper), run_distances=top(column.run_distances),
    )  # fmt: skip
    return folded, place


def _largest(
    distances: NDArray[np.float64], owners: NDArray[np.int64], starts: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the place of each owner's largest distance, the first among equals."""
    order = np.lexsort((np.arange(len(owners)), -distances, owners))
    return order[starts]
