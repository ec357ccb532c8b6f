"""Sensitive attributes that are no column of the source: expressions over columns, and bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from indiff.data.coding import code_sensitive
from indiff.data.expressions import with_expressions
from indiff.data.reading.door import read_raw
from indiff.data.reading.input_files import Reading, is_address
from indiff.data.reading.source import column_names
from indiff.data.table import Table
from indiff.errors import UserError, unknown
from indiff.release.release import Release

Bins = int | Sequence[float]


def with_made_columns(
    source: Any,
    sensitive: Sequence[str],
    bins: Bins | Mapping[str, Bins] | None,
    reading: Reading,
) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the source with a column for every sensitive attribute, and the orders of bins.

    A source whose columns are all there is returned as it is. Otherwise it is read as a test
    reads it, with numbers and dates as such.

    >>> people = pa.table({"age": [30, 41, 55, 62]})
    >>> made, orders = with_made_columns(people, ["age > 40"], None, Reading())
    >>> made["age > 40"].to_pylist(), orders
    (['false', 'true', 'true', 'true'], {})
    """
    edges = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(sensitive, bins)
    for name in edges:
        if name not in sensitive:
            raise unknown("sensitive attribute to bin", name, sensitive, field="bins")
    binned = {name: one for name, one in edges.items() if one is not None}
    if isinstance(source, Table | Release) or _is_elsewhere(source):
        if binned:
            raise UserError("bins are made of a table that is read here; leave bins out.")
        return source, {}
    if not binned and set(sensitive) <= set(column_names(source, reading)):
        return source, {}
    raw, _ = with_expressions(read_raw(source, reading), sensitive, reading.missing_tokens)
    frame, orders = raw.frame, {}
    for name, one in binned.items():
        made = code_sensitive(name, frame[name], None, None, None, one)
        labels = [None if value is None else str(value) for value in made["values"]]
        cells = pa.array(labels, pa.string()).take(pa.array(made["codes"]))
        frame = frame.set_column(frame.column_names.index(name), name, cells)
        orders[name] = tuple(label for label in labels if label is not None)
    return frame, orders


def _is_elsewhere(source: Any) -> bool:
    return isinstance(source, str) and is_address(source)
