"""Measures what one release loses: width of regions, sizes of groups, an analyst's accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.penalties import region_penalties, stars
from indiff.release.release import Release
from indiff.sanitizers.sanitizer import as_sanitizer
from indiff.utility.accuracy import MODEL, Analyst


@dataclass(frozen=True)
class Utility:
    """What a release loses, and what an analyst keeps; what has no meaning here is None.

    ``missing`` says why, measure by measure. Utility measures compare releases of one table; none
    of them says that a release is good enough for a purpose, which only the purpose can say.
    """

    ncp: float | None
    discernibility: int | None
    average_group: float | None
    normalised_average_group: float | None
    accuracy: float | None
    accuracy_original: float | None
    accuracy_majority: float | None
    task: str | None
    model: str
    seed: int
    missing: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain data."""
        return asdict(self)


def measure(
    table: Table,
    release: Release,
    *,
    sanitizer: Any = None,
    task: str | None = None,
    seed: int = 0,
    analyst: Analyst | None = None,
) -> Utility:
    """Measure what a release of a table loses.

    ``sanitizer`` is what made the release: the analyst's accuracy needs it, since it is measured
    on a release of a part of the records (:class:`~indiff.utility.Analyst`). ``task`` is the
    column that the analyst predicts, the sensitive one by default. An ``analyst`` who was made
    before is used as he is, so that several releases share his training on the original.

    >>> from indiff import Mondrian, datasets
    >>> from indiff.utility import measure
    >>> table = datasets.demo_table()
    >>> found = measure(table, Mondrian(k=5).sanitize(table), sanitizer="mondrian:k=5")
    >>> 0 < found.ncp < 1, found.average_group >= 5, 0 < found.accuracy < 1
    (True, True, True)
    """
    missing: dict[str, str] = {}
    ncp = _kept(missing, "ncp", lambda: certainty_penalty(table, release))
    cost = _kept(missing, "discernibility", lambda: discernibility(table, release))
    average = _kept(missing, "average_group", lambda: average_group(table, release))
    accuracy = normalised = None
    asked = getattr(sanitizer if sanitizer is None else as_sanitizer(sanitizer), "k", 1)
    if average is not None and asked > 1:  # C_AVG (LeFevre et al. 2006, Section 2.4): 1 is least
        normalised = average / asked
    else:
        missing["normalised_average_group"] = missing.get(
            "average_group", "it is relative to the k that was asked for, and none was"
        )
    if sanitizer is None:
        missing["accuracy"] = (
            "the analyst trains on a release of a part of the records, which only the sanitizer "
            "can make: pass sanitizer="
        )
    else:
        analyst = keeper = analyst or Analyst(table, task=task, seed=seed)
        accuracy = _kept(missing, "accuracy", lambda: keeper.accuracy(sanitizer))
    return Utility(
        ncp=ncp,
        discernibility=None if cost is None else int(cost),
        average_group=average,
        normalised_average_group=normalised,
        accuracy=accuracy,
        accuracy_original=None if analyst is None else analyst.original,
        accuracy_majority=None if analyst is None else analyst.majority,
        task=None if analyst is None else analyst.predicted,
        model=MODEL,
        seed=seed if analyst is None else analyst.seed,
        missing=missing,
    )


def _kept(missing: dict[str, str], name: str, find: Callable[[], float]) -> float | None:
    """Return a measure, or keep the reason why there is none."""
    try:
        found = find()
    except UserError as error:
        missing[name] = str(error)
        return None
    if math.isnan(found):
        missing[name] = "nothing was released: there is no row, or none with a weight"
        return None
    return found


def _classes(table: Table, release: Release) -> tuple[NDArray[np.int64], int]:
    """Return the sizes of groups of rows that a reader cannot tell apart, and the rows of ``*``.

    Two groups with the same regions are one; rows whose every cell is ``*`` are counted apart.
    """
    if release.weights is not None:
        raise UserError(
            "groups are counted in records, one per row; this release has weighted rows (noisy "
            "counts), which stand for no record."
        )
    _check_size(table, release)
    keys = np.zeros(len(release), np.int64)
    starred = np.ones(len(release), np.bool_)
    cells = release.told_apart()
    for column in release.columns:
        number = cells[column.attribute.name]
        pair = keys * (int(number.max(initial=0)) + 1) + number
        keys = np.unique(pair, return_inverse=True)[1].ravel().astype(np.int64)
        starred &= stars(column)[column.index]
    sizes = np.bincount(keys[~starred])
    return sizes[sizes > 0].astype(np.int64), int(starred.sum())


def _check_size(table: Table, release: Release) -> None:
    """Refuse a release with more rows than its table has records."""
    if release.weights is None and len(release) > len(table):
        raise UserError(
            f"a release has at most one row per record; the table has {len(table):,} "
            f"records and the release {len(release):,} rows",
            way_out="Measure it against the table it was made from",
        )


def discernibility(table: Table, release: Release) -> int:
    """Return Σ |E|² over groups E, plus n for each suppressed record: absent, or ``*`` throughout.

    The discernibility metric of Bayardo and Agrawal (2005, Section 2.3). It goes from n (every
    record alone) to n². It does not see how wide the regions of a group are: the same groups
    cost the same whether they span a year or a century.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53, 72], "ill": list("nynnn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> discernibility(table, Mondrian(k=2).sanitize(table))  # 2² + 3²
    13
    """
    sizes, starred = _classes(table, release)
    return int((sizes**2).sum()) + (starred + len(table) - len(release)) * len(table)


def average_group(table: Table, release: Release) -> float:
    """Return the mean number of records in a group; NaN where there is no row.

    It does not see how unequal the groups are, nor the records that the release lacks.
    """
    sizes, starred = _classes(table, release)
    groups = len(sizes) + (starred > 0)  # rows of ``*`` alone look the same
    return (int(sizes.sum()) + starred) / groups if groups else math.nan


def certainty_penalty(table: Table, release: Release) -> float:
    """Return NCP, from 0 (every cell as it was) to 1 (everything suppressed).

    Xu et al. (2006, Section 3.1): the penalty of a numeric cell is its width over the width of
    the table's domain; of a categorical one the values that it covers (the leaves below a
    hierarchy's node) over all values, and 0 for a single value (Ghinita et al. 2007). Ordinal
    cells are measured by rank, ``*`` costs 1. Attributes weigh equally, and so do records; a
    record that the release lacks costs 1. In a noisy table rows count by their weight.

    It does not see whether the wide cells are those that matter, and it sees no noise: a noisy
    table has the penalty of its bins, whatever its ε.
    """
    _check_size(table, release)
    rows = np.zeros(len(release))
    for column in release.columns:
        rows += region_penalties(column)[column.index]
    rows /= max(1, len(release.columns))
    if release.weights is not None:
        total = math.fsum(release.weights)
        return math.fsum(rows * release.weights) / total if total > 0 else math.nan
    return (math.fsum(rows) + len(table) - len(release)) / len(table)
