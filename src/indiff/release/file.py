"""The columns of a released table, read as the original's are: text, counts, sensitive values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.reading.door import Raw, read_raw
from indiff.data.reading.input_files import Reading, format_of, opened
from indiff.data.reading.separated import SeparatedText
from indiff.data.table import Table
from indiff.errors import UserError, from_data


def read_released(source: Any, table: Table, *, encoding: str | None = None) -> Raw:
    """Read a released file or frame; text stays as written, though it may look like numbers.

    In separated text ``1.0`` and ``1e5`` are numbers to a reader, and no longer the values ``1.0``
    and ``1e5`` that the original column of text has.

    >>> import tempfile
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"code": ["1.0", "2.50"], "ill": ["no", "yes"]}),
    ...                    quasi=["code"], sensitive="ill")
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("code,ill\\n1.0,no\\n2.50,yes\\n")
    ...     file.flush()
    ...     read_released(file.name, table).frame["code"].to_pylist()
    ['1.0', '2.50']
    """
    raw = read_raw(source, encoding=encoding, missing_tokens=(), detect=False)
    if not isinstance(source, str | Path) or format_of(source) != "text":
        return raw
    frame = raw.frame
    changed = [
        name
        for name in frame.column_names
        if name in table.source.column_names
        and pa.types.is_string(table.source[name].type)
        and not pa.types.is_string(frame[name].type)
    ]
    if changed:
        with opened(Path(source)) as file:
            cells = SeparatedText(file, repr(str(source)), Reading(encoding=encoding)).table()
        for name in changed:
            frame = frame.set_column(frame.column_names.index(name), name, cells[name])
    return replace(raw, frame=frame)


def read_weights(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the counts of a noisy table, or refuse what counts nothing."""
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    weights = np.asarray(column.to_numpy(), np.float64) if number else np.empty(0)
    wrong = np.flatnonzero(~(weights >= 0))  # a missing number is not
    if not number or len(wrong):
        got = f"row {int(wrong[0]) + 1} has none" if number else f"it holds {column.type}s"
        raise UserError(
            f"the column 'weight' of a release must have a count of at least 0 in every row; {got}",
            way_out="Write 0 for a negative count, or rename the column",
        )
    return weights


def says_nothing(column: pa.ChunkedArray, suppressed: Collection[str] = ()) -> bool:
    """Tell whether every cell of a released column is suppressed or blank.

    >>> says_nothing(pa.chunked_array([["*", None, "*"]])), says_nothing(pa.chunked_array([[1]]))
    (True, False)
    """
    hidden = {"*", "", *(token.strip() for token in suppressed)}
    return all(
        (cell or "").strip() in hidden for cell in column.unique().cast(pa.string()).to_pylist()
    )


def read_classes(frame: pa.Table, table: Table) -> NDArray[np.int32]:
    """Return the place of each row's sensitive value among the table's."""
    sensitive = table.sensitive
    joint = isinstance(sensitive.values[0], tuple)
    values = [value if joint else (value,) for value in sensitive.values]
    place = {tuple(map(_text, value)): code for code, value in enumerate(values)}
    parts = [
        _texts(frame[name], [value[spot] for value in values])
        for spot, name in enumerate(sensitive.columns)
    ]
    cells = list(zip(*parts, strict=True))
    if len(place) < len(sensitive.values):
        raise UserError(
            f"a release must tell the values of {sensitive.name!r} apart, but two of "
            "them are written alike, the empty text and the missing value",
            way_out="Read the table with '' among its missing_tokens",
        )
    classes = np.empty(len(cells), np.int32)
    for row, cell in enumerate(cells):
        if cell not in place:
            raise UserError(
                f"row {row + 1} of the release, column {sensitive.name!r}: "
                f"{from_data(cell if joint else cell[0])} is not a sensitive value of the table; a "
                "release keeps the sensitive values as they are."
            )
        classes[row] = place[cell]
    return classes


def _texts(column: pa.ChunkedArray, values: Sequence[Any]) -> list[str]:
    """Return a column's cells as the table's values are written."""
    cells = column.to_pylist()
    known = {_text(value) for value in values}
    if not any(isinstance(value, str) for value in values):
        # An empty cell made text of a column of numbers, or another tool writes 2.0 for 2.
        return [cell if cell in known else _number_text(cell) for cell in map(_text, cells)]
    if not pa.types.is_floating(column.type):
        return list(map(_text, cells))
    # Numbers that were declared categorical are the texts that Arrow writes: 1e-7, not 1e-07.
    written = column.cast(pa.string()).to_pylist()
    return [
        one if (one := _text(cell)) in known else (two or one)
        for cell, two in zip(cells, written, strict=True)
    ]


def _number_text(text: str) -> str:
    for number in (int, float):  # an integer that no float holds keeps its digits
        try:
            return _text(number(text))
        except ValueError:
            continue
    return text


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
