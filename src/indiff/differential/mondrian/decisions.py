"""Finds what a group decides once one of its records has left, for all its records at once.

For a group P of m records and a record i of it, the decision of P∖{i} is one of a few *keys*.
With h = max(1, (m − 1) // 2), A the h-th and B the (h + 1)-th smallest value of P on an attribute,
the cut of P∖{i} there is A if i's value is above A, and B otherwise. Only a record that alone
holds the lowest or highest value of an attribute can see the attributes in another order.
``docs/leave-one-out.md`` has the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.node import (
    ALONE,
    BECOMES_LEAF,
    BELOW_A,
    CUT_A,
    CUT_B,
    HIGH,
    HIGH_AT,
    LOOKED,
    LOW,
    LOW_AT,
    OPEN,
    OTHER_RANKING,
    OTHER_WIDTH,
    PREPARED,
    RANKING,
    STAYS,
    TREE_NODE,
    UP_TO_B,
    WIDTH,
    describe_node,
    empty_node,
    extremes_without,
    look_outside,
    try_attribute,
)
from indiff.kernels import borrow, first_at_least, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.partition import (
    cut_rank,
    line_width,
    top_node,
    tree_width,
    widest_first,
)


@kernel
def width_on(points: Any, meta: Any, a: Any, low: Any, high: Any) -> Any:
    """The width from code to code on an attribute that is a line."""
    return line_width(points, meta[a, layout.POINTS], points[meta[a, layout.RANGE_AT]], low, high)


@kernel
def sees_another_order(problem: Any, place: Any, key: Any, extreme: Any, node: Any) -> Any:
    """Whether a target's key changes because it alone holds an extreme of attribute ``extreme``.

    ``key`` is what it gets in the group's own order of attributes: whatever comes before the
    key's attribute is not allowed for it. By leaving it can make an attribute narrower, never
    wider, so the key changes only if its own attribute falls behind a later one, or if the
    tree node of an attribute changes.
    """
    low, high = extremes_without(node, extreme, place)
    if problem.meta[extreme, layout.CUT_BY] == layout.BY_TREE:
        path, trees, row = problem.path, problem.trees, problem.meta[extreme, layout.LEAVES]
        before = top_node(path, trees, row, node.ints[LOW, extreme], node.ints[HIGH, extreme])
        return top_node(path, trees, row, low, high) != before
    if key < 0 or key // 2 != extreme:
        return False
    meta, points = problem.meta, problem.points
    own = width_on(points, meta, extreme, low, high)
    position = problem.codes.shape[0] - 1
    while node.ints[RANKING, position] != extreme:
        b = node.ints[RANKING, position]
        other = node.floats[WIDTH, b]
        if problem.meta[b, layout.CUT_BY] != layout.BY_TREE:
            low, high = extremes_without(node, b, place)
            other = width_on(points, meta, b, low, high)
        if other > own or (other == own and b < extreme):
            return True
        position -= 1
    return False


@kernel
def key_of_extreme(
    problem: Any, order: Any, start: Any, end: Any, places: Any, t: Any, node: Any, keys: Any,
    work: Any, bins: Any,
) -> Any:  # fmt: skip
    """Write the key of a target that alone holds an extreme: its order of attributes may differ."""
    d = problem.codes.shape[0]
    place = places[t]
    keys[t] = OPEN
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    for a in range(d):
        node.floats[OTHER_WIDTH, a] = node.floats[WIDTH, a]
        low, high = extremes_without(node, a, place)
        if low != node.ints[LOW, a] or high != node.ints[HIGH, a]:
            if meta[a, layout.CUT_BY] == layout.BY_TREE:
                wide = tree_width(path, trees, meta[a, layout.LEAVES], low, high)
            else:
                wide = width_on(points, meta, a, low, high)
            node.floats[OTHER_WIDTH, a] = wide
    widest_first(node.floats[OTHER_WIDTH], node.ints[OTHER_RANKING])
    for position in range(d):
        a = node.ints[OTHER_RANKING, position]
        low, high = extremes_without(node, a, place)
        if low == high:
            continue
        if problem.meta[a, layout.CUT_BY] == layout.BY_TREE:
            row = meta[a, layout.LEAVES]
            before = top_node(path, trees, row, node.ints[LOW, a], node.ints[HIGH, a])
            if top_node(path, trees, row, low, high) != before:
                keys[t] = ALONE
                return
        if not try_attribute(
            problem, order, start, end, a, node, places, t, t + 1, keys, work, bins
        ):
            return
    keys[t] = BECOMES_LEAF


@kernel
def nobody_changes(
    problem: Any, order: Any, start: Any, end: Any, attribute: Any, cut: Any, node: Any, bins: Any
) -> Any:
    """Whether it is plain from sizes alone that every record of a group keeps its decision.

    Common near the root, where the widest attribute has ties at the median and large parts; it
    saves looking at the targets one by one. A group for which this says no may still not change.
    """
    size, limits = end - start, problem.limits
    a = node.ints[RANKING, 0]
    if limits.l > 1 or limits.more or attribute != a or node.ints[LOW, a] == node.ints[HIGH, a]:
        return False
    codes = problem.codes[a]
    least = max(2, limits.k + 1)
    if problem.meta[a, layout.CUT_BY] == layout.BY_TREE:
        path, trees, row = problem.path, problem.trees, problem.meta[a, layout.LEAVES]
        first, level = trees[cut, layout.FIRST], problem.trees[cut, layout.DEPTH] + 1
        spread = trees[cut, layout.LAST] - first + 1
        if spread > 2 * size:
            return False
        bins[:spread] = 0
        for place in range(start, end):
            bins[trees[path[row + codes[order[place]], level], layout.FIRST] - first] += 1
        small = 0
        for part in range(spread):
            small += 0 < bins[part] < least
        return small == 0  # then no part empties, and the tree node stays as well
    low, high = node.ints[LOW, a], node.ints[HIGH, a]
    if high - low >= 2 * size:
        return False
    bins[: high - low + 1] = 0
    for place in range(start, end):
        bins[codes[order[place]] - low] += 1
    left = 0
    for code in range(cut - low + 1):
        left += bins[code]
    rank = cut_rank(size - 1)
    # A and B are the cut: the ranks h and h + 1 lie within the records that hold its value.
    if left < rank + 1 or left - bins[cut - low] >= rank or left < least or size - left < least:
        return False
    if bins[0] == 1 or bins[high - low] == 1:
        if bins[0] == 1:
            low += 1
            while bins[low - node.ints[LOW, a]] == 0:
                low += 1
        if bins[high - node.ints[LOW, a]] == 1:
            high -= 1
            while bins[high - node.ints[LOW, a]] == 0:
                high -= 1
        # Even without both outer records it is wider than all the others.
        points, meta = problem.points, problem.meta
        narrowest = width_on(points, meta, a, low, high)
        for b in range(problem.codes.shape[0]):
            if b != a and node.floats[WIDTH, b] >= narrowest:
                return False
    return True


@kernel
def find_keys(
    problem: Any, order: Any, start: Any, end: Any, attribute: Any, cut: Any, places: Any,
    count: Any, own_low: Any, own_high: Any, node: Any, keys: Any, work: Any, bins: Any,
) -> Any:  # fmt: skip
    """Write the key of each target (``places[:count]``, positions in ``order``).

    A key that is the group's own decision is written as STAYS.
    """
    node, places, keys = borrow(node), borrow(places), borrow(keys)
    work, bins, own_low, own_high = borrow(work), borrow(bins), borrow(own_low), borrow(own_high)
    describe_node(problem, own_low, own_high, node)
    if nobody_changes(problem, order, start, end, attribute, cut, node, bins):
        keys[:count] = STAYS
        return
    keys[:count] = OPEN
    d = problem.codes.shape[0]
    if end - start - 1 >= 2 and end - start - 1 >= 2 * problem.limits.k:
        still = count
        for position in range(d):
            a = node.ints[RANKING, position]
            if still > 0 and node.ints[LOW, a] != node.ints[HIGH, a]:
                still = try_attribute(
                    problem, order, start, end, a, node, places, 0, count, keys, work, bins
                )
        for a in range(d):
            # An attribute that nobody tried comes after every key's, and can only get narrower.
            by_tree = problem.meta[a, layout.CUT_BY] == layout.BY_TREE
            if not node.ints[PREPARED, a]:
                continue
            look_outside(problem.codes[a], order, start, end, a, node.ints)
            for at in (LOW_AT, HIGH_AT):
                if node.ints[at - 1, a] != 1:  # how many records hold this extreme
                    continue
                t = first_at_least(places, 0, count, node.ints[at, a])
                if t == count or places[t] != node.ints[at, a] or keys[t] == ALONE:
                    continue
                if by_tree or keys[t] // 2 == a:
                    for b in range(d):
                        if not node.ints[LOOKED, b]:
                            look_outside(problem.codes[b], order, start, end, b, node.ints)
                    if sees_another_order(problem, places[t], keys[t], a, node):
                        key_of_extreme(
                            problem, order, start, end, places, t, node, keys, work, bins
                        )
    own = BECOMES_LEAF if attribute == layout.LEAF else OPEN
    other = own
    if attribute != layout.LEAF and node.ints[PREPARED, attribute]:
        if problem.meta[attribute, layout.CUT_BY] == layout.BY_TREE:
            if node.ints[TREE_NODE, attribute] == cut:
                own = other = 2 * attribute
        else:
            if node.ints[CUT_A, attribute] == cut:
                own = 2 * attribute + BELOW_A
            if node.ints[CUT_B, attribute] == cut:
                other = 2 * attribute + UP_TO_B
    for t in range(count):
        if keys[t] == OPEN:
            keys[t] = BECOMES_LEAF
        if keys[t] == own or keys[t] == other:
            keys[t] = STAYS


@kernel
def changed_node(problem: Any, tree: Any, place: Any) -> Any:
    """The node below which the partition changes when the record at ``place`` leaves."""
    problem, tree = borrow(problem), borrow(tree)
    node = 0
    while tree.nodes[node, layout.END] <= place:
        node += 1
    room = empty_node(problem)
    work = np.empty(tree.order.shape[0], np.int32)
    bins = np.empty(2 * tree.order.shape[0], np.int32)
    places = np.full(1, place, np.int32)
    keys = np.empty(1, np.int32)
    while tree.nodes[node, layout.ATTRIBUTE] != layout.LEAF:
        find_keys(
            problem, tree.order, tree.nodes[node, layout.START], tree.nodes[node, layout.END],
            tree.nodes[node, layout.ATTRIBUTE], tree.nodes[node, layout.CUT], places, 1,
            tree.own_low[node], tree.own_high[node], room, keys, work, bins,
        )  # fmt: skip
        if keys[0] != STAYS:
            return node
        node = tree.nodes[node, layout.CHILD]
        while tree.nodes[node, layout.END] <= place:
            node += 1
    return node
