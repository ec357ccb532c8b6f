"""Measures how much of its column a region leaves open, from 0 (one value) to 1 (``*``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.release.regions import Anything, Interval, Missing, Region
from indiff.release.release import ReleasedColumn


def stars(column: ReleasedColumn) -> NDArray[np.bool_]:
    """Tell which regions of a column are ``*``."""
    return np.array([isinstance(region, Anything) for region in column.regions], np.bool_)


def region_penalties(column: ReleasedColumn) -> NDArray[np.float64]:
    """Return the penalty of each region of a column, as NCP has it (Xu et al. 2006, Section 3.1).

    A numeric region's width over that of the table's domain, an ordinal one's by rank; of a
    categorical one the values that it covers over all values, and 0 for a single value.
    """
    attribute = column.attribute
    if attribute.kind == Kind.NUMERIC:
        known = attribute.values[: len(attribute.values) - attribute.has_missing]
        domain = (float(known[0]), float(known[-1])) if len(known) else (0.0, 0.0)
        widths = {region: _width(region, *domain) for region in set(column.regions)}
        return np.array([widths[region] for region in column.regions], np.float64)
    last = len(attribute.values) - 1 - attribute.has_missing
    if attribute.kind == Kind.ORDINAL:
        low = np.full(column.count, last + 1)
        high = np.full(column.count, -1)
        ranked = column.span_low <= last  # the missing value has no rank
        np.minimum.at(low, column.span_region[ranked], column.span_low[ranked])
        np.maximum.at(high, column.span_region[ranked], np.minimum(column.span_high[ranked], last))
        penalties = np.maximum(high - low, 0) / max(1, last)
    else:
        size = np.zeros(column.count)
        np.add.at(size, column.span_region, column.span_high - column.span_low + 1)
        penalties = np.where(size > 1, size / len(attribute.values), 0.0)
    return np.where(stars(column), 1.0, penalties)


def _width(region: Region, first: float, last: float) -> float:
    """Return a region's share of the table's numbers; an open end reaches to their end."""
    match region:
        case Anything():
            return 1.0
        case Missing():
            return 0.0
        case Interval():
            low, high = region.low, region.high
        case _:
            numbers = [v for v in getattr(region, "values", ()) if isinstance(v, int | float)]
            low, high = (min(numbers), max(numbers)) if numbers else (first, first)
    if last <= first:
        return 0.0
    return max(0.0, min(high, last) - max(low, first)) / (last - first)
