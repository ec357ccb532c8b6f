"""Makes a context of one group: its records alone, with codes of their own, and their counts.

Whatever is done with a group takes time by its own size, however large the table is: its codes
lie side by side in the order of its partition, and those on a line are numbered anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.differential.mondrian.counts import (
    COUNTING,
    TREE,
    Counted,
    add_leaves,
    locate,
    sum_steps,
)
from indiff.differential.mondrian.node import Node, empty_node
from indiff.differential.mondrian.shown import Shown, note
from indiff.kernels import borrow, first_at_least, inline, inner, kernel
from indiff.sanitizers.mondrian import cuts, layout, partition
from indiff.sanitizers.mondrian.cuts import Room
from indiff.sanitizers.mondrian.twins import leaves_under

FEW = 48  # so many numbers are sorted by insertion
DIGIT, DIGITS = 8, 256
SPARSE = 8  # up to so many codes a record are counted, others are sorted


class Desk(NamedTuple):
    """Room to work in that is made once for all contexts of a walk.

    ``pairs`` is for sorting, in the memory that ``room`` has for a group's codes; ``counts``,
    ``terms`` and ``group`` are those about one target, ``spare`` another group's that nobody asks
    for; ``tally`` has a number for every value, all 0 between two uses. ``shown`` are the groups
    for a tree.
    """

    node: Node
    room: Room
    pairs: NDArray[np.int64]
    counts: NDArray[np.int32]
    terms: NDArray[np.int64]
    group: NDArray[np.int32]
    spare: NDArray[np.int32]
    tally: NDArray[np.int32]
    shown: Shown


@kernel
def empty_desk(problem: Any, counted: Any, shown: Any) -> Any:
    """Make the room for the contexts of a table."""
    d, n = problem.codes.shape
    pairs, room = np.empty(2 * n + 2, np.int64), cuts.empty_room(problem, 0)
    work, bins = pairs[: n + 1].view(np.int32), pairs[n + 1 :].view(np.int32)
    return Desk(
        empty_node(problem),
        Room(work, bins, room.parts, room.counts, room.known),
        pairs,
        np.zeros((d, problem.class_count), np.int32),
        np.zeros((2, d), np.int64),
        np.zeros(problem.class_count, np.int32),
        np.zeros(problem.class_count, np.int32),
        np.zeros(counted.codes.shape[0], np.int32),
        shown,
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
def renumber(tree: Any, a: Any, tight: Any, codes: Any, low: Any, ranks: Any) -> Any:
    """Number the bounds and cuts of a tree on attribute a as the codes that its records hold.

    ``codes`` are those, ascending. Where ``ranks`` is not empty, ``ranks[code - low]`` says how
    many of them are below a code.
    """
    tree, codes, ranks = borrow(tree), borrow(codes), borrow(ranks)
    most = np.int64(codes.shape[0])
    for node in range(tree.nodes.shape[0]):
        for which in range(3 if tight else 5):
            if which == 0:
                code = np.int64(tree.nodes[node, layout.CUT])
            elif which < 3:
                code = np.int64(tree.low[node, a] if which == 1 else tree.high[node, a])
            else:
                code = np.int64(tree.own_low[node, a] if which == 3 else tree.own_high[node, a])
            if which == 0 and tree.nodes[node, layout.ATTRIBUTE] != a:
                continue
            below = which == 1 or which == 3  # the first that is not lower, or the last not higher
            code += 0 if below else 1
            if code <= low:
                place = np.int64(0)
            elif code > codes[most - 1]:
                place = most
            elif ranks.shape[0] > 0:
                place = np.int64(ranks[code - low])
            else:
                place = first_at_least(codes, np.int64(0), most, code)
            place -= 0 if below else 1
            if which == 0:
                tree.nodes[node, layout.CUT] = place
            elif which == 1:
                tree.low[node, a] = place
            elif which == 2:
                tree.high[node, a] = place
            elif which == 3:
                tree.own_low[node, a] = place
            else:
                tree.own_high[node, a] = place


@inner
def shrink(problem: Any, tree: Any, counted: Any, pairs: Any) -> Any:
    """The problem of a tree's records alone, and the codes that its own ones had before.

    An attribute with many more values than there are records gets only those that occur; on a line
    they are numbered anew, also in the tree. The records lie in the order of the tree.
    """
    problem, tree, counted, pairs = borrow(problem), borrow(tree), borrow(counted), borrow(pairs)
    order = tree.order
    d, size, most = problem.codes.shape[0], order.shape[0], 0
    for a in range(d):
        values = counted.starts[a + 1] - counted.starts[a]
        most += values if values <= 2 * size else size
    before, starts = np.empty(most + 1, np.int32), np.zeros(d + 1, np.int64)
    codes, meta, filled = np.empty((d, size), np.int32), problem.meta.copy(), 0
    points = np.empty(most + d, np.float64)
    for a in range(d):
        old, own, first = problem.codes[a], codes[a], counted.starts[a]
        values = counted.starts[a + 1] - first
        on_line = meta[a, layout.CUT_BY] != layout.BY_TREE
        low = high = np.int64(old[order[0]])
        for place in range(size):
            before_it = np.int64(old[order[place]])
            own[place] = before_it
            low, high = min(low, before_it), max(high, before_it)
        spread = high - low + 2
        if values <= 2 * size:
            for spot in range(values):
                before[filled + spot] = counted.codes[first + spot]
        elif spread <= SPARSE * size and spread <= pairs.shape[0]:
            for code in range(spread):
                pairs[code] = 0
            for place in range(size):
                pairs[own[place] - low] = 1
            values = 0
            for code in range(spread):
                held = pairs[code]
                pairs[code] = values
                before[filled + values] = low + code
                values += held
            if on_line:
                for place in range(size):
                    own[place] = pairs[own[place] - low]
                held = before[filled : filled + values]
                renumber(tree, np.int64(a), problem.tight, held, low, pairs[:spread])
        else:
            for place in range(size):
                pairs[place] = ((own[place] - low) << 32) | place
            source = sort_pairs(pairs, size, high - low)
            values, last = 0, np.int64(-1)
            for place in range(source, source + size):
                code, spot = (pairs[place] >> 32) + low, pairs[place] & 0xFFFFFFFF
                if code != last:
                    before[filled + values] = code
                    values, last = values + 1, code
                if on_line:
                    own[spot] = values - 1
            if on_line:
                held = before[filled : filled + values]
                renumber(tree, np.int64(a), problem.tight, held, low, pairs[:0])
        if on_line:
            base = problem.meta[a, layout.POINTS]
            for spot in range(filled, filled + values):
                points[spot] = problem.points[base + before[spot]]
        meta[a, layout.POINTS], meta[a, layout.RANGE_AT] = filled, most + a
        points[most + a] = problem.points[problem.meta[a, layout.RANGE_AT]]
        filled += values
        starts[a + 1] = filled
    classes = np.empty(size, np.int32)
    for place in range(size):
        classes[place] = problem.classes[order[place]]
    own_problem = layout.Problem(
        codes, classes, problem.class_count, problem.tight, meta, points, problem.trees,
        problem.path, problem.limits,
    )  # fmt: skip
    return own_problem, before[:filled], starts


@inner
def complete(meta: Any, rest: Any, counted: Any) -> Any:
    """Turn steps into counts, and add the release's own."""
    meta, rest, counted = borrow(meta), borrow(rest), borrow(counted)
    if rest.counts.shape[0] == 0:
        return
    sum_steps(meta, rest)
    for a in range(rest.starts.shape[0] - 1):
        first, last = counted.starts[a], counted.starts[a + 1]
        for spot in range(rest.starts[a], rest.starts[a + 1]):
            old = locate(counted.codes, first, last, np.int64(rest.codes[spot]))
            for c in range(rest.counts.shape[1]):
                rest.counts[spot, c] += counted.counts[old, c]


@inner
def grow_parts(
    problem: Any, tree: Any, node: Any, a: Any, cut: Any, order: Any, ends: Any, chosen: Any,
    which: Any, room: Any,
) -> Any:  # fmt: skip
    """Partition some parts of a group that was cut: those that are ``chosen`` as ``which`` says.

    They are compared with the children of the group where it was cut on the same attribute, and
    copied where targets walk on into them (``which`` is 1).
    """
    problem, tree, order = borrow(problem), borrow(tree), borrow(order)
    ends, chosen, room = borrow(ends), borrow(chosen), borrow(room)
    d, parts, records, number = problem.codes.shape[0], ends.shape[0], 0, 0
    for part in range(parts):
        if chosen[part] == which:
            records += ends[part] - (ends[part - 1] if part > 0 else 0)
            number += 1
    own_order, own_ends = np.empty(records, np.int32), np.empty(number, np.int32)
    lows, highs = np.empty((number, d), np.int32), np.empty((number, d), np.int32)
    twins = np.empty(number, np.int32)
    like = tree.nodes[node, layout.ATTRIBUTE] == a and tree.nodes[node, layout.CHILDREN] == parts
    records = number = 0
    for part in range(parts):
        if chosen[part] != which:
            continue
        begin = ends[part - 1] if part > 0 else 0
        for place in range(begin, ends[part]):
            own_order[records] = order[place]
            records += 1
        for b in range(d):
            lows[number, b], highs[number, b] = tree.low[node, b], tree.high[node, b]
        partition.narrow(problem, a, cut, part, order[begin], lows[number], highs[number])
        twins[number] = tree.nodes[node, layout.CHILD] + part if like else -1
        own_ends[number] = records
        number += 1
    return partition.grow(
        problem, own_order, own_ends, lows, highs, tree, twins, np.empty(0), which, room
    )


@inline
def stretch(start: Any, end: Any) -> Any:
    """The numbers from ``start`` to before ``end``."""
    numbers = np.empty(end - start, np.int32)
    for place in range(end - start):
        numbers[place] = start + place
    return numbers


@inline
def force(
    problem: Any, tree: Any, node: Any, a: Any, cut: Any, ids: Any, keys: Any, key: Any,
    counted: Any, models: Any, desk: Any,
) -> Any:  # fmt: skip
    """Cut a group on attribute a, and partition its parts anew: the context of the targets there.

    Returns the parts into which the targets with this key walk on: the problem of their records
    alone, their partition, where its records lay in the group's problem, how many parts they are;
    and the counts of the whole release for their values. What is gone and what is new is noted for
    a tree.
    """
    start, end = np.int64(tree.nodes[node, layout.START]), np.int64(tree.nodes[node, layout.END])
    order = stretch(start, end)
    if problem.meta[a, layout.CUT_BY] == layout.BY_TREE:
        sizes = desk.room.parts[cuts.SIZES]
        cuts.count_parts(problem, a, order, np.int64(0), end - start, cut, sizes)
    parts = partition.split(problem, order, np.int64(0), end - start, a, cut, desk.room)
    ends, chosen = desk.room.parts[cuts.ENDS, :parts].copy(), np.zeros(parts, np.int32)
    begin = 0
    for part in range(parts):
        for place in range(begin, ends[part]):
            if keys[order[place]] == key:
                chosen[part] = 1
                break
        begin = ends[part]
    a, node, cut = np.int64(a), np.int64(node), np.int64(cut)
    others, new, gone = grow_parts(
        problem, tree, node, a, cut, order, ends, chosen, np.int64(0), desk.room
    )
    forest, own_new, own_gone = grow_parts(
        problem, tree, node, a, cut, order, ends, chosen, np.int64(1), desk.room
    )
    if tree.nodes[node, layout.ATTRIBUTE] != a or tree.nodes[node, layout.CHILDREN] != parts:
        first, last = leaves_under(tree, node)  # no part is compared with what there was
        gone, own_gone = tree.leaves[first:last], tree.leaves[:0]
    if models & TREE:
        note(problem, tree, gone, np.int64(-1), ids, desk.shown)
        note(problem, tree, own_gone, np.int64(-1), ids, desk.shown)
        note(problem, others, new, np.int64(1), ids, desk.shown)
        note(problem, forest, own_new, np.int64(1), ids, desk.shown)
    roots = np.int64(0)
    for part in range(parts):
        roots += chosen[part]
    places = np.empty_like(forest.order)
    own, before, starts = shrink(problem, forest, counted, desk.pairs)
    for place in range(places.shape[0]):
        places[place], forest.order[place] = forest.order[place], place
    rows = before.shape[0] if models & COUNTING else 0
    rest = Counted(before, starts, np.zeros((rows, problem.class_count), np.int32))
    fresh = Counted(own_codes(own.meta, before, starts), starts, rest.counts)
    if rows > 0:
        add_leaves(problem, tree, gone, np.int64(-1), rest)
        add_leaves(problem, tree, own_gone, np.int64(-1), rest)
        add_leaves(problem, others, new, np.int64(1), rest)
        add_leaves(own, forest, own_new, np.int64(1), fresh)
    complete(own.meta, rest, counted)
    return own, forest, places, roots, fresh


@inline
def rest_of(problem: Any, tree: Any, node: Any, counted: Any, models: Any, pairs: Any) -> Any:
    """The counts of a release without the leaves below a node, for its records' values."""
    start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
    first, last = leaves_under(tree, node)
    alone = layout.Tree(
        stretch(start, end), tree.nodes[:0], tree.low[:0], tree.high[:0], tree.own_low[:0],
        tree.own_high[:0], tree.leaves[:0],
    )  # fmt: skip
    own, before, starts = shrink(problem, alone, counted, pairs)
    rows = before.shape[0] if models & COUNTING else 0
    rest = Counted(before, starts, np.zeros((rows, problem.class_count), np.int32))
    if rows > 0:
        add_leaves(problem, tree, tree.leaves[first:last], np.int64(-1), rest)
    complete(own.meta, rest, counted)
    return rest


@inline
def own_codes(meta: Any, before: Any, starts: Any) -> Any:
    """The codes of a context's rows as its own problem has them."""
    codes = before.copy()
    for a in range(starts.shape[0] - 1):
        if meta[a, layout.CUT_BY] != layout.BY_TREE:
            for spot in range(starts[a], starts[a + 1]):
                codes[spot] = spot - starts[a]
    return codes
