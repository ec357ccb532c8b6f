"""Shows progress on a terminal: how many, how fast, how long still, and δ so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from indiff.report.terminal.tables import open_console
from indiff.text import number

# How often the numbers so far are worked out anew, in seconds.
LOOK_EVERY = 0.5


class Bar:
    """A progress that shows the distances so far, which the test hands to ``measured``."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task
        self._distances: list[float] = []
        self._began = time.monotonic()
        self._before: int | None = None  # what a run folder already had
        self._looked = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Move the bar."""
        now = time.monotonic()
        if self._before is None:
            self._before, self._began = done, now
        if self._distances and now - self._looked > LOOK_EVERY:
            self._looked = now
            rate = (done - self._before) / max(now - self._began, 1e-9)
            self._bar.update(self._task, so_far=f"{rate:.3g}/s, {so_far(self._distances)}")
        self._bar.update(self._task, completed=done, total=total)

    def measured(self, distance: float) -> None:
        """Take note of one more distance."""
        self._distances.append(distance)


def so_far(distances: list[float]) -> str:
    """Say what is known of δ, which can only grow, and of the CDF.

    >>> so_far([0.1, 0.2, 0.3, 0.4])
    'δ so far 0.4, median 0.2, 95 % 0.4'
    """
    found = np.asarray(distances)
    median, high = np.quantile(found, [0.5, 0.95], method="inverted_cdf")
    return f"δ so far {number(float(found.max()))}, median {number(median)}, 95 % {number(high)}"


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """Show a bar on the terminal's error stream; nothing when piped."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = open_console(sys.stderr)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=8),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[so_far]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bar:
        yield Bar(bar, bar.add_task(what, total=None, so_far=""))
