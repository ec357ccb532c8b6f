"""Does one job in a process of its own: reports to the store, and ends with the server."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.systems import lock
from indiff.web.refusals import ID, exhausted
from indiff.web.store.database import Database
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store

REPORT_EVERY = 0.25
OUT_OF_MEMORY = (
    "the memory that one worker may use does not suffice for this table; test fewer columns, or "
    "start the server with a larger --worker-memory."
)
# From the store, the job and its reporter to the answer to keep, and the document if there is one.
Job = Callable[[Store, dict[str, Any], Callable[..., None]], tuple[Any, str | None]]


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
            with suppress(sqlite3.OperationalError):  # how far it is, is no part of what it finds
                self.store.report(self.job, self.attempt, **self._values)


def main(words: list[str]) -> None:
    """Do the job that the words name: data folder, job, attempt, bytes of memory."""
    import resource

    data_dir, job, attempt, memory = words
    _end_with_server()
    os.umask(0o077)
    os.nice(5)  # pages answer first
    resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump of the memory holds the table
    settings = Settings(data_dir=Path(data_dir))
    store = Store(settings, Database(settings.database))
    with _only_worker_of(settings.run_folder(job)):
        do_job(store, job, int(attempt))


def do_job(store: Store, job: str, attempt: int) -> None:
    """Do a job that has begun; however it ends, the store is told."""
    try:
        found = store.job(job)
        work = _work_of(found)
        answer, document = work(store, found, Reporter(store, job, attempt))
        store.finish(job, attempt, answer=answer, document=document)
    except Exception as error:  # noqa: BLE001 - the one place that turns a bug into a failed job
        store.end(job, "failed", _explained(error, store.settings.data_dir))


def _work_of(job: dict[str, Any]) -> Job:
    from indiff.web.jobs.audit import run
    from indiff.web.jobs.estimating import estimate
    from indiff.web.jobs.releases import check
    from indiff.web.jobs.tables import hierarchy, profile

    if "release" in job["task"]:  # the profile of a release made elsewhere
        return check
    kinds = {"profile": profile, "hierarchy": hierarchy, "estimate": estimate, "run": run}
    return kinds[job["kind"]]


def _explained(error: Exception, data_dir: Path) -> UserError:
    known = exhausted(error)
    if known is not None:
        return UserError(OUT_OF_MEMORY) if isinstance(error, MemoryError) else known
    if isinstance(error, UserError):
        return without_folders(error, data_dir)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    return UserError(f"internal error ({place}); please report it, without data.")


def without_folders(error: UserError, data_dir: Path) -> UserError:
    """Call a kept file by its name alone: the folder is the server's own business.

    >>> error = UserError("'/d/datasets/0123456789abcdef/a.csv' is empty")
    >>> print(without_folders(error, Path("/d")))
    'a.csv' is empty.
    """
    folder = f"{re.escape(str(data_dir))}/datasets/{ID}/((releases/{ID}|hierarchies)/)?"
    rule, got, way_out = (
        None if part is None else re.sub(folder, "", str(part))
        for part in (error.rule, error.got, error.way_out)
    )
    return UserError(rule or "", got, way_out or "", field=error.field)


def _end_with_server() -> None:
    """End this process and its children as soon as the server is gone, however it went."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="server-watch", daemon=True).start()


@contextmanager
def _only_worker_of(folder: Path) -> Iterator[None]:
    """Wait until a killed server's worker for the same job has ended too."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with open(folder / "lock", "a") as handle:
        lock(handle.fileno(), wait=True)
        try:
            yield
        finally:
            if [path.name for path in folder.iterdir()] == ["lock"]:  # nothing was made
                (folder / "lock").unlink()
                folder.rmdir()


if __name__ == "__main__":
    main(sys.argv[1:])
