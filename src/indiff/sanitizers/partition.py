"""Mondrian's partition of the records, compiled: one decision per group, one tree per table.

The rules are those of the class :class:`indiff.sanitizers.mondrian.Mondrian`; this file is the
same rules on integer codes. The leave-one-out engine uses the very same functions, so that a
release and a release without one record can never disagree about a rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.compiled import kernel
from indiff.hierarchy import Hierarchy
from indiff.sanitizers.constraints import Limits, meets
from indiff.schema import Kind
from indiff.table import Table

ON_A_LINE, BY_TREE = 0, 1  # how an attribute is cut
RANGE, MEMBERS = 0, 1  # what a tight region covers: lowest to highest, or just the values held
LEAF = -1


class Problem(NamedTuple):
    """A table as compiled code sees it.

    ``codes[a, r]`` is the place of record r's value among those of attribute a. Attribute a's
    points are ``points[point_start[a] : point_start[a + 1]]``. Trees of attributes with a
    hierarchy lie one behind the other; ``tree_start[a]`` is the number of a's root, ``leaf_start``
    where the ancestors of its values begin in ``path`` (one row per value, root first).
    """

    codes: NDArray[np.int32]
    classes: NDArray[np.int32]
    class_count: np.int64
    cut_by: NDArray[np.int32]
    label: NDArray[np.int32]
    tight: np.int64
    points: NDArray[np.float64]
    point_start: NDArray[np.int64]
    tree_first: NDArray[np.int32]
    tree_last: NDArray[np.int32]
    tree_depth: NDArray[np.int32]
    path: NDArray[np.int32]
    leaf_start: NDArray[np.int64]
    limits: Limits


class Tree(NamedTuple):
    """A partition: nodes with their segment of ``order``, cut, children and region (as codes)."""

    order: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    attribute: NDArray[np.int32]
    cut: NDArray[np.int32]
    child: NDArray[np.int32]
    children: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    leaves: NDArray[np.int32]


def as_problem(table: Table, limits: Limits, *, tight: bool) -> Problem:
    """Lay a table out for compiled code."""
    attributes = table.attributes
    points = [attribute.points for attribute in attributes]
    first, last, depth, path, leaf_start = _lay_out_trees([a.hierarchy for a in attributes])
    return Problem(
        codes=np.ascontiguousarray(np.stack([a.codes for a in attributes])),
        classes=np.ascontiguousarray(table.sensitive.codes),
        class_count=np.int64(len(table.sensitive.values)),
        cut_by=np.array([BY_TREE if a.hierarchy else ON_A_LINE for a in attributes], np.int32),
        label=np.array(
            [
                MEMBERS if tight and a.kind == Kind.CATEGORICAL and not a.hierarchy else RANGE
                for a in attributes
            ],
            np.int32,
        ),
        tight=np.int64(tight),
        points=np.concatenate(points),
        point_start=np.cumsum([0, *(len(p) for p in points)]).astype(np.int64),
        tree_first=first,
        tree_last=last,
        tree_depth=depth,
        path=path,
        leaf_start=leaf_start,
        limits=limits,
    )


def _lay_out_trees(
    trees: list[Hierarchy | None],
) -> tuple[Any, Any, Any, Any, NDArray[np.int64]]:
    """Number all trees' nodes one behind the other, every value with a leaf node of its own."""
    first: list[int] = []
    last: list[int] = []
    depth: list[int] = []
    rows: list[list[int]] = []
    leaf_start = np.zeros(len(trees), np.int64)
    for place, tree in enumerate(trees):
        leaf_start[place] = len(rows)
        if tree is None:
            continue
        base = len(first)
        paths: list[list[int]] = []
        for node, above in enumerate(tree.parent):
            paths.append([*(paths[above] if above >= 0 else []), base + node])
        first.extend(int(value) for value in tree.first)
        last.extend(int(value) for value in tree.last)
        depth.extend(len(steps) - 1 for steps in paths)
        for code, node in enumerate(tree.value_node):
            steps = paths[node]
            if tree.last[node] > tree.first[node]:  # a value that is an inner node as well
                steps = [*steps, len(first)]
                first.append(code)
                last.append(code)
                depth.append(len(steps) - 1)
            rows.append(steps)
    deepest = max((len(steps) for steps in rows), default=1)
    path = np.full((max(1, len(rows)), deepest), -1, np.int32)
    for row, steps in enumerate(rows):
        path[row, : len(steps)] = steps
        path[row, len(steps) :] = steps[-1]
    pad = [0] if not first else first
    return (
        np.array(pad, np.int32),
        np.array([0] if not last else last, np.int32),
        np.array([0] if not depth else depth, np.int32),
        path,
        leaf_start,
    )


@kernel
def lowest_common(problem: Any, a: Any, low: Any, high: Any) -> Any:
    """The lowest tree node of attribute a above every code from ``low`` to ``high``."""
    row = problem.leaf_start[a]
    level = problem.path.shape[1] - 1
    node = problem.path[row + low, level]
    while problem.tree_last[node] < high or problem.tree_first[node] > low:
        level -= 1
        node = problem.path[row + low, level]
    return node


@kernel
def child_at(problem: Any, a: Any, node: Any, code: Any) -> Any:
    """The child of ``node`` above ``code``."""
    return problem.path[problem.leaf_start[a] + code, problem.tree_depth[node] + 1]


@kernel
def width(problem: Any, a: Any, low: Any, high: Any, total_low: Any, total_high: Any) -> Any:
    """A group's width on attribute a, relative to that of the whole table."""
    if problem.cut_by[a] == BY_TREE:
        node = lowest_common(problem, a, low, high)
        root = problem.path[problem.leaf_start[a], 0]
        leaves = problem.tree_last[node] - problem.tree_first[node] + 1
        return leaves / (problem.tree_last[root] - problem.tree_first[root] + 1)
    base = problem.point_start[a]
    span = problem.points[base + total_high] - problem.points[base + total_low]
    if span <= 0.0:
        return 0.0
    return (problem.points[base + high] - problem.points[base + low]) / span


@kernel
def widest_first(widths: Any, ranking: Any) -> Any:
    """Write the attributes from widest to narrowest, first listed first among equals."""
    d = widths.shape[0]
    for place in range(d):
        ranking[place] = place
    for place in range(1, d):
        a = ranking[place]
        spot = place
        while spot > 0 and widths[ranking[spot - 1]] < widths[a]:
            ranking[spot] = ranking[spot - 1]
            spot -= 1
        ranking[spot] = a


@kernel
def extremes(problem: Any, order: Any, start: Any, end: Any, low: Any, high: Any) -> Any:
    """Write the lowest and highest code of a group on every attribute."""
    for a in range(problem.codes.shape[0]):
        row = problem.codes[a]
        smallest = largest = row[order[start]]
        for place in range(start + 1, end):
            code = row[order[place]]
            smallest = min(smallest, code)
            largest = max(largest, code)
        low[a], high[a] = smallest, largest


@kernel
def nth_smallest(values: Any, size: Any, rank: Any) -> Any:
    """The ``rank``-th smallest (from 1) of ``values[:size]``, which is rearranged."""
    left, right, place = 0, size - 1, rank - 1
    while left < right:
        middle = (left + right) // 2
        if values[middle] < values[left]:
            values[middle], values[left] = values[left], values[middle]
        if values[right] < values[left]:
            values[right], values[left] = values[left], values[right]
        if values[right] < values[middle]:
            values[right], values[middle] = values[middle], values[right]
        pivot = values[middle]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            right = j
        elif place >= i:
            left = i
        else:
            return values[place]
    return values[place]


@kernel
def cut_rank(size: Any) -> Any:
    """Which order statistic cuts a group: the max(1, m // 2)-th smallest value."""
    return max(1, size // 2)


@kernel
def group_counts(problem: Any, order: Any, start: Any, end: Any, counts: Any) -> Any:
    """Count the sensitive values of a group."""
    counts[:] = 0
    for place in range(start, end):
        counts[problem.classes[order[place]]] += 1


@kernel
def line_cut(problem: Any, order: Any, start: Any, end: Any, a: Any, totals: Any, work: Any) -> Any:
    """The cut of attribute a, or −1 where it is not allowed."""
    size = end - start
    row = problem.codes[a]
    for place in range(size):
        work[place] = row[order[start + place]]
    cut = nth_smallest(work, size, cut_rank(size))
    counts = np.zeros(problem.class_count, np.int64)
    left = 0
    for place in range(start, end):
        if row[order[place]] <= cut:
            counts[problem.classes[order[place]]] += 1
            left += 1
    if left == size or not meets(counts, left, problem.limits):
        return -1
    if not meets(totals - counts, size - left, problem.limits):
        return -1
    return cut


@kernel
def tree_cut_allowed(problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any) -> Any:
    """Whether the parts below the children of ``node`` are several and all meet the limits."""
    first = problem.tree_first[node]
    row = problem.codes[a]
    spread = problem.tree_last[node] - first + 1
    counts = np.zeros((spread, problem.class_count), np.int64)
    sizes = np.zeros(spread, np.int64)
    for place in range(start, end):
        record = order[place]
        part = problem.tree_first[child_at(problem, a, node, row[record])] - first
        counts[part, problem.classes[record]] += 1
        sizes[part] += 1
    parts = 0
    for part in range(spread):
        if sizes[part] > 0:
            parts += 1
            if not meets(counts[part], sizes[part], problem.limits):
                return False
    return parts > 1


@kernel
def decide(
    problem: Any, order: Any, start: Any, end: Any, low: Any, high: Any,
    total_low: Any, total_high: Any, work: Any,
) -> Any:  # fmt: skip
    """Decide a group: (attribute, cut code or tree node), or (LEAF, 0); writes its extremes."""
    d = problem.codes.shape[0]
    extremes(problem, order, start, end, low, high)
    widths = np.empty(d, np.float64)
    ranking = np.empty(d, np.int32)
    for a in range(d):
        widths[a] = width(problem, a, low[a], high[a], total_low[a], total_high[a])
    if end - start < 2 * problem.limits.k or end - start < 2:
        return LEAF, 0
    widest_first(widths, ranking)
    totals = np.zeros(problem.class_count, np.int64)
    group_counts(problem, order, start, end, totals)
    for place in range(d):
        a = ranking[place]
        if low[a] == high[a]:
            continue
        if problem.cut_by[a] == BY_TREE:
            node = lowest_common(problem, a, low[a], high[a])
            if tree_cut_allowed(problem, order, start, end, a, node):
                return a, node
        else:
            cut = line_cut(problem, order, start, end, a, totals, work)
            if cut >= 0:
                return a, cut
    return LEAF, 0


@kernel
def split_on_line(codes: Any, order: Any, start: Any, end: Any, cut: Any, work: Any) -> Any:
    """Reorder a group so that codes up to ``cut`` come first, each side in its old order."""
    left, right = start, 0
    for place in range(start, end):
        record = order[place]
        if codes[record] <= cut:
            order[left] = record
            left += 1
        else:
            work[right] = record
            right += 1
    for place in range(right):
        order[left + place] = work[place]
    return left


@kernel
def split_by_tree(
    problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any, ends: Any, work: Any
) -> Any:
    """Reorder a group by the children of ``node``; write where each part ends; count the parts."""
    first = problem.tree_first[node]
    spread = problem.tree_last[node] - first + 1
    row = problem.codes[a]
    sizes = np.zeros(spread + 1, np.int64)
    for place in range(start, end):
        child = child_at(problem, a, node, row[order[place]])
        sizes[problem.tree_first[child] - first + 1] += 1
    parts = 0
    for part in range(spread):
        if sizes[part + 1] > 0:
            ends[parts] = start + sizes[part] + sizes[part + 1]
            parts += 1
        sizes[part + 1] += sizes[part]
    for place in range(start, end):
        work[place - start] = order[place]
    for place in range(end - start):
        record = work[place]
        part = problem.tree_first[child_at(problem, a, node, row[record])] - first
        order[start + sizes[part]] = record
        sizes[part] += 1
    return parts


@kernel
def grow(
    problem: Any, order: Any, box_low: Any, box_high: Any, total_low: Any, total_high: Any
) -> Any:
    """Partition ``order`` (rearranged in place) from one root whose cut box is given."""
    n, d = order.shape[0], problem.codes.shape[0]
    room = 2 * (n // max(1, problem.limits.k)) + 3
    start = np.empty(room, np.int32)
    end = np.empty(room, np.int32)
    attribute = np.full(room, LEAF, np.int32)
    cut = np.zeros(room, np.int32)
    child = np.zeros(room, np.int32)
    children = np.zeros(room, np.int32)
    low = np.empty((room, d), np.int32)
    high = np.empty((room, d), np.int32)
    leaves = np.empty(room, np.int32)
    stack = np.empty(room, np.int32)
    work = np.empty(n, np.int32)
    ends = np.empty(problem.path.shape[0] + 1, np.int32)
    own_low = np.empty(d, np.int32)
    own_high = np.empty(d, np.int32)
    start[0], end[0] = 0, n
    low[0], high[0] = box_low, box_high
    nodes, leaf_count, depth = 1, 0, 1
    stack[0] = 0
    if n == 0:
        depth = nodes = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        s, e = start[node], end[node]
        a, key = decide(problem, order, s, e, own_low, own_high, total_low, total_high, work)
        attribute[node] = a
        if a == LEAF:
            leaves[leaf_count] = node
            leaf_count += 1
            if problem.tight:
                write_tight(problem, own_low, own_high, low[node], high[node])
            continue
        cut[node] = key
        child[node] = nodes
        if problem.cut_by[a] == BY_TREE:
            parts = split_by_tree(problem, order, s, e, a, key, ends, work)
        else:
            ends[0] = split_on_line(problem.codes[a], order, s, e, key, work)
            ends[1] = e
            parts = 2
        children[node] = parts
        place = s
        for part in range(parts):
            new = nodes + part
            start[new], end[new] = place, ends[part]
            low[new], high[new] = low[node], high[node]
            narrow(problem, a, key, part, order[place], low[new], high[new])
            place = ends[part]
        nodes += parts
        for part in range(parts - 1, -1, -1):
            stack[depth] = nodes - parts + part
            depth += 1
    return Tree(
        order, start[:nodes], end[:nodes], attribute[:nodes], cut[:nodes], child[:nodes],
        children[:nodes], low[:nodes], high[:nodes], leaves[:leaf_count],
    )  # fmt: skip


@kernel
def narrow(problem: Any, a: Any, key: Any, part: Any, record: Any, low: Any, high: Any) -> Any:
    """Narrow a cut box to the part of a cut in which ``record`` lies."""
    if problem.cut_by[a] == BY_TREE:
        node = child_at(problem, a, key, problem.codes[a, record])
        low[a], high[a] = problem.tree_first[node], problem.tree_last[node]
    elif part == 0:
        high[a] = key
    else:
        low[a] = key + 1


@kernel
def write_tight(problem: Any, own_low: Any, own_high: Any, low: Any, high: Any) -> Any:
    """Write the tight region: the group's extremes, or its tree node."""
    for a in range(problem.codes.shape[0]):
        low[a], high[a] = own_low[a], own_high[a]
        if problem.cut_by[a] == BY_TREE:
            node = lowest_common(problem, a, own_low[a], own_high[a])
            low[a], high[a] = problem.tree_first[node], problem.tree_last[node]
