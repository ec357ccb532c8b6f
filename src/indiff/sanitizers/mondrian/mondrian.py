"""Sanitizes by Mondrian: cuts groups of records as long as every part meets its constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError
from indiff.release.regions import (
    Anything,
    Interval,
    Missing,
    Region,
    ValueSet,
    node_region,
    plain,
    region_of,
)
from indiff.release.release import Release, ReleasedColumn, release_of, span_column
from indiff.sanitizers.mondrian.constraints import Constrained, Unmet, check_choice, one_group
from indiff.sanitizers.mondrian.cuts import Room, empty_room
from indiff.sanitizers.mondrian.layout import (
    LABEL,
    MEMBERS,
    Problem,
    Tree,
    as_problem,
    meets,
    no_tree,
)
from indiff.sanitizers.mondrian.partition import grow

MOST_CELLS_PER_ROW = 16  # a cell is a group and a value

RegionStyle = Literal["tight", "cut"]


@dataclass(frozen=True)
class Mondrian(Constrained):
    """Generalize by cutting groups of records until no cut is allowed (LeFevre et al. 2006).

    The cut of a group of m records is its max(1, m // 2)-th smallest value; values up to the cut
    go left. With a hierarchy, a group is cut into the children of the lowest node above all its
    values. A cut is allowed if at least two parts have records and every part meets every
    constraint. Attributes are tried from widest to narrowest. Unlike the public implementation
    behind DIT v1 and v2, both sides of every cut are checked, so every group of every release
    satisfies what was asked for: ``k``, ``l`` (no sensitive value holds more than 1/ℓ of a
    group), ``distinct_l``, ``entropy_l``, ``recursive=(c, l)``, ``t``, in any combination.

    Where the whole table cannot meet a constraint, the call says so; ``unmet="generalize"``
    publishes one fully generalized group instead, marked ``constraint_met=False``.
    Satisfying a constraint does not prove that a release is safe: that is what the differential
    test measures.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53, 72],
    ...                              "disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...                    quasi=["age"], sensitive="disease")
    >>> Mondrian(k=2, regions="cut").sanitize(table).to_frame()["age"].to_pylist()
    ['<=36', '<=36', '>36', '>36', '>36']
    """

    regions: RegionStyle = "tight"
    unmet: Unmet = "error"

    randomized: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("regions", self.regions, ("tight", "cut"))
        check_choice("unmet", self.unmet, ("error", "generalize"))

    def __str__(self) -> str:
        style = "" if self.regions == "tight" else f",regions={self.regions}"
        return f"mondrian:{','.join(self.asked())}{style}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; ``rng`` is not used, the result is the same for any row order."""
        problem = self.problem(table)
        parts = missing_parts(table)
        obstacle = self.obstacle(table, problem, parts)
        if obstacle is not None:
            if self.unmet == "error":
                raise obstacle
            return one_group(table, str(self))
        tree = grow_parts(table, problem, parts)
        low, high = tree.low[tree.leaves], tree.high[tree.leaves]
        return release_of_groups(table, problem, tree.groups(len(table)), low, high, self)

    def problem(self, table: Table, reference: NDArray[np.int64] | None = None) -> Problem:
        """Lay the table out for the compiled partition; ``reference`` is for t-closeness."""
        return as_problem(table, self.limits(table, reference), tight=self.regions == "tight")

    def obstacle(
        self, table: Table, problem: Problem, parts: list[NDArray[np.int32]]
    ) -> UserError | None:
        """Return why the constraints cannot be met at all; None where they can."""
        if (impossible := self.more_than_all(table)) is not None:
            return impossible
        for part in parts:
            counts = np.bincount(problem.classes[part], minlength=int(problem.class_count))
            if not meets(counts.astype(np.int64), len(part), problem.limits):
                return self.explain(table, counts, len(parts) > 1)
        return None


def missing_parts(table: Table) -> list[NDArray[np.int32]]:
    """Return the rows of each pattern of missing numbers; one part where nothing is missing.

    With ``missing="split"`` the records that lack a numeric or ordinal value form parts of their
    own before any cut.
    """
    gaps = [
        a.codes == a.missing_code
        for a in table.attributes
        if a.has_missing and a.kind != Kind.CATEGORICAL
    ]
    rows = np.arange(len(table), dtype=np.int32)
    if not gaps:
        return [rows]
    pattern = np.zeros(len(table), np.intp)
    for gap in reversed(gaps):  # numbered anew for each column: any number of columns fits
        pattern = np.unique(2 * pattern + gap, return_inverse=True)[1].ravel()
    return [rows[pattern == number] for number in range(int(pattern.max(initial=-1)) + 1)]


def full_box(table: Table, part: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the codes between which a part may lie before any cut: its cut box."""
    low = np.zeros(len(table.attributes), np.int32)
    high = np.array([len(a.values) - 1 for a in table.attributes], np.int32)
    for place, a in enumerate(table.attributes):
        if a.has_missing and a.kind != Kind.CATEGORICAL:
            if len(part) and a.codes[part[0]] == a.missing_code:
                low[place] = a.missing_code
            else:
                high[place] = a.missing_code - 1
    return low, high


def grow_parts(table: Table, problem: Problem, parts: list[NDArray[np.int32]]) -> Tree:
    """Partition the table, each part from a root of its own."""
    low, high = zip(*(full_box(table, part) for part in parts), strict=True)
    ends = np.cumsum([len(part) for part in parts]).astype(np.int32)
    room = empty_room(problem, len(table))
    return grow_anew(problem, np.concatenate(parts), ends, np.stack(low), np.stack(high), room)


def grow_anew(
    problem: Problem,
    order: NDArray[np.int32],
    ends: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    room: Room,
) -> Tree:
    """Partition records from one or more roots, without another partition to look at."""
    twins, spans = np.full(len(ends), -1, np.int32), np.empty(0)
    nothing = no_tree(len(problem.codes))
    tree: Tree = grow(problem, order, ends, low, high, nothing, twins, spans, 0, room)[0]
    return tree


def release_of_groups(
    table: Table,
    problem: Problem,
    groups: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sanitizer: Mondrian,
) -> Release:
    """Turn groups with the codes that their regions span into a release."""
    columns = []
    for place, a in enumerate(table.attributes):
        if problem.meta[place, LABEL] == MEMBERS:
            columns.append(_members_column(a, groups, len(low)))
            continue
        make = region_of if sanitizer.regions == "tight" else _cut_region
        make = make if a.hierarchy is None else _node_region
        columns.append(span_column(a, groups, low[:, place], high[:, place], make))
    return release_of(table, columns, sanitizer=str(sanitizer), groups=groups, constraint_met=True)


def _members_column(attribute: Attribute, groups: NDArray[np.int32], count: int) -> ReleasedColumn:
    """Return a column whose regions are the sets of the values that the groups hold."""
    size = len(attribute.values)
    cells = groups.astype(np.int64) * size + attribute.codes
    # Marking cells takes less time than sorting rows, unless most cells are empty.
    few = count * size <= MOST_CELLS_PER_ROW * len(cells)
    held = np.flatnonzero(np.bincount(cells)) if few else np.unique(cells)
    owner, code = (part.astype(np.int32) for part in np.divmod(held, size))

    def make_set(number: int) -> Region:
        start, end = np.searchsorted(owner, [number, number + 1])
        return ValueSet(frozenset(attribute.values[code[start:end]].tolist()))

    return ReleasedColumn(attribute, groups, owner, code, code, count, make_set, True)


def _node_region(attribute: Attribute, low: int, high: int) -> Region:
    """Return the hierarchy node of a range of codes; a single value stands for itself."""
    tree = attribute.hierarchy
    if tree is None or low == high:
        return ValueSet(frozenset({plain(attribute.values[low])}))
    nodes = np.flatnonzero((tree.first == low) & (tree.last == high))
    # The lowest of a chain of nodes with the same values; the root is written and read as ``*``.
    return node_region(tree, tree.labels[int(nodes[-1])])


def _cut_region(attribute: Attribute, low: int, high: int) -> Region:
    """Return the box between cuts: open towards the lower cut, without end at the outside."""
    if attribute.kind != Kind.CATEGORICAL and high == attribute.missing_code:
        return Missing()
    if attribute.kind != Kind.NUMERIC:
        return region_of(attribute, low, high)
    last = len(attribute.values) - 1 - attribute.has_missing
    if low == 0 and high == last and not attribute.has_missing:
        return Anything()
    below = -np.inf if low == 0 else attribute.values[low - 1].item()
    above = np.inf if high == last else attribute.values[high].item()
    return Interval(below, above, low_closed=low == 0)
