"""Runs a program in a temporary folder of its own, and leaves neither files nor processes behind.

Its time is limited and its complaints are kept in part. A process that is killed outright cannot
clean up: its folders carry its number, and the next one that needs a folder removes those whose
maker is gone, and ends what still runs in them.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KEPT = 2000  # bytes of standard error: its end says why a program stopped
_PIECE = 1 << 16
_LEFT_IN_PIPE = 16  # such pieces are more than any pipe holds
_GLANCE = 0.05  # seconds between looks at a program whose children hold its error stream
_BLINK = 0.002  # seconds between looks at one that has closed it: it is about to end


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code (None: stopped at its time limit), its last words."""

    code: int | None
    words: str


def run_program(
    arguments: Sequence[str], *, folder: str, environment: Mapping[str, str], timeout: float
) -> Ended:
    """Run a program without a shell and wait for it; end it and its children at the time limit.

    Of standard error only the end is kept, however much is written. Standard output is dropped.
    Whatever interrupts the waiting, the program's whole process group is ended first.
    """
    process = subprocess.Popen(
        list(arguments),
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # a process group of its own, which can be ended as a whole
    )
    assert process.stderr is not None
    tail = _Tail(process.stderr.fileno())
    try:
        in_time = _wait(process, tail, time.monotonic() + timeout)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # also what it left running behind it
        code = process.wait()
        process.stderr.close()
    return Ended(code if in_time else None, tail.text())


def _wait(process: subprocess.Popen[bytes], tail: _Tail, deadline: float) -> bool:
    """Wait for the program and read its complaints; False if it is still at work at the end."""
    while not _has_ended(process):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if tail.closed:
            time.sleep(min(left, _BLINK))
        else:
            tail.read(min(left, _GLANCE))
    for _ in range(_LEFT_IN_PIPE):  # a child of the program may go on writing for ever
        if tail.closed or not tail.read(0):
            break
    return True


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the program has ended; its number stays its own until it is waited for."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, look) is not None


class _Tail:
    """The end of a stream."""

    def __init__(self, descriptor: int) -> None:
        self.closed = False
        self._descriptor = descriptor
        self._kept = b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def read(self, patience: float) -> bool:
        """Read what is there, after waiting this long at most; False if nothing came."""
        if not self._poll.poll(1000 * patience):
            return False
        piece = os.read(self._descriptor, _PIECE)
        self.closed = not piece
        self._kept = (self._kept + piece)[-KEPT:]
        return True

    def text(self) -> str:
        """Return the kept end as one line."""
        return " ".join(self._kept.decode("utf-8", "replace").split())


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
    """Yield a new folder of mode 0700 and remove it with everything in it."""
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
            for place, _, _ in os.walk(folder):
                with contextlib.suppress(OSError):
                    os.chmod(place, 0o700)
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
        if named and mine and _started(int(named[1])) != int(named[2]):  # its maker is gone
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
        try:
            os.kill(process, 0)  # asks whether it is there, where there is no /proc
        except ProcessLookupError:
            return None
        except PermissionError:
            pass
        return 0
    fields = text.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


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
        with contextlib.suppress(OSError):  # another user's, or gone
            if mark in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found
