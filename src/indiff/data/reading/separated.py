"""Reads separated text (CSV and its kin), block by block: every cell as it is written.

The dialect is fixed, not sniffed: RFC 4180 with one of four separators. The bytes are checked
first (see `layout`); PyArrow then only splits what is known to be well-formed.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from indiff.data.reading.columns import checked_names
from indiff.data.reading.layout import CELL_LIMIT, Layout
from indiff.data.reading.paths import arrow_reader
from indiff.data.reading.written.hints import header_of_text, with_header
from indiff.errors import InternalError, UserError, option

STEP = 1 << 23  # bytes read and checked in one step: bounds the memory, never the result
BLOCK = 1 << 20  # bytes that one of PyArrow's threads takes; more where a record is longer
SEPARATORS = (",", ";", "\t", "|")
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip archive or Excel workbook", "name it .xlsx or unpack it"),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"\x1f\x8b", "compressed by gzip", "unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "name it .xls"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
)


_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)")
_CONTROL = re.compile(rb"[\x80-\x9f]")
_FIRST_RECORD = re.compile(rb'(?:[^"\r\n]++|"[^"]*+")*+')


class SeparatedText:
    r"""An open text file: its columns' names, and its cells as they are written.

    >>> text = SeparatedText(io.BytesIO(b"age;zip\n31;01234\n"), where="'people.csv'")
    >>> text.names, text.table().to_pydict()
    (['age', 'zip'], {'age': ['31'], 'zip': ['01234']})
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        where: str,
        encoding: str | None = None,
        header_row: int | None = None,
    ) -> None:
        self._chunks = _utf8(file, encoding, where)
        self._where = where
        data, last = next(self._chunks)
        above = data[: _titles(data, header_row or 1, where)]
        place = header_of_text(data) if header_row is None else None
        try:
            self._begin(data[len(above) :], last, _line_ends(above))
        except UserError as error:
            raise with_header(error, place) from None
        self._place = place

    def refuse_titles(self) -> None:
        """Refuse one column whose lines all have more below a certain one: that is the header."""
        if self.layout.columns == 1 and self._place is not None:
            rule = f"the first line must name the columns; that of {self._where} names one, and"
            told = UserError(f"{rule} lines below it have several fields.")
            raise with_header(told, self._place)

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
        self._separator = _separator(header, where)
        self.layout = Layout(self._separator, where)
        self.layout.lines = above
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
        if self._separator != ",":
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


def _utf8(file: BinaryIO, encoding: str | None, where: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the text as UTF-8 without a byte order mark, and whether it ends there."""
    chunk = file.read(STEP)
    decoder, name = _decoder(chunk, encoding, where)
    taken = made = lines = 0
    ended = b""
    while True:
        following = file.read(STEP) if chunk else b""
        try:
            data = decoder.decode(chunk, not following).encode("utf-8")
        except UnicodeDecodeError as error:
            if name == "utf-8":  # this tells UTF-16 and binary files from a wrong encoding
                _check_no_nul(chunk, made, lines, where)
            raise _undecodable(error, taken + len(chunk) - len(error.object), name, where) from None
        _check_no_nul(data, made, lines, where)
        _check_western(chunk, name, taken, where)
        if not taken:
            data = data.removeprefix(codecs.BOM_UTF8)
            made = len(codecs.BOM_UTF8) if chunk.startswith(codecs.BOM_UTF8) else 0
            if not following and (not data or data.isspace()):
                raise _empty(where)
        yield data, not following
        if not following:
            return
        taken, made = taken + len(chunk), made + len(data)
        lines += _line_ends(data) - (ended == b"\r" and data.startswith(b"\n"))
        chunk, ended = following, data[-1:]


def _titles(data: bytes, header_row: int, where: str) -> int:
    """Return where the header begins: behind the lines above it."""
    start = 0
    for _ in range(header_row - 1):
        found = _LINE.match(data, start)
        if found is None:
            raise UserError(
                f"header_row must be a line of {where}", header_row, "Count from 1",
                field="header_row",
            )  # fmt: skip
        start = found.end()
    return start


def _line_ends(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _empty(where: str) -> UserError:
    return UserError(f"a table needs a header and records; {where} is empty: check the file.")


def _decoder(
    start: bytes, encoding: str | None, where: str
) -> tuple[codecs.IncrementalDecoder, str]:
    """Return what decodes a text that starts so, and the encoding's name."""
    if not start:
        raise _empty(where)
    for magic, what, remedy in OTHER_FORMATS:
        if start.startswith(magic):
            raise UserError(f"separated text is expected here; {where} is {what}: {remedy}.")
    marked = next((name for mark, name in BYTE_ORDER_MARKS if start.startswith(mark)), None)
    if encoding is not None:
        _check_encoding(encoding, marked, where)
    name = marked or encoding or "utf-8"
    name = "utf-8" if _is_utf8(name) else name
    return codecs.getincrementaldecoder(name)(), name


def _check_no_nul(data: bytes, before: int, lines: int, where: str) -> None:
    offset = data.find(b"\0")
    if offset >= 0:
        raise UserError(
            f"text has no NUL bytes; {where} has one at byte {before + offset} (line "
            f"{lines + 1 + _line_ends(data[:offset])}): remove it, or if the file is text in "
            f"another encoding name it, for example {option('encoding', 'utf-16-le')}."
        )


def _check_western(data: bytes, encoding: str, before: int, where: str) -> None:
    """Refuse latin-1 where it makes control characters of the €, – and „ of Windows."""
    found = _CONTROL.search(data) if codecs.lookup(encoding).name == "iso8859-1" else None
    if found is not None:
        raise UserError(
            f"text in {encoding} has no control characters; {where} has the byte "
            f"0x{found[0].hex()} at byte {before + found.start()}, a sign such as € or – in the "
            f"encoding of Windows: give {option('encoding', 'cp1252')}.",
            field="encoding",
        )


def _is_utf8(encoding: str) -> bool:
    return re.sub(r"[-_ ]", "", encoding.lower()) in ("utf8", "utf8sig", "u8", "ascii", "usascii")


def _check_encoding(encoding: str, marked: str | None, where: str) -> None:
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, TypeError, ValueError):
        raise UserError(
            "encoding must be the name of a text encoding",
            f"{encoding!r}: use for example 'utf-8', 'latin-1', 'cp1252' or 'utf-16'",
        ) from None
    if marked and not encoding.lower().replace("_", "-").startswith(
        (marked, marked.replace("-", ""))
    ):
        raise UserError(
            f"encoding must agree with the file's byte order mark; {where} is marked as {marked}, "
            f"but {option('encoding', encoding)} was given: leave encoding out."
        )


def _undecodable(error: UnicodeDecodeError, before: int, encoding: str, where: str) -> UserError:
    way_out = (
        f"if it was saved by Windows in Western Europe, give {option('encoding', 'cp1252')}, "
        f"otherwise perhaps {option('encoding', 'latin-1')}"
        if encoding == "utf-8"
        else "give the encoding it was written in"
    )
    found = error.object[error.start : error.start + 1].hex()
    return UserError(
        f"text must be valid in its encoding ({encoding}); {where} has the byte 0x{found} at "
        f"byte {before + error.start} where that is not: {way_out}."
    )


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


def _separator(header: str, where: str) -> str:
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
            "one of them."
        )
    return candidates[0]


def _fields(header: str, separator: str, where: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise UserError(
            f"the first line must name the columns; that of {where} cannot be read ({error}): "
            "correct it."
        ) from None
