"""The columns of a released table, text where the original has text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from indiff.readers.separated import read_separated
from indiff.reading import TEXT, Raw, read_raw
from indiff.table import Table


def read_released(source: Any, table: Table, *, encoding: str | None = None) -> Raw:
    """Read a released file or frame; text stays as written, though it may look like numbers.

    In separated text ``1.0`` and ``1e5`` are numbers to a reader, and no longer the values ``1.0``
    and ``1e5`` that the original column of text has.

    >>> import tempfile
    >>> from indiff.table import read_table
    >>> table = read_table(pa.table({"code": ["1.0", "2.50"], "ill": ["no", "yes"]}),
    ...                    quasi=["code"], sensitive="ill")
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("code,ill\\n1.0,no\\n2.50,yes\\n")
    ...     file.flush()
    ...     read_released(file.name, table).frame["code"].to_pylist()
    ['1.0', '2.50']
    """
    raw = read_raw(source, encoding=encoding, missing_tokens=())
    if not isinstance(source, str | Path) or Path(source).suffix.lower() not in TEXT:
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
        path = Path(source)
        cells = read_separated(path.read_bytes(), encoding=encoding, where=repr(str(path))).cells
        for name in changed:
            frame = frame.set_column(frame.column_names.index(name), name, cells[name])
    return replace(raw, frame=frame)
