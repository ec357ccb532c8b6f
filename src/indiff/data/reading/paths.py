"""Finds the files that a path names, tells their format by their ending, and opens them."""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
import pyarrow as pa

from indiff.errors import UserError, did_you_mean

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
PARQUET = (".parquet", ".pq")
WORKBOOK = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

Format = Literal["text", "parquet", "workbook"]


def format_of(path: str | Path) -> Format | None:
    """Return the format that a file's ending tells; text may be compressed by gzip.

    >>> format_of("a.CSV"), format_of("a.tsv.gz"), format_of("a.parquet"), format_of("a.json")
    ('text', 'text', 'parquet', None)
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in TEXT or (ending == ".gz" and Path(path.stem).suffix.lower() in TEXT):
        return "text"
    if ending in PARQUET:
        return "parquet"
    return "workbook" if ending in WORKBOOK else None


def is_address(given: str) -> bool:
    """Tell whether a text is an address (``s3://…``), which is no path on this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", given) is not None


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the system's refusals of a file into an error that says what to check."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
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
    path = Path(given)
    where = repr(str(path))
    with readable(where):
        if path.is_dir():
            raise UserError(f"a table is read from a file; {where} is a folder: name a file in it.")
        if not path.exists():
            raise _no_file(path)
        found = format_of(path)
        if found is None:
            raise UserError(
                f"a file's ending must tell its format ({', '.join(TEXT + PARQUET + WORKBOOK)})",
                f"{where}: rename it, or unpack it if it is compressed",
            )
        if not path.is_file():
            raise UserError(
                f"a table is read from a file; {where} is a device or pipe: save it as a file."
            )
    return path, found


def found_files(given: str) -> tuple[list[Path], Format]:
    """Return the files that a path, a folder of Parquet files or a pattern names, of one format.

    What exists is that file, whatever characters its name has.
    """
    path = Path(given)
    with readable(repr(given)):
        if path.is_dir():
            paths = sorted(path.rglob("*.parquet"))
            if not paths:
                raise UserError(
                    f"a folder must hold Parquet files (.parquet); {given!r} has none: name a file."
                )
        elif path.exists() or not glob.has_magic(given):
            paths = [path]
        else:
            paths = [Path(found) for found in sorted(glob.glob(given, recursive=True))]
            if not paths:
                raise UserError(f"no file matches {given!r}; check the path.")
    checked = [checked_path(path) for path in paths]
    formats = [found for _, found in checked]
    if len(set(formats)) > 1 or (formats[0] == "workbook" and len(formats) > 1):
        strange = next((p for p, f in checked if f != formats[0]), paths[1])
        raise UserError(
            "files that are read together must all be text or all be Parquet",
            f"{str(paths[0])!r} and {str(strange)!r}",
            "Name those of one format",
        )
    return [path for path, _ in checked], formats[0]


def opened(path: Path) -> BinaryIO:
    """Open a file to read; text that is compressed is unpacked on the way."""
    if path.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(path))
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
