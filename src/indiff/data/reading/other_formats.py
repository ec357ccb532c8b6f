"""Reads a sheet of a workbook, JSON lines, Arrow (Feather) files, and those of Stata, SPSS, SAS."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.ipc

from indiff.data.reading.columns import Column, plain_column
from indiff.data.reading.frames import column_of, read_arrow, read_frame
from indiff.data.reading.input_files import Format, Reading, opened
from indiff.data.reading.kinds import arrow_reader, checked_names, header_of_rows, with_header
from indiff.data.reading.numbers import EXACT_INTEGERS
from indiff.errors import UserError, option, reason_of, said, unknown

Columns = tuple[list[tuple[str, Column]], list[str]]
READERS = {
    ".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
STEP = 1 << 20
LARGEST_INDEX = 1 << 24
_MOST_SHEETS = 3  # that an error names
MOST_PLACES = 50_000_000  # of a sheet, between its first cell and its last
_CELL = re.compile(rb'<c\s[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"(?:[^>]*[^/>])?>')
LONGEST_CELL = 1 << 16  # bytes of one cell's own tags, its text aside

_ERROR = re.compile(rb'<c\s[^>]*\bt="e"')
_UNSOLVED = re.compile(rb"(?:</f>|<f(?:\s[^>]*)?/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def read_other(path: Path, kind: Format, reading: Reading, where: str) -> Columns:
    """Return the named, typed columns of a file, and the notes."""
    tokens = reading.missing_tokens
    if kind == "workbook":
        return _read_workbook(path.read_bytes(), reading, where)
    if kind == "statistics":
        columns, notes, _ = read_frame(_read_statistics(path, where), tokens=tokens)
        return columns, notes
    if kind == "arrow":
        return read_arrow(_read_arrow_file(path, where), tokens=tokens, where=where)
    with opened(path) as file:
        table, notes = read_json_lines(file, where)
    columns, more = read_arrow(table, tokens=tokens, where=where)
    return columns, notes + more


def _read_workbook(data: bytes, reading: Reading, where: str) -> Columns:
    """Read a sheet, the first one by default."""
    from python_calamine import CalamineError, CalamineWorkbook

    sheet, header_row = reading.sheet, reading.header_row
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        name = _sheet_name(workbook.sheet_names, sheet, where)
        _refuse_far_cells(data, name, where)
        found = workbook.get_sheet_by_name(name)
        rows, above = found.to_python(), found.start[0] if found.start else 0
    except (CalamineError, OSError) as error:
        reason = reason_of(error)
        raise UserError(
            f"a workbook must be readable; {where} is not ({reason}): open it in a spreadsheet "
            "program and save it again, without a password."
        ) from None
    notes = []
    if sheet is None and len(workbook.sheet_names) > 1:
        others = ", ".join(repr(other) for other in workbook.sheet_names if other != name)
        notes.append(f"sheet {name!r} was read, not {others}")
    where = f"sheet {name!r} of {where}"
    if header_row is not None:
        if not 1 <= header_row - above <= len(rows):
            rule = f"{option('header_row')} must be a row of {where}"
            raise UserError(rule, header_row, "Count from 1", field="header_row")
        rows = rows[header_row - above - 1 :]
    try:
        columns, more = _columns(rows, reading.missing_tokens, where)
    except UserError as error:
        place = header_of_rows(rows) if header_row is None else None
        if place is None:
            unread = [other for other in workbook.sheet_names if other != name]
            raise _with_sheets(error, unread) from None
        raise with_header(error, place + above) from None
    gaps = _count_gaps(data, name)
    if gaps is None:
        notes.append(
            "cells that hold an error or a formula without its result are missing values; in this "
            "kind of workbook they are not counted"
        )
    errors, unsolved = gaps or (0, 0)
    if errors:
        notes.append(f"cells that hold an error such as #N/A ({errors:,}) are missing values")
    if unsolved:
        notes.append(
            f"formulas whose result is not stored ({unsolved:,}) are missing values: open the "
            "workbook in a spreadsheet program and save it"
        )
    return columns, notes + more


def _with_sheets(error: UserError, others: list[str]) -> UserError:
    """Return an error about a sheet with the others of its workbook, which may be meant."""
    if not others:
        return error
    named = " or ".join(option("sheet", other) for other in others[:_MOST_SHEETS])
    way_out = f"{error.way_out.rstrip('.')}. " if error.way_out else ""
    return UserError(error.rule, error.got, f"{way_out}To read another sheet give {named}")


def _sheet_name(names: list[str], sheet: str | int | None, where: str) -> str:
    if isinstance(sheet, str):
        if sheet not in names:
            raise unknown("sheet", sheet, names)
        return sheet
    position = sheet or 0
    if not 0 <= position < len(names):
        raise UserError(
            f"sheet must be a name or a position from 0 to {len(names) - 1}",
            f"{sheet} for {where}: use one of {', '.join(names)}",
        )
    return names[position]


def _columns(rows: list[list[object]], tokens: Sequence[str], where: str) -> Columns:
    if not rows:
        raise UserError(f"a table needs a header and records; {where} is empty: check the file.")
    names, notes = checked_names([str(cell) for cell in _whole(rows[0])], where)
    while rows and all(cell == "" for cell in rows[-1]):
        rows = rows[:-1]
    records = rows[1:]
    if len(names) > 1:
        kept = [row for row in records if any(cell != "" for cell in row)]
        if len(kept) < len(records):
            notes.append(f"blank rows ({len(records) - len(kept)}) hold no record: left out")
        records = kept
    if not records:
        raise UserError(f"a table needs at least one record; {where} has only a header: add rows.")
    columns = []
    for position, name in enumerate(names):
        cells = [None if row[position] == "" else row[position] for row in records]
        array, mixed = column_of(name, _whole(cells), merge_equal_texts=True)
        column = plain_column(name, pa.chunked_array([array]), tokens)
        notes += [*mixed, *column.notes]
        columns.append((name, column))
    return columns, notes


def _whole(cells: list[object]) -> list[object]:
    """Workbooks store 5 as 5.0: a column whose numbers are all whole is one of integers."""
    numbers = [cell for cell in cells if isinstance(cell, float)]
    if all(number.is_integer() and abs(number) <= EXACT_INTEGERS for number in numbers):
        return [int(cell) if isinstance(cell, float) else cell for cell in cells]
    return cells


def _refuse_far_cells(data: bytes, sheet: str, where: str) -> None:
    """Refuse a sheet with a cell far from all others: readers make a cell of every place between.

    A look at row numbers and at the length of columns' letters tells most sheets from those.
    """
    row, letters, cells = 1, 1, 0
    far = (1, 1)
    for text in _blocks(data, sheet):
        last = re.search(rb'\br="([0-9]{1,7})"', text[text.rfind(b"<row ") :])
        row = max(row, int(last[1]) if last else 1)
        long = max((n for n in (2, 3) if re.search(rb'\br="[A-Z]{%d}[0-9]' % n, text)), default=1)
        letters = max(letters, long)
    if row * 26**letters <= MOST_PLACES:
        return
    for text in _blocks(data, sheet):
        for column, number in _CELL.findall(text):
            place = 0
            for letter in column:
                place = 26 * place + letter - 64
            far, cells = (max(far[0], int(number)), max(far[1], place)), cells + 1
    if far[0] * far[1] > max(MOST_PLACES, 100 * cells):
        raise UserError(
            f"the cells of a sheet must stand together; those of sheet {sheet!r} of {where} go as "
            f"far as row {far[0]:,} and column {far[1]:,}",
            way_out="Delete what stands far away",
        )


def _blocks(data: bytes, sheet: str) -> Iterator[bytes]:
    """Yield a sheet's XML in parts that end between cells, where it is Excel's format of today."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            place = _place(parts, sheet)
            if place is None:
                return
            with parts.open(place) as part:
                rest = b""
                while block := part.read(STEP):
                    text = rest + block
                    end = text.rfind(b"<c ") if b"<c " in text else len(text)
                    rest = text[end:][-LONGEST_CELL:]
                    yield text[:end]
                yield rest
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, ElementTree.ParseError):
        return  # another format, or one that only its reader understands


def _count_gaps(data: bytes, sheet: str) -> tuple[int, int] | None:
    """Return how many cells of a sheet hold an error, and how many a formula without its result.

    Readers of workbooks pass over both as if the cells were empty. Only Excel's own format of
    today (.xlsx, .xlsm) is looked at; of any other, and of one laid out strangely, the answer is
    None: nothing is known.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            place = _place(parts, sheet)
            return None if place is None else _count(parts, place)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, ElementTree.ParseError):
        return None  # another format, or one that only its reader understands


def _place(parts: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the part of the archive that holds a sheet."""
    names = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    if any(parts.getinfo(name).file_size > LARGEST_INDEX for name in names):
        return None
    book, relations = (ElementTree.fromstring(parts.read(name)) for name in names)
    links = {one.get("name"): one.get(_LINK) for one in book.iter(f"{_MAIN}sheet")}
    targets = {one.get("Id"): one.get("Target", "") for one in relations.iter(_RELATION)}
    target = targets.get(links.get(sheet))
    if target is None:
        return None
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _count(parts: zipfile.ZipFile, place: str) -> tuple[int, int]:
    errors = unsolved = 0
    with parts.open(place) as part:
        rest = b""
        while block := part.read(STEP):
            text = rest + block
            # Up to the end of the last whole cell; what follows is looked at with the next block.
            end = text.rfind(b"</c>") + len(b"</c>")
            if end < len(b"</c>"):
                rest = text[-LONGEST_CELL:]
                continue
            errors += len(_ERROR.findall(text, 0, end))
            unsolved += len(_UNSOLVED.findall(text, 0, end))
            rest = text[end:]
    return errors, unsolved


def read_json_lines(file: BinaryIO, where: str) -> tuple[pa.Table, list[str]]:
    r"""Return the records of a file with one JSON object per line; a key that lacks is null.

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


def _read_arrow_file(path: Path, where: str) -> pa.Table:
    """Return the table of a Feather or Arrow file, or of an Arrow stream."""
    data = path.read_bytes()
    try:
        try:
            frame = pa.ipc.open_file(arrow_reader(data)).read_all()
        except (pa.ArrowException, OSError):
            frame = pa.ipc.open_stream(arrow_reader(data)).read_all()
        frame.validate(full=True)  # Arrow itself follows offsets that lead out of the file
    except (pa.ArrowException, OSError) as error:
        raise UserError(
            f"an Arrow file must be readable; {where} is not ({said(reason_of(error))}): "
            "write it again."
        ) from None
    return frame


def _read_statistics(path: Path, where: str) -> Any:
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
