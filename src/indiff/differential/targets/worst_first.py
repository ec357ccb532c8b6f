"""Ranks records by how exposed they look, before a slow sanitizer is asked about any of them.

Without a release the records are ranked by what tends to expose people whatever the sanitizer:
what naive Bayes would lose with the record if the raw data were published, what it loses under a
Mondrian (both exactly, in milliseconds), and how rare the record's values are. With the release
f(D), which every run makes anyway, most places go to the records whose own part of it matters
most to the adversary: the distance if their released row were dropped, and if all rows with the
same regions were, as where other groups form without the record; to the records of the smallest
groups, which a sanitizer may have to do away with; and to the records about whom the adversary
leans on a single group, of which the next sanitizing may leave nothing. That approximates the test
(DIT v2, Section 3.2, says why it is not the same), well enough to choose an order.

An order decides what is measured first and never what is measured, so no order can make a
distance wrong; but a sample that was taken worst-first is not random, and nothing follows from it
about the other records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.distances.functions import wasserstein
from indiff.errors import check_whole
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.inference.frequency import covering_counts, covering_rows
from indiff.release.release import Release
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.trivial import Identity

Floats = NDArray[np.float64]

# The papers' k; no hint says which would be better.
SURROGATE_K = 5
# Targets whose rows are looked for together, which bounds the memory.
AT_ONCE = 500


def rank(
    table: Table, *, seed: int = 0, release: Release | None = None, model: Model | None = None
) -> NDArray[np.intp]:
    """Return all rows of the table, those that look most exposed first.

    ``release`` is f(D) of the sanitizer under test, and ``model`` the adversary; each makes the
    order better, and neither is needed. Records that look the same come in an order by ``seed``.
    Looking exposed proves nothing, nor does looking safe: ``docs/targets.md`` says how many of
    the most exposed records such an order has found, and where it fails.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(
    ...     pa.table({"age": [30, 30, 30, 31, 31, 90], "ill": ["n", "n", "y", "n", "y", "y"]}),
    ...     quasi=["age"], sensitive="ill")
    >>> int(rank(table)[0])
    5
    """
    check_whole("seed", seed, 0)
    shuffled = np.random.default_rng(seed).permutation(len(table))

    def worst_first(scores: Floats) -> NDArray[np.intp]:
        # Scores that differ by rounding alone are equal, or rounding would choose the order.
        order = np.argsort(-np.round(scores[shuffled], 12), kind="stable")
        return shuffled[order].astype(np.intp)

    rare = worst_first(_rarity(table))
    if len(table) < 2 or int((table.sensitive.counts > 0).sum()) < 2:
        return rare  # no adversary has anything to learn
    surrogate = Mondrian(k=min(SURROGATE_K, len(table)), unmet="generalize")
    walked = leave_one_out(table, surrogate, NaiveBayes(), np.arange(len(table), dtype=np.intp))
    blind = _interleave(
        [
            worst_first(dropped_distances(table, Identity().sanitize(table), NaiveBayes())),
            rare,
            worst_first(np.asarray(wasserstein(walked.with_record, walked.without))),
        ]
    )
    if release is None:
        return blind
    asked: list[NaiveBayes | Frequency] = [NaiveBayes(), Frequency()]
    if isinstance(model, NaiveBayes | Frequency):
        asked = [model]
    return _interleave(
        [
            worst_first(scores)
            for adversary in asked
            for scores in from_release(table, release, adversary)
        ]
        + [blind] * len(asked)
    )


def from_release(table: Table, release: Release, model: NaiveBayes | Frequency) -> list[Floats]:
    """Return four scores of every record, each for an order of its own.

    How far the belief about it moves without its released row; without its group; the same with
    all smaller groups first; and without the one group that the belief leans on.
    """
    grouped = dropped_distances(table, release, model, groups=True)
    return [
        dropped_distances(table, release, model),
        grouped,
        _smallest_groups_first(table, release, grouped),
        leaned_distances(table, release, model),
    ]


def _smallest_groups_first(table: Table, release: Release, distances: Floats) -> Floats:
    """Score records by their released group's size, equals by a distance, which is at most 2."""
    rows = own_rows(table, release)
    group, totals = _groups(release)
    sizes = totals[group].sum(axis=1)
    ranks = np.unique(sizes, return_inverse=True)[1].ravel()
    return np.where(rows >= 0, distances - 3.0 * ranks[rows], distances - 3.0 * len(release))


def _interleave(orders: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Take the next new row of each order in turn; an order that is listed twice has two turns."""
    size = len(orders[0])
    taken = np.zeros(size, bool)
    following = {id(order): iter(order.tolist()) for order in orders}
    merged: list[int] = []
    while len(merged) < size:
        for order in orders:
            row = next((row for row in following[id(order)] if not taken[row]), None)
            if row is not None:
                taken[row] = True
                merged.append(row)
    return np.array(merged, np.intp)


def _rarity(table: Table) -> Floats:
    """Return −Σ ln of the share that holds each of a record's values: its surprise (ITPR paper)."""
    total = np.zeros(len(table))
    for attribute in table.attributes:
        held = np.bincount(attribute.codes, minlength=len(attribute.values))
        total -= np.log(held[attribute.codes] / len(table))
    return total


def dropped_distances(
    table: Table, release: Release, model: NaiveBayes | Frequency, *, groups: bool = False
) -> Floats:
    """Return for each record how far the belief about it moves if its released row is dropped.

    With ``groups``, all rows that show the same regions as its own are dropped with it: what
    happens where a sanitizer forms other groups without the record.

    The rows are the table's, one by one, where the sensitive column says so; otherwise a record's
    row is the one with its sensitive value that covers most of its values, the first of equals.
    A record without such a row does not move the belief. It is not the differential test: the
    other rows would have been released otherwise too.
    """
    group, totals = _groups(release)
    held = totals[group] if groups else _row_totals(release)
    return _without(table, release, model, own_rows(table, release), held)


def leaned_distances(table: Table, release: Release, model: NaiveBayes | Frequency) -> Floats:
    """Return for each record how far the belief about it moves without one telling group.

    The group is one of those that cover the record's value, in one column after the other for
    naive Bayes and in all of them for frequency: the group that holds the largest share of the
    rows with any one sensitive value among them. The largest distance counts. It is not the
    record's own group, whose absence would say what the record adds, but the one whose absence
    would be noticed most; a sanitizer that forms other groups everywhere may leave it out.
    """
    group, totals = _groups(release)
    targets = _codes(table, release)
    together = isinstance(model, Frequency)
    looked_at = [targets] if together else [codes[None, :] for codes in targets]
    covering = [release.columns] if together else [(column,) for column in release.columns]
    moved = np.zeros(len(table))
    for columns, codes in zip(covering, looked_at, strict=True):
        rows = _leaned_on(replace(release, columns=columns), codes, group, totals)
        moved = np.maximum(moved, _without(table, release, model, rows, totals[group]))
    return moved


def _leaned_on(
    release: Release, targets: NDArray[np.int32], group: NDArray[np.intp], totals: Floats
) -> NDArray[np.intp]:
    """Return for each target a row of the group that it leans on; −1 where no row covers it."""
    distinct, back = np.unique(targets, axis=1, return_inverse=True)
    leaned = np.full(distinct.shape[1], -1, np.intp)
    before = np.zeros(len(release), bool)
    for place, combination in enumerate(distinct.T):
        mask = covering_rows(release, combination)
        if place and np.array_equal(mask, before):  # as often for neighbouring values
            leaned[place] = leaned[place - 1]
        elif mask.any():
            among = np.unique(group[mask])
            everybody = np.maximum(totals[among].sum(axis=0), np.finfo(np.float64).tiny)
            chosen = among[(totals[among] / everybody).max(axis=1).argmax()]
            leaned[place] = int((mask & (group == chosen)).argmax())
        before = mask
    return leaned[back.ravel()]


def _without(
    table: Table,
    release: Release,
    model: NaiveBayes | Frequency,
    rows: NDArray[np.intp],
    held: Floats,
) -> Floats:
    """Return how far each belief moves without what ``held`` has for a row, shown like that row.

    ``rows`` are one for each record, −1 for none; ``held`` are rows × sensitive values.
    """
    targets = _codes(table, release)
    found = np.flatnonzero(rows >= 0)
    drop = held[rows[found]]
    covers = np.stack(
        [
            column.covers_each(rows[found], codes[found])
            for column, codes in zip(release.columns, targets, strict=True)
        ]
    )
    totals = release.class_totals()
    if isinstance(model, Frequency):
        counts, back = covering_counts(release, table)
        counted = counts[back]
        present = _shares(counted, totals, np.zeros_like(counted))
        absent = present.copy()
        left = counted[found] - drop * np.asarray(covers.all(axis=0), np.float64)[:, None]
        absent[found] = _shares(left, totals - drop, present[found])
        return np.asarray(wasserstein(present, absent))
    present = np.asarray(model.beliefs(release, table), np.float64)
    absent = present.copy()
    counts = np.stack(
        [
            column.cover_counts(release.classes, len(totals), release.weights)[codes[found]]
            for column, codes in zip(release.columns, targets, strict=True)
        ],
        axis=1,
    )
    counts -= covers.T[:, :, None] * drop[:, None, :]
    kinds, kind = np.unique(drop, axis=0, return_inverse=True)
    for number, dropped in enumerate(kinds):
        left = totals - dropped
        if (model.prior_weights(left)[left > 0] > 0).any():
            some = kind.ravel() == number
            absent[found[some]] = model.from_counts(left, counts[some])
    return np.asarray(wasserstein(present, absent))


def _shares(counts: Floats, everybody: Floats, otherwise: Floats) -> Floats:
    """Return the shares of counts; where there are none those of everybody, or what is given."""
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, everybody)
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=otherwise.copy(), where=np.asarray(sums > 0))


def _row_totals(release: Release) -> Floats:
    """Return rows × sensitive values: each row's weight, at its own value."""
    totals = np.zeros((len(release), len(release.sensitive_values)))
    weights = 1.0 if release.weights is None else release.weights
    totals[np.arange(len(release)), release.classes] = weights
    return totals


def _groups(release: Release) -> tuple[NDArray[np.intp], Floats]:
    """Return each row's group, by the regions that it shows, and groups × sensitive values."""
    shown = np.stack([column.index for column in release.columns])
    group = np.unique(shown, axis=1, return_inverse=True)[1].ravel()
    totals = np.zeros((int(group.max()) + 1, len(release.sensitive_values)))
    np.add.at(totals, group, _row_totals(release))
    return group, totals


def own_rows(table: Table, release: Release) -> NDArray[np.intp]:
    """Return each record's row of the release, as far as that can be told; −1 where it has none."""
    if np.array_equal(release.classes, table.sensitive.codes):
        return np.arange(len(table), dtype=np.intp)
    rows = np.full(len(table), -1, np.intp)
    targets = _codes(table, release)
    for of_class in np.unique(table.sensitive.codes):
        candidates = np.flatnonzero(release.classes == of_class)
        members = np.flatnonzero(table.sensitive.codes == of_class)
        if len(candidates):
            for start in range(0, len(members), AT_ONCE):
                some = members[start : start + AT_ONCE]
                rows[some] = candidates[_hits(release, targets[:, some], candidates).argmax(axis=1)]
    return rows


def _hits(
    release: Release, targets: NDArray[np.int32], candidates: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Count for each target and candidate row on how many columns the row covers the target."""
    hits = np.zeros((targets.shape[1], len(candidates)), np.int32)
    for column, codes in zip(release.columns, targets, strict=True):
        for code in np.unique(codes):
            hits[codes == code] += column.covering(int(code))[candidates]
    return hits


def _codes(table: Table, release: Release) -> NDArray[np.int32]:
    """Return released columns × records: what the table holds there."""
    return np.stack([table.attribute(c.attribute.name).codes for c in release.columns])
