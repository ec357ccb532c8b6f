"""Makes calls elsewhere: in processes of this machine (loky), or on a Dask cluster.

Both get the work once, pickled, and then only the places of targets.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from dataclasses import dataclass
from typing import Any

from indiff.errors import UserError, option, reason_of, said

# How often a worker looks whether whoever started it is still there.
LOOK_EVERY = 1.0
POLL = 0.01
# How long a cluster may be without its scheduler, or without any worker.
PATIENCE = 30.0

DIED = "the process that made the call died: it crashed, was killed or ran out of memory"


@dataclass(frozen=True)
class Answer:
    """What came of one target: a value, or why there is none; and after how many calls."""

    place: int
    value: Any
    failure: str | None = None
    tries: int = 1


Work = Callable[[int], Answer]


def _pickled(work: Work) -> bytes:
    import cloudpickle  # type: ignore[import-untyped]

    try:
        return bytes(cloudpickle.dumps(work))
    except (TypeError, AttributeError, ValueError, RuntimeError) as error:
        raise UserError(
            "what runs in other processes must be picklable; the sanitizer or model is "
            f"not ({said(str(error))})",
            way_out=f"Use {option('jobs', 1)}",
            field="jobs",
        ) from error


_held: dict[str, Any] = {}
_holding = threading.Lock()


def _hold(payload: bytes, parent: int) -> None:
    """Begin a worker process: keep the work, and end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to handle
    _held["payload"] = payload

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _answer_held(places: Sequence[int]) -> list[Answer]:
    if "payload" in _held:
        _held["work"] = _unpickled(_held.pop("payload"))
    return [_held["work"](place) for place in places]


def _unpickled(payload: bytes) -> Any:
    import cloudpickle

    try:
        return cloudpickle.loads(payload)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"a worker cannot load the sanitizer or model ({said(str(error))})",
            way_out=f"Install the same versions and modules there, or use {option('jobs', 1)}",
            field="jobs",
        ) from error


def processes(jobs: int) -> int:
    """Return how many processes of this machine are asked for; -1 is one for each core."""
    import joblib

    return max(1, int(joblib.effective_n_jobs(jobs)))


class LokyPool:
    """Processes of this machine, by the executor that joblib has."""

    def __init__(self, work: Work, jobs: int) -> None:
        self._payload = _pickled(work)
        self._jobs = processes(jobs)
        self._executor = self._start()

    def _start(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            max_workers=self._jobs, initializer=_hold, initargs=(self._payload, os.getpid())
        )

    def width(self) -> int:
        """Return how many chunks are worth having in flight: one in work and one behind it."""
        return 2 * self._jobs

    def submit(self, places: Sequence[int]) -> Any:
        """Send some targets off, and return a ticket for them."""
        try:
            return self._executor.submit(_answer_held, places)
        except BrokenExecutor:  # a process died; those that are left are no use either
            self.close()
            self._executor = self._start()
            return self._executor.submit(_answer_held, places)

    def finished(self, tickets: Iterable[Any]) -> list[Any]:
        """Wait until some are back, and return their tickets."""
        return list(wait(tickets, return_when=FIRST_COMPLETED).done)

    def collect(self, ticket: Any) -> list[Answer] | None:
        """Return the answers, or None where the process died."""
        try:
            found: list[Answer] = ticket.result()
        except BrokenExecutor:
            return None
        return found

    def close(self) -> None:
        """End the processes, and what they are still at."""
        self._executor.shutdown(wait=True, kill_workers=True)


def _answer_remotely(payload: bytes, token: str, places: Sequence[int]) -> list[Answer]:
    """Answer on a cluster's worker, which unpickles the work of a run once."""
    with _holding:
        if _held.get("token") != token:
            _held.update(token=token, work=_unpickled(payload))
        work = _held["work"]
    return [work(place) for place in places]


@dataclass(eq=False)
class _Sent:
    """Targets that are somewhere on the cluster."""

    places: Sequence[int]
    future: Any = None


class DaskPool:
    """The workers of a Dask cluster.

    The scheduler hands the targets of a worker that dies to another one. What is lost with all of
    its holders is sent again.
    """

    def __init__(self, work: Work, scheduler: str | None) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "backend 'dask' needs the package distributed, which is not installed; install it "
                "with: pip install 'indiff[dask]'.",
                field="backend",
            ) from None
        if not scheduler:
            raise UserError(
                "backend 'dask' needs the address of a scheduler; give "
                f"{option('scheduler', 'tcp://host:8786')}.",
                field="scheduler",
            )
        self._payload, self._token = _pickled(work), uuid.uuid4().hex
        self._scheduler = scheduler
        try:
            self._client = Client(scheduler, timeout=10, set_as_default=False, name="indiff")
        except (OSError, TimeoutError, ValueError) as error:
            reason = reason_of(error)
            raise UserError(
                f"no Dask scheduler answers at {scheduler!r} ({reason}); check the address, and "
                "that it runs.",
                field="scheduler",
            ) from None
        self._shared: Any = None
        self._alive = time.monotonic()
        self._width, self._counted = 0, -LOOK_EVERY

    def width(self) -> int:
        """Return how many chunks are worth having in flight: one in work and one behind it."""
        while time.monotonic() - self._counted > LOOK_EVERY or not self._width:
            try:
                self._width = 2 * sum(self._client.nthreads().values())
            except (OSError, TimeoutError) as error:
                raise self._lost() from error
            self._counted = time.monotonic()
            if self._width:
                self._alive = self._counted
                break
            self._check("has no worker")
            time.sleep(10 * POLL)
        return self._width

    def submit(self, places: Sequence[int]) -> _Sent:
        """Send some targets off, and return a ticket for them."""
        sent = _Sent(places)
        self._send(sent)
        return sent

    def _send(self, sent: _Sent) -> None:
        try:
            if self._shared is None or self._shared.status != "finished":
                self._shared = self._client.scatter(self._payload, broadcast=True, hash=False)
            sent.future = self._client.submit(
                _answer_remotely, self._shared, self._token, sent.places, pure=False
            )
        except (OSError, TimeoutError, RuntimeError) as error:
            raise self._lost() from error

    def finished(self, tickets: Iterable[_Sent]) -> list[_Sent]:
        """Wait until some are back, and return their tickets."""
        waiting = list(tickets)
        while True:
            if self._client.status == "running":
                self._alive = time.monotonic()
                back = []
                for sent in waiting:
                    if sent.future.status in ("cancelled", "lost"):
                        self.width()  # waits for a worker
                        self._send(sent)
                    elif sent.future.done():
                        back.append(sent)
                if back:
                    return back
            else:
                self._check("is gone")
            time.sleep(POLL)

    def collect(self, ticket: _Sent) -> list[Answer]:
        """Return the answers; of targets whose workers died again and again, that they did."""
        from distributed.scheduler import KilledWorker

        try:
            found: list[Answer] = ticket.future.result()
        except KilledWorker:
            return [Answer(place, None, DIED) for place in ticket.places]
        except (OSError, TimeoutError, CancelledError) as error:  # lost while it was fetched
            raise self._lost() from error
        return found

    def close(self) -> None:
        """Leave the cluster; what is still in flight there is cancelled."""
        self._client.close(timeout=2)

    def _check(self, what: str) -> None:
        """Raise where the cluster has been useless for long, or closed for good."""
        if self._client.status == "closed":
            raise self._lost()
        if time.monotonic() - self._alive > PATIENCE:
            raise self._lost(what)

    def _lost(self, what: str = "is gone") -> UserError:
        return UserError(
            f"the Dask cluster at {self._scheduler!r} {what}; what is finished is kept if there "
            f"is a run folder ({option('run')}): the same call goes on from there once the cluster "
            "is back.",
            field="scheduler",
        )
