"""Finds the files that a path names, tells their format by their ending, and how they are read."""

from __future__ import annotations

import atexit
import bz2
import codecs
import glob
import gzip
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from indiff.data.reading.dates import check_date_format
from indiff.data.reading.kinds import SEPARATORS
from indiff.errors import UserError, check_whole, did_you_mean, from_data, option, reason_of
from indiff.temporary import temporary_prefix
from indiff.text import is_text

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
PARQUET = (".parquet", ".pq")
WORKBOOK = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
COMPRESSED = (".gz", ".bz2", ".zip")

STANDARD_INPUT = "-"
_MAGIC = (
    (b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"PK\x03\x04", ".xlsx"),
    (b"\xd0\xcf\x11\xe0", ".xls"), (b"\x1f\x8b", ".csv.gz"), (b"BZh", ".csv.bz2"),
)  # fmt: skip
STEP = 1 << 23  # bytes of text read and checked in one step: bounds the memory, never the result
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
# Codecs of Python that turn no file into text.
NOT_OF_FILES = ("punycode", "idna", "unicode-escape", "raw-unicode-escape")
OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip archive or Excel workbook", "name it .xlsx or unpack it"),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"\x1f\x8b", "compressed by gzip", "unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "name it .xls"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
)
_kept: list[tuple[Any, Path]] = []

Format = Literal["text", "json", "parquet", "arrow", "workbook", "statistics"]
ENDINGS: dict[Format, tuple[str, ...]] = {
    "text": TEXT, "json": (".jsonl", ".ndjson"), "parquet": PARQUET,
    "arrow": (".feather", ".arrow", ".ipc"), "workbook": WORKBOOK,
    "statistics": (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"),
}  # fmt: skip


def format_of(path: str | Path) -> Format | None:
    """Return the format that a file's ending tells; text and JSON lines may be compressed.

    >>> format_of("a.CSV"), format_of("a.tsv.gz"), format_of("a.parquet"), format_of("a.json")
    ('text', 'text', 'parquet', None)
    """
    path = Path(path)
    packed = path.suffix.lower() in COMPRESSED
    if packed and not Path(path.stem).suffix and path.suffix.lower() == ".zip" and path.is_file():
        path = Path(_only_member(path).filename)
    elif packed:
        path = Path(path.stem)
    ending = path.suffix.lower()
    found = next((kind for kind, endings in ENDINGS.items() if ending in endings), None)
    return None if packed and found not in ("text", "json") else found


def _only_member(path: Path) -> zipfile.ZipInfo:
    """Return the one file of an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [
                one
                for one in archive.infolist()
                if not one.is_dir() and not one.filename.startswith("__MACOSX/")
            ]
    except zipfile.BadZipFile as error:
        rule = f"a zip archive must be readable; {str(path)!r} is not ({reason_of(error)})"
        raise UserError(f"{rule}: pack it again.") from None
    if len(inside) != 1 or inside[0].flag_bits & 1:
        what = "a password" if len(inside) == 1 else f"{len(inside)} files"
        raise UserError(
            f"a zip archive must hold one file, without a password; {str(path)!r} has {what}: "
            "unpack it and name a file."
        )
    return inside[0]


@dataclass(frozen=True)
class Reading:
    """How files are to be read: what was told of text and workbooks, numbers and dates."""

    missing_tokens: Sequence[str] = ("",)
    encoding: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None
    decimal: str | None = None
    date_format: str | Mapping[str, str] | None = None
    separator: str | None = None
    detect: bool = True
    """Whether ways of writing numbers and dates that were not told are found out."""

    def __post_init__(self) -> None:
        tokens, told = self.missing_tokens, self.date_format
        if isinstance(tokens, str) or not all(map(is_text, tokens)):
            raise UserError(
                f"{option('missing_tokens')} must be a list of texts",
                f"{from_data(tokens)}: write for example {option('missing_tokens', ['', '?'])}",
                field="missing_tokens",
            )
        object.__setattr__(self, "missing_tokens", tuple(token.strip() for token in tokens))
        if self.header_row is not None:
            check_whole("header_row", self.header_row, 1)
        for name, known in (("decimal", (".", ",")), ("separator", SEPARATORS)):
            if (given := getattr(self, name)) not in (None, *known):
                rule = f"{name} must be {' or '.join(map(repr, known))}"
                raise UserError(rule, repr(given), field=name)
        for one in told.values() if isinstance(told, Mapping) else [told] if told else []:
            check_date_format(one)

    def refuse_for(self, kind: Format | None, where: str) -> None:
        """Refuse an encoding of what is no text, a sheet of what is no workbook, and their like."""
        for name, what, kinds in (
            ("encoding", "text files", ("text",)),
            ("separator", "text files", ("text",)),
            ("sheet", "workbooks", ("workbook",)),
            ("header_row", "text files and workbooks", ("text", "workbook")),
        ):
            value = getattr(self, name)
            if value is not None and kind not in kinds:
                got = f"{option(name, value)} with {where}: leave it out"
                raise UserError(f"{name} is for {what}", got, field=name)


def is_address(given: str) -> bool:
    """Tell whether a text is an address (``s3://…``), which is no path on this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", given) is not None


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the system's refusals of a file into an error that says what to check."""
    try:
        yield
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or reason_of(error)
        raise UserError(
            f"a file must be readable; {where} is not ({reason}): check its name and permissions."
        ) from None


def _format_of_file(path: Path) -> Format:
    """Return the format of one file that exists."""
    where = repr(str(path))
    with readable(where):
        if path.is_dir():
            raise UserError(f"a table is read from a file; {where} is a folder: name a file in it.")
        if not path.exists():
            raise _no_file(path)
        found = format_of(path)
        if found is None:
            raise UserError(
                f"a file's ending must tell its format ({', '.join(sum(ENDINGS.values(), ()))})",
                f"{where}: rename it, or unpack it if it is compressed",
            )
        if not path.is_file():
            raise UserError(
                f"a table is read from a file; {where} is a device or pipe: save it as a file."
            )
    return found


def standard_input() -> Path:
    """Return the file with everything that came by standard input; it is read once."""
    stream = getattr(sys.stdin, "buffer", sys.stdin)
    for seen, path in _kept:
        if seen is stream:
            return path
    if stream is None or stream.isatty():
        raise UserError(
            "'-' reads the table from standard input, which is a terminal; write for example: "
            "zcat data.gz | indiff risk -"
        )
    folder = tempfile.mkdtemp(prefix=temporary_prefix())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = Path(folder) / "standard input"
    with place.open("wb") as file:
        shutil.copyfileobj(stream, file)
    with place.open("rb") as file:
        start = file.read(1 << 12)
    otherwise = ".jsonl" if start.lstrip().startswith(b"{") else ".csv"
    ending = next((ending for magic, ending in _MAGIC if start.startswith(magic)), otherwise)
    path = place.with_suffix(ending)
    place.rename(path)
    _kept.append((stream, path))
    return path


def found_files(given: str) -> tuple[list[Path], Format]:
    """Return the files that a path, a folder or a pattern names, all of one format.

    What exists is that file, whatever characters its name has; ``-`` is standard input.
    """
    if is_address(given):
        raise UserError(
            "a table is read from a file on this machine",
            f"the address {given!r}: download it first",
        )
    if not given:
        raise UserError("a table is read from a file", "an empty name", "Name the file")
    path = standard_input() if given == STANDARD_INPUT else Path(given)
    with readable(repr(given)):
        if path.is_dir():
            paths = _files_in(path)
        elif path.exists() or not glob.has_magic(given):
            paths = [path]
        else:
            paths = [Path(found) for found in sorted(glob.glob(given, recursive=True))]
            if not paths:
                raise UserError(f"no file matches {given!r}; check the path.")
    formats = [_format_of_file(path) for path in paths]
    if len(set(formats)) > 1 or (formats[0] not in ("text", "parquet") and len(formats) > 1):
        strange = next(
            (p for p, f in zip(paths, formats, strict=True) if f != formats[0]), paths[1]
        )
        raise UserError(
            "files that are read together must all be text or all be Parquet",
            f"{str(paths[0])!r} and {str(strange)!r}",
            "Name those of one format",
        )
    return paths, formats[0]


def _files_in(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder, or else the text files in it."""
    if paths := sorted(folder.rglob("*.parquet")):
        return paths
    paths = [one for one in sorted(folder.iterdir()) if one.is_file() and format_of(one) == "text"]
    if not paths:
        raise UserError(
            f"a folder must hold Parquet files (.parquet) or text files ({', '.join(TEXT)}); "
            f"{str(folder)!r} has none: name a file."
        )
    return paths


def opened(path: Path) -> BinaryIO:
    """Open a file to read; text that is compressed is unpacked on the way."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return cast(BinaryIO, gzip.open(path))
    if ending == ".bz2":
        return cast(BinaryIO, bz2.open(path))
    if ending == ".zip":
        with zipfile.ZipFile(path) as archive:
            return cast(BinaryIO, archive.open(_only_member(path)))
    return path.open("rb")


def utf8_text(file: BinaryIO, encoding: str | None, where: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the text as UTF-8 without a byte order mark, and whether it ends there."""
    chunk = file.read(STEP)
    decoder, name = _decoder(chunk, encoding, where)
    taken = made = lines = 0
    ended = b""
    while True:
        following = file.read(STEP) if chunk else b""
        try:
            data = decoder.decode(chunk, not following).encode("utf-8")
        except UnicodeEncodeError:  # UTF-7 can write halves of characters
            raise UserError(f"{where} holds half a character; give its encoding.") from None
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
                raise UserError(
                    f"a table needs a header and records; {where} is empty: check the file."
                )
        yield data, not following
        if not following:
            return
        taken, made = taken + len(chunk), made + len(data)
        lines += line_ends(data) - (ended == b"\r" and data.startswith(b"\n"))
        chunk, ended = following, data[-1:]


def line_ends(data: bytes) -> int:
    """Count the ends of lines: LF, CR LF and CR."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _decoder(
    start: bytes, encoding: str | None, where: str
) -> tuple[codecs.IncrementalDecoder, str]:
    """Return what decodes a text that starts so, and the encoding's name."""
    for magic, what, remedy in OTHER_FORMATS:
        if start.startswith(magic):
            raise UserError(f"separated text is expected here; {where} is {what}: {remedy}.")
    marked = next((name for mark, name in BYTE_ORDER_MARKS if start.startswith(mark)), None)
    if encoding is not None:
        _check_encoding(encoding, marked, where)
    name = marked or encoding or "utf-8"
    if re.sub(r"[-_ ]", "", name.lower()) in ("utf8", "utf8sig", "u8", "ascii", "usascii"):
        name = "utf-8"
    return codecs.getincrementaldecoder(name)(), name


def _check_no_nul(data: bytes, before: int, lines: int, where: str) -> None:
    offset = data.find(b"\0")
    if offset >= 0:
        raise UserError(
            f"text has no NUL bytes; {where} has one at byte {before + offset} (line "
            f"{lines + 1 + line_ends(data[:offset])}): remove it, or if the file is text in "
            f"another encoding name it, for example {option('encoding', 'utf-16-le')}."
        )


def _check_western(data: bytes, encoding: str, before: int, where: str) -> None:
    """Refuse latin-1 where it makes control characters of the €, – and „ of Windows."""
    latin = codecs.lookup(encoding).name == "iso8859-1"
    found = re.search(rb"[\x80-\x9f]", data) if latin else None
    if found is not None:
        raise UserError(
            f"text in {encoding} has no control characters; {where} has the byte "
            f"0x{found[0].hex()} at byte {before + found.start()}, a sign such as € or – in the "
            f"encoding of Windows: give {option('encoding', 'cp1252')}.",
            field="encoding",
        )


def _check_encoding(encoding: str, marked: str | None, where: str) -> None:
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
        if codecs.lookup(encoding).name in NOT_OF_FILES:
            raise ValueError
    except (LookupError, TypeError, ValueError):
        raise UserError(
            "encoding must be the name of a text encoding",
            f"{encoding!r}: use for example 'utf-8', 'latin-1', 'cp1252' or 'utf-16'",
        ) from None
    if marked is None and codecs.lookup(encoding).name in ("utf-16", "utf-32"):
        order = option("encoding", f"{encoding.lower()}-le")
        raise UserError(
            f"text in {encoding} begins with a byte order mark; {where} has none: give {order} or "
            "the encoding it was written in.",
            field="encoding",
        )
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
        f"byte {before + error.start}, which stands for no letter there: {way_out}.",
        field="encoding",
    )


def _no_file(path: Path) -> UserError:
    if not path.parent.is_dir():
        return UserError(
            f"a file must exist; there is no folder {str(path.parent)!r} for {str(path)!r}: check "
            "the path."
        )
    if path.is_symlink():
        return UserError(f"a file must exist; {str(path)!r} is a link to none: check the path.")
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return UserError(f"a file must exist; there is no {str(path)!r}{near or ': check the path.'}")
