"""Oracles: a sanitizer that is only known by what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.random import Generator

from indiff.errors import UserError
from indiff.release import Release, read_release, to_backend
from indiff.table import Table


@dataclass(frozen=True)
class Oracle:
    """A function from frame to frame, called with the original columns of a table.

    The frame is of the kind that the table was read from (pandas, Polars, or PyArrow for a file).
    The result is read against the original's columns; it may have fewer or other rows, but every
    cell must be readable as a region.

    >>> import pyarrow as pa
    >>> from indiff.table import read_table
    >>> def hide_age(frame):
    ...     return frame.set_column(0, "age", pa.array(["*"] * frame.num_rows))
    >>> table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> Oracle(hide_age).sanitize(table).to_frame()["age"].to_pylist()
    ['*', '*']
    """

    function: Callable[[Any], Any] = field(repr=False)
    randomized: bool = False

    def __str__(self) -> str:
        return f"oracle:{getattr(self.function, '__name__', type(self.function).__name__)}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Call the function and read what it returns."""
        returned = self.function(to_backend(table.frame(), table.backend))
        if returned is None:
            raise UserError(
                f"a sanitizer function must return a frame; {str(self)!r} returned None."
            )
        return replace(read_release(returned, table), sanitizer=str(self))
