"""Makes a context of one group: its records alone, with codes of their own, and their counts.

Whatever is done with a group takes time by its own size, however large the table is: its codes
lie side by side in the order of its partition, and those on a line are numbered anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.differential.mondrian.counts import (
    NAIVE_BAYES,
    Counted,
    add_leaves,
    leaves_under,
    locate,
    sum_steps,
)
from indiff.differential.mondrian.node import Node, empty_node
from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import cuts, layout, partition
from indiff.sanitizers.mondrian.cuts import Room

FEW = 48  # so many numbers are sorted by insertion
DIGIT, DIGITS = 8, 256


class Desk(NamedTuple):
    """Room to work in that is made once for all contexts of a walk.

    ``pairs`` is for sorting; ``counts``, ``terms`` and ``group`` are those about one target,
    ``spare`` another group's that nobody asks for; ``tally`` has a number for every value, all 0
    between two uses.
    """

    node: Node
    room: Room
    pairs: NDArray[np.int64]
    counts: NDArray[np.int32]
    terms: NDArray[np.int64]
    group: NDArray[np.int32]
    spare: NDArray[np.int32]
    tally: NDArray[np.int32]


@kernel
def empty_desk(problem: Any, counted: Any) -> Any:
    """Make the room for the contexts of a table."""
    d, n = problem.codes.shape
    return Desk(
        empty_node(problem),
        cuts.empty_room(problem, n),
        np.empty(2 * n + 2, np.int64),
        np.zeros((d, problem.class_count), np.int32),
        np.zeros((2, d), np.int64),
        np.zeros(problem.class_count, np.int32),
        np.zeros(problem.class_count, np.int32),
        np.zeros(counted.codes.shape[0], np.int32),
    )


@inner
def sort_pairs(pairs: Any, size: Any, most: Any) -> Any:
    """Sort ``pairs[:size]`` by their upper halves, up to ``most``; return where they lie then.

    Digit by digit from the lowest on, between two stretches of ``pairs``.
    """
    if size <= FEW:
        for place in range(1, size):
            pair, spot = pairs[place], place
            while spot > 0 and pairs[spot - 1] > pair:
                pairs[spot] = pairs[spot - 1]
                spot -= 1
            pairs[spot] = pair
        return 0
    source, shift = 0, 32
    counts = np.empty(DIGITS + 1, np.int64)
    while most > 0:
        target = size - source
        counts[:] = 0
        for place in range(source, source + size):
            counts[((pairs[place] >> shift) & (DIGITS - 1)) + 1] += 1
        for digit in range(DIGITS):
            counts[digit + 1] += counts[digit]
        for place in range(source, source + size):
            digit = (pairs[place] >> shift) & (DIGITS - 1)
            pairs[target + counts[digit]] = pairs[place]
            counts[digit] += 1
        source, shift, most = target, shift + DIGIT, most >> DIGIT
    return source


@inner
def shrink(problem: Any, tree: Any, node: Any, counted: Any, pairs: Any) -> Any:
    """The problem of one group alone, and the codes that its own ones had before, by attribute.

    An attribute with many more values than the group has records gets only those that occur; on a
    line they are numbered anew.
    """
    start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
    d, size = problem.codes.shape[0], end - start
    most = 0
    for a in range(d):
        values = counted.starts[a + 1] - counted.starts[a]
        most += values if values <= 2 * size else size
    before, starts = np.empty(most, np.int32), np.zeros(d + 1, np.int64)
    codes, meta, filled = np.empty((d, size), np.int32), problem.meta.copy(), 0
    points = np.empty(most + d, np.float64)
    for a in range(d):
        old, first = problem.codes[a], counted.starts[a]
        values = counted.starts[a + 1] - first
        on_line = meta[a, layout.CUT_BY] != layout.BY_TREE
        if values <= 2 * size:
            for place in range(size):
                codes[a, place] = old[start + place]
            for spot in range(values):
                before[filled + spot] = counted.codes[first + spot]
        else:
            low = tree.own_low[node, a]
            for place in range(size):
                pairs[place] = (np.int64(old[start + place] - low) << 32) | place
            source = sort_pairs(pairs, size, np.int64(tree.own_high[node, a] - low))
            values, last = 0, -1
            for place in range(source, source + size):
                code, spot = (pairs[place] >> 32) + low, pairs[place] & 0xFFFFFFFF
                if code != last:
                    before[filled + values] = code
                    values, last = values + 1, code
                codes[a, spot] = values - 1 if on_line else code
        if on_line:
            base = problem.meta[a, layout.POINTS]
            for spot in range(filled, filled + values):
                points[spot] = problem.points[base + before[spot]]
        meta[a, layout.POINTS], meta[a, layout.RANGE_AT] = filled, most + a
        points[most + a] = problem.points[problem.meta[a, layout.RANGE_AT]]
        filled += values
        starts[a + 1] = filled
    own = layout.Problem(
        codes, problem.classes[start:end].copy(), problem.class_count, problem.tight, meta, points,
        problem.trees, problem.path, problem.limits,
    )  # fmt: skip
    return own, before[:filled], starts


@inline
def rest_of(
    problem: Any, tree: Any, node: Any, counted: Any, before: Any, starts: Any, models: Any
) -> Any:
    """Steps to the counts of a release without the leaves below a node, for some codes."""
    rows = before.shape[0] if models & NAIVE_BAYES else 0
    rest = Counted(before, starts, np.zeros((rows, problem.class_count), np.int32))
    if rows > 0:
        first, last = leaves_under(tree, node)
        add_leaves(problem, tree, first, last, np.int64(-1), rest)
    return rest


@inner
def complete(meta: Any, rest: Any, counted: Any) -> Any:
    """Turn steps into counts, and add the release's own."""
    if rest.counts.shape[0] == 0:
        return
    sum_steps(meta, rest)
    rest, counted = borrow(rest), borrow(counted)
    for a in range(rest.starts.shape[0] - 1):
        first, last = counted.starts[a], counted.starts[a + 1]
        for spot in range(rest.starts[a], rest.starts[a + 1]):
            old = locate(counted.codes, first, last, np.int64(rest.codes[spot]))
            for c in range(rest.counts.shape[1]):
                rest.counts[spot, c] += counted.counts[old, c]


@inline
def force(problem: Any, tree: Any, node: Any, a: Any, cut: Any, counted: Any, desk: Any) -> Any:
    """Cut a group on attribute a, and partition every part anew.

    Returns the problem of its records in their old order and in the order of the partition, the
    partition, how many parts it begins with, and the codes that its own ones had before.
    """
    own, before, starts = shrink(problem, tree, node, counted, desk.pairs)
    d, size = own.codes.shape
    order = np.empty(size, np.int32)
    for place in range(size):
        order[place] = place
    low, high = np.empty(d, np.int32), np.empty(d, np.int32)
    for b in range(d):
        low[b], high[b] = tree.low[node, b], tree.high[node, b]
        if own.meta[b, layout.CUT_BY] != layout.BY_TREE:
            low[b] = locate(before, starts[b], starts[b + 1], np.int64(low[b])) - starts[b]
            high[b] = locate(before, starts[b], starts[b + 1], high[b] + 1) - starts[b] - 1
    if own.meta[a, layout.CUT_BY] != layout.BY_TREE:
        cut = locate(before, starts[a], starts[a + 1], np.int64(cut)) - starts[a]
    parts = partition.split(own, order, 0, size, a, cut, desk.room)
    ends = desk.room.parts[cuts.ENDS, :parts].copy()
    lows, highs = np.empty((parts, d), np.int32), np.empty((parts, d), np.int32)
    for part in range(parts):
        for b in range(d):
            lows[part, b], highs[part, b] = low[b], high[b]
        begin = ends[part - 1] if part > 0 else 0
        partition.narrow(own, a, cut, part, order[begin], lows[part], highs[part])
    forest = partition.grow(own, order, ends, lows, highs, desk.room)
    codes, classes = np.empty((d, size), np.int32), np.empty(size, np.int32)
    for b in range(d):
        for place in range(size):
            codes[b, place] = own.codes[b, order[place]]
    for place in range(size):
        classes[place] = own.classes[order[place]]
    laid = layout.Problem(
        codes, classes, own.class_count, own.tight, own.meta, own.points, own.trees, own.path,
        own.limits,
    )  # fmt: skip
    return laid, forest, parts, before, starts


@inline
def own_codes(meta: Any, before: Any, starts: Any) -> Any:
    """The codes of a context's rows as its own problem has them."""
    codes = before.copy()
    for a in range(starts.shape[0] - 1):
        if meta[a, layout.CUT_BY] != layout.BY_TREE:
            for spot in range(starts[a], starts[a + 1]):
                codes[spot] = spot - starts[a]
    return codes
