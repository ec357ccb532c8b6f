"""Holds what is kept of groups: one row per group size, and extremes over all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

EXACT_SIZES = 50_000
"""Larger groups are kept apart by the logarithm of their size, times ``SIZE_STEPS``."""
SIZE_STEPS = 1000


class SizeRow(NamedTuple):
    """Everything that is kept of the groups of one size.

    ``size`` counts individuals: records where each record is one, distinct individuals otherwise.
    """

    smallest: int
    largest: int
    groups: int
    individuals: int
    records: int
    nlogn: float
    clogc: float
    least_weighted_h: float
    least_h: float
    homogeneous_groups: int
    homogeneous_records: int
    largest_records: int
    least_records: int
    linked: float
    """Σ over records of 1/size: the expected number of correct links."""


@dataclass(frozen=True)
class ValueExtremes:
    """Extremes over all groups of what needs the distribution of a sensitive attribute."""

    top_share: float
    least_distinct: int
    spread: int
    most_ratio: float
    least_ratio: float
    enhanced_excess: float
    runner_up: float
    mixed_reach: float
    reach_bound: float
    homogeneous_reach: float


@dataclass(frozen=True)
class Grouped:
    """Stage two's result for one set of columns and one X."""

    columns: tuple[str, ...]
    rows: tuple[SizeRow, ...]
    extremes: ValueExtremes | None = None

    @cached_property
    def groups(self) -> int:
        """The number of groups, |Ω_Y|."""
        return sum(row.groups for row in self.rows)

    @cached_property
    def records(self) -> int:
        """The number of records, N."""
        return sum(row.records for row in self.rows)

    @cached_property
    def h_groups(self) -> float:
        """H(Y), from Σ n log n."""
        return max(0.0, math.log2(self.records) - self.nlogn / self.records)

    @cached_property
    def nlogn(self) -> float:
        """Σ n log n over groups; exact where sizes are kept apart."""
        return math.fsum(
            row.records * math.log2(row.largest_records)
            if row.least_records == row.largest_records
            else row.nlogn
            for row in self.rows
        )

    @cached_property
    def clogc(self) -> float:
        """Σ c log c over (group, value) pairs."""
        return math.fsum(row.clogc for row in self.rows)


def each_record(rows: Sequence[SizeRow]) -> tuple[SizeRow, ...]:
    """Return what is kept of the same groups when every record is one individual.

    The rows of a sensitive attribute have the sizes already; H(X|y) of n individuals is log₂ n.

    >>> [row] = each_record([SizeRow(4, 4, 3, 12, 12, 24.0, 6.0, 0.0, 0.0, 1, 4, 4, 4, 3.0)])
    >>> row.least_h, row.least_weighted_h, row.homogeneous_groups, row.homogeneous_records
    (2.0, 8.0, 0, 0)
    """
    found = []
    for row in rows:
        h = math.log2(row.smallest)
        clogc, least_weighted_h, least_h = 0.0, row.smallest * h, h
        homogeneous = (row.groups, row.records) if row.largest == 1 else (0, 0)
        before, after = row[:6], row[11:]  # quicker than to replace each by its name
        terms = clogc, least_weighted_h, least_h
        found.append(SizeRow._make((*before, *terms, *homogeneous, *after)))
    return tuple(found)
