"""Eq. 1 of DIT v2 and its bias."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.stats import wasserstein_distance

from indiff import datasets
from indiff.papers.errata import bias, equation_1


def test_equation_1_is_the_empirical_earth_movers_distance() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.random((50, 3)), rng.random((50, 3))
    expected = sum(wasserstein_distance(one[:, j], other[:, j]) for j in range(3))
    np.testing.assert_allclose(equation_1(one, other), expected)


def test_the_estimate_of_nothing_is_positive_and_shrinks_with_samples(needs_data: Path) -> None:
    table = datasets.adult(2_000, folder=needs_data)
    rows = np.array([3, 500, 1_999])
    few, many = (bias(table, 0.05, rows, samples=n) for n in (200, 20_000))
    assert (few.nothing > many.nothing).all()
    assert (many.nothing > 0).all()
    assert (few.estimate > few.exact).all()  # biased upward
    assert (np.abs(many.estimate - many.exact) < np.abs(few.estimate - few.exact)).all()
    repeated = bias(table, 0.05, rows, samples=200)
    np.testing.assert_array_equal(few.estimate, repeated.estimate)
