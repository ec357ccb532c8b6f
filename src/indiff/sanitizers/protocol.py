"""What a sanitizer is: a table in, a release out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from numpy.random import Generator

from indiff.data.table import Table
from indiff.release.release import Release


@runtime_checkable
class Sanitizer(Protocol):
    """f: table → release, possibly randomized (DIT v2, Definition 1).

    One that says ``per_record = False`` promises that only quasi-identifiers and the sensitive
    value of a record matter, neither its place nor its other columns: records that look alike are
    then tested once.
    """

    @property
    def randomized(self) -> bool:
        """Whether two calls on the same table may differ."""
        ...

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release of a table."""
        ...
