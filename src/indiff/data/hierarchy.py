"""Hierarchy: a ragged tree of generalizations above the values of one column."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indiff.data.side_files import read_text
from indiff.errors import UserError, did_you_mean, from_data, reason_of

ROOT = "*"
_LEVEL = re.compile(r"(level|lvl|ebene|stufe|niveau|nivel|livello)[ _.-]*\d+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over the values of a column, numbered so that every node is a range of values.

    ``values`` lists what a record can hold, in depth-first order, so that the values below any
    node are consecutive: node ``u`` stands for ``values[first[u] : last[u] + 1]``. Nodes are
    numbered in depth-first order too and node 0 is the root. A value may be an inner node as well
    (DIT v1, Figure 2: *Artist* above *Dancer*); it then has a place of its own among the values
    below that node.

    >>> tree = Hierarchy.from_lines(["Dancer;Artist;*", "Writer;Artist;*", "Lawyer;*"])
    >>> tree.values
    ('Dancer', 'Writer', 'Lawyer')
    >>> sorted(tree.values_below("Artist"))
    ['Dancer', 'Writer']
    >>> tree.path_length("Dancer", "Lawyer")
    3
    """

    labels: tuple[str, ...]
    parent: NDArray[np.int32]
    values: tuple[str | None, ...]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    value_node: NDArray[np.int32]
    notes: tuple[str, ...] = ()
    paths: tuple[tuple[int, tuple[str, ...]], ...] = field(default=(), repr=False)
    """Every line with its number, from a value to ``*``; a label that is repeated upwards, too."""
    source: str = "the hierarchy"
    starts_open: bool = False
    """Whether the first line was written without ``*``."""

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """Read ``leaf;parent;…;*`` lines from a file, separated by ``;`` or ``,``."""
        text = read_text(Path(path), "hierarchy file")
        return cls.from_lines(text.splitlines(), source=str(path))

    @classmethod
    def from_lines(cls, lines: Iterable[str], *, source: str = "the hierarchy") -> Hierarchy:
        """Build the tree from ``leaf;parent;…;*`` lines, or ``@@;label`` lines of depth and label.

        Blank lines are ignored, blanks around labels are stripped, empty fields are skipped and
        reported in ``notes``. A line may end above the root or without ``*``; the root is added.
        """
        text = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        if not text:
            raise UserError(f"{source} has no lines; expected leaf;parent;…;* on each line.")
        separator = ";" if any(";" in line for _, line in text) else ","
        notes: list[str] = []
        paths: list[tuple[int, list[str]]] = []
        for number, line in text:
            try:
                row = next(csv.reader([line], delimiter=separator, strict=True))
            except csv.Error as error:
                reason = reason_of(error)
                raise UserError(
                    f"{source}, line {number} cannot be split into labels ({reason}); close every "
                    'quote, and write "5"" pipe" for 5" pipe at the start of a label.'
                ) from None
            fields = [part.strip() for part in row]
            while fields and not fields[-1]:
                fields.pop()
            if not fields:
                continue
            if not fields[0]:
                raise UserError(f"{source}, line {number}: the value at the start is empty.")
            labels = [part for part in fields if part]
            if len(labels) < len(fields):
                notes.append(f"{source}, line {number}: an empty field was skipped")
            paths.append((number, labels))
        paths = _from_depths(paths, source)
        starts_open = bool(paths) and paths[0][1][-1] != ROOT
        for _, labels in paths:
            if labels[-1] != ROOT:
                labels.append(ROOT)
        return replace(
            cls.from_paths(paths, source=source), notes=tuple(notes), starts_open=starts_open
        )

    @classmethod
    def from_paths(
        cls, paths: Sequence[tuple[int, Sequence[str]]], *, source: str = "the hierarchy"
    ) -> Hierarchy:
        """Build the tree from numbered paths, each from a value up to ``*``.

        A label may be repeated upwards: it is one node, on as many levels.
        """
        parents: dict[str, tuple[str, int]] = {}
        holders: dict[str, int] = {}
        for number, written in paths:
            labels = [label for label, _ in groupby(written)]
            if ROOT in labels[:-1]:
                raise UserError(f"{source}, line {number}: {ROOT!r} may only end a line.")
            if len(set(labels)) < len(labels):
                twice = next(label for label in labels if labels.count(label) > 1)
                raise UserError(
                    f"{source}, line {number}: {from_data(twice)} stands above itself (a cycle); "
                    "every label may occur once on a line."
                )
            if len(labels) > 1:
                holders.setdefault(labels[0], number)
            for child, above in pairwise(labels):
                known, line = parents.setdefault(child, (above, number))
                if known != above:
                    raise UserError(
                        f"{source}: {from_data(child)} has two parents, {from_data(known)} "
                        f"(line {line}) and {from_data(above)} (line {number}); every "
                        "label needs exactly one."
                    )
        if not holders:
            raise UserError(f"{source} names no value; expected leaf;parent;…;* on each line.")
        tree = cls._number(parents, holders, source)
        lines = tuple((number, tuple(labels)) for number, labels in paths)
        return replace(tree, paths=lines, source=source)

    @classmethod
    def _number(
        cls, parents: Mapping[str, tuple[str, int]], holders: Mapping[str, int], source: str
    ) -> Hierarchy:
        children: dict[str, list[str]] = {}
        for child, (above, _) in parents.items():
            children.setdefault(above, []).append(child)
        for below in children.values():
            below.sort()
        labels: list[str] = []
        values: list[str | None] = []
        parent, first, last, value_node = [list[int]() for _ in range(4)]
        stack: list[tuple[str, int]] = [(ROOT, -1)]
        while stack:
            label, parent_node = stack.pop()
            node = len(labels)
            labels.append(label)
            parent.append(parent_node)
            first.append(len(values))
            last.append(len(values) if label in holders else -1)
            if label in holders:
                values.append(label)
                value_node.append(node)
            stack.extend((child, node) for child in reversed(children.get(label, [])))
        if len(labels) < len(parents) + 1:
            lost = next(label for label in parents if label not in set(labels))
            raise UserError(
                f"{source}, line {parents[lost][1]}: {from_data(lost)} never reaches {ROOT!r} (a "
                "cycle); follow its parents and break the circle."
            )
        for node in range(len(labels) - 1, -1, -1):  # children have larger numbers than parents
            if parent[node] >= 0:
                last[parent[node]] = max(last[parent[node]], last[node])
        return cls(
            tuple(labels),
            np.array(parent, np.int32),
            tuple(values),
            np.array(first, np.int32),
            np.array(last, np.int32),
            np.array(value_node, np.int32),
        )

    @cached_property
    def _node_of(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def code_of(self) -> dict[str | None, int]:
        """The position of every value in ``values``."""
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def level_nodes(self) -> NDArray[np.int32]:
        """The node of every value, level by level, from the values up to where all are ``*``.

        A level is a column of the lines, as ARX has it: a label that is repeated upwards stays for
        as many levels, and a value that reaches ``*`` before others stays there. Where lines
        repeat labels so that a level would divide what the one below it has merged, every value
        takes one step up the tree per level instead. The missing value stays apart.

        >>> tree = Hierarchy.from_lines(["a;A;A;*", "b;B1;B;*"])
        >>> [[tree.labels[node] for node in level] for level in tree.level_nodes]
        [['a', 'b'], ['A', 'B1'], ['A', 'B'], ['*', '*']]
        """
        lines: dict[str, Sequence[str]] = {}
        for _, labels in self.paths:
            lines.setdefault(labels[0], labels)
        found = self._levels(lines)
        for below, above in pairwise(found):
            merged, first = np.unique(below, return_index=True)
            if (above != above[first][np.searchsorted(merged, below)]).any():
                plain = {value: [key for key, _ in groupby(line)] for value, line in lines.items()}
                return self._levels(plain)
        return found

    def _levels(self, lines: Mapping[str, Sequence[str]]) -> NDArray[np.int32]:
        """Return the node of every value, level by level."""
        height = max(map(len, lines.values()))
        found = np.zeros((height, len(self.values)), np.int32)
        for code, value in enumerate(self.values):
            if value is None:
                found[:, code] = self.value_node[code]
            else:
                nodes = [self._node_of[label] for label in lines[value]]
                found[: len(nodes), code] = nodes
        return found

    def __contains__(self, label: object) -> bool:
        return label in self._node_of

    def node(self, label: str) -> int:
        """Return the number of the node with this label."""
        if label not in self._node_of:
            raise UserError(
                f"{from_data(label)} is not in the hierarchy"
                f"{did_you_mean(label, self.labels, from_data) or '.'}"
            )
        return self._node_of[label]

    def values_below(self, label: str) -> frozenset[str | None]:
        """Return the values that the node with this label stands for."""
        node = self.node(label)
        return frozenset(self.values[self.first[node] : self.last[node] + 1])

    def path_length(self, one: str, other: str) -> int:
        """Count the edges between two nodes (DIT v1, Section 3.3, Figure 2)."""
        a, b = self.node(one), self.node(other)
        length = 0
        while a != b:  # a child's number is larger than its parent's
            if a > b:
                a = int(self.parent[a])
            else:
                b = int(self.parent[b])
            length += 1
        return length

    def with_missing(self) -> Hierarchy:
        """Return the tree with one more value, the missing one, directly below the root.

        >>> Hierarchy.from_lines(["a;*", "b;*"]).with_missing().values
        ('a', 'b', None)
        """
        size, node = len(self.values), len(self.labels)
        label = "missing"
        while label in self:
            label += " value"
        last = np.append(self.last, np.int32(size))
        last[0] = size
        return replace(
            self,
            labels=(*self.labels, label),
            parent=np.append(self.parent, np.int32(0)),
            values=(*self.values, None),
            first=np.append(self.first, np.int32(size)),
            last=last,
            value_node=np.append(self.value_node, np.int32(node)),
        )

    def for_column(self, name: str, held: Collection[str | None]) -> Hierarchy:
        """Return the tree for a column whose records hold these values: without a header line.

        A first line is a header if no record holds its value and its cells are named like levels,
        or its first cell like the column, or if it stands apart from all other lines, most of which
        begin with a value that some record holds. ``notes`` say so, and count the other values
        that no record holds.

        >>> tree = Hierarchy.from_lines(["level0;level1", "Dancer;Artist", "Poet;Artist"])
        >>> tree.for_column("job", {"Dancer"}).notes
        ('the hierarchy, line 1: taken for a header, no value of the column',
         "1 of the 2 values in the hierarchy of 'job' is held by no record")
        """
        known = set(held)
        tree, notes = self, list(self.notes)
        if self._has_header(name, known):
            number, rest = self.paths[0][0], self.paths[1:]
            notes.append(
                f"{self.source}, line {number}: taken for a header, no value of the column"
            )
            tree = Hierarchy.from_paths(rest, source=self.source)
        absent = sum(value not in known for value in tree.values)
        if absent:
            notes.append(
                f"{absent:,} of the {len(tree.values):,} values in the hierarchy of {name!r} "
                f"{'is' if absent == 1 else 'are'} held by no record"
            )
        return replace(tree, notes=tuple(notes))

    def _has_header(self, name: str, held: Collection[str | None]) -> bool:
        """Tell whether the first line names the levels instead of a value."""
        if len(self.paths) < 2 or self.paths[0][1][0] in held:
            return False
        cells = [label for label in self.paths[0][1] if label != ROOT]
        others = [labels for _, labels in self.paths[1:]]
        if {label for line in others for label in line} & set(cells):
            return False
        if all(map(_LEVEL.fullmatch, cells)) or cells[0].casefold() == name.strip().casefold():
            return True
        found = sum(line[0] in held for line in others)
        return self.starts_open and len(cells) > 1 and 2 * found > len(others)


def _from_depths(lines: list[tuple[int, list[str]]], source: str) -> list[tuple[int, list[str]]]:
    """Turn lines of depth and label, as R's sdcHierarchies writes them, into paths up to ``*``.

    ``@`` is the total, ``@@`` stands below it, and so on; a label without any below it is a value.
    """
    deep = [len(labels) == 2 and set(labels[0]) == {"@"} for _, labels in lines]
    if not any(deep) or not all(deep[1:]):
        return lines
    rows = [(number, len(labels[0]), labels[1]) for number, labels in lines[not deep[0] :]]
    found, above = list[tuple[int, list[str]]](), list[str]()
    for place, (number, depth, label) in enumerate(rows):
        if depth > len(above) + 1 or (depth == 1) != (place == 0):
            raise UserError(
                f"{source}, line {number}: its depth does not follow from the line before; "
                "expected one total (@), and each label below its own (@@, @@@, …)."
            )
        above[depth - 1 :] = [label]
        ends = place + 1 == len(rows) or rows[place + 1][1] <= depth
        if ends and depth > 1:
            found.append((number, [*reversed(above[1:]), ROOT]))
    return found
