"""Takes files in: sent ones, counted on the way to the disk, or those below one folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indiff.data.reading.input_files import PARQUET, TEXT, WORKBOOK
from indiff.errors import UserError
from indiff.web.access.guard import CSRF_FIELD
from indiff.web.refusals import Refused

TABLES = TEXT + PARQUET + WORKBOOK
# What a packed workbook may grow to, and by which factor: text packs well, but not a thousandfold.
LARGEST_UNPACKED = 4 * 10**9
LARGEST_FACTOR = 200
SMALL_UNPACKED = 50_000_000
LARGEST_DIRECTORY = 4_000_000
LARGEST_FIELD = 10_000
CHUNK = 1 << 20
MOST_FILES = 1000
MOST_SEEN = 50_000  # the folder may be a whole disk, and a page waits for the list


def safe_name(name: str, endings: tuple[str, ...] = TABLES) -> str:
    """Return a file's own name without any folder, or refuse one that cannot be read.

    >>> safe_name("../../etc/patients.csv")
    'patients.csv'
    """
    base = re.split(r"[/\\]", name)[-1]
    base = re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "_", base).strip(" .")
    stem, ending = os.path.splitext(base)
    if ending.lower() not in endings or not stem:
        raise UserError(
            f"a file's ending must tell its format ({', '.join(endings)})", f"{base!r}: rename it"
        )
    while len((stem + ending).encode()) > 200:
        stem = stem[:-1]
    return stem + ending


def too_large(limit: int) -> Refused:
    """The refusal of a file above the limit."""
    rule = f"a file must be at most {limit:,} bytes; this one is larger"
    return Refused(413, rule, way_out="Start the server with a larger --max-upload")


def check_declared(headers: Any, limit: int) -> None:
    """Refuse by its declared length what would be refused in the end."""
    declared = headers.get("content-length", "0")
    slack = 100_000  # the other fields of a form
    if not declared.isdecimal() or len(declared) > 18 or int(declared) > limit + slack:
        raise too_large(limit)


class Incoming:
    """A file being received, readable by its owner only; gone again unless it is kept."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit, self.size = path, limit, 0
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")

    def write(self, data: bytes) -> None:
        """Add bytes, up to the limit."""
        self.size += len(data)
        if self.size > self.limit:
            raise too_large(self.limit)
        self._file.write(data)

    def keep(self) -> None:
        """Close the file, and look at it before anything reads it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if not self.size:
            raise UserError("a table needs a header and records; the file is empty: check it.")
        if not self.path.exists():
            raise UserError("what this file belongs to was deleted while it was sent.")
        check_packed(self.path)

    def drop(self) -> None:
        """Remove what came in so far."""
        with contextlib.suppress(OSError):  # on a full disk, what is still to be written fails
            self._file.close()
        self.path.unlink(missing_ok=True)
        if self.path.parent.exists() and not any(self.path.parent.iterdir()):
            self.path.parent.rmdir()


async def receive_body(stream: AsyncIterator[bytes], incoming: Incoming) -> None:
    """Write a request's whole body to a file."""
    try:
        async for data in stream:
            incoming.write(data)
        await asyncio.to_thread(incoming.keep)  # other pages need not wait for the disk
    except BaseException:
        incoming.drop()
        raise


async def receive_form(
    stream: AsyncIterator[bytes],
    content_type: str,
    check_csrf: Callable[[str], None],
    open_file: Callable[[str, dict[str, str]], Incoming],
) -> Incoming | None:
    """Read a form with one file, which is written as it comes.

    The CSRF field must come before the file, so that nothing of it is kept without.
    """
    reader = _FormReader(content_type, check_csrf, open_file)
    try:
        async for data in stream:
            reader.write(data)
        reader.finish()
        if reader.incoming is not None:
            await asyncio.to_thread(reader.incoming.keep)
    except BaseException:
        if reader.incoming is not None:
            reader.incoming.drop()
        raise
    return reader.incoming


class _FormReader:
    """The parts of a multipart form, as they arrive."""

    def __init__(
        self,
        content_type: str,
        check_csrf: Callable[[str], None],
        open_file: Callable[[str, dict[str, str]], Incoming],
    ) -> None:
        from python_multipart.multipart import MultipartParser, parse_options_header

        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise UserError("a file is sent as a form (multipart/form-data); this request is not.")
        self._options = parse_options_header
        self._check_csrf, self._open_file = check_csrf, open_file
        self.fields: dict[str, str] = {}
        self.incoming: Incoming | None = None
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value, self._in_file = "", b"", False
        self._header_name, self._header_value = b"", b""
        self._checked = False
        self._parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_text,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_done,
                "on_part_data": self._data,
                "on_part_end": self._end,
            },
        )

    def write(self, data: bytes) -> None:
        from python_multipart.exceptions import MultipartParseError

        try:
            self._parser.write(data)
        except MultipartParseError:
            raise UserError("the form cannot be read; send it again.") from None

    def finish(self) -> None:
        self._parser.finalize()
        if not self._checked:
            self._check_csrf("")

    def _begin(self) -> None:
        self._headers, self._value, self._in_file = {}, b"", False

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _header_text(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name, self._header_value = b"", b""

    def _headers_done(self) -> None:
        _, options = self._options(self._headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._in_file = b"filename" in options
        if not self._in_file:
            return
        if not self._checked:
            self._check_csrf("")
        name = options[b"filename"].decode("utf-8", "replace")
        if not name:  # a form whose file was left out
            return
        if self.incoming is not None:
            raise UserError("one file at a time: this form has several", way_out="Choose one")
        self.incoming = self._open_file(name, self.fields)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            if self.incoming is not None:
                self.incoming.write(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > LARGEST_FIELD or len(self.fields) > 200:
            raise UserError("a field of the form is too long; send it again.")

    def _end(self) -> None:
        if self._in_file:
            return
        value = self._value.decode("utf-8", "replace")
        if self._name == CSRF_FIELD:
            self._check_csrf(value)
            self._checked = True
        else:
            self.fields[self._name] = value


def check_packed(path: Path) -> None:
    """Refuse a packed file that declares to unpack into far more than it is."""
    if not zipfile.is_zipfile(path):
        return
    if path.suffix.lower() not in WORKBOOK:
        raise UserError(
            f"a file's content must be what its ending says; {path.name!r} is an archive",
            way_out="Unpack it and send the table",
        )
    if _directory_bytes(path) > LARGEST_DIRECTORY:
        raise UserError(
            f"a workbook has few parts; {path.name!r} declares millions of them",
            way_out="Save it as CSV",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise UserError(
            f"a workbook must be readable; {path.name!r} is not: save it again."
        ) from None
    unpacked = sum(member.file_size for member in members)
    packed = max(1, path.stat().st_size)
    if unpacked > LARGEST_UNPACKED or (
        unpacked > SMALL_UNPACKED and unpacked > LARGEST_FACTOR * packed
    ):
        raise UserError(
            f"a workbook may unpack to at most {LARGEST_UNPACKED:,} bytes and "
            f"{LARGEST_FACTOR} times its size; {path.name!r} declares {unpacked:,}",
            way_out="Save it as CSV",
        )
    if not all(_is_honest(path, member) for member in members):
        raise UserError(
            f"a workbook must declare what it unpacks to; {path.name!r} holds more, "
            "or is packed in an unusual way",
            way_out="Save it again, or as CSV",
        )


def _is_honest(path: Path, member: zipfile.ZipInfo) -> bool:
    """Unpack a part without keeping it, up to what it declares; readers do not stop there."""
    if member.compress_type == zipfile.ZIP_STORED:
        return member.file_size <= member.compress_size
    if member.compress_type != zipfile.ZIP_DEFLATED:
        return False
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    count, left = 0, member.compress_size
    with path.open("rb") as handle:
        handle.seek(member.header_offset)
        head = handle.read(30)
        lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        handle.seek(lengths, os.SEEK_CUR)
        try:
            while left > 0 and not unpacker.eof and (packed := handle.read(min(left, CHUNK))):
                left -= len(packed)
                while packed and count <= member.file_size:
                    count += len(unpacker.decompress(packed, CHUNK))
                    packed = unpacker.unconsumed_tail
        except zlib.error:
            return False
    return count <= member.file_size


def _directory_bytes(path: Path) -> int:
    """Return how large an archive says its list of parts is, at most; reading it takes memory."""
    with path.open("rb") as handle:
        handle.seek(-min(path.stat().st_size, 70_000), os.SEEK_END)
        tail = handle.read()
    if b"PK\x06\x07" in tail:  # the form for archives above 4 GB, which no workbook needs
        return LARGEST_DIRECTORY + 1
    ends = [found.start() for found in re.finditer(rb"(?=PK\x05\x06)", tail)]
    return max((int.from_bytes(tail[end + 12 : end + 16], "little") for end in ends), default=0)


@dataclass(frozen=True)
class FolderFile:
    """A table below the folder, by its path from there."""

    path: str
    bytes: int


def list_folder(folder: Path | None) -> list[FolderFile]:
    """Return the tables below the folder, links out of it left out."""
    if folder is None:
        return []
    root = folder.resolve()
    found: list[FolderFile] = []
    seen = 0
    for base, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names) + len(folders)
        if seen > MOST_SEEN:
            return found
        for name in sorted(names):
            path = Path(base) / name
            if path.suffix.lower() not in TABLES or name.startswith("."):
                continue
            if _inside(path, root) is not None:
                shown = str(path.relative_to(root))
                if shown.isprintable():
                    found.append(FolderFile(shown, path.stat().st_size))
            if len(found) >= MOST_FILES:
                return found
    return found


def find_in_folder(folder: Path | None, path: str) -> Path:
    """Return the file that a path from the folder names, links followed, if it is below it."""
    if folder is None:
        raise UserError("the server was started without --folder; upload the file instead.")
    found = _inside(folder.resolve() / path, folder.resolve())
    if found is None:
        raise UserError("a file must be below the server's folder; there is none of this name.")
    if found.suffix.lower() not in TABLES:
        rule = f"a file's ending must tell its format ({', '.join(TABLES)}); this one's does not."
        raise UserError(rule, field="path")
    return found


def _inside(path: Path, root: Path) -> Path | None:
    """Return the file that a path leads to, if it is one below the root."""
    try:
        found = path.resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, a circle of links
        return None
