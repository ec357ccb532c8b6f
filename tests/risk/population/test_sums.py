"""Sums of smooth functions over many whole numbers, against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from indiff.risk.population.sums import places


@pytest.mark.parametrize("count", [1, 7, 4096, 4097, 10**6, 10**9])
@pytest.mark.parametrize("shift", [-0.999, 0.0, 50.0, 1e6])
def test_reciprocals_add_up_to_the_digammas_difference(count: int, shift: float) -> None:
    x, w = places(count)
    with mpmath.workdps(30):
        shifted = mpmath.mpf(shift)
        true = mpmath.digamma(count + 1 + shifted) - mpmath.digamma(1 + shifted)
    assert float(w @ (1 / (x + shift))) == pytest.approx(float(true), rel=1e-12)


def test_a_pole_behind_the_last_number_is_seen() -> None:
    x, w = places(10_000)
    assert float(w @ (1 / (10_001 - x))) == pytest.approx(float(mpmath.harmonic(10_000)), rel=1e-12)
    assert float(w @ np.log(x)) == pytest.approx(float(mpmath.loggamma(10_001)), rel=1e-14)
