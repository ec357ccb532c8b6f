"""A real server in a process of its own, for tests that kill, load and question it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil  # type: ignore[import-untyped]

V1 = "/api/v1"
ENDED = ("done", "failed", "cancelled")


class Running:
    """``indiff serve`` with a client that was let in by its link."""

    def __init__(self, data_dir: Path, *words: str) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "indiff.cli.main", "serve", "--no-browser", "--data-dir",
                str(data_dir), *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"(http://\S+)/open\?token=(\S+)", line)
        assert found, line
        self.address = found[1]
        self.client = httpx.Client(base_url=self.address, timeout=120)
        self.enter(found[2])

    def enter(self, token: str) -> None:
        for _ in range(300):
            try:
                answer = self.client.get("/open", params={"token": token})
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        assert answer.status_code == 303, answer.text
        session = self.client.get(f"{V1}/session").json()
        self.client.headers["x-csrf-token"] = session["csrf"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> str:
        """Stop it as Ctrl-C does; return what it wrote to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        self.client.close()
        return errors

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        self.process.kill()
        self.process.communicate(timeout=60)
        self.client.close()

    def get(self, path: str, **params: Any) -> Any:
        answer = self.client.get(f"{V1}{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **more: Any) -> Any:
        answer = self.client.post(f"{V1}{path}", **more)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    def upload(self, body: Any, name: str = "people.csv") -> dict[str, Any]:
        """Upload a table and wait for its profile."""
        dataset = self.post("/datasets", params={"name": name}, content=body)["id"]
        return self.wait(lambda: self.get(f"/datasets/{dataset}"))

    def finish(self, run: str) -> dict[str, Any]:
        """Wait until a run has ended."""
        return self.wait(lambda: self.get(f"/runs/{run}"))

    def wait(self, look: Callable[[], dict[str, Any]], seconds: float = 300) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = look()
            if found["state"] in ENDED:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not ended after {seconds} s: {found}")

    def processes(self) -> list[psutil.Process]:
        """The server and its workers."""
        main = psutil.Process(self.process.pid)
        return [main, *main.children(recursive=True)]


def workers_of(data_dir: Path) -> list[int]:
    """Every worker process of a data folder, whoever its parent is now."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
        if "indiff.web.jobs.worker" in words and str(data_dir) in words:
            found.append(process.pid)
    return found


def memory_of(processes: list[psutil.Process]) -> int:
    """Bytes that some processes hold, shared pages counted once."""
    held = 0
    for process in processes:
        try:
            held += process.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return held


def core_count() -> int:
    return os.cpu_count() or 1
