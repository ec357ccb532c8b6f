"""A Dask cluster on loopback for tests: a scheduler and worker processes that can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[2]


@dataclass
class Cluster:
    """The scheduler's address, and the processes."""

    address: str
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]]


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers of one thread each, and end all of them."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port",
         "0", "--no-dashboard", "--scheduler-file", str(folder / "scheduler.json")],
        stderr=(folder / "scheduler.log").open("w"), text=True, env=environment, cwd=folder,
    )  # fmt: skip
    started: list[subprocess.Popen[str]] = []
    try:
        address = _address(folder / "scheduler.json")
        started += [
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1",
                 "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"],
                stderr=(folder / f"worker-{number}.log").open("w"), text=True, env=environment,
                cwd=folder,
            )
            for number in range(workers)
        ]  # fmt: skip
        yield Cluster(address, scheduler, started)
    finally:
        for process in [*started, scheduler]:
            if process.poll() is None:
                process.kill()
            process.wait(timeout=30)


def _address(file: Path) -> str:
    for _ in range(600):
        if file.exists() and file.read_text().strip().endswith("}"):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.1)
    raise AssertionError(f"no scheduler: {file.with_suffix('.log').read_text()}")
