"""Compares a group with one of another partition, its twin, and copies what is the same.

A group that has the records of its twin is partitioned as the twin is, so that a partition of
nearly the same records takes little time (``docs/leave-one-out.md``, Lemma 6).
"""

from __future__ import annotations

from typing import Any

from indiff.kernels import borrow, inline, inner
from indiff.sanitizers.mondrian.cuts import width_between
from indiff.sanitizers.mondrian.layout import (
    ATTRIBUTE,
    BY_TREE,
    CHILD,
    CUT_BY,
    END,
    LEAF,
    POINTS,
    START,
)


@inline
def leaves_under(tree: Any, node: Any) -> Any:
    """The leaves below a node, as a range of positions in ``tree.leaves``."""
    leaves, nodes = tree.leaves, tree.nodes
    first = leaf_position(leaves, nodes, nodes[node, START])
    return first, leaf_position(leaves, nodes, nodes[node, END])


@inner
def leaf_position(leaves: Any, nodes: Any, place: Any) -> Any:
    """How many leaves begin before ``place``; leaves lie in the order of their segments."""
    low, high = 0, leaves.shape[0]
    while low < high:
        middle = (low + high) // 2
        if nodes[leaves[middle], START] < place:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def holds_the_same(
    order: Any, start: Any, end: Any, low: Any, high: Any, nodes: Any, lows: Any, highs: Any,
    twin: Any, tight: Any,
) -> Any:  # fmt: skip
    """Whether a group has the records and, where that is the region, the cut box of its twin."""
    order, low, high = borrow(order), borrow(low), borrow(high)
    nodes, lows, highs = borrow(nodes), borrow(lows), borrow(highs)
    begin, stop = nodes[twin, START], nodes[twin, END]
    if end - start != stop - begin:
        return False
    if not tight:
        for b in range(low.shape[0]):
            if low[b] != lows[twin, b] or high[b] != highs[twin, b]:
                return False
    for place in range(start, end):  # noqa: SIM110 - numba compiles no generator
        if order[place] < begin or order[place] >= stop:
            return False
    return True


@inner
def block_end(nodes: Any, node: Any) -> Any:
    """Where the nodes below a node end; they follow one another from its first child on."""
    last = nodes[node, CHILD]
    if nodes[node, ATTRIBUTE] == LEAF:
        return last
    start, end = nodes[node, START], nodes[node, END]
    while last < nodes.shape[0] and start <= nodes[last, START] and nodes[last, END] <= end:
        last += 1
    return last


@inner
def stays_below(
    meta: Any, points: Any, path: Any, trees: Any, nodes: Any, lows: Any, highs: Any, twin: Any,
    spans: Any,
) -> Any:  # fmt: skip
    """Whether other ranges of the table leave every decision from a node down as it was.

    ``spans`` are the ranges before. A decision may change where an attribute overtakes the one that
    a group cuts. What was wider was not allowed, and what nobody looked at is at most as wide as
    its bounds.
    """
    meta, points, path, trees = borrow(meta), borrow(points), borrow(path), borrow(trees)
    nodes, lows, highs, spans = borrow(nodes), borrow(lows), borrow(highs), borrow(spans)
    child, last = nodes[twin, CHILD], block_end(nodes, twin)
    for step in range(last - child + 1):
        node = twin if step == 0 else child + step - 1
        a, low, high = nodes[node, ATTRIBUTE], lows[node], highs[node]
        if a == LEAF:
            continue
        own = width_between(meta, points, path, trees, a, low[a], high[a])
        own_before = own
        if meta[a, CUT_BY] != BY_TREE and spans[a] > 0.0:
            reach = points[meta[a, POINTS] + high[a]] - points[meta[a, POINTS] + low[a]]
            own_before = reach / spans[a]
        for b in range(meta.shape[0]):
            if meta[b, CUT_BY] == BY_TREE or b == a:
                continue
            width = width_between(meta, points, path, trees, b, low[b], high[b])
            reach = points[meta[b, POINTS] + high[b]] - points[meta[b, POINTS] + low[b]]
            before = reach / spans[b] if spans[b] > 0.0 else 0.0
            overtakes = width > own or (width == own and b < a)
            if overtakes and (before < own_before or (before == own_before and b > a)):
                return False
    return True


@inner
def copy_twin(
    old: Any, twin: Any, tree: Any, low: Any, high: Any, own_low: Any, own_high: Any, order: Any,
    leaves: Any, node: Any, nodes: Any, leaf_count: Any, first: Any, last: Any,
) -> Any:  # fmt: skip
    """Copy all that lies below a twin to a node; its leaves are those from ``first`` to ``last``.

    Returns how many leaves and nodes there are then.
    """
    old, tree, low, high = borrow(old), borrow(tree), borrow(low), borrow(high)
    own_low, own_high, leaves = borrow(own_low), borrow(own_high), borrow(leaves)
    order = borrow(order)
    begin, child, start = old.nodes[twin, START], old.nodes[twin, CHILD], tree[node, START]
    for place in range(start, tree[node, END]):
        order[place] = begin + place - start
    for position in range(first, last):
        leaf = old.leaves[position]
        leaves[leaf_count] = node if leaf == twin else leaf - child + nodes
        leaf_count += 1
    below = block_end(old.nodes, twin) - child
    for step in range(below + 1):
        source = twin if step == 0 else child + step - 1
        to = node if step == 0 else nodes + step - 1
        for column in range(tree.shape[1]):
            tree[to, column] = old.nodes[source, column]
        tree[to, START] += start - begin
        tree[to, END] += start - begin
        tree[to, CHILD] += nodes - child
        for b in range(low.shape[1]):
            low[to, b], high[to, b] = old.low[source, b], old.high[source, b]
            own_low[to, b], own_high[to, b] = old.own_low[source, b], old.own_high[source, b]
    return leaf_count, nodes + below
