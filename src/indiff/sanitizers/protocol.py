"""What a sanitizer is: a table in, a release out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from numpy.random import Generator

from indiff.release import Release
from indiff.table import Table


@runtime_checkable
class Sanitizer(Protocol):
    """f: table → release, possibly randomized (DIT v2, Definition 1)."""

    @property
    def randomized(self) -> bool:
        """Whether two calls on the same table may differ."""
        ...

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release of a table."""
        ...
