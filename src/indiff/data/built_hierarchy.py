"""Builds a hierarchy for a column of a table as asked, and tells what each level merges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.coding import code_attribute
from indiff.data.hierarchy import Hierarchy
from indiff.data.hierarchy_builders import (
    PARTS,
    SIDES,
    date_lines,
    group_lines,
    interval_lines,
    mask_lines,
    nested_widths,
    prefix_lines,
    priority_lines,
)
from indiff.data.hierarchy_levels import Level, count_levels
from indiff.data.reading.door import read_raw
from indiff.errors import UserError, unknown
from indiff.files import write_text

AUTO = "auto"
_DAY_FIRST = r"^\d{1,2}[./-]\d{1,2}[./-]\d{2}(\d{2})?$"
_YEAR_FIRST = r"^\d{4}[./-]\d{1,2}[./-]\d{1,2}$"


@dataclass(frozen=True)
class BuiltHierarchy:
    """A hierarchy with the lines of its file, what its levels merge, and warnings.

    ``tree`` goes into ``read_table(hierarchies={column: tree})``, and ``write`` makes a file.
    """

    column: str
    records: int
    lines: tuple[str, ...]
    tree: Hierarchy
    levels: tuple[Level, ...]
    warnings: tuple[str, ...] = ()

    def write(self, path: str | Path) -> None:
        """Write the lines to a file, privately: it has the values of the column."""
        write_text(Path(path), "\n".join(self.lines) + "\n")

    def __str__(self) -> str:
        """Say level by level how many groups there are and what is merged, without a value."""
        rows = [
            f"level {height}: {level.groups:,} groups of {level.fewest:,} to {level.most:,} "
            f"records; {level.merged_values:,} values and {level.merged_records:,} records merged"
            for height, level in enumerate(self.levels)
        ]
        return "\n".join([*rows, *self.warnings])


def build_hierarchy(
    source: Any,
    column: str,
    *,
    intervals: Sequence[int | float] | str | None = None,
    start: int = 0,
    dates: Sequence[str] | str | None = None,
    mask: str | None = None,
    prefixes: Sequence[int] | str | None = None,
    groups: Sequence[int] | None = None,
    priorities: Sequence[int] | None = None,
    order: Sequence[str] | None = None,
    **reading: Any,
) -> BuiltHierarchy:
    """Build a hierarchy above the values of a column, in one of six ways.

    ``intervals``: widths that nest, from ``start``, or ``"auto"``; ``dates``: parts of the
    calendar (month, quarter, year, decade, or ``"auto"`` for all); ``mask``: characters from the
    ``"right"`` or the ``"left"``; ``prefixes``: how many first characters stay (``[3, 1]``), or
    ``"icd10"``; ``groups``: so many neighbours each, by ``order`` or as they sort;
    ``priorities``: so many values stay, by ``order`` or those that most records hold. ``source``
    and the other options are those of :func:`read_table`.

    >>> table = pa.table({"age": [31, 33, 47, 48, 90]})
    >>> built = build_hierarchy(table, "age", intervals=[10, 50])
    >>> built.lines[0]
    '31;30-39;0-49;*'
    >>> print(built)
    level 0: 5 groups of 1 to 1 records; 0 values and 0 records merged
    level 1: 3 groups of 1 to 2 records; 4 values and 4 records merged
    level 2: 2 groups of 1 to 4 records; 4 values and 4 records merged
    level 3: 1 groups of 5 to 5 records; 5 values and 5 records merged
    """
    asked: Mapping[str, Any] = {
        "intervals": intervals, "dates": dates, "mask": mask, "prefixes": prefixes,
        "groups": groups, "priorities": priorities,
    }  # fmt: skip
    ways = [name for name, value in asked.items() if value is not None]
    if len(ways) != 1:
        raise UserError(
            f"a hierarchy is built in one way: {', '.join(asked)}",
            " and ".join(ways) or "none",
            "Name one",
        )
    if order is not None and ways[0] not in ("groups", "priorities"):
        raise UserError("an order is for groups and priorities.", field="order")
    raw = read_raw(source, **reading)
    if column not in raw.frame.column_names:
        raise raw.explained(unknown("column", column, raw.frame.column_names, field="column"))
    held = raw.frame[column]
    if held.null_count == len(held):
        raise UserError(f"column {column!r} has no value; a hierarchy is built above values.")
    known = order or raw.orders.get(column)
    match ways[0]:
        case "intervals":
            lines = interval_lines(held, _widths(held, asked["intervals"]), start)
        case "dates":
            lines = date_lines(held, PARTS if dates in (AUTO, [AUTO]) else _list(asked["dates"]))
        case "mask":
            lines = mask_lines(held, asked["mask"])
        case "prefixes":
            lines = prefix_lines(held, asked["prefixes"])
        case "groups":
            lines = group_lines(held, asked["groups"], known)
        case _:
            lines = priority_lines(held, asked["priorities"], known)
    tree = code_attribute(column, held, None, None, Hierarchy.from_lines(lines))["hierarchy"]
    levels = count_held(tree, held)
    warnings = _telling(held, levels, mask) if mask is not None else []
    return BuiltHierarchy(
        column, len(held), tuple(lines), tree, tuple(levels), (*tree.notes, *warnings)
    )


def count_held(tree: Hierarchy, column: pa.ChunkedArray) -> list[Level]:
    """Count what each level merges of the values and records of a column."""
    counted = pc.value_counts(column.drop_null().cast(pa.string())).to_pylist()
    return count_levels(tree, {one["values"]: one["counts"] for one in counted})


def _list(given: Sequence[str] | str) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def _widths(column: pa.ChunkedArray, given: Sequence[Any] | str) -> Sequence[Decimal]:
    """Return the widths that were named, or those that fit the numbers."""
    if given not in (AUTO, [AUTO]):
        try:
            return [Decimal(str(width)) for width in _list(given)]
        except InvalidOperation:
            rule = f"intervals are widths, or {AUTO}"
            raise UserError(rule, ", ".join(map(str, _list(given))), "Try 5,10,20,40") from None
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return [Decimal(1)]  # which is refused in the words for a column without numbers
    ends = pc.min_max(column).as_py()
    low, high = Decimal(str(ends["min"])), Decimal(str(ends["max"]))
    whole = bool(pc.all(pc.equal(column, pc.floor(column))).as_py())
    return nested_widths(low, high, whole=whole) or [Decimal(1)]


def _telling(column: pa.ChunkedArray, levels: Sequence[Level], side: str) -> list[str]:
    """Return a warning where masking from this side keeps the part that tells people apart."""
    texts = column.drop_null().unique().cast(pa.string())
    other = SIDES[1 - SIDES.index(side)]
    keeps_days = _DAY_FIRST if side == "right" else _YEAR_FIRST
    if all(re.match(keeps_days, text.as_py()) for text in texts):
        return [
            f"masking from the {side} keeps the day and the month of these dates, the telling "
            "part, and hides the year first; build months and years of them, or mask from the "
            f"{other}"
        ]
    half = len(levels) // 2
    apart, values = levels[half].groups, levels[0].groups
    turned = mask_lines(column, other)
    instead = len({line.split(";")[min(half, line.count(";"))] for line in turned})
    if values >= 10 and apart > 0.9 * values and instead <= 0.5 * values:
        return [
            f"with half of the characters masked from the {side}, {apart:,} of {values:,} values "
            f"still stand apart: the telling part stays; from the {other} it would be {instead:,}"
        ]
    return []
