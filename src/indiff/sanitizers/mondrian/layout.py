"""Lays a table and its partition out for compiled code: few arrays, whole numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Table
from indiff.sanitizers.mondrian.constraints import Limits

ON_A_LINE, BY_TREE = 0, 1  # how an attribute is cut
RANGE, MEMBERS = 0, 1  # what a tight region covers: lowest to highest, or just the values held
LEAF = -1

# Columns of Problem.meta, Problem.trees and Tree.nodes.
CUT_BY, LABEL, POINTS, LEAVES, RANGE_AT = 0, 1, 2, 3, 4
FIRST, LAST, DEPTH = 0, 1, 2
START, END, ATTRIBUTE, CUT, CHILD, CHILDREN = 0, 1, 2, 3, 4, 5


class Problem(NamedTuple):
    """A table as compiled code sees it, in few arrays: each one costs time at every call.

    ``codes[a, r]`` is the place of record r's value among those of attribute a. ``meta[a]`` says
    how a is cut, what its tight regions cover, where its points begin in ``points`` and where its
    values begin in ``path``. ``trees`` has the first and last value and the depth of every node of
    every hierarchy; ``path`` the nodes above each value, root first. ``points`` ends with each
    attribute's range over the whole table (``meta[a, RANGE_AT]``), which widths are relative to.
    """

    codes: NDArray[np.int32]
    classes: NDArray[np.int32]
    class_count: np.int64
    tight: np.int64
    meta: NDArray[np.int64]
    points: NDArray[np.float64]
    trees: NDArray[np.int32]
    path: NDArray[np.int32]
    limits: Limits


class Tree(NamedTuple):
    """A partition of ``order``: one row of ``nodes`` for each group ever cut, or published.

    Columns: its segment of ``order``, the attribute and cut that were decided (LEAF if none), its
    first child and how many. ``low[node]`` and ``high[node]`` are the codes of its cut box, or,
    for a leaf with tight regions, of its region; ``own_low`` and ``own_high`` are the lowest and
    highest codes of its records. ``leaves`` lie in the order of their segments.
    """

    order: NDArray[np.int32]
    nodes: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    own_low: NDArray[np.int32]
    own_high: NDArray[np.int32]
    leaves: NDArray[np.int32]

    def groups(self, records: int) -> NDArray[np.int32]:
        """Return for each of the table's records the number of its leaf, from left to right."""
        leaves = self.nodes[self.leaves]
        numbers = np.arange(len(leaves), dtype=np.int32)
        groups = np.empty(records, np.int32)
        groups[self.order] = np.repeat(numbers, leaves[:, END] - leaves[:, START])
        return groups


def as_problem(table: Table, limits: Limits, *, tight: bool) -> Problem:
    """Lay a table out for compiled code."""
    attributes = table.attributes
    points = [attribute.points for attribute in attributes]
    trees, path, leaf_start = _lay_out_trees([a.hierarchy for a in attributes])
    meta = np.zeros((len(attributes), 5), np.int64)
    for place, a in enumerate(attributes):
        members = tight and a.kind == Kind.CATEGORICAL and a.hierarchy is None
        meta[place, CUT_BY] = BY_TREE if a.hierarchy is not None else ON_A_LINE
        meta[place, LABEL] = MEMBERS if members else RANGE
    meta[1:, POINTS] = np.cumsum([len(p) for p in points])[:-1]
    meta[:, LEAVES] = leaf_start
    meta[:, RANGE_AT] = sum(map(len, points)) + np.arange(len(attributes))
    problem = Problem(
        codes=np.ascontiguousarray(np.stack([a.codes for a in attributes])),
        classes=np.ascontiguousarray(table.sensitive.codes),
        class_count=np.int64(len(table.sensitive.values)),
        tight=np.int64(tight),
        meta=meta,
        points=np.concatenate([*points, np.zeros(len(attributes))]),
        trees=trees,
        path=path,
        limits=limits,
    )
    return relative_to(problem, *total_extremes(table))


def relative_to(problem: Problem, low: NDArray[np.int32], high: NDArray[np.int32]) -> Problem:
    """Return the problem of a table whose lowest and highest codes are these."""
    points, meta = problem.points.copy(), problem.meta
    for a in np.flatnonzero(meta[:, CUT_BY] == ON_A_LINE):
        if meta[a, POINTS] < meta[0, RANGE_AT]:  # not so in a table without records
            span = points[meta[a, POINTS] + high[a]] - points[meta[a, POINTS] + low[a]]
            points[meta[a, RANGE_AT]] = span
    return problem._replace(points=points)


def total_extremes(table: Table) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lowest and highest code of the whole table on each attribute."""
    low, high = [], []
    for a in table.attributes:
        codes = a.codes
        if a.has_missing and a.kind != Kind.CATEGORICAL:
            codes = codes[codes != a.missing_code]
        low.append(codes.min() if len(codes) else 0)
        high.append(codes.max() if len(codes) else 0)
    return np.array(low, np.int32), np.array(high, np.int32)


def _lay_out_trees(
    trees: list[Hierarchy | None],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number all trees' nodes one behind the other, every value with a leaf node of its own."""
    nodes: list[tuple[int, int, int]] = []  # first and last value, depth
    rows: list[list[int]] = []
    leaf_start = np.zeros(len(trees), np.int64)
    for place, tree in enumerate(trees):
        leaf_start[place] = len(rows)
        if tree is None:
            continue
        base = len(nodes)
        paths: list[list[int]] = []
        for node, above in enumerate(tree.parent):
            paths.append([*(paths[above] if above >= 0 else []), base + node])
            nodes.append((int(tree.first[node]), int(tree.last[node]), len(paths[-1]) - 1))
        for code, node in enumerate(tree.value_node):
            steps = paths[node]
            if tree.last[node] > tree.first[node]:  # a value that is an inner node as well
                steps = [*steps, len(nodes)]
                nodes.append((code, code, len(steps) - 1))
            rows.append(steps)
    deepest = max((len(steps) for steps in rows), default=1)
    path = np.full((max(1, len(rows)), deepest), -1, np.int32)
    for row, steps in enumerate(rows):
        path[row, : len(steps)] = steps
        path[row, len(steps) :] = steps[-1]
    return np.array(nodes or [(0, 0, 0)], np.int32), path, leaf_start
