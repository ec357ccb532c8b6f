"""Runs work in a copy of this process that is stopped after a time of the processor."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TIMED_OUT = -1
FAILED = 70  # the work itself raised an error
_TIME_IS_UP = (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL)
MOST_MEMORY = 3 * 2**30


def in_child(work: Callable[[], int], seconds: float, said: Path = Path(os.devnull)) -> int:
    """Run ``work`` in a copy of this process; return its exit code, ``FAILED`` or ``TIMED_OUT``.

    The time is that of :func:`allow`, which ``work`` may call again for each of its parts.
    """
    return wait(start(work, seconds, said))


def start(work: Callable[[], int], seconds: float, said: Path = Path(os.devnull)) -> int:
    """Begin ``work`` in a copy of this process; return its number, for :func:`wait`."""
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            os.setsid()
            _end_with_parent()
            words = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(words, 1)
            os.dup2(words, 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            allow(seconds)
            code = work()
        finally:
            os._exit(code)
    return child


def wait(child: int) -> int:
    """Return the exit code of a copy of this process when it has ended."""
    try:
        _, status = os.waitpid(child, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and what it started
    code = os.waitstatus_to_exitcode(status)
    return TIMED_OUT if code in _TIME_IS_UP else code


def _end_with_parent() -> None:
    """Let no copy work on when whoever started it was stopped (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def allow(seconds: float) -> None:
    """End this process unless it ends, or calls this again, before so much time has passed.

    ``seconds`` are of the processor, so that a busy machine makes nothing late. Whoever waits for
    ever uses none: a minute and twenty times as long by the clock are the end, too.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, most))
