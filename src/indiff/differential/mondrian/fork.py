"""Where a partition changes when one record leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.node import empty_node
from indiff.differential.mondrian.node_keys import STAYS, find_keys
from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import (
    ATTRIBUTE,
    CHILD,
    CUT,
    END,
    LEAF,
    START,
    borrow_problem,
    borrow_tree,
)


@kernel
def fork(problem: Any, tree: Any, roots: Any, place: Any, total_low: Any, total_high: Any) -> Any:
    """The node below which the partition changes when the record at ``place`` leaves."""
    problem, tree = borrow_problem(problem), borrow_tree(tree)
    node = 0
    while tree.nodes[node, END] <= place:
        node += 1
    room = empty_node(problem)
    work = np.empty(tree.order.shape[0], np.int32)
    bins = np.empty(2 * tree.order.shape[0], np.int32)
    places = np.full(1, place, np.int32)
    keys = np.empty(1, np.int32)
    count = places.shape[0]
    while tree.nodes[node, ATTRIBUTE] != LEAF:
        find_keys(
            problem, tree.order, tree.nodes[node, START], tree.nodes[node, END],
            tree.nodes[node, ATTRIBUTE], tree.nodes[node, CUT], places, count, tree.own_low[node],
            tree.own_high[node], total_low, total_high, room, keys, work, bins,
        )  # fmt: skip
        if keys[0] != STAYS:
            return node
        node = tree.nodes[node, CHILD]
        while tree.nodes[node, END] <= place:
            node += 1
    return node
