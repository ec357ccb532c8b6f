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

from indiff.differential.mondrian.shown import GROUPS, OF_TABLE, Index, is_held, may_cover
from indiff.kernels import borrow, inline, inner, kernel

SHELVES = 4096  # at most so many for a column
LISTED = 8  # so often is a group listed on a column's shelves, on average
CELLS = 100  # of the cube: at most so many for each record of the table
MOST_CELLS = 2**24
PLACES = 256  # of the cube: at most so many for a group, on average


@kernel
def index_groups(values: Any, shown: Any) -> Any:
    """Index the groups that are shown, those of D, by columns with so many values."""
    shown, groups, d = borrow(shown), shown.used[GROUPS], values.shape[0]
    strides, cube = span_cube(values, groups, shown)
    few, boxes = shown.few, shown.boxes
    shelves, shifts = np.zeros_like(values), np.zeros_like(values)
    boards, number = np.ones(d + 1, np.int64), 0
    for a in range(d):
        if strides[a]:
            boards[a] = boards[d]
            boards[d] += values[a]
            continue
        while True:
            listed = 0
            for group in range(groups):
                first, last = stretch_of(a, group, shifts[a], shown)
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
                    if may_cover(code, a, group, few, boxes):
                        size += 1
                        on[size] = boards[a] + code
            for a in range(d):
                if strides[a]:
                    continue
                first, last = stretch_of(a, group, shifts[a], shown)
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
    return Index(strides, cube, boards, shelves, shifts, starts, lists)


@inline
def stretch_of(a: Any, group: Any, shift: Any, shown: Any) -> Any:
    """The first and the last shelf of a column on which a group is listed."""
    low, high = shown.boxes[group, a], shown.boxes[group, shown.few.shape[0] + a]
    if shown.few[a]:
        held, low, high = low, 0, -1
        while held >> (high + 1):
            high += 1
        while not (held >> low) & 1:
            low += 1
    return low >> shift, high >> shift


@inner
def span_cube(values: Any, groups: Any, shown: Any) -> Any:
    """Choose the columns of the cube, those with the fewest values, and count in it.

    A group is counted at every combination of values that it covers, which must not be too many.
    """
    few, boxes, held, strides = shown.few, shown.boxes, shown.held, np.zeros_like(values)
    classes = held.shape[1]
    most, rows = min(MOST_CELLS, CELLS * shown.codes.shape[1]), np.int64(1)
    places, more = np.ones(groups, np.int64), np.empty(groups, np.int64)
    for a in np.argsort(values):
        if rows * (values[a] + 1) * classes > most or shown.sets[a]:
            continue
        total = 0
        for group in range(groups):
            covered = np.int64(1)
            for code in range(values[a]):
                covered += may_cover(code, a, group, few, boxes)
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
                if may_cover(code, a, group, few, boxes):
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
    column's the highest. Patterns without the column in question may have any count.
    """
    shown, place = borrow(shown), shown.place_of[row]
    counts, held, index, codes = shown.counts, shown.held, shown.lookup, shown.codes_of
    few, boxes, d = shown.few, shown.boxes, shown.few.shape[0]
    counts[:] = 0.0
    for a in range(d):
        codes[a] = shown.codes[a, place]
    of_cube, known = look_up(column, shown), np.int64(0)
    board = index.boards[column] + codes[column] if index.strides[column] else np.int64(0)
    for a in range(d):
        if index.strides[a] or (a != column and not index.strides[column]):
            continue
        bit = np.int64(1) << (d - 1 - a)
        shelf = index.shelves[a] + (codes[a] >> index.shifts[a])
        on = shelf * index.boards[d] + board
        for spot in range(index.starts[on], index.starts[on + 1]):
            group = np.int64(index.lists[spot])
            if may_cover(codes[a], a, group, few, boxes):
                pattern = pattern_of(codes, group, few, boxes, shown)
                if pattern & (known | bit) == bit:
                    for c in range(held.shape[1]):
                        counts[pattern, c] += held[group, c]
        known |= bit
    for pattern in range(counts.shape[0]):  # these are in the cube, too
        if pattern & known:
            for c in range(held.shape[1]):
                counts[pattern & of_cube, c] -= counts[pattern, c]
    for noted in range(shown.used[OF_TABLE], shown.used[GROUPS]):
        if may_cover(codes[column], column, noted, few, boxes):
            pattern = pattern_of(codes, noted, few, boxes, shown)
            for c in range(held.shape[1]):
                counts[pattern, c] += held[noted, c]


@inline
def pattern_of(codes: Any, group: Any, few: Any, boxes: Any, shown: Any) -> Any:
    """The columns on which a group covers a record with these codes."""
    pattern = np.int64(0)
    for a in range(codes.shape[0]):
        covers = may_cover(codes[a], a, group, few, boxes)
        if covers and shown.sets[a]:
            covers = is_held(codes[a], a, group, shown)
        pattern = 2 * pattern + covers
    return pattern


@inner
def look_up(column: Any, shown: Any) -> Any:
    """Count by pattern as if no group covered the record but on columns of the cube; return these.

    The cube has those who cover some columns and maybe more: from it the latter are subtracted.
    """
    counts, index, d = shown.counts, shown.lookup, shown.few.shape[0]
    of_cube, own = np.int64(0), np.int64(1) << (d - 1 - column)
    for a in range(d):
        of_cube = 2 * of_cube + (index.strides[a] != 0)
    if not of_cube & own:
        return of_cube
    others = rest = of_cube ^ own
    while True:
        spot = np.int64(0)
        for a in range(d):
            if ((others | own) >> (d - 1 - a)) & 1:
                spot += index.strides[a] * (shown.codes_of[a] + 1)
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
