"""Counts what TF features show of f(D⁻ⁱ) to record i: of any one, or in the walk for its tree.

A tree believes of a record that some group covers what that group shows, as the conditional
frequency does (:mod:`indiff.inference.tree`). Of the others its first question follows from the
counts N[a][v][c] that the walk has anyway; behind it only the groups matter that cover the record
on the column asked. These are the groups of D, but for what has changed on the way to the record's
context: the walk notes it, and forgets it when it leaves the context.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.counts import NO_TREE, SPOT, TIMES, somebody_holds
from indiff.differential.mondrian.cover_index import count_shown
from indiff.differential.mondrian.shown import FULL
from indiff.inference.tree import NO_SPLIT, choose_split, descend
from indiff.kernels import borrow, inner, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.partition import grow


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
        count_shown(row, column, shown)
    return column


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
