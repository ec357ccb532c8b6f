"""Finds another name for a sensitive expression that holds a rare value: "a condition on pay"."""

from __future__ import annotations

import math
import re

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.expressions import evaluate
from indiff.data.side_files import label_of
from indiff.data.table import Table
from indiff.errors import UserError

_TEXT, _NAME, _NUMBER = r"'(?:[^']|'')*'", r'"(?:[^"]|"")*"', r"\.?\d[\w.]*"
_PART = re.compile(
    rf"(?P<text>{_TEXT})|(?P<name>{_NAME})|(?P<number>{_NUMBER})|(?P<comment>--|/\*)"
    r"|(?P<plain>[^\W\d]\w*|\s|[-<>=!+*/%()|&,.:~^])|(?P<strange>.)",
    re.DOTALL,
)


def other_names(table: Table, min_cell: int) -> dict[str, str]:
    """Return another name for every sensitive expression that holds what a report may not name.

    A text in it may be named if at least ``min_cell`` records hold it, a number also if none do
    and that many lie on both of its sides, as an ordinary threshold does. Of anything else nobody
    knows what it tells.

    >>> from indiff.data.table import read_table
    >>> people = pa.table({"age": [30, 30, 47, 47, 47, 80], "pay": [1, 2, 3, 4, 5, 762_431]})
    >>> def named(expression):
    ...     read = read_table(people, quasi=["age"], sensitive=expression)
    ...     return other_names(read, min_cell=2)
    >>> named("pay > 2.5"), named("pay > 5")
    ({}, {'pay > 5': 'a condition on pay'})
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(one for each in table.sensitives for one in each.columns):
        columns = _looked_at(table, name)
        if columns is not None and not _may_be_named(name, columns, table, min_cell):
            found[name] = _free(_name_without_values(table, name, columns), [*found.values()])
    return found


def _looked_at(table: Table, name: str) -> tuple[str, ...] | None:
    """Return the columns that an expression looks at; None where the name is a column's."""
    if name.isidentifier():
        return None
    try:
        return evaluate(table.source.drop_columns([name]), name)[1]
    except UserError:
        return None


def _may_be_named(expression: str, columns: tuple[str, ...], table: Table, min_cell: int) -> bool:
    known = {name.casefold() for name in table.source.column_names}
    cells = [table.source[name] for name in columns]
    for part in _PART.finditer(expression):
        text = part.group()
        match part.lastgroup:
            case "text":
                allowed = _held_enough(text[1:-1].replace("''", "'"), cells, min_cell)
            case "number":
                allowed = _threshold(text, cells, min_cell)
            case "name":
                allowed = text[1:-1].replace('""', '"').casefold() in known
            case kind:
                allowed = kind == "plain"
        if not allowed:
            return False
    return True


def _held_enough(text: str, columns: list[pa.ChunkedArray], min_cell: int) -> bool:
    counts = [held(cells, text) for cells in columns]
    return max(counts, default=0) >= min_cell and not any(0 < one < min_cell for one in counts)


def _threshold(text: str, columns: list[pa.ChunkedArray], min_cell: int) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    if any(0 < held(cells, text) < min_cell for cells in columns):
        return False
    return _held_enough(text, columns, min_cell) or any(
        min(_count(pc.less(one, number)), _count(pc.greater(one, number))) >= min_cell
        for one in (_numbers(cells) for cells in columns)
        if one is not None
    )


def held(cells: pa.ChunkedArray, value: object) -> int:
    """Count the records that hold a value, which may be given as text.

    >>> held(pa.chunked_array([[3, 4, 4]]), "4.0"), held(pa.chunked_array([["a", None]]), "a")
    (2, 1)
    """
    text, numbers = label_of(value), _numbers(cells)
    if numbers is None:
        return _count(pc.equal(cells.cast(pa.string()), text))
    try:
        number = float(text)
    except ValueError:
        return 0
    return 0 if math.isnan(number) else _count(pc.equal(numbers, number))


def _numbers(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        return cells.cast(pa.float64(), safe=False)
    return None


def _count(told: pa.ChunkedArray) -> int:
    return int(pc.sum(told).as_py() or 0)


def _name_without_values(table: Table, name: str, columns: tuple[str, ...]) -> str:
    values = set(table.source[name].unique().to_pylist()) - {None}
    what = "a condition on" if values <= {"true", "false"} else "an expression over"
    return f"{what} {' and '.join(columns) or 'nothing'}"


def _free(name: str, taken: list[str]) -> str:
    number = sum(one == name or one.startswith(f"{name} (") for one in taken)
    return name if not number else f"{name} ({number + 1})"
