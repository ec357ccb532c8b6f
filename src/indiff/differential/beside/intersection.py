"""Intersects what several releases leave possible about each record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.beside.boxes import Boxes, boxes_around, boxes_of
from indiff.differential.beside.linkage import distinct_columns, specificity
from indiff.kernels import inner, kernel
from indiff.release.regions import Region
from indiff.release.release import Release

Ints = NDArray[np.int64]

MOST = 62  # releases: the bits of a number
_BLOCK = 1 << 16  # records looked up at once


class Rows(NamedTuple):
    """The kinds of rows of a release: how specific each is, and its rows of each value."""

    start: Ints
    values: NDArray[np.int32]
    counts: Ints
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Folded:
    """One release as kinds of rows: its columns, their regions, and which boxes the kinds are.

    ``kinds`` has a row for each column and in it the number of each kind's region.
    """

    columns: tuple[str, ...]
    kinds: NDArray[np.int32]
    regions: tuple[tuple[Region, ...], ...]
    texts: Callable[[str], Sequence[str]]
    boxes: Boxes
    rows: Rows

    def text_of(self, column: str, kind: int) -> str:
        """Return the region of a column as text, in one kind of row."""
        return self.texts(column)[self.kinds[self.columns.index(column), kind]]


def fold_release(release: Release, table: Table) -> Folded:
    """Fold the equal rows of a release into kinds."""
    kinds, kind_of = distinct_columns(np.stack([column.index for column in release.columns]))
    weight = specificity(release, table, kinds)
    size = len(release.sensitive_values) + 1  # one more: what the table lacks
    pairs, counts = np.unique(kind_of * size + release.classes, return_counts=True)
    start = np.searchsorted(pairs // size, np.arange(kinds.shape[1] + 1))
    rows = Rows(start, (pairs % size).astype(np.int32), counts.astype(np.int64), weight)
    names = tuple(column.attribute.name for column in release.columns)
    regions = tuple(column.regions for column in release.columns)
    light = {c.attribute.name: replace(c, index=c.index[:0]) for c in release.columns}
    boxes = boxes_of(release, kinds)
    return Folded(names, kinds, regions, lambda name: light[name].texts, boxes, rows)


@dataclass(frozen=True, eq=False)
class Intersection:
    """What is left of each record after one release, after two, and so on: a column for each.

    ``possible`` counts the sensitive values that every release so far leaves possible (0 where the
    releases contradict each other, and −1 where none has a candidate); ``left`` are the fewest
    candidate rows of any of these releases that hold one of them, 0 where there is none. ``kept``
    tells whether the record's own value is among them, so a record is ``determined`` where it is
    the only one. ``alone`` and ``paired`` tell whether some release, or some pair of them,
    determines the record. ``pairs`` counts the records that two releases determine, on the diagonal
    one; ``only_together`` of these those that neither of the two determines by itself.
    """

    possible: NDArray[np.int32] = field(repr=False)
    left: Ints = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    alone: NDArray[np.bool_] = field(repr=False)
    paired: NDArray[np.bool_] = field(repr=False)
    pairs: Ints = field(repr=False)
    only_together: Ints = field(repr=False)

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Whether a record's own value alone is left, after one release, two, and so on."""
        return (self.possible == 1) & self.kept

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Whether one candidate row is left in some release, and it holds the record's value."""
        return (self.left == 1) & self.kept

    @property
    def misled(self) -> NDArray[np.bool_]:
        """Whether values are left, or none at all, but not the record's own."""
        return (self.possible >= 0) & ~self.kept


def intersect(
    table: Table, releases: list[Folded], present: NDArray[np.bool_]
) -> tuple[Ints, Intersection, Intersection]:
    """Return each record's candidates in each release, and what all of them and the closest leave.

    ``present`` tells for every record and release whether the record is looked up in it. Per record
    the possible values are the intersection of the values that its candidate rows hold, release by
    release (Ganta, Kasiviswanathan and Smith, *Composition attacks and auxiliary information in
    data privacy*, KDD 2008, Section 3). A release without a candidate says nothing about the
    record. The closest candidates of a release are its most specific ones
    (:class:`~indiff.differential.beside.linkage.Linkage`): rows of ``*`` do not hide anybody.
    """
    sensitive = table.sensitive
    known = [attribute.name for attribute in table.attributes]
    same = np.stack(
        [*(a.codes for a in table.attributes), sensitive.codes, *present.T.astype(np.int32)]
    )
    people, back = distinct_columns(same)
    times = np.bincount(back)
    own, asked = people[len(known)], people[len(known) + 1 :].astype(np.bool_)
    codes = {name: people[place] for place, name in enumerate(known)}
    rows = _joined([one.rows for one in releases])
    offsets = np.cumsum([0, *(len(one.rows.weight) for one in releases)])
    found = [_Found.empty(len(times), len(releases)) for _ in range(2)]
    candidates = np.zeros((len(times), len(releases)), np.int64)
    for begin in range(0, len(times), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        points = [np.stack([codes[name][block] for name in one.columns], 1) for one in releases]
        looked_up = [
            boxes_around(one.boxes, at, asked[r, block])
            for r, (one, at) in enumerate(zip(releases, points, strict=True))
        ]
        starts, kinds = _by_person(looked_up, offsets)
        for closest, out in enumerate(found):
            _combine(
                starts, kinds, rows, own[block], times[block], bool(closest),
                np.zeros(len(sensitive.values) + 1, np.int64), candidates[block], out.block(block),
            )  # fmt: skip
    everything, near = (one.finish(back) for one in found)
    return candidates[back], everything, near


def _joined(parts: list[Rows]) -> Rows:
    """Number the kinds of all releases together."""
    held = np.cumsum([0, *(len(one.values) for one in parts)])
    starts = [one.start[:-1] + first for one, first in zip(parts, held, strict=False)]
    return Rows(
        np.concatenate([*starts, held[-1:]]).astype(np.int64),
        np.concatenate([one.values for one in parts]),
        np.concatenate([one.counts for one in parts]),
        np.concatenate([one.weight for one in parts]),
    )


def _by_person(
    looked_up: list[tuple[Ints, NDArray[np.int32]]], offsets: Ints
) -> tuple[Ints, NDArray[np.int64]]:
    """Return the kinds around each record, release after release, and where each list begins."""
    sizes = np.stack([np.diff(starts) for starts, _ in looked_up], 1)
    begin = np.concatenate([[0], np.cumsum(sizes.ravel())])
    kinds = np.empty(begin[-1], np.int64)
    for r, (starts, around) in enumerate(looked_up):
        shift = begin[:-1].reshape(sizes.shape)[:, r] - starts[:-1]
        place = np.repeat(shift, sizes[:, r]) + np.arange(len(around))
        kinds[place] = around + offsets[r]
    return begin, kinds


class _Found(NamedTuple):
    """Where the numbers of every record are put."""

    possible: NDArray[np.int32]
    left: Ints
    kept: NDArray[np.bool_]
    alone: NDArray[np.bool_]
    paired: NDArray[np.bool_]
    pairs: Ints
    only_together: Ints

    @staticmethod
    def empty(people: int, releases: int) -> _Found:
        shape, square = (people, releases), (releases, releases)
        return _Found(
            np.empty(shape, np.int32), np.empty(shape, np.int64), np.zeros(shape, np.bool_),
            np.zeros(people, np.bool_), np.zeros(people, np.bool_),
            np.zeros(square, np.int64), np.zeros(square, np.int64),
        )  # fmt: skip

    def block(self, block: slice) -> _Found:
        """Return the places of some people."""
        return self._replace(**{name: getattr(self, name)[block] for name in self._fields[:5]})

    def finish(self, back: NDArray[np.intp]) -> Intersection:
        """Return the numbers of all records, of which ``back`` says whose they are."""
        each: dict[str, Any] = {name: getattr(self, name)[back] for name in self._fields[:5]}
        return Intersection(**each, pairs=self.pairs, only_together=self.only_together)


@kernel
def _combine(
    starts: Any, kinds: Any, rows: Any, own: Any, times: Any, closest: Any,
    allowed: Any, candidates: Any, out: Any,
) -> None:  # fmt: skip
    """Fill ``out`` for each person; ``allowed`` has a bit for each release that allows a value."""
    releases = candidates.shape[1]
    touched = np.empty(allowed.shape[0], np.int32)
    best = np.empty(releases, np.float64)
    by_one = np.empty(releases, np.bool_)
    for person in range(own.shape[0]):
        count, here = 0, 0
        for r in range(releases):
            begin, end = starts[person * releases + r], starts[person * releases + r + 1]
            best[r] = -np.inf
            for spot in range(begin, end):
                best[r] = max(best[r], rows.weight[kinds[spot]])
            if not closest:
                best[r] = -np.inf
                candidates[person, r] = 0
            bit = 1 << r
            for spot in range(begin, end):
                kind = kinds[spot]
                if rows.weight[kind] < best[r]:
                    continue
                here |= bit
                for place in range(rows.start[kind], rows.start[kind + 1]):
                    value = rows.values[place]
                    if allowed[value] == 0:
                        touched[count] = value
                        count += 1
                    allowed[value] |= bit
                    if not closest:
                        candidates[person, r] += rows.counts[place]
        for r in range(releases):
            by_one[r] = _is_determined(allowed, touched[:count], here & (1 << r), own[person])
            if by_one[r]:
                out.alone[person] = True
                out.pairs[r, r] += times[person]
        for one in range(releases):
            for two in range(one):
                both = here & ((1 << one) | (1 << two))
                if _is_determined(allowed, touched[:count], both, own[person]):
                    out.pairs[one, two] += times[person]
                    out.pairs[two, one] += times[person]
                    out.paired[person] = True
                    if not by_one[one] and not by_one[two]:
                        out.only_together[one, two] += times[person]
                        out.only_together[two, one] += times[person]
        for last in range(releases):
            so_far = here & ((1 << (last + 1)) - 1)
            out.possible[person, last] = -1
            out.left[person, last] = 0
            out.kept[person, last] = so_far != 0 and allowed[own[person]] & so_far == so_far
            if so_far == 0:
                continue
            possible = 0
            for spot in range(count):
                possible += allowed[touched[spot]] & so_far == so_far
            out.possible[person, last] = possible
            fewest = -1
            for r in range(last + 1):
                if so_far & (1 << r) == 0:
                    continue
                left = 0
                for spot in range(starts[person * releases + r], starts[person * releases + r + 1]):
                    kind = kinds[spot]
                    if rows.weight[kind] < best[r]:
                        continue
                    for place in range(rows.start[kind], rows.start[kind + 1]):
                        if allowed[rows.values[place]] & so_far == so_far:
                            left += rows.counts[place]
                if fewest < 0 or left < fewest:
                    fewest = left
            out.left[person, last] = fewest
        for spot in range(count):
            allowed[touched[spot]] = 0


@inner
def _is_determined(allowed: Any, touched: Any, releases: Any, own: Any) -> Any:
    """Tell whether these releases allow the record's own value and no other."""
    if releases == 0 or allowed[own] & releases != releases:
        return False
    for value in touched:  # noqa: SIM110 - compiled
        if value != own and allowed[value] & releases == releases:
            return False
    return True
