"""Shows the groups of a release to a tree: what each covers on every column, and holds of a class.

The walk notes what is gone and what is new in its contexts, and forgets it when it leaves them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.layout import Problem

GROUPS, PLACES, FULL, OF_TABLE = 0, 1, 2, 3  # places in Shown.used
FIRST, LAST = 0, 1  # columns of Shown.spans
STRIDE, SHELF, SHIFT, BOARD = 0, 1, 2, 3  # rows of Index.about
RANGE, SET, FEW = 0, 1, 2  # in Shown.kinds
BITS = 63  # of a whole number that is not below 0
BLOCK = 128  # so many groups are looked at together
ROOM = 4  # for each group of D; a context inside another has about half its groups


class Index(NamedTuple):
    """Where to find the groups of D that cover a record (:mod:`.cover_index`).

    Column a is one of the cube where ``about[STRIDE, a]`` is not 0: the groups that cover some
    codes on some of these columns hold ``cube[Σ about[STRIDE, a] · (code + 1), c]`` records of
    class c. The groups that may cover a code of any other column are ``lists[starts[b] : starts[b +
    1]]`` where b is ``(about[SHELF, a] + (code >> about[SHIFT, a])) * about[BOARD, d]``; on the
    board b + ``about[BOARD, e]`` + v are those of them that also cover value v of the cube's column
    e.
    """

    about: NDArray[np.int64]
    cube: NDArray[np.int32]
    starts: NDArray[np.int64]
    lists: NDArray[np.int32]


class Shown(NamedTuple):
    """The groups of a release as a tree sees them, and room to count in.

    Records lie in the order of D's partition: ``place_of`` has the place of each of the table's
    rows. Group g covers from ``boxes[g, a]`` to ``boxes[g, d + a]`` on column a; where ``kinds[a]``
    is SET, what its records hold of that; where it is FEW, the values whose bits ``boxes[g, a]``
    has. It has the records
    ``places[FIRST:LAST]`` of ``spans[g]``, ``held[g, c]`` of each class. First come the groups of
    D, then those that are new, and once more, with what they held below 0, those that are gone.
    ``used`` says how many groups and places there are, whether there was no room for more, and how
    many groups D has, which ``lookup`` finds. ``codes_of`` are those of one record; the
    ``patterns`` of a ``block`` of groups are found together.
    """

    codes: NDArray[np.int32]
    place_of: NDArray[np.int32]
    kinds: NDArray[np.int64]
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
    block: NDArray[np.int64]
    patterns: NDArray[np.int64]
    lookup: Index


def empty_shown(problem: Problem, ids: NDArray[np.int32], groups: int) -> Shown:
    """Make the room for the groups of a table whose row ``ids[p]`` is the problem's record p.

    Without groups there is none: nobody asks a tree.
    """
    d, n = problem.codes.shape if groups else (len(problem.codes), 0)
    place_of, classes = np.empty(n, np.int32), int(problem.class_count)
    place_of[ids[:n]] = np.arange(n, dtype=np.int32)
    sets = problem.meta[:, layout.LABEL] == layout.MEMBERS
    few = sets & (problem.codes.max(axis=1, initial=0) < BITS)
    return Shown(
        codes=problem.codes,
        place_of=place_of,
        kinds=np.where(few, FEW, np.where(sets, SET, RANGE)),
        boxes=np.empty((ROOM * groups, 2 * d), np.int64),
        spans=np.empty((ROOM * groups, 2), np.int64),
        places=np.empty(ROOM * n, np.int32),
        held=np.empty((ROOM * groups, classes), np.int32),
        used=np.zeros(4, np.int64),
        codes_of=np.empty(d, np.int64),
        counts=np.zeros((2**d if groups else 0, classes)),
        total=np.empty(classes),
        covering=np.empty((d, classes)),
        unasked=np.ones(d, np.bool_),
        block=np.empty(BLOCK, np.int64),
        patterns=np.empty(BLOCK, np.int64),
        lookup=Index(
            about=np.zeros((4, d + 1), np.int64),
            cube=np.empty((0, classes), np.int32),
            starts=np.zeros(1, np.int64),
            lists=np.empty(0, np.int32),
        ),
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
            if shown.kinds[a] == FEW:
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


@inline
def may_cover(code: Any, a: Any, group: Any, kinds: Any, boxes: Any) -> Any:
    """1 if a group's region covers a code of column a, and 0 if not; of a larger set, if it may."""
    low = boxes[group, a]
    if kinds[a] == FEW:
        return (low >> code) & 1
    return np.int64(low <= code) & np.int64(code <= boxes[group, kinds.shape[0] + a])


@inner
def is_held(code: Any, codes: Any, places: Any, span: Any) -> Any:
    """1 if a record at the places of a group's span holds a code, and 0 if not."""
    for spot in range(span[FIRST], span[LAST]):
        if codes[places[spot]] == code:
            return np.int64(1)
    return np.int64(0)
