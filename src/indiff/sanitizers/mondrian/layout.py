"""Lays a table, the limits on its groups and its partition out for compiled code.

A group is described by how many of its records hold each sensitive value; one compiled check
serves every combination of limits: k-anonymity (Samarati and Sweeney 1998), ℓ-diversity in the
papers' form (no value holds more than 1/ℓ of a group; DIT v2, Section 4.2.1) and in the distinct,
entropy and recursive forms (Machanavajjhala et al. 2007), t-closeness (Li et al. 2007).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Sensitive, Table
from indiff.kernels import inline, inner, kernel

# Rounding may not turn an exactly met limit into a failure; integer counts cannot come this close.
SLACK = 1e-12

GROUND_EQUAL, GROUND_ORDERED, GROUND_TREE = 0, 1, 2

ON_A_LINE, BY_TREE = 0, 1  # how an attribute is cut
RANGE, MEMBERS = 0, 1  # what a tight region covers: lowest to highest, or just the values held
LEAF = -1

# Columns of Problem.meta, Problem.trees and Tree.nodes.
CUT_BY, LABEL, POINTS, LEAVES, RANGE_AT = 0, 1, 2, 3, 4
FIRST, LAST, DEPTH, NEXT, PARTS = 0, 1, 2, 3, 4
START, END, ATTRIBUTE, CUT, CHILD, CHILDREN, SURE = 0, 1, 2, 3, 4, 5, 6

# Bits of Tree.nodes[node, SURE]: 1 << a for an attribute, of as many as fit, and one for the whole.
MOST_BITS = 30
STEADY = 1 << MOST_BITS


class Limits(NamedTuple):
    """What every group must satisfy; 0 (or 2 for ``t``) switches a limit off.

    ``more`` tells whether any limit beyond k and l is on.
    """

    k: np.int64
    l: np.int64  # noqa: E741 - the literature's name
    more: np.int64
    distinct_l: np.int64
    log_entropy_l: np.float64
    recursive_c: np.float64
    recursive_l: np.int64
    t: np.float64
    reference: NDArray[np.float64]
    ground: np.int64
    tree_parent: NDArray[np.int32]
    tree_height: NDArray[np.float64]
    tree_node: NDArray[np.int32]


def ground_distance(
    sensitive: Sensitive,
) -> tuple[np.int64, NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Choose what t-closeness measures with: the hierarchy's levels, ranks over m − 1, or 0/1.

    Of a hierarchy it returns each node's parent and height above the deepest value below it, over
    the root's (Li et al. 2007, Section 5), and each value's node.
    """
    tree = sensitive.hierarchy
    if tree is None:
        ordered = sensitive.kind in (Kind.NUMERIC, Kind.ORDINAL)
        kind = np.int64(GROUND_ORDERED if ordered else GROUND_EQUAL)
        return kind, np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.int32)
    height = np.zeros(len(tree.labels))
    for node in range(len(tree.labels) - 1, 0, -1):
        above = tree.parent[node]
        height[above] = max(height[above], height[node] + 1)
    nodes = [tree.value_node[tree.code_of[value]] for value in sensitive.values]
    height /= max(1.0, height[0])
    return np.int64(GROUND_TREE), tree.parent, height, np.array(nodes, np.int32)


class Problem(NamedTuple):
    """A table as compiled code sees it, in few arrays: each one costs time at every call.

    ``codes[a, r]`` is the place of record r's value among those of attribute a. ``meta[a]`` says
    how a is cut, what its tight regions cover, where its points begin in ``points`` and where its
    values begin in ``path``. ``trees`` has the first and last value, the depth, the first child and
    the number of children of every node of every hierarchy: children are numbered one behind the
    other, in the order of their values. ``path`` has the nodes above each value, root first.
    ``points`` ends with each attribute's range over the whole table (``meta[a, RANGE_AT]``), which
    widths are relative to.
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
    first child and how many, and what is sure of the group without any one of its records: on
    which attributes it is never cut, and whether its decision is STEADY. ``low[node]`` and
    ``high[node]`` are the codes of its cut box, or, for a leaf with tight regions, of its region;
    ``own_low`` and ``own_high`` are codes between which its records lie, and of a leaf the lowest
    and highest. ``leaves`` lie in the order of their segments.
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


def no_tree(attributes: int) -> Tree:
    """Return a partition of nothing."""
    box, none = np.empty((0, attributes), np.int32), np.empty(0, np.int32)
    return Tree(none, np.empty((0, SURE + 1), np.int32), box, box, box, box, none)


def as_problem(table: Table, limits: Limits, *, tight: bool) -> Problem:
    """Lay a table out for compiled code."""
    attributes = table.attributes
    points = [attribute.points for attribute in attributes]
    trees, path, leaf_start = _lay_out_trees(tuple(a.hierarchy for a in attributes))
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


@lru_cache(maxsize=16)  # of the same few hierarchies, record after record
def _lay_out_trees(
    trees: tuple[Hierarchy | None, ...],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number all trees' nodes level by level, every value with a leaf node of its own."""
    nodes: list[tuple[int, int, int, int, int]] = []
    rows: list[tuple[int, ...]] = []
    leaf_start = np.zeros(len(trees), np.int64)
    for place, tree in enumerate(trees):
        leaf_start[place] = len(rows)
        if tree is None:
            continue
        first, last, above = tree.first.tolist(), tree.last.tolist(), tree.parent.tolist()
        own = dict(enumerate(tree.value_node.tolist()))
        for code, node in own.items():
            if last[node] > first[node]:  # a value that is an inner node as well
                own[code] = len(first)
                first, last, above = [*first, code], [*last, code], [*above, node]
        below: list[list[int]] = [[] for _ in first]
        for node in sorted(range(1, len(first)), key=first.__getitem__):
            below[above[node]].append(node)
        base, queue = len(nodes), [0]
        steps: dict[int, tuple[int, ...]] = {0: (base,)}
        for node in queue:  # which grows
            depth, after = len(steps[node]) - 1, base + len(queue)
            nodes.append((first[node], last[node], depth, after, len(below[node])))
            steps |= {n: (*steps[node], after + part) for part, n in enumerate(below[node])}
            queue += below[node]
        rows += [steps[own[code]] for code in range(len(own))]
    deepest = max(map(len, rows), default=1)
    path = np.empty((max(1, len(rows)), deepest), np.int32)
    for row, way in enumerate(rows or [(-1,)]):
        path[row] = *way, *way[-1:] * (deepest - len(way))
    return np.array(nodes or [(0, 0, 0, 0, 0)], np.int32), path, leaf_start


@inline
def fits(counts: Any, size: Any, k: Any, l: Any) -> Any:  # noqa: E741 - the literature's name
    """Tell whether a group satisfies k-anonymity and the papers' ℓ-diversity."""
    if size < k or size < 1:
        return False
    if l > 1:
        for c in range(counts.shape[0]):
            if counts[c] * l > size:
                return False
    return True


@kernel
def meets(counts: Any, size: Any, limits: Any) -> Any:
    """Tell whether a group with these counts of sensitive values satisfies every limit."""
    if not fits(counts, size, limits.k, limits.l):
        return False
    return not limits.more or meets_more(counts, size, limits)


@inner
def meets_more(counts: Any, size: Any, limits: Any) -> Any:
    """Tell whether a group satisfies the limits beyond k and l."""
    if limits.distinct_l > 1:
        distinct = 0
        for c in range(counts.shape[0]):
            if counts[c] > 0:
                distinct += 1
        if distinct < limits.distinct_l:
            return False
    if limits.log_entropy_l > 0.0 and entropy(counts, size) < limits.log_entropy_l - SLACK:
        return False
    if limits.recursive_l > 0 and not recursive_diverse(counts, limits):
        return False
    return not (limits.t < 1.0 and closeness(counts, size, limits) > limits.t + SLACK)


@inline
def entropy(counts: Any, size: Any) -> Any:
    """Entropy of the sensitive values of a group, in nats."""
    total = 0.0
    for c in range(counts.shape[0]):
        if counts[c] > 0:
            p = counts[c] / size
            total -= p * math.log(p)
    return total


@inline
def recursive_diverse(counts: Any, limits: Any) -> Any:
    """r₁ < c (r_ℓ + … + r_m), the counts in descending order."""
    left, tail, largest = np.empty(counts.shape[0], np.int64), 0, 0
    for c in range(counts.shape[0]):
        left[c] = counts[c]
        tail += counts[c]
        largest = max(largest, counts[c])
    for _ in range(limits.recursive_l - 1):  # take away the ℓ − 1 most common values
        most = 0
        for c in range(left.shape[0]):
            if left[c] > left[most]:
                most = c
        tail -= left[most]
        left[most] = 0
    return largest < limits.recursive_c * tail


@inline
def closeness(counts: Any, size: Any, limits: Any) -> Any:
    """Earth mover's distance from a group's sensitive values to the whole table's."""
    m = counts.shape[0]
    if limits.ground == GROUND_ORDERED:
        if m < 2:
            return 0.0
        carried, total = 0.0, 0.0
        for c in range(m - 1):
            carried += counts[c] / size - limits.reference[c]
            total += abs(carried)
        return total / (m - 1)
    if limits.ground == GROUND_TREE:
        nodes = limits.tree_parent.shape[0]
        extra = np.zeros(nodes)
        surplus = np.zeros(nodes)
        lack = np.zeros(nodes)
        for c in range(m):
            # A value that is an inner node is a leaf of its own below that node.
            own = counts[c] / size - limits.reference[c]
            node = limits.tree_node[c]
            extra[node] += own
            surplus[node] += max(own, 0.0)
            lack[node] += max(-own, 0.0)
        total = 0.0
        for node in range(nodes - 1, -1, -1):
            total += limits.tree_height[node] * min(surplus[node], lack[node])
            above = limits.tree_parent[node]
            if above >= 0:
                extra[above] += extra[node]
                surplus[above] += max(extra[node], 0.0)
                lack[above] += max(-extra[node], 0.0)
        return total
    total = 0.0
    for c in range(m):
        total += abs(counts[c] / size - limits.reference[c])
    return 0.5 * total
