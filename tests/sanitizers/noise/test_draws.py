"""Random numbers have the laws that the mechanisms need."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import indiff
from indiff.sanitizers.noise import draws as noise
from tests.sanitizers.noise.test_mechanisms import seeded


@pytest.mark.parametrize("vetted", [False, True])
@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("laplace", stats.laplace(scale=2.5)),
        ("gaussian", stats.norm(scale=2.5)),
        ("geometric", stats.dlaplace(1 / 2.5)),
    ],
)
def test_noise_has_its_law(kind: noise.Kind, law: Any, vetted: bool) -> None:
    counts = np.full(4_000, 1_000, np.int64)
    if vetted:
        drawn = noise.vetted_counts(kind, 2.5, counts) - 1_000
    else:
        drawn = noise.draw(kind, 2.5, counts.shape, seeded(1))
    # The mean of |noise| is within 6 % of the law's: four of its standard errors.
    assert np.abs(drawn).mean() == pytest.approx(law.expect(np.abs), rel=0.06)
    if kind != "geometric":
        assert stats.kstest(drawn, law.cdf).pvalue > 1e-6
        return
    assert (drawn == np.round(drawn)).all()
    middle = np.arange(-6, 7)
    observed = [(drawn < -6).sum(), *((drawn == z).sum() for z in middle), (drawn > 6).sum()]
    chances = [law.cdf(-7), *law.pmf(middle), law.sf(6)]
    assert stats.chisquare(observed, 4_000 * np.array(chances)).pvalue > 1e-9


@pytest.mark.parametrize("vetted", [False, True])
def test_answers_are_true_with_the_right_probability(vetted: bool) -> None:
    keep = indiff.RandomizedResponse(1.0).keep(4)
    assert keep == pytest.approx(math.e / (math.e + 3))
    truth = np.full(4_000, 2, np.int32)
    if vetted:
        answers = noise.vetted_answers(truth, 4, keep)
    else:
        answers = noise.draw_answers(truth, 4, keep, seeded(2).random((4_000, 2)))
    other = (1 - keep) / 3
    chances = 4_000 * np.array([other, other, keep, other])
    assert stats.chisquare(np.bincount(answers, minlength=4), chances).pvalue > 1e-9
