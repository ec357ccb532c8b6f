"""Shows the first rows of a file as they are written, before any of them is taken for a header."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indiff.data.reading.input_files import BYTE_ORDER_MARKS, Reading, format_of, opened, readable
from indiff.data.reading.kinds import header_of_text
from indiff.data.reading.separated import separator_of
from indiff.errors import UserError

ROWS = 12
_BYTES = 1 << 16  # of a text file, in which the first rows are sought
_COLUMNS = 30
_LONGEST = 80
_WESTERN = "cp1252"


@dataclass(frozen=True)
class FirstRows:
    """Rows with their numbers in the file, and how they were told apart.

    ``encoding`` is the one the text is shown in; ``guessed`` says that it is not the one the text
    would be read in, which it does not fit. A file that is neither text nor a workbook has no rows
    without columns' names: then there are none here.
    """

    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()
    encoding: str | None = None
    guessed: bool = False
    separator: str | None = None
    sheets: tuple[str, ...] = ()
    sheet: str | None = None


def first_rows(path: str | Path, reading: Reading | None = None, count: int = ROWS) -> FirstRows:
    """Return the first rows of a text file or of a workbook's sheet, each with its number.

    Nothing is refused that a header row, an encoding or a separator could still mend: bytes that
    the encoding does not have are shown as in Western Europe's Windows, or as �.
    """
    path, reading = Path(path), reading or Reading()
    kind = format_of(path)
    with readable(repr(str(path))):
        if kind == "text":
            with opened(path) as file:
                return _of_text(file.read(_BYTES), reading, count)
        if kind == "workbook":
            return _of_workbook(path.read_bytes(), reading, count)
    return FirstRows()


def _of_text(data: bytes, reading: Reading, count: int) -> FirstRows:
    text, encoding, guessed = _decoded(data, reading.encoding)
    separator = reading.separator or _separator(text, reading.header_row)
    lines = io.StringIO(text, newline="")
    rows: list[tuple[int, tuple[str, ...]]] = []
    reader = csv.reader(lines, delimiter=separator)
    while len(rows) < count:
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error:  # a cell beyond all measure, which the reader itself refuses in words
            break
        if row is None:
            break
        rows.append((number, _shown(row)))
    return FirstRows(tuple(rows), encoding, guessed, separator)


def _decoded(data: bytes, told: str | None) -> tuple[str, str, bool]:
    """Return the text, the encoding it is shown in, and whether that is another than its own."""
    mark = next((name for sign, name in BYTE_ORDER_MARKS if data.startswith(sign)), None)
    encoding = mark or told or "utf-8"
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        return decoder.decode(data).removeprefix("\ufeff"), encoding, False
    except LookupError:
        return data.decode("utf-8", "replace"), "utf-8", True
    except UnicodeDecodeError:
        other = _WESTERN if encoding == "utf-8" else encoding
        return data.decode(other, "replace"), other, True


def _separator(text: str, header_row: int | None) -> str:
    """Return the sign that the header shows, wherever it stands; a comma where none does."""
    lines = text.splitlines()
    place = header_row or header_of_text(text.encode("utf-8", "replace")) or 1
    try:
        return separator_of(lines[place - 1] if place <= len(lines) else "", "the file")
    except UserError:
        return ","


def _of_workbook(data: bytes, reading: Reading, count: int) -> FirstRows:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = workbook.sheet_names
        wanted = reading.sheet
        if isinstance(wanted, int):
            wanted = names[wanted] if 0 <= wanted < len(names) else None
        name = wanted if wanted in names else names[0]
        sheet = workbook.get_sheet_by_name(name)
        cells, above = sheet.to_python(nrows=count), sheet.start[0] if sheet.start else 0
    except (CalamineError, OSError, IndexError):
        return FirstRows()  # the reader itself refuses it in words
    rows = ((above + place, _shown(row)) for place, row in enumerate(cells, 1))
    return FirstRows(tuple(rows), sheets=tuple(names), sheet=name)


def _shown(row: Sequence[object]) -> tuple[str, ...]:
    """Write the cells of a row, as many and as long as a page has room for."""
    texts = (
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
        for cell in row[:_COLUMNS]
    )
    return tuple(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in texts)
