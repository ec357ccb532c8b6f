"""Finds the groups of D that cover a record on some columns, without a look at every group.

Columns with few values span a *cube*: for every combination of their values, any of the columns
left out, the records of the groups that cover it. For any other column, *shelves* list the groups
that may cover its codes, each for a stretch of them, on a board for each value of a column of the
cube. The groups that cover a record on a column of the second kind lie on the shelves of its codes;
what the others hold follows from the cube.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.shown import (
    BLOCK,
    BOARD,
    FEW,
    GROUPS,
    OF_TABLE,
    SET,
    SHELF,
    SHIFT,
    STRIDE,
    Index,
    is_held,
    may_cover,
)
from indiff.kernels import borrow, inline, inner, kernel

SHELVES = 4096  # at most so many for a column
LISTED = 8  # so often is a group listed on a column's shelves, on average
CELLS = 100  # of the cube: at most so many for each record of the table
MOST_CELLS = 2**24
PLACES = 256  # of the cube: at most so many for a group, on average


@kernel
def index_groups(values: Any, order: Any, kinds: Any, boxes: Any, held: Any, records: Any) -> Any:
    """Index groups by columns with so many values: what they cover and hold, as ``Shown`` has it.

    ``order`` has the columns, those with fewer values first, ``records`` says how many there are.
    """
    boxes, held, groups, d = borrow(boxes), borrow(held), boxes.shape[0], values.shape[0]
    strides, cube = span_cube(values, order, kinds, boxes, held, records)
    about, number = np.zeros((4, d + 1), np.int64), 0
    shelves, shifts, boards = about[SHELF], about[SHIFT], about[BOARD]
    boards[d] = 1
    for a in range(d):
        if strides[a]:
            about[STRIDE, a], boards[a] = strides[a], boards[d]
            boards[d] += values[a]
            continue
        while True:
            listed = 0
            for group in range(groups):
                first, last = stretch_of(a, group, shifts[a], kinds, boxes)
                listed += last - first + 1
            if listed <= LISTED * groups and values[a] >> shifts[a] < SHELVES:
                break
            shifts[a] += 1
        shelves[a] = number
        number += 1 + (values[a] >> shifts[a])
    starts, on = np.zeros(number * boards[d] + 1, np.int64), np.empty(boards[d], np.int64)
    lists = np.empty(0, np.int32)
    for way in range(2):  # first count, then list
        for group in range(groups):
            size = on[0] = 0
            for a in range(d):
                for code in range(values[a] if strides[a] else 0):
                    if may_cover(code, a, group, kinds, boxes):
                        size += 1
                        on[size] = boards[a] + code
            for a in range(d):
                if strides[a]:
                    continue
                first, last = stretch_of(a, group, shifts[a], kinds, boxes)
                for shelf in range(shelves[a] + first, shelves[a] + last + 1):
                    for spot in range(size + 1):
                        place = shelf * boards[d] + on[spot]
                        starts[place] += 1 - 2 * way
                        if way:
                            lists[starts[place]] = group
        if way == 0:  # each ends where the next begins: it is filled from its end
            for place in range(1, starts.shape[0]):
                starts[place] += starts[place - 1]
            lists = np.empty(starts[starts.shape[0] - 1], np.int32)
    return Index(about, cube, starts, lists)


@inline
def stretch_of(a: Any, group: Any, shift: Any, kinds: Any, boxes: Any) -> Any:
    """The first and the last shelf of a column on which a group is listed."""
    low, high = boxes[group, a], boxes[group, kinds.shape[0] + a]
    if kinds[a] == FEW:
        held, low, high = low, 0, -1
        while held >> (high + 1):
            high += 1
        while not (held >> low) & 1:
            low += 1
    return low >> shift, high >> shift


@inner
def span_cube(values: Any, order: Any, kinds: Any, boxes: Any, held: Any, records: Any) -> Any:
    """Choose the columns of the cube, those with the fewest values, and count in it.

    A group is counted at every combination of values that it covers, which must not be too many.
    """
    groups, classes, strides = boxes.shape[0], held.shape[1], np.zeros(values.shape[0], np.int64)
    most, rows = min(MOST_CELLS, CELLS * records), np.int64(1)
    places, more = np.ones(groups, np.int64), np.empty(groups, np.int64)
    for a in order:
        if rows * (values[a] + 1) * classes > most or kinds[a] == SET:
            continue
        total = 0
        for group in range(groups):
            covered = np.int64(1)
            for code in range(values[a]):
                covered += may_cover(code, a, group, kinds, boxes)
            more[group] = covered * places[group]
            total += more[group]
        if total <= PLACES * groups:
            strides[a], rows = rows, rows * (values[a] + 1)
            places, more = more, places
    cube, spots = np.zeros((rows, classes), np.int32), np.zeros(rows, np.int64)
    for group in range(groups):
        size = 1
        for a in range(values.shape[0]):
            known = size
            for code in range(values[a] if strides[a] else 0):
                if may_cover(code, a, group, kinds, boxes):
                    for spot in range(known):
                        spots[size] = spots[spot] + strides[a] * (code + 1)
                        size += 1
        for spot in range(size):
            for c in range(classes):
                cube[spots[spot], c] += held[group, c]
    return strides, cube


@inner
def count_shown(row: Any, column: Any, shown: Any) -> Any:
    """Count by pattern the records of the groups that cover a row on one column.

    A pattern is a number with the bits of the columns on which a group covers the row, the first
    column's the highest. Patterns without the column in question may have any count. First come
    the groups of D on the shelves of a column, one after the other; then what was noted.
    """
    shown, place = borrow(shown), shown.place_of[row]
    counts, index, codes, d = shown.counts, shown.lookup, shown.codes_of, shown.kinds.shape[0]
    counts[:] = 0.0
    for a in range(d):
        codes[a] = shown.codes[a, place]
    of_cube, known = look_up(column, codes, index, counts), np.int64(0)
    about, board = index.about, np.int64(0)
    if about[STRIDE, column]:
        board = about[BOARD, column] + codes[column]
    for a in range(d):
        if about[STRIDE, a] or (a != column and not about[STRIDE, column]):
            continue
        bit = np.int64(1) << (d - 1 - a)
        on = (about[SHELF, a] + (codes[a] >> about[SHIFT, a])) * about[BOARD, d] + board
        add_groups(index.lists, index.starts[on], index.starts[on + 1], known | bit, bit, shown)
        known |= bit
    take_from_cube(of_cube, known, counts)
    own, noted = np.int64(1) << (d - 1 - column), shown.used
    add_groups(index.lists[:0], noted[OF_TABLE], noted[GROUPS], own, own, shown)


@inner
def add_groups(lists: Any, begin: Any, end: Any, asked: Any, wanted: Any, shown: Any) -> Any:
    """Count listed groups whose patterns have the bits wanted of those asked; without a list, all.

    Some at once, column by column: a processor cannot foretell what covers a record, and takes
    several groups in the time of one where it need not choose a way.
    """
    lists, shown = borrow(lists), borrow(shown)
    groups, patterns, codes, kinds = shown.block, shown.patterns, shown.codes_of, shown.kinds
    counts, held, boxes, d = shown.counts, shown.held, shown.boxes, shown.kinds.shape[0]
    sets = np.int64(0)
    for a in range(d):
        sets = 2 * sets + (kinds[a] == SET)
    for first in range(begin, end, BLOCK):
        size = min(np.int64(BLOCK), end - first)
        for spot in range(size):
            groups[spot] = lists[first + spot] if lists.shape[0] > 0 else first + spot
            patterns[spot] = 0
        for a in range(d):
            code = codes[a]
            if kinds[a] == FEW:
                for spot in range(size):
                    covers = (boxes[groups[spot], a] >> code) & 1
                    patterns[spot] = 2 * patterns[spot] + covers
                continue
            for spot in range(size):  # 0 where a difference is below 0, whose sign is −1
                below, above = code - boxes[groups[spot], a], boxes[groups[spot], d + a] - code
                patterns[spot] = 2 * patterns[spot] + 1 + ((below | above) >> 63)
        for spot in range(size):
            pattern, group = patterns[spot], groups[spot]
            if pattern & wanted != wanted:
                continue
            for a in range(d if pattern & sets else 0):
                bit = np.int64(1) << (d - 1 - a)
                if pattern & sets & bit:
                    span = shown.spans[group]
                    pattern -= bit * (1 - is_held(codes[a], shown.codes[a], shown.places, span))
            if pattern & asked == wanted:
                for c in range(counts.shape[1]):
                    counts[pattern, c] += held[group, c]


@inner
def take_from_cube(of_cube: Any, known: Any, counts: Any) -> Any:
    """Subtract from the patterns on the cube's columns what was counted with others, too."""
    for pattern in range(counts.shape[0]):
        if pattern & known:
            for c in range(counts.shape[1]):
                counts[pattern & of_cube, c] -= counts[pattern, c]


@inner
def look_up(column: Any, codes: Any, index: Any, counts: Any) -> Any:
    """Count by pattern as if no group covered the record but on columns of the cube; return these.

    The cube has those who cover some columns and maybe more: from it the latter are subtracted.
    """
    d = codes.shape[0]
    of_cube, own = np.int64(0), np.int64(1) << (d - 1 - column)
    for a in range(d):
        of_cube = 2 * of_cube + (index.about[STRIDE, a] != 0)
    if not of_cube & own:
        return of_cube
    others = rest = of_cube ^ own
    while True:
        spot = np.int64(0)
        for a in range(d):
            if ((others | own) >> (d - 1 - a)) & 1:
                spot += index.about[STRIDE, a] * (codes[a] + 1)
        for c in range(counts.shape[1]):
            counts[others | own, c] = index.cube[spot, c]
        if others == 0:
            break
        others = (others - 1) & rest
    for a in range(d):
        bit = np.int64(1) << (d - 1 - a)
        others = rest & ~bit
        while rest & bit:
            for c in range(counts.shape[1]):
                counts[others | own, c] -= counts[others | own | bit, c]
            if others == 0:
                break
            others = (others - 1) & rest & ~bit
    return of_cube
