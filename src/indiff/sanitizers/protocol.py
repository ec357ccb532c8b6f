"""What a sanitizer is (a table in, a release out), and whether a release keeps its promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.random import Generator

from indiff.data.table import Table
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.text import describe


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


@dataclass(frozen=True)
class Promise:
    """Whether a promise is kept, and why not; ``kept`` is None where none was made."""

    kept: bool | None
    why_not: str | None = None


def promise_of(sanitizer: Any, table: Table, constraint_met: bool | None) -> Promise:
    """Judge a release of a table by what its sanitizer promises.

    Mondrian promises its constraint, and ``constraint_met`` says what came of it. A mechanism of
    differential privacy promises just that: judged is what it would publish, since noise that
    repeats from a seed is only ever tested. The raw table, your own function or program and a file
    made elsewhere promise nothing.

    >>> from indiff import datasets
    >>> from indiff.sanitizers.parse import as_sanitizer
    >>> table = datasets.demo_table()
    >>> promise_of(as_sanitizer("identity"), table, None).kept is None
    True
    >>> promise_of(as_sanitizer("laplace:epsilon=1"), table, None).kept
    False
    """
    if isinstance(sanitizer, NoisySanitizer):
        reasons = sanitizer.why_not_private(table)
        if reasons is None:
            return Promise(kept=True)
        return Promise(False, f"{sanitizer} is not differentially private: {reasons}")
    if constraint_met is False:
        return Promise(False, f"the constraint of {describe(sanitizer)} is not met")
    return Promise(constraint_met)


def all_kept(each: Iterable[bool | None]) -> bool | None:
    """Tell whether all of several promises are kept; None where one was not made.

    >>> all_kept([True, True]), all_kept([True, None]), all_kept([None, False]), all_kept([])
    (True, None, False, None)
    """
    found = list(each)
    if False in found:
        return False
    return None if None in found or not found else True
