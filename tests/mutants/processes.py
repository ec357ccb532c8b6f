"""Runs work in a copy of this process that is stopped after a time of the processor."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TIMED_OUT = -1


def in_child(work: Callable[[], int], seconds: float, said: Path = Path(os.devnull)) -> int:
    """Run ``work`` in a copy of this process; return its exit code, or ``TIMED_OUT``.

    ``seconds`` are of the processor, so that a busy machine makes nothing late. Whoever waits for
    ever uses none: after twenty times as long by the clock the copy is stopped, too.
    """
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            words = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(words, 1)
            os.dup2(words, 2)
            used = time.process_time()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            most = int(used + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
            code = work()
        finally:
            os._exit(code)
    try:
        return _wait(child, time.monotonic() + 60 + 20 * seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and what it started


def _wait(child: int, end: float) -> int:
    pause = 0.005
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return TIMED_OUT if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMED_OUT
