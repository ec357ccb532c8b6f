"""Finds where a group can be cut on one attribute, and whether it may be: compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian.layout import (
    BY_TREE,
    CUT_BY,
    DEPTH,
    FIRST,
    LAST,
    LEAVES,
    NEXT,
    PARTS,
    POINTS,
    RANGE_AT,
    meets,
)

TOTALS, LEFT, RIGHT = 0, 1, 2  # rows of Room.counts
SIZES, ENDS = 0, 1  # rows of Room.parts
LARGEST = 2147483647


class Room(NamedTuple):
    """Room to work in, made once and handed on: nothing is allocated group by group.

    ``work`` and ``bins`` have place for two numbers a record, ``parts`` for one a node of any
    hierarchy, ``counts`` for one a sensitive value, ``known`` for one an attribute.
    """

    work: NDArray[np.int32]
    bins: NDArray[np.int32]
    parts: NDArray[np.int32]
    counts: NDArray[np.int64]
    known: NDArray[np.int32]


@kernel
def empty_room(problem: Any, records: Any) -> Any:
    """Make the room for groups of up to so many records."""
    d = problem.codes.shape[0]
    return Room(
        np.empty(2 * records + 2, np.int32),
        np.empty(2 * records + 2, np.int32),
        np.empty((2, problem.trees.shape[0] + 2), np.int32),
        np.empty((3, problem.class_count), np.int64),
        np.empty(d, np.int32),
    )


@inner
def nth_smallest(values: Any, left: Any, right: Any, place: Any) -> Any:
    """What stands at ``place`` once ``values[left : right + 1]`` is sorted; it is rearranged."""
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
            break
    return values[place]


@inline
def nth_between(values: Any, size: Any, rank: Any, low: Any, high: Any, bins: Any) -> Any:
    """The ``rank``-th smallest (from 1) of ``values[:size]``, which lie from ``low`` to ``high``.

    Returns also how many are below it, and up to it. They are counted in bins; those of the bin
    that holds it are looked at closer, in ``values[size:]``. The last number returned is that of
    the last bin where each has one value, and −1 where they have several.
    """
    shift = 0
    while (high - low) >> shift > 2 * size:
        shift += 1
    last = (high - low) >> shift
    for bin in range(last + 1):
        bins[bin] = 0
    for place in range(size):
        bins[(values[place] - low) >> shift] += 1
    seen = bin = 0
    while seen + bins[bin] < rank:
        seen += bins[bin]
        bin += 1
    if shift == 0:
        return np.int32(low + bin), seen, seen + bins[bin], last
    end = size
    for place in range(size):
        values[end] = values[place]
        end += (values[place] - low) >> shift == bin
    found = nth_smallest(values, size, end - 1, size + rank - seen - 1)
    up_to = seen
    for place in range(size, end):
        seen += values[place] < found
        up_to += values[place] <= found
    return found, seen, up_to, -1


@inline
def cut_rank(size: Any) -> Any:
    """Which order statistic cuts a group: the max(1, m // 2)-th smallest value."""
    return max(1, size // 2)


# Arrays go into these functions one by one: handing a whole Problem to a function that runs once
# per record or per small group costs more than what the function does.


@inner
def top_node(path: Any, trees: Any, row: Any, low: Any, high: Any) -> Any:
    """The lowest tree node above every code from ``low`` to ``high``; ``row`` is the tree's."""
    level = path.shape[1] - 1
    node = path[row + low, level]
    while trees[node, LAST] < high or trees[node, FIRST] > low:
        level -= 1
        node = path[row + low, level]
    return node


@inner
def width_between(
    meta: Any, points: Any, path: Any, trees: Any, a: Any, low: Any, high: Any
) -> Any:
    """How wide a group is on attribute a whose codes go from ``low`` to ``high``.

    On a line, its highest minus lowest point over that of the whole table; in a tree, the leaves
    under its node over all leaves. A range within a range is never wider, rounding included.
    """
    meta, points, path, trees = borrow(meta), borrow(points), borrow(path), borrow(trees)
    if meta[a, CUT_BY] == BY_TREE:
        row = meta[a, LEAVES]
        node, root = top_node(path, trees, row, low, high), path[row, 0]
        return (trees[node, LAST] - trees[node, FIRST] + 1) / (trees[root, LAST] + 1)
    base, span = meta[a, POINTS], points[meta[a, RANGE_AT]]
    return (points[base + high] - points[base + low]) / span if span > 0.0 else 0.0


@inline
def group_counts(classes: Any, order: Any, start: Any, end: Any, counts: Any) -> Any:
    """Count the sensitive values of a group."""
    counts[:] = 0
    for place in range(start, end):
        counts[classes[order[place]]] += 1


@inner
def read_codes(codes: Any, order: Any, start: Any, end: Any, work: Any) -> Any:
    """Copy the codes of a group to ``work``; return the lowest and the highest."""
    codes, order, work = borrow(codes), borrow(order), borrow(work)
    low = high = codes[order[start]]
    for place in range(end - start):
        code = codes[order[start + place]]
        work[place] = code
        low, high = min(low, code), max(high, code)
    return low, high


@inline
def line_cut(
    codes: Any, classes: Any, order: Any, start: Any, end: Any, low: Any, high: Any, limits: Any,
    room: Any,
) -> Any:  # fmt: skip
    """The cut of a group whose codes are in ``room.work``, or −1 where it is not allowed.

    Returns also how many records lie below the cut where sizes forbid it, else LARGEST; and the
    last of ``room.bins`` where the group has this cut whoever leaves, else −1.
    """
    size, work = end - start, room.work
    cut, below, left, last = nth_between(work, size, cut_rank(size), low, high, room.bins)
    if left == size or left < limits.k or size - left < limits.k:
        return -1, below, -1
    if limits.l > 1 or limits.more:
        totals, counts, others = room.counts[TOTALS], room.counts[LEFT], room.counts[RIGHT]
        counts[:] = 0
        for place in range(start, end):
            record = order[place]
            if codes[record] <= cut:
                counts[classes[record]] += 1
        for c in range(totals.shape[0]):
            others[c] = totals[c] - counts[c]
        if not (meets(counts, np.int64(left), limits) and meets(others, size - left, limits)):
            return -1, LARGEST, -1
        return cut, LARGEST, -1
    least, rank = max(1, limits.k), cut_rank(size - 1)
    if min(left, size - left) <= least or below >= rank or left <= rank:
        last = -1
    return cut, LARGEST, last


@inline
def range_without(low: Any, high: Any, bins: Any, last: Any) -> Any:
    """The least range that a group can have once a record leaves; ``bins`` count each value."""
    first = 0
    if bins[0] == 1:
        first = 1
        while bins[first] == 0:
            first += 1
    if bins[last] == 1:
        last -= 1
        while bins[last] == 0:
            last -= 1
    return low + first, low + last


@inline
def count_parts(
    problem: Any, a: Any, order: Any, start: Any, end: Any, node: Any, sizes: Any
) -> Any:
    """Count the records of a group below each child of its node."""
    codes, path, row = problem.codes[a], problem.path, problem.meta[a, LEAVES]
    level, first = problem.trees[node, DEPTH] + 1, problem.trees[node, NEXT]
    for part in range(problem.trees[node, PARTS]):
        sizes[part] = 0
    for place in range(start, end):
        sizes[path[row + codes[order[place]], level] - first] += 1


@inline
def tree_cut(problem: Any, a: Any, order: Any, start: Any, end: Any, node: Any, sizes: Any) -> Any:
    """Whether a group may be cut into the children of its node: several parts, all allowed.

    Returns also how many records lie in parts that are too small, and how many the smallest has;
    how many each has is in ``sizes``.
    """
    codes, classes, limits = problem.codes[a], problem.classes, problem.limits
    path, trees, row = problem.path, problem.trees, problem.meta[a, LEAVES]
    level, first, spread = trees[node, DEPTH] + 1, trees[node, NEXT], trees[node, PARTS]
    count_parts(problem, a, order, start, end, node, sizes)
    parts, small, least = 0, 0, end - start
    for part in range(spread):
        if sizes[part] > 0:
            parts += 1
            least = min(least, sizes[part])
            small += sizes[part] if sizes[part] < limits.k else 0
    if parts < 2 or small > 0 or not (limits.l > 1 or limits.more):
        return parts > 1 and small == 0, small, least
    counts = np.zeros((spread, problem.class_count), np.int64)
    for place in range(start, end):
        record = order[place]
        counts[path[row + codes[record], level] - first, classes[record]] += 1
    for part in range(spread):
        if sizes[part] > 0 and not meets(counts[part], np.int64(sizes[part]), limits):
            return False, small, least
    return True, small, least


@inline
def two_too_few(
    problem: Any, a: Any, order: Any, start: Any, end: Any, node: Any, sizes: Any
) -> Any:
    """Two records of a group that lie in parts which have too few, as ``sizes`` says."""
    codes, path, row = problem.codes[a], problem.path, problem.meta[a, LEAVES]
    level, first = problem.trees[node, DEPTH] + 1, problem.trees[node, NEXT]
    one = two = np.int32(-1)
    for place in range(start, end):
        record = order[place]
        if sizes[path[row + codes[record], level] - first] < problem.limits.k:
            one, two = two, record
            if one >= 0:
                break
    return one, two
