"""Asks for every target of a run: first the run's folder, then by calls that the folder keeps.

A call is an ``Ask``: an object that can be pickled and that answers for one target, named by its
place in a list. It is made here or elsewhere, repeated if it fails, while there is time. What it
costs is unknown, so the first targets are asked here; other processes are started only if what is
left is worth it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls import pools
from indiff.differential.calls.journal import Journal
from indiff.differential.calls.pools import DIED, Answer
from indiff.errors import InternalError, Message, UserError, check_whole, said, unknown
from indiff.sanitizers.oracles.function import OracleFailed
from indiff.text import json_values

Floats = NDArray[np.float64]
Ask = Callable[[int], Any]
Progress = Callable[[int, int], object]

LONGEST_FAILURE = 500
BACKENDS = ("loky", "dask")

# Below this many seconds of work left, starting other processes costs more than it saves.
WORTH_SHARING = 3.0
# For this share of them calls are watched first: one alone may have waited for a busy machine.
WATCHED = 1 / 30
# How many seconds of short calls travel together, where no single one has to be kept at once.
CHUNK_SECONDS = 0.5


@dataclass(frozen=True)
class Calls:
    """How calls are made.

    ``deadline`` is on :func:`time.monotonic`'s clock: past it, nothing is handed out any more, and
    what is in flight is finished. ``one_by_one`` lets every target come back by itself.
    """

    jobs: int = -1
    backend: str = "loky"
    scheduler: str | None = None
    retries: int = 2
    deadline: float | None = None
    one_by_one: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise UserError(
                "jobs is a number of processes, or -1 for all cores", f"{self.jobs!r}", field="jobs"
            )
        check_whole("retries", self.retries, 0)
        if self.backend not in BACKENDS:
            raise unknown("backend", self.backend, BACKENDS, field="backend")

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and monotonic() >= self.deadline


def attempt(ask: Ask, place: int, retries: int) -> Answer:
    """Ask for one target, and again if it fails.

    What a user has to correct, and what is a bug of ours, is no failure of a call.

    >>> attempt(lambda place: 1 / place, 0, retries=1)
    Answer(place=0, value=None, failure='ZeroDivisionError: division by zero', tries=2)
    """
    told = Message("")
    for tries in range(1, retries + 2):
        try:
            return Answer(place, ask(place), None, tries)
        except OracleFailed as error:
            told = error.message
        except (UserError, InternalError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - strangers' code may raise anything
            told = Message(f"{type(error).__name__}: {said(str(error), str)}")
    return Answer(place, None, told.shortened(LONGEST_FAILURE), retries + 1)


def answers(ask: Ask, places: Sequence[int], calls: Calls) -> Generator[list[Answer], None, None]:
    """Yield what comes of each place, in whatever order it comes.

    >>> [one for group in answers(lambda place: place**2, [2, 3], Calls()) for one in group]
    [Answer(place=2, value=4, failure=None, tries=1), Answer(place=3, value=9, failure=None, tries=1)]
    """  # noqa: E501 - what is printed is one line
    work = partial(attempt, ask, retries=calls.retries)
    if calls.backend == "dask" and len(places):
        yield from _share(pools.DaskPool(work, calls.scheduler), places, calls, 1)
        return
    start = monotonic()
    for number, place in enumerate(places):
        if calls.is_over:
            return
        yield [work(place)]
        taken = monotonic() - start
        seconds, left = taken / (number + 1), len(places) - number - 1
        watched = taken > WATCHED * WORTH_SHARING
        worth = calls.jobs != 1 and watched and seconds * left > WORTH_SHARING
        if worth and pools.processes(calls.jobs) > 1:  # one process alone is this one
            size = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-6)), left // 8 + 1))
            pool = pools.LokyPool(work, calls.jobs)
            yield from _share(pool, places[number + 1 :], calls, 1 if calls.one_by_one else size)
            return


def _share(
    pool: pools.LokyPool | pools.DaskPool, places: Sequence[int], calls: Calls, size: int
) -> Generator[list[Answer], None, None]:
    """Keep a few chunks in flight, never more: memory does not grow with the targets."""
    start = 0  # of those that were never sent off
    again: deque[list[int]] = deque()  # those that died with a process come first
    flying: dict[Any, list[int]] = {}
    deaths: dict[int, int] = {}  # how often a process died that had this target alone
    try:
        while again or flying or start < len(places):
            # After a death one at a time, so that whoever causes the next one is known.
            careful = bool(again) or any(chunk[0] in deaths for chunk in flying.values())
            width = 1 if careful else pool.width()
            while (again or start < len(places)) and len(flying) < width and not calls.is_over:
                if again:
                    chunk = again.popleft()
                else:
                    chunk = list(places[start : start + size])
                    start += size
                flying[pool.submit(chunk)] = chunk
            if not flying:
                return  # the time is up
            for ticket in pool.finished(flying):
                chunk = flying.pop(ticket)
                found = pool.collect(ticket)
                if found is not None:
                    yield found
                    continue
                alone = len(chunk) == 1 and not flying
                for place in reversed(chunk):
                    deaths[place] = deaths.get(place, 0) + alone
                    if deaths[place] <= calls.retries:
                        again.appendleft([place])
                    else:
                        yield [Answer(place, None, DIED, deaths[place])]
    finally:
        pool.close()


class Code(Protocol):
    """How an answer's value is written to a journal and read back."""

    def write(self, place: int, value: Any) -> Mapping[str, Any]:
        """Return the value as what JSON has."""
        ...

    def read(self, place: int, written: Mapping[str, Any]) -> Any:
        """Return the value again, bit by bit the same."""
        ...


class Share:
    """One part of a progress that several tests, one after the other, make together.

    >>> share = Share(lambda done, total: print(done, "of", total), place=1, parts=2)
    >>> share(3, 10)
    13 of 20
    """

    def __init__(self, progress: Progress, place: int, parts: int) -> None:
        self._progress, self._place, self._parts = progress, place, parts
        if hasattr(progress, "measured"):
            self.measured = progress.measured

    def __call__(self, done: int, total: int) -> None:
        """Tell how many of all parts together are done."""
        self._progress(self._place * total + done, self._parts * total)


@dataclass
class Watch:
    """Tells the progress: how many are done and, to whoever wants it, their distances so far.

    A progress that has a method ``measured`` gets each new distance, and may show what δ and the
    CDF look like so far.
    """

    progress: Progress | None = None
    measure: Callable[[Floats, Floats], Any] | None = None

    def beliefs(self, present: Floats, absent: Floats) -> None:
        """Tell the largest distance between the beliefs about one person's records."""
        if self._wants_distances and self.measure is not None:
            self.distance(float(np.max(np.asarray(self.measure(present, absent), np.float64))))

    def distance(self, distance: float) -> None:
        """Tell the distance of one person."""
        if self._wants_distances and not math.isnan(distance):
            self.progress.measured(distance)  # type: ignore[union-attr]

    def count(self, done: int, total: int) -> None:
        """Tell how many are done."""
        if self.progress is not None:
            self.progress(done, total)

    @property
    def _wants_distances(self) -> bool:
        return hasattr(self.progress, "measured")


@dataclass(frozen=True)
class Asking:
    """How a run is made: its calls, its folder, the order of its targets, and who watches.

    ``order`` lists people, the one to ask for first at the front; by default all, as they stand.
    """

    calls: Calls = field(default_factory=Calls)
    journal: Journal | None = None
    order: NDArray[np.intp] | None = None
    watch: Watch = field(default_factory=Watch)

    def sequence(self, back: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the distinct targets in the order in which people ask for them.

        >>> Asking(order=np.array([2, 0, 1])).sequence(np.array([1, 1, 0]))
        array([0, 1])
        """
        asked = back if self.order is None else back[self.order]
        return asked[np.sort(np.unique(asked, return_index=True)[1])]

    def about(self, chosen: NDArray[np.bool_]) -> Asking:
        """Return how to ask about some of the people only, in the same order.

        >>> Asking(order=np.array([2, 0, 1])).about(np.array([True, False, True])).order
        array([1, 0])
        """
        order = np.arange(len(chosen)) if self.order is None else self.order
        return replace(self, order=(np.cumsum(chosen) - 1)[order[chosen[order]]])

    def collect(
        self,
        ask: Ask,
        names: NDArray[np.int64],
        back: NDArray[np.intp],
        code: Code,
        keep: Callable[[int, Any], None],
    ) -> tuple[dict[int, str], int]:
        """Ask for every distinct target, and hand each answer to ``keep``.

        ``back`` says which target each person is. Return why targets failed, and how many needed
        another call. An interruption keeps what is done: the caller sees what is missing.
        """
        failed: dict[int, str] = {}
        repeated = done = 0
        sharing = np.bincount(back, minlength=len(names))
        try:
            with closing(self.ask(ask, names, self.sequence(back), code)) as groups:
                for group in groups:
                    for answer in group:
                        done += int(sharing[answer.place])
                        if answer.failure is not None:
                            failed[answer.place] = answer.failure
                            continue
                        repeated += answer.tries > 1
                        keep(answer.place, answer.value)
                    self.watch.count(done, len(back))
        except KeyboardInterrupt:
            pass
        return failed, repeated

    def ask(
        self, ask: Ask, names: NDArray[np.int64], places: NDArray[np.intp], code: Code
    ) -> Generator[list[Answer], None, None]:
        """Yield an answer for each place; ``names`` are the targets' names in a journal.

        A target that failed in an earlier run is asked for again.
        """
        rest = dict(zip(names[places].tolist(), places.tolist(), strict=True))
        if self.journal is not None:
            for name, entry in self.journal.take():
                if name in rest and "failed" not in entry:
                    place = rest.pop(name)
                    yield [self.journal.understood(name, partial(_kept, code, place, entry))]
        with closing(answers(ask, list(rest.values()), self.calls)) as groups:
            for group in groups:
                if self.journal is not None:
                    self.journal.append(
                        [(int(names[one.place]), _entry(one, code)) for one in group]
                    )
                yield group


def _kept(code: Code, place: int, entry: Mapping[str, Any]) -> Answer:
    return Answer(place, code.read(place, entry), None, int(entry["calls"]))


def _entry(answer: Answer, code: Code) -> Mapping[str, Any]:
    if answer.failure is not None:
        return {"calls": answer.tries, "failed": json_values(answer.failure)}  # without values
    return {"calls": answer.tries, **code.write(answer.place, answer.value)}
