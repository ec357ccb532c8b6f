"""Compiled work in threads: all cores, progress, and a clean stop on Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller tables are done before a second thread would have started.
WORTH_THREADS = 50_000
LOOK_EVERY = 0.2


@dataclass(frozen=True)
class Shared:
    """How compiled work is shared out: threads at most, and whom to tell how far it is."""

    jobs: int
    progress: Callable[[int, int], object] | None
    total: int

    def threads(self, size: int) -> int:
        """Return how many threads a table of this size is worth."""
        if size < WORTH_THREADS or self.jobs == 1:
            return 1
        return self.jobs if self.jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.jobs)

    def run(
        self,
        work: Callable[[Any], None],
        parts: Sequence[Any],
        ticker: NDArray[np.int64],
    ) -> None:
        """Call ``work`` on every part; ``ticker`` is (finished so far, please stop).

        An interruption lets every thread stop at its next look at the ticker; what is finished
        stays.
        """
        if len(parts) == 1 and self.total < WORTH_THREADS:
            work(parts[0])
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            futures = [pool.submit(work, part) for part in parts]
            try:
                while wait(futures, LOOK_EVERY, FIRST_EXCEPTION).not_done:
                    if self.progress is not None:
                        self.progress(int(ticker[0]), self.total)
                    if any(future.done() and future.exception() for future in futures):
                        ticker[1] = 1
            except KeyboardInterrupt:
                ticker[1] = 1
            for future in futures:
                future.result()
