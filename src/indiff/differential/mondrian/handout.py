"""f(D⁻ⁱ) of Mondrian for any model: only the part of the partition that changes is built anew."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.mondrian.coverage import leaves_under
from indiff.differential.mondrian.fork import fork
from indiff.differential.mondrian.groups import Groups
from indiff.differential.mondrian.leave_one_out import global_extremes, unmet_without
from indiff.inference.tally import Tally
from indiff.release.release import Release
from indiff.sanitizers.mondrian.layout import END, START, Tree
from indiff.sanitizers.mondrian.mondrian import (
    Mondrian,
    grow_parts,
    missing_parts,
    release_of_groups,
    total_extremes,
)
from indiff.sanitizers.mondrian.partition import grow


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
    def _extremes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return total_extremes(self.table)

    @cached_property
    def _laid_out(self) -> Groups:
        return Groups.of(self._problem, self._tree)

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
        tree = self._tree
        first, last, fresh = self._regrown(row)
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

    def tally(self, row: int) -> Tally | None:
        """Return all that TF features show of f(D⁻ⁱ) to its record, without making the release.

        None where D⁻ⁱ has to be sanitized from scratch.
        """
        if self._from_scratch[row]:
            return None
        first, last, fresh = self._regrown(row)
        target = self._problem.codes[:, row]
        counts = self._laid_out.counts(target, undone=slice(first, last))
        counts += Groups.of(self._problem, fresh).counts(target)
        return Tally(tuple(a.name for a in self.table.attributes), counts)

    def _regrown(self, row: int) -> tuple[int, int, Tree]:
        """Return the groups that change, from the first to before the last, and the new ones."""
        tree, place = self._tree, int(self._place[row])
        low, high = self._extremes
        node = fork(self._problem, tree, len(self._parts), place, low, high)
        first, last = leaves_under(tree, node)
        start, end = tree.nodes[node, START], tree.nodes[node, END]
        members = np.delete(tree.order[start:end], place - start)
        fresh = grow(
            self._problem, members, np.array([len(members)], np.int32), tree.low[node : node + 1],
            tree.high[node : node + 1], low, high,
        )  # fmt: skip
        return first, last, fresh
