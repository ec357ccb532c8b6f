"""The encodings of categorical and ordinal columns (DIT v1, Appendix A.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.inference.encodings.block import Block, bits, covered_places
from indiff.release.release import ReleasedColumn


def hot(column: ReleasedColumn) -> Block:
    """Encode a region by one feature for each value of the table: 1 where it covers the value."""
    size = len(column.attribute.values)
    return Block(covered_places(column, np.arange(size), size), np.eye(size))


def binary(column: ReleasedColumn) -> Block:
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
