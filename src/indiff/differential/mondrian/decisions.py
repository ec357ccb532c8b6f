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
    ALL_STAY,
    ALONE,
    BECOMES_LEAF,
    BELOW_A,
    CUT_A,
    CUT_B,
    DO_NOT_KNOW,
    HIGH,
    HIGH2,
    HIGH_AT,
    LOOKED,
    LOW,
    LOW2,
    LOW_AT,
    NOBODY,
    OPEN,
    OTHER_WIDTH,
    PREPARED,
    SOME_CHANGE,
    STAYS,
    TREE_NODE,
    TRIED,
    UP_TO_B,
    WIDTH,
    extremes_without,
    look_at,
    look_outside,
    prepare_line,
    try_attribute,
    widest_left,
)
from indiff.kernels import borrow, inline, inner
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import top_node, width_between


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
        widths[OTHER_WIDTH, a] = -1.0
        if widths[WIDTH, a] < 0.0:
            continue
        if not ints[LOOKED, a]:
            look_outside(problem, start, end, a, node)
        low, high = extremes_without(ints, a, place)
        widths[OTHER_WIDTH, a] = width_between(meta, points, path, trees, a, low, high)
    for _ in range(d):
        a = 0
        for b in range(1, d):
            if widths[OTHER_WIDTH, b] > widths[OTHER_WIDTH, a]:
                a = b
        if widths[OTHER_WIDTH, a] < 0.0:
            break
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
        if not try_attribute(
            problem, start, end, np.int64(a), np.int64(-1), node, place, place + 1, keys, room
        ):
            return
    keys[place] = BECOMES_LEAF


@inline
def is_widest(problem: Any, start: Any, end: Any, a: Any, node: Any) -> Any:
    """Whether an attribute on a line is the widest of a group, and stays so whoever leaves.

    Its LOW and HIGH are the extremes; those of the others may be wider than theirs.
    """
    ints, codes, width = node.ints, problem.codes[a], node.widths[WIDTH, a]
    if ints[LOW, a] == ints[HIGH, a]:
        return False
    lows = highs = 0
    for place in range(start, end):
        lows += codes[place] == ints[LOW, a]
        highs += codes[place] == ints[HIGH, a]
    if lows == 1 or highs == 1:
        look_at(codes, start, end, a, ints)
        width = width_between(
            problem.meta, problem.points, problem.path, problem.trees, a,
            ints[LOW2, a] if lows == 1 else ints[LOW, a],
            ints[HIGH2, a] if highs == 1 else ints[HIGH, a],
        )  # fmt: skip
    for b in range(problem.codes.shape[0]):
        if b == a or node.widths[WIDTH, b] < width:
            continue
        if not ints[LOOKED, b]:
            look_outside(problem, start, end, b, node)
        other = node.widths[WIDTH, b]
        if other > width or (other == width and b < a):
            return False
    return True


@inline
def plain_keys(
    problem: Any, start: Any, end: Any, a: Any, cut: Any, node: Any, target: Any, keys: Any,
    room: Any,
) -> Any:  # fmt: skip
    """Write the keys of a group that cuts attribute a where sizes alone decide; say what is known.

    Common near the root, where the widest attribute has large parts whoever leaves. Then a record's
    side is its key. A group of which this says DO_NOT_KNOW may still not change.
    """
    limits, ints = problem.limits, node.ints
    by_tree = problem.meta[a, layout.CUT_BY] == layout.BY_TREE
    if by_tree or limits.l > 1 or limits.more or not is_widest(problem, start, end, a, node):
        return DO_NOT_KNOW
    ints[PREPARED, a] = 1
    prepare_line(problem, start, end, a, np.int64(cut), node, room)
    if not (node.allowed[a, BELOW_A, 0] and node.allowed[a, UP_TO_B, 0]):
        return DO_NOT_KNOW
    lower, upper = ints[CUT_A, a], ints[CUT_B, a]
    if lower == upper:
        return ALL_STAY
    above = STAYS if lower == cut else 2 * a + BELOW_A
    up_to = STAYS if upper == cut else 2 * a + UP_TO_B
    codes = problem.codes[a]
    for place in range(start, end):
        key = above if codes[place] > lower else up_to
        keys[place] = key if target[place] else NOBODY
    return SOME_CHANGE


@inline
def may_change(k: Any, decided: Any) -> Any:
    """Whether a group, a row of a tree's nodes, may decide otherwise without one of its records."""
    small = decided[layout.END] - decided[layout.START] - 1 < max(2, 2 * k)
    return not (decided[layout.SURE] & layout.STEADY or (small and decided[layout.ATTRIBUTE] < 0))


@inner
def find_keys(
    problem: Any, start: Any, end: Any, decided: Any, low: Any, high: Any, node: Any, target: Any,
    keys: Any, room: Any,
) -> Any:  # fmt: skip
    """Find the key of each target of a group that may change: ALL_STAY, or they are in ``keys``.

    A key that is the group's own decision is written as STAYS. ``decided`` is the group's row of a
    tree's nodes; ``low`` and ``high`` are codes between which its records lie, and the extremes of
    the attribute that it cuts.
    """
    attribute, cut, sure = decided[layout.ATTRIBUTE], decided[layout.CUT], decided[layout.SURE]
    problem, node, keys, room = borrow(problem), borrow(node), borrow(keys), borrow(room)
    decided, low, high, target = borrow(decided), borrow(low), borrow(high), borrow(target)
    d, ints = problem.codes.shape[0], node.ints
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    still = end - start - 1 >= 2 and end - start - 1 >= 2 * problem.limits.k
    for a in range(d):
        ints[LOW, a], ints[HIGH, a] = low[a], high[a]
        ints[PREPARED, a] = ints[LOOKED, a] = ints[TRIED, a] = 0
        if a < layout.MOST_BITS and sure & (1 << a):  # never cut: it comes behind all others
            ints[TRIED, a], node.widths[WIDTH, a] = 1, -1.0
            continue
        node.widths[WIDTH, a] = width_between(meta, points, path, trees, a, low[a], high[a])
    if still and attribute != layout.LEAF:
        known = plain_keys(problem, start, end, np.int64(attribute), cut, node, target, keys, room)
        if known != DO_NOT_KNOW:
            return known
    for place in range(start, end):
        keys[place] = OPEN if target[place] else NOBODY
    if still:
        widest: Any = np.int64(widest_left(problem, start, end, node))
        while still and widest >= 0:
            ints[TRIED, widest] = 1
            if ints[LOW, widest] != ints[HIGH, widest]:
                of_all = np.int64(cut if widest == attribute else -1)
                open_keys = try_attribute(
                    problem, start, end, widest, of_all, node, start, end, keys, room
                )
                still = open_keys > 0
            if still:
                widest = np.int64(widest_left(problem, start, end, node))
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
    changes = 0
    for place in range(start, end):
        key = BECOMES_LEAF if keys[place] == OPEN else keys[place]
        key = STAYS if key in (own, other) else key
        keys[place] = key
        changes += key != STAYS and key != NOBODY
    return SOME_CHANGE if changes > 0 else ALL_STAY
