"""Tells how much memory is free."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path("/")
"""Where the system tells what is free; tests put another folder here."""
CONTAINERS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "inactive_file"),
    (
        "sys/fs/cgroup/memory/memory.limit_in_bytes",
        "sys/fs/cgroup/memory/memory.usage_in_bytes",
        "total_inactive_file",
    ),
)
"""A container's limit, what it uses, and what of that the system takes back when it is asked."""


def free_memory() -> int | None:
    """Return how many bytes can be had without swapping; None where the system does not tell.

    The least of what the machine, a container and ``ulimit -v`` leave to this process.
    """
    left = []
    if (available := _number("proc/meminfo", r"^MemAvailable: *([0-9]+) kB")) is not None:
        left.append(available * 1024)
    limit = _number("proc/self/limits", r"^Max address space +([0-9]+)")
    used = _number("proc/self/status", r"^VmSize:\s*([0-9]+) kB")
    if limit is not None and used is not None:
        left.append(limit - used * 1024)
    for most, now, reclaimed in CONTAINERS:
        limit, used = _number(most, r"^([0-9]+)$"), _number(now, r"^([0-9]+)$")
        if limit is not None and used is not None:
            stat = Path(now).parent / "memory.stat"
            left.append(limit - used + (_number(str(stat), rf"^{reclaimed} ([0-9]+)$") or 0))
    return max(0, min(left)) if left else None


def _number(path: str, pattern: str) -> int | None:
    """Return the number that a line of a system's file tells; None where there is none."""
    try:
        text = (ROOT / path).read_text()
    except OSError:
        return None
    found = re.search(pattern, text, re.MULTILINE)
    return int(found[1]) if found else None
