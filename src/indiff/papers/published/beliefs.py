"""Tests groups as the papers' published programs do: numbers are compared as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.papers.published.program import Changed, Partition, Rows, Side

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]  # beliefs with the record, and without it
Comparison = Literal["text", "numbers"]

COMPARISONS: tuple[Comparison, ...] = ("text", "numbers")


def published_beliefs(partition: Partition) -> dict[Comparison, Pair]:
    """Return records × sensitive values, with each record and without it, by either comparison.

    The program keeps numbers as they were read and compares them as ``"text"``: 25 is then not
    between 5 and 80, since "25" comes before "5", while 5 is between 12 and 80. ``"numbers"``
    compares numbers and changes nothing else. Equal records are tested once.
    """
    table = partition.table
    columns = [a.codes for a in table.attributes] + [table.sensitive.codes]
    _, rows, back = np.unique(
        np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True
    )
    changes = [partition.changed(row) for row in rows.tolist()]
    everyone = back.ravel()
    found: dict[Comparison, Pair] = {}
    for comparison in COMPARISONS:
        with_record, without = View(partition, comparison).pairs(rows, changes)
        found[comparison] = with_record[everyone], without[everyone]
    return found


class View:
    """What naive Bayes believes of a record, given how a value is looked for in a released cell.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [5, 25, 30, 80], "ill": list("yyny")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> view = View(Partition(table, "k", 4), "text")
    >>> view.covered(0, (0, 3)).tolist()                 # which of 5, 25, 30, 80 are in [5, 80]
    [True, False, False, True]
    """

    def __init__(self, partition: Partition, comparison: Comparison) -> None:
        self.partition, self.comparison = partition, comparison
        self._table = partition.table
        self._known: dict[tuple[int, Side], NDArray[np.bool_]] = {}

    def covered(self, place: int, side: Side) -> NDArray[np.bool_]:
        """Tell for each value of an attribute whether a released cell is taken to hold it."""
        key = (place, side)
        if key not in self._known:
            self._known[key] = self._covered(place, side)
        return self._known[key]

    def _covered(self, place: int, side: Side) -> NDArray[np.bool_]:
        attribute = self._table.attributes[place]
        low, high = side
        if attribute.hierarchy is not None:
            low, high = int(attribute.hierarchy.first[low]), int(attribute.hierarchy.last[low])
        elif self.comparison == "text":
            texts = [f"{value:g}" for value in attribute.points]
            return np.array([texts[low] <= text <= texts[high] for text in texts])
        codes = np.arange(len(attribute.values))
        return (codes >= low) & (codes <= high)

    @cached_property
    def _counts(self) -> list[Floats]:
        """For each attribute, values × sensitive values: released records that agree with it."""
        totals = [np.zeros((len(a.values), self.partition.class_count))
                  for a in self._table.attributes]  # fmt: skip
        for leaf in self.partition.root.leaves():
            held = self.partition.held(leaf)
            for place, side in enumerate(leaf.decision.box):
                totals[place][self.covered(place, side)] += held
        return totals

    def pairs(self, rows: Rows, changes: Sequence[Changed]) -> Pair:
        """Return the beliefs about some records, given the groups that the absence of each changes.

        Rows × sensitive values. Whoever is left out changes at least the group that held it.
        """
        counted = [len(changed) for changed in changes]
        owners = np.repeat(np.arange(len(rows)), counted)
        starts = np.cumsum([0, *counted[:-1]])
        boxes = [box for changed in changes for box, _ in changed]
        added = np.array([classes for changed in changes for _, classes in changed])
        held, fewer_held = [], []
        for place, attribute in enumerate(self._table.attributes):
            codes = attribute.codes[rows]
            number = {side: n for n, side in enumerate({box[place]: None for box in boxes})}
            cells = np.array([self.covered(place, side) for side in number])
            inside = cells[[number[box[place]] for box in boxes], codes[owners]]
            held.append(self._counts[place][codes])
            more = np.add.reduceat(added * inside[:, None], starts, axis=0)
            fewer_held.append(held[-1] + more)
        totals = np.tile(self._table.sensitive.counts.astype(np.float64), (len(rows), 1))
        fewer = totals.copy()
        fewer[np.arange(len(rows)), self.partition.classes[rows]] -= 1
        return _belief(totals, held), _belief(fewer, fewer_held)


def _belief(totals: Floats, held: list[Floats]) -> Floats:
    """Bernoulli naive Bayes with one pseudo-count, asked about records that agree everywhere."""
    with np.errstate(divide="ignore"):  # an empty class: minus infinity, probability 0
        scores = np.log(totals)
    for counts in held:
        scores = scores + np.log((counts + 1) / (totals + 2))
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    belief: Floats = chances / chances.sum(axis=1, keepdims=True)
    return belief
