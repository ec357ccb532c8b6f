"""Oracles: sanitizers that are only known by what they return, and functions as such."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import UserError, marked, said
from indiff.release.reading import read_release
from indiff.release.release import Release, to_backend


class BlackBox:
    """What nobody lets us see: it may be random without saying so, and may look at row order.

    ``per_record``: two records that look alike need not be alike to it (it also sees identifiers,
    other columns and the order of rows), so each of them is tested by a call of its own.
    """

    per_record: ClassVar[bool] = True

    def evidence(self, records: Sequence[int]) -> str | None:
        """Return a digest of the file that holds the release without these records, if one does.

        Other files in a run's folder lead to other answers, which may not be mixed.
        """
        return None


class OracleFailed(UserError):
    """A foreign sanitizer stopped with an error, or returned what is no release of the table."""


@dataclass(frozen=True)
class Oracle(BlackBox):
    """A function from frame to frame, called with the original columns of a table.

    The frame is of the kind that the table was read from (pandas, Polars, or PyArrow for a file)
    and the function's own: whatever it does to it, the table stays as it is. The result is read
    against the original's columns; it may have fewer, more or other rows and further columns, but
    every cell of a quasi-identifier must be readable as a region.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
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
        frame = to_backend(table.frame(), table.backend)  # a copy: Arrow's take shares no memory
        if table.backend == "pandas":
            frame = frame.copy()  # some columns of to_pandas are read-only; a user's never are
        try:
            returned = self._call(frame, rng)
        except (OracleFailed, MemoryError):
            raise
        except Exception as error:  # a stranger's code may raise anything
            raise OracleFailed(
                f"a sanitizer function must return a frame; {str(self)!r} raised "
                f"{_first_line(error)} on {len(table):,} records. Correct the function."
            ) from error
        if returned is None:
            raise OracleFailed(
                f"a sanitizer function must return a frame; {str(self)!r} returned None."
            )
        return read_returned(returned, table, str(self))

    def _call(self, frame: Any, rng: Generator | None) -> Any:
        return self.function(frame)


@dataclass(frozen=True)
class SeededOracle(Oracle):
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

    def _call(self, frame: Any, rng: Generator | None) -> Any:
        return self.function(frame, rng=np.random.default_rng() if rng is None else rng)


def takes_rng(function: Callable[..., Any]) -> bool:
    """Tell whether a function has a parameter ``rng``.

    >>> takes_rng(lambda frame, rng: frame), takes_rng(lambda frame: frame)
    (True, False)
    """
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def read_returned(returned: Any, table: Table, name: str) -> Release:
    """Read what a foreign sanitizer returned, a frame or a file; say whose it is if it is none."""
    try:
        release = read_release(returned, table)
    except UserError as error:
        raise OracleFailed(
            f"a sanitizer must return a release of the table; what {name!r} returned for "
            f"{len(table):,} records is none: {marked(error)}"
        ) from error
    return replace(release, sanitizer=name, backend=table.backend)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    words = lines[0][:200]
    return f"{type(error).__name__}: {said(words)}" if words else type(error).__name__
