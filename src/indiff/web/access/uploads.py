"""Takes files in: sent ones, counted on the way to the disk, or those below one folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import zipfile
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from indiff.data.reading.input_files import ENDINGS, WORKBOOK
from indiff.errors import UserError

TABLES = tuple(ending for endings in ENDINGS.values() for ending in endings)
# What a packed workbook may grow to, and by which factor: text packs well, but not a thousandfold.
LARGEST_UNPACKED = 4 * 10**9
LARGEST_FACTOR = 200
SMALL_UNPACKED = 50_000_000
LARGEST_DIRECTORY = 4_000_000
CHUNK = 1 << 20
LARGEST_HIERARCHY = 16_000_000
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


async def receive(chunks: AsyncIterator[bytes], path: Path) -> Path:
    """Write what is sent to a file for its owner only; unless it is a table, nothing is left."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            async for data in chunks:
                file.write(data)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())  # other pages need not wait
        if not path.exists():
            raise UserError("what this file belongs to was deleted while it was sent.")
        if not path.stat().st_size:
            raise UserError("a table needs a header and records; the file is empty: check it.")
        await asyncio.to_thread(check_packed, path)
    except BaseException:
        drop(path)
        raise
    return path


def drop(path: Path) -> None:
    """Remove a file, and its folder where nothing else is in it."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()


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
        raise UserError(
            "the server was started without a folder of tables; upload the file instead."
        )
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
