"""Separated text (CSV and its kin) to a table of text: every cell as it is written.

The dialect is fixed, not sniffed: RFC 4180 with one of four separators. The bytes are checked
first (see `layout`); PyArrow then only splits what is known to be well-formed.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from indiff.data.reading import layout
from indiff.data.reading.memory import arrow_reader
from indiff.data.reading.names import checked_names
from indiff.errors import InternalError, UserError

SEPARATORS = (",", ";", "\t", "|")
BLOCK = 1 << 22  # bytes that PyArrow parses in one step; a record never exceeds it, see below
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


@dataclass(frozen=True)
class Text:
    """The cells as written, all of them text, and what was decided while reading."""

    cells: pa.Table
    notes: tuple[str, ...]


def read_separated(data: bytes, *, encoding: str | None, where: str) -> Text:
    r"""Read the bytes of a separated text file, header first.

    >>> text = read_separated(b"age;zip\n31;01234\n", encoding=None, where="'people.csv'")
    >>> text.cells.to_pydict()
    {'age': ['31'], 'zip': ['01234']}
    """
    data = _as_utf8(data, encoding, where)
    header = _header(data, where)
    separator = _separator(header, where)
    found = layout.find_layout(data, separator, where)
    names, notes = checked_names(_fields(header, separator, where), where)
    if found.records == 0:
        raise UserError(f"a table needs at least one record; {where} has only a header: add rows.")
    if separator != ",":
        notes.append(f"fields are separated by {separator!r}, as the header line shows")
    if found.blank_lines:
        meaning = "hold a missing value" if found.columns == 1 else "hold no record: left out"
        notes.append(
            f"blank lines ({found.blank_lines}, the first is line {found.first_blank_line}) "
            + meaning
        )
    cells = _split(data, names, separator, found)
    if cells.num_rows != found.records:
        raise InternalError(
            f"{where} has {found.records} records but {cells.num_rows} were read; please report it"
        )
    return Text(cells, tuple(notes))


def _as_utf8(data: bytes, encoding: str | None, where: str) -> bytes:
    """Return the text as UTF-8 without a byte order mark."""
    if not data or data.isspace():
        raise UserError(f"a table needs a header and records; {where} is empty: check the file.")
    for magic, what, remedy in OTHER_FORMATS:
        if data.startswith(magic):
            raise UserError(f"separated text is expected here; {where} is {what}: {remedy}.")
    marked = next((name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), None)
    if encoding is not None:
        _check_encoding(encoding, marked, where)
    encoding = marked or encoding or "utf-8"
    if _is_utf8(encoding):
        _check_no_nul(data, where)  # first: it tells UTF-16 and binary files from a wrong encoding
        if not _valid_utf8(data):
            _decode(data, "utf-8", where)
        data = data.removeprefix(b"\xef\xbb\xbf")
    else:
        data = _decode(data, encoding, where).removeprefix("\ufeff").encode("utf-8")
        _check_no_nul(data, where)
    if not data or data.isspace():
        raise UserError(f"a table needs a header and records; {where} is empty: check the file.")
    return data


def _check_no_nul(data: bytes, where: str) -> None:
    offset = data.find(b"\0")
    if offset >= 0:
        raise UserError(
            f"text has no NUL bytes; {where} has one at byte {offset} (line "
            f"{layout.line_number(data, offset)}): remove it, or if the file is text in another "
            "encoding name it, for example encoding='utf-16-le'."
        )


def _is_utf8(encoding: str) -> bool:
    return re.sub(r"[-_ ]", "", encoding.lower()) in ("utf8", "utf8sig", "u8", "ascii", "usascii")


def _check_encoding(encoding: str, marked: str | None, where: str) -> None:
    try:
        "".encode(encoding)
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
            f"but encoding={encoding!r} was given: leave encoding out."
        )


def _valid_utf8(data: bytes) -> bool:
    """Check without decoding: Arrow looks at the bytes where they are."""
    offsets = pa.py_buffer((0).to_bytes(8, "little") + len(data).to_bytes(8, "little"))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decode(data: bytes, encoding: str, where: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        way_out = (
            "if it is in a Western European encoding, give encoding='latin-1'"
            if encoding == "utf-8"
            else "give the encoding it was written in"
        )
        found = error.object[error.start : error.start + 1].hex()
        raise UserError(
            f"text must be valid in its encoding ({encoding}); {where} has the byte 0x{found} at "
            f"byte {error.start} where that is not: {way_out}."
        ) from None


def _header(data: bytes, where: str) -> str:
    """Return the first record as text, without its line end."""
    position = quotes = 0
    for line in re.finditer(rb"[^\r\n]*", data):
        quotes += line.group().count(b'"')
        position = line.end()
        if quotes % 2 == 0:
            break
    else:
        raise UserError(
            f"a quote that is opened must be closed; {where} has one in the header, on line 1, "
            "that is not: close it, or double it if it is part of a name."
        )
    header = data[:position].decode("utf-8")
    if not header.strip():
        raise UserError(
            f"the first line must name the columns; line 1 of {where} is blank: remove it."
        )
    return header


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


def _split(data: bytes, names: list[str], separator: str, found: layout.Layout) -> pa.Table:
    return pa.csv.read_csv(
        arrow_reader(data),
        read_options=pa.csv.ReadOptions(
            column_names=names,
            skip_rows_after_names=1,
            block_size=max(BLOCK, 2 * found.longest_record + 16),
        ),
        parse_options=pa.csv.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            ignore_empty_lines=found.columns > 1,
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
