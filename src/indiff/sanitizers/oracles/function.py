"""Oracles: a sanitizer that is only known by what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

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
        frame = own_frame(table)
        try:
            returned = self.function(frame)
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


def own_frame(table: Table) -> Any:
    """Return the table's original columns as a frame that its receiver may write into."""
    frame = table.frame()  # a copy: Arrow's take never shares memory
    if table.backend == "pandas":
        # Some columns of to_pandas are read-only views; a user's own frame never is.
        return to_backend(frame, "pandas").copy()
    return to_backend(frame, table.backend)


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
