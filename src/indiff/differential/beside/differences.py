"""Finds groups in which two releases differ by few rows: what one count minus the other tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.beside.intersection import Folded
from indiff.differential.beside.linkage import distinct_columns
from indiff.release.regions import Region

_NAMED = 100  # groups of a pair that are named, those of the smallest differences


@dataclass(frozen=True)
class Difference:
    """A group that two releases show with the same regions, and by how many rows they differ."""

    size: int
    rows: tuple[int, int]
    regions: Mapping[str, str] | None = field(repr=False)


@dataclass(frozen=True)
class Differences:
    """How many groups of two releases differ by fewer than k rows, and the smallest of them.

    A group is all rows, the rows of one region of one column, or those of one combination of
    regions of all columns, wherever both releases have it. The difference counts the rows of each
    sensitive value that one of them has and the other lacks. Whoever knows who was added, left or
    changed between the two subtracts one count from the other and reads their values off the
    rest, however large both groups are (Denning, Denning and Schwartz, *The tracker*, 1979).
    Groups that are made of several such groups are not looked at.
    """

    releases: tuple[str, str]
    k: int
    groups: int
    smallest: tuple[Difference, ...] = field(repr=False)

    def to_dict(self, *, values: bool = False) -> dict[str, object]:
        """Return the counts as plain data; with ``values`` also the regions of the groups."""
        found: dict[str, object] = {
            "releases": list(self.releases),
            "below": self.k,
            "groups": self.groups,
            "smallest": min((one.size for one in self.smallest), default=None),
        }
        named = [{"size": one.size, "regions": dict(one.regions or {})} for one in self.smallest]
        return found | ({"named": named} if values else {})


def small_differences(
    names: Sequence[str], releases: Sequence[Folded], k: int
) -> tuple[Differences, ...]:
    """Return, for each two releases, the groups in which they differ by some but fewer than k."""
    columns = list(dict.fromkeys(name for one in releases for name in one.columns))
    matrices = _numbered(releases, columns)
    combined = np.split(
        distinct_columns(np.concatenate(matrices, axis=1))[1],
        np.cumsum([one.shape[1] for one in matrices])[:-1],
    )
    values = 1 + max(int(one.rows.values.max(initial=0)) for one in releases)
    found = []
    for one, two in combinations(range(len(releases)), 2):
        pair = releases[one], releases[two]
        groupings: list[tuple[tuple[str, ...], Any, Any]]
        groupings = [((), np.zeros(len(combined[one])), np.zeros(len(combined[two])))]
        groupings += [
            ((name,), matrices[one][place], matrices[two][place])
            for place, name in enumerate(columns)
            if name in pair[0].columns
        ]
        if len(pair[0].columns) > 1 and set(pair[0].columns) == set(pair[1].columns):
            groupings.append((pair[0].columns, combined[one], combined[two]))
        count, groups = 0, []
        for shown, first, second in groupings:
            sizes, rows, kind = _compare(pair, (first, second), values)
            small = np.flatnonzero((sizes > 0) & (sizes < k))
            count += len(small)
            for at in small[np.argsort(sizes[small], kind="stable")][:_NAMED].tolist():
                regions = {name: pair[0].text_of(name, int(kind[at])) for name in shown}
                groups.append(
                    Difference(int(sizes[at]), (int(rows[0, at]), int(rows[1, at])), regions)
                )
        groups.sort(key=lambda each: each.size)
        found.append(Differences((names[one], names[two]), k, count, tuple(groups[:_NAMED])))
    return tuple(found)


def _numbered(releases: Sequence[Folded], columns: Sequence[str]) -> list[NDArray[np.int32]]:
    """Return each release's kinds with regions numbered over all; −1 where it lacks a column."""
    found = [np.full((len(columns), one.kinds.shape[1]), -1, np.int32) for one in releases]
    for place, name in enumerate(columns):
        known: dict[Region, int] = {}
        for release, matrix in zip(releases, found, strict=True):
            if name in release.columns:
                own = release.columns.index(name)
                numbers = [known.setdefault(one, len(known)) for one in release.regions[own]]
                matrix[place] = np.array(numbers, np.int32)[release.kinds[own]]
    return found


def _compare(
    pair: tuple[Folded, Folded], groups: tuple[NDArray[Any], NDArray[Any]], values: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Return of each group that both have: the difference, both numbers of rows, and a kind."""
    shared, places, _ = np.intersect1d(*groups, return_indices=True)
    cells, counts = [], []
    for release, group in zip(pair, groups, strict=True):
        of_kind = np.minimum(np.searchsorted(shared, group), len(shared) - 1)
        kind = np.repeat(np.arange(len(group)), np.diff(release.rows.start))
        chosen = (shared[of_kind] == group)[kind] if len(shared) else np.zeros(len(kind), np.bool_)
        cells.append(of_kind[kind[chosen]] * values + release.rows.values[chosen])
        counts.append(release.rows.counts[chosen])
    rows = [
        _sums(cell // values, count, len(shared)) for cell, count in zip(cells, counts, strict=True)
    ]
    known, place = np.unique(np.concatenate(cells), return_inverse=True)
    difference = _sums(place.ravel(), np.concatenate([counts[0], -counts[1]]), len(known))
    return _sums(known // values, np.abs(difference), len(shared)), np.stack(rows), places


def _sums(place: NDArray[Any], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Add up counts by their places."""
    return np.bincount(place, counts, minlength=size).astype(np.int64)
