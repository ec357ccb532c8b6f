"""A worker process: does one job, reports to the store, and ends with the server."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.web.store.database import DISK_FULL, Database, is_disk_full
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store

REPORT_EVERY = 0.25
OUT_OF_MEMORY = (
    "the memory that one worker may use does not suffice for this table; test fewer columns, or "
    "start the server with a larger --worker-memory."
)


@dataclass
class Reporter:
    """Writes how far a job is to the store, a few times a second at most."""

    store: Store
    job: str
    attempt: int
    _last: float = 0.0
    _values: dict[str, Any] = field(default_factory=dict)

    def __call__(self, **values: Any) -> None:
        """Note values; they are written when it is time, or when the step changes."""
        changed = "step" in values and values["step"] != self._values.get("step")
        self._values.update(values)
        if changed or time.monotonic() - self._last >= REPORT_EVERY:
            self._last = time.monotonic()
            self.store.report(self.job, self.attempt, **self._values)


def main(words: list[str]) -> None:
    """Do the job that the words name: data folder, job, attempt, bytes of memory."""
    data_dir, job, attempt, memory = words
    _end_with_server()
    os.umask(0o077)
    os.nice(5)  # pages answer first
    resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump of the memory holds the table
    settings = Settings(data_dir=Path(data_dir))
    store = Store(settings, Database(settings.database))
    with _OnlyWorkerOf(settings.run_folder(job)):
        do_job(store, job, int(attempt))


def do_job(store: Store, job: str, attempt: int) -> None:
    """Do a job that has begun; however it ends, the store is told."""
    from indiff.web.jobs.kinds import JOBS

    try:
        found = store.job(job)
        work: Callable[..., tuple[Any, str | None]] = JOBS[found["kind"]]
        answer, document = work(store, found, Reporter(store, job, attempt))
        store.finish(job, attempt, answer=answer, document=document)
    except UserError as error:
        store.end(job, "failed", without_folders(str(error), store.settings.data_dir))
    except MemoryError:
        store.end(job, "failed", OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 - the one place that turns a bug into a failed job
        if is_disk_full(error):
            store.end(job, "failed", DISK_FULL)
            return
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
        store.end(
            job,
            "failed",
            f"internal error ({type(error).__name__} at {place}); please report it, without data.",
        )


def without_folders(sentence: str, data_dir: Path) -> str:
    """Call a kept file by its name alone: the folder is the server's own business.

    >>> without_folders("'/d/datasets/0123456789abcdef/a.csv' is empty.", Path("/d"))
    "'a.csv' is empty."
    """
    name = "[0-9a-f]{16}"
    kept = f"{re.escape(str(data_dir))}/datasets/{name}/((releases/{name}|hierarchies)/)?"
    return re.sub(kept, "", sentence)


def _end_with_server() -> None:
    """End this process and its children as soon as the server is gone, however it went."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="server-watch", daemon=True).start()


class _OnlyWorkerOf:
    """Waits until a killed server's worker for the same job has ended too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.handle = open(self.folder / "lock", "a")
        fcntl.flock(self.handle, fcntl.LOCK_EX)

    def __exit__(self, *problem: object) -> None:
        if [path.name for path in self.folder.iterdir()] == ["lock"]:  # nothing was made
            (self.folder / "lock").unlink()
            self.folder.rmdir()
        self.handle.close()


if __name__ == "__main__":
    main(sys.argv[1:])
