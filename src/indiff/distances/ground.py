"""Ground distances: the earth mover's distance where some sensitive values are nearer than others.

Closed forms where they exist (0/1, on a line, in a tree); otherwise the transport problem itself
is solved for every distinct pair of beliefs, with POT.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.side_files import label_of, number_of, read_cells
from indiff.data.table import Sensitive
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
                way_out=f"Give it: {option('hierarchies', {sensitive.name: 'file.csv'})}",
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
        # POT ends at steps of about 1e-15, and sums overflow near the largest number: by a power
        # of two, which loses no digit, all costs are brought to at most 1 and the results back.
        power = int(np.frexp(self.largest)[1])
        costs = np.ldexp(np.ascontiguousarray(self.costs), -power)
        solved = np.array([solve(pair[:size], pair[size:], costs) for pair in pairs], np.float64)
        distances[moved] = np.ldexp(solved, power)[back.ravel()]
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
    points = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if isinstance(value, int | float) and not isinstance(value, bool):
            points[place] = value
        elif sensitive.kind == Kind.NUMERIC and isinstance(value, str):
            points[place] = datetime.date.fromisoformat(value).toordinal()
    strays = [value for value, known in zip(values, np.isfinite(points), strict=True) if not known]
    if strays:
        raise UserError(
            f"the ground distance 'numeric' needs a number for every value of {sensitive.name!r}",
            _shown(strays),
            "Use another ground distance, or a matrix",
        )
    return points


def _shown(values: Sequence[Any]) -> str:
    texts = ["the missing value" if value is None else from_data(value) for value in values[:5]]
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return ", ".join(texts) + more


EARTH_KM = 6371.0088  # the mean radius (IUGG)
PLACES = ("value", "latitude", "longitude")


def read_ground(path: Path, labels: Sequence[str]) -> Floats:
    """Read the ground distances between these values, in this order."""
    alike = next((label for label, times in Counter(labels).items() if times > 1), None)
    if alike is not None:  # they would be 0 apart
        raise UserError(
            "a file of ground distances names each value once; two sensitive values "
            f"are both called {from_data(alike)} there",
            way_out="Rename one of them in the table",
        )
    lines = read_cells(path, "ground distances")
    if len(lines) < 2:
        raise UserError(
            f"{path.name} has no ground distances; expected a matrix with the values as first row "
            f"and first column, or the columns {', '.join(PLACES)}."
        )
    header = [cell.strip().lower() for cell in lines[0][1]]
    if sorted(header) == sorted(PLACES):
        return _places(path, header, lines[1:], labels)
    return _matrix(path, lines, labels)


def great_circle(latitude: Floats, longitude: Floats) -> Floats:
    """Return the distances in kilometres between places on a sphere of the Earth's mean radius.

    >>> great_circle(np.array([0.0, 0.0]), np.array([0.0, 90.0])).round(1)[0, 1]
    np.float64(10007.6)
    """
    up, along = np.radians(latitude), np.radians(longitude)
    half_up = np.sin((up[:, None] - up) / 2) ** 2
    half_along = np.sin((along[:, None] - along) / 2) ** 2
    chord = half_up + np.cos(up[:, None]) * np.cos(up) * half_along
    return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.clip(chord, 0, 1))), np.float64)


def _places(
    path: Path, header: list[str], lines: list[tuple[int, list[str]]], labels: Sequence[str]
) -> Floats:
    order = [header.index(name) for name in PLACES]
    found: dict[str, tuple[float, float]] = {}
    for number, cells in lines:
        label, up, along = (cells[place] for place in order)
        latitude = number_of(path, number, up, "a latitude", -90, 90)
        longitude = number_of(path, number, along, "a longitude", -180, 180)
        if label in found:
            raise UserError(
                f"{path.name}, line {number}: {from_data(label)} has a second place; keep one."
            )
        found[label] = latitude, longitude
    _check_complete(path, labels, found)
    spots = np.array([found[label] for label in labels])
    return great_circle(spots[:, 0], spots[:, 1])


def _matrix(path: Path, lines: list[tuple[int, list[str]]], labels: Sequence[str]) -> Floats:
    columns = lines[0][1][1:]
    if len(set(columns)) < len(columns):
        twice = next(label for label in columns if columns.count(label) > 1)
        raise UserError(
            f"{path.name}: {from_data(twice)} is named twice in the first row; keep one."
        )
    found: dict[str, dict[str, float]] = {}
    for number, cells in lines[1:]:
        if cells[0] in found:
            raise UserError(
                f"{path.name}, line {number}: {from_data(cells[0])} has a second row; keep one."
            )
        found[cells[0]] = {
            label: number_of(path, number, cell, "a ground distance", 0, math.inf)
            for label, cell in zip(columns, cells[1:], strict=True)
        }
    _check_complete(path, labels, found, "row")
    _check_complete(path, labels, columns, "column")
    costs = np.array([[found[one][other] for other in labels] for one in labels])
    if costs.diagonal().any():
        label = labels[int(np.flatnonzero(costs.diagonal())[0])]
        raise UserError(
            f"{path.name}: a value is 0 away from itself; "
            f"{from_data(label)} is {found[label][label]:g}."
        )
    uneven = np.argwhere(~np.isclose(costs, costs.T, rtol=1e-9, atol=0))
    if len(uneven):
        one, other = (labels[place] for place in uneven[0])
        raise UserError(
            f"{path.name}: ground distances are the same both ways; "
            f"{from_data(one)} to {from_data(other)} is "
            f"{found[one][other]:g} and back {found[other][one]:g}."
        )
    return costs


def _check_complete(path: Path, labels: Sequence[str], found: Any, part: str = "line") -> None:
    missing = [label for label in labels if label not in found]
    if missing:
        names = ", ".join(
            from_data(label) if label else "'' (the missing value)" for label in missing
        )
        raise UserError(
            f"{path.name} must name every sensitive value; it has no {part} for {names}",
            way_out="Add it",
        )
