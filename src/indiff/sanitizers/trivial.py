"""The two ends of the scale: everything as it is, and nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
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
        return release_of(table, [single_values(a) for a in table.attributes], sanitizer="identity")


@dataclass(frozen=True)
class Suppress:
    """Publish the sensitive values alone: every quasi-identifier cell is ``*``."""

    randomized: ClassVar[bool] = False

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release in which every cell is ``*``."""
        return release_of(table, [anything(a) for a in table.attributes], sanitizer="suppress")


def release_of(
    table: Table,
    columns: Sequence[ReleasedColumn],
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


def single_values(attribute: Attribute) -> ReleasedColumn:
    """Release an attribute as it is: one region per value."""
    codes = np.arange(len(attribute.values), dtype=np.int32)
    return ReleasedColumn(
        attribute,
        attribute.codes,
        codes,
        codes,
        codes,
        len(codes),
        lambda: [region_of(attribute, int(code), int(code)) for code in codes],
    )


def anything(attribute: Attribute) -> ReleasedColumn:
    """Release an attribute as ``*`` everywhere."""
    zero = np.zeros(1, np.int32)
    last = np.array([len(attribute.values) - 1], np.int32)
    rows = np.zeros(len(attribute.codes), np.int32)
    return ReleasedColumn(attribute, rows, zero, zero, last, 1, lambda: [Anything()])


def region_of(attribute: Attribute, low: int, high: int) -> Region:
    """Return the tight region from one code to another: an interval, or a set of values."""
    if attribute.kind != Kind.CATEGORICAL and high == attribute.missing_code:
        return Missing()
    if attribute.kind == Kind.NUMERIC:
        return Interval(_number(attribute, low), _number(attribute, high))
    return ValueSet(frozenset(plain(value) for value in attribute.values[low : high + 1]))


def _number(attribute: Attribute, code: int) -> float | int:
    value = attribute.values[code].item()
    return int(value) if attribute.is_date else value
