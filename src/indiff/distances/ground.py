"""Ground distances: the earth mover's distance where some sensitive values are nearer than others.

Closed forms where they exist (0/1, on a line, in a tree); otherwise the transport problem itself
is solved for every distinct pair of beliefs, with POT.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.side_files import label_of
from indiff.data.table import Sensitive
from indiff.distances.functions import DISTANCES, LARGEST, Distance, as_distance, emd
from indiff.distances.ground_files import read_ground
from indiff.errors import InternalError, UserError, from_data, option, unknown

Floats = NDArray[np.float64]

GROUNDS = ("0/1", "hierarchy", "numeric")


class Transport(Protocol):
    """An earth mover's distance on sensitive values with a known place each."""

    @property
    def largest(self) -> float:
        """The largest ground distance, which no earth mover's distance exceeds."""
        ...

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        ...


@dataclass(frozen=True)
class Emd:
    """Earth mover's distance with a ground distance (DIT v1, Section 3.3).

    It is the least cost of turning one belief into the other, where moving one unit of probability
    from a sensitive value to another costs their ground distance:

    - ``"0/1"``: 1 between any two values; equals the distance named ``emd``;
    - ``"hierarchy"``: the length of the path between them in the sensitive attribute's hierarchy
      (Figure 2: Engineer to Artist 3, Dancer to Writer 2);
    - ``"numeric"``: the difference of numbers, or of dates in days;
    - a CSV file: a matrix with the values as first row and first column, or the columns ``value``,
      ``latitude`` and ``longitude`` in degrees, for great-circle distances in kilometres.

    The result has the ground's unit and is not limited to 1, so it cannot be compared across
    grounds. A small number may mean that the adversary learned something *near* the truth: use a
    ground distance only where near values are harmless.

    >>> import pyarrow as pa
    >>> from indiff import Suppress, differential_test, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "stage": [1, 2, 9]}),
    ...                    quasi=["age"], sensitive="stage")
    >>> result = differential_test(table, Suppress(), model="frequency", distance=Emd("numeric"))
    >>> result.distance, result.distances.round(3)
    ('emd:numeric', array([1.5  , 1.333, 2.5  ]))
    """

    ground: str | Path = "0/1"

    def __post_init__(self) -> None:
        known = isinstance(self.ground, str | Path) and str(self.ground) in GROUNDS
        if known:
            return
        if not isinstance(self.ground, str | Path) or not str(self.ground):
            raise UserError(
                f"a ground distance is one of {', '.join(GROUNDS)} or a CSV file",
                f"{self.ground!r}",
            )
        if Path(self.ground).suffix.lower() != ".csv":
            raise unknown("ground distance", str(self.ground), [*GROUNDS, "a .csv file"])

    def __str__(self) -> str:
        return f"emd:{self.ground if str(self.ground) in GROUNDS else Path(self.ground).name}"

    def bind(self, sensitive: Sensitive, values: Sequence[Any] | None = None) -> BoundEmd:
        """Return the distance for beliefs in these values (the attribute's own by default)."""
        named = tuple(sensitive.values if values is None else values)
        return BoundEmd(str(self), len(named), self._transport(sensitive, named))

    def _transport(self, sensitive: Sensitive, values: tuple[Any, ...]) -> Transport:
        if self.ground == "0/1":
            return Equal()
        if self.ground == "numeric":
            return Line(_numbers(sensitive, values))
        if self.ground == "hierarchy":
            if sensitive.hierarchy is None:
                raise UserError(
                    "the ground distance 'hierarchy' needs a hierarchy of the sensitive "
                    f"attribute; {sensitive.name!r} has none",
                    way_out=f"Pass it as {option('hierarchies', {sensitive.name: 'file.csv'})}",
                    field="hierarchies",
                )
            return Paths.of(sensitive.hierarchy, values)
        return Matrix(read_ground(Path(self.ground), [label_of(value) for value in values]))


@dataclass(frozen=True, eq=False)
class BoundEmd:
    """An earth mover's distance between beliefs in one table's sensitive values."""

    name: str
    values: int
    transport: Transport = field(repr=False)

    @property
    def largest(self) -> float:
        """The largest value that it can take."""
        return self.transport.largest

    def __call__(self, with_record: NDArray[Any], without: NDArray[Any]) -> Floats:
        """Return one number per record."""
        one, other = np.asarray(with_record, np.float64), np.asarray(without, np.float64)
        if one.shape[-1] != self.values or one.shape != other.shape:
            raise UserError(
                f"the distance {self.name!r} was made for beliefs in {self.values} "
                "sensitive values",
                f"shapes {one.shape} and {other.shape}",
                "Declare the same values for the sanitizer and the table",
            )
        return self.transport(one, other)


def as_emd(distance: Any) -> Emd | None:
    """Return the earth mover's distance that a text stands for, or that is given; else None.

    >>> as_emd("emd:numeric"), as_emd("tv")
    (Emd(ground='numeric'), None)
    """
    if isinstance(distance, str) and distance.startswith("emd:"):
        return Emd(distance.removeprefix("emd:"))
    return distance if isinstance(distance, Emd) else None


def bind_distance(
    distance: Any, sensitive: Sensitive, values: Sequence[Any] | None = None
) -> tuple[str, Distance]:
    """Return a distance's name and function; ``"emd:numeric"`` stands for ``Emd("numeric")``.

    >>> sensitive = Sensitive("stage", Kind.NUMERIC, (1, 2, 9), np.array([0, 1, 2], np.int32))
    >>> name, function = bind_distance("emd:numeric", sensitive)
    >>> name, function(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]]))
    ('emd:numeric', array([8.]))
    """
    emd = as_emd(distance)
    if emd is None:
        return as_distance(distance)
    bound = emd.bind(sensitive, values)
    return bound.name, bound


@dataclass(frozen=True)
class Equal:
    """Any two values are 1 apart: ½ Σ|p − p'|."""

    largest: float = 1.0

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        return emd(with_record, without)


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


def largest_distance(distance: tuple[str, Distance], values: int) -> float:
    """Return the largest value of a distance between beliefs in so many sensitive values.

    >>> largest_distance(("tv", DISTANCES["tv"]), 3), largest_distance(("tv", lambda p, q: p), 3)
    (1.0, inf)
    """
    name, function = distance
    if isinstance(function, BoundEmd):
        return function.largest
    if DISTANCES.get(name) is not function:
        return math.inf  # one of the user's own, whatever its name
    return float(values) if name == "coordinate-tv" else LARGEST[name]
