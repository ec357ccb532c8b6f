"""Finds the kinds of released rows whose regions cover a record, by a tree of boxes.

A kind of row is a combination of regions, and a box over the codes of the columns. Boxes are halved
by their middles until few are left, and a record looks only into halves whose bounds hold it: where
each record is in few boxes, looking all up takes time in proportion to the records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import inner, kernel
from indiff.release.release import Release

Ints = NDArray[np.int32]

_LEAF = 8  # boxes that are looked at one by one


class Boxes(NamedTuple):
    """Boxes, a row of ends for each, and the tree over them.

    A region of several spans has the box from its first to its last code; its spans are looked at
    where the box holds the record. ``order`` lists the boxes, node by node; a node has its bounds,
    where its boxes begin and end, and its first child (the second comes next) or −1.
    """

    low: Ints
    high: Ints
    regions: Ints
    split: NDArray[np.bool_]
    first: Ints
    begin: NDArray[np.int64]
    span_low: Ints
    span_high: Ints
    order: Ints
    bounds_low: Ints
    bounds_high: Ints
    node: Ints
    roots: Ints


def boxes_of(release: Release, kinds: NDArray[np.int32]) -> Boxes:
    """Return the boxes of these kinds of rows, a column of region numbers for each kind."""
    low, high = np.empty(kinds.shape[::-1], np.int32), np.empty(kinds.shape[::-1], np.int32)
    everything = np.empty(kinds.shape[::-1], np.bool_)
    split, first, begin = [], [], []
    spans: list[tuple[Ints, Ints]] = []
    regions = held = 0
    for place, (column, index) in enumerate(zip(release.columns, kinds, strict=True)):
        order = np.argsort(column.span_region, kind="stable")
        starts = np.searchsorted(column.span_region[order], np.arange(column.count + 1))
        spans.append((column.span_low[order], column.span_high[order]))
        least = np.full(column.count, 1, np.int32)  # what covers nothing begins after its end
        most = np.zeros(column.count, np.int32)
        some = starts[1:] > starts[:-1]
        if some.any():
            least[some] = np.minimum.reduceat(spans[-1][0], starts[:-1][some])
            most[some] = np.maximum.reduceat(spans[-1][1], starts[:-1][some])
        several = starts[1:] - starts[:-1] > 1
        whole = (least == 0) & (most == len(column.attribute.values) - 1) & ~several
        low[:, place], high[:, place] = least[index], most[index]
        everything[:, place] = whole[index]
        split.append(bool(several.any()))
        first.append(regions)
        begin.append(starts[:-1] + held)
        regions, held = regions + column.count, held + len(order)
    begin.append(np.array([held]))
    used = np.flatnonzero((low <= high).all(axis=1)).astype(np.int32)
    # Kinds with the same columns suppressed get a tree of their own: in one with others, a box
    # that is as wide as the table would be met on every way down.
    used = used[np.lexsort(everything[used].T)]
    ends = np.flatnonzero((np.diff(everything[used].astype(np.int8), axis=0) != 0).any(axis=1)) + 1
    cuts = np.concatenate([[0], ends, [len(used)]]) if len(used) else np.zeros(1)
    tree = _build(low, high, used, cuts.astype(np.int64))
    return Boxes(
        low, high, np.ascontiguousarray(kinds.T), np.array(split), np.array(first, np.int32),
        np.concatenate(begin).astype(np.int64),
        np.concatenate([one for one, _ in spans]).astype(np.int32),
        np.concatenate([one for _, one in spans]).astype(np.int32),
        used, *tree,
    )  # fmt: skip


@kernel
def _build(low: Any, high: Any, order: Any, cuts: Any) -> Any:
    """Sort ``order`` into trees, one between each two cuts; return bounds, nodes and roots."""
    columns = low.shape[1]
    most = max(2 * order.shape[0], 1)
    bounds_low = np.empty((most, columns), np.int32)
    bounds_high = np.empty((most, columns), np.int32)
    node = np.empty((most, 3), np.int32)
    trees = cuts.shape[0] - 1
    roots = np.arange(trees).astype(np.int32)
    for tree in range(trees):
        node[tree, 0], node[tree, 1] = cuts[tree], cuts[tree + 1]
    used, place = trees, 0
    while place < used:
        start, end = node[place, 0], node[place, 1]
        axis, widest, middle = -1, 0, 0
        for column in range(columns):
            box = order[start]
            least, most_high = low[box, column], high[box, column]
            first = last = least + most_high
            for spot in range(start + 1, end):
                box = order[spot]
                least = min(least, low[box, column])
                most_high = max(most_high, high[box, column])
                first = min(first, low[box, column] + high[box, column])
                last = max(last, low[box, column] + high[box, column])
            bounds_low[place, column], bounds_high[place, column] = least, most_high
            if last - first > widest:
                axis, widest, middle = column, last - first, first + (last - first) // 2
        node[place, 2] = -1
        if end - start > _LEAF and axis >= 0:
            left, right = start, end - 1
            while left <= right:
                box = order[left]
                if low[box, axis] + high[box, axis] <= middle:
                    left += 1
                else:
                    order[left], order[right] = order[right], box
                    right -= 1
            node[place, 2] = used
            node[used, 0], node[used, 1] = start, left
            node[used + 1, 0], node[used + 1, 1] = left, end
            used += 2
        place += 1
    return bounds_low[:used], bounds_high[:used], node[:used], roots


@kernel
def boxes_around(boxes: Any, points: Any, asked: Any) -> Any:
    """Return the boxes that hold each point, one point's after the other's, and where each begins.

    A point that is not ``asked`` for has none.
    """
    columns = points.shape[1]
    starts = np.zeros(points.shape[0] + 1, np.int64)
    found = np.empty(max(points.shape[0], 16), np.int32)
    waiting = np.empty(boxes.node.shape[0] + 1, np.int32)
    count = 0
    for point in range(points.shape[0]):
        depth = 0
        if asked[point]:
            for root in boxes.roots:
                waiting[depth] = root
                depth += 1
        while depth > 0:
            depth -= 1
            place = waiting[depth]
            inside = True
            for column in range(columns):
                code = points[point, column]
                if (
                    code < boxes.bounds_low[place, column]
                    or code > boxes.bounds_high[place, column]
                ):
                    inside = False
                    break
            if not inside:
                continue
            if boxes.node[place, 2] >= 0:
                waiting[depth] = boxes.node[place, 2]
                waiting[depth + 1] = boxes.node[place, 2] + 1
                depth += 2
                continue
            for spot in range(boxes.node[place, 0], boxes.node[place, 1]):
                box = boxes.order[spot]
                if _holds(boxes, box, points, point):
                    if count == found.shape[0]:
                        more = np.empty(2 * count, np.int32)
                        for kept in range(count):
                            more[kept] = found[kept]
                        found = more
                    found[count] = box
                    count += 1
        starts[point + 1] = count
    return starts, found[:count]


@inner
def _holds(boxes: Any, box: Any, points: Any, point: Any) -> Any:
    """Tell whether a box, and where it has several spans one of them, holds a point."""
    for column in range(points.shape[1]):
        code = points[point, column]
        if code < boxes.low[box, column] or code > boxes.high[box, column]:
            return False
        if boxes.split[column]:
            region = boxes.first[column] + boxes.regions[box, column]
            inside = False
            for span in range(boxes.begin[region], boxes.begin[region + 1]):
                if boxes.span_low[span] <= code <= boxes.span_high[span]:
                    inside = True
                    break
            if not inside:
                return False
    return True
