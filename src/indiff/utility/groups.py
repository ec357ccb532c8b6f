"""Measures how large the groups of released rows are that look the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.regions import Anything
from indiff.release.release import Release, ReleasedColumn


@dataclass(frozen=True)
class Classes:
    """The sizes of the groups of rows with the same regions, and what is suppressed.

    ``starred`` are released rows whose every cell is ``*``; ``lacking`` are records without a row.
    """

    sizes: NDArray[np.int64]
    starred: int
    lacking: int


def classes_of(table: Table, release: Release) -> Classes:
    """Group the rows by what a reader sees: two groups with the same regions are one."""
    check_rows(table, release)
    keys = np.zeros(len(release), np.int64)
    starred = np.ones(len(release), np.bool_)
    for column in release.columns:
        number, stars = _numbered(column)
        pair = keys * (int(number.max(initial=0)) + 1) + number[column.index]
        keys = np.unique(pair, return_inverse=True)[1].ravel().astype(np.int64)
        starred &= stars[column.index]
    sizes = np.bincount(keys[~starred])
    sizes = sizes[sizes > 0].astype(np.int64)
    return Classes(sizes, int(starred.sum()), len(table) - len(release))


def check_rows(table: Table, release: Release) -> None:
    """Refuse releases whose rows do not stand for one record each."""
    if release.weights is not None:
        raise UserError(
            "groups are counted in records, one per row; this release has weighted rows (noisy "
            "counts), which stand for no record."
        )
    check_size(table, release)


def check_size(table: Table, release: Release) -> None:
    """Refuse a release with more rows than its table has records."""
    if release.weights is None and len(release) > len(table):
        raise UserError(
            f"a release has at most one row per record; the table has {len(table):,} "
            f"records and the release {len(release):,} rows",
            way_out="Measure it against the table it was made from",
        )


def _numbered(column: ReleasedColumn) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give equal regions of a column one number, and tell which of them are ``*``."""
    known: dict[object, int] = {}
    number = [known.setdefault(region, len(known)) for region in column.regions]
    stars = [isinstance(region, Anything) for region in column.regions]
    return np.array(number, np.int64), np.array(stars, np.bool_)


def discernibility(table: Table, release: Release) -> int:
    """Return Σ |E|² over groups E, plus n for each suppressed record: absent, or ``*`` throughout.

    The discernibility metric of Bayardo and Agrawal (2005, Section 2.3). It goes from n (every
    record alone) to n². It does not see how wide the regions of a group are: the same groups
    cost the same whether they span a year or a century.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53, 72], "ill": list("nynnn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> discernibility(table, Mondrian(k=2).sanitize(table))  # 2² + 3²
    13
    """
    found = classes_of(table, release)
    return int((found.sizes**2).sum()) + (found.starred + found.lacking) * len(table)


def average_group(table: Table, release: Release) -> float:
    """Return the mean number of records in a group; NaN where there is no row.

    It does not see how unequal the groups are, nor the records that the release lacks.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53, 72], "ill": list("nynnn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> average_group(table, Mondrian(k=2).sanitize(table))
    2.5
    """
    found = classes_of(table, release)
    groups = len(found.sizes) + (found.starred > 0)  # rows of ``*`` alone look the same
    return (int(found.sizes.sum()) + found.starred) / groups if groups else math.nan


def normalised_average_group(average: float, k: int) -> float:
    """Return C_AVG: the average group over the k asked for (LeFevre et al. 2006, Section 2.4).

    1 is the least possible: every group has exactly k records.

    >>> normalised_average_group(2.5, 2)
    1.25
    """
    return average / k
