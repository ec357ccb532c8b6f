"""The two ends of the scale: everything as it is, and nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet, plain
from indiff.release.release import Release, ReleasedColumn


@dataclass(frozen=True)
class Identity:
    """Publish the raw table: the papers' k = 1 and ℓ = 1 (DIT v2, Section 4.5.1)."""

    randomized: ClassVar[bool] = False

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release in which every cell is its own value."""
        values = [(a, np.arange(len(a.values), dtype=np.int32)) for a in table.attributes]
        columns = [span_column(a, a.codes, each, each, region_of) for a, each in values]
        return release_of(table, columns, sanitizer="identity")


@dataclass(frozen=True)
class Suppress:
    """Publish the sensitive values alone: every quasi-identifier cell is ``*``."""

    randomized: ClassVar[bool] = False

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release in which every cell is ``*``."""
        return release_of(table, map(anything, table.attributes), sanitizer="suppress")


def release_of(
    table: Table,
    columns: Iterable[ReleasedColumn],
    *,
    sanitizer: str,
    groups: NDArray[np.int32] | None = None,
    constraint_met: bool | None = None,
) -> Release:
    """Put a release of these columns together, one row per record of the table."""
    return Release(
        columns=tuple(columns),
        sensitive_name=table.sensitive.name,
        sensitive_values=table.sensitive.values,
        classes=table.sensitive.codes,
        groups=groups,
        constraint_met=constraint_met,
        backend=table.backend,
        sanitizer=sanitizer,
        sensitive_columns=table.sensitive.columns,
    )


def span_column(
    attribute: Attribute,
    index: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    make: Callable[[Attribute, int, int], Region],
) -> ReleasedColumn:
    """Release an attribute by regions that go from one code to another, ``index`` for each row."""

    def make_regions() -> list[Region]:
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
        known = {pair: make(attribute, *pair) for pair in dict.fromkeys(pairs)}
        return [known[pair] for pair in pairs]

    numbers = np.arange(len(low), dtype=np.int32)
    return ReleasedColumn(attribute, index, numbers, low, high, len(low), make_regions)


def anything(attribute: Attribute) -> ReleasedColumn:
    """Release an attribute as ``*`` everywhere."""
    last = np.array([len(attribute.values) - 1], np.int32)
    rows = np.zeros(len(attribute.codes), np.int32)
    return span_column(attribute, rows, np.zeros(1, np.int32), last, lambda *_: Anything())


def region_of(attribute: Attribute, low: int, high: int) -> Region:
    """Return the tight region from one code to another: an interval, or a set of values."""
    if attribute.kind != Kind.CATEGORICAL and high == attribute.missing_code:
        return Missing()
    if attribute.kind == Kind.NUMERIC:
        first, last = attribute.values[low].item(), attribute.values[high].item()
        return Interval(int(first), int(last)) if attribute.is_date else Interval(first, last)
    return ValueSet(frozenset(plain(value) for value in attribute.values[low : high + 1]))
