"""Shares the settings of an item among processes, one for each core; results are those of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from indiff.differential.calls.pools import Answer, LokyPool, processes
from indiff.papers.run import Run

A = TypeVar("A")
T = TypeVar("T")


def shared(run: Run, work: Callable[[Run, A], T], given: Sequence[A]) -> list[T]:
    """Return what the work gives for each of several settings, in their order.

    Every process has a run of its own, and keeps in it what its settings share. What a process
    that died has not answered is done here. An interruption ends the processes.

    >>> shared(Run(), lambda run, value: run.seeds * value, [3])
    [15]
    """
    found: dict[int, T] = {}
    if min(len(given), processes(-1)) > 1:
        alone = replace(run, report=Run.report, kept={})
        pool = LokyPool(partial(_answer, alone, work, given), -1)
        try:
            places, tickets = deque(range(len(given))), set[Any]()
            while places or tickets:
                while places and len(tickets) < pool.width():
                    tickets.add(pool.submit([places.popleft()]))
                for ticket in pool.finished(tickets):
                    tickets.remove(ticket)
                    found |= {one.place: one.value for one in pool.collect(ticket) or ()}
                    run.report(len(found), len(given))
        finally:
            pool.close()
    for place, setting in enumerate(given):
        if place not in found:
            found[place] = work(run, setting)
            run.report(len(found), len(given))
    return [found[place] for place in range(len(given))]


def _answer(run: Run, work: Callable[[Run, Any], Any], given: Sequence[Any], place: int) -> Answer:
    return Answer(place, work(run, given[place]))
