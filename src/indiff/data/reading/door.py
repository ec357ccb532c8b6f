"""Anything tabular in, a typed Arrow table out: the one door through which records enter.

Rules that a reader of results should know:

- Text is kept as written, blanks and odd Unicode included; only blanks around column names go.
- In separated text a column is of integers, floats or ISO dates if all its values are, else text;
  leading zeros, integers beyond 64 bits and numbers that a float cannot tell apart keep it text.
  In frames, Parquet and workbooks the columns' own types count; decimals and floats of 32 bits
  are the numbers that are written like them.
- Null, NaN and the missing tokens are one missing value, null. A token is compared without the
  blanks around it. In workbooks an error such as #N/A is missing too, and so is a formula whose
  result is not stored; where the format allows, a note counts them.
- No row is dropped: what cannot be read exactly is an error that names the place. Blank lines are
  no records, except in a table of one column, where each is a missing value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from indiff.data.reading.columns import Column
from indiff.data.reading.frames import Backend, read_frame
from indiff.data.reading.kinds import typed, without_missing
from indiff.data.reading.parquet import read_parquet
from indiff.data.reading.paths import Format, checked_path, format_of, opened, readable
from indiff.data.reading.separated import SeparatedText
from indiff.data.reading.spreadsheet import read_spreadsheet
from indiff.errors import UserError, from_data, option

Named = list[tuple[str, Column]]


@dataclass(frozen=True)
class Raw:
    """A table as it was given: typed columns, declared orders, and what was decided in words.

    Columns are int64, float64, date32, bool or string; every missing value is null.
    """

    frame: pa.Table
    orders: Mapping[str, tuple[str, ...]]
    backend: Backend
    notes: tuple[str, ...]


def read_raw(
    source: Any,
    *,
    encoding: str | None = None,
    missing_tokens: Sequence[str] = ("",),
    sheet: str | int | None = None,
) -> Raw:
    """Read a path (separated text, Parquet, Excel) or a frame (pandas, Polars, PyArrow, ...).

    `encoding` is for text that is neither UTF-8 nor marked as UTF-16; `sheet` chooses a sheet of a
    workbook by name or position.

    >>> raw = read_raw(pa.table({"age": [31, None], "zip": ["01234", ""]}))
    >>> raw.frame.to_pydict()
    {'age': [31, None], 'zip': ['01234', None]}
    """
    tokens = checked_tokens(missing_tokens)
    if not isinstance(source, str | os.PathLike):
        refuse_options(encoding, sheet, None, "a frame")
        columns, notes, backend = read_frame(source, tokens=tokens)
        return _raw(columns, notes, backend)
    where = repr(str(Path(os.fsdecode(source))))
    refuse_options(encoding, sheet, format_of(os.fsdecode(source)), where)
    path, kind = checked_path(source)
    with readable(where):
        if kind == "text":
            columns, notes = _read_text(path, encoding, tokens, where)
        elif kind == "parquet":
            columns, notes = read_parquet(path, tokens, where)
        else:
            data = path.read_bytes()
            columns, notes = read_spreadsheet(data, sheet=sheet, tokens=tokens, where=where)
    return _raw(columns, notes, "pyarrow")


def _raw(columns: Named, notes: Sequence[str], backend: Backend) -> Raw:
    frame = pa.table({name: column.values for name, column in columns})
    orders = {name: column.order for name, column in columns if column.order is not None}
    return Raw(frame, orders, backend, tuple(notes))


def checked_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the missing tokens without the blanks around them."""
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise UserError(
            "missing_tokens must be a list of texts",
            f"{from_data(tokens)}: write for example {option('missing_tokens', ['', '?'])}",
            field="missing_tokens",
        )
    return tuple(token.strip() for token in tokens)


def refuse_options(
    encoding: str | None, sheet: str | int | None, kind: Format | None, where: str
) -> None:
    """Refuse an encoding of what is no text, and a sheet of what is no workbook."""
    for name, value, what, fits in (
        ("encoding", encoding, "text files", kind == "text"),
        ("sheet", sheet, "workbooks", kind == "workbook"),
    ):
        if value is not None and not fits:
            got = f"{option(name, value)} with {where}: leave it out"
            raise UserError(f"{name} is for {what}", got, field=name)


def _read_text(
    path: Path, encoding: str | None, tokens: Sequence[str], where: str
) -> tuple[Named, list[str]]:
    with opened(path) as file:
        text = SeparatedText(file, where=where, encoding=encoding)
        cells = text.table()
    columns: Named = []
    notes = text.notes
    for name in text.names:
        values, more = typed(name, without_missing(cells[name], tokens))
        columns.append((name, Column(values)))
        notes += more
    return columns, notes
