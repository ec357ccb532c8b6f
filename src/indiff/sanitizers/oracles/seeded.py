"""Oracles that can be repeated: a randomized function that takes its random numbers from us."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.release.release import Release
from indiff.sanitizers.oracles.function import BlackBox, Oracle


@dataclass(frozen=True)
class SeededOracle(BlackBox):
    """A function of a frame and a numpy generator, called ``function(frame, rng=generator)``.

    The test calls it with the same random numbers with and without a record, which tells much
    more from as many runs than two runs that have nothing in common.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> def shake(frame, rng):
    ...     return frame.set_column(0, "age", pa.array(rng.permutation(frame["age"].to_numpy())))
    >>> table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> SeededOracle(shake).sanitize(table, np.random.default_rng(4)).to_frame()["age"].to_pylist()
    ['36', '28']
    """

    function: Callable[..., Any] = field(repr=False)
    randomized: bool = True

    def __str__(self) -> str:
        return str(Oracle(self.function))

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Call the function with the generator, or with a fresh one."""
        generator = np.random.default_rng() if rng is None else rng

        def call(frame: Any) -> Any:
            return self.function(frame, rng=generator)

        return replace(Oracle(call).sanitize(table), sanitizer=str(self))


def takes_rng(function: Callable[..., Any]) -> bool:
    """Tell whether a function has a parameter ``rng``.

    >>> takes_rng(lambda frame, rng: frame), takes_rng(lambda frame: frame)
    (True, False)
    """
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
