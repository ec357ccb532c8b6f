"""Finds the nearest rows of others for many rows, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indiff.differential.synthetic.pool import Part

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NEIGHBOURS = 5
MOST_PAIRS = 4 * 10**8  # of rows that are compared by distance, in each of the searches
_BLOCK = 4 * 10**6  # distances that are held at once
_SAME = 1e-12


def most_rows(others: int) -> int:
    """Return how many rows can be compared with so many others.

    >>> most_rows(10_000), most_rows(100_000)
    (40000, 4000)
    """
    return max(2, MOST_PAIRS // max(others, 1))


def blocks(rows: Part, others: Part) -> Iterator[tuple[slice, Floats]]:
    """Yield the distances of some rows after the others to all of ``others``.

    Gower's (1971): the sum over the quasi-identifiers of |a − b| over the original's range for
    numbers and ranks, and of 0 or 1 for whether other values differ. A missing number differs from
    every number.
    """
    from scipy.spatial.distance import cdist

    step = max(1, _BLOCK // max(len(others), 1))
    columns = rows.categories.shape[1]
    mine, theirs = rows.categories.astype(np.float64), others.categories.astype(np.float64)
    for start in range(0, len(rows), step):
        part = slice(start, min(start + step, len(rows)))
        far = np.zeros((part.stop - start, len(others)))
        if rows.numbers.shape[1]:
            far += cdist(rows.numbers[part], others.numbers, "cityblock")
        if columns:
            far += columns * cdist(mine[part], theirs, "hamming")
        yield part, far


@dataclass(frozen=True, eq=False)
class Nearest:
    """What the nearest others say of each row: how far, and which sensitive value.

    ``value`` is the most frequent one among the nearest rows, all that are equally near together;
    ``agreed`` is the value on which the :data:`NEIGHBOURS` nearest agree, or −1.
    """

    distance: Floats = field(repr=False)
    value: NDArray[np.intp] = field(repr=False)
    agreed: NDArray[np.intp] = field(repr=False)


def nearest(rows: Part, others: Part, *, own: NDArray[np.intp] | None = None) -> Nearest:
    """Search the nearest others of each row; ``own`` is its place among them, which is left out."""
    distance = np.empty(len(rows))
    value, agreed = np.empty(len(rows), np.intp), np.full(len(rows), -1, np.intp)
    size = int(max(rows.classes.max(initial=0), others.classes.max(initial=0))) + 1
    held = np.eye(size, dtype=np.float32)[others.classes]
    few = min(NEIGHBOURS, len(others) - (own is not None))
    for part, far in blocks(rows, others):
        if own is not None:
            far[np.arange(len(far)), own[part]] = np.inf
        distance[part] = far.min(axis=1)
        ties = far <= distance[part][:, None] + _SAME
        value[part] = (ties.astype(np.float32) @ held).argmax(axis=1)
        if few < NEIGHBOURS:
            continue
        within = np.partition(far, few - 1, axis=1)[:, few - 1] + _SAME
        votes = (far <= within[:, None]).astype(np.float32) @ held
        one = (votes > 0).sum(axis=1) == 1
        agreed[part] = np.where(one, votes.argmax(axis=1), -1)
    return Nearest(distance, value, agreed)


def pointed_at(rows: Part, people: Part) -> tuple[Bools, Bools]:
    """Tell who is the one nearest person of some row, and whose own value such a row has."""
    linked, right = np.zeros(len(people), np.bool_), np.zeros(len(people), np.bool_)
    for part, far in blocks(rows, people):
        least = far.min(axis=1)
        single = (far <= least[:, None] + _SAME).sum(axis=1) == 1
        whom = far.argmin(axis=1)
        same = people.classes[whom] == rows.classes[part]
        linked[whom[single]] = True
        right[whom[single & same]] = True
    return linked, right
