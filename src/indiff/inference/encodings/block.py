"""What an encoding makes of one released column: features by region, and by a target's value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.release.release import ReleasedColumn


@dataclass(frozen=True, eq=False)
class Block:
    """Features of one column: a row for each region, and a row for each value (by its code).

    A target is encoded like a released cell that shows its value alone.
    """

    regions: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def width(self) -> int:
        """How many features the column has."""
        return self.regions.shape[1]


def covered_places(
    column: ReleasedColumn, place_of: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return for every region and place 1 if the region covers a code with that place, else 0.

    ``place_of`` gives the place of each code and never falls: a span of codes is one of places.
    """
    steps = np.zeros((column.count, count + 1))
    np.add.at(steps, (column.span_region, place_of[column.span_low]), 1)
    np.subtract.at(steps, (column.span_region, place_of[column.span_high] + 1), 1)
    return (np.cumsum(steps[:, :-1], axis=1) > 0).astype(np.float64)


def bits(numbers: NDArray[np.int64], largest: int) -> NDArray[np.float64]:
    """Write whole numbers in binary, the highest bit first, in the bits that the largest needs.

    >>> bits(np.array([15, 30]), 75)
    array([[0., 0., 0., 1., 1., 1., 1.],
           [0., 0., 1., 1., 1., 1., 0.]])
    """
    places = np.arange(max(1, int(largest).bit_length()) - 1, -1, -1)
    return ((numbers[:, None] >> places) & 1).astype(np.float64)
