"""Together: several sanitizers whose releases one adversary reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import InternalError, UserError
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer, as_sanitizer
from indiff.text import describe


@dataclass(frozen=True)
class Together:
    """Sanitizers f_1 to f_n, and the table that each of them is applied to.

    >>> print(together_of(None, ["mondrian:k=5", "laplace:epsilon=0.5"]))
    mondrian:k=5 and laplace:epsilon=0.5
    """

    parts: tuple[Sanitizer, ...]
    tables: tuple[Table | None, ...] = field(repr=False)

    def __str__(self) -> str:
        return " and ".join(map(describe, self.parts))

    @property
    def randomized(self) -> bool:
        """Whether chance has a part in one of them."""
        return any(part.randomized for part in self.parts)

    @property
    def per_record(self) -> bool:
        """Say that two records that look alike here may differ in another table."""
        return True

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Refuse: there is no one release."""
        raise InternalError("several releases were asked for as one")

    @property
    def noisy(self) -> list[NoisySanitizer]:
        """Those that add noise to counts."""
        return [part for part in self.parts if isinstance(part, NoisySanitizer)]


def together_of(tables: Sequence[Table] | None, sanitizers: Any) -> Sanitizer:
    """Return one sanitizer for all that are given; a single one as it is.

    ``tables`` has one for each sanitizer, where they are not all applied to the same table.
    """
    several = isinstance(sanitizers, Sequence) and not isinstance(sanitizers, str)
    parts = tuple(as_sanitizer(one) for one in (sanitizers if several else [sanitizers]))
    if not parts:
        raise UserError("together needs at least one sanitizer; none was given.", field="sanitizer")
    if tables is not None and len(tables) != len(parts):
        raise UserError(
            "several tables are tested together with one sanitizer for each",
            f"{len(tables)} tables and {len(parts)} sanitizers",
            field="together",
        )
    if len(parts) == 1:
        return parts[0]
    return Together(parts, (None,) * len(parts) if tables is None else (None, *tables[1:]))
