"""Says what a recoding does without one record: which levels it takes, whom it suppresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.differential.recoding.choice import good_without, rules_without
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.recoding.state import State
from indiff.text import counted

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class NodeChange:
    """The levels that are published with and without a record, and whose suppression changes.

    ``levels`` has the level of each column; ``levels_without`` is None where no levels will do
    without the record, and everything is published as one group. ``own`` and ``own_suppressed``
    are the others of the record's group, and how many of them are suppressed without it. The
    records that are ``newly_suppressed`` or ``newly_kept`` are named by their numbers.
    """

    levels: dict[str, int]
    levels_without: dict[str, int] | None
    suppressed: int
    suppressed_without: int
    is_suppressed: bool
    own: int
    own_suppressed: int
    newly_suppressed: tuple[int, ...]
    newly_kept: tuple[int, ...]

    def __str__(self) -> str:
        if self.levels_without is None:
            return "no levels will do and everything is published as one group"
        other = [
            f"{name} is recoded to level {level} instead of {self.levels[name]}"
            for name, level in self.levels_without.items()
            if level != self.levels[name]
        ]
        said = [" and ".join(other) or "every column keeps its level", self._own()]
        kept = self.own - self.own_suppressed if self.is_suppressed else 0
        hidden = 0 if self.is_suppressed else self.own_suppressed
        hidden, kept = len(self.newly_suppressed) - hidden, len(self.newly_kept) - kept
        if hidden:
            said.append(f"elsewhere {counted(hidden, 'record')} more must be suppressed")
        if kept:
            said.append(f"elsewhere {counted(kept, 'record')} need not be suppressed any more")
        return "; ".join(said)

    def _own(self) -> str:
        """Say what becomes of the others in the record's group."""
        if not self.own:
            return f"it was {'suppressed' if self.is_suppressed else 'kept'}, alone in its group"
        who, verb = f"the {self.own:,} others of its group", "are"
        if self.own == 1:
            who, verb = "the other record of its group", "is"
        if self.own_suppressed not in (0, self.own):
            kept = self.own - self.own_suppressed
            return f"of {who} {self.own_suppressed:,} {verb} suppressed and {kept:,} kept"
        fate = "suppressed" if self.own_suppressed else "kept"
        if self.is_suppressed == bool(self.own_suppressed):
            return f"{who} {verb} still {fate}"
        return f"{who} {verb} {fate}, not {'suppressed' if self.is_suppressed else 'kept'}"


def node_change(sanitizer: Recoding, state: State, number: int, row: int) -> NodeChange:
    """Return what changes without the record in a row, if then this node is published."""
    lattice, table = state.lattice, state.lattice.table
    names = [attribute.name for attribute in table.attributes]
    cell_of_row = lattice.cells.cell[lattice.cells.pair_of_row]
    group_of_row = state.groups.of_cell[cell_of_row]
    before = ~state.good[group_of_row]
    after: Bools = np.zeros(len(table), np.bool_)
    levels_without = None
    if number >= 0:
        groups = lattice.groups(lattice.node(number))
        pair = lattice.cells.pair_of_row[[row]]
        rules = rules_without(sanitizer, lattice, int(lattice.cells.of_class[pair[0]]))
        good = rules.good(lattice, groups)
        good[groups.of_cell[cell_of_row[row]]] = good_without(rules, lattice, groups, pair)[0]
        after = ~good[groups.of_cell[cell_of_row]]
        levels_without = dict(zip(names, groups.levels, strict=True))
    others = np.arange(len(table)) != row
    own = others & (group_of_row == group_of_row[row])

    def numbers(rows: Bools) -> tuple[int, ...]:
        return tuple(int(table.records[one]) for one in np.flatnonzero(rows & others))

    return NodeChange(
        dict(zip(names, state.groups.levels, strict=True)),
        levels_without,
        int(before.sum()),
        int((after & others).sum()),
        bool(before[row]),
        int(own.sum()),
        int((own & after).sum()),
        numbers(after & ~before),
        numbers(before & ~after),
    )
