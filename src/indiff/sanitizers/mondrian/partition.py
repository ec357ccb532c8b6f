"""Cuts groups of records as the class ``Mondrian`` says, compiled, on integer codes.

The leave-one-out engine uses the very same functions, so that a release and a release without one
record can never disagree about a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.kernels import borrow, kernel
from indiff.sanitizers.mondrian.layout import (
    ATTRIBUTE,
    BY_TREE,
    CHILD,
    CHILDREN,
    CUT,
    CUT_BY,
    DEPTH,
    END,
    FIRST,
    LAST,
    LEAF,
    LEAVES,
    POINTS,
    RANGE_AT,
    START,
    Tree,
    meets,
)


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
def nth_between(values: Any, size: Any, rank: Any, low: Any, high: Any, bins: Any) -> Any:
    """The same for values from ``low`` to ``high``: counted where few differ, which is faster."""
    spread = high - low + 1
    if spread > 2 * size:
        return nth_smallest(values, size, rank)
    for bin in range(spread):
        bins[bin] = 0
    for place in range(size):
        bins[values[place] - low] += 1
    seen = 0
    for bin in range(spread):
        seen += bins[bin]
        if seen >= rank:
            return np.int32(low + bin)
    return np.int32(high)


@kernel
def cut_rank(size: Any) -> Any:
    """Which order statistic cuts a group: the max(1, m // 2)-th smallest value."""
    return max(1, size // 2)


# Arrays go into these functions one by one: handing a whole Problem to a function that runs once
# per record or per small group costs more than what the function does.


@kernel
def top_node(path: Any, trees: Any, row: Any, low: Any, high: Any) -> Any:
    """The lowest tree node above every code from ``low`` to ``high``; ``row`` is the tree's."""
    level = path.shape[1] - 1
    node = path[row + low, level]
    while trees[node, LAST] < high or trees[node, FIRST] > low:
        level -= 1
        node = path[row + low, level]
    return node


@kernel
def tree_width(path: Any, trees: Any, row: Any, low: Any, high: Any) -> Any:
    """The leaves under a group's tree node over all leaves."""
    node, root = top_node(path, trees, row, low, high), path[row, 0]
    return (trees[node, LAST] - trees[node, FIRST] + 1) / (trees[root, LAST] + 1)


@kernel
def line_width(points: Any, base: Any, span: Any, low: Any, high: Any) -> Any:
    """A group's highest minus lowest point over that of the whole table."""
    return (points[base + high] - points[base + low]) / span if span > 0.0 else 0.0


@kernel
def group_widths(
    meta: Any, points: Any, path: Any, trees: Any, low: Any, high: Any, widths: Any
) -> Any:
    """Write how wide a group is on each attribute; its codes go from ``low`` to ``high``."""
    for a in range(meta.shape[0]):
        if meta[a, CUT_BY] == BY_TREE:
            widths[a] = tree_width(path, trees, meta[a, LEAVES], low[a], high[a])
        else:
            span = points[meta[a, RANGE_AT]]
            widths[a] = line_width(points, meta[a, POINTS], span, low[a], high[a])


@kernel
def widest_first(widths: Any, ranking: Any) -> Any:
    """Write the attributes from widest to narrowest, first listed first among equals."""
    for place in range(widths.shape[0]):
        a = place
        spot = place
        while spot > 0 and widths[ranking[spot - 1]] < widths[a]:
            ranking[spot] = ranking[spot - 1]
            spot -= 1
        ranking[spot] = a


@kernel
def group_counts(classes: Any, order: Any, start: Any, end: Any, counts: Any) -> Any:
    """Count the sensitive values of a group."""
    counts[:] = 0
    for place in range(start, end):
        counts[classes[order[place]]] += 1


@kernel
def line_cut(
    codes: Any, classes: Any, order: Any, start: Any, end: Any, low: Any, high: Any, limits: Any,
    totals: Any, counts: Any, others: Any, work: Any, bins: Any,
) -> Any:  # fmt: skip
    """The cut of a group on an attribute with these codes, or −1 where it is not allowed."""
    size = end - start
    for place in range(size):
        work[place] = codes[order[start + place]]
    cut = nth_between(work, size, cut_rank(size), low, high, bins)
    left = 0
    for place in range(size):
        left += work[place] <= cut
    if left == size or left < limits.k or size - left < limits.k:
        return -1
    if limits.l > 1 or limits.more:
        counts[:] = 0
        for place in range(start, end):
            record = order[place]
            if codes[record] <= cut:
                counts[classes[record]] += 1
        for c in range(totals.shape[0]):
            others[c] = totals[c] - counts[c]
        if not (meets(counts, left, limits) and meets(others, size - left, limits)):
            return -1
    return cut


@kernel
def tree_cut(problem: Any, a: Any, order: Any, start: Any, end: Any, node: Any, sizes: Any) -> Any:
    """Whether a group may be cut into the children of its node: several parts, all allowed."""
    codes, classes, limits = problem.codes[a], problem.classes, problem.limits
    path, trees, row = problem.path, problem.trees, problem.meta[a, LEAVES]
    level, offset = trees[node, DEPTH] + 1, trees[node, FIRST]
    spread = trees[node, LAST] - offset + 1
    sizes[:spread] = 0
    for place in range(start, end):
        sizes[trees[path[row + codes[order[place]], level], FIRST] - offset] += 1
    parts = 0
    for part in range(spread):
        if sizes[part] > 0:
            parts += 1
            if sizes[part] < limits.k:
                return False
    if parts < 2 or not (limits.l > 1 or limits.more):
        return parts > 1
    counts = np.zeros((spread, problem.class_count), np.int64)
    for place in range(start, end):
        record = order[place]
        part = trees[path[row + codes[record], level], FIRST] - offset
        counts[part, classes[record]] += 1
    for part in range(spread):
        if sizes[part] > 0 and not meets(counts[part], sizes[part], limits):
            return False
    return True


@kernel
def decide(
    problem: Any, order: Any, start: Any, end: Any, low: Any, high: Any, widths: Any,
    ranking: Any, totals: Any, counts: Any, others: Any, work: Any, bins: Any, spread: Any,
) -> Any:  # fmt: skip
    """Decide a group: (attribute, cut code or tree node), or (LEAF, 0); writes its extremes."""
    d = problem.codes.shape[0]
    for a in range(d):
        codes = problem.codes[a]
        smallest = largest = codes[order[start]]
        for place in range(start + 1, end):
            code = codes[order[place]]
            smallest = min(smallest, code)
            largest = max(largest, code)
        low[a], high[a] = smallest, largest
    limits = problem.limits
    if end - start < 2 * limits.k or end - start < 2:
        return LEAF, 0
    group_widths(problem.meta, problem.points, problem.path, problem.trees, low, high, widths)
    widest_first(widths, ranking)
    if limits.l > 1 or limits.more:
        group_counts(problem.classes, order, start, end, totals)
    for place in range(d):
        a = ranking[place]
        if low[a] == high[a]:
            continue
        if problem.meta[a, CUT_BY] == BY_TREE:
            row = problem.meta[a, LEAVES]
            node = top_node(problem.path, problem.trees, row, low[a], high[a])
            if tree_cut(problem, a, order, start, end, node, spread):
                return a, node
        else:
            cut = line_cut(
                problem.codes[a], problem.classes, order, start, end, low[a], high[a], limits,
                totals, counts, others, work, bins,
            )  # fmt: skip
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
    offset = problem.trees[node, FIRST]
    spread = problem.trees[node, LAST] - offset + 1
    row, level = problem.meta[a, LEAVES], problem.trees[node, DEPTH] + 1
    codes, path, trees = problem.codes[a], problem.path, problem.trees
    sizes = np.zeros(spread + 1, np.int64)
    for place in range(start, end):
        sizes[trees[path[row + codes[order[place]], level], FIRST] - offset + 1] += 1
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
        part = trees[path[row + codes[record], level], FIRST] - offset
        order[start + sizes[part]] = record
        sizes[part] += 1
    return parts


@kernel
def narrow(problem: Any, a: Any, key: Any, part: Any, record: Any, low: Any, high: Any) -> Any:
    """Narrow a cut box to the part of a cut in which ``record`` lies."""
    if problem.meta[a, CUT_BY] == BY_TREE:
        row = problem.meta[a, LEAVES] + problem.codes[a, record]
        node = problem.path[row, problem.trees[key, DEPTH] + 1]
        low[a], high[a] = problem.trees[node, FIRST], problem.trees[node, LAST]
    elif part == 0:
        high[a] = key
    else:
        low[a] = key + 1


@kernel
def grow(problem: Any, order: Any, root_end: Any, root_low: Any, root_high: Any) -> Any:
    """Partition ``order`` (rearranged in place) from one or more roots.

    Root j is the segment that ends at ``root_end[j]`` and starts where the one before it ends;
    ``root_low[j]`` and ``root_high[j]`` are its cut box. Roots are nodes 0, 1, …, and a node's
    number is smaller than its children's.
    """
    n, d, roots = order.shape[0], problem.codes.shape[0], root_end.shape[0]
    room = 2 * (n // max(1, problem.limits.k)) + 2 * roots + 3
    tree, leaves = np.zeros((room, 6), np.int32), np.empty(room, np.int32)
    low, high = np.empty((room, d), np.int32), np.empty((room, d), np.int32)
    own_low, own_high = np.empty((room, d), np.int32), np.empty((room, d), np.int32)
    nodes, leaf_count = fill(
        problem, order, root_end, root_low, root_high, tree, low, high, own_low, own_high, leaves
    )
    return Tree(
        order, tree[:nodes], low[:nodes], high[:nodes], own_low[:nodes], own_high[:nodes],
        leaves[:leaf_count],
    )  # fmt: skip


@kernel
def fill(
    problem: Any, order: Any, root_end: Any, root_low: Any, root_high: Any, tree: Any, low: Any,
    high: Any, own_low: Any, own_high: Any, leaves: Any,
) -> Any:  # fmt: skip
    """Write the nodes of a partition into the room made for them; count nodes and leaves."""
    problem, order, tree = borrow(problem), borrow(order), borrow(tree)
    low, high, own_low, own_high = borrow(low), borrow(high), borrow(own_low), borrow(own_high)
    leaves = borrow(leaves)
    n, d, roots = order.shape[0], problem.codes.shape[0], root_end.shape[0]
    stack = np.empty(tree.shape[0], np.int32)
    work, bins = np.empty(n, np.int32), np.empty(2 * n, np.int32)
    ends = np.empty(problem.path.shape[0] + 2, np.int32)
    spread = np.empty(problem.path.shape[0], np.int32)
    widths, ranking = np.empty(d, np.float64), np.empty(d, np.int32)
    totals = np.zeros(problem.class_count, np.int64)
    counts = np.zeros(problem.class_count, np.int64)
    others = np.zeros(problem.class_count, np.int64)
    nodes, leaf_count, depth = roots, 0, 0
    for root in range(roots - 1, -1, -1):
        tree[root, START] = root_end[root - 1] if root > 0 else 0
        tree[root, END] = root_end[root]
        low[root], high[root] = root_low[root], root_high[root]
        if tree[root, END] > tree[root, START]:
            stack[depth] = root
            depth += 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        s, e = tree[node, START], tree[node, END]
        a, key = decide(
            problem, order, s, e, own_low[node], own_high[node], widths, ranking, totals, counts,
            others, work, bins, spread,
        )  # fmt: skip
        tree[node, ATTRIBUTE] = a
        if a == LEAF:
            leaves[leaf_count] = node
            leaf_count += 1
            if problem.tight:
                for b in range(d):
                    low[node, b], high[node, b] = own_low[node, b], own_high[node, b]
                    if problem.meta[b, CUT_BY] == BY_TREE:
                        top = top_node(
                            problem.path, problem.trees, problem.meta[b, LEAVES],
                            own_low[node, b], own_high[node, b],
                        )  # fmt: skip
                        low[node, b] = problem.trees[top, FIRST]
                        high[node, b] = problem.trees[top, LAST]
            continue
        tree[node, CUT] = key
        tree[node, CHILD] = nodes
        if problem.meta[a, CUT_BY] == BY_TREE:
            parts = split_by_tree(problem, order, s, e, a, key, ends, work)
        else:
            ends[0] = split_on_line(problem.codes[a], order, s, e, key, work)
            ends[1] = e
            parts = 2
        tree[node, CHILDREN] = parts
        place = s
        for part in range(parts):
            new = nodes + part
            tree[new, START], tree[new, END] = place, ends[part]
            for b in range(d):
                low[new, b], high[new, b] = low[node, b], high[node, b]
            narrow(problem, a, key, part, order[place], low[new], high[new])
            place = ends[part]
        nodes += parts
        for part in range(parts - 1, -1, -1):
            stack[depth] = nodes - parts + part
            depth += 1
    return nodes, leaf_count
