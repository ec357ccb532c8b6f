"""Finds of one group what its decision depends on when any one of its records leaves.

A group is a stretch of records that lie side by side: ``problem.codes[a, start:end]``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import borrow, inline, inner
from indiff.sanitizers.mondrian.cuts import (
    LARGEST,
    cut_rank,
    nth_between,
    top_node,
    width_between,
)
from indiff.sanitizers.mondrian.layout import BY_TREE, CUT_BY, DEPTH, LEAVES, meets

# Keys: 2a for a cut of attribute a at A (or by its tree), 2a + 1 for one at B, or one of these.
STAYS, BECOMES_LEAF, ALONE, OPEN, NOBODY = -2, -1, -3, -4, -5
BELOW_A, UP_TO_B = 0, 1
UNKNOWN = -1
ALL_STAY, SOME_CHANGE, DO_NOT_KNOW = 0, 1, 2  # what is found of all targets of a group

# Rows of Node.ints and Node.widths; columns of Node.parts.
LOW, LOW2, LOW_COUNT, LOW_AT, HIGH, HIGH2, HIGH_COUNT, HIGH_AT = 0, 1, 2, 3, 4, 5, 6, 7
LOOKED, TRIED, PREPARED, CUT_A, CUT_B, TREE_NODE, LEFT_A, LEFT_B = 8, 9, 10, 11, 12, 13, 14, 15
PART_COUNT, FAILING, ROWS = 16, 17, 18
WIDTH, OTHER_WIDTH = 0, 1
SIZE, MEETS = 0, 1


class Node(NamedTuple):
    """Room for what is known of one group; filled attribute by attribute, as needed.

    Per attribute: codes between which its records lie, and once it is LOOKED at, the two lowest
    and two highest distinct ones, how many records hold the outermost and where one of them lies;
    widths; the order statistics A and B and how many records lie up to each; the tree node and its
    parts. ``left`` counts the sensitive values up to A and up to B, ``part_counts`` those of each
    part of a tree. ``allowed`` and ``part_allowed`` remember whether a cut stays allowed when a
    record leaves, by the record's side and class (-1 unknown, 0 no, 1 yes).
    """

    ints: NDArray[np.int32]
    widths: NDArray[np.float64]
    totals: NDArray[np.int64]
    left: NDArray[np.int64]
    allowed: NDArray[np.int8]
    parts: NDArray[np.int32]
    part_counts: NDArray[np.int64]
    part_allowed: NDArray[np.int8]


@inline
def empty_node(problem: Any) -> Any:
    """Make the room for one group."""
    d, c, parts = problem.codes.shape[0], problem.class_count, problem.trees.shape[0]
    return Node(
        np.empty((ROWS, d), np.int32),
        np.empty((2, d), np.float64),
        np.empty(c, np.int64),
        np.empty((d, 2, c), np.int64),
        np.empty((d, 2, c), np.int8),
        np.empty((parts, 2), np.int32),
        np.empty((parts, c), np.int64),
        np.empty((parts, c), np.int8),
    )


@inner
def look_at(codes: Any, start: Any, end: Any, a: Any, ints: Any) -> Any:
    """Find the extremes of attribute a, who holds them, and what lies next to them."""
    codes, ints = borrow(codes), borrow(ints)
    ints[LOOKED, a] = 1
    low = high = codes[start]
    for place in range(start, end):
        low, high = min(low, codes[place]), max(high, codes[place])
    low_count = high_count = 0
    for place in range(start, end):
        low_count += codes[place] == low
        high_count += codes[place] == high
    low2, high2, low_at, high_at = low, high, start, start
    if low_count == 1 or high_count == 1:
        low2, high2 = np.int32(LARGEST), np.int32(-1)
        for place in range(start, end):
            code = codes[place]
            low2 = min(low2, code if code > low else np.int32(LARGEST))
            high2 = max(high2, code if code < high else np.int32(-1))
            low_at = place if code == low else low_at
            high_at = place if code == high else high_at
    ints[LOW, a], ints[LOW2, a], ints[LOW_COUNT, a], ints[LOW_AT, a] = low, low2, low_count, low_at
    ints[HIGH, a], ints[HIGH2, a] = high, high2
    ints[HIGH_COUNT, a], ints[HIGH_AT, a] = high_count, high_at


@inline
def look_outside(problem: Any, start: Any, end: Any, a: Any, node: Any) -> Any:
    """Look at attribute a, and note how wide the group is there."""
    ints = node.ints
    look_at(problem.codes[a], start, end, a, ints)
    node.widths[WIDTH, a] = width_between(
        problem.meta, problem.points, problem.path, problem.trees, a, ints[LOW, a], ints[HIGH, a]
    )


@inline
def widest_left(problem: Any, start: Any, end: Any, node: Any) -> Any:
    """The widest attribute that is not TRIED, the first listed among equals; −1 for none."""
    while True:
        a = -1
        for b in range(problem.codes.shape[0]):
            wider = a < 0 or node.widths[WIDTH, b] > node.widths[WIDTH, a]
            if wider and not node.ints[TRIED, b]:
                a = b
        if a < 0 or node.ints[LOOKED, a]:
            return a
        look_outside(problem, start, end, a, node)


@inline
def extremes_without(ints: Any, a: Any, place: Any) -> Any:
    """The group's lowest and highest code on a once the record at ``place`` has left."""
    low, high = ints[LOW, a], ints[HIGH, a]
    if ints[LOW_AT, a] == place and ints[LOW_COUNT, a] == 1:
        low = ints[LOW2, a]
    if ints[HIGH_AT, a] == place and ints[HIGH_COUNT, a] == 1:
        high = ints[HIGH2, a]
    return low, high


@inline
def prepare_line(problem: Any, start: Any, end: Any, a: Any, cut: Any, node: Any, room: Any) -> Any:
    """Find the cuts A and B that the group without one record can have on attribute a.

    ``cut`` is the one that the whole group has, which is A or B, or −1 where nobody knows it.
    """
    ints, work = node.ints, room.work
    size, codes, classes = end - start, problem.codes[a], problem.classes
    rank = cut_rank(size - 1)
    if cut < 0:
        for place in range(size):
            work[place] = codes[start + place]
        cut, _, _, _ = nth_between(work, size, rank, ints[LOW, a], ints[HIGH, a], room.bins)
    elif size % 2 == 0:
        rank += 1
    up_to = at_cut = 0
    below, above = np.int32(-1), np.int32(LARGEST)
    for place in range(start, end):
        code = codes[place]
        up_to += code <= cut
        at_cut += code == cut
        below = max(below, code if code < cut else np.int32(-1))
        above = min(above, code if code > cut else np.int32(LARGEST))
    # The cut is the rank-th smallest: A, or B if the rank is that of B.
    lower = upper = cut
    at_most = below_b = up_to
    if rank > cut_rank(size - 1):
        if up_to - at_cut >= rank - 1:
            lower, at_most = below, up_to - at_cut
    elif up_to == rank:
        upper = above
        for place in range(start, end):
            below_b += codes[place] == upper
    ints[CUT_A, a], ints[CUT_B, a] = lower, upper
    ints[LEFT_A, a], ints[LEFT_B, a] = at_most, below_b
    limits = problem.limits
    if limits.l <= 1 and not limits.more:
        least = max(1, limits.k)
        node.allowed[a, BELOW_A] = at_most >= least and size - at_most - 1 >= least
        node.allowed[a, UP_TO_B] = below_b - 1 >= least and size - below_b >= least
        return
    node.totals[:] = 0
    node.allowed[a] = UNKNOWN
    left = node.left[a]
    left[:] = 0
    for place in range(start, end):
        code, c = codes[place], classes[place]
        node.totals[c] += 1
        left[UP_TO_B, c] += code <= upper
        left[BELOW_A, c] += code <= lower


@inline
def line_allowed(
    limits: Any, left: Any, totals: Any, left_size: Any, size: Any, side: Any, c: Any
) -> Any:
    """Whether a cut stays allowed when a record of class c leaves the side it lies on."""
    right = totals - left
    left_size = np.int64(left_size)
    right_size = size - left_size
    if side == BELOW_A:
        right[c] -= 1
        return meets(left, left_size, limits) and meets(right, right_size - 1, limits)
    left[c] -= 1
    allowed = meets(left, left_size - 1, limits) and meets(right, right_size, limits)
    left[c] += 1
    return allowed


@inline
def prepare_tree(problem: Any, start: Any, end: Any, a: Any, node: Any, work: Any) -> Any:
    """Count the parts below the children of the group's tree node."""
    path, trees, base = problem.path, problem.trees, problem.meta[a, LEAVES]
    top = top_node(path, trees, base, node.ints[LOW, a], node.ints[HIGH, a])
    level = trees[top, DEPTH] + 1
    counts, sizes = node.part_counts, node.parts
    codes, classes, limits = problem.codes[a], problem.classes, problem.limits
    for place in range(start, end):
        sizes[path[base + codes[place], level], SIZE] = 0
    parts = 0
    for place in range(start, end):
        part = path[base + codes[place], level]
        if sizes[part, SIZE] == 0:  # only what occurs is cleared: a tree may be far larger
            work[parts] = part
            parts += 1
            for c in range(counts.shape[1]):
                counts[part, c] = 0
                node.part_allowed[part, c] = UNKNOWN
        sizes[part, SIZE] += 1
        counts[part, classes[place]] += 1
    failing = 0
    for place in range(parts):
        part = work[place]
        fine = sizes[part, SIZE] >= limits.k
        if fine and (limits.l > 1 or limits.more):
            fine = meets(counts[part], np.int64(sizes[part, SIZE]), limits)
        sizes[part, MEETS] = fine
        failing += not fine
    node.ints[TREE_NODE, a] = top
    node.ints[PART_COUNT, a], node.ints[FAILING, a] = parts, failing


@inline
def tree_allowed(
    limits: Any, counts: Any, size: Any, parts: Any, failing: Any, own_meets: Any, c: Any
) -> Any:
    """Whether a cut by the tree stays allowed when a record of class c leaves one part."""
    if failing - (0 if own_meets else 1) > 0:
        return False
    if size == 1:
        return parts - 1 > 1
    if size - 1 < limits.k or parts < 2:
        return False
    counts[c] -= 1
    allowed = meets(counts, size - 1, limits)
    counts[c] += 1
    return allowed


@inner
def try_attribute(
    problem: Any, start: Any, end: Any, a: Any, cut: Any, node: Any, first: Any, last: Any,
    keys: Any, room: Any,
) -> Any:  # fmt: skip
    """Give attribute a's key to every open target for which its cut stays allowed.

    ``cut`` is that of the whole group if it is known, or −1. Looks at the records from ``first`` to
    before ``last``, of which some are open; returns whether any still is.
    """
    problem, node, keys, room = borrow(problem), borrow(node), borrow(keys), borrow(room)
    codes, classes, limits, ints = problem.codes[a], problem.classes, problem.limits, node.ints
    by_tree = problem.meta[a, CUT_BY] == BY_TREE
    if not ints[PREPARED, a]:
        ints[PREPARED, a] = 1
        if by_tree:
            prepare_tree(problem, start, end, a, node, room.work)
        else:
            prepare_line(problem, start, end, a, cut, node, room)
    still = 0
    if by_tree:
        path, base = problem.path, problem.meta[a, LEAVES]
        level = problem.trees[ints[TREE_NODE, a], DEPTH] + 1
        memo = node.part_allowed
        for place in range(first, last):
            if keys[place] != OPEN:
                continue
            c, part = classes[place], path[base + codes[place], level]
            if memo[part, c] == UNKNOWN:
                memo[part, c] = tree_allowed(
                    limits, node.part_counts[part], node.parts[part, SIZE], ints[PART_COUNT, a],
                    ints[FAILING, a], node.parts[part, MEETS], c,
                )  # fmt: skip
            if memo[part, c]:
                keys[place] = 2 * a
            else:
                still += 1
        return still
    lower, known = ints[CUT_A, a], node.allowed[a]
    if limits.l <= 1 and not limits.more:  # sizes alone decide
        if not (known[BELOW_A, 0] or known[UP_TO_B, 0]):
            return 1
        above = 2 * a + BELOW_A if known[BELOW_A, 0] else OPEN
        up_to = 2 * a + UP_TO_B if known[UP_TO_B, 0] else OPEN
        for place in range(first, last):
            key = above if codes[place] > lower else up_to
            keys[place] = key if keys[place] == OPEN else keys[place]
            still += keys[place] == OPEN
        return still
    for place in range(first, last):
        if keys[place] != OPEN:
            continue
        c, side = classes[place], BELOW_A if codes[place] > lower else UP_TO_B
        if known[side, c] == UNKNOWN:
            known[side, c] = line_allowed(
                limits, node.left[a, side], node.totals, ints[LEFT_A + side, a], end - start, side,
                c,
            )  # fmt: skip
        if known[side, c]:
            keys[place] = 2 * a + side
        else:
            still += 1
    return still
