"""What is free is the least of what the machine, a container and a limit leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff.data.joining import memory

GIB = 2**30
MACHINE = {"proc/meminfo": "MemTotal: 99 kB\nMemAvailable:    8388608 kB\n"}
LIMIT = {
    "proc/self/limits": "Limit  Soft  Hard\nMax address space  5368709120  unlimited  bytes\n",
    "proc/self/status": "Name:\tpython\nVmPeak:\t  99 kB\nVmSize:\t 1048576 kB\n",
}
NO_LIMIT = {**LIMIT, "proc/self/limits": "Max address space   unlimited   unlimited   bytes\n"}
V2 = {
    "sys/fs/cgroup/memory.max": "4294967296\n",
    "sys/fs/cgroup/memory.current": "3221225472\n",
    "sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 1073741824\nactive_file 7\n",
}
V2_WITHOUT = {**V2, "sys/fs/cgroup/memory.max": "max\n"}
V1 = {
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "3221225472\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "2147483648\n",
}
V1_WITHOUT = {**V1, "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        (MACHINE, 8 * GIB),
        (MACHINE | NO_LIMIT, 8 * GIB),
        (MACHINE | LIMIT, 4 * GIB),
        (LIMIT, 4 * GIB),
        (MACHINE | V2, 2 * GIB),
        (MACHINE | V2_WITHOUT, 8 * GIB),
        (MACHINE | V1, 1 * GIB),
        (MACHINE | V1_WITHOUT, 8 * GIB),
        (MACHINE | LIMIT | V2 | V1, 1 * GIB),
        (V1 | {"sys/fs/cgroup/memory/memory.usage_in_bytes": "4000000000\n"}, 0),
        ({"proc/meminfo": "nothing known\n"}, None),
    ],
)
def test_the_least_that_is_left(
    files: dict[str, str], free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    assert memory.free_memory() == free
