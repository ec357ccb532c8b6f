"""Reads off one release the numbers that may tell whether a record was in the table.

They are computed from what is published and from what an adversary knows of the record, and from
nothing else, so that any event about them bounds ε.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Table
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.release.release import Release, ReleasedColumn
from indiff.text import describe

Floats = NDArray[np.float64]

GENERAL = (
    "rows", "total count", "release as a whole", "other columns", "count of its value",
    "rows that cover it", "count of its cell", "count of its cell's other values", "exact copies",
    "finest binary digit of its cell", "distance of the nearest row", "rows that are near",
    "narrowest regions that cover it",
)  # fmt: skip
FARTHEST = 1e6  # where there is no row at all
NO_DIGIT = -1.0  # of a count of 0, which may be one below 0 that was cut off


def default_models() -> tuple[Model, ...]:
    """Return the models whose beliefs are statistics unless others are named."""
    return NaiveBayes(), Frequency()


def statistic_names(table: Table, models: Sequence[Model]) -> tuple[str, ...]:
    """Name the statistics of a release of this table; no value of it is in a name."""
    each = [name for a in table.attributes for name in (f"count by {a.name}", f"pair {a.name}")]
    return (*GENERAL, *each, *(f"belief of {describe(model)}" for model in models))


def statistics_of(release: Release, targets: Table, models: Sequence[Model]) -> Floats:
    """Return the statistics about each of the targets, targets × statistics.

    >>> import pyarrow as pa
    >>> from indiff import Identity, read_table
    >>> table = read_table(pa.table({"age": [30, 30, 61], "ill": ["no", "yes", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> found = statistics_of(Identity().sanitize(table), table.take([2]), ())
    >>> dict(zip(statistic_names(table, ()), found[0].tolist()))["count of its cell"]
    1.0
    """
    weights = np.ones(len(release)) if release.weights is None else release.weights
    width = np.log2(np.stack([_widths(c)[c.index] for c in release.columns])).sum(axis=0)
    whole = [len(release), float(weights.sum()), _digest(release), _carried(release)]
    codes = release.codes_of(targets)
    place = {value: number for number, value in enumerate(release.sensitive_values)}
    classes = [place.get(targets.sensitive.values[c], -1) for c in targets.sensitive.codes.tolist()]
    beliefs = [_true_beliefs(model, release, targets, classes) for model in models]
    found = []
    for number, own_class in enumerate(classes):
        own = release.classes == own_class
        covered = [
            column.covering(int(code))
            for column, code in zip(release.columns, codes[number], strict=True)
        ]
        both = np.logical_and.reduce(covered)
        cell = float(weights[both & own].sum())
        far = _distances(release, codes[number], covered, own)[weights > 0]
        near = far <= 1.0 + 1e-9
        row = [
            *whole, float(weights[own].sum()), int(both.sum()), cell,
            float(weights[both & ~own].sum()), float(weights[both & own & (width == 0)].sum()),
            _finest_digit(cell), float(far.min(initial=FARTHEST)), int(near.sum()),
            float(width[both].min(initial=FARTHEST)),
        ]  # fmt: skip
        for one in covered:
            row += [float(weights[one].sum()), float(weights[one & own].sum())]
        found.append([*row, *(belief[number] for belief in beliefs)])
    return np.array(found, np.float64)


def copies_of(release: Release, table: Table) -> Floats:
    """Count for each record the released rows that show exactly its values and no region."""
    widths = np.stack([_widths(c)[c.index] for c in release.columns], axis=1)
    lows = np.stack([_lowest(c)[c.index] for c in release.columns], axis=1)
    plain = (widths == 1).all(axis=1)
    place = {value: number for number, value in enumerate(release.sensitive_values)}
    own = np.array([place.get(value, -1) for value in table.sensitive.values])
    records = np.column_stack([release.codes_of(table), own[table.sensitive.codes]])
    rows = np.column_stack([lows[plain], release.classes[plain]])
    both = np.concatenate([records, rows]).astype(np.int64)
    back = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    weights = None if release.weights is None else release.weights[plain]
    held = np.bincount(back[len(records) :], weights, minlength=int(back.max(initial=0)) + 1)
    return np.asarray(held[back[: len(records)]], np.float64)


def _true_beliefs(
    model: Model, release: Release, targets: Table, classes: Sequence[int]
) -> list[float]:
    beliefs = np.asarray(model.beliefs(release, targets), np.float64)
    return [float(beliefs[number, own]) if own >= 0 else 0.0 for number, own in enumerate(classes)]


def _widths(column: ReleasedColumn) -> Floats:
    """Return how many values each region covers; at least one, so that a logarithm exists."""
    sizes = (column.span_high - column.span_low + 1).astype(np.float64)
    held = np.bincount(column.span_region, weights=sizes, minlength=column.count)
    return np.maximum(held, 1.0)


def _lowest(column: ReleasedColumn) -> NDArray[np.int64]:
    lowest = np.full(column.count, np.iinfo(np.int32).max, np.int64)
    np.minimum.at(lowest, column.span_region, column.span_low)
    return lowest


def _distances(
    release: Release, codes: NDArray[np.int32], covered: Sequence[NDArray[np.bool_]],
    own: NDArray[np.bool_],
) -> Floats:  # fmt: skip
    """Return how far each row is from the record: the sum over columns, at most 1 each (Gower).

    Between numbers, and between ranks, it is the share of the values in between; else 0 or 1.
    """
    total = (~own).astype(np.float64)
    for column, code, inside in zip(release.columns, codes, covered, strict=True):
        if column.attribute.kind == Kind.CATEGORICAL:
            total += ~inside
            continue
        highest = np.full(column.count, -1, np.int64)
        np.maximum.at(highest, column.span_region, column.span_high)
        away = np.maximum(_lowest(column) - code, code - highest)
        share = np.minimum(away / max(len(column.attribute.values) - 1, 1), 1.0)
        total += np.where(inside, 0.0, share[column.index])
    return total


def _finest_digit(count: float) -> float:
    """Return how many binary digits a count has behind its point.

    A count of 3 has 0, of 2.5 has 1. Noise that is drawn as a floating-point number has digits that
    depend on what it was added to (Mironov 2012).
    """
    if count == 0 or not math.isfinite(count):
        return NO_DIGIT
    return float(count.as_integer_ratio()[1].bit_length() - 1)


def _digest(release: Release) -> float:
    """Return a number that two releases share only if they are the same throughout."""
    digest = hashlib.blake2b(digest_size=6)
    for column in release.columns:
        for part in (column.index, column.span_region, column.span_low, column.span_high):
            digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(np.ascontiguousarray(release.classes).tobytes())
    if release.weights is not None:
        digest.update(np.ascontiguousarray(release.weights).tobytes())
    return float(int.from_bytes(digest.digest()))


def _carried(release: Release) -> float:
    """Return the sum of the numbers in the columns that nothing else here looks at."""
    carried, total = release.carried, 0.0
    for column in () if carried is None else carried.columns:
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            numbers = np.asarray(column.to_numpy(), np.float64)
            total += float(numbers[np.isfinite(numbers)].sum())
    return total
