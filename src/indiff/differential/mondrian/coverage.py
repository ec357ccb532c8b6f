"""Counts the records of each class whose region covers a value: N[a][v][c], from leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import END, LABEL, MEMBERS, START
from indiff.sanitizers.mondrian.ranks import first_at_least, sort


class Counted(NamedTuple):
    """Counts N[a][v][c] of a release, for some of the codes of every attribute.

    ``codes[starts[a] : starts[a + 1]]`` are attribute a's, ascending; ``counts`` has a row for
    each of them, and a column per class.
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    counts: NDArray[np.int32]


@kernel
def add_leaves(problem: Any, tree: Any, first: Any, last: Any, sign: Any, counted: Any) -> Any:
    """Add the leaves ``tree.leaves[first:last]`` to counts that are still steps.

    A region from low to high is a step up at low and one down after high; :func:`sum_steps` adds
    them up.
    """
    needed, steps = counted.codes, counted.counts
    for a in range(problem.codes.shape[0]):
        begin, stop = counted.starts[a], counted.starts[a + 1]
        if begin == stop:
            continue
        row = problem.codes[a]
        for position in range(first, last):
            leaf = tree.leaves[position]
            s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
            if problem.meta[a, LABEL] == MEMBERS:
                add_members(problem, tree.order, s, e, row, sign, needed, begin, stop, steps)
                continue
            up = first_at_least(needed, begin, stop, tree.low[leaf, a])
            down = first_at_least(needed, up, stop, tree.high[leaf, a] + 1)
            if up == down:
                continue
            for place in range(s, e):
                c = problem.classes[tree.order[place]]
                steps[up, c] += sign
                if down < stop:
                    steps[down, c] -= sign


@kernel
def add_members(
    problem: Any, order: Any, s: Any, e: Any, row: Any, sign: Any, needed: Any, begin: Any,
    stop: Any, steps: Any,
) -> Any:  # fmt: skip
    """Add a leaf whose region is the set of values that its records hold."""
    for place in range(s, e):
        code = row[order[place]]
        seen = False
        for other in range(s, place):
            if row[order[other]] == code:
                seen = True
                break
        if seen:
            continue
        spot = first_at_least(needed, begin, stop, code)
        if spot == stop or needed[spot] != code:
            continue
        for other in range(s, e):
            c = problem.classes[order[other]]
            steps[spot, c] += sign
            if spot + 1 < stop:
                steps[spot + 1, c] -= sign


@kernel
def sum_steps(counted: Any) -> Any:
    """Turn steps into counts, attribute by attribute."""
    starts, steps = counted.starts, counted.counts
    for a in range(starts.shape[0] - 1):
        for spot in range(starts[a] + 1, starts[a + 1]):
            for c in range(steps.shape[1]):
                steps[spot, c] += steps[spot - 1, c]


@kernel
def add_forest(problem: Any, tree: Any, counted: Any) -> Any:
    """Add the counts of a whole forest."""
    steps = Counted(counted.codes, counted.starts, np.zeros_like(counted.counts))
    add_leaves(problem, tree, 0, tree.leaves.shape[0], 1, steps)
    sum_steps(steps)
    counts = counted.counts
    counts += steps.counts


@kernel
def somebody_holds(codes: Any, a: Any, order: Any, start: Any, end: Any, code: Any) -> Any:
    """Whether a record of a group holds this code of attribute a."""
    for place in range(start, end):  # noqa: SIM110 - numba compiles no generator
        if codes[a, order[place]] == code:
            return True
    return False


@kernel
def cover_one(
    problem: Any, tree: Any, first: Any, last: Any, sign: Any, record: Any, counts: Any
) -> Any:
    """Add to ``counts[a, c]`` the records of leaves whose region covers one record's values."""
    for position in range(first, last):
        leaf = tree.leaves[position]
        s, e = tree.nodes[leaf, START], tree.nodes[leaf, END]
        for a in range(problem.codes.shape[0]):
            code = problem.codes[a, record]
            covers = tree.low[leaf, a] <= code <= tree.high[leaf, a]
            if covers and problem.meta[a, LABEL] == MEMBERS:
                covers = somebody_holds(problem.codes, a, tree.order, s, e, code)
            if covers:
                for place in range(s, e):
                    counts[a, problem.classes[tree.order[place]]] += sign


@kernel
def leaves_under(tree: Any, node: Any) -> Any:
    """The leaves below a node, as a range of positions in ``tree.leaves``."""
    return leaf_position(tree, tree.nodes[node, START]), leaf_position(tree, tree.nodes[node, END])


@kernel
def leaf_position(tree: Any, place: Any) -> Any:
    """How many leaves begin before ``place``; leaves lie in the order of their segments."""
    low, high = 0, tree.leaves.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tree.nodes[tree.leaves[middle], START] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def codes_of(problem: Any, records: Any) -> Any:
    """Counts, all 0, for the distinct codes of some records on every attribute."""
    d, count = problem.codes.shape[0], records.shape[0]
    starts = np.zeros(d + 1, np.int64)
    needed = np.empty(d * count, np.int32)
    codes = np.empty(count, np.int32)
    filled = 0
    for a in range(d):
        for place in range(count):
            codes[place] = problem.codes[a, records[place]]
        sort(codes)
        for place in range(count):
            if place == 0 or codes[place] != codes[place - 1]:
                needed[filled] = codes[place]
                filled += 1
        starts[a + 1] = filled
    return Counted(needed[:filled], starts, np.zeros((filled, problem.class_count), np.int32))
