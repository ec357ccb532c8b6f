"""Normalised certainty penalty: how wide the regions are, against the whole domain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.release.regions import Anything, Interval, Missing, Region
from indiff.release.release import Release, ReleasedColumn
from indiff.utility.groups import check_size


def certainty_penalty(table: Table, release: Release) -> float:
    """Return NCP, from 0 (every cell as it was) to 1 (everything suppressed).

    Xu et al. (2006, Section 3.1): the penalty of a numeric cell is its width over the width of
    the table's domain; of a categorical one the values that it covers (the leaves below a
    hierarchy's node) over all values, and 0 for a single value (Ghinita et al. 2007). Ordinal
    cells are measured by rank, ``*`` costs 1. Attributes weigh equally, and so do records; a
    record that the release lacks costs 1. In a noisy table rows count by their weight.

    It does not see whether the wide cells are those that matter, and it sees no noise: a noisy
    table has the penalty of its bins, whatever its ε.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 48, 53, 72], "ill": list("nynnn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> certainty_penalty(table, Mondrian(k=2).sanitize(table))  # 2 × 8/44 and 3 × 24/44, over 5
    0.4
    """
    check_size(table, release)
    rows = np.zeros(len(release))
    for column in release.columns:
        rows += region_penalties(column)[column.index]
    rows /= max(1, len(release.columns))
    if release.weights is not None:
        total = math.fsum(release.weights)
        return math.fsum(rows * release.weights) / total if total > 0 else math.nan
    return (math.fsum(rows) + len(table) - len(release)) / len(table)


def region_penalties(column: ReleasedColumn) -> NDArray[np.float64]:
    """Return the penalty of each region of a column."""
    attribute = column.attribute
    if attribute.kind == Kind.NUMERIC:
        return _by_width(column)
    stars = np.array([isinstance(region, Anything) for region in column.regions], np.bool_)
    last = len(attribute.values) - 1 - attribute.has_missing
    if attribute.kind == Kind.ORDINAL:
        low = np.full(column.count, last + 1)
        high = np.full(column.count, -1)
        known = column.span_low <= last  # the missing value has no rank
        np.minimum.at(low, column.span_region[known], column.span_low[known])
        np.maximum.at(high, column.span_region[known], np.minimum(column.span_high[known], last))
        penalties = np.maximum(high - low, 0) / max(1, last)
    else:
        size = np.zeros(column.count)
        np.add.at(size, column.span_region, column.span_high - column.span_low + 1)
        penalties = np.where(size > 1, size / len(attribute.values), 0.0)
    return np.where(stars, 1.0, penalties)


def _by_width(column: ReleasedColumn) -> NDArray[np.float64]:
    known: dict[Region, float] = {}
    domain = _domain(column.attribute)
    for region in column.regions:
        if region not in known:
            known[region] = _width(region, domain)
    return np.array([known[region] for region in column.regions], np.float64)


def _domain(attribute: Attribute) -> tuple[float, float]:
    """Return the least and the largest number of the table, from which widths are measured."""
    numbers = attribute.values[: len(attribute.values) - attribute.has_missing]
    return (float(numbers[0]), float(numbers[-1])) if len(numbers) else (0.0, 0.0)


def _width(region: Region, domain: tuple[float, float]) -> float:
    """Return a region's share of the domain; an open end reaches to the domain's."""
    first, last = domain
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
