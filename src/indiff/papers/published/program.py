"""Cuts groups and tests them as the papers' published programs do, to explain their numbers only.

Never publish with it: for k-anonymity the right-hand side of a numeric cut is not checked. It
differs from ``UncheckedMondrian``, which changes that one thing in ours, in all that
decides where a cut falls: a category is as wide as the node it was cut to, not as the values a
group holds; a number is as wide as its last cut left it, until it is tried; and going down to an
only child counts as a cut. With ℓ-diversity both sides are checked, and the released interval is
the one between cuts. The test compares numbers as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError

Rows = NDArray[np.int64]
Tally = NDArray[np.int64]  # values × sensitive values: how many records hold both
Side = tuple[int, int]  # the codes between which a number lies; a node twice for a category
Box = tuple[Side, ...]
Rule = Literal["k", "l"]

NO_MISSING = "this comparison needs a table without missing quasi-identifiers."
Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]  # a belief with the record, and without it
Comparison = Literal["text", "numbers"]

COMPARISONS: tuple[Comparison, ...] = ("text", "numbers")
KEEP_TALLIES_FROM = 200  # rows; below, counting again takes no longer than looking up


@dataclass(frozen=True)
class Decision:
    """What is done with a group: its box once attributes were tried, and the cut, if any."""

    box: Box
    attribute: int = -1
    last: int = -1  # of a numeric cut: the last code on its left, and the next one that occurs
    after: int = -1

    @property
    def ends(self) -> bool:
        """Whether the group stays whole."""
        return self.attribute < 0


@dataclass(frozen=True, eq=False)
class Node:
    """A group, and the groups it was cut into; without any it is released."""

    rows: Rows
    box: Box
    decision: Decision
    children: dict[int, Node]
    tallies: dict[int, Tally] = field(default_factory=dict)

    def leaves(self) -> Iterator[Node]:
        """Yield the released groups below this one."""
        if not self.children:
            yield self
        for child in self.children.values():
            yield from child.leaves()


class Partition:
    """One table cut as the published programs cut it, with or without one of its records.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [20, 30, 30, 30, 50], "ill": list("yynny")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> [leaf.rows.tolist() for leaf in Partition(table, "k", 2).root.leaves()]
    [[0, 1, 2, 3], [4]]
    """

    def __init__(self, table: Table, rule: Rule, value: int) -> None:
        flat = [a.name for a in table.attributes if a.kind != Kind.NUMERIC and a.hierarchy is None]
        if flat:
            raise UserError(
                "the published programs need a hierarchy for every category; "
                f"{flat[0]!r} has none.",
                field="hierarchies",
            )
        if any(a.has_missing for a in table.attributes):
            raise UserError(NO_MISSING, field="missing")
        self.table, self.rule, self.value = table, rule, value
        self.classes = table.sensitive.codes.astype(np.int64)
        self.class_count = len(table.sensitive.values)
        self._codes = [a.codes.astype(np.int64) for a in table.attributes]
        # k counts records only, so that all sensitive values share one column of a tally
        self._held = self.classes if rule == "l" else np.zeros(len(table), np.int64)
        self._columns = self.class_count if rule == "l" else 1
        self._cells = [codes * self._columns + self._held for codes in self._codes]
        self._below = [_below(a) for a in table.attributes]
        self._spans = [_span(a) for a in table.attributes]
        self._points = [[] if a.hierarchy is not None else [float(x) for x in a.points]
                        for a in table.attributes]  # fmt: skip
        whole = tuple((0, 0) if a.hierarchy is not None else (0, len(a.values) - 1)
                      for a in table.attributes)  # fmt: skip
        self.root = self.grow(np.arange(len(table), dtype=np.int64), whole)

    def grow(self, rows: Rows, box: Box) -> Node:
        """Cut a group for as long as a cut is allowed."""
        tallies: dict[int, Tally] = {}

        def tally(a: int) -> Tally:
            if a not in tallies:
                tallies[a] = self._tally(a, rows)
            return tallies[a]

        decision = self.decide(tally, len(rows), box)
        parts = {} if decision.ends else self._parts(decision, rows)
        children = {place: self.grow(*part) for place, part in parts.items()}
        return Node(rows, box, decision, children,
                    tallies if len(rows) >= KEEP_TALLIES_FROM else {})  # fmt: skip

    def change(self, node: Node, row: int) -> tuple[list[Node], list[Node]]:
        """Return the released groups that go, and those that come, when one row is left out."""
        if len(node.rows) == 1:
            return [node], []
        codes = [int(codes[row]) for codes in self._codes]
        held = int(self._held[row])

        def tally(a: int) -> Tally:
            found = node.tallies.get(a)
            found = self._tally(a, node.rows) if found is None else found.copy()
            found[codes[a], held] -= 1
            return found

        decision = self.decide(tally, len(node.rows) - 1, node.box)
        old = node.decision
        same_cut = (decision.attribute, decision.last) == (old.attribute, old.last)
        if decision.ends or old.ends or not same_cut:
            grown = self.grow(node.rows[node.rows != row], node.box)
            return list(node.leaves()), list(grown.leaves())
        gone: list[Node] = []
        come: list[Node] = []
        side = int(self._sides(decision, np.array(codes[decision.attribute])))
        for place, child in node.children.items():
            box = self._box(decision, place)
            if place == side and len(child.rows) == 1:
                gone.append(child)
            elif box != child.box:
                gone += child.leaves()
                come += self.grow(child.rows[child.rows != row], box).leaves()
            elif place == side:
                less, more = self.change(child, row)
                gone += less
                come += more
        return gone, come

    def changed(self, row: int) -> list[tuple[Box, Tally]]:
        """Return the groups that go or come without one row, and what each adds to the counts."""
        gone, come = self.change(self.root, row)
        return [(leaf.decision.box, sign * self.held(leaf.rows))
                for sign, leaves in ((-1, gone), (1, come)) for leaf in leaves]  # fmt: skip

    def decide(self, tally: Callable[[int], Tally], size: int, box: Box) -> Decision:
        """Try the attributes from widest to narrowest until one can be cut."""
        shrinks = self.rule == "k"  # an interval, to what it holds, when it is tried
        widths = [self._width(a, side) for a, side in enumerate(box)]
        for a in sorted(range(len(box)), key=lambda a: -widths[a]):
            if self._below[a]:
                if self._tree_allows(a, box[a][0], tally):
                    return Decision(box, a)
                continue
            if size // 2 < self.value and not shrinks:
                continue
            counts = tally(a)
            sizes = counts[:, 0] if shrinks else counts.sum(axis=1)
            present = sizes.nonzero()[0]
            if shrinks:
                box = (*box[:a], (int(present[0]), int(present[-1])), *box[a + 1 :])
            if size // 2 < self.value or len(present) == 1:
                continue
            place = int(sizes[present].cumsum().searchsorted(size // 2))
            if place == len(present) - 1:
                continue
            last, after = int(present[place]), int(present[place + 1])
            if not shrinks:
                left = counts[: last + 1].sum(axis=0)
                if not self._diverse(np.array([left, counts[after:].sum(axis=0)])):
                    continue
            return Decision(box, a, last, after)
        return Decision(box)

    def _tree_allows(self, a: int, node: int, tally: Callable[[int], Tally]) -> bool:
        below = self._below[a][node]
        if not below.nodes:
            return False
        parts = np.add.reduceat(tally(a)[: below.end], below.starts, axis=0)
        if self.rule == "k":
            return bool(((parts >= self.value) | (parts == 0)).all())
        return self._diverse(parts)  # nobody in a part: 0 of 0 is not too many

    def _diverse(self, parts: Tally) -> bool:
        return bool((parts.max(axis=1) * self.value <= parts.sum(axis=1)).all())

    def _width(self, a: int, side: Side) -> float:
        if self._below[a]:
            return self._below[a][side[0]].leaves / self._spans[a]
        points = self._points[a]
        return (points[side[1]] - points[side[0]]) / self._spans[a]

    def held(self, rows: Rows) -> Tally:
        """Count the sensitive values of some records."""
        return np.bincount(self.classes[rows], minlength=self.class_count)

    def _tally(self, a: int, rows: Rows) -> Tally:
        size = len(self.table.attributes[a].values)
        cells = self._cells[a][rows]
        return np.bincount(cells, minlength=size * self._columns).reshape(size, self._columns)

    def _box(self, decision: Decision, place: int) -> Box:
        a, box = decision.attribute, decision.box
        if decision.last >= 0:
            low, high = box[a]
            side = (decision.after, high) if place else (low, decision.last)
        else:
            child = self._below[a][box[a][0]].nodes[place]
            side = (child, child)
        return (*box[:a], side, *box[a + 1 :])

    def _sides(self, decision: Decision, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        a = decision.attribute
        if decision.last >= 0:
            return (codes > decision.last).astype(np.int64)
        starts = self._below[a][decision.box[a][0]].starts
        return np.searchsorted(starts, codes, side="right") - 1

    def _parts(self, decision: Decision, rows: Rows) -> dict[int, tuple[Rows, Box]]:
        sides = self._sides(decision, self._codes[decision.attribute][rows])
        return {place: (rows[sides == place], self._box(decision, place))
                for place in np.bincount(sides).nonzero()[0].tolist()}  # fmt: skip


@dataclass(frozen=True)
class Below:
    """What is below a node: how many leaves, its children, where their codes start and end."""

    leaves: int
    nodes: tuple[int, ...]
    starts: NDArray[np.int64]
    end: int


def _below(attribute: Attribute) -> list[Below]:
    tree = attribute.hierarchy
    if tree is None:
        return []
    found = []
    for node in range(len(tree.labels)):
        children = np.flatnonzero(tree.parent == node)
        size = int(tree.last[node] - tree.first[node] + 1)
        found.append(Below(
            size if len(children) else 0,
            tuple(int(child) for child in children),
            tree.first[children].astype(np.int64),
            int(tree.last[node]) + 1,
        ))  # fmt: skip
    return found


def _span(attribute: Attribute) -> float:
    if attribute.hierarchy is not None:
        return float(len(attribute.hierarchy.values))
    return float(attribute.points[-1] - attribute.points[0]) or 1.0


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
        changed = partition.changed(row)
        for view, found in zip(views, pairs, strict=True):
            found[:, place] = view.pair(row, changed)
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
            held = self.partition.held(leaf.rows)
            for place, side in enumerate(leaf.decision.box):
                totals[place][self.covered(place, side)] += held
        return totals

    def pair(self, row: int, changed: list[tuple[Box, Tally]]) -> Pair:
        """Return the beliefs about one record, given the groups that its absence changes.

        Each has its box and what it adds to the counts of sensitive values.
        """
        codes = [int(a.codes[row]) for a in self._table.attributes]
        totals = self._table.sensitive.counts.astype(np.float64)
        fewer = totals.copy()
        fewer[self.partition.classes[row]] -= 1
        held = [counts[code] for counts, code in zip(self._counts, codes, strict=True)]
        fewer_held = [counts.copy() for counts in held]
        for box, classes in changed:
            for place, side in enumerate(box):
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
