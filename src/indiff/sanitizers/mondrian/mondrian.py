"""Sanitizes by Mondrian: cuts groups of records as long as every part meets its constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError, from_data, option
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet, node_region, plain
from indiff.release.release import Release, ReleasedColumn
from indiff.sanitizers.mondrian.constraints import Constraints, as_limits, meets
from indiff.sanitizers.mondrian.layout import LABEL, MEMBERS, Problem, Tree, as_problem
from indiff.sanitizers.mondrian.partition import grow
from indiff.sanitizers.trivial import anything, region_of, release_of

MOST_CELLS_PER_ROW = 16  # a cell is a group and a value

RegionStyle = Literal["tight", "cut"]
Unmet = Literal["error", "generalize"]


@dataclass(frozen=True)
class Mondrian:
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

    k: int = 1
    l: int | None = None  # noqa: E741 - the literature's name
    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    t: float | None = None
    regions: RegionStyle = "tight"
    unmet: Unmet = "error"

    randomized: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.regions not in ("tight", "cut"):
            raise UserError("regions must be 'tight' or 'cut'", repr(self.regions), field="regions")
        if self.unmet not in ("error", "generalize"):
            raise UserError(
                "unmet must be 'error' or 'generalize'", repr(self.unmet), field="unmet"
            )
        self.constraints  # noqa: B018 - validated when made

    @cached_property
    def constraints(self) -> Constraints:
        """The limits that every group meets."""
        return Constraints(self.k, self.l, self.distinct_l, self.entropy_l, self.recursive, self.t)

    def __str__(self) -> str:
        style = "" if self.regions == "tight" else f",regions={self.regions}"
        return f"mondrian:{self.constraints.describe().replace(', ', ',')}{style}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; ``rng`` is not used, the result is the same for any row order."""
        problem = self.problem(table)
        parts = missing_parts(table)
        obstacle = self.obstacle(table, problem, parts)
        if obstacle is not None:
            if self.unmet == "error":
                raise obstacle
            return release_of(
                table,
                [anything(a) for a in table.attributes],
                sanitizer=str(self),
                groups=np.zeros(len(table), np.int32),
                constraint_met=False,
            )
        return release_from_tree(table, problem, grow_parts(table, problem, parts), self)

    def problem(self, table: Table, reference: NDArray[np.int64] | None = None) -> Problem:
        """Lay the table out for the compiled partition; ``reference`` is for t-closeness."""
        counts = table.sensitive.counts if reference is None else reference
        limits = as_limits(self.constraints, table.sensitive, counts)
        return as_problem(table, limits, tight=self.regions == "tight")

    def obstacle(
        self, table: Table, problem: Problem, parts: list[NDArray[np.int32]]
    ) -> UserError | None:
        """Return why the constraints cannot be met at all; None where they can."""
        size, asked = len(table), self.constraints
        if asked.k > size:
            rule = f"k must be at least 1 and at most the number of records ({size:,})"
            return UserError(rule, f"{asked.k:,}", "Lower k", field="k")
        for part in parts:
            counts = np.bincount(problem.classes[part], minlength=int(problem.class_count))
            if not meets(counts.astype(np.int64), len(part), problem.limits):
                return self._explain(table, counts, len(parts) > 1)
        return None

    def _explain(self, table: Table, counts: NDArray[np.int64], split: bool) -> UserError:
        size, asked = int(counts.sum()), self.constraints
        where = "a part with missing values" if split else "the whole table"
        generalize = option("unmet", "generalize", of="sanitizer")
        way_out = f"Lower the constraint, or pass {generalize} to publish one group"
        if asked.k > size:
            rule = f"k={asked.k} cannot be met: {where} has only {size:,} records"
            return UserError(rule, way_out=way_out, field="k")
        present = int((counts > 0).sum())
        for name in ("l", "distinct_l", "entropy_l"):
            wanted = getattr(asked, name)
            if wanted is not None and wanted > present:
                return UserError(
                    f"{name}={wanted} cannot be met: {where} has only {present} distinct values of "
                    f"{table.sensitive.name!r}",
                    way_out=way_out,
                    field=name,
                )
        top = from_data(table.sensitive.values[int(counts.argmax())])
        return UserError(
            f"{asked.describe()} cannot be met even by {where} as one group: the sensitive value "
            f"{top} is held by {counts.max() / size:.1%} of its {size:,} records",
            way_out=way_out,
            field="sanitizer",
        )


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
    tree: Tree = grow(problem, np.concatenate(parts), ends, np.stack(low), np.stack(high))
    return tree


def release_from_tree(table: Table, problem: Problem, tree: Tree, sanitizer: Mondrian) -> Release:
    """Turn a partition into a release: groups are numbered from left to right."""
    low, high = tree.low[tree.leaves], tree.high[tree.leaves]
    return release_of_groups(table, problem, tree.groups(len(table)), low, high, sanitizer)


def release_of_groups(
    table: Table,
    problem: Problem,
    groups: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sanitizer: Mondrian,
) -> Release:
    """Turn groups with the codes that their regions span into a release."""
    columns = [
        _members_column(a, groups, len(low))
        if problem.meta[place, LABEL] == MEMBERS
        else _span_column(a, groups, low[:, place], high[:, place], sanitizer)
        for place, a in enumerate(table.attributes)
    ]
    return release_of(table, columns, sanitizer=str(sanitizer), groups=groups, constraint_met=True)


def _members_column(attribute: Attribute, groups: NDArray[np.int32], count: int) -> ReleasedColumn:
    """Return a column whose regions are the sets of the values that the groups hold."""
    size = len(attribute.values)
    cells = groups.astype(np.int64) * size + attribute.codes
    # Marking cells takes less time than sorting rows, unless most cells are empty.
    few = count * size <= MOST_CELLS_PER_ROW * len(cells)
    held = np.flatnonzero(np.bincount(cells)) if few else np.unique(cells)
    owner, code = (part.astype(np.int32) for part in np.divmod(held, size))

    def make_sets() -> list[Region]:
        ends = np.searchsorted(owner, np.arange(count + 1))
        return [
            ValueSet(frozenset(map(plain, attribute.values[code[start:end]])))
            for start, end in pairwise(ends)
        ]

    return ReleasedColumn(attribute, groups, owner, code, code, count, make_sets)


def _span_column(
    attribute: Attribute,
    groups: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    sanitizer: Mondrian,
) -> ReleasedColumn:
    """Return a column whose regions go from one code to another."""
    make = region_of if sanitizer.regions == "tight" else _cut_region
    if attribute.hierarchy is not None:
        make = _node_region

    def make_regions() -> list[Region]:
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
        known = {pair: make(attribute, *pair) for pair in dict.fromkeys(pairs)}
        return [known[pair] for pair in pairs]

    numbers = np.arange(len(low), dtype=np.int32)
    return ReleasedColumn(attribute, groups, numbers, low, high, len(low), make_regions)


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
