"""Distances between beliefs: plain vectorised functions, belief × belief → number.

Two families. *Between two beliefs*, as distributions over the sensitive values: ``emd`` (with 0/1
ground distance), ``tv``, ``kl``, ``js``, ``hellinger``, ``max-divergence``. *Per coordinate* (DIT
v2, Section 3.2), as one distribution of the predicted probability for every sensitive value:
``wasserstein``, ``coordinate-tv``; for a deterministic sanitizer and model each is a point mass.

None of them proves that another adversary, with another model, would see as little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indiff.errors import UserError, unknown

Distance: TypeAlias = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]

DEFAULT = "wasserstein"


def wasserstein(with_record: NDArray[Any], without: NDArray[Any]) -> NDArray[np.float64]:
    """Per-coordinate earth mover's distance, in [0, 2] (DIT v2, Section 3.2).

    For deterministic sanitizers and models it is Σ_j |p_j − p'_j|.

    >>> wasserstein(np.array([[2/3, 1/3]]), np.array([[1/2, 1/2]])).round(4)
    array([0.3333])
    """
    return np.abs(with_record - without).sum(axis=-1)


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
