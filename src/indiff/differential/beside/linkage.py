"""Links each record to the released rows it could be, or, by a key or the order, to its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, option, unknown
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
    there is none), which is what an adversary who looks the record up by coverage believes.

    Not all candidates are alike: a row of ``*`` covers everybody and points to nobody. A candidate
    j is weighed by w_j = ∏_c 1 / n_c(R_jc), where n_c(R) is how many records of the table have a
    value in region R of column c: the likelihood of the record's values, column by column, if it
    is a record like any other of that region. Before looking, every released row is as likely as
    any other, so the record is row j with the probability w_j / Σ w (over its candidates).
    ``closest`` counts the candidates of the largest weight, the most specific ones, and
    ``posterior`` is the probability of one of them; both are 0 where there is no candidate. Rows
    that say nothing leave ``closest`` as it is, however many are added.

    One candidate is not a re-identification: in a sampled, perturbed or synthetic release it may
    be somebody else's row or nobody's. Many candidates are no protection where they all hold the
    same sensitive value (``certain``, of the closest ones).
    """

    records: Ints = field(repr=False)
    candidates: Ints = field(repr=False)
    groups: Ints = field(repr=False)
    shares: Floats = field(repr=False)
    classes: NDArray[np.int32] = field(repr=False)
    rows: int
    closest: Ints = field(repr=False)
    posterior: Floats = field(repr=False)
    closest_shares: Floats = field(repr=False)

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
        """How many records have exactly one candidate that is more specific than all others."""
        return int((self.closest == 1).sum())

    @property
    def certain(self) -> int:
        """How many records' closest candidates all hold the record's own sensitive value."""
        own = of_own_value(self.closest_shares, self.classes)
        return int(((self.closest > 0) & (own == 1)).sum())

    @property
    def true_shares(self) -> Floats:
        """The share of each record's own sensitive value among its candidates."""
        return of_own_value(self.shares, self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, without any value of the table."""
        return {
            "released_rows": self.rows,
            "records": len(self.records),
            "no_candidate": self.unlinked,
            "one_candidate": self.unique,
            "candidates": spread(self.candidates),
            "closest": spread(self.closest),
            "posterior": spread(self.posterior),
            "groups": spread(self.groups),
            "certain": self.certain,
        }


def of_own_value(each: Floats, classes: NDArray[np.int32]) -> Floats:
    """Return what a table, records × sensitive values, says of each record's own value."""
    return np.take_along_axis(each, classes[:, None], axis=1)[:, 0]


def spread(numbers: Ints | Floats) -> dict[str, float]:
    """Return the least, the median, the mean and the most."""
    return {
        "least": numbers.min().item(),
        "median": float(np.median(numbers)),
        "mean": float(numbers.mean()),
        "most": numbers.max().item(),
    }


def link(release: Release, table: Table, rows: NDArray[np.intp] | None = None) -> Linkage:
    """Link records of the table (all by default, or these rows) to the rows of a release."""
    targets = table if rows is None else table.take(rows)
    kinds, kind_of = distinct_columns(np.stack([column.index for column in release.columns]))
    logs = specificity(release, table, kinds)
    order = np.argsort(-logs, kind="stable")
    weights = logs[order]
    kinds, kind_of = kinds[:, order], np.argsort(order)[kind_of]
    codes = np.stack([targets.attribute(c.attribute.name).codes for c in release.columns])
    distinct, back = distinct_columns(codes)
    # What one kind of row adds: its rows, then its rows of each value.
    adds = np.zeros((kinds.shape[1], 1 + len(release.sensitive_values)))
    adds[:, 0] = np.bincount(kind_of, minlength=len(adds))
    np.add.at(adds, (kind_of, 1 + release.classes), 1)
    covers = [_Covers(c, index) for c, index in zip(release.columns, kinds, strict=True)]
    groups = np.empty(distinct.shape[1], np.int64)
    sums = np.empty((distinct.shape[1], adds.shape[1]))
    closest, chance = np.empty_like(sums), np.empty(distinct.shape[1])
    for start in range(0, distinct.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        packed = covers[0].of(distinct[0, block])
        for cover, some in zip(covers[1:], distinct[1:, block], strict=True):
            packed &= cover.of(some)
        groups[block] = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
        sums[block], closest[block], chance[block] = _add_up(
            packed, adds, weights, int(groups[block].sum())
        )
    totals = release.class_totals()
    return Linkage(
        records=targets.records,
        candidates=sums[:, 0].astype(np.int64)[back],
        groups=groups[back],
        shares=_shares(sums[:, 1:], totals)[back],
        classes=targets.sensitive.codes,
        rows=len(release),
        closest=closest[:, 0].astype(np.int64)[back],
        posterior=chance[back],
        closest_shares=_shares(closest[:, 1:], totals)[back],
    )


def specificity(release: Release, table: Table, kinds: NDArray[np.int32]) -> Floats:
    """Return the log weights of kinds of rows, a column of region numbers for each kind.

    They are rounded, so that the same product of other factors is the same weight.
    """
    logs = np.zeros(kinds.shape[1])
    for column, index in zip(release.columns, kinds, strict=True):
        codes = table.attribute(column.attribute.name).codes
        counts = np.bincount(codes, minlength=len(column.attribute.values))
        below = np.concatenate([[0], np.cumsum(counts)])
        held = np.zeros(column.count)
        spanned = below[column.span_high + 1] - below[column.span_low]
        np.add.at(held, column.span_region, spanned)
        logs -= np.log(np.maximum(held, 1))[index]
    return np.round(logs, 9)


def _add_up(
    packed: NDArray[np.uint8], adds: Floats, weights: Floats, pairs: int
) -> tuple[Floats, Floats, Floats]:
    """Return for each row of bits what the kinds with a 1 add, and what the closest of them add.

    The kinds stand in the order of their log weights, so the first 1 is one of the closest. The
    third is the probability of one row of these.
    """
    size, told = len(packed), np.column_stack([adds, adds[:, 0] * np.exp(weights - weights[0])])
    best = np.full(size, np.inf)
    if pairs > packed.size * _DENSE:
        inside = np.unpackbits(packed, axis=1, count=len(adds)).view(bool)
        found = np.flatnonzero(inside.any(axis=1))
        best[found] = weights[inside[found].argmax(axis=1)]
        near_row, near_kind = np.nonzero(inside & (weights == best[:, None]))
        sums = inside.astype(np.float64) @ told
    else:
        row, byte = np.nonzero(packed)
        within, bit = np.nonzero(np.unpackbits(packed[row, byte][:, None], axis=1))
        row, kind = row[within], 8 * byte[within] + bit
        found, first = np.unique(row, return_index=True)
        best[found] = weights[kind[first]]
        is_near = weights[kind] == best[row]
        near_row, near_kind = row[is_near], kind[is_near]
        sums = _sum_pairs(row, kind, told, size)
    closest = _sum_pairs(near_row, near_kind, told, size)
    # What is too small for a number of ours counts for nothing beside the closest.
    total = np.maximum(sums[:, -1] * np.exp(np.minimum(weights[0] - best, 700)), closest[:, 0])
    chance = np.divide(1, total, out=np.zeros(size), where=total > 0)
    return sums[:, :-1], closest[:, :-1], chance


def _sum_pairs(row: NDArray[np.intp], kind: NDArray[np.intp], told: Floats, size: int) -> Floats:
    """Return what the kinds of each row tell, summed up."""
    return np.stack([np.bincount(row, one[kind], minlength=size) for one in told.T], axis=1)


def _shares(counts: Floats, overall: Floats) -> Floats:
    """Turn counts into shares; where nothing was counted, the whole release's."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1), overall / overall.sum())


def distinct_columns(columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
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


Rows = NDArray[np.intp]


def match_in_order(table: Table, release: Release) -> tuple[Rows, list[str]]:
    """Return each record's row in a release whose rows are declared to be in the input's order.

    >>> import pyarrow as pa
    >>> from indiff import read_release, read_table
    >>> table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> match_in_order(table, read_release(table.source, table))
    (array([0, 1]), [])
    """
    told = f"the release has the {len(table):,} records that were not dropped, in their order"
    for left_out in ((), release.left_out):  # rows that say nothing may be more, or instead
        size = len(release) + len(left_out)
        row = np.full(size, -1, np.intp)
        row[np.delete(np.arange(size), left_out)] = np.arange(len(release))
        if size == table.source.num_rows:
            return row[table.records], []
        if size == len(table):
            return row, [told]
    raise UserError(
        f"{option('rows_in_order')} needs as many released rows as records",
        f"{len(release):,} rows for {table.source.num_rows:,} records",
        f"Match them with {option('key')}",
        field="rows_in_order",
    )


def match_by_key(table: Table, frame: pa.Table, key: str) -> tuple[Rows, list[str]]:
    """Return each record's row in a release by a column of both; −1 where it has none.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(pa.table({"id": [7, 8, 9], "age": [28, 36, 50],
    ...                              "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill", identifier="id")
    >>> match_by_key(table, pa.table({"id": ["9", "7"]}), "id")
    (array([ 1, -1,  0]), [])
    """
    for what, names in (("original", table.source.column_names), ("release", frame.column_names)):
        if key not in names:
            raise unknown(f"column of the {what} for the key", key, names, field="key")
    own = _keys(table.source[key].take(pa.array(table.records)), key, "the original")
    released = _keys(frame[key], key, "the release")
    place = {text: row for row, text in enumerate(released)}
    matched = np.array([place.get(text, -1) for text in own], np.intp)
    strangers = len(set(released) - set(own))
    note = f"{strangers:,} released rows have a key that no record of the table has"
    return matched, [note] if strangers else []


def _keys(column: pa.ChunkedArray, key: str, where: str) -> list[str]:
    values = column.to_pylist()
    lacking = sum(value is None or value == "" for value in values)
    # 7, 7.0 and "7" are one key, "007" is another.
    texts = [str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in values]
    twice = len(texts) - len(set(texts))
    if lacking or twice:
        raise UserError(
            f"a key must be there and different in every row; column {key!r} of "
            f"{where} lacks {lacking:,} and repeats {twice:,} of {len(texts):,}",
            way_out="Choose another key",
            field="key",
        )
    return texts
