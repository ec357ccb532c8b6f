"""Tells whether a release repeats records of the original as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.release.regions import is_value
from indiff.release.release import Release, ReleasedColumn

ENOUGH = 0.5  # of the released rows: what repeats so many is a copy, whatever else it has


def repeats(release: Release | None, table: Table) -> list[str]:
    """Say in one sentence, or none, that a release is a copy of records that nobody shares.

    A row repeats a record if it shows the record's own value of every quasi-identifier and of the
    sensitive attribute, and no other record of the original has these quasi-identifiers: whoever
    knows them finds the row, and reads the rest. Said where half as many records as the release has
    rows are repeated; two blank rows are no two copies of one record with blanks.

    >>> import pyarrow as pa
    >>> from indiff import read_release, read_table
    >>> frame = pa.table({"age": [28, 36, 36], "ill": ["no", "yes", "no"]})
    >>> table = read_table(frame, quasi=["age"], sensitive="ill")
    >>> repeats(read_release(frame, table), table)  # one row of three
    []
    >>> said = repeats(read_release(frame.slice(0, 2), table), table)
    >>> said[0].partition(":")[0]
    'the release repeats 1 of its 2 rows unchanged from the original'
    """
    if release is None or release.weights is not None or not len(release):
        return []
    sizes = [len(column.attribute.values) for column in release.columns]
    own = np.stack([table.attribute(column.attribute.name).codes for column in release.columns])
    shown = np.stack([_points(column)[column.index] for column in release.columns])
    known = np.flatnonzero((shown >= 0).all(axis=0))
    both = np.concatenate([own, shown[:, known]], axis=1)
    key = np.zeros(both.shape[1], np.int64)
    for codes, size in zip(both, sizes, strict=True):  # numbered anew: no product overflows
        key = np.unique(key * size + codes, return_inverse=True)[1].ravel()
    mine, theirs = key[: len(table)], key[len(table) :]
    count = np.bincount(mine, minlength=int(key.max(initial=0)) + 1)
    record = np.zeros(len(count), np.intp)
    record[mine] = np.arange(len(table))
    same = table.sensitive.codes[record[theirs]] == release.classes[known]
    found = len(np.unique(record[theirs[(count[theirs] == 1) & same]]))  # each record once
    if found < ENOUGH * len(release) or not found:
        return []
    return [
        f"the release repeats {found:,} of its {len(release):,} rows unchanged from the original: "
        "whoever knows such a person's quasi-identifiers finds the row and reads the sensitive "
        "value"
    ]


def _points(column: ReleasedColumn) -> NDArray[np.int64]:
    """Return the code of the one value that a region names, or −1 where it names more or others."""
    code = np.full(column.count, -1, np.int64)
    code[column.span_region] = column.span_low
    is_point = np.fromiter(map(is_value, column.regions), bool, count=column.count)
    return np.where(is_point, code, -1)
