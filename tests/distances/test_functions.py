"""Distances against scipy, against their definitions, and at their limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from indiff import UserError
from indiff.distances.functions import DISTANCES, LARGEST, as_distance

Belief = NDArray[np.float64]


@st.composite
def pairs(draw: st.DrawFn, fewest: int = 2, most: int = 6) -> tuple[Belief, Belief]:
    """Two beliefs over the same values, some of them impossible."""
    size = draw(st.integers(fewest, most))
    weights = st.lists(
        st.one_of(st.just(0.0), st.floats(1e-6, 1)), min_size=size, max_size=size
    ).filter(lambda parts: sum(parts) > 0)
    p, q = np.array(draw(weights)), np.array(draw(weights))
    return (p / p.sum())[None], (q / q.sum())[None]


def transport(p: Belief, q: Belief) -> float:
    """The least work with ground distance 1 between different values, as a linear program."""
    size = len(p)
    cost = (1 - np.eye(size)).ravel()
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    solved = linprog(cost, A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([p, q]))
    return float(solved.fun)


@given(pairs())
def test_against_other_implementations(pair: tuple[Belief, Belief]) -> None:
    p, q = pair
    expected = {
        "wasserstein": sum(abs(a - b) for a, b in zip(p[0], q[0], strict=True)),
        "coordinate-tv": sum(abs(a - b) > 1e-12 for a, b in zip(p[0], q[0], strict=True)),
        "tv": max(p[0][p[0] > q[0]].sum() - q[0][p[0] > q[0]].sum(), 0),
        "emd": transport(p[0], q[0]),
        "kl": entropy(p[0], q[0], base=2),
        "js": jensenshannon(p[0], q[0], base=2) ** 2,
        "hellinger": math.sqrt(max(0.0, 1 - np.sqrt(p[0] * q[0]).sum())),
        "max-divergence": max(
            0.0 if a == b else math.inf if min(a, b) == 0 else abs(math.log(a / b))
            for a, b in zip(p[0], q[0], strict=True)
        ),
    }
    for name, function in DISTANCES.items():
        # Hellinger's and JS's other forms subtract nearly equal numbers under a root.
        loose = 1e-7 if name in ("hellinger", "js", "emd") else 1e-9
        assert function(p, q)[0] == pytest.approx(expected[name], abs=loose), name


@given(pairs())
def test_limits_and_symmetry(pair: tuple[Belief, Belief]) -> None:
    p, q = pair
    for name, function in DISTANCES.items():
        distance = function(p, q)[0]
        assert 0 <= distance <= LARGEST[name] + 1e-12
        assert function(p, p)[0] == 0
        if name != "kl":
            assert distance == pytest.approx(function(q, p)[0], abs=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
def test_opposite_beliefs_are_as_far_apart_as_can_be(name: str) -> None:
    p, q = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    largest = 2.0 if name == "coordinate-tv" else LARGEST[name]
    assert DISTANCES[name](p, q)[0] == pytest.approx(largest)


def test_infinite_only_where_something_is_ruled_out() -> None:
    sure, open_minded = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])
    assert DISTANCES["kl"](sure, open_minded)[0] == 1
    assert DISTANCES["kl"](open_minded, sure)[0] == math.inf
    assert DISTANCES["max-divergence"](sure, open_minded)[0] == math.inf
    never = np.array([[0.5, 0.5, 0.0]])
    assert DISTANCES["max-divergence"](never, never)[0] == 0


@given(st.lists(pairs(fewest=3, most=3), min_size=1, max_size=4))
def test_many_at_once_are_each_by_itself(several: list[tuple[Belief, Belief]]) -> None:
    p, q = (np.vstack([pair[side] for pair in several]) for side in (0, 1))
    for function in DISTANCES.values():
        each = [function(a, b)[0] for a, b in several]
        assert function(p, q).tolist() == each


def test_by_name_or_function() -> None:
    assert as_distance("tv") == ("tv", DISTANCES["tv"])
    assert as_distance(DISTANCES["kl"])[0] == "kl"

    def mine(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
        return np.zeros(len(p))

    assert as_distance(mine) == ("mine", mine)
    with pytest.raises(UserError, match="no distance 'helinger': did you mean 'hellinger'"):
        as_distance("helinger")
    with pytest.raises(UserError, match=r"a distance is a name .* or a function of two arrays"):
        as_distance(3)  # type: ignore[arg-type]
