"""QuantilesB: numbers become quantiles before a table is sanitized (DIT v1, Appendix A.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from indiff.data.schema import Kind, Schema
from indiff.data.table import Attribute, Table
from indiff.errors import check_whole
from indiff.sanitizers.noise.grid import Axis, quantile_axis

NOTE = (
    "numbers were cut into quantiles of the full table before sanitizing: what making the "
    "quantiles from the records tells is not measured"
)


def quantiles_before(table: Table, quantiles: int = 5) -> Table:
    """Return the table with every numeric quasi-identifier replaced by its quantile.

    A step before f, not an encoding of the release: test the table that this returns. The
    quantiles come once from the full table and stay when a record is left out; they are ordered
    categories from then on.

    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [21, 25, 30, 38, 52, 64], "ill": list("ynynyn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> quantiles_before(table, 3).attribute("age").values
    array(['21 to 25', '30 to 38', '52 to 64'], dtype=object)
    """
    check_whole("quantiles", quantiles, 2)
    numeric = {a.name for a in table.attributes if a.kind == Kind.NUMERIC}
    if not numeric:
        return table
    attributes = tuple(
        _as_quantiles(a, quantiles) if a.name in numeric else a for a in table.attributes
    )
    source = table.source
    for attribute in attributes:
        if attribute.name in numeric:
            cells = np.full(source.num_rows, None, dtype=object)
            cells[table.records] = attribute.values[attribute.codes]
            place = source.column_names.index(attribute.name)
            source = source.set_column(place, attribute.name, pa.array(cells, pa.string()))
    columns = tuple(
        replace(c, kind=Kind.ORDINAL, is_date=False) if c.name in numeric else c
        for c in table.schema
    )
    return replace(
        table,
        schema=Schema(columns),
        attributes=attributes,
        source=source,
        notes=(*table.notes, NOTE),
    )


def _as_quantiles(attribute: Attribute, quantiles: int) -> Attribute:
    axis: Axis = quantile_axis(attribute, quantiles)
    numbers = attribute.values[: len(attribute.values) - attribute.has_missing]
    part = axis.bin_of[: len(numbers)]
    count = int(part.max(initial=-1)) + 1
    values = np.empty(count + attribute.has_missing, dtype=object)  # the last stays None: missing
    for place in range(count):
        held = numbers[part == place]
        values[place] = _label(attribute, held[0], held[-1])
    codes = np.append(part, count)[attribute.codes].astype(np.int32)
    return Attribute(attribute.name, Kind.ORDINAL, values, codes, has_missing=attribute.has_missing)


def _label(attribute: Attribute, low: Any, high: Any) -> str:
    """Name a quantile by its lowest and highest value."""
    ends = [
        str(np.datetime64(int(end), "D")) if attribute.is_date else str(end) for end in (low, high)
    ]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
