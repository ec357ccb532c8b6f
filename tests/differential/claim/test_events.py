"""The choice of an event: it finds what tells most, and what it finds holds on other runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from indiff.differential.claim.bound import epsilon_lower
from indiff.differential.claim.events import LEARNED, choose_event

RUNS = 100_000


def observed(present: np.ndarray, absent: np.ndarray, delta: float = 0.0) -> float:
    half = len(present) // 2
    event = choose_event(("count",), present[:half, None], absent[:half, None], delta=delta)
    assert event is not None
    counted = event.count(present[half:, None], absent[half:, None])
    return epsilon_lower(counted, delta=delta, split=event.split)


def gaussian_epsilon(sigma: float, delta: float) -> float:
    """Return ε of normal noise at δ, for a count that changes by 1 (Balle and Wang 2018)."""

    def excess(epsilon: float) -> float:
        first = norm.cdf(0.5 / sigma - epsilon * sigma)
        return float(first - math.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma) - delta)

    return float(brentq(excess, 0, 50))


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("kind", ["laplace", "geometric"])
def test_the_observed_epsilon_nears_that_of_a_noisy_count(kind: str, epsilon: float) -> None:
    rng = np.random.default_rng(5)

    def noise() -> np.ndarray:
        if kind == "laplace":
            return rng.laplace(0, 1 / epsilon, RUNS)
        stop = 1 - math.exp(-epsilon)
        return (rng.geometric(stop, RUNS) - rng.geometric(stop, RUNS)).astype(float)

    found = observed(np.maximum(5 + noise(), 0), np.maximum(4 + noise(), 0))
    assert 0.8 * epsilon <= found <= epsilon * 1.02


@pytest.mark.parametrize(("sigma", "delta"), [(0.5, 0.05), (1, 0.1), (1, 0.01), (2, 0.05)])
def test_the_observed_epsilon_nears_that_of_a_gaussian_count(sigma: float, delta: float) -> None:
    rng, truth = np.random.default_rng(6), gaussian_epsilon(sigma, delta)
    found = observed(5 + rng.normal(0, sigma, RUNS), 4 + rng.normal(0, sigma, RUNS), delta)
    assert 0.8 * truth <= found <= truth * 1.02


def test_a_value_that_never_occurs_without_the_record_is_found() -> None:
    rng = np.random.default_rng(1)
    present = rng.choice([1.0, 2.0, 7.0], (300, 1))
    absent = rng.choice([1.0, 2.0, 9.0], (300, 1))
    event = choose_event(("x",), present, absent)
    assert event is not None
    assert (event.sign, event.threshold) in {("=", 7.0), ("=", 9.0), ("≥", 8.0)}


def test_several_weak_counts_are_taken_together() -> None:
    rng = np.random.default_rng(2)
    noise = rng.laplace(0, 1, (2, 2000, 3))
    event = choose_event(("a", "b", "c"), noise[0] + 1, noise[1])
    assert event is not None
    assert event.statistic in LEARNED


def test_failed_runs_speak_against_the_bound() -> None:
    rng = np.random.default_rng(3)
    event = choose_event(("x",), rng.normal(9, 1, (50, 1)), rng.normal(0, 1, (50, 1)))
    assert event is not None
    present, absent = np.full((10, 1), 9.0), np.zeros((10, 1))
    present[0], absent[0] = np.nan, np.nan
    counted = event.count(present, absent)
    assert (counted.hits, counted.runs, counted.other_hits, counted.other_runs) == (9, 10, 1, 10)


def test_runs_that_never_differ_tell_nothing() -> None:
    assert choose_event(("x",), np.ones((50, 1)), np.ones((50, 1))) is None
    assert choose_event(("x",), np.empty((0, 1)), np.ones((50, 1))) is None
