"""Reads JSON lines, Arrow (Feather) files, and those of Stata, SPSS and SAS, as frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc

from indiff.data.reading.paths import arrow_reader
from indiff.data.reading.values import column_of
from indiff.errors import UserError, said

READERS = {
    ".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip


def read_json_lines(file: BinaryIO, where: str) -> tuple[pa.Table, list[str]]:
    r"""Return the records of a file with one JSON object per line; a key that lacks is null.

    >>> import io
    >>> read_json_lines(io.BytesIO(b'{"age": 31}\n{"age": 45, "ill": "no"}\n'), "f")[0].to_pydict()
    {'age': [31, 45], 'ill': [None, 'no']}
    """
    columns: dict[str, list[Any]] = {}
    count = 0
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_constant=_no_number)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise UserError(
                f"every line of JSON lines must be one object; line {number} of {where} is not: "
                "write one {...} per line."
            )
        for name, value in record.items():
            columns.setdefault(name, [None] * count).append(value)
        count += 1
        for values in columns.values():
            if len(values) < count:
                values.append(None)
    if not count:
        raise UserError(f"a table needs at least one record; {where} has none: add rows.")
    made = {name: column_of(name, values) for name, values in columns.items()}
    notes = [note for _, more in made.values() for note in more]
    return pa.table({name: array for name, (array, _) in made.items()}), notes


def _no_number(word: str) -> None:
    """NaN, which JSON does not have, is missing; what is not finite is no number."""
    if word != "NaN":
        raise ValueError(word)


def read_arrow_file(path: Path, where: str) -> pa.Table:
    """Return the table of a Feather or Arrow file, or of an Arrow stream."""
    data = path.read_bytes()
    for opened in (pa.ipc.open_file, pa.ipc.open_stream):
        try:
            return opened(arrow_reader(data)).read_all()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
    raise UserError(
        f"an Arrow file must be readable; {where} is not ({said(reason)}): write it again."
    )


def read_statistics(path: Path, where: str) -> Any:
    """Return the frame of a file of Stata, SPSS or SAS, its values as they are coded."""
    try:
        import pyreadstat
    except ImportError:
        raise UserError(
            f"files of Stata, SPSS and SAS need pyreadstat; {where} is one",
            way_out="Install it with: pip install 'indiff[stats]'",
        ) from None
    try:
        reader = getattr(pyreadstat, READERS[path.suffix.lower()])
        frame, _ = reader(str(path))
    except (pyreadstat.ReadstatError, UnicodeDecodeError, ValueError) as error:
        raise UserError(
            f"a file of a statistics program must be readable; {where} is not "
            f"({said(str(error))}): save it again."
        ) from None
    return frame
