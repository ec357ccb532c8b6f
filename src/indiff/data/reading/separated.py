"""Reads separated text (CSV and its kin), block by block: every cell as it is written.

The dialect is fixed, not sniffed: RFC 4180 with one of four separators. Every byte is checked
first, so that no row is lost, merged or split by a parser's leniency; PyArrow then only splits
what is known to be well-formed, and must find as many records.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from indiff.data.reading.input_files import Reading, line_ends, utf8_text
from indiff.data.reading.kinds import (
    CELL_LIMIT,
    SEPARATORS,
    arrow_reader,
    checked_names,
    header_of_text,
    with_header,
)
from indiff.errors import InternalError, UserError, option, reason_of

BLOCK = 1 << 20  # bytes that one of PyArrow's threads takes; more where a record is longer
QUOTE, LINE_FEED, RETURN = b'"\n\r'
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)")
# Not *+ at its end: before Python 3.11.5 that takes a part of what does not match.
_FIRST_RECORD = re.compile(rb'(?:[^"\r\n]++|"[^"]*+")*')


class SeparatedText:
    r"""An open text file: its columns' names, and its cells as they are written.

    >>> text = SeparatedText(io.BytesIO(b"age;zip\n31;01234\n"), "'people.csv'")
    >>> text.names, text.table().to_pydict()
    (['age', 'zip'], {'age': ['31'], 'zip': ['01234']})
    """

    def __init__(self, file: BinaryIO, where: str, reading: Reading | None = None) -> None:
        reading = reading or Reading()
        self._chunks = utf8_text(file, reading.encoding, where)
        self._where, self._told = where, reading.separator
        data, last = next(self._chunks)
        above = data[: _titles(data, reading.header_row or 1, where)]
        place = header_of_text(data) if reading.header_row is None else None
        try:
            self._begin(data[len(above) :], last, line_ends(above))
            if self.layout.columns == 1 and place is not None:
                raise UserError(
                    f"the first line must name the columns; that of {where} names one, and lines "
                    "below it have several fields."
                )
        except UserError as error:
            raise with_header(error, place) from None

    def _begin(self, data: bytes, last: bool, above: int) -> None:
        """Read the header and what follows it in the first step; some lines were above."""
        where = self._where
        while (found := _first_record(data, last, where)) is None:
            more, last = next(self._chunks)
            data += more
        if not found.strip():
            raise UserError(
                f"the first line must name the columns; line 1 of {where} is blank: remove it."
            )
        header = found.decode("utf-8")
        self._separator = self._told or separator_of(header, where)
        self.layout = Layout(self._separator, where, above)
        while not (end := self.layout.check(data, last=last)):
            more, last = next(self._chunks)
            data += more
        start = len(found) + (2 if data.startswith(b"\r\n", len(found)) else 1)
        self._first, self._rest = data[start:end], data[end:]
        self.names, self._notes = checked_names(_fields(header, self._separator, where), where)
        if last and not self.layout.records:
            raise self._no_records()

    @property
    def notes(self) -> list[str]:
        """What was decided while reading: known when every block was read."""
        notes, found = list(self._notes), self.layout
        if self._separator != "," and not self._told:
            notes.append(f"fields are separated by {self._separator!r}, as the header line shows")
        if found.blank_lines:
            meaning = "hold a missing value" if found.columns == 1 else "hold no record: left out"
            notes.append(
                f"blank lines ({found.blank_lines}, the first is line {found.first_blank_line}) "
                + meaning
            )
        return notes

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the cells of some columns, or of all, block by block; only once."""
        columns = self.names if columns is None else columns
        read = 0
        for data in self._whole_records():
            cells = self._split(data, columns)
            read += cells.num_rows
            if read != self.layout.records:
                raise InternalError(
                    f"{self._where} has {self.layout.records} records so far but {read} were read; "
                    "please report it"
                )
            yield cells
        if not read:
            raise self._no_records()

    def table(self) -> pa.Table:
        """Return all cells."""
        return pa.concat_tables(self.blocks())

    def _no_records(self) -> UserError:
        return UserError(
            f"a table needs at least one record; {self._where} has only a header: add rows."
        )

    def _whole_records(self) -> Iterator[bytes]:
        """Yield checked stretches of the text that end where a record ends."""
        if self._first:
            yield self._first
        rest = self._rest
        for chunk, last in self._chunks:
            data = rest + chunk
            end = self.layout.check(data, last=last)
            if end:
                yield data[:end]
            rest = data[end:]

    def _split(self, data: bytes, columns: Sequence[str]) -> pa.Table:
        if not data.strip(b"\r\n") and self.layout.columns > 1:  # blank lines alone
            return pa.table({name: pa.array([], pa.string()) for name in columns})
        return pa.csv.read_csv(
            arrow_reader(data),
            read_options=pa.csv.ReadOptions(
                column_names=self.names,
                block_size=max(BLOCK, 2 * self.layout.longest_record + 16),
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=self._separator,
                newlines_in_values=True,
                ignore_empty_lines=self.layout.columns > 1,
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, pa.string()),
                strings_can_be_null=False,
                include_columns=list(columns),
            ),
        )


class Layout:
    r"""The header's number of columns, the records below it and the blank lines, found so far.

    A blank line is a record with a missing value in a table of one column, and no record in a
    wider table.
    """

    def __init__(self, separator: str, where: str, lines_above: int = 0) -> None:
        self.separator, self.where, self.lines = separator, where, lines_above
        self.columns = self.longest_record = self.blank_lines = self._rows = 0
        self.first_blank_line: int | None = None

    @property
    def records(self) -> int:
        """How many records there are below the header."""
        return self._rows - 1 - (self.blank_lines if self.columns > 1 else 0)

    def check(self, data: bytes, *, last: bool) -> int:
        """Check text that begins with a record; return how many of its bytes are whole records."""
        window = _Window(data, last, self.separator, self.lines, self.where)
        window.check_quotes()
        window.check_cell_sizes()
        ends = window.ends
        if not len(ends):
            return 0
        starts = np.concatenate(([0], ends[:-1] + 1))
        blank = np.isin(window.text[starts], (LINE_FEED, RETURN))
        fields = np.diff(window.splits_before_ends, prepend=0) + 1
        self.columns = self.columns or int(fields[0])
        ragged = (fields != self.columns) & ~blank
        if ragged.any():
            row = int(np.argmax(ragged))
            raise UserError(
                f"every row must have as many fields as the header; {self.where} has {fields[row]} "
                f"on line {window.line(int(starts[row]))} where the header has {self.columns} "
                f"(separator {self.separator!r}): correct that line, or quote the texts that "
                "contain the separator."
            )
        if self.first_blank_line is None and blank.any():
            self.first_blank_line = window.line(int(starts[np.argmax(blank)]))
        self.blank_lines += int(blank.sum())
        self._rows += len(ends)
        self.longest_record = max(self.longest_record, int((ends - starts).max()))
        end = int(ends[-1]) + 1
        self.lines = window.line(end) - 1
        return end


def _counted(which: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return how many there are up to each place; small numbers are summed four times as fast."""
    return np.cumsum(which.astype(np.int32), dtype=np.int32)


class _Window:
    """A stretch of the text that begins with a record: its quotes, separators and line ends."""

    def __init__(self, data: bytes, last: bool, separator: str, lines: int, where: str) -> None:
        self.separator, self.last, self.where, self._lines = ord(separator), last, where, lines
        if last:
            # The last line may lack its end; nothing follows it.
            data += b"\n\0" if data[-1:] not in (b"\n", b"\r") else b"\0"
        self.text = np.frombuffer(data, dtype=np.uint8)
        self.is_mark = np.zeros(256, dtype=bool)
        self.is_mark[[QUOTE, self.separator, LINE_FEED, RETURN]] = True
        # All but the last byte, which tells what follows the one before it.
        self.marks = np.flatnonzero(self.is_mark[self.text[:-1]])
        byte, self.following = self.text[self.marks], self.text[self.marks + 1]
        # CR LF is one end of line, at the LF.
        ends_line = (byte == LINE_FEED) | ((byte == RETURN) & (self.following != LINE_FEED))
        splits = byte == self.separator
        self.line_ends = self.marks[ends_line]
        self.quote = byte == QUOTE
        self.has_quotes = bool(self.quote.any())
        if self.has_quotes:
            self.inside = (_counted(self.quote) & 1).astype(bool)  # after the mark
            outside = ~self.inside & ~self.quote
            ends_line, splits = ends_line & outside, splits & outside
        self.ends = self.marks[ends_line]
        self.splits_before_ends = _counted(splits)[ends_line]
        self.edges = self.marks[splits | ends_line]

    def line(self, position: int) -> int:
        """Return the 1-based line of a byte; LF, CR LF and CR end a line."""
        return self._lines + 1 + int(np.searchsorted(self.line_ends, position))

    def check_quotes(self) -> None:
        """A quote opens a field at its beginning, closes it at its end, or is doubled in it."""
        if not self.has_quotes:
            return
        preceding = self.text[self.marks - 1]
        preceding[self.marks == 0] = LINE_FEED
        beside = np.where(self.inside, preceding, self.following)
        misplaced = self.quote & ~self.is_mark[beside]
        if misplaced.any():
            first = int(np.argmax(misplaced))
            line = self.line(int(self.marks[first]))
            begun = self.line(self._field_start(int(self.marks[first])))
            raise UserError(
                f"a quote must enclose a whole field or be doubled inside one; {self.where} has "
                f"one on line {line} that does neither"
                + (f" (the field begins on line {begun})" if begun != line else "")
                + ': write "5"" pipe" for 5" pipe, with no blank outside the quotes.'
            )
        if self.last and self.inside[-1]:
            begun = self.line(self._field_start(len(self.text)))
            raise UserError(
                f"a quote that is opened must be closed; {self.where} has one on line {begun} "
                "that is not: close it, or double it if it is part of the text."
            )

    def check_cell_sizes(self) -> None:
        """No cell is larger than the limit, nor the one that the window cuts off."""
        edges = self.edges if self.last else np.append(self.edges, len(self.text) - 1)
        sizes = np.diff(edges, prepend=-1) - 1
        if (sizes > CELL_LIMIT).any():
            first = int(np.argmax(sizes > CELL_LIMIT))
            begun = int(edges[first] - sizes[first])
            raise UserError(
                f"a cell may hold at most 1 MB ({CELL_LIMIT:,} bytes); {self.where} has a larger "
                f"one that begins on line {self.line(begun)}: shorten it, or close a quote there "
                "that is left open."
            )

    def _field_start(self, position: int) -> int:
        earlier = self.edges[self.edges < position]
        return int(earlier[-1]) + 1 if len(earlier) else 0


def _titles(data: bytes, header_row: int, where: str) -> int:
    """Return where the header begins: behind the lines above it."""
    start = 0
    for _ in range(header_row - 1):
        found = _LINE.match(data, start)
        if found is None:
            raise UserError(
                f"{option('header_row')} must be a line of {where}", header_row, "Count from 1",
                field="header_row",
            )  # fmt: skip
        start = found.end()
    return start


def _first_record(data: bytes, last: bool, where: str) -> bytes | None:
    """Return the first record without its line end; nothing where the text must go on for it."""
    found = _FIRST_RECORD.match(data)
    assert found is not None
    after = data[found.end() : found.end() + 1]
    if after == b'"' and (last or len(data) - found.end() > CELL_LIMIT):
        raise UserError(
            f"a quote that is opened must be closed; {where} has one in the header, on line 1, "
            "that is not: close it, or double it if it is part of a name."
        )
    return found[0] if last or (after in (b"\n", b"\r") and found.end() < len(data) - 1) else None


def separator_of(header: str, where: str) -> str:
    """The separator that the header holds most often, quoted names aside."""
    bare = re.sub(r'"[^"]*"', "", header)
    counts = {separator: bare.count(separator) for separator in SEPARATORS}
    best = max(counts.values())
    if best == 0:
        return ","
    candidates = [separator for separator, count in counts.items() if count == best]
    if len(candidates) > 1:
        raise UserError(
            f"the header must show which separator is used; that of {where} has as many "
            f"{candidates[0]!r} as {candidates[1]!r}: put quotes around the names that contain "
            f"one of them, or give {option('separator', candidates[0])}.",
            field="separator",
        )
    return candidates[0]


def _fields(header: str, separator: str, where: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        reason = reason_of(error)
        raise UserError(
            f"the first line must name the columns; that of {where} cannot be read ({reason}): "
            "correct it."
        ) from None
