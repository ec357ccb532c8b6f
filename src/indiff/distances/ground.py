"""Ground distances: the earth mover's distance where some sensitive values are nearer than others.

Closed forms where they exist (0/1, on a line, in a tree); otherwise the transport problem itself
is solved for every distinct pair of beliefs, with POT.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.side_files import label_of
from indiff.data.table import Sensitive
from indiff.distances.ground_files import read_ground
from indiff.errors import InternalError, UserError, from_data, option

Floats = NDArray[np.float64]


class Transport(Protocol):
    """An earth mover's distance on sensitive values with a known place each."""

    @property
    def largest(self) -> float:
        """The largest ground distance, which no earth mover's distance exceeds."""
        ...

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        ...


def place(ground: str | Path, sensitive: Sensitive, values: tuple[Any, ...]) -> Transport:
    """Give each sensitive value its place: on a line, in the hierarchy, or in a file's matrix."""
    if ground == "numeric":
        return Line(_numbers(sensitive, values))
    if ground == "hierarchy":
        if sensitive.hierarchy is None:
            raise UserError(
                "the ground distance 'hierarchy' needs a hierarchy of the sensitive "
                f"attribute; {sensitive.name!r} has none",
                way_out=f"Pass it as {option('hierarchies', {sensitive.name: 'file.csv'})}",
                field="hierarchies",
            )
        return Paths.of(sensitive.hierarchy, values)
    return Matrix(read_ground(Path(ground), [label_of(value) for value in values]))


@dataclass(frozen=True, eq=False)
class Line:
    """Values at points on a line: what must cross each gap, times the gap.

    >>> Line(np.array([0.0, 10.0, 1.0]))(np.array([[1.0, 0, 0]]), np.array([[0.0, 0.5, 0.5]]))
    array([5.5])
    """

    points: Floats

    @property
    def largest(self) -> float:
        """The distance between the outermost points."""
        return float(np.ptp(self.points))

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        order = np.argsort(self.points, kind="stable")
        crossing = np.abs(np.cumsum((with_record - without)[:, order], axis=1)[:, :-1])
        return np.asarray(crossing @ np.diff(self.points[order]), np.float64)


@dataclass(frozen=True, eq=False)
class Paths:
    """Values at nodes of a tree: what must cross each edge, each edge of length 1."""

    nodes: NDArray[np.intp]
    parent: NDArray[np.int32]

    @classmethod
    def of(cls, tree: Hierarchy, values: Sequence[Any]) -> Paths:
        """Find the node of each value."""
        missing = [value for value in values if value not in tree.code_of]
        if missing:
            raise UserError(
                "the hierarchy of the sensitive attribute must hold every value; it lacks "
                f"{_shown(missing)}",
                way_out="Add a line for each",
            )
        places = [int(tree.value_node[tree.code_of[value]]) for value in values]
        return cls(np.array(places, np.intp), tree.parent)

    @property
    def largest(self) -> float:
        """The longest path between two values: from one farthest from any to one farthest from it.

        That the farthest node from anywhere ends a longest path holds in every tree.
        """
        farthest = int(np.argmax(self._lengths(int(self.nodes[0]))))
        return float(self._lengths(int(self.nodes[farthest])).max())

    def _lengths(self, start: int) -> NDArray[np.int64]:
        up: dict[int, int] = {}
        node = start
        while node >= 0:
            up[node] = len(up)
            node = int(self.parent[node])
        lengths = []
        for end in self.nodes.tolist():
            steps = 0
            while end not in up:
                end, steps = int(self.parent[end]), steps + 1
            lengths.append(steps + up[end])
        return np.array(lengths, np.int64)

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        surplus = np.zeros((len(self.parent), len(with_record)))
        surplus[self.nodes] = (with_record - without).T
        for node in range(len(self.parent) - 1, 0, -1):  # children have larger numbers
            surplus[self.parent[node]] += surplus[node]
        return np.abs(surplus[1:]).sum(axis=0)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Any ground distances: the transport problem, once for each distinct pair of beliefs."""

    costs: Floats

    @property
    def largest(self) -> float:
        """The largest entry."""
        return float(self.costs.max())

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        solve = _solver()
        size = with_record.shape[1]
        # Staying costs nothing and nothing is negative, so equal beliefs are 0 apart.
        moved = np.flatnonzero((with_record != without).any(axis=1))
        distances = np.zeros(len(with_record))
        pairs, back = np.unique(
            np.hstack([with_record[moved], without[moved]]), axis=0, return_inverse=True
        )
        costs = np.ascontiguousarray(self.costs)
        solved = np.array([solve(pair[:size], pair[size:], costs) for pair in pairs], np.float64)
        distances[moved] = solved[back.ravel()]
        return distances


def _solver() -> Any:
    try:
        import ot
    except ImportError:
        raise UserError(
            "a ground distance from a file needs the package POT, which is not installed; "
            "install indiff[transport]."
        ) from None

    def solve(one: Floats, other: Floats, costs: Floats) -> float:
        cost, log = ot.emd2(one / one.sum(), other / other.sum(), costs, log=True)
        if log["warning"] is not None:
            raise InternalError(f"the transport problem was not solved: {log['warning']}")
        return max(0.0, float(cost))

    return solve


def _numbers(sensitive: Sensitive, values: Sequence[Any]) -> Floats:
    """Return the values as numbers, dates as days."""
    points: list[float] = []
    strays: list[Any] = []
    for value in values:
        number = math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
        elif sensitive.kind == Kind.NUMERIC and isinstance(value, str):
            number = float(datetime.date.fromisoformat(value).toordinal())
        points.append(number)
        if not math.isfinite(number):
            strays.append(value)
    if strays:
        raise UserError(
            f"the ground distance 'numeric' needs a number for every value of {sensitive.name!r}",
            _shown(strays),
            "Use another ground distance, or a matrix",
        )
    return np.array(points)


def _shown(values: Sequence[Any]) -> str:
    texts = ["the missing value" if value is None else from_data(value) for value in values[:5]]
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return ", ".join(texts) + more
