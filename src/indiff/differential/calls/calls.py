"""Makes one call for each target: here or elsewhere, repeated if it fails, while there is time.

The work is an ``Ask``: an object that can be pickled and that answers for one target, named by its
place in a list. What it costs is unknown, so the first targets are asked here; other processes are
started only if what is left is worth it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls import pools
from indiff.differential.calls.attempt import DIED, Answer, Ask, attempt
from indiff.errors import UserError, check_whole, unknown

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
                "jobs is a number of processes, or -1 for all cores",
                f"{self.jobs!r}",
                field="jobs",
            )
        check_whole("retries", self.retries, 0)
        if self.backend not in BACKENDS:
            raise unknown("backend", self.backend, BACKENDS, field="backend")

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and monotonic() >= self.deadline


def answers(
    ask: Ask, places: Sequence[int] | NDArray[np.intp], calls: Calls
) -> Generator[list[Answer], None, None]:
    """Yield what comes of each place, in whatever order it comes.

    >>> [one for group in answers(lambda place: place**2, [2, 3], Calls()) for one in group]
    [Answer(place=2, value=4, failure=None, tries=1), Answer(place=3, value=9, failure=None, tries=1)]
    """  # noqa: E501 - what is printed is one line
    if calls.backend == "dask" and len(places):
        yield from _share(pools.DaskPool(ask, calls.scheduler), places, calls, 1)
        return
    start = monotonic()
    for number, place in enumerate(places):
        if calls.is_over:
            return
        yield [attempt(ask, int(place), calls.retries)]
        taken = monotonic() - start
        seconds, left = taken / (number + 1), len(places) - number - 1
        watched = taken > WATCHED * WORTH_SHARING
        if calls.jobs != 1 and watched and seconds * left > WORTH_SHARING:
            size = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-6)), left // 8 + 1))
            pool = pools.LokyPool(ask, calls.jobs)
            yield from _share(pool, places[number + 1 :], calls, 1 if calls.one_by_one else size)
            return


def _share(
    pool: pools.LokyPool | pools.DaskPool,
    places: Sequence[int] | NDArray[np.intp],
    calls: Calls,
    size: int,
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
                    chunk = [int(place) for place in places[start : start + size]]
                    start += size
                flying[pool.submit(chunk, calls.retries)] = chunk
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
