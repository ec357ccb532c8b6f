"""Finds where the records of separated text begin and end, by RFC 4180 and nothing looser.

Every byte is checked before the values are read, so that no row is lost, merged or split by a
parser's leniency: the number of records found here must be the number of rows read afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.errors import UserError

CELL_LIMIT = 1_000_000
QUOTE, LINE_FEED, RETURN = b'"\n\r'

Bytes = NDArray[np.uint8]


class Layout:
    r"""The header's number of columns, the records below it and the blank lines, found so far.

    A blank line is a record with a missing value in a table of one column, and no record in a
    wider table.

    >>> layout = Layout(",", "'people.csv'")
    >>> layout.check(b'a,b\n1,2\n\n"3,\n",4\n5', last=False)
    17
    >>> layout.columns, layout.records, layout.blank_lines, layout.first_blank_line
    (2, 2, 1, 3)
    """

    def __init__(self, separator: str, where: str) -> None:
        self.separator, self.where = separator, where
        self.columns = self.longest_record = self.blank_lines = self.lines = 0
        self.first_blank_line: int | None = None
        self._rows = 0

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
        blank = _is_newline(window.text[starts])
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


def _is_newline(byte: Bytes) -> NDArray[np.bool_]:
    return (byte == LINE_FEED) | (byte == RETURN)


class _Window:
    """A stretch of the text that begins with a record: its quotes, separators and line ends."""

    def __init__(self, data: bytes, last: bool, separator: str, lines: int, where: str) -> None:
        self.separator, self.last, self.where, self._lines = ord(separator), last, where, lines
        if last:
            # The last line may lack its end; nothing follows it.
            data += b"\n\0" if data[-1:] not in (b"\n", b"\r") else b"\0"
        self.text: Bytes = np.frombuffer(data, dtype=np.uint8)
        is_mark = np.zeros(256, dtype=bool)
        is_mark[[QUOTE, self.separator, LINE_FEED, RETURN]] = True
        # All but the last byte, which tells what follows the one before it.
        self.marks = np.flatnonzero(is_mark[self.text[:-1]])
        byte, self.following = self.text[self.marks], self.text[self.marks + 1]
        # CR LF is one end of line, at the LF.
        ends_line = (byte == LINE_FEED) | ((byte == RETURN) & (self.following != LINE_FEED))
        splits = byte == self.separator
        self.line_ends = self.marks[ends_line]
        self.quote = byte == QUOTE
        self.has_quotes = bool(self.quote.any())
        if self.has_quotes:
            self.inside = (np.cumsum(self.quote) & 1).astype(bool)  # after the mark
            outside = ~self.inside & ~self.quote
            ends_line, splits = ends_line & outside, splits & outside
        self.ends = self.marks[ends_line]
        self.splits_before_ends = np.cumsum(splits)[ends_line]
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
        at_edge = (beside == self.separator) | (beside == QUOTE) | _is_newline(beside)
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
