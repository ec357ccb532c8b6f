"""Turns the regions of one column into features (DIT v1, Appendix A.1).

Dates are numbers of days. The range of a numeric column is that of the full table: leaving a
record out does not move it. Where the missing value is one of its values, a last feature says
whether a cell may be missing, and a cell that is nothing else has zeros before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.coding import domain_part
from indiff.data.table import Attribute
from indiff.errors import UserError, from_data
from indiff.release.regions import Interval, Missing, Node, Region, ValueSet
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


Floats = NDArray[np.float64]

# Whole numbers beyond it are not all floating-point numbers, and their bits would be invented.
LARGEST_WHOLE = 2**53


def scaling(column: ReleasedColumn, quantiles: int) -> Block:
    """Encode a region by its midpoint, the column's range rescaled to [0, 1]."""
    middles = _middles(column)[:, None]
    numbers = _numbers(column.attribute)
    return _block(
        column, _rescaled(middles, column.attribute), _rescaled(numbers, column.attribute)
    )


def bounds(column: ReleasedColumn, quantiles: int) -> Block:
    """Encode a region by its two ends, the column's range rescaled to [0, 1]."""
    numbers = _rescaled(_numbers(column.attribute), column.attribute)
    return _block(column, _rescaled(_ends(column), column.attribute), np.repeat(numbers, 2, axis=1))


def middle_bits(column: ReleasedColumn, quantiles: int) -> Block:
    """Encode a region by the bits of its midpoint, rounded down, counted from the lowest value.

    The appendix misprints the bits of 15 (0001111) and the shifted midpoint of [35, 55], which is
    45 − 15 = 30 (0011110).
    """
    low, high = _range(column.attribute)
    if high - low >= LARGEST_WHOLE:
        raise UserError(
            "the encoding Binary needs a numeric column whose values lie less than "
            f"2^53 apart; {column.attribute.name!r} goes from "
            f"{from_data(low, '{:g}'.format)} to {from_data(high, '{:g}'.format)}",
            way_out="Use Scaling",
        )
    largest = int(np.floor(high - low))
    middles = np.floor(_middles(column) - low).astype(np.int64)
    points = np.floor(_numbers(column.attribute)[:, 0] - low).astype(np.int64)
    return _block(column, bits(middles, largest), bits(points, largest))


def quantiles_after(column: ReleasedColumn, quantiles: int) -> Block:
    """Encode a region by the quantiles of the column's domain in which it covers a value.

    The domain is the column's values in the full table, each once, cut into parts of equally many:
    for every age from 15 to 90 and five parts the appendix's 15–29, 30–44, 45–59, 60–74, 75–90.
    """
    attribute = column.attribute
    count = len(attribute.values) - attribute.has_missing
    part = domain_part(count, quantiles)
    parts = int(part.max(initial=0)) + 1
    place_of = np.append(part, parts)  # the missing value, if there is one, is in none of them
    return _block(column, covered_places(column, place_of, parts + 1)[:, :-1], np.eye(parts)[part])


def refuse_numbers(column: ReleasedColumn, quantiles: int) -> Block:
    """Refuse a number under QuantilesB, which leaves none in the table."""
    raise UserError(
        "the encoding QuantilesB cuts numbers into quantiles before sanitizing; "
        f"column {column.attribute.name!r} of the release is numeric",
        way_out="Test quantiles_before(table) instead of the table, or use QuantilesA",
    )


def _numbers(attribute: Attribute) -> Floats:
    """Return the values as one column of floats, without the missing one."""
    return attribute.values[: len(attribute.values) - attribute.has_missing].astype(np.float64)[
        :, None
    ]


def _range(attribute: Attribute) -> tuple[float, float]:
    """Return the lowest and the highest value; a column of missing values alone has neither."""
    numbers = _numbers(attribute)
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)


def _rescaled(numbers: Floats, attribute: Attribute) -> Floats:
    """Move the column's range to [0, 1], or a single value to 0."""
    low, high = _range(attribute)
    return (numbers - low) / ((high - low) or 1.0)


def _ends(column: ReleasedColumn) -> Floats:
    """Return the lowest and highest number of each region, within the column's range."""
    low, high = _range(column.attribute)
    ends = np.array([_region_ends(region, low, high) for region in column.regions], np.float64)
    return np.clip(ends.reshape(-1, 2), low, high)


def _middles(column: ReleasedColumn) -> Floats:
    ends = _ends(column)
    with np.errstate(over="ignore"):
        middles = ends.mean(axis=1)
    return np.where(np.isfinite(middles), middles, (ends / 2).sum(axis=1))


def _region_ends(region: Region, low: float, high: float) -> tuple[float, float]:
    match region:
        case Interval():
            return region.low, region.high
        case ValueSet(values) | Node(_, values):
            numbers = [float(value) for value in values if value is not None]
            return (min(numbers), max(numbers)) if numbers else (low, low)
        case Missing():
            return low, low
    return low, high


def _block(column: ReleasedColumn, regions: Floats, values: Floats) -> Block:
    """Put a block together; the missing value has a feature of its own."""
    attribute = column.attribute
    if not attribute.has_missing:
        return Block(regions, values)
    covered = covered_places(
        column, (np.arange(len(attribute.values)) == attribute.missing_code).astype(np.intp), 2
    )
    return Block(
        np.hstack([np.where(covered[:, :1] > 0, regions, 0.0), covered[:, 1:]]),
        np.vstack(
            [
                np.hstack([values, np.zeros((len(values), 1))]),
                np.append(np.zeros(values.shape[1]), 1.0),
            ]
        ),
    )


def hot(column: ReleasedColumn) -> Block:
    """Encode a region by one feature for each value of the table: 1 where it covers the value."""
    size = len(column.attribute.values)
    return Block(covered_places(column, np.arange(size), size), np.eye(size))


def numbered(column: ReleasedColumn) -> Block:
    """Number the regions that the release shows from 1 and encode each by the bits of its number.

    A value that no region shows alone has the number 0: the model has never seen it.
    """
    regions, values, count = _new_categories(column)
    return Block(bits(regions, count), bits(values, count))


def hot_after(column: ReleasedColumn) -> Block:
    """Encode a region by one feature for each region that the release shows.

    A value that no region shows alone has zeros: the model has never seen it.
    """
    regions, values, count = _new_categories(column)
    chosen = np.vstack([np.zeros(count), np.eye(count)])
    return Block(chosen[regions], chosen[values])


def _new_categories(
    column: ReleasedColumn,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Number what the release shows: single values first, then larger sets, in code order.

    Regions that cover the same values are one category; the numbers of regions and of single
    values are returned, 0 for what no row shows.
    """
    size = len(column.attribute.values)
    covered = covered_places(column, np.arange(size), size) > 0
    shown = np.unique(column.index)
    distinct = np.unique(covered[shown], axis=0)[::-1]  # the set with the first code comes first
    distinct = distinct[np.argsort(distinct.sum(axis=1), kind="stable")]
    number = {row.tobytes(): place for place, row in enumerate(distinct, start=1)}
    regions = np.array([number.get(row.tobytes(), 0) for row in covered], np.int64)
    single = np.eye(size, dtype=bool)
    values = np.array([number.get(row.tobytes(), 0) for row in single], np.int64)
    return regions, values, len(distinct)
