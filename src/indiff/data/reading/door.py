"""Anything tabular in, a typed Arrow table out: the one door through which records enter.

Rules that a reader of results should know:

- Text is kept as written, blanks and odd Unicode included; only blanks around column names go.
- In separated text a column is of integers, floats or dates if all its values are, else text;
  leading zeros, integers beyond 64 bits and numbers that a float cannot tell apart keep it text.
  Decimal commas, signs between thousands and other orders of day, month and year are recognised
  where every value allows only one reading, with a note; where two are left, the column is text
  and has a question. In frames, Parquet and workbooks the columns' own types count, and formats
  that were given are applied to text; decimals and floats of 32 bits are the numbers that are
  written like them.
- Null, NaN and the missing tokens are one missing value, null. A token is compared without the
  blanks around it. In workbooks an error such as #N/A is missing too, and so is a formula whose
  result is not stored; where the format allows, a note counts them.
- No row is dropped: what cannot be read exactly is an error that names the place. Blank lines are
  no records, except in a table of one column, where each is a missing value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from indiff.data.reading.columns import Column
from indiff.data.reading.frames import Backend, read_arrow, read_frame
from indiff.data.reading.kinds import Formats, Typed, told_dates, typed, without_missing
from indiff.data.reading.parquet import read_parquet, require_columns
from indiff.data.reading.paths import (
    STANDARD_INPUT,
    Format,
    format_of,
    found_files,
    opened,
    readable,
)
from indiff.data.reading.records import (
    read_arrow_file,
    read_json_lines,
    read_statistics,
)
from indiff.data.reading.separated import SeparatedText
from indiff.data.reading.spreadsheet import read_spreadsheet
from indiff.data.reading.written.hints import gap_counts, gap_note
from indiff.errors import UserError, check_whole, from_data, option, unknown

Named = list[tuple[str, Column]]


@dataclass(frozen=True)
class Raw:
    """A table as it was given: typed columns, declared orders, and what was decided in words.

    Columns are int64, float64, date32, bool or string; every missing value is null. ``questions``
    has the columns that are text because they can be read in two ways, and ``header_row`` the row
    that seems to name the columns where it is not the one that was read so.
    """

    frame: pa.Table
    orders: Mapping[str, tuple[str, ...]]
    backend: Backend
    notes: tuple[str, ...]
    questions: Mapping[str, UserError] = field(default_factory=dict)
    header_row: int | None = None


@dataclass(frozen=True)
class Reading:
    """How text and workbooks are to be read."""

    missing_tokens: Sequence[str] = ("",)
    encoding: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None
    decimal: str | None = None
    date_format: str | Mapping[str, str] | None = None
    detect: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_tokens", checked_tokens(self.missing_tokens))
        if self.header_row is not None:
            check_whole("header_row", self.header_row, 1)

    @property
    def formats(self) -> Formats:
        """How numbers and dates are written."""
        return Formats(self.decimal, self.date_format, self.detect, header_row=self.header_row or 1)


def read_raw(source: Any, reading: Reading | None = None, **options: Any) -> Raw:
    """Read a path, a folder, a pattern, standard input (``-``) or a frame (see docs/inputs.md).

    The options are the fields of :class:`Reading`. `encoding` is for text that is neither UTF-8
    nor marked as UTF-16; `sheet` chooses a sheet of a workbook by name or position; `header_row`
    is the line or row that names the columns, from 1.

    >>> raw = read_raw(pa.table({"age": [31, None], "zip": ["01234", ""]}))
    >>> raw.frame.to_pydict()
    {'age': [31, None], 'zip': ['01234', None]}
    """
    reading = reading or Reading(**options)
    tokens, formats = reading.missing_tokens, reading.formats
    if not isinstance(source, str | os.PathLike):
        refuse_options(reading, None, "a frame")
        columns, notes, backend = read_frame(source, tokens=tokens)
        return _raw(_as_told(columns, formats), notes, backend, reading)
    given = os.fsdecode(source)
    where = repr(given if given == STANDARD_INPUT else str(Path(given)))
    refuse_options(reading, None if given == STANDARD_INPUT else format_of(given), where, given)
    paths, kind = found_files(given)
    refuse_options(reading, kind, where)
    path = paths[0]
    with readable(where):
        if kind == "text":
            return _read_text(paths, reading)
        if kind == "parquet":
            columns, notes = read_parquet(paths, tokens, where, folder=Path(given))
        elif kind in ("json", "arrow", "statistics"):
            columns, notes = _read_other(path, kind, tokens, where)
        else:
            columns, notes = read_spreadsheet(
                path.read_bytes(), sheet=reading.sheet, header_row=reading.header_row,
                tokens=tokens, where=where,
            )  # fmt: skip
    return _raw(_as_told(columns, formats), notes, "pyarrow", reading)


def _as_told(columns: Named, formats: Formats) -> Named:
    """Apply the formats that were given to text, and to numbers that are said to be dates."""
    told = replace(formats, detect=False)
    if told.decimal is None and told.date_format is None:
        return columns
    made: Named = []
    for name, column in columns:
        own = isinstance(told.date_format, Mapping) and name in told.date_format
        values = column.values
        if column.order is None and (own or pa.types.is_string(values.type)):
            if pa.types.is_string(values.type) and not own and told.decimal is not None:
                values = typed(name, values, told).values
            elif not pa.types.is_date(values.type):
                dates = told_dates(name, values.cast(pa.string()), told)
                values = values if dates is None else dates
        made.append((name, replace(column, values=values)))
    return made


def _raw(columns: Named, notes: Sequence[str], backend: Backend, reading: Reading) -> Raw:
    frame = pa.table({name: column.values for name, column in columns})
    orders = {name: column.order for name, column in columns if column.order is not None}
    if isinstance(reading.date_format, Mapping):
        for name in reading.date_format:
            if name not in frame.column_names:
                raise unknown("column", name, frame.column_names, field="date_format")
    gaps = {
        name: gap_counts(column.values)
        for name, column in columns
        if reading.detect and pa.types.is_string(column.values.type)
    }
    notes = [*notes, *gap_note(gaps, reading.missing_tokens)]
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
    reading: Reading, kind: Format | None, where: str, given: str | None = None
) -> None:
    """Refuse an encoding of what is no text, a sheet of what is no workbook, and their like.

    Nothing is refused yet of what is ``given`` and whose files tell the format.
    """
    if given is not None and kind is None:
        return
    for name, what, kinds in (
        ("encoding", "text files", ("text",)),
        ("sheet", "workbooks", ("workbook",)),
        ("header_row", "text files and workbooks", ("text", "workbook")),
    ):
        value = getattr(reading, name)
        if value is not None and kind not in kinds:
            got = f"{option(name, value)} with {where}: leave it out"
            raise UserError(f"{name} is for {what}", got, field=name)


def text_in(file: BinaryIO, reading: Reading, where: str) -> SeparatedText:
    """Return an open file as separated text."""
    text = SeparatedText(
        file, where=where, encoding=reading.encoding, header_row=reading.header_row
    )
    text.refuse_titles()
    return text


def _read_other(
    path: Path, kind: Format, tokens: Sequence[str], where: str
) -> tuple[Named, list[str]]:
    if kind == "json":
        with opened(path) as file:
            table, notes = read_json_lines(file, where)
        columns, more = read_arrow(table, tokens=tokens, where=where)
        return columns, notes + more
    if kind == "arrow":
        return read_arrow(read_arrow_file(path, where), tokens=tokens, where=where)
    columns, notes, _ = read_frame(read_statistics(path, where), tokens=tokens)
    return columns, notes


def text_blocks(
    paths: Sequence[Path], reading: Reading, columns: Sequence[str] | None, notes: list[str]
) -> Iterator[pa.Table]:
    """Yield the wanted cells of text files as written, null for the missing tokens; and note."""
    first = None
    for path in paths:
        where = repr(str(path))
        with readable(where), opened(path) as file:
            text = text_in(file, reading, where)
            if (first := first or text.names) != text.names:
                raise UserError(
                    f"text files that are read together must have the same header; {where} "
                    f"has {', '.join(text.names)} and {str(paths[0])!r} has {', '.join(first)}",
                    way_out="Rewrite one of them",
                )
            wanted = list(text.names if columns is None else columns)
            require_columns(wanted, text.names)
            for block in text.blocks(wanted):
                cells = [without_missing(block[name], reading.missing_tokens) for name in wanted]
                yield pa.table(cells, names=wanted)
            notes += [note for note in text.notes if note not in notes]


def _read_text(paths: Sequence[Path], reading: Reading) -> Raw:
    notes: list[str] = []
    table = pa.concat_tables(text_blocks(paths, reading, None, notes))
    cells = {name: table[name] for name in table.column_names}
    read = typed_columns(cells, reading.formats)
    notes += [note for one in read.values() for note in one.notes]
    columns = [(name, Column(one.values)) for name, one in read.items()]
    strange = any(one.begins_with_header for one in read.values())
    return replace(
        _raw(columns, notes, "pyarrow", reading),
        questions={name: one.question for name, one in read.items() if one.question is not None},
        header_row=reading.formats.header_row + 1 if strange else None,
    )


def typed_columns(cells: Mapping[str, pa.ChunkedArray], formats: Formats) -> dict[str, Typed]:
    """Return the columns of one file as numbers, dates or text.

    What one column leaves open is decided by the decimal sign that the others prove.
    """
    read = {name: typed(name, column, formats) for name, column in cells.items()}
    proven = {one.decimal for one in read.values() if one.decimal is not None}
    if len(proven) == 1:
        formats = replace(formats, proven=proven.pop())
        for name, one in read.items():
            if one.question is not None and one.question.field == "decimal":
                read[name] = typed(name, cells[name], formats)
    return read
