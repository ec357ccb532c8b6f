"""Temporary folders that only their owner can read, gone when done with, however that ends.

A process that is killed outright cannot clean up. Its folders carry its number, and the next
process that needs a folder removes those whose maker is gone, and ends what still runs in them.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import socket
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

_swept: set[int] = set()
_ROUNDS = 20


def _prefix() -> str:
    """Return how the folders of this machine and its process numbers begin.

    Containers and machines that share a folder do not see each other's processes: to one of them
    another's look as if they were gone.
    """
    space = os.readlink("/proc/self/ns/pid") if Path("/proc/self/ns/pid").exists() else ""
    return f"indiff-{zlib.crc32(f'{socket.gethostname()} {space}'.encode()):08x}-"


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder of mode 0700 and remove it with everything in it.

    >>> with private_folder() as folder:
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    if os.getpid() not in _swept:  # once in every process, also in a fork of this one
        _swept.add(os.getpid())
        sweep()
        atexit.register(sweep)
    born = _started(os.getpid()) or 0
    folder = Path(tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-{born}-"))
    try:
        yield folder
    finally:
        _end_processes_of(folder)  # a daemon in a session of its own is in no process group of ours
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():  # something in it was made unwritable, or still wrote into it
            _make_removable(folder)
            shutil.rmtree(folder)


def sweep() -> None:
    """Remove what processes of this user left behind that were killed, and end their children."""
    prefix = _prefix()
    for entry in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        named = re.fullmatch(rf"{prefix}(\d+)-(\d+)-\w+", entry.name)
        try:
            mine = entry.lstat().st_uid == os.getuid() and entry.is_dir() and not entry.is_symlink()
        except FileNotFoundError:  # its own process was quicker
            continue
        if named is None or not mine:
            continue
        if _started(int(named[1])) == int(named[2]):
            continue  # its maker is at work
        _end_processes_of(entry)
        shutil.rmtree(entry, ignore_errors=True)


def _started(process: int) -> int | None:
    """Return when a process started, in ticks since the start of the machine; None if it is gone.

    With its number this names a process for good: numbers are used again.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return 0 if not Path("/proc/self/stat").exists() and _is_alive(process) else None
    fields = text.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_processes_of(folder: Path) -> None:
    """End the processes that were told to keep their temporary files in this folder."""
    for _ in range(_ROUNDS):  # what is found may have started others meanwhile
        found = _processes_of(folder)
        if not found:
            return
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def _processes_of(folder: Path) -> list[int]:
    """Return the processes that have this folder as theirs; those that have ended have none."""
    mark = os.fsencode(f"TMPDIR={folder}")
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            marked = mark in place.read_bytes().split(b"\0")
        except OSError:  # another user's, or gone
            continue
        if marked:
            found.append(int(place.parent.name))
    return found


def _make_removable(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(place, 0o700)
