"""Distances between beliefs: plain vectorised functions, belief × belief → number.

Two families. *Between two beliefs*, as distributions over the sensitive values: ``emd`` (with 0/1
ground distance), ``tv``, ``kl``, ``js``, ``hellinger``, ``max-divergence``. *Per coordinate* (DIT
v2, Section 3.2), as one distribution of the predicted probability for every sensitive value:
``wasserstein``, ``coordinate-tv``; for a deterministic sanitizer and model each is a point mass.

An :class:`Emd` is that of a ground distance (:mod:`indiff.distances.ground`).

None of them proves that another adversary, with another model, would see as little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Sensitive
from indiff.distances.ground import Floats, Transport, place
from indiff.errors import UserError, unknown

Distance: TypeAlias = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]

DEFAULT = "wasserstein"
GROUNDS = ("0/1", "hierarchy", "numeric")


def wasserstein(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Per-coordinate earth mover's distance, in [0, 2] (DIT v2, Section 3.2).

    For deterministic sanitizers and models it is Σ_j |p_j − p'_j|.

    >>> wasserstein(np.array([[2/3, 1/3]]), np.array([[1/2, 1/2]])).round(4)
    array([0.3333])
    """
    moved = with_record - without
    return np.abs(moved, out=moved).sum(axis=-1)


def coordinate_tv(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Per-coordinate total variation: how many coordinates move (DIT v2, Section 3.2, example).

    Differences below 1e-12 are rounding and count as none.

    >>> coordinate_tv(np.array([[2/3, 1/3]]), np.array([[1/2, 1/2]]))
    array([2.])
    """
    return (np.abs(with_record - without) > 1e-12).sum(axis=-1).astype(np.float64)


def tv(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Total variation between two beliefs, in [0, 1].

    >>> tv(np.array([[0.49, 0.01, 0.5]]), np.array([[0.01, 0.49, 0.5]]))
    array([0.48])
    """
    return 0.5 * np.abs(with_record - without).sum(axis=-1)


def emd(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Earth mover's distance with the 0/1 ground distance, in [0, 1] (DIT v1, Section 3.3).

    It equals ½ Σ|p − p'|; the ¼ printed in the paper is a misprint that its own tables do not
    follow.

    >>> emd(np.array([[0.49, 0.01, 0.5]]), np.array([[0.01, 0.49, 0.5]]))
    array([0.48])
    """
    return tv(with_record, without)


def kl(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Kullback–Leibler divergence with ‖ without, in bits, in [0, ∞] (DIT draft, Section 4.2).

    >>> kl(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([ 1., inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = with_record * np.log2(with_record / without)
    # Rounding can leave a sum of −1e-17 where the beliefs are equal.
    return np.maximum(np.where(with_record > 0, terms, 0.0).sum(axis=-1), 0.0)


def js(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Jensen–Shannon divergence in bits, in [0, 1].

    >>> js(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    array([1.])
    """
    middle = 0.5 * (with_record + without)
    return 0.5 * kl(with_record, middle) + 0.5 * kl(without, middle)


def hellinger(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Hellinger distance, in [0, 1].

    >>> hellinger(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    array([1.])
    """
    squares = (np.sqrt(with_record) - np.sqrt(without)) ** 2
    return np.sqrt(0.5 * squares.sum(axis=-1))


def max_divergence(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Largest absolute log-ratio of a probability, in nats, in [0, ∞]: differential privacy's ε.

    Infinite where one belief rules out what the other does not (DIT draft, Section 4.2).

    >>> max_divergence(np.array([[0.8, 0.2], [1.0, 0.0]]), np.array([[0.4, 0.6], [0.5, 0.5]]))
    array([1.09861229,        inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(with_record) - np.log(without))
    return np.where((with_record == 0) & (without == 0), 0.0, ratios).max(axis=-1)


DISTANCES: dict[str, Distance] = {
    "wasserstein": wasserstein,
    "coordinate-tv": coordinate_tv,
    "emd": emd,
    "tv": tv,
    "kl": kl,
    "js": js,
    "hellinger": hellinger,
    "max-divergence": max_divergence,
}

LARGEST = {
    "wasserstein": 2.0,
    "coordinate-tv": np.inf,  # the number of sensitive values
    "emd": 1.0,
    "tv": 1.0,
    "kl": np.inf,
    "js": 1.0,
    "hellinger": 1.0,
    "max-divergence": np.inf,
}


def as_distance(distance: str | Distance) -> tuple[str, Distance]:
    """Return a distance's name and function, from either.

    >>> as_distance("tv")[0]
    'tv'
    """
    if isinstance(distance, str):
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        return distance, DISTANCES[distance]
    if not callable(distance):
        raise UserError(
            f"a distance is a name ({', '.join(DISTANCES)}) or a function of two arrays of beliefs",
            f"{distance!r}",
        )
    known = [name for name, function in DISTANCES.items() if function is distance]
    return (known[0] if known else str(getattr(distance, "__name__", "custom"))), distance


@dataclass(frozen=True)
class Equal:
    """Any two values are 1 apart: ½ Σ|p − p'|."""

    largest: float = 1.0

    def __call__(self, with_record: Floats, without: Floats) -> Floats:
        """Return one number per record."""
        return emd(with_record, without)


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
        transport = Equal() if self.ground == "0/1" else place(self.ground, sensitive, named)
        return BoundEmd(str(self), len(named), transport)


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

    >>> from indiff.data.schema import Kind
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
