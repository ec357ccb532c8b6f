"""Names temporary files and folders for their process, and removes those of killed processes.

A process that is killed outright cannot clean up: the next command removes what it left, and ends
what it left running.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indiff.systems import KILL, is_there, user

_ROUNDS = 20
_swept: set[tuple[int, str]] = set()


def temporary_prefix() -> str:
    """Return how the name of a temporary file or folder of this process begins."""
    return f"{_machine()}{os.getpid()}-{_started(os.getpid()) or 0}-"


def _machine() -> str:
    """Return how such names begin on this machine, where process numbers mean the same.

    Containers and machines that share a folder do not see each other's processes: to one of them
    another's look as if they were gone.
    """
    space = os.readlink("/proc/self/ns/pid") if Path("/proc/self/ns/pid").exists() else ""
    return f"indiff-{zlib.crc32(f'{socket.gethostname()} {space}'.encode()):08x}-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder of mode 0700; remove it with everything in it, and end what uses it."""
    if sweep_once(tempfile.gettempdir()):
        atexit.register(sweep)  # a worker that is killed leaves its folder to its parent
    folder = Path(tempfile.mkdtemp(prefix=temporary_prefix()))
    try:
        yield folder
    finally:
        _end_processes_of(folder)  # a daemon in a session of its own is in no process group of ours
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():  # something in it was made unwritable, or still wrote into it
            for place, _, _ in os.walk(folder):
                with suppress(OSError):
                    os.chmod(place, 0o700)
            shutil.rmtree(folder)


def sweep_once(folder: str) -> bool:
    """Sweep a folder unless this process has; return whether it was done now."""
    if (os.getpid(), folder) in _swept:  # a fork of this process is another one
        return False
    _swept.add((os.getpid(), folder))
    sweep(folder)
    return True


def sweep(folder: str | None = None) -> None:
    """Remove what processes of this user left behind that were killed, and end their children.

    Without a folder, in the one for temporary files.
    """
    named = re.compile(rf"\.?{_machine()}(\d+)-(\d+)-\w+")
    with suppress(OSError):  # a folder that cannot be listed has nothing that can be removed
        for entry in Path(folder or tempfile.gettempdir()).iterdir():
            found = named.fullmatch(entry.name)
            if found is None or _started(int(found[1])) == int(found[2]):  # its maker is alive
                continue
            with suppress(OSError):  # its own process was quicker
                if entry.lstat().st_uid != user() or entry.is_symlink():
                    continue
                if not entry.is_dir():
                    entry.unlink()
                    continue
                _end_processes_of(entry)
                shutil.rmtree(entry, ignore_errors=True)


def _started(process: int) -> int | None:
    """Return when a process started, in ticks since the start of the machine; None if it is gone.

    With its number this names a process for good: numbers are used again.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
        return 0 if is_there(process) else None
    fields = text.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _end_processes_of(folder: Path) -> None:
    """End the processes that were told to keep their temporary files in this folder."""
    for _ in range(_ROUNDS):  # what is found may have started others meanwhile
        found = _processes_of(folder)
        if not found:
            return
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, KILL)


def _processes_of(folder: Path) -> list[int]:
    """Return the processes that have this folder as theirs; those that have ended have none."""
    mark = os.fsencode(f"TMPDIR={folder}")
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or gone
            if mark in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found
