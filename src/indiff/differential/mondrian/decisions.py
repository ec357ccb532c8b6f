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
    BELOW_A,
    CUT_A,
    CUT_B,
    FAILING,
    HIGH,
    HIGH_AT,
    LOOKED,
    LOW,
    LOW_AT,
    MEETS,
    OTHER_RANKING,
    OTHER_WIDTH,
    PART_COUNT,
    PREPARED,
    RANKING,
    SIZE,
    TREE_NODE,
    UNKNOWN,
    UP_TO_B,
    WIDTH,
    describe_node,
    empty_node,
    extremes_without,
    line_allowed,
    look_outside,
    prepare_line,
    prepare_tree,
    tree_allowed,
)
from indiff.kernels import borrow, kernel
from indiff.sanitizers.mondrian.layout import (
    ATTRIBUTE,
    BY_TREE,
    CHILD,
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
)
from indiff.sanitizers.mondrian.partition import (
    line_width,
    top_node,
    tree_width,
    widest_first,
)
from indiff.sanitizers.mondrian.ranks import cut_rank, first_at_least

# Keys: 2a for a cut of attribute a at A (or by its tree), 2a + 1 for one at B, or one of these.
STAYS, BECOMES_LEAF, ALONE, OPEN = -2, -1, -3, -4


@kernel
def try_attribute(
    problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any, places: Any, first: Any,
    last: Any, keys: Any, work: Any, bins: Any,
) -> Any:  # fmt: skip
    """Give attribute a's key to every open target for which its cut stays allowed.

    Looks at the targets ``places[first:last]``; returns how many of them are still open.
    """
    codes, classes = problem.codes[a], problem.classes
    still = 0
    if problem.meta[a, CUT_BY] == BY_TREE:
        if not node.ints[PREPARED, a]:
            prepare_tree(problem, order, start, end, a, node, work)
        path, trees, base = problem.path, problem.trees, problem.meta[a, LEAVES]
        level = problem.trees[node.ints[TREE_NODE, a], DEPTH] + 1
        memo = node.part_allowed
        for t in range(first, last):
            if keys[t] != OPEN:
                continue
            record = order[places[t]]
            c, part = classes[record], base + trees[path[base + codes[record], level], FIRST]
            if memo[part, c] == UNKNOWN:
                memo[part, c] = tree_allowed(
                    problem.limits, node.part_counts[part], node.parts[part, SIZE],
                    node.sizes[PART_COUNT, a], node.sizes[FAILING, a], node.parts[part, MEETS], c,
                )  # fmt: skip
            if memo[part, c]:
                keys[t] = 2 * a
            else:
                still += 1
        return still
    if not node.ints[PREPARED, a]:
        prepare_line(problem, order, start, end, a, node, work, bins)
    lower = node.ints[CUT_A, a]
    known = node.allowed[a]
    for t in range(first, last):
        if keys[t] != OPEN:
            continue
        record = order[places[t]]
        c = classes[record]
        side = BELOW_A if codes[record] > lower else UP_TO_B
        if known[side, c] == UNKNOWN:
            known[side, c] = line_allowed(
                problem.limits, node.left[a, side], node.totals, node.sizes[side, a],
                end - start, side, c,
            )  # fmt: skip
        if known[side, c]:
            keys[t] = 2 * a + side
        else:
            still += 1
    return still


@kernel
def sees_another_order(problem: Any, place: Any, key: Any, extreme: Any, node: Any) -> Any:
    """Whether a target's key changes because it alone holds an extreme of attribute ``extreme``.

    ``key`` is what it gets in the group's own order of attributes: whatever comes before the
    key's attribute is not allowed for it. By leaving it can make an attribute narrower, never
    wider, so the key changes only if its own attribute falls behind a later one, or if the
    tree node of an attribute changes.
    """
    low, high = extremes_without(node, extreme, place)
    if problem.meta[extreme, CUT_BY] == BY_TREE:
        path, trees, row = problem.path, problem.trees, problem.meta[extreme, LEAVES]
        before = top_node(path, trees, row, node.ints[LOW, extreme], node.ints[HIGH, extreme])
        return top_node(path, trees, row, low, high) != before
    if key < 0 or key // 2 != extreme:
        return False
    meta, points = problem.meta, problem.points
    own = line_width(points, meta[extreme, POINTS], points[meta[extreme, RANGE_AT]], low, high)
    position = problem.codes.shape[0] - 1
    while node.ints[RANKING, position] != extreme:
        b = node.ints[RANKING, position]
        other = node.floats[WIDTH, b]
        if problem.meta[b, CUT_BY] != BY_TREE:
            low, high = extremes_without(node, b, place)
            other = line_width(points, meta[b, POINTS], points[meta[b, RANGE_AT]], low, high)
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
            if meta[a, CUT_BY] == BY_TREE:
                wide = tree_width(path, trees, meta[a, LEAVES], low, high)
            else:
                wide = line_width(points, meta[a, POINTS], points[meta[a, RANGE_AT]], low, high)
            node.floats[OTHER_WIDTH, a] = wide
    widest_first(node.floats[OTHER_WIDTH], node.ints[OTHER_RANKING])
    for position in range(d):
        a = node.ints[OTHER_RANKING, position]
        low, high = extremes_without(node, a, place)
        if low == high:
            continue
        if problem.meta[a, CUT_BY] == BY_TREE:
            row = meta[a, LEAVES]
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
    if problem.meta[a, CUT_BY] == BY_TREE:
        path, trees, row = problem.path, problem.trees, problem.meta[a, LEAVES]
        first, level = trees[cut, FIRST], problem.trees[cut, DEPTH] + 1
        spread = trees[cut, LAST] - first + 1
        if spread > 2 * size:
            return False
        bins[:spread] = 0
        for place in range(start, end):
            bins[trees[path[row + codes[order[place]], level], FIRST] - first] += 1
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
        narrowest = line_width(points, meta[a, POINTS], points[meta[a, RANGE_AT]], low, high)
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
            by_tree = problem.meta[a, CUT_BY] == BY_TREE
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
    own = BECOMES_LEAF if attribute == LEAF else OPEN
    other = own
    if attribute != LEAF and node.ints[PREPARED, attribute]:
        if problem.meta[attribute, CUT_BY] == BY_TREE:
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
    while tree.nodes[node, END] <= place:
        node += 1
    room = empty_node(problem)
    work = np.empty(tree.order.shape[0], np.int32)
    bins = np.empty(2 * tree.order.shape[0], np.int32)
    places = np.full(1, place, np.int32)
    keys = np.empty(1, np.int32)
    while tree.nodes[node, ATTRIBUTE] != LEAF:
        find_keys(
            problem, tree.order, tree.nodes[node, START], tree.nodes[node, END],
            tree.nodes[node, ATTRIBUTE], tree.nodes[node, CUT], places, places.shape[0],
            tree.own_low[node], tree.own_high[node], room, keys, work, bins,
        )  # fmt: skip
        if keys[0] != STAYS:
            return node
        node = tree.nodes[node, CHILD]
        while tree.nodes[node, END] <= place:
            node += 1
    return node
