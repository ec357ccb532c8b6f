"""Tells what was recognised in a release that was read: the shapes of its cells, by column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indiff.release.regions import Anything, Interval, Mask, Missing, Node, Region
from indiff.release.release import Release, ReleasedColumn

ONE, RANGE, SUPPRESSED = "single value", "range", "suppressed"
_OF_DATES = {ONE: "single day", RANGE: "period"}


@dataclass(frozen=True)
class Shape:
    """One shape of a column's cells: how many cells have it, and how many different ones."""

    name: str
    cells: int
    regions: int


def shape_of(region: Region) -> str:
    """Name the shape of a region.

    >>> shape_of(Interval(40, 49)), shape_of(Interval(40, 40)), shape_of(Anything())
    ('range', 'single value', 'suppressed')
    """
    if isinstance(region, Anything):
        return SUPPRESSED
    if isinstance(region, Missing):
        return "missing"
    if isinstance(region, Mask):
        return "masked code"
    if isinstance(region, Interval):
        return ONE if region.low == region.high else RANGE
    if len(region.values) == 1:
        return ONE
    return "group of the hierarchy" if isinstance(region, Node) else "set of values"


def shapes_of(column: ReleasedColumn) -> list[Shape]:
    """Count the shapes of a released column's cells, the most frequent first."""
    rows = np.bincount(column.index, minlength=column.count)
    cells: dict[str, int] = {}
    regions: dict[str, int] = {}
    for region, count in zip(column.regions, rows.tolist(), strict=True):
        if count:
            name = shape_of(region)
            name = _OF_DATES.get(name, name) if column.attribute.is_date else name
            cells[name] = cells.get(name, 0) + count
            regions[name] = regions.get(name, 0) + 1
    found = [Shape(name, count, regions[name]) for name, count in cells.items()]
    return sorted(found, key=lambda shape: (-shape.cells, shape.name))


def recognised(release: Release) -> dict[str, list[Shape]]:
    """Return the shapes of every released quasi-identifier.

    >>> import pyarrow as pa
    >>> from indiff import read_release, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> made = pa.table({"age": ["20-39", "20-39", "*"], "ill": ["no", "yes", "no"]})
    >>> recognised(read_release(made, table))["age"]
    [Shape(name='range', cells=2, regions=1), Shape(name='suppressed', cells=1, regions=1)]
    """
    return {column.attribute.name: shapes_of(column) for column in release.columns}
