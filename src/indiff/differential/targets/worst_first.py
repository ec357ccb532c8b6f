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
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.distances.functions import wasserstein
from indiff.errors import check_whole
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.inference.models import covering_counts, covering_rows
from indiff.release.release import Release
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.sanitizer import Identity

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
            worst_first(Exposed(table, Identity().sanitize(table), NaiveBayes()).dropped()),
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
            for scores in Exposed(table, release, adversary).scores()
        ]
        + [blind] * len(asked)
    )


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


class Exposed:
    """How far beliefs about records move without some rows of a release that was made already.

    It is not the differential test: the other rows would have been released otherwise too.
    """

    def __init__(self, table: Table, release: Release, model: NaiveBayes | Frequency) -> None:
        self.table, self.release, self.model = table, release, model
        columns, size = release.columns, len(release.sensitive_values)
        # Released columns × records: what the table holds there.
        self._codes = np.stack([table.attribute(c.attribute.name).codes for c in columns])
        # Rows × sensitive values: each row's weight, at its own value.
        self._held = np.zeros((len(release), size))
        weights = 1.0 if release.weights is None else release.weights
        self._held[np.arange(len(release)), release.classes] = weights
        # Each row's group, by the regions that it shows, and groups × sensitive values.
        shown = np.stack([column.index for column in columns])
        self._group = np.unique(shown, axis=1, return_inverse=True)[1].ravel()
        self._totals = np.zeros((int(self._group.max()) + 1, size))
        np.add.at(self._totals, self._group, self._held)

    def scores(self) -> list[Floats]:
        """Return four scores of every record, each for an order of its own.

        How far the belief about it moves without its released row; without its group; the same
        with all smaller groups first; and without the one group that the belief leans on.
        """
        grouped = self.dropped(groups=True)
        sizes = self._totals[self._group].sum(axis=1)
        ranks = np.unique(sizes, return_inverse=True)[1].ravel()
        # Equal sizes are told apart by the distance, which is at most 2.
        behind = np.where(self.own_rows >= 0, ranks[self.own_rows], len(self.release))
        return [self.dropped(), grouped, grouped - 3.0 * behind, self.leaned()]

    def dropped(self, *, groups: bool = False) -> Floats:
        """Return for each record how far the belief about it moves if its own row is dropped.

        With ``groups``, all rows that show the same regions as its own are dropped with it: what
        happens where a sanitizer forms other groups without the record. A record without a row
        does not move the belief.
        """
        held = self._totals[self._group] if groups else self._held
        return self._without(self.own_rows, held)

    def leaned(self) -> Floats:
        """Return for each record how far the belief about it moves without one telling group.

        The group is one of those that cover the record's value, in one column after the other for
        naive Bayes and in all of them for frequency: the group that holds the largest share of the
        rows with any one sensitive value among them. The largest distance counts. It is not the
        record's own group, whose absence would say what the record adds, but the one whose absence
        would be noticed most; a sanitizer that forms other groups everywhere may leave it out.
        """
        places = range(len(self.release.columns))
        looked_at = [list(places)] if isinstance(self.model, Frequency) else [[a] for a in places]
        held = self._totals[self._group]
        return np.asarray(
            np.max([self._without(self._leaned_on(some), held) for some in looked_at], axis=0)
        )

    @cached_property
    def own_rows(self) -> NDArray[np.intp]:
        """Each record's row of the release, as far as that can be told; −1 where it has none.

        The rows are the table's, one by one, where the sensitive column says so; otherwise a
        record's row is the one with its sensitive value that covers most of its values, the first
        of equals.
        """
        held, released = self.table.sensitive.codes, self.release.classes
        if np.array_equal(released, held):
            return np.arange(len(held), dtype=np.intp)
        rows = np.full(len(held), -1, np.intp)
        for of_class in np.intersect1d(held, released):
            candidates = np.flatnonzero(released == of_class)
            members = np.flatnonzero(held == of_class)
            for start in range(0, len(members), AT_ONCE):
                some = members[start : start + AT_ONCE]
                hits = np.zeros((len(some), len(candidates)), np.int32)  # columns that cover it
                for column, codes in zip(self.release.columns, self._codes[:, some], strict=True):
                    for code in np.unique(codes):
                        hits[codes == code] += column.covering(int(code))[candidates]
                rows[some] = candidates[hits.argmax(axis=1)]
        return rows

    def _leaned_on(self, places: list[int]) -> NDArray[np.intp]:
        """Return for each record a row of the group that it leans on; −1 where no row covers it."""
        group, totals = self._group, self._totals
        looked_at = replace(self.release, columns=tuple(self.release.columns[a] for a in places))
        distinct, back = np.unique(self._codes[places], axis=1, return_inverse=True)
        leaned = np.full(distinct.shape[1], -1, np.intp)
        before = np.zeros(len(self.release), bool)
        for place, combination in enumerate(distinct.T):
            mask = covering_rows(looked_at, combination)
            if place and np.array_equal(mask, before):  # as often for neighbouring values
                leaned[place] = leaned[place - 1]
            elif mask.any():
                among = np.unique(group[mask])
                everybody = np.maximum(totals[among].sum(axis=0), np.finfo(np.float64).tiny)
                chosen = among[(totals[among] / everybody).max(axis=1).argmax()]
                leaned[place] = int((mask & (group == chosen)).argmax())
            before = mask
        return leaned[back.ravel()]

    def _without(self, rows: NDArray[np.intp], held: Floats) -> Floats:
        """Return how far each belief moves without what ``held`` has for a row.

        ``rows`` are one for each record, −1 for none; ``held`` are rows × sensitive values.
        """
        release, model, totals = self.release, self.model, self.release.class_totals()
        found = np.flatnonzero(rows >= 0)
        drop = held[rows[found]]
        columns = list(zip(release.columns, self._codes[:, found], strict=True))
        covers = np.stack([column.covers_each(rows[found], codes) for column, codes in columns])
        if isinstance(model, Frequency):
            counts, back = covering_counts(release, self.table)
            counted = counts[back]
            present = _shares(counted, totals, np.zeros_like(counted))
            absent = present.copy()
            left = counted[found] - drop * np.asarray(covers.all(axis=0), np.float64)[:, None]
            absent[found] = _shares(left, totals - drop, present[found])
            return np.asarray(wasserstein(present, absent))
        present = np.asarray(model.beliefs(release, self.table), np.float64)
        absent = present.copy()
        each = [
            column.cover_counts(release.classes, len(totals), release.weights)[codes]
            for column, codes in columns
        ]
        counts = np.stack(each, axis=1) - covers.T[:, :, None] * drop[:, None, :]
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
