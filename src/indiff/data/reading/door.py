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

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from indiff.data.reading.columns import Column
from indiff.data.reading.frames import Backend, read_arrow, read_frame
from indiff.data.reading.kinds import typed, without_missing
from indiff.data.reading.memory import arrow_reader
from indiff.data.reading.separated import read_separated
from indiff.data.reading.spreadsheet import read_spreadsheet
from indiff.errors import UserError, did_you_mean, from_data

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
PARQUET = (".parquet", ".pq")
WORKBOOK = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

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
    tokens = _checked_tokens(missing_tokens)
    if not isinstance(source, str | os.PathLike):
        _refuse("encoding", encoding, "text files", "a frame")
        _refuse("sheet", sheet, "workbooks", "a frame")
        columns, notes, backend = read_frame(source, tokens=tokens)
        return _raw(columns, notes, backend)
    path = Path(os.fsdecode(source))
    where = repr(str(path))
    suffix = path.suffix.lower()
    if suffix not in TEXT:
        _refuse("encoding", encoding, "text files", where)
    if suffix not in WORKBOOK:
        _refuse("sheet", sheet, "workbooks", where)
    data = _bytes(path, str(source))
    if suffix in TEXT:
        columns, notes = _read_text(data, encoding, tokens, where)
    elif suffix in PARQUET:
        columns, notes = _read_parquet(data, tokens, where)
    else:
        columns, notes = read_spreadsheet(data, sheet=sheet, tokens=tokens, where=where)
    return _raw(columns, notes, "pyarrow")


def _raw(columns: Named, notes: Sequence[str], backend: Backend) -> Raw:
    frame = pa.table({name: column.values for name, column in columns})
    orders = {name: column.order for name, column in columns if column.order is not None}
    return Raw(frame, orders, backend, tuple(notes))


def _checked_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise UserError(
            "missing_tokens must be a list of texts",
            f"{from_data(tokens)}: write for example missing_tokens=['', '?']",
        )
    return tuple(token.strip() for token in tokens)


def _refuse(option: str, value: object, what: str, where: str) -> None:
    if value is not None:
        raise UserError(f"{option} is for {what}", f"{option}={value!r} with {where}: leave it out")


def _bytes(path: Path, given: str) -> bytes:
    """The whole file, read once: what is checked is what is read."""
    where = repr(str(path))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", given):
        raise UserError(
            "a table is read from a file on this machine",
            f"the address {given!r}: download it first",
        )
    try:
        if path.is_dir():
            raise UserError(f"a table is read from a file; {where} is a folder: name a file in it.")
        if not path.exists():
            raise _no_file(path)
        if path.suffix.lower() not in TEXT + PARQUET + WORKBOOK:
            known = ", ".join(TEXT + PARQUET + WORKBOOK)
            raise UserError(
                f"a file's ending must tell its format ({known})",
                f"{where}: rename it, or unpack it if it is compressed",
            )
        if not path.is_file():
            raise UserError(
                f"a table is read from a file; {where} is a device or pipe: save it as a file."
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"a file must be readable; {where} is not ({reason}): check its name and permissions."
        ) from None


def _no_file(path: Path) -> UserError:
    if not path.parent.is_dir():
        return UserError(
            f"a file must exist; there is no folder {str(path.parent)!r} for {str(path)!r}: check "
            "the path."
        )
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return UserError(f"a file must exist; there is no {str(path)!r}{near or ': check the path.'}")


def _read_text(
    data: bytes, encoding: str | None, tokens: Sequence[str], where: str
) -> tuple[Named, list[str]]:
    text = read_separated(data, encoding=encoding, where=where)
    columns: Named = []
    notes = list(text.notes)
    for name, cells in zip(text.cells.column_names, text.cells.columns, strict=True):
        values, more = typed(name, without_missing(cells, tokens))
        columns.append((name, Column(values)))
        notes += more
    return columns, notes


def _read_parquet(data: bytes, tokens: Sequence[str], where: str) -> tuple[Named, list[str]]:
    import pyarrow.parquet as pq

    if not data:
        raise UserError(f"a table needs a header and records; {where} is empty: check the file.")
    try:
        table = pq.ParquetFile(arrow_reader(data)).read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise UserError(
            f"a Parquet file must be readable; {where} is not ({reason}): write it again."
        ) from None
    index = [name for name in _pandas_index(table) if name in table.column_names]
    columns, notes = read_arrow(table.drop_columns(index), tokens=tokens, where=where)
    return columns, notes + [f"column {name!r} is a pandas row index: left out" for name in index]


def _pandas_index(table: pa.Table) -> list[str]:
    """The unnamed row index that pandas may store beside the columns."""
    stored = (table.schema.metadata or {}).get(b"pandas")
    if stored is None:
        return []
    index = json.loads(stored).get("index_columns", [])
    return [n for n in index if isinstance(n, str) and re.fullmatch(r"__index_level_\d+__", n)]
