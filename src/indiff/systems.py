"""Does what operating systems do differently: locks, owners, processes and their groups.

Nothing else in the package imports a module or uses a name that only POSIX has, but for the server
of ``indiff serve`` and its workers, which say so where they are started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from indiff.errors import UserError

WINDOWS = sys.platform == "win32"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
# What ends a program from outside, where there is such a thing.
ENDINGS = tuple(getattr(signal, x) for x in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, x))
BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# How a program is started that can be ended with all its children.
OWN_GROUP: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if WINDOWS
    else {"start_new_session": True}
)
_LOCKED_BYTE = 1 << 30  # far behind what is written: a lock there keeps nobody from reading
_AGAIN = 0.05


def lock(file: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process; return False where another has it.

    The lock ends with the file's closing, however the process ends.
    """
    while not _try_lock(file):
        if not wait:
            return False
        time.sleep(_AGAIN)
    return True


def _try_lock(file: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_byte(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_byte(file: int) -> bool:
    """Lock one byte, which is how Windows locks files."""
    import msvcrt

    found: Any = msvcrt
    before = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
    try:
        found.locking(file, found.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(file, before, os.SEEK_SET)
    return True


def user() -> int:
    """Return the number of the user, as files name their owner; 0 where there are no numbers."""
    return os.getuid() if hasattr(os, "getuid") else 0


def sync_names(folder: Path) -> None:
    """Bring the name of a new file to disk; Windows does that by itself."""
    if WINDOWS:
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that was started with ``OWN_GROUP``, and what it started."""
    if not hasattr(os, "killpg"):
        words = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(words, capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, KILL)


def is_there(process: int) -> bool:
    """Tell whether there is a process of this number."""
    if WINDOWS:
        return _is_there_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_there_on_windows(process: int) -> bool:
    """Ask by a handle: a signal of number 0 would be Ctrl-C there."""
    import ctypes

    asks, alive = 0x1000, 259  # PROCESS_QUERY_LIMITED_INFORMATION, STILL_ACTIVE
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - no such name elsewhere
    handle = kernel.OpenProcess(asks, False, process)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == alive


def require_posix(what: str) -> None:
    """Refuse what this system cannot do, in one sentence."""
    if not hasattr(os, "killpg"):
        raise UserError(
            f"{what} needs Linux or macOS; on Windows run it in WSL or in the container, or use "
            "the commands."
        )
