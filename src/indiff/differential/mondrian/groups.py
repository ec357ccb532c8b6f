"""The groups of a partition, laid out so that one target is quickly compared with all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.sanitizers.mondrian.layout import END, LABEL, MEMBERS, START, Problem, Tree

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Groups:
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
    def of(cls, problem: Problem, tree: Tree) -> Groups:
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
