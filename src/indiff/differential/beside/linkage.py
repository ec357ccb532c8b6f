"""Links records to the released rows that they could be, by quasi-identifiers alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.release.release import Release, ReleasedColumn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 256  # targets looked up at once
_DENSE = 0.1  # ones per byte, from which on multiplying all is quicker than finding them
_KEPT_BYTES = 1 << 27  # of one column's table of what covers each value


@dataclass(frozen=True, eq=False)
class Linkage:
    """For each record, the released rows whose regions cover it on all quasi-identifiers.

    ``candidates`` counts these rows, ``groups`` the different combinations of regions among them,
    and ``shares`` are the sensitive values of the candidates (those of the whole release where
    there is none), which is what an adversary who looks the record up believes.

    One candidate is not a re-identification: in a sampled, perturbed or synthetic release it may
    be somebody else's row or nobody's. Many candidates are no protection where they all hold the
    same sensitive value (``certain``).
    """

    records: Ints = field(repr=False)
    candidates: Ints = field(repr=False)
    groups: Ints = field(repr=False)
    shares: Floats = field(repr=False)
    classes: NDArray[np.int32] = field(repr=False)
    rows: int

    def __repr__(self) -> str:
        return (
            f"Linkage({len(self.records):,} records to {self.rows:,} released rows, "
            f"unlinked={self.unlinked:,}, unique={self.unique:,}, certain={self.certain:,})"
        )

    @property
    def unlinked(self) -> int:
        """How many records no released row covers."""
        return int((self.candidates == 0).sum())

    @property
    def unique(self) -> int:
        """How many records exactly one released row covers."""
        return int((self.candidates == 1).sum())

    @property
    def certain(self) -> int:
        """How many records have candidates that all hold the record's own sensitive value."""
        return int(((self.candidates > 0) & (self.true_shares == 1)).sum())

    @property
    def true_shares(self) -> Floats:
        """The share of each record's own sensitive value among its candidates."""
        return np.take_along_axis(self.shares, self.classes[:, None], axis=1)[:, 0]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, without any value of the table."""
        return {
            "released_rows": self.rows,
            "records": len(self.records),
            "no_candidate": self.unlinked,
            "one_candidate": self.unique,
            "candidates": _spread(self.candidates),
            "groups": _spread(self.groups),
            "certain": self.certain,
        }


def _spread(counts: Ints) -> dict[str, float]:
    """Return the least, the median, the mean and the most."""
    return {
        "least": int(counts.min()),
        "median": float(np.median(counts)),
        "mean": float(counts.mean()),
        "most": int(counts.max()),
    }


def link(release: Release, table: Table, rows: NDArray[np.intp] | None = None) -> Linkage:
    """Link records of the table (all by default, or these rows) to the rows of a release.

    >>> import pyarrow as pa
    >>> from indiff import read_release, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> release = read_release(pa.table({"age": ["<40", "<40", ">=50"],
    ...                                  "ill": ["yes", "no", "no"]}), table)
    >>> linkage = link(release, table)
    >>> linkage.candidates, linkage.groups, linkage.unlinked
    (array([2, 2, 0]), array([1, 1, 0]), 1)
    """
    targets = table if rows is None else table.take(rows)
    kinds, kind_of = _distinct(np.stack([column.index for column in release.columns]))
    codes = np.stack([targets.attribute(c.attribute.name).codes for c in release.columns])
    distinct, back = _distinct(codes)

    size = len(release.sensitive_values)
    # What one kind of row adds: its rows, then its rows of each sensitive value (by weight).
    adds = np.zeros((kinds.shape[1], 1 + size))
    adds[:, 0] = np.bincount(kind_of, minlength=kinds.shape[1])
    weights = np.ones(len(release)) if release.weights is None else release.weights
    np.add.at(adds, (kind_of, 1 + release.classes), weights)

    covers = [_Covers(c, index) for c, index in zip(release.columns, kinds, strict=True)]
    groups = np.empty(distinct.shape[1], np.int64)
    sums = np.empty((distinct.shape[1], 1 + size))
    for start in range(0, distinct.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        packed = covers[0].of(distinct[0, block])
        for cover, some in zip(covers[1:], distinct[1:, block], strict=True):
            packed &= cover.of(some)
        groups[block] = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
        sums[block] = _add_up(packed, adds, int(groups[block].sum()))
    shares = _shares(sums[:, 1:], release.class_totals())
    return Linkage(
        records=targets.records,
        candidates=sums[:, 0].astype(np.int64)[back],
        groups=groups[back],
        shares=shares[back],
        classes=targets.sensitive.codes,
        rows=len(release),
    )


def _add_up(packed: NDArray[np.uint8], adds: Floats, pairs: int) -> Floats:
    """Return for each row of bits the sum of what the kinds with a 1 add."""
    if pairs > packed.size * _DENSE:
        return np.unpackbits(packed, axis=1, count=len(adds)).astype(np.float64) @ adds
    row, byte = np.nonzero(packed)
    within, bit = np.nonzero(np.unpackbits(packed[row, byte][:, None], axis=1))
    row, kind = row[within], 8 * byte[within] + bit
    return np.stack(
        [np.bincount(row, added[kind], minlength=len(packed)) for added in adds.T], axis=1
    )


def _shares(counts: Floats, overall: Floats) -> Floats:
    """Turn counts into shares; where nothing was counted, the whole release's."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1), overall / overall.sum())


def _distinct(columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return the distinct columns of a matrix, and for each column which of them it is."""
    order = np.lexsort(columns[::-1])
    ordered = columns[:, order]
    fresh = np.ones(ordered.shape[1], dtype=bool)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    back = np.empty(len(order), np.intp)
    back[order] = np.cumsum(fresh) - 1
    return ordered[:, fresh], back


class _Covers:
    """Which kinds of released rows cover a value of one column: a bit for each kind."""

    def __init__(self, column: ReleasedColumn, index: NDArray[np.int32]) -> None:
        self._column = column
        self._index = index
        order = np.argsort(column.span_region, kind="stable")
        self._low, self._high = column.span_low[order], column.span_high[order]
        self._spanned, self._starts = np.unique(column.span_region[order], return_index=True)
        self._one_span = len(self._spanned) == len(order) == column.count
        if self._one_span:
            self._low, self._high = self._low[index], self._high[index]
        values = len(column.attribute.values)
        self._all: NDArray[np.uint8] | None = None
        if values * (len(index) // 8 + 1) <= _KEPT_BYTES:
            pieces = [
                self._pack(np.arange(start, min(start + _BLOCK, values), dtype=np.int32))
                for start in range(0, values, _BLOCK)
            ]
            self._all = np.concatenate(pieces)

    def of(self, codes: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return a new row of bits for each code."""
        if self._all is not None:
            return self._all[codes]
        some, back = np.unique(codes, return_inverse=True)
        return self._pack(some)[back.ravel()]

    def _pack(self, codes: NDArray[np.int32]) -> NDArray[np.uint8]:
        spans = self._low <= codes[:, None]
        spans &= codes[:, None] <= self._high
        if self._one_span:  # of each kind already
            return np.packbits(spans, axis=1)
        inside = np.zeros((len(codes), self._column.count), dtype=bool)
        if len(self._spanned):
            inside[:, self._spanned] = np.logical_or.reduceat(spans, self._starts, axis=1)
        return np.packbits(inside[:, self._index], axis=1)
