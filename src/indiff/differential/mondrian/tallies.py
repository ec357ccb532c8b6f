"""Counts what TF features show of f(D⁻ⁱ) to record i: of any one, or in the walk for its tree.

A tree believes of a record that some group covers what that group shows, as the conditional
frequency does (:mod:`indiff.inference.tree`). Of the others its first question follows from the
counts N[a][v][c] that the walk has anyway; behind it only the groups matter that cover the record
on the column asked. These are the groups of D, but for what has changed on the way to the record's
context: the walk notes it, and forgets it when it leaves the context.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.differential.mondrian.counts import NO_TREE, SPOT, TIMES, somebody_holds
from indiff.inference.tree import NO_SPLIT, choose_split, descend
from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.layout import Problem
from indiff.sanitizers.mondrian.partition import grow

GROUPS, PLACES, FULL = 0, 1, 2  # places in Shown.used
FIRST, LAST = 0, 1  # columns of Shown.spans
BITS = 63  # of a whole number that is not below 0
ROOM = 4  # for each group of D; a context inside another has about half its groups


class Shown(NamedTuple):
    """The groups of a release as a tree sees them, and room to count in.

    Records lie in the order of D's partition: ``place_of`` has the place of each of the table's
    rows. Group g covers from ``boxes[g, a]`` to ``boxes[g, d + a]`` on column a, or, where a region
    is a set of ``few`` values, those whose bits ``boxes[g, a]`` has. It has the records
    ``places[FIRST:LAST]`` of ``spans[g]``, ``held[g, c]`` of each class. First come the groups of
    D, then those that are new, and once more, with what they held below 0, those that are gone.
    ``used`` says how many groups and places there are, and whether there was no room for more.
    ``codes_of`` are those of one record.
    """

    codes: NDArray[np.int32]
    place_of: NDArray[np.int32]
    few: NDArray[np.bool_]
    boxes: NDArray[np.int64]
    spans: NDArray[np.int64]
    places: NDArray[np.int32]
    held: NDArray[np.int32]
    used: NDArray[np.int64]
    codes_of: NDArray[np.int64]
    counts: NDArray[np.float64]
    total: NDArray[np.float64]
    covering: NDArray[np.float64]
    unasked: NDArray[np.bool_]


def empty_shown(problem: Problem, ids: NDArray[np.int32], groups: int) -> Shown:
    """Make the room for the groups of a table whose row ``ids[p]`` is the problem's record p.

    Without groups there is none: nobody asks a tree.
    """
    d, n = problem.codes.shape if groups else (len(problem.codes), 0)
    place_of, classes = np.empty(n, np.int32), int(problem.class_count)
    place_of[ids[:n]] = np.arange(n, dtype=np.int32)
    sets = problem.meta[:, layout.LABEL] == layout.MEMBERS
    return Shown(
        codes=problem.codes,
        place_of=place_of,
        few=sets & (problem.codes.max(axis=1, initial=0) < BITS),
        boxes=np.empty((ROOM * groups, 2 * d), np.int64),
        spans=np.empty((ROOM * groups, 2), np.int64),
        places=np.empty(ROOM * n, np.int32),
        held=np.empty((ROOM * groups, classes), np.int32),
        used=np.zeros(3, np.int64),
        codes_of=np.empty(d, np.int64),
        counts=np.zeros((2**d if groups else 0, classes)),
        total=np.empty(classes),
        covering=np.empty((d, classes)),
        unasked=np.ones(d, np.bool_),
    )


@kernel
def note(problem: Any, tree: Any, leaves: Any, sign: Any, ids: Any, shown: Any) -> Any:
    """Note that some leaves are new, or gone; the problem's record p is the table's row ids[p].

    On a line a tight region goes from the lowest to the highest value of its records; a node of a
    hierarchy has the same codes in every context.
    """
    problem, tree, shown = borrow(problem), borrow(tree), borrow(shown)
    leaves, ids, order = borrow(leaves), borrow(ids), tree.order
    d, used, boxes = problem.codes.shape[0], shown.used, shown.boxes
    for position in range(leaves.shape[0]):
        leaf = leaves[position]
        start, end = tree.nodes[leaf, layout.START], tree.nodes[leaf, layout.END]
        group, first = used[GROUPS], used[PLACES]
        last = first + end - start
        if group == boxes.shape[0] or last > shown.places.shape[0]:
            used[FULL] = 1
            return
        held = shown.held[group]
        held[:] = 0
        for place in range(start, end):
            shown.places[first + place - start] = shown.place_of[ids[order[place]]]
            held[problem.classes[order[place]]] += sign
        for a in range(d):
            low, high = np.int64(tree.low[leaf, a]), np.int64(tree.high[leaf, a])
            if shown.few[a]:
                low = np.int64(0)
                for place in range(first, last):
                    low |= np.int64(1) << shown.codes[a, shown.places[place]]
            elif problem.meta[a, layout.CUT_BY] != layout.BY_TREE:
                low = high = np.int64(shown.codes[a, shown.places[first]])
                for place in range(first + 1, last):
                    code = np.int64(shown.codes[a, shown.places[place]])
                    low, high = min(low, code), max(high, code)
            boxes[group, a], boxes[group, d + a] = low, high
        shown.spans[group, FIRST], shown.spans[group, LAST] = first, last
        used[GROUPS], used[PLACES] = group + 1, last


@inner
def begin_tree(
    problem: Any, totals: Any, own: Any, table: Any, terms: Any, less: Any, group: Any, row: Any,
    shown: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Ask a tree's first question about a row that no group covers, and count what is behind it.

    The counts N[a][v][c] are given as :func:`.counts.believe` has them. Returns the column asked;
    NO_SPLIT where nothing is left to do, since there is nothing to ask or no room was left.
    """
    if shown.used[FULL] or not problem.tight:
        outcome.uncovered[row] = NO_TREE
        return NO_SPLIT
    total, covering, size = shown.total, shown.covering, 0.0
    for c in range(total.shape[0]):
        total[c] = totals[c] - (c == own)
        size += total[c]
    for a in range(covering.shape[0]):
        counts, times = table[terms[SPOT, a]], terms[TIMES, a]
        for c in range(total.shape[0]):
            covering[a, c] = counts[c] + times * group[c]
        covering[a, own] -= less
        shown.unasked[a] = True
    column = choose_split(total, size, covering, shown.unasked)
    if column == NO_SPLIT:
        for c in range(total.shape[0]):
            outcome.tree[row, c] = total[c] / size
    else:
        count_shown(problem.meta, row, column, shown)
    return column


@inline
def covers(meta: Any, a: Any, group: Any, shown: Any) -> Any:
    """1 if a group's region covers the value of the record in hand on column a, and 0 if not.

    Nobody can foretell which: numbers are put together, and no way is chosen.
    """
    code, low = shown.codes_of[a], shown.boxes[group, a]
    if shown.few[a]:
        return (low >> code) & 1
    high = shown.boxes[group, shown.few.shape[0] + a]
    inside = np.int64(low <= code) & np.int64(code <= high)
    if meta[a, layout.LABEL] == layout.MEMBERS and inside:
        first, last = shown.spans[group, FIRST], shown.spans[group, LAST]
        inside = np.int64(somebody_holds(shown.codes[a], shown.places, first, last, code))
    return inside


@inner
def count_shown(meta: Any, row: Any, column: Any, shown: Any) -> Any:
    """Count by pattern the records of the groups that cover a row on one column."""
    shown, place = borrow(shown), shown.place_of[row]
    counts, held = shown.counts, shown.held
    counts[:] = 0.0
    for a in range(meta.shape[0]):
        shown.codes_of[a] = shown.codes[a, place]
    for group in range(shown.used[GROUPS]):
        if covers(meta, column, group, shown):
            pattern = np.int64(0)
            for a in range(meta.shape[0]):
                pattern = 2 * pattern + covers(meta, a, group, shown)
            for c in range(held.shape[1]):
                counts[pattern, c] += held[group, c]


@inner
def end_tree(column: Any, shown: Any, belief: Any) -> Any:
    """Write what a tree believes that asked a column first, from what was counted behind it."""
    node = np.int64(1) << (shown.covering.shape[0] - 1 - column)
    descend(shown.counts, node, shown.total, shown.covering, shown.unasked, belief)


@kernel
def tally_without(problem: Any, tree: Any, roots: Any, place: Any) -> Any:
    """The counts by pattern and class of f(D⁻ⁱ) for the record i at a place.

    The problem's records lie in the order of the tree, which has so many roots.
    """
    d, n = problem.codes.shape
    counts, others = np.zeros((1 << d, problem.class_count)), np.empty(n - 1, np.int32)
    for spot in range(n - 1):
        others[spot] = spot + (spot >= place)
    ends, twins = np.empty(roots, np.int32), np.empty(roots, np.int32)
    for root in range(roots):
        stop = tree.nodes[root, layout.END]
        ends[root], twins[root] = stop - (stop > place), root
    fresh, new, gone = grow(
        problem, others, ends, tree.low[:roots], tree.high[:roots], tree, twins, np.empty(0),
        np.int64(0), empty_room(problem, n),
    )  # fmt: skip
    add_cover(problem, tree, tree.leaves, 1.0, place, counts)
    add_cover(problem, tree, gone, -1.0, place, counts)
    add_cover(problem, fresh, new, 1.0, place, counts)
    return counts


@inner
def add_cover(problem: Any, tree: Any, leaves: Any, sign: Any, target: Any, counts: Any) -> Any:
    """Add the records of some leaves by the columns on which their region covers a target."""
    problem, tree, leaves = borrow(problem), borrow(tree), borrow(leaves)
    classes, order = problem.classes, tree.order
    for position in range(leaves.shape[0]):
        leaf, pattern = leaves[position], 0
        start, end = tree.nodes[leaf, layout.START], tree.nodes[leaf, layout.END]
        for a in range(problem.codes.shape[0]):
            code = problem.codes[a, target]
            covers = tree.low[leaf, a] <= code <= tree.high[leaf, a]
            if covers and problem.meta[a, layout.LABEL] == layout.MEMBERS:
                covers = somebody_holds(problem.codes[a], order, start, end, code)
            pattern = 2 * pattern + covers
        for place in range(start, end):
            counts[pattern, classes[order[place]]] += sign
