"""Runs the differential test as the papers' published program does, numbers compared as text."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.papers.published.partition import Node, Partition, Side

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]  # a belief with the record, and without it
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
    views = [View(partition, comparison) for comparison in COMPARISONS]
    pairs = np.empty((len(COMPARISONS), 2, len(rows), partition.class_count))
    for place, row in enumerate(rows.tolist()):
        gone, come = partition.change(partition.root, row)
        for view, found in zip(views, pairs, strict=True):
            found[:, place] = view.pair(row, gone, come)
    everyone = back.ravel()
    return {
        comparison: (found[0, everyone], found[1, everyone])
        for comparison, found in zip(COMPARISONS, pairs, strict=True)
    }


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
            held = self._held(leaf)
            for place, side in enumerate(leaf.decision.box):
                totals[place][self.covered(place, side)] += held
        return totals

    def _held(self, leaf: Node) -> NDArray[np.int64]:
        return np.bincount(self.partition.classes[leaf.rows], minlength=self.partition.class_count)

    def pair(self, row: int, gone: list[Node], come: list[Node]) -> Pair:
        """Return the beliefs about one record, given the groups that its absence changes."""
        codes = [int(a.codes[row]) for a in self._table.attributes]
        totals = self._table.sensitive.counts.astype(np.float64)
        fewer = totals.copy()
        fewer[self.partition.classes[row]] -= 1
        held = [counts[code] for counts, code in zip(self._counts, codes, strict=True)]
        fewer_held = [counts.copy() for counts in held]
        for sign, leaves in ((-1, gone), (1, come)):
            for leaf in leaves:
                classes = sign * self._held(leaf)
                for place, side in enumerate(leaf.decision.box):
                    if self.covered(place, side)[codes[place]]:
                        fewer_held[place] += classes
        return _belief(totals, held), _belief(fewer, fewer_held)


def _belief(totals: Floats, held: list[Floats]) -> Floats:
    """Bernoulli naive Bayes with one pseudo-count, asked about a record that agrees everywhere."""
    with np.errstate(divide="ignore"):  # an empty class: minus infinity, probability 0
        scores = np.log(totals)
    for counts in held:
        scores = scores + np.log((counts + 1) / (totals + 2))
    chances = np.exp(scores - scores.max())
    belief: Floats = chances / chances.sum()
    return belief
