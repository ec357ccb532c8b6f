"""A disk that fails: counts what indiff writes, and lets the n-th write go wrong.

Every write of the one file writer, of the journal and of the server's database passes here: making
a file or a folder, writing to it, bringing it to disk, renaming it, cutting it; and each statement
of SQL that changes something. The four faults:

- ``full``: half of the bytes are written, then there is no room, also for whatever comes later;
- ``failing``: the write, or the flush, fails once with an input/output error;
- ``memory``: there is no memory for it, once;
- ``killed``: half of the bytes are written, and nothing that the process does later reaches the
  disk: what is left is what a kill leaves.
"""

from __future__ import annotations

import errno
import io
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from indiff import files

FAULTS = ("full", "failing", "memory", "killed")
COUNTED = ("write", "fsync", "replace", "ftruncate", "mkdir", "open")
FROZEN = ("unlink", "rmdir")  # these fail after a kill only
WRITING = (
    "BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE", "COMMIT", "PRAGMA journal_mode",
    "PRAGMA wal_checkpoint",
)  # fmt: skip
NO_ROOM = "No space left on device"
# Our own calls, and those that the standard library makes for us.
SEEN = ("indiff", "tempfile", "pathlib", "shutil")


class Killed(BaseException):
    """The moment at which a process is gone."""


class Disk:
    """What the writes of one run came to; number ``at`` of them has the fault."""

    def __init__(self, fault: str | None = None, at: int = 0) -> None:
        self.fault, self.at = fault, at
        self.names: list[str] = []
        self.is_full = self.is_dead = False

    def count(self, name: str) -> None:
        """Count a write, and let it fail if it is its turn."""
        if self.is_dead:
            raise Killed
        self.names.append(name)
        now = len(self.names) == self.at
        if self.is_full and name in ("write", "mkdir", "open", "sql"):
            raise self._error(name)
        if not now:
            return
        if self.fault == "memory":
            raise MemoryError
        self.is_full, self.is_dead = self.fault == "full", self.fault == "killed"
        raise Killed if self.is_dead else self._error(name)

    def _error(self, name: str) -> Exception:
        full = self.fault == "full"
        if name != "sql":
            return OSError(*(errno.ENOSPC, NO_ROOM) if full else (errno.EIO, "Input/output error"))
        error = sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_IOERR_FSYNC
        return error

    def write(self, put: Callable[[Any], int], data: Any) -> int:
        """Write bytes; of a write that fails, half of them."""
        try:
            self.count("write")
        except (OSError, Killed):
            if len(self.names) == self.at:
                put(bytes(data)[: len(data) // 2])
            raise
        return put(data)

    @contextmanager
    def __call__(self) -> Iterator[Disk]:
        """Let everything that indiff writes meanwhile pass here."""
        with ExitStack() as patches:
            for name in (*COUNTED, *FROZEN):
                patches.enter_context(patch.object(os, name, self._passing(name)))
            patches.enter_context(patch.object(files, "open", self._open, create=True))
            patches.enter_context(patch.object(sqlite3, "connect", self._connect()))
            yield self

    def _passing(self, name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def passing(*words: Any, **named: Any) -> Any:
            if not sys._getframe(1).f_globals["__name__"].startswith(SEEN):
                return real(*words, **named)
            if name == "write":
                return self.write(lambda data: int(real(words[0], data)), words[1])
            if name in FROZEN:
                if self.is_dead:
                    raise Killed
            elif name != "open" or words[1] & os.O_CREAT:
                self.count(name)
            return real(*words, **named)

        return passing

    def _connect(self) -> Callable[..., Any]:
        disk, real = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, text: str, *values: Any) -> Any:
                if text.startswith(WRITING):
                    disk.count("sql")
                elif disk.is_dead:
                    raise Killed
                return super().execute(text, *values)

            def executescript(self, text: str) -> Any:
                disk.count("sql")
                return super().executescript(text)

        return lambda *words, **named: real(*words, **named, factory=Connection)

    def _open(self, name: str, mode: str) -> Any:
        disk = self

        class File(io.FileIO):
            def write(self, data: Any, /) -> int:
                return disk.write(super().write, data)

        self.count("open")
        return io.BufferedWriter(File(name, mode))


def each(undisturbed: Callable[[], Any], *, faults: tuple[str, ...] = FAULTS) -> Iterator[Disk]:
    """Yield a disk for each fault at each write that an undisturbed run makes."""
    with Disk()() as counted:
        undisturbed()
    assert counted.names
    for fault in faults:
        for place in range(1, len(counted.names) + 1):
            yield Disk(fault, place)


def sweep(folder: Path) -> None:
    """Remove what a killed write left: the next command would, were this process not alive."""
    for left in folder.rglob(".indiff-*"):
        left.unlink()
