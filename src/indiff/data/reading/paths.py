"""Finds the files that a path names, tells their format by their ending, and opens them."""

from __future__ import annotations

import atexit
import bz2
import glob
import gzip
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import numpy as np
import pyarrow as pa

from indiff.errors import UserError, did_you_mean

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
WORKBOOK = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
STATISTICS = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")
COMPRESSED = (".gz", ".bz2", ".zip")

STANDARD_INPUT = "-"
_MAGIC = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"PK\x03\x04", ".xlsx"),
    (b"\xd0\xcf\x11\xe0", ".xls"),
)
_kept: list[tuple[Any, Path]] = []

Format = Literal["text", "json", "parquet", "arrow", "workbook", "statistics"]
_ENDINGS: dict[Format, tuple[str, ...]] = {
    "text": TEXT, "json": JSON_LINES, "parquet": PARQUET, "arrow": ARROW, "workbook": WORKBOOK,
    "statistics": STATISTICS,
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
    found = next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)
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
        raise UserError(
            f"a zip archive must be readable; {str(path)!r} is not ({error}): pack it again."
        ) from None
    if len(inside) != 1 or inside[0].flag_bits & 1:
        what = "a password" if len(inside) == 1 else f"{len(inside)} files"
        raise UserError(
            f"a zip archive must hold one file, without a password; {str(path)!r} has {what}: "
            "unpack it and name a file."
        )
    return inside[0]


def is_address(given: str) -> bool:
    """Tell whether a text is an address (``s3://…``), which is no path on this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", given) is not None


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the system's refusals of a file into an error that says what to check."""
    try:
        yield
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"a file must be readable; {where} is not ({reason}): check its name and permissions."
        ) from None


def checked_path(source: str | os.PathLike[str]) -> tuple[Path, Format]:
    """Return the path of one file that exists, and its format."""
    given = os.fsdecode(source)
    if is_address(given):
        raise UserError(
            "a table is read from a file on this machine",
            f"the address {given!r}: download it first",
        )
    path = standard_input() if given == STANDARD_INPUT else Path(given)
    where = repr(str(path))
    with readable(where):
        if path.is_dir():
            raise UserError(f"a table is read from a file; {where} is a folder: name a file in it.")
        if not path.exists():
            raise _no_file(path)
        found = format_of(path)
        if found is None:
            raise UserError(
                f"a file's ending must tell its format ({', '.join(sum(_ENDINGS.values(), ()))})",
                f"{where}: rename it, or unpack it if it is compressed",
            )
        if not path.is_file():
            raise UserError(
                f"a table is read from a file; {where} is a device or pipe: save it as a file."
            )
    return path, found


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
    folder = tempfile.mkdtemp(prefix="indiff-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = Path(folder) / "standard input"
    with place.open("wb") as file:
        shutil.copyfileobj(stream, file)
    path = place.with_suffix(_ending_of(place))
    place.rename(path)
    _kept.append((stream, path))
    return path


def _ending_of(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(1 << 12)
    for magic, ending in _MAGIC:
        if start.startswith(magic):
            return ending
    if start.startswith(b"\x1f\x8b"):
        return ".csv.gz"
    if start.startswith(b"BZh"):
        return ".csv.bz2"
    return ".jsonl" if start.lstrip().startswith(b"{") else ".csv"


def found_files(given: str) -> tuple[list[Path], Format]:
    """Return the files that a path, a folder or a pattern names, all of one format.

    What exists is that file, whatever characters its name has; ``-`` is standard input.
    """
    if given == STANDARD_INPUT or is_address(given):
        path, found = checked_path(given)
        return [path], found
    if not given:
        raise UserError("a table is read from a file", "an empty name", "Name the file")
    path = Path(given)
    with readable(repr(given)):
        if path.is_dir():
            paths = _files_in(path)
        elif path.exists() or not glob.has_magic(given):
            paths = [path]
        else:
            paths = [Path(found) for found in sorted(glob.glob(given, recursive=True))]
            if not paths:
                raise UserError(f"no file matches {given!r}; check the path.")
    checked = [checked_path(path) for path in paths]
    formats = [found for _, found in checked]
    if len(set(formats)) > 1 or (formats[0] not in ("text", "parquet") and len(formats) > 1):
        strange = next((p for p, f in checked if f != formats[0]), paths[1])
        raise UserError(
            "files that are read together must all be text or all be Parquet",
            f"{str(paths[0])!r} and {str(strange)!r}",
            "Name those of one format",
        )
    return [path for path, _ in checked], formats[0]


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


def arrow_reader(data: bytes) -> pa.BufferReader:
    """Return a reader of a copy that Arrow owns.

    Arrow's worker threads may drop their last hold on a Python object while the interpreter shuts
    down, which aborts the process after its work is done. Memory of its own is free of that.

    >>> arrow_reader(b"age").read()
    b'age'
    """
    copy = pa.allocate_buffer(len(data))
    np.frombuffer(copy, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return pa.BufferReader(copy)


def _no_file(path: Path) -> UserError:
    if not path.parent.is_dir():
        return UserError(
            f"a file must exist; there is no folder {str(path.parent)!r} for {str(path)!r}: check "
            "the path."
        )
    near = did_you_mean(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return UserError(f"a file must exist; there is no {str(path)!r}{near or ': check the path.'}")
