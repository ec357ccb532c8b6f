"""Lower bounds on ε: worked by hand, against another library, and by simulated coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from indiff.differential.claim.bound import (
    Counted,
    bounds,
    check_budget,
    epsilon_lower,
    most_that_runs_show,
    share_lower,
    share_upper,
)
from indiff.errors import UserError


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (3, 10), (10, 10), (499, 500)])
def test_limits_are_clopper_and_pearsons(hits: int, runs: int) -> None:
    exact = binomtest(hits, runs).proportion_ci(0.9, "exact")
    assert share_lower(hits, runs, 0.05) == pytest.approx(exact.low)
    assert share_upper(hits, runs, 0.05) == pytest.approx(exact.high)


def test_an_event_that_tells_all_runs_apart_by_hand() -> None:
    # All of 100 with the record, none of 100 without: p ≥ 0.025^(1/100), q ≤ 1 − 0.025^(1/100).
    limit = 0.025 ** (1 / 100)
    assert epsilon_lower(Counted(100, 100, 0, 100)) == pytest.approx(math.log(limit / (1 - limit)))


def test_delta_is_taken_off_the_events_own_side() -> None:
    counted = Counted(60, 100, 20, 100)
    low, high = float(share_lower(60, 100, 0.025)), float(share_upper(20, 100, 0.025))
    expected = max(math.log((low - 0.1) / high), math.log((1 - high - 0.1) / (1 - low)))
    assert epsilon_lower(counted, delta=0.1) == pytest.approx(expected)
    assert epsilon_lower(counted, delta=0.1) < epsilon_lower(counted)


def test_the_event_that_did_not_happen_counts_too() -> None:
    # It happens nearly always with the record and often without: what tells is that it does not.
    assert epsilon_lower(Counted(1000, 1000, 500, 1000)) > math.log(0.45 / 0.01)


def test_many_events_at_once_are_the_same() -> None:
    hits, other = np.array([0, 5, 40]), np.array([9, 5, 0])
    found = bounds(hits, 40, other, 30, delta=0.01, error=0.05, split=0.9)
    each = [
        epsilon_lower(Counted(a, 40, b, 30), delta=0.01, error=0.05, split=0.9)
        for a, b in zip(hits.tolist(), other.tolist(), strict=True)
    ]
    assert found == pytest.approx(each)


@pytest.mark.parametrize("split", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_bound_is_seldom_above_the_truth(epsilon: float, split: float) -> None:
    # Randomized response: the truth with probability e^ε/(1 + e^ε), of which ε is exact.
    keep, rng = math.exp(epsilon) / (1 + math.exp(epsilon)), np.random.default_rng(3)
    hits, other = rng.binomial(200, keep, 4000), rng.binomial(200, 1 - keep, 4000)
    found = bounds(hits, 200, other, 200, delta=0.0, error=0.05, split=split)
    assert (found > epsilon).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)
    assert np.quantile(found, 0.5) > 0.3 * epsilon or epsilon < 0.5


def test_no_number_of_runs_shows_more_than_it_can() -> None:
    assert epsilon_lower(Counted(500, 500, 0, 500)) <= most_that_runs_show(500, 500)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (math.inf, 0), (1, 1), (1, -0.1)])
def test_what_is_no_claim_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(UserError, match="a claimed"):
        check_budget(epsilon, delta)
