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
    HIGH2,
    HIGH_AT,
    HIGH_COUNT,
    LOOKED,
    LOW,
    LOW2,
    LOW_AT,
    LOW_COUNT,
    NOBODY,
    OPEN,
    OTHER_WIDTH,
    PREPARED,
    STAYS,
    TREE_NODE,
    TRIED,
    UP_TO_B,
    WIDTH,
    empty_node,
    extremes_without,
    look_outside,
    try_attribute,
    widest_left,
)
from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import cut_rank, empty_room, top_node, width_between


@inline
def sees_another_order(
    problem: Any, start: Any, end: Any, place: Any, key: Any, extreme: Any, node: Any
) -> Any:
    """Whether a target's key may change because it alone holds an extreme of ``extreme``.

    ``key`` is what it gets in the group's own order of attributes: whatever comes before the
    key's attribute is not allowed for it. By leaving it can make an attribute narrower, never
    wider, so the key changes only if its own attribute falls behind a later one, or if the
    tree node of an attribute changes.
    """
    ints, widths = node.ints, node.widths
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    low, high = extremes_without(ints, extreme, place)
    if meta[extreme, layout.CUT_BY] == layout.BY_TREE:
        row = meta[extreme, layout.LEAVES]
        before = top_node(path, trees, row, ints[LOW, extreme], ints[HIGH, extreme])
        return top_node(path, trees, row, low, high) != before
    if key < 0 or key // 2 != extreme:
        return False
    own = width_between(meta, points, path, trees, extreme, low, high)
    whole = widths[WIDTH, extreme]
    for b in range(meta.shape[0]):
        other = widths[WIDTH, b]
        if b == extreme or other > whole or (other == whole and b < extreme):
            continue  # it comes before the key's attribute
        if other > own or (other == own and b < extreme):
            if not ints[LOOKED, b]:
                look_outside(problem, start, end, b, node)
                other = widths[WIDTH, b]
            if meta[b, layout.CUT_BY] != layout.BY_TREE:
                low, high = extremes_without(ints, b, place)
                other = width_between(meta, points, path, trees, b, low, high)
            if other > own or (other == own and b < extreme):
                return True
    return False


@inline
def key_of_extreme(
    problem: Any, start: Any, end: Any, place: Any, node: Any, keys: Any, room: Any
) -> Any:
    """Write the key of a target that alone holds an extreme: its order of attributes may differ."""
    d, ints, widths = problem.codes.shape[0], node.ints, node.widths
    keys[place] = OPEN
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    for a in range(d):
        if not ints[LOOKED, a]:
            look_outside(problem, start, end, a, node)
        low, high = extremes_without(ints, a, place)
        widths[OTHER_WIDTH, a] = width_between(meta, points, path, trees, a, low, high)
    for _ in range(d):
        a = 0
        for b in range(1, d):
            if widths[OTHER_WIDTH, b] > widths[OTHER_WIDTH, a]:
                a = b
        widths[OTHER_WIDTH, a] = -1.0
        low, high = extremes_without(ints, a, place)
        if low == high:
            continue
        if meta[a, layout.CUT_BY] == layout.BY_TREE:
            row = meta[a, layout.LEAVES]
            before = top_node(path, trees, row, ints[LOW, a], ints[HIGH, a])
            if top_node(path, trees, row, low, high) != before:
                keys[place] = ALONE
                return
        if not try_attribute(problem, start, end, a, node, place, place + 1, keys, room):
            return
    keys[place] = BECOMES_LEAF


@inline
def nobody_changes(
    problem: Any, start: Any, end: Any, a: Any, cut: Any, node: Any, bins: Any
) -> Any:
    """Whether it is plain from sizes alone that every record of a group keeps its decision.

    The decision is to cut the widest attribute, a. Common near the root, where it has ties at the
    median and large parts; it saves looking at the targets one by one. A group for which this says
    no may still not change.
    """
    size, limits, ints = end - start, problem.limits, node.ints
    if limits.l > 1 or limits.more or ints[LOW, a] == ints[HIGH, a]:
        return False
    codes, meta, points = problem.codes[a], problem.meta, problem.points
    path, trees = problem.path, problem.trees
    least = max(2, limits.k + 1)
    if meta[a, layout.CUT_BY] == layout.BY_TREE:
        row = meta[a, layout.LEAVES]
        first, level = trees[cut, layout.FIRST], trees[cut, layout.DEPTH] + 1
        spread = trees[cut, layout.LAST] - first + 1
        if spread > 2 * size:
            return False
        for part in range(spread):
            bins[part] = 0
        for place in range(start, end):
            bins[trees[path[row + codes[place], level], layout.FIRST] - first] += 1
        small = 0
        for part in range(spread):
            small += 0 < bins[part] < least
        return small == 0  # then no part empties, and the tree node stays as well
    left = at_cut = 0
    for place in range(start, end):
        left += codes[place] <= cut
        at_cut += codes[place] == cut
    rank = cut_rank(size - 1)
    # A and B are the cut: the ranks h and h + 1 lie within the records that hold its value.
    if left < rank + 1 or left - at_cut >= rank or left < least or size - left < least:
        return False
    low = ints[LOW2, a] if ints[LOW_COUNT, a] == 1 else ints[LOW, a]
    high = ints[HIGH2, a] if ints[HIGH_COUNT, a] == 1 else ints[HIGH, a]
    if ints[LOW_COUNT, a] == 1 or ints[HIGH_COUNT, a] == 1:
        # Even without both outer records it is wider than all the others.
        narrowest = width_between(meta, points, path, trees, a, low, high)
        for b in range(meta.shape[0]):
            if b != a and node.widths[WIDTH, b] >= narrowest and not ints[LOOKED, b]:
                look_outside(problem, start, end, b, node)
            if b != a and node.widths[WIDTH, b] >= narrowest:
                return False
    return True


@inner
def find_keys(
    problem: Any, start: Any, end: Any, attribute: Any, cut: Any, low: Any, high: Any, node: Any,
    keys: Any, room: Any,
) -> Any:  # fmt: skip
    """Write the key of each target of a group: those whose ``keys`` are OPEN.

    A key that is the group's own decision is written as STAYS. ``low`` and ``high`` are codes
    between which its records lie.
    """
    problem, node, keys, room = borrow(problem), borrow(node), borrow(keys), borrow(room)
    d, ints, start, end = problem.codes.shape[0], node.ints, np.int64(start), np.int64(end)
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    for a in range(d):
        ints[LOW, a], ints[HIGH, a] = low[a], high[a]
        ints[PREPARED, a] = ints[LOOKED, a] = ints[TRIED, a] = 0
        node.widths[WIDTH, a] = width_between(meta, points, path, trees, a, low[a], high[a])
    still = 0
    if end - start - 1 >= 2 and end - start - 1 >= 2 * problem.limits.k:
        a = widest_left(problem, start, end, node)
        if a == attribute and nobody_changes(problem, start, end, a, cut, node, room.bins):
            for place in range(start, end):
                keys[place] = STAYS if keys[place] == OPEN else keys[place]
            return
        still = 1
        while still > 0 and a >= 0:
            ints[TRIED, a] = 1
            if ints[LOW, a] != ints[HIGH, a]:
                still = try_attribute(problem, start, end, a, node, start, end, keys, room)
            if still > 0:
                a = widest_left(problem, start, end, node)
        for a in range(d):
            # An attribute that nobody tried comes after every key's, and can only get narrower.
            if not ints[PREPARED, a]:
                continue
            for at in (LOW_AT, HIGH_AT):
                holder, key = np.int64(ints[at, a]), keys[ints[at, a]]
                # How many records hold this extreme stands before where one of them lies.
                if ints[at - 1, a] != 1 or key in (NOBODY, ALONE):
                    continue
                if sees_another_order(problem, start, end, holder, key, a, node):
                    key_of_extreme(problem, start, end, holder, node, keys, room)
    own = BECOMES_LEAF if attribute == layout.LEAF else OPEN
    other = own
    if attribute != layout.LEAF and ints[PREPARED, attribute]:
        if meta[attribute, layout.CUT_BY] == layout.BY_TREE:
            if ints[TREE_NODE, attribute] == cut:
                own = other = 2 * attribute
        else:
            if ints[CUT_A, attribute] == cut:
                own = 2 * attribute + BELOW_A
            if ints[CUT_B, attribute] == cut:
                other = 2 * attribute + UP_TO_B
    for place in range(start, end):
        if keys[place] == OPEN:
            keys[place] = BECOMES_LEAF
        if keys[place] == own or keys[place] == other:
            keys[place] = STAYS


@kernel
def changed_node(problem: Any, tree: Any, place: Any) -> Any:
    """The node below which the partition changes when the record at ``place`` leaves.

    The problem's records lie in the order of the tree.
    """
    node = 0
    while tree.nodes[node, layout.END] <= place:
        node += 1
    known, room = empty_node(problem), empty_room(problem, problem.codes.shape[1])
    keys = np.full(problem.codes.shape[1], NOBODY, np.int32)
    while tree.nodes[node, layout.ATTRIBUTE] != layout.LEAF:
        keys[place] = OPEN
        find_keys(
            problem, tree.nodes[node, layout.START], tree.nodes[node, layout.END],
            tree.nodes[node, layout.ATTRIBUTE], tree.nodes[node, layout.CUT], tree.own_low[node],
            tree.own_high[node], known, keys, room,
        )  # fmt: skip
        if keys[place] != STAYS:
            return node
        node = tree.nodes[node, layout.CHILD]
        while tree.nodes[node, layout.END] <= place:
            node += 1
    return node
