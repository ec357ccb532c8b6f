"""Reads one sheet of an Excel or OpenDocument workbook, header in its first row or as told."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from xml.etree import ElementTree

import pyarrow as pa

from indiff.data.reading.columns import Column, checked_names, plain_column
from indiff.data.reading.kinds import EXACT_INTEGERS
from indiff.data.reading.values import column_of
from indiff.data.reading.written.hints import header_of_rows, with_header
from indiff.errors import UserError, unknown

Sheet = tuple[list[tuple[str, Column]], list[str]]
STEP = 1 << 20
LARGEST_INDEX = 1 << 24
LONGEST_CELL = 1 << 16  # bytes of one cell's own tags, its text aside

_ERROR = re.compile(rb'<c\s[^>]*\bt="e"')
_UNSOLVED = re.compile(rb"(?:</f>|<f(?:\s[^>]*)?/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def read_spreadsheet(
    data: bytes,
    *,
    sheet: str | int | None,
    tokens: Sequence[str],
    where: str,
    header_row: int | None = None,
) -> Sheet:
    """Return the named, typed columns of a sheet (the first one by default) and the notes."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        name = _sheet_name(workbook.sheet_names, sheet, where)
        found = workbook.get_sheet_by_name(name)
        rows, above = found.to_python(), found.start[0] if found.start else 0
    except (CalamineError, OSError) as error:
        raise UserError(
            f"a workbook must be readable; {where} is not ({error}): open it in a spreadsheet "
            "program and save it again, without a password."
        ) from None
    notes = []
    if sheet is None and len(workbook.sheet_names) > 1:
        others = ", ".join(repr(other) for other in workbook.sheet_names if other != name)
        notes.append(f"sheet {name!r} was read, not {others}")
    where = f"sheet {name!r} of {where}"
    if header_row is not None:
        rows = below_titles(rows, header_row - above, header_row, where)
    try:
        columns, more = _columns(rows, tokens, where)
    except UserError as error:
        place = header_of_rows(rows) if header_row is None else None
        raise with_header(error, place and place + above) from None
    gaps = count_gaps(data, name)
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


def below_titles(
    rows: list[list[object]], place: int, header_row: int, where: str
) -> list[list[object]]:
    """Return the rows from the header on, whose place among them is counted from 1."""
    if not 1 <= place <= len(rows):
        raise UserError(
            f"header_row must be a row of {where}", header_row, "Count from 1", field="header_row"
        )
    return rows[place - 1 :]


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


def _columns(rows: list[list[object]], tokens: Sequence[str], where: str) -> Sheet:
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


def count_gaps(data: bytes, sheet: str) -> tuple[int, int] | None:
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
