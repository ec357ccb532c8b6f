"""Sanitizes by Mondrian: cuts groups of records as long as every part meets its constraints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError, check_whole, from_data, option
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
from indiff.release.release import Release, ReleasedColumn, anything, release_of, span_column
from indiff.sanitizers.mondrian.layout import (
    LABEL,
    MEMBERS,
    Limits,
    Problem,
    Tree,
    as_problem,
    ground_distance,
    meets,
)
from indiff.sanitizers.mondrian.partition import grow

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
        for name, one, other in (("regions", "tight", "cut"), ("unmet", "error", "generalize")):
            if getattr(self, name) not in (one, other):
                rule = f"{name} must be {one!r} or {other!r}"
                raise UserError(rule, repr(getattr(self, name)), field=name)
        for name in ("k", "l", "distinct_l"):
            if name == "k" or getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1)
        if self.entropy_l is not None and not (
            _is_number(self.entropy_l) and 1 <= self.entropy_l < math.inf
        ):
            rule = "entropy_l must be a number of at least 1"
            raise UserError(rule, repr(self.entropy_l), field="entropy_l")
        if self.t is not None and not (_is_number(self.t) and 0 <= self.t <= 1):
            raise UserError("t must be a number from 0 to 1", repr(self.t), field="t")
        if self.recursive is None:
            return
        rule = "recursive must be a pair (c, l) such as (3, 2)"
        if isinstance(self.recursive, Sequence) and len(self.recursive) == 2:
            c, depth = self.recursive
            if _is_number(c) and 0 < c < math.inf and type(depth) is int and depth >= 1:
                return
            rule = "recursive=(c, l) needs a positive number c and a whole number l of at least 1"
        raise UserError(rule, repr(self.recursive), field="recursive")

    def __str__(self) -> str:
        style = "" if self.regions == "tight" else f",regions={self.regions}"
        return f"mondrian:{','.join(self._asked())}{style}"

    def _asked(self) -> list[str]:
        """Write each limit that is asked for as the command line takes it."""
        names = ("l", "distinct_l", "entropy_l", "recursive", "t")
        asked = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.recursive is not None:
            asked["recursive"] = "/".join(map(str, self.recursive))
        if self.k > 1 or not asked:
            asked = {"k": self.k, **asked}
        return [f"{name}={value}" for name, value in asked.items()]

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; ``rng`` is not used, the result is the same for any row order."""
        problem = self.problem(table)
        parts = missing_parts(table)
        obstacle = self.obstacle(table, problem, parts)
        if obstacle is not None:
            if self.unmet == "error":
                raise obstacle
            columns, one_group = map(anything, table.attributes), np.zeros(len(table), np.int32)
            return release_of(
                table, columns, sanitizer=str(self), groups=one_group, constraint_met=False
            )
        tree = grow_parts(table, problem, parts)
        low, high = tree.low[tree.leaves], tree.high[tree.leaves]
        return release_of_groups(table, problem, tree.groups(len(table)), low, high, self)

    def problem(self, table: Table, reference: NDArray[np.int64] | None = None) -> Problem:
        """Lay the table out for the compiled partition; ``reference`` is for t-closeness."""
        counts = table.sensitive.counts if reference is None else reference
        beyond = (self.distinct_l, self.entropy_l, self.recursive, self.t)
        c, depth = self.recursive or (0.0, 0)
        limits = Limits(
            np.int64(self.k),
            np.int64(self.l or 0),
            np.int64(any(limit is not None for limit in beyond)),
            np.int64(self.distinct_l or 0),
            np.float64(math.log(self.entropy_l) if self.entropy_l else 0.0),
            np.float64(c),
            np.int64(depth),
            np.float64(2.0 if self.t is None else self.t),
            np.asarray(counts / max(1, int(counts.sum())), np.float64),
            *ground_distance(table.sensitive),
        )
        return as_problem(table, limits, tight=self.regions == "tight")

    def obstacle(
        self, table: Table, problem: Problem, parts: list[NDArray[np.int32]]
    ) -> UserError | None:
        """Return why the constraints cannot be met at all; None where they can."""
        if self.k > len(table):
            rule = f"k must be at least 1 and at most the number of records ({len(table):,})"
            return UserError(rule, f"{self.k:,}", "Lower k", field="k")
        for part in parts:
            counts = np.bincount(problem.classes[part], minlength=int(problem.class_count))
            if not meets(counts.astype(np.int64), len(part), problem.limits):
                return self._explain(table, counts, len(parts) > 1)
        return None

    def _explain(self, table: Table, counts: NDArray[np.int64], split: bool) -> UserError:
        size = int(counts.sum())
        where = "a part with missing values" if split else "the whole table"
        generalize = option("unmet", "generalize", of="sanitizer")
        most, lower = size // max(1, int(counts.max())), "Lower the constraint"
        if self.l is not None:
            lower = f"Lower l, which is at most {most} here"
        if self.l is not None and most < 2:
            lower = "No l above 1 is possible here: ask for k, distinct_l=2 or t"
        way_out = f"{lower}, or pass {generalize} to publish one group"
        if self.k > size:
            rule = f"k={self.k} cannot be met: {where} has only {size:,} records"
            return UserError(rule, way_out=way_out, field="k")
        present = int((counts > 0).sum())
        for name in ("l", "distinct_l", "entropy_l"):
            wanted = getattr(self, name)
            if wanted is not None and wanted > present:
                return UserError(
                    f"{name}={wanted} cannot be met: {where} has only {present} distinct values of "
                    f"{table.sensitive.name!r}",
                    way_out=way_out,
                    field=name,
                )
        top = from_data(table.sensitive.values[int(counts.argmax())])
        return UserError(
            f"{', '.join(self._asked())} cannot be met even by {where} as one group: the sensitive "
            f"value {top} is held by {counts.max() / size:.1%} of its {size:,} records",
            way_out=way_out,
            field="sanitizer",
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


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
