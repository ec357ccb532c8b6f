"""Counts what TF features show of f(D⁻ⁱ) to record i, for many records in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.counts import somebody_holds
from indiff.kernels import borrow, inner, kernel
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.partition import grow


@kernel
def tallies_without(problem: Any, tree: Any, places: Any, changed: Any) -> Any:
    """The counts by pattern and class of f(D⁻ⁱ), one tally for each place of a record i.

    ``changed`` are the nodes below which the partition changes. The problem's records lie in the
    order of the tree.
    """
    d, n = problem.codes.shape
    tallies = np.zeros((places.shape[0], 1 << d, problem.class_count))
    room, none = empty_room(problem, n), np.empty(0)
    end, twin = np.empty(1, np.int32), np.empty(1, np.int32)
    for number in range(places.shape[0]):
        place, node, counts = places[number], changed[number], tallies[number]
        start = tree.nodes[node, layout.START]
        others = np.empty(tree.nodes[node, layout.END] - start - 1, np.int32)
        for spot in range(others.shape[0]):
            others[spot] = start + spot + (start + spot >= place)
        end[0], twin[0] = others.shape[0], node
        low, high = tree.low[node : node + 1], tree.high[node : node + 1]
        fresh, new, gone = grow(
            problem, others, end, low, high, tree, twin, none, np.int64(0), room
        )  # fmt: skip
        add_cover(problem, tree, tree.leaves, 1.0, place, counts)
        add_cover(problem, tree, gone, -1.0, place, counts)
        add_cover(problem, fresh, new, 1.0, place, counts)
    return tallies


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
