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
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.columns import Column
from indiff.data.reading.dates import as_dates, told_dates
from indiff.data.reading.frames import Backend, read_frame
from indiff.data.reading.input_files import (
    STANDARD_INPUT,
    Reading,
    format_of,
    found_files,
    opened,
    readable,
)
from indiff.data.reading.kinds import (
    BLANKS,
    IN_DATES,
    IN_NUMBERS,
    Typed,
    all_match,
    as_text,
    date_number_note,
    first_of,
    require_columns,
    with_header,
    without_missing,
)
from indiff.data.reading.numbers import as_numbers
from indiff.data.reading.other_formats import read_other
from indiff.data.reading.parquet import read_parquet
from indiff.data.reading.separated import SeparatedText
from indiff.errors import Message, UserError, option, unknown

Named = list[tuple[str, Column]]

_FEW = 10
# What people and programs write where nothing is known; compared without regard to case.
GAPS = (
    "?", "-", "--", "---", "–", "—", ".", "..", "/", "n/a", "#n/a", "na", "<na>", "n.a.", "nan",
    "null", "none", "nil", "missing", "unknown", "not available", "k.a.", "k. a.", "unbekannt",
    "nd", "n.d.",
)  # fmt: skip


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

    def explained(self, error: UserError) -> UserError:
        """Return an error about a column's name with the row that seems to have the names."""
        return with_header(error, self.header_row)


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
    backend: Backend = "pyarrow"
    if not isinstance(source, str | os.PathLike):
        reading.refuse_for(None, "a frame")
        columns, notes, backend = read_frame(source, tokens=reading.missing_tokens)
        return _raw(_as_told(columns, reading), notes, backend, reading)
    given = os.fsdecode(source)
    where = repr(given if given == STANDARD_INPUT else str(Path(given)))
    told = None if given == STANDARD_INPUT else format_of(given)
    if told is not None:  # before the file is looked for
        reading.refuse_for(told, where)
    paths, kind = found_files(given)
    reading.refuse_for(kind, where)
    with readable(where):
        if kind == "text":
            return _read_text(paths, reading)
        if kind == "parquet":
            columns, notes = read_parquet(paths, reading.missing_tokens, where, folder=Path(given))
        else:
            columns, notes = read_other(paths[0], kind, reading, where)
    return _raw(_as_told(columns, reading), notes, backend, reading)


def _as_told(columns: Named, reading: Reading) -> Named:
    """Apply the formats that were given to text, and to numbers that are said to be dates."""
    told = replace(reading, detect=False)
    if told.decimal is None and told.date_format is None:
        return columns
    made: Named = []
    for name, column in columns:
        own = isinstance(told.date_format, Mapping) and name in told.date_format
        values = column.values
        is_text = pa.types.is_string(values.type)
        if column.order is None and (own or is_text):
            if is_text and not own and told.decimal is not None:
                values = typed(name, values, told).values
            elif not pa.types.is_date(values.type):
                dates = told_dates(name, values.cast(pa.string()), told.date_format)
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
    gaps = gap_note(frame, reading.missing_tokens) if reading.detect else []
    return Raw(frame, orders, backend, (*notes, *gaps))


def gap_counts(text: pa.ChunkedArray) -> dict[str, int]:
    """Return how often each text that often means "missing" is a value.

    >>> gap_counts(pa.chunked_array([["?", "a", "NA", "?"]]))
    {'?': 2, 'NA': 1}
    """
    short = text.filter(pc.less_equal(pc.binary_length(text), 16)).drop_null()
    bare = pc.utf8_trim_whitespace(short)
    found = bare.filter(pc.is_in(pc.utf8_lower(bare), value_set=pa.array(GAPS)))
    counted = pc.value_counts(found).to_pylist()
    return {one["values"]: one["counts"] for one in sorted(counted, key=lambda x: -x["counts"])}


def gap_note(frame: pa.Table, tokens: Sequence[str]) -> list[str]:
    """Return the note that proposes missing tokens, from the columns of text."""
    places: dict[str, list[str]] = {}
    for name in frame.column_names:
        if pa.types.is_string(frame[name].type):
            for token, count in gap_counts(frame[name]).items():
                places.setdefault(token, []).append(f"{count:,} in {name!r}")
    if not places:
        return []
    told = "; ".join(f"{token!r} ({', '.join(where)})" for token, where in places.items())
    # A token of the user's own may be a value of the table, and notes stand in reports.
    usual = [token for token in tokens if not token.strip() or token.lower() in GAPS]
    also = ", beside the texts given" if len(usual) < len(tokens) else ""
    every = option("missing_tokens", list(dict.fromkeys([*usual, *places])))
    return [
        Message(
            f"cells that often mean a missing value are read as values: {told}; where they are "
            f"missing values, give {every}{also}"
        )
    ]


def text_blocks(
    paths: Sequence[Path], reading: Reading, columns: Sequence[str] | None, notes: list[str]
) -> Iterator[pa.Table]:
    """Yield the wanted cells of text files as written, null for the missing tokens; and note."""
    first = None
    for path in paths:
        where = repr(str(path))
        with readable(where), opened(path) as file:
            text = SeparatedText(file, where, reading)
            if (first := first or text.names) != text.names:
                raise UserError(
                    f"text files that are read together must have the same header; {where} "
                    f"has {', '.join(text.names)} and {str(paths[0])!r} has {', '.join(first)}",
                    way_out="Rewrite one of them",
                )
            wanted = list(text.names if columns is None else columns)
            if columns is not None:
                require_columns(columns, text.names)
            for block in text.blocks(wanted):
                cells = [without_missing(block[name], reading.missing_tokens) for name in wanted]
                yield pa.table(cells, names=wanted)
            notes += [note for note in text.notes if note not in notes]


def _read_text(paths: Sequence[Path], reading: Reading) -> Raw:
    notes: list[str] = []
    table = pa.concat_tables(text_blocks(paths, reading, None, notes))
    read = typed_columns({name: table[name] for name in table.column_names}, reading)
    notes += [note for one in read.values() for note in one.notes]
    columns = [(name, Column(one.values)) for name, one in read.items()]
    strange = any(one.begins_with_header for one in read.values())
    return replace(
        _raw(columns, notes, "pyarrow", reading),
        questions={name: one.question for name, one in read.items() if one.question is not None},
        header_row=(reading.header_row or 1) + 1 if strange else None,
    )


def typed_columns(cells: Mapping[str, pa.ChunkedArray], reading: Reading) -> dict[str, Typed]:
    """Return the columns of one file as numbers, dates or text.

    What one column leaves open is decided by the decimal sign that the others prove.
    """
    read = {name: typed(name, column, reading) for name, column in cells.items()}
    proven = {one.decimal for one in read.values() if one.decimal is not None}
    if len(proven) == 1:
        sign = proven.pop()
        for name, one in read.items():
            if one.question is not None and one.question.field == "decimal":
                read[name] = typed(name, cells[name], reading, sign)
    return read


def typed(
    name: str, text: pa.ChunkedArray, reading: Reading | None = None, proven: str | None = None
) -> Typed:
    """Return a text column as integers, floats or dates where all its values are, else as text.

    Blanks around a number or date do not count; in text they are kept.

    >>> typed("zip", pa.chunked_array([["01234", "4321"]])).notes
    ["column 'zip' has leading zeros (first in record 0): kept as text"]
    >>> typed("height", pa.chunked_array([["1,65", "2"]])).values.to_pylist()
    [1.65, 2.0]
    """
    reading = reading or Reading()
    if text.null_count == len(text):
        return Typed(text, [f"column {name!r} has no values at all: read as text"])
    bare = pc.ascii_trim(text, characters=BLANKS)
    if reading.date_format is not None:
        dates = told_dates(name, bare, reading.date_format)
        if dates is not None:
            return Typed(dates, [], is_rewritten=True)
    integers = _canonical_integers(text)
    if integers is not None:
        return Typed(integers, date_number_note(name, integers) if reading.detect else [])
    found = None
    if all_match(bare, f"^{IN_NUMBERS}+$"):
        found = as_numbers(name, bare, reading, proven)
    if found is None and all_match(bare, IN_DATES):
        found = as_dates(name, bare, reading.detect)
    if found is None:
        header = reading.header_row or 1
        found = as_text(name, bare, header) if reading.detect else Typed(bare, [])
    if found.values is not bare:
        return found
    padded = pc.not_equal(text, bare)
    if pc.any(padded).as_py():
        found.notes.append(f"column {name!r} has blanks around values ({first_of(padded)}): kept")
    return found._replace(values=text)


def _canonical_integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The fast way: integers that print again exactly as they were written."""
    try:
        text[:_FEW].cast(pa.int64())  # they often tell; Arrow goes on, and says why for each value
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), text))
    return integers if same.as_py() else None
