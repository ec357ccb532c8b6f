"""One node of the lattice as it would be published: which groups are kept, whom it suppresses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indiff.sanitizers.recoding.lattice import Groups, Ints, Lattice

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """One node of the lattice: its groups, and which of them satisfy the limits."""

    lattice: Lattice
    groups: Groups
    good: NDArray[np.bool_]

    @cached_property
    def suppressed(self) -> int:
        """How many records lie in groups that break a limit."""
        return int(self.groups.sizes[~self.good].sum())

    @cached_property
    def labels(self) -> list[NDArray[np.int32]]:
        """The label of each group, column by column."""
        return self.lattice.labels(self.groups.levels, self.groups.cell)

    @cached_property
    def bad(self) -> NDArray[np.intp]:
        """The groups that break a limit."""
        return np.flatnonzero(~self.good)

    @cached_property
    def bad_labels(self) -> list[NDArray[np.int32]]:
        """The label of each of these, column by column."""
        return self.lattice.labels(self.groups.levels, self.groups.cell[self.bad])

    @cached_property
    def bad_sizes(self) -> Ints:
        """The records of each group that are suppressed: all or none."""
        return np.where(self.good, 0, self.groups.sizes)

    @cached_property
    def bad_after(self) -> Ints:
        """The records of each group that are suppressed once one has left and it breaks a limit.

        The first row is for groups that then break a limit, the second for those that do not.
        """
        return np.stack([self.groups.sizes - 1, np.zeros_like(self.groups.sizes)])

    @cached_property
    def suppressed_without(self) -> Ints:
        """How many records are suppressed without one of each group, by what the group then is."""
        return self.suppressed - self.bad_sizes + self.bad_after

    def by_cell(self, scores: Floats) -> Floats:
        """Return for every cell what is known for its group."""
        return scores[:, self.groups.of_cell]
