"""(ε, δ)-differentiability: DIT v1, Definition 1, with exact binomial limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from indiff.differential.noise.bracket import largest_tail, smallest_epsilon
from indiff.errors import UserError

TABLES = st.integers(1, 4).flatmap(
    lambda records: st.integers(2, 25).flatmap(
        lambda runs: st.lists(
            st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 2.0]), min_size=runs, max_size=runs),
            min_size=records,
            max_size=records,
        )
    )
)


@pytest.mark.parametrize("far", [0, 1, 17, 50])
def test_one_record_has_the_exact_binomial_interval(far: int) -> None:
    found = largest_tail([[1.0] * far + [0.0] * (50 - far)], 0.5, confidence=0.9)
    interval = binomtest(far, 50).proportion_ci(0.9, method="exact")
    assert found.estimate == far / 50
    assert found.lower == pytest.approx(interval.low, abs=1e-12)
    assert found.upper == pytest.approx(interval.high, abs=1e-12)


def test_several_records_share_the_error() -> None:
    table = [[1.0] * far + [0.0] * (50 - far) for far in (3, 20, 11, 0, 7)]
    found = largest_tail(table, 0.5, confidence=0.9)
    interval = binomtest(20, 50).proportion_ci(1 - 0.1 / 5, method="exact")
    assert (found.record, found.estimate) == (1, 0.4)
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_a_distance_of_exactly_epsilon_counts() -> None:
    assert largest_tail([[0.5, 0.5, 0.1, 0.1]], 0.5).estimate == 0.5


@given(table=TABLES, epsilon=st.sampled_from([0.0, 0.1, 0.3, 2.0, 3.0]))
def test_tail_is_the_worst_records(table: list[list[float]], epsilon: float) -> None:
    found = largest_tail(table, epsilon)
    shares = [sum(d >= epsilon for d in row) / len(row) for row in table]
    assert found.estimate == max(shares) == shares[found.record]
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1


@given(table=TABLES, delta=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
def test_epsilon_is_the_smallest_that_the_tail_allows(
    table: list[list[float]], delta: float
) -> None:
    found = smallest_epsilon(table, delta, largest=2.0)
    above = np.nextafter(found.estimate, 3.0)
    assert largest_tail(table, above).estimate <= delta + 1e-12
    if found.estimate > 0:
        assert largest_tail(table, found.estimate).estimate > delta - 1e-12
    assert found.lower <= found.estimate <= found.upper


@pytest.mark.parametrize("delta", [0.02, 0.1, 0.5])
def test_limits_on_epsilon_hold_the_quantile(delta: float) -> None:
    """Ties included: the distance is uniform on 0, 0.05, …, 0.95, so its quantiles are known."""
    rng = np.random.default_rng(1)
    grid = np.arange(20) / 20
    quantile = grid[int(np.ceil((1 - delta) * 20 - 1e-9)) - 1]
    held = 0
    for _ in range(400):
        found = smallest_epsilon(rng.choice(grid, (3, 150)), delta, largest=2.0)
        held += found.lower <= quantile <= found.upper
    assert held >= 380


def test_too_few_runs_give_no_upper_limit_but_the_largest_distance() -> None:
    assert smallest_epsilon([[0.1] * 20], 0.01).upper == float("inf")
    assert smallest_epsilon([[0.1] * 20], 0.01, largest=2.0).upper == 2.0
    assert smallest_epsilon([[0.1] * 2_000], 0.01, largest=2.0).upper == 0.1


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([[0.1]], "at least 2 runs; got 1"),
        ([0.1, 0.2], r"records × runs; got shape \(2,\)"),
        ([], "one row per tested record"),
        ([[0.1, -0.2]], "at least 0 in every run"),
        ([[0.1, float("nan")]], "negative or undefined"),
    ],
)
def test_bad_tables_are_refused(table: object, text: str) -> None:
    with pytest.raises(UserError, match=text):
        largest_tail(table, 0.1)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=text):
        smallest_epsilon(table, 0.1)  # type: ignore[arg-type]


def test_bad_parameters_are_refused() -> None:
    table = [[0.1, 0.2]]
    with pytest.raises(UserError, match="epsilon must be at least 0; got -1"):
        largest_tail(table, -1)
    with pytest.raises(UserError, match="epsilon must be at least 0; got nan"):
        largest_tail(table, float("nan"))
    for delta in (-0.1, 1, float("nan")):
        with pytest.raises(UserError, match="delta must be at least 0 and below 1; got"):
            smallest_epsilon(table, delta)
    with pytest.raises(UserError, match="confidence must lie between 0 and 1"):
        largest_tail(table, 0.1, confidence=95)
