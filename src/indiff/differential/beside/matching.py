"""Finds each record's own row of a release: by a key or by the order, never by guessing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, option, unknown
from indiff.release.release import Release

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
    if len(release) == table.source.num_rows:
        return table.records.astype(np.intp), []
    if len(release) == len(table):
        return np.arange(len(table), dtype=np.intp), [
            f"the release has the {len(table):,} records that were not dropped, in their order"
        ]
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
    notes = []
    if strangers:
        notes.append(f"{strangers:,} released rows have a key that no record of the table has")
    return matched, notes


def _keys(column: pa.ChunkedArray, key: str, where: str) -> list[str]:
    values = column.to_pylist()
    lacking = sum(value is None or value == "" for value in values)
    texts = [_text(value) for value in values]
    twice = len(texts) - len(set(texts))
    if lacking or twice:
        raise UserError(
            f"a key must be there and different in every row; column {key!r} of "
            f"{where} lacks {lacking:,} and repeats {twice:,} of {len(texts):,}",
            way_out="Choose another key",
            field="key",
        )
    return texts


def _text(value: Any) -> str:
    """Write a key as text: 7, 7.0 and "7" are one key, "007" is another."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
