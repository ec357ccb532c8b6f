"""Sanitizes by full-domain recoding: one level per column for all records, the best allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, option, unknown
from indiff.release.regions import Anything, Region
from indiff.release.release import Release, ReleasedColumn, release_of
from indiff.sanitizers.mondrian.constraints import (
    Constrained,
    Unmet,
    check_choice,
    is_number,
    one_group,
)
from indiff.sanitizers.recoding.lattice import Lattice
from indiff.sanitizers.recoding.limits import meet_all
from indiff.sanitizers.recoding.losses import LOSSES, Loss
from indiff.sanitizers.recoding.search import Best, Rules, budget, optimum
from indiff.sanitizers.recoding.state import State

Suppressed = Literal["keep", "drop"]


@dataclass(frozen=True)
class Recoding(Constrained):
    """Recode whole columns: one level of each hierarchy for all records (Samarati 2001).

    Searched is the lattice of all combinations of levels, for the one with the least ``loss``
    among those in which at most ⌊``suppression`` · n⌋ records lie in groups that break a limit.
    Those records are suppressed: every quasi-identifier is ``*`` and the sensitive value is kept,
    or with ``suppressed="drop"`` the row is left out. Of equal losses the lower sum of levels
    wins, then the lower level of the first column in which two nodes differ; the order of records
    does not matter. A column without a hierarchy gets levels from its values
    (:func:`~indiff.sanitizers.recoding.levels.levels_of`).

    Losses: ``loss`` (the share of a column's values that a label stands for, by the geometric
    mean over columns, as ARX has it), ``loss-mean`` (by the arithmetic mean), ``ncp``,
    ``precision`` (level over top level), ``height`` (the sum of levels), ``discernibility``,
    ``average-group`` and ``entropy`` (non-uniform). ``weights`` has a number for some columns, 1
    for the others; the losses that look at groups alone take none.

    Kept rows of ``*`` are a group, too: where they break a limit, whoever is not found elsewhere
    is found among them, and ``constraint_met`` is False.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [31, 32, 33, 34, 52, 71], "ill": list("nynnny")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> Recoding(k=2, suppression=0.4).sanitize(table).to_frame()["age"].to_pylist()
    ['[30, 34]', '[30, 34]', '[30, 34]', '[30, 34]', '*', '*']
    """

    suppression: float = 0.0
    loss: str = "loss"
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    suppressed: Suppressed = "keep"
    unmet: Unmet = "error"

    randomized: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.suppression) and 0 <= self.suppression < 1):
            rule = "suppression must be a share of the records from 0 to below 1"
            raise UserError(rule, repr(self.suppression), field="suppression")
        if self.loss not in LOSSES:
            raise unknown("loss", str(self.loss), LOSSES, field="loss")
        check_choice("suppressed", self.suppressed, ("keep", "drop"))
        check_choice("unmet", self.unmet, ("error", "generalize"))
        if self.weights is None:
            return
        if not LOSSES[self.loss].by_column:
            raise UserError(
                f"the loss {self.loss!r} looks at groups, and no column can weigh more there",
                way_out="Leave the weights out, or choose another loss",
                field="weights",
            )
        for name, weight in self.weights.items():
            if not (is_number(weight) and 0 < weight < np.inf):
                rule = "a weight must be a number above 0"
                raise UserError(rule, f"{weight!r} for {name!r}", field="weights")

    def __str__(self) -> str:
        asked = [*self.asked()]
        if self.suppression:
            asked.append(f"suppression={self.suppression}")
        if self.loss != "loss":
            asked.append(f"loss={self.loss}")
        if self.weights:
            asked.append("weights=" + "/".join(f"{n}:{w}" for n, w in self.weights.items()))
        if self.suppressed != "keep":
            asked.append(f"suppressed={self.suppressed}")
        return f"recoding:{','.join(asked)}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; ``rng`` is not used, the result is the same for any row order."""
        lattice = Lattice(table)
        best = optimum(lattice, self.loss_of(lattice), self.rules(table))
        if best.state is None:
            if self.unmet == "error":
                raise self.obstacle(table, lattice)
            return one_group(table, str(self))
        return self.release(table, best.state)

    def best(self, table: Table) -> Best:
        """Return the node of the lattice that is published, its loss and its groups."""
        lattice = Lattice(table)
        return optimum(lattice, self.loss_of(lattice), self.rules(table))

    def rules(self, table: Table, reference: NDArray[np.int64] | None = None) -> Rules:
        """Return what a node must satisfy; ``reference`` has the counts of another table."""
        records = len(table) if reference is None else int(reference.sum())
        return Rules(self.limits(table, reference), budget(self.suppression, records))

    def loss_of(self, lattice: Lattice) -> Loss:
        """Return the loss over a lattice."""
        names = [attribute.name for attribute in lattice.table.attributes]
        for name in self.weights or {}:
            if name not in names:
                raise unknown("quasi-identifier to weigh", name, names, field="weights")
        weights = None if not self.weights else [self.weights.get(name, 1.0) for name in names]
        return LOSSES[self.loss](lattice, weights)

    def obstacle(self, table: Table, lattice: Lattice) -> UserError:
        """Say why no node can be published."""
        impossible = self.more_than_all(table)
        if impossible is not None:
            return impossible
        most, counts = budget(self.suppression, len(table)), table.sensitive.counts
        if not most and not meet_all(counts[None, :], self.limits(table))[0]:
            return self.explain(table, counts, False)
        return UserError(
            f"{', '.join(self.asked())} cannot be met: all {lattice.size:,} combinations of levels "
            f"would have more than {most:,} of the {len(table):,} records in groups that break it",
            way_out="Lower the constraint, raise suppression, or pass "
            f"{option('unmet', 'generalize', of='sanitizer')} to publish one group",
            field="sanitizer",
        )

    def release(self, table: Table, state: State) -> Release:
        """Return the release of a table at a node of its lattice."""
        lattice = state.lattice
        group_of_row = state.groups.of_cell[lattice.cells.cell[lattice.cells.pair_of_row]]
        kept = np.flatnonzero(state.good)
        number = np.full(len(state.groups), len(kept), np.int32)  # suppressed: the last group
        number[kept] = np.arange(len(kept), dtype=np.int32)
        groups = number[group_of_row]
        met = True
        if self.suppressed == "drop":
            rows = np.flatnonzero(groups < len(kept))
            table, groups = table.take(rows), groups[rows]
        elif state.suppressed:
            held = np.bincount(
                table.sensitive.codes[groups == len(kept)], minlength=lattice.cells.classes
            )
            met = bool(meet_all(held[None, :], self.limits(table))[0])
        columns = [
            _column(state, place, groups, kept, bool(state.suppressed))
            for place in range(len(lattice.shape))
        ]
        made = release_of(table, columns, sanitizer=str(self), groups=groups, constraint_met=met)
        return replace(made, notes=self._notes(state, met))

    def _notes(self, state: State, met: bool) -> tuple[str, ...]:
        """Say how many records no group protects, and where the kept ones are too few or alike."""
        count = state.suppressed
        if not count:
            return ()
        how = "left out" if self.suppressed == "drop" else "published with every cell *"
        notes = [
            f"{count:,} of the {len(state.lattice.table):,} records are suppressed ({how}): what "
            "protects them is that alone, no group of others"
        ]
        if not met:
            notes.append(
                "the suppressed records are themselves a group that breaks the constraint; "
                "suppressed=drop leaves them out"
            )
        return tuple(notes)


def _column(
    state: State,
    place: int,
    groups: NDArray[np.int32],
    kept: NDArray[np.intp],
    with_suppressed: bool,
) -> ReleasedColumn:
    """Return one released column: a region for each group, and ``*`` for what is suppressed."""
    attribute = state.lattice.table.attributes[place]
    level = state.lattice.levels[place][state.groups.levels[place]]
    labels = state.labels[place][kept]
    low, high = level.low[labels], level.high[labels]
    if with_suppressed:
        low = np.append(low, np.int32(0))
        high = np.append(high, np.int32(len(attribute.values) - 1))

    def make(number: int) -> Region:
        return level.region(int(labels[number])) if number < len(labels) else Anything()

    each = np.arange(len(low), dtype=np.int32)
    return ReleasedColumn(attribute, groups, each, low, high, len(low), make)
