"""Starts a worker process for each job that waits in the store, as many as there are places.

Cores are shared fairly between batches: whichever batch has the fewest jobs running is next, and
among equals the one that waits longest. Profiles, hierarchies and estimates, for which a person
waits at the screen, have a place of their own beside the runs.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.systems import OWN_GROUP, end_group, lock
from indiff.web.access.guard import log_without_values
from indiff.web.store.deleted import remove_old
from indiff.web.store.store import Store

Jobs = Sequence[dict[str, Any]]
LOOK_EVERY = 0.1
TRY_AGAIN = 2.0  # where the disk is full, say
REMOVE_EVERY = 20.0
# A worker has one core: a second thread in it would take another run's.
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
ONE_THREAD = {
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # one pool of free memory for each thread would be kept for nothing
    **{f"{name}_NUM_THREADS": "1" for name in _THREADS},
}


@dataclass
class Worker:
    """A running worker process, which leads a process group of its own."""

    job: dict[str, Any]
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the worker and every process that it started."""
        end_group(self.process)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


@dataclass
class Queue:
    """Starts workers for waiting jobs, in a thread; ``start`` and ``stop`` it."""

    store: Store
    ending: bool = False  # asked to stop: whoever follows a run is let go
    _workers: dict[str, Worker] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _wake: threading.Event = field(default_factory=threading.Event)
    _stopping: bool = False
    _remove_at: float = 0.0
    _thread: threading.Thread | None = None

    def start(self) -> int:
        """Queue what an earlier server left unfinished, and begin; return how many those were."""
        self.store.sweep()
        remove_old(self.store, self.end_workers, minutes=0)
        resumed = self.store.queue_again()
        self._thread = threading.Thread(target=self._loop, name="queue", daemon=True)
        self._thread.start()
        return resumed

    def stop(self) -> None:
        """End every worker; their jobs are done again by the next server."""
        self._stopping = True
        self.wake()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            for worker in self._workers.values():
                worker.kill()
            self._workers.clear()
        remove_old(self.store, self.end_workers, minutes=0)

    def wake(self) -> None:
        """Look at the waiting jobs now."""
        self._wake.set()

    def cancel(self, job: str) -> bool:
        """End a job that waits or runs; tell whether there was one."""
        with self._lock:
            ended = self.store.end(job, "cancelled")
            self._kill(job)
        self.wake()
        return ended

    def end_workers(self, jobs: Sequence[str]) -> None:
        """End the workers of jobs that are no longer in the store."""
        with self._lock:
            for job in jobs:
                self._kill(job)
        self.wake()

    def _kill(self, job: str) -> None:
        worker = self._workers.pop(job, None)
        if worker is not None:
            worker.kill()

    def _loop(self) -> None:
        failing = False
        while not self._stopping:
            try:
                with self._lock:
                    self._collect()
                    self._start_next()
                    self._remove_deleted()
                    pause = LOOK_EVERY if self._workers else REMOVE_EVERY
                failing = False
            except (sqlite3.Error, OSError, MemoryError) as error:
                if not failing:  # say it once: jobs must go on as soon as they can
                    log_without_values(error)
                failing, pause = True, TRY_AGAIN
            self._wake.wait(pause)
            self._wake.clear()

    def _remove_deleted(self) -> None:
        if time.monotonic() >= self._remove_at:
            self._remove_at = time.monotonic() + REMOVE_EVERY
            remove_old(self.store, self.end_workers)

    def _collect(self) -> None:
        """Take the ended workers off; a job that its worker did not end has failed."""
        for job, worker in list(self._workers.items()):
            code = worker.process.poll()
            if code is None:
                continue
            worker.kill()  # what the worker started ends with it
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            problem = UserError(
                f"the worker process ended before its work was done ({how}); most often the "
                "memory of this machine does not suffice",
                way_out="Try fewer records or one run at a time",
            )
            self.store.end(job, "failed", problem)
            self._workers.pop(job)

    def _start_next(self) -> None:
        unfinished = self.store.unfinished()
        for one in unfinished:
            if one["state"] == "running" and one["id"] not in self._workers:
                self._end_unstarted(one["id"], "nor write that down")
        waiting = [job for job in unfinished if job["state"] == "queued"]
        while waiting:
            running = [worker.job for worker in self._workers.values()]
            job = choose(waiting, running, self.store.settings.workers)
            if job is None:
                return
            waiting.remove(job)
            attempt = self.store.begin(job["id"])
            if attempt is None:
                continue
            try:
                self._workers[job["id"]] = self._spawn(job, attempt)
            except OSError as error:
                self._end_unstarted(job["id"], str(error.strerror))

    def _end_unstarted(self, job: str, why: str) -> None:
        problem = UserError(
            f"this machine could not start a worker process ({why})",
            way_out="Close other programs and start the run again",
        )
        self.store.end(job, "failed", problem)

    def _spawn(self, job: dict[str, Any], attempt: int) -> Worker:
        settings = self.store.settings
        words = [str(settings.data_dir), job["id"], str(attempt), str(worker_memory(settings))]
        process = subprocess.Popen(
            [sys.executable, "-m", "indiff.web.jobs.worker", *words],
            stdin=subprocess.PIPE,  # its end tells the worker that the server has died
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # a message could hold values
            **OWN_GROUP,
            env=worker_environment(),
        )
        return Worker(job, process)


def worker_environment() -> dict[str, str]:
    """Return the environment of a worker and its commands, which need no password."""
    kept = {name: value for name, value in os.environ.items() if name != "INDIFF_PASSWORD"}
    return {**kept, **ONE_THREAD}


def choose(waiting: Jobs, running: Jobs, places: int) -> dict[str, Any] | None:
    """Return the job to start next, or None where none can start.

    >>> jobs = [{"id": str(n), "batch": b, "kind": "run"} for n, b in enumerate("aab")]
    >>> choose(jobs, [], 2)["id"], choose(jobs[1:], jobs[:1], 2)["id"], choose(jobs, jobs, 1)
    ('0', '2', None)
    """
    runs = [job for job in running if job["kind"] == "run"]
    quick = next((job for job in waiting if job["kind"] != "run"), None)
    if quick is not None and len(running) == len(runs):
        return quick
    shares = Counter(job["batch"] for job in runs)
    candidates = [job for job in waiting if job["kind"] == "run" and len(runs) < places]
    return min(candidates, key=lambda job: shares[job["batch"]], default=None)


def in_turn(waiting: Jobs, running: Jobs) -> list[str]:
    """Return the waiting runs in the order in which they will start, if none is added.

    >>> jobs = [{"id": str(n), "batch": b, "kind": "run"} for n, b in enumerate("aab")]
    >>> in_turn(jobs[1:], jobs[:1])
    ['2', '1']
    """
    left, started = list(waiting), list(running)
    while (job := choose(left, started, sys.maxsize)) is not None:
        left.remove(job)
        started.append(job)
    return [job["id"] for job in started[len(running) :]]


def worker_memory(settings: Any) -> int:
    """Return how many bytes one worker may take: an equal share of three quarters of them all."""
    if settings.worker_memory is not None:
        return int(settings.worker_memory)
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(10**9, whole * 3 // 4 // settings.workers)


def lock_data_dir(data_dir: Path) -> Any:
    """Hold the data folder for one server; two would do each other's work."""
    descriptor = os.open(data_dir / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    handle = os.fdopen(descriptor, "a")
    if not lock(handle.fileno()):
        handle.close()
        raise UserError(
            f"another server uses {str(data_dir)!r}; stop it, or choose another "
            "folder with --data-dir."
        )
    return handle
