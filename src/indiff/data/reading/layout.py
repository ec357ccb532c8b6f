"""Where the records of separated text begin and end, by the rules of RFC 4180 and nothing looser.

Every byte is checked before the values are read, so that no row is lost, merged or split by a
parser's leniency: the number of records found here must be the number of rows read afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.errors import UserError

CELL_LIMIT = 1_000_000
WINDOW = 1 << 23  # bytes looked at in one step: bounds the memory, never the result
QUOTE, LINE_FEED, RETURN = b'"\n\r'

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """The header's number of columns, the records below it, and the lines that are blank."""

    columns: int
    records: int
    longest_record: int
    blank_lines: int
    first_blank_line: int | None


def line_number(data: bytes, position: int) -> int:
    r"""Return the 1-based line of the byte at `position`; LF, CR LF and CR end a line.

    >>> line_number(b"a\nb\r\nc\rd", 7)
    4
    """
    before = data[:position].replace(b"\r\n", b"\n")
    return 1 + before.count(b"\n") + before.count(b"\r")


def find_layout(data: bytes, separator: str, where: str) -> Layout:
    r"""Check all of `data` (valid UTF-8, no byte order mark) and count its records.

    A blank line is a record with a missing value in a table of one column, and no record in a
    wider table.

    >>> find_layout(b'a,b\n1,2\n\n"3,\n",4', ",", "'people.csv'")
    Layout(columns=2, records=2, longest_record=7, blank_lines=1, first_blank_line=3)
    """
    columns = records = longest = blank_lines = 0
    first_blank: int | None = None
    start, width = 0, WINDOW
    while start < len(data):
        window = _Window(data, start, width, separator, where)
        window.check_quotes()
        window.check_cell_sizes()
        ends = window.ends
        if not len(ends):  # not one whole record in sight: look again, wider
            width *= 2
            continue
        starts = np.concatenate(([0], ends[:-1] + 1))
        blank = window.is_newline(window.text[starts])
        fields = np.diff(np.searchsorted(window.splits, ends), prepend=0) + 1
        columns = columns or int(fields[0])
        ragged = (fields != columns) & ~blank
        if ragged.any():
            row = int(np.argmax(ragged))
            raise UserError(
                f"every row must have as many fields as the header; {where} has {fields[row]} on "
                f"line {line_number(data, start + int(starts[row]))} where the header has "
                f"{columns} (separator {separator!r}): correct that line, or quote the texts that "
                "contain the separator."
            )
        if first_blank is None and blank.any():
            first_blank = start + int(starts[np.argmax(blank)])
        blank_lines += int(blank.sum())
        records += len(ends)
        longest = max(longest, int((ends - starts).max()))
        start, width = start + int(ends[-1]) + 1, WINDOW
    return Layout(
        columns=columns,
        records=records - 1 - (blank_lines if columns > 1 else 0),
        longest_record=longest,
        blank_lines=blank_lines,
        first_blank_line=None if first_blank is None else line_number(data, first_blank),
    )


class _Window:
    """A stretch of the text that begins with a record: its quotes, separators and line ends."""

    def __init__(self, data: bytes, start: int, width: int, separator: str, where: str) -> None:
        self.data, self.start, self.where = data, start, where
        self.separator = ord(separator)
        self.last = start + width >= len(data)
        seen = data[start : start + width + 1]  # and one byte more, to know what follows
        if self.last:
            # The last line may lack its end; nothing follows it.
            seen += b"\n" if seen[-1:] not in (b"\n", b"\r") else b""
            seen += b"\0"
        self.text: Bytes = np.frombuffer(seen, dtype=np.uint8)
        body = self.text[:-1]
        marked = (body == QUOTE) | (body == self.separator) | self.is_newline(body)
        self.marks = np.flatnonzero(marked)
        byte, self.following = self.text[self.marks], self.text[self.marks + 1]
        self.quote = byte == QUOTE
        self.inside = (np.cumsum(self.quote) & 1).astype(bool)  # after the mark
        outside = ~self.inside & ~self.quote
        # CR LF is one end of line, at the LF.
        ends_line = (byte == LINE_FEED) | ((byte == RETURN) & (self.following != LINE_FEED))
        self.ends = self.marks[ends_line & outside]
        self.splits = self.marks[(byte == self.separator) & outside]
        self.edges = self.marks[((byte == self.separator) | ends_line) & outside]

    def is_newline(self, byte: Bytes) -> NDArray[np.bool_]:
        return (byte == LINE_FEED) | (byte == RETURN)

    def line(self, position: int) -> int:
        return line_number(self.data, self.start + position)

    def check_quotes(self) -> None:
        """A quote opens a field at its beginning, closes it at its end, or is doubled in it."""
        preceding = self.text[self.marks - 1]
        preceding[self.marks == 0] = LINE_FEED
        beside = np.where(self.inside, preceding, self.following)
        at_edge = (beside == self.separator) | (beside == QUOTE) | self.is_newline(beside)
        misplaced = self.quote & ~at_edge
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
        if self.last and len(self.inside) and self.inside[-1]:
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
