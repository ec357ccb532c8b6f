"""Finds of one group what its decision depends on when any one of its records leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import BY_TREE, CUT_BY, DEPTH, FIRST, LEAVES, meets
from indiff.sanitizers.mondrian.partition import (
    cut_rank,
    group_counts,
    group_widths,
    nth_between,
    top_node,
    widest_first,
)

# Keys: 2a for a cut of attribute a at A (or by its tree), 2a + 1 for one at B, or one of these.
STAYS, BECOMES_LEAF, ALONE, OPEN = -2, -1, -3, -4
BELOW_A, UP_TO_B = 0, 1
UNKNOWN = -1

# Rows of Node.ints, Node.floats and Node.sizes; columns of Node.parts.
LOW, LOW2, LOW_COUNT, LOW_AT, HIGH, HIGH2, HIGH_COUNT, HIGH_AT = 0, 1, 2, 3, 4, 5, 6, 7
RANKING, OTHER_RANKING, PREPARED, CUT_A, CUT_B, TREE_NODE, LOOKED = 8, 9, 10, 11, 12, 13, 14
WIDTH, OTHER_WIDTH = 0, 1
LEFT_A, LEFT_B, PART_COUNT, FAILING = 0, 1, 2, 3
SIZE, MEETS = 0, 1


class Node(NamedTuple):
    """Room for what is known of one group; filled attribute by attribute, as needed.

    Per attribute (``ints``, ``floats``, ``sizes``): the two lowest and two highest distinct codes,
    how many records hold the outermost ones and where the last of them lies; widths; the order
    statistics A and B and how many records lie up to each; the tree node and its parts. ``left``
    counts the sensitive values up to A and up to B, ``part_counts`` those of each part of a tree.
    ``allowed`` and ``part_allowed`` remember whether a cut stays allowed when a record leaves, by
    the record's side and class (-1 unknown, 0 no, 1 yes).
    """

    ints: NDArray[np.int32]
    floats: NDArray[np.float64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]
    left: NDArray[np.int64]
    allowed: NDArray[np.int8]
    parts: NDArray[np.int64]
    part_counts: NDArray[np.int64]
    part_allowed: NDArray[np.int8]


@kernel
def empty_node(problem: Any) -> Any:
    """Make the room for one group."""
    d, c, leaves = problem.codes.shape[0], problem.class_count, problem.path.shape[0]
    return Node(
        np.empty((15, d), np.int32),
        np.empty((2, d), np.float64),
        np.empty((4, d), np.int64),
        np.empty(c, np.int64),
        np.empty((d, 2, c), np.int64),
        np.empty((d, 2, c), np.int8),
        np.empty((leaves, 2), np.int64),
        np.empty((leaves, c), np.int64),
        np.empty((leaves, c), np.int8),
    )


@kernel
def describe_node(problem: Any, own_low: Any, own_high: Any, node: Any) -> Any:
    """Note a group's extremes, its widths and the order of its attributes."""
    for a in range(problem.codes.shape[0]):
        node.ints[LOW, a], node.ints[HIGH, a] = own_low[a], own_high[a]
        node.ints[PREPARED, a] = node.ints[LOOKED, a] = 0
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    group_widths(meta, points, path, trees, own_low, own_high, node.floats[WIDTH])
    widest_first(node.floats[WIDTH], node.ints[RANKING])


@kernel
def look_outside(codes: Any, order: Any, start: Any, end: Any, a: Any, ints: Any) -> Any:
    """Find who holds the extremes of attribute a, and what lies next to them."""
    ints[LOOKED, a] = 1
    low, high = ints[LOW, a], ints[HIGH, a]
    low2, high2 = np.int32(2147483647), np.int32(-1)
    low_count = high_count = 0
    low_at = high_at = start
    for place in range(start, end):
        code = codes[order[place]]
        if code == low:
            low_count += 1
            low_at = place
        elif code < low2:
            low2 = code
        if code == high:
            high_count += 1
            high_at = place
        elif code > high2:
            high2 = code
    ints[LOW2, a], ints[LOW_COUNT, a], ints[LOW_AT, a] = low2, low_count, low_at
    ints[HIGH2, a], ints[HIGH_COUNT, a], ints[HIGH_AT, a] = high2, high_count, high_at


@kernel
def extremes_without(node: Any, a: Any, place: Any) -> Any:
    """The group's lowest and highest code on a once the record at ``place`` has left."""
    low, high = node.ints[LOW, a], node.ints[HIGH, a]
    if node.ints[LOW_AT, a] == place and node.ints[LOW_COUNT, a] == 1:
        low = node.ints[LOW2, a]
    if node.ints[HIGH_AT, a] == place and node.ints[HIGH_COUNT, a] == 1:
        high = node.ints[HIGH2, a]
    return low, high


@kernel
def prepare_line(
    problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any, work: Any, bins: Any
) -> Any:
    """Find the cuts A and B that the group without one record can have on attribute a."""
    node.ints[PREPARED, a] = 1
    size = end - start
    codes, classes = problem.codes[a], problem.classes
    low, high = node.ints[LOW, a], node.ints[HIGH, a]
    rank = cut_rank(size - 1)
    for place in range(size):
        work[place] = codes[order[start + place]]
    lower = nth_between(work, size, rank, low, high, bins)
    upper, at_most, beside = high, 0, 0
    for place in range(size):
        if work[place] <= lower:
            at_most += 1
        elif work[place] < upper:
            upper, beside = work[place], 1
        elif work[place] == upper:
            beside += 1
    if at_most > rank:
        upper, beside = lower, 0
    below_b = at_most + beside
    node.ints[CUT_A, a], node.ints[CUT_B, a] = lower, upper
    node.sizes[LEFT_A, a], node.sizes[LEFT_B, a] = at_most, below_b
    limits = problem.limits
    if limits.l <= 1 and not limits.more:
        least = max(1, limits.k)
        node.allowed[a, BELOW_A] = at_most >= least and size - at_most - 1 >= least
        node.allowed[a, UP_TO_B] = below_b - 1 >= least and size - below_b >= least
        return
    group_counts(classes, order, start, end, node.totals)
    node.allowed[a] = UNKNOWN
    left = node.left[a]
    left[:] = 0
    for place in range(start, end):
        record = order[place]
        code = codes[record]
        if code <= upper:
            c = classes[record]
            left[UP_TO_B, c] += 1
            if code <= lower:
                left[BELOW_A, c] += 1


@kernel
def line_allowed(
    limits: Any, left: Any, totals: Any, left_size: Any, size: Any, side: Any, c: Any
) -> Any:
    """Whether a cut stays allowed when a record of class c leaves the side it lies on."""
    right = totals - left
    right_size = size - left_size
    if side == BELOW_A:
        right[c] -= 1
        return meets(left, left_size, limits) and meets(right, right_size - 1, limits)
    left[c] -= 1
    allowed = meets(left, left_size - 1, limits) and meets(right, right_size, limits)
    left[c] += 1
    return allowed


@kernel
def prepare_tree(
    problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any, work: Any
) -> Any:
    """Count the parts below the children of the group's tree node."""
    node.ints[PREPARED, a] = 1
    path, trees, base = problem.path, problem.trees, problem.meta[a, LEAVES]
    top = top_node(path, trees, base, node.ints[LOW, a], node.ints[HIGH, a])
    level = trees[top, DEPTH] + 1
    counts, sizes = node.part_counts, node.parts
    codes, classes, limits = problem.codes[a], problem.classes, problem.limits
    for place in range(start, end):
        sizes[base + trees[path[base + codes[order[place]], level], FIRST], SIZE] = 0
    parts = 0
    for place in range(start, end):
        record = order[place]
        part = base + trees[path[base + codes[record], level], FIRST]
        if sizes[part, SIZE] == 0:  # only what occurs is cleared: a tree may be far larger
            work[parts] = part
            parts += 1
            for c in range(counts.shape[1]):
                counts[part, c] = 0
                node.part_allowed[part, c] = UNKNOWN
        sizes[part, SIZE] += 1
        counts[part, classes[record]] += 1
    failing = 0
    for place in range(parts):
        part = work[place]
        fine = sizes[part, SIZE] >= limits.k
        if fine and (limits.l > 1 or limits.more):
            fine = meets(counts[part], sizes[part, SIZE], limits)
        sizes[part, MEETS] = fine
        failing += not fine
    node.ints[TREE_NODE, a] = top
    node.sizes[PART_COUNT, a], node.sizes[FAILING, a] = parts, failing


@kernel
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
