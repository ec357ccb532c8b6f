"""Runs a program in a folder, for a limited time, and leaves no process of it behind."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indiff.systems import OWN_GROUP, end_group

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
        **OWN_GROUP,  # which can be ended as a whole
    )
    assert process.stderr is not None
    tail = _Tail(process.stderr.fileno())
    try:
        wait = _wait if tail.can_wait else _wait_plainly
        in_time = wait(process, tail, time.monotonic() + timeout)
    finally:
        end_group(process)  # also what it left running behind it
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


def _wait_plainly(process: subprocess.Popen[bytes], tail: _Tail, deadline: float) -> bool:
    """Do the same where a stream cannot be waited for: all complaints are read, then cut."""
    try:
        _, words = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    tail.keep(words)
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
        self.can_wait = hasattr(select, "poll")  # Windows has none
        if self.can_wait:
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLIN)

    def read(self, patience: float) -> bool:
        """Read what is there, after waiting this long at most; False if nothing came."""
        if not self._poll.poll(1000 * patience):
            return False
        piece = os.read(self._descriptor, _PIECE)
        self.closed = not piece
        self.keep(piece)
        return True

    def keep(self, piece: bytes) -> None:
        """Add a piece, and keep the end."""
        self._kept = (self._kept + piece)[-KEPT:]

    def text(self) -> str:
        """Return the kept end as one line."""
        return " ".join(self._kept.decode("utf-8", "replace").split())
