"""Makes f(D⁻ⁱ) of Mondrian for any model: only the part of the partition that changes is new."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.mondrian.coverage import leaves_under
from indiff.differential.mondrian.decisions import changed_node
from indiff.differential.mondrian.leave_one_out import global_extremes, unmet_without
from indiff.inference.tally import Tally
from indiff.release.release import Release
from indiff.sanitizers.mondrian.layout import END, LABEL, MEMBERS, START, Problem, Tree
from indiff.sanitizers.mondrian.mondrian import (
    Mondrian,
    grow_parts,
    missing_parts,
    release_of_groups,
)
from indiff.sanitizers.mondrian.partition import grow

Codes = NDArray[np.int32]


class MondrianReleases:
    """Makes f(D⁻ⁱ) for one table and one Mondrian, record by record.

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
        return self._tree.groups(len(self.table))

    @cached_property
    def _laid_out(self) -> _Groups:
        return _Groups.of(self._problem, self._tree)

    @cached_property
    def _from_scratch(self) -> NDArray[np.bool_]:
        if not self._met or self.sanitizer.t is not None:
            return np.ones(len(self.table), dtype=bool)
        alone = global_extremes(self._problem, self.table)
        return alone | unmet_without(self._problem, self._parts)

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        others = self.table.without(row)
        if self._from_scratch[row]:
            return self.sanitizer.sanitize(others)
        tree = self._tree
        first, last, fresh = self._regrown(row)
        groups = self._groups.copy()
        groups[groups >= last] += len(fresh.leaves) - (last - first)
        groups[fresh.order] = first + fresh.groups(len(self.table))[fresh.order]
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
        counts += _Groups.of(self._problem, fresh).counts(target)
        return Tally(tuple(a.name for a in self.table.attributes), counts)

    def _regrown(self, row: int) -> tuple[int, int, Tree]:
        """Return the groups that change, from the first to before the last, and the new ones."""
        tree, place = self._tree, int(self._place[row])
        node = changed_node(self._problem, tree, place)
        first, last = leaves_under(tree, node)
        start, end = tree.nodes[node, START], tree.nodes[node, END]
        members = np.delete(tree.order[start:end], place - start)
        box = tree.low[node : node + 1], tree.high[node : node + 1]
        fresh = grow(self._problem, members, np.array([len(members)], np.int32), *box)
        return first, last, fresh


@dataclass(frozen=True, eq=False)
class _Groups:
    """Which codes each group's regions span, and its records, one group behind the other.

    ``low`` and ``high`` are attribute by group. Where a region is the set of the values that its
    records hold, ``members`` has those, by the attribute's place.
    """

    low: Codes
    high: Codes
    sizes: Codes
    group: NDArray[np.intp]
    classes: Codes
    class_count: int
    members: dict[int, Codes]

    @classmethod
    def of(cls, problem: Problem, tree: Tree) -> _Groups:
        """Lay out the leaves of a partition, from left to right."""
        leaves = tree.nodes[tree.leaves]
        sizes = leaves[:, END] - leaves[:, START]
        sets = np.flatnonzero(problem.meta[:, LABEL] == MEMBERS).tolist()
        return cls(
            np.ascontiguousarray(tree.low[tree.leaves].T),
            np.ascontiguousarray(tree.high[tree.leaves].T),
            sizes,
            np.repeat(np.arange(len(sizes)), sizes),
            problem.classes[tree.order],
            int(problem.class_count),
            {place: problem.codes[place, tree.order] for place in sets},
        )

    def counts(self, target: Codes, undone: slice | None = None) -> NDArray[np.float64]:
        """Return the counts of a :class:`~indiff.inference.tally.Tally` for a target's codes.

        The groups ``undone`` take no part.
        """
        pattern = np.zeros(len(self.sizes), np.int64)
        for place, code in enumerate(target.tolist()):
            pattern *= 2
            held = self.members.get(place)
            if held is None:
                pattern += (self.low[place] <= code) & (code <= self.high[place])
            else:
                holders = np.zeros(len(pattern), np.bool_)
                holders[self.group[held == code]] = True
                pattern += holders
        patterns = 2 ** len(target)
        if undone is not None:
            pattern[undone] = patterns  # one more, to be forgotten
        keys = np.repeat(pattern * self.class_count, self.sizes) + self.classes
        cells = (patterns + 1) * self.class_count
        counted = np.bincount(keys, minlength=cells).reshape(patterns + 1, self.class_count)
        return counted[:patterns].astype(np.float64)
