"""The average size of a group, as it is and against the smallest that was asked for."""

from __future__ import annotations

import math

from indiff.data.table import Table
from indiff.release.release import Release
from indiff.utility.classes import classes_of


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
