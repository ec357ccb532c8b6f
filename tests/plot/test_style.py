"""Style: thin curves have few points, none moved, the extremes kept, close to the full curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from indiff.errors import UserError
from indiff.plot.style import thinned

DISTANCES = st.one_of(
    st.just(0.0),
    st.just(math.inf),
    st.floats(1e-12, 2.0),
    st.sampled_from([1e-300, 1e-9, 0.5, 2.0]),
)


def cumulative(distances: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, counts = np.unique(np.array(distances), return_counts=True)
    return values, np.cumsum(counts) / len(distances)


@given(
    distances=st.lists(DISTANCES, min_size=1, max_size=300),
    most=st.integers(8, 60),
)
def test_properties(distances: list[float], most: int) -> None:
    x, y = cumulative(distances)
    thin_x, thin_y = thinned(x, y, most=most)
    assert len(thin_x) <= most
    pairs = set(zip(x.tolist(), y.tolist(), strict=True))
    assert pairs >= set(zip(thin_x.tolist(), thin_y.tolist(), strict=True))  # no point moved
    assert np.all(np.diff(thin_x) > 0)
    assert np.all(np.diff(thin_y) > 0)
    assert (thin_x[0], thin_y[0]) == (x[0], y[0])
    assert (thin_x[-1], thin_y[-1]) == (x[-1], y[-1])
    finite = x[np.isfinite(x)]
    positive = x[x > 0]
    assert set(finite[-1:]) <= set(thin_x)
    assert set(positive[:1]) <= set(thin_x)
    # The steps of the thin curve, read at every point of the full one.
    read = thin_y[np.searchsorted(thin_x, x, side="right") - 1]
    height = y[-1] - y[0]
    assert np.all(read <= y)
    assert np.all(y - read <= 2 / (most - 6) * height + 1e-12)


def test_many_distances_keep_the_tail() -> None:
    generator = np.random.default_rng(7)
    crowd = np.minimum(generator.lognormal(-6, 2, 99_000), 1.0)
    distances = [*np.zeros(1000), *crowd, 1.5, 1.95]
    x, y = cumulative(distances)
    thin_x, thin_y = thinned(x, y)
    assert len(thin_x) <= 500
    assert {1.5, 1.95} <= set(thin_x.tolist())
    assert thin_y[0] == pytest.approx(1000 / 100_002)
    drawn = thin_x[thin_x > 0]
    steps = (np.log10(x[-1]) - np.log10(x[1])) / 247
    gaps = np.diff(np.log10(drawn))
    full = np.diff(np.log10(x[1:]))
    assert gaps.max() <= steps + full.max() + 1e-9  # dense on the logarithmic axis too


def test_short_curves_stay_whole() -> None:
    x, y = thinned([0.0, 1.0], [0.5, 1.0])
    assert x.tolist() == [0.0, 1.0]
    assert y.tolist() == [0.5, 1.0]
    assert len(thinned([], [])[0]) == 0


def test_bad_curves_are_refused() -> None:
    with pytest.raises(UserError, match="must not fall"):
        thinned([1.0, 0.0], [0.5, 1.0])
    with pytest.raises(UserError, match="must not fall"):
        thinned([0.0, 1.0], [1.0, 0.5])
    with pytest.raises(UserError, match="one y for each x; got 2 of x and 1 of y"):
        thinned([0.0, 1.0], [1.0])
    with pytest.raises(UserError, match="at least 8 points; got 3"):
        thinned([0.0], [1.0], most=3)
