"""Cuts groups as the papers' published programs do, to explain their numbers only.

Never publish with it: for k-anonymity the right-hand side of a numeric cut is not checked. It
differs from ``UncheckedMondrian``, which changes that one thing in ours, in all that
decides where a cut falls: a category is as wide as the node it was cut to, not as the values a
group holds; a number is as wide as its last cut left it, until it is tried; and going down to an
only child counts as a cut. With ℓ-diversity both sides are checked, and the released interval is
the one between cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
Cut = tuple[int, int]  # the attribute, and of a number the last code on the left
Try = tuple[Side, bool, int, int]  # a side once it was tried, whether it is cut, last and after
Changed = list[tuple[Box, Tally]]  # groups that go or come, and what each adds to the counts
Rule = Literal["k", "l"]

NO_MISSING = "this comparison needs a table without missing quasi-identifiers."
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


@dataclass(eq=False, slots=True)
class Node:
    """A group, and the groups it was cut into; without any it is released.

    It keeps what leaving out its rows asks for again and again: how each attribute was found to be
    cut, and the groups that other cuts make of it.
    """

    rows: Rows
    box: Box
    decision: Decision
    children: dict[int, Node] = field(default_factory=dict)
    order: tuple[int, ...] = ()  # the attributes from widest to narrowest
    tallies: dict[int, Tally] = field(default_factory=dict)
    tried: dict[tuple[int, int, int], Try] = field(default_factory=dict)
    sides: dict[Cut, dict[int, Rows]] = field(default_factory=dict)
    parts: dict[tuple[Cut, Box], Node] = field(default_factory=dict)
    held: Tally | None = None

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
        keys = np.stack([*self._codes, self._held], axis=1).tolist()
        self._keys: list[list[int]] = keys
        self._nobody = [-1] * len(keys[0])
        whole = tuple((0, 0) if a.hierarchy is not None else (0, len(a.values) - 1)
                      for a in table.attributes)  # fmt: skip
        self.root = self.grow(np.arange(len(table), dtype=np.int64), whole)

    def grow(self, rows: Rows, box: Box) -> Node:
        """Cut a group for as long as a cut is allowed."""
        widths = [self._width(a, side) for a, side in enumerate(box)]
        order = tuple(sorted(range(len(box)), key=lambda a: -widths[a]))
        node = Node(rows, box, Decision(box), order=order)
        node.decision = self._decide(node)
        if not node.decision.ends:
            node.children = self._parts(node, node.decision)
        return node

    def change(self, node: Node, row: int) -> tuple[list[Node], list[Node]]:
        """Return the released groups that go, and those that come, when one row is left out."""
        if len(node.rows) == 1:
            return [node], []
        decision = self._decide(node, row)
        if decision.ends:
            rest = node.rows[node.rows != row]
            return list(node.leaves()), [Node(rest, node.box, decision)]
        parts = node.children if decision == node.decision else self._parts(node, decision)
        old = set(node.children.values())
        gone = [] if old else [node]
        come: list[Node] = []
        for child in old.difference(parts.values()):
            gone += child.leaves()
        here = int(self._sides(decision, self._codes[decision.attribute][row]))
        for place, part in parts.items():
            less, more = self.change(part, row) if place == here else ([], [])
            if part in old:
                gone += less
            else:
                come += [leaf for leaf in part.leaves() if leaf not in less]
            come += more
        return gone, come

    def changed(self, row: int) -> Changed:
        """Return the groups that go or come without one row, and what each adds to the counts."""
        gone, come = self.change(self.root, row)
        return [(leaf.decision.box, sign * self.held(leaf))
                for sign, leaves in ((-1, gone), (1, come)) for leaf in leaves]  # fmt: skip

    def _decide(self, node: Node, row: int | None = None) -> Decision:
        """Try the attributes from widest to narrowest until one can be cut, without a row if so."""
        box = node.box
        *codes, held = self._keys[row] if row is not None else self._nobody
        for a in node.order:
            key = (a, codes[a], held)
            if key not in node.tried:
                node.tried[key] = self._try(node, *key)
            side, cut, last, after = node.tried[key]
            if side != box[a]:
                box = (*box[:a], side, *box[a + 1 :])
            if cut:
                return Decision(box, a, last, after)
        return Decision(box)

    def _try(self, node: Node, a: int, code: int, held: int) -> Try:
        """Tell whether an attribute can be cut, without a row of this code and value if so."""
        size, side = len(node.rows) - (code >= 0), node.box[a]
        shrinks = self.rule == "k"  # an interval, to what it holds, when it is tried
        if not self._below[a] and size // 2 < self.value and not shrinks:
            return side, False, -1, -1
        counts = self._tally(a, node)
        if code >= 0:
            counts = counts.copy()
            counts[code, held] -= 1
        if self._below[a]:
            return side, self._tree_allows(a, side[0], counts), -1, -1
        sizes = counts[:, 0] if shrinks else counts.sum(axis=1)
        present = sizes.nonzero()[0]
        if shrinks:
            side = int(present[0]), int(present[-1])
        if size // 2 < self.value or len(present) == 1:
            return side, False, -1, -1
        place = int(sizes[present].cumsum().searchsorted(size // 2))
        if place == len(present) - 1:
            return side, False, -1, -1
        last, after = int(present[place]), int(present[place + 1])
        if not shrinks:
            left = counts[: last + 1].sum(axis=0)
            if not self._diverse(np.array([left, counts[after:].sum(axis=0)])):
                return side, False, -1, -1
        return side, True, last, after

    def _tree_allows(self, a: int, node: int, counts: Tally) -> bool:
        below = self._below[a][node]
        if not below.nodes:
            return False
        parts = np.add.reduceat(counts[: below.end], below.starts, axis=0)
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

    def held(self, leaf: Node) -> Tally:
        """Count the sensitive values of a group."""
        if leaf.held is None:
            leaf.held = np.bincount(self.classes[leaf.rows], minlength=self.class_count)
        return leaf.held

    def _tally(self, a: int, node: Node) -> Tally:
        if a in node.tallies:
            return node.tallies[a]
        size = len(self.table.attributes[a].values)
        cells = self._cells[a][node.rows]
        found = np.bincount(cells, minlength=size * self._columns).reshape(size, self._columns)
        if len(node.rows) >= KEEP_TALLIES_FROM:
            node.tallies[a] = found
        return found

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

    def _parts(self, node: Node, decision: Decision) -> dict[int, Node]:
        """Return the groups that a cut makes of one; who asks again finds them grown."""
        cut = decision.attribute, decision.last
        if cut not in node.sides:
            sides = self._sides(decision, self._codes[decision.attribute][node.rows])
            places = np.bincount(sides).nonzero()[0].tolist()
            node.sides[cut] = {place: node.rows[sides == place] for place in places}
        found = {}
        for place, rows in node.sides[cut].items():
            key = cut, self._box(decision, place)
            if key not in node.parts:
                node.parts[key] = self.grow(rows, key[1])
            found[place] = node.parts[key]
        return found


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
