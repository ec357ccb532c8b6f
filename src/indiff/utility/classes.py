"""Which released rows look the same: the equivalence classes that the group measures count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.regions import Anything
from indiff.release.release import Release, ReleasedColumn


@dataclass(frozen=True)
class Classes:
    """The sizes of the groups of rows with the same regions, and what is suppressed.

    ``starred`` are released rows whose every cell is ``*``; ``lacking`` are records without a row.
    """

    sizes: NDArray[np.int64]
    starred: int
    lacking: int


def classes_of(table: Table, release: Release) -> Classes:
    """Group the rows by what a reader sees: two groups with the same regions are one."""
    check_rows(table, release)
    keys = np.zeros(len(release), np.int64)
    starred = np.ones(len(release), np.bool_)
    for column in release.columns:
        number, stars = _numbered(column)
        pair = keys * (int(number.max(initial=0)) + 1) + number[column.index]
        keys = np.unique(pair, return_inverse=True)[1].ravel().astype(np.int64)
        starred &= stars[column.index]
    sizes = np.bincount(keys[~starred])
    sizes = sizes[sizes > 0].astype(np.int64)
    return Classes(sizes, int(starred.sum()), len(table) - len(release))


def check_rows(table: Table, release: Release) -> None:
    """Refuse releases whose rows do not stand for one record each."""
    if release.weights is not None:
        raise UserError(
            "groups are counted in records, one per row; this release has weighted rows (noisy "
            "counts), which stand for no record."
        )
    if len(release) > len(table):
        raise UserError(
            f"a release has at most one row per record; the table has {len(table):,} "
            f"records and the release {len(release):,} rows",
            way_out="Measure it against the table it was made from",
        )


def _numbered(column: ReleasedColumn) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give equal regions of a column one number, and tell which of them are ``*``."""
    known: dict[object, int] = {}
    number = [known.setdefault(region, len(known)) for region in column.regions]
    stars = [isinstance(region, Anything) for region in column.regions]
    return np.array(number, np.int64), np.array(stars, np.bool_)
