"""f(D⁻ⁱ) of Mondrian for any model: only the part of the partition that changes is built anew."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.compiled import kernel
from indiff.differential.coverage import leaves_under
from indiff.differential.leave_one_out import global_extremes, unmet_without
from indiff.differential.node import empty_node
from indiff.differential.node_keys import STAYS, find_keys
from indiff.release import Release
from indiff.sanitizers.layout import (
    ATTRIBUTE,
    CHILD,
    CUT,
    END,
    LEAF,
    START,
    Tree,
    borrow_problem,
    borrow_tree,
)
from indiff.sanitizers.mondrian import (
    Mondrian,
    grow_parts,
    missing_parts,
    release_of_groups,
    total_extremes,
)
from indiff.sanitizers.partition import grow
from indiff.table import Table


class Handout:
    """Hands out f(D⁻ⁱ) for one table and one Mondrian, record by record.

    Each release is the one that sanitizing D⁻ⁱ from scratch gives. Leaving a record out changes
    the partition at most below one node (``docs/leave-one-out.md``), except for t-closeness and
    for the few records that alone hold the table's lowest or highest value: those are sanitized
    from scratch.
    """

    def __init__(self, table: Table, sanitizer: Mondrian) -> None:
        self.table = table
        self.sanitizer = sanitizer
        self._parts = missing_parts(table)
        self._problem = sanitizer.problem(table)
        self._met = sanitizer.obstacle(table, self._problem, self._parts) is None

    @cached_property
    def _tree(self) -> Tree:
        return grow_parts(self.table, self._problem, self._parts)

    @cached_property
    def _place(self) -> NDArray[np.int32]:
        place = np.empty(len(self.table), np.int32)
        place[self._tree.order] = np.arange(len(self.table), dtype=np.int32)
        return place

    @cached_property
    def _groups(self) -> NDArray[np.int32]:
        leaves = self._tree.nodes[self._tree.leaves]
        groups = np.empty(len(self.table), np.int32)
        groups[self._tree.order] = np.repeat(
            np.arange(len(leaves), dtype=np.int32), leaves[:, END] - leaves[:, START]
        )
        return groups

    @cached_property
    def _from_scratch(self) -> NDArray[np.bool_]:
        if not self._met or self.sanitizer.t is not None:
            return np.ones(len(self.table), dtype=bool)
        return global_extremes(self._problem, self.table) | unmet_without(
            self._problem, self._parts
        )

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        others = self.table.without(row)
        if self._from_scratch[row]:
            return self.sanitizer.sanitize(others)
        tree, place = self._tree, int(self._place[row])
        low, high = total_extremes(self.table)
        node = fork(self._problem, tree, len(self._parts), place, low, high)
        first, last = leaves_under(tree, node)
        start, end = tree.nodes[node, START], tree.nodes[node, END]
        members = np.delete(tree.order[start:end], place - start)
        fresh = grow(
            self._problem, members, np.array([len(members)], np.int32), tree.low[node : node + 1],
            tree.high[node : node + 1], low, high,
        )  # fmt: skip
        leaves = fresh.nodes[fresh.leaves]
        groups = self._groups.copy()
        groups[groups >= last] += len(leaves) - (last - first)
        groups[fresh.order] = first + np.repeat(
            np.arange(len(leaves), dtype=np.int32), leaves[:, END] - leaves[:, START]
        )
        before, after = tree.leaves[:first], tree.leaves[last:]
        return release_of_groups(
            others,
            self._problem,
            np.delete(groups, row),
            np.concatenate([tree.low[before], fresh.low[fresh.leaves], tree.low[after]]),
            np.concatenate([tree.high[before], fresh.high[fresh.leaves], tree.high[after]]),
            self.sanitizer,
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
