"""Measures what a reader of the release sees of each column: how coarse it has become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from indiff.data.table import Table
from indiff.release.regions import is_value
from indiff.release.release import Release, ReleasedColumn


def released_columns(releases: Sequence[Release], table: Table) -> list[dict[str, Any]]:
    """Return every column of table and release with its role, and what became of it.

    Of several releases, one for each sensitive attribute, the first tells of the others' columns.
    """
    release = releases[0] if releases else None
    roles = {column.name: str(column.role) for column in table.schema}
    how: dict[str, str] = {}
    seen: dict[str, dict[str, Any]] = {}
    if release is not None:
        for column in release.columns:
            name = column.attribute.name
            raw, part = _seen(column)
            how[name] = "unchanged" if raw else "coarser"
            if release.weights is None and len(release):
                seen[name] = part
        binned = {one.name for one in table.sensitives if one.binned}
        for one in releases:
            kept = "coarser" if one.sensitive_name in binned else "unchanged"
            how |= dict.fromkeys(one.sensitive_columns or (one.sensitive_name,), kept)
        carried = release.carried
        for name in () if carried is None else carried.column_names:
            how.setdefault(name, "unmeasured")
    return [
        {
            "name": name,
            "role": roles.get(name),
            "how": how.get(name, "left out"),
            "seen": seen.get(name),
        }
        for name in dict.fromkeys([*roles, *how])
    ]


def _seen(column: ReleasedColumn) -> tuple[bool, dict[str, Any]]:
    """Tell whether every row shows its value as it is, and count what its cells stand for.

    ``typical`` is the median of how many of the table's values a cell may stand for. Only counts
    and shares are told, never a value.
    """
    widths = np.zeros(column.count, np.int64)
    np.add.at(widths, column.span_region, column.span_high - column.span_low + 1)
    used, rows = np.unique(column.index, return_counts=True)
    cells, total = widths[used], max(int(rows.sum()), 1)
    exact = np.array(
        [
            width == 1 and is_value(column.make_region(i))
            for i, width in zip(used, cells, strict=True)
        ],
        bool,
    )
    values = len(column.attribute.values)
    whole = (cells >= values) & (values > 1)
    order = np.argsort(cells, kind="stable")
    middle = int(np.searchsorted(np.cumsum(rows[order]), (total + 1) // 2))
    return bool(exact.all()), {
        "values": values,
        "released": len(np.unique(column.same[used])),
        "typical": int(cells[order][middle]) if len(cells) else 0,
        "exact": float(rows[exact].sum() / total),
        "suppressed": float(rows[whole].sum() / total),
    }
