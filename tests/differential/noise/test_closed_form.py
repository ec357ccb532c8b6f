"""The closed form against adaptive quadrature, its properties, its limits and bad input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from indiff import Gaussian, Geometric, Laplace, RandomizedResponse
from indiff.differential.noise.closed_form import distances, expected_beliefs
from indiff.errors import UserError
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from tests.differential.noise import plain_definition

INFINITY = float("inf")
Case = tuple[list[int], int]


def one_distance(mechanism: NoisySanitizer, counts: list[int], s: int) -> float:
    return float(distances(mechanism, [counts], [s])[0])


def without(counts: list[int], s: int) -> list[int]:
    return [c - (k == s) for k, c in enumerate(counts)]


@st.composite
def cases(draw: st.DrawFn, largest: int = 10**6, most_values: int = 5) -> Case:
    """Counts of every order of magnitude, zeros included, with the target among them."""
    n = draw(st.integers(2, most_values))
    magnitude = st.floats(0, math.log(largest)).map(lambda x: round(math.exp(x)))
    counts = draw(st.lists(st.just(0) | magnitude, min_size=n, max_size=n))
    s = draw(st.integers(0, n - 1))
    counts[s] = max(1, counts[s])
    return counts, s


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log10(low), math.log10(high)).map(lambda x: 10.0**x)


REFERENCES: dict[str, tuple[Callable[[float], NoisySanitizer], Callable[[float], object]]] = {
    "laplace": (Laplace, plain_definition.laplace),
    "geometric": (Geometric, plain_definition.geometric),
    "gaussian": (
        lambda width: Gaussian(1 / width),
        lambda w: plain_definition.gaussian(1 / w),
    ),
}
NOISY = pytest.mark.parametrize("name", list(REFERENCES))


# --- high-precision adaptive quadrature ------------------------------------------------------


def check_against_quadrature(name: str, epsilon: float, case: Case) -> None:
    counts, s = case
    make, reference = REFERENCES[name]
    mechanism, transform = make(epsilon), reference(epsilon)
    exact = plain_definition.distance(transform, 1 / epsilon, counts, s)  # type: ignore[arg-type]
    assert one_distance(mechanism, counts, s) == pytest.approx(exact, rel=1e-10, abs=0)
    exact = plain_definition.belief(transform, 1 / epsilon, counts, s)  # type: ignore[arg-type]
    assert expected_beliefs(mechanism, [counts])[0, s] == pytest.approx(exact, rel=1e-10, abs=0)


@pytest.mark.parametrize(
    ("epsilon", "case"),
    [
        (1e-6, ([1_000_000, 0, 3], 0)),
        (1e-6, ([1, 1_000_000, 3], 0)),
        (0.0999, ([2, 5], 0)),
        (0.49, ([1, 0, 0], 0)),
        (0.51, ([1, 0, 17], 0)),
        (3.0, ([400, 20, 1, 0, 0, 0], 2)),
        (1e6, ([1_000_000, 999_999], 1)),
    ],
)
@NOISY
def test_quadrature_agrees_at_the_corners(name: str, epsilon: float, case: Case) -> None:
    check_against_quadrature(name, epsilon, case)


@NOISY
@settings(max_examples=8)
@given(epsilon=powers(1e-6, 1e6), case=cases(most_values=3))
def test_quadrature_agrees(name: str, epsilon: float, case: Case) -> None:
    check_against_quadrature(name, epsilon, case)


@pytest.mark.long
@NOISY
@settings(max_examples=60)
@given(epsilon=powers(1e-6, 1e6), case=cases(most_values=6))
def test_quadrature_agrees_at_length(name: str, epsilon: float, case: Case) -> None:
    check_against_quadrature(name, epsilon, case)


def expectation_by_density(counts: list[int], epsilon: float) -> float:
    """E p_0 for two sensitive values, as the double integral over the two noisy counts."""

    def over(c: int, function: Callable[[float], float]) -> float:
        def at(y: float) -> float:
            return function(y) * epsilon / 2 * math.exp(-epsilon * abs(y - c))

        cuts = sorted({0.0, float(c), c + 5 / epsilon, c + 40 / epsilon})
        inside = [
            quad(at, a, b, epsabs=1e-13, epsrel=1e-13)[0] for a, b in itertools.pairwise(cuts)
        ]
        return function(0.0) * math.exp(-epsilon * c) / 2 + math.fsum(inside)

    return over(counts[0], lambda x: over(counts[1], lambda y: (1 + x) / (2 + x + y)))


@pytest.mark.parametrize(("counts", "epsilon"), [([1, 0], 0.3), ([3, 2], 1.0), ([2, 7], 4.0)])
def test_double_integral_over_the_noise_agrees(counts: list[int], epsilon: float) -> None:
    mechanism = Laplace(epsilon)
    present = expectation_by_density(counts, epsilon)
    absent = expectation_by_density(without(counts, 0), epsilon)
    assert expected_beliefs(mechanism, [counts])[0, 0] == pytest.approx(present, abs=1e-10)
    assert one_distance(mechanism, counts, 0) == pytest.approx(2 * (present - absent), abs=1e-10)


# --- properties ----------------------------------------------------------------------------------


MECHANISMS = st.one_of(
    powers(1e-6, 1e6).map(Laplace),
    powers(1e-6, 1e6).map(Geometric),
    powers(1e-6, 1e6).map(Gaussian),
    powers(1e-6, 1e2).map(RandomizedResponse),
)


@given(mechanism=MECHANISMS, case=cases(most_values=12))
def test_expected_beliefs_sum_to_one(mechanism: NoisySanitizer, case: Case) -> None:
    beliefs = expected_beliefs(mechanism, [case[0]])
    assert beliefs.sum() == pytest.approx(1, abs=1e-12)
    assert beliefs.min() > 0


@pytest.mark.parametrize("width", [1e-100, 1e-6, 1.0, 1e6, 1e100])
def test_a_thousand_values_keep_every_digit(width: float) -> None:
    """Rounding must not add up over the sensitive values, at any width of the noise."""
    counts = np.arange(1000)[None, :]
    for mechanism in (Laplace(1 / width), Geometric(1 / width), Gaussian(width)):
        assert expected_beliefs(mechanism, counts).sum() == pytest.approx(1, abs=1e-12)
        fewer = counts[0] - (counts[0] == 7)
        present, absent = expected_beliefs(mechanism, [counts[0], fewer])
        change = 2 * (present[7] - absent[7])
        assert distances(mechanism, counts, [7])[0] == pytest.approx(change, abs=1e-12)


@given(mechanism=MECHANISMS, case=cases(largest=1000, most_values=12))
def test_distance_is_the_change_of_the_means_where_dominance_holds(
    mechanism: NoisySanitizer, case: Case
) -> None:
    counts, s = case
    present, absent = expected_beliefs(mechanism, [counts, without(counts, s)])
    distance = one_distance(mechanism, counts, s)
    change = float(np.abs(present - absent).sum())
    if isinstance(mechanism, RandomizedResponse):
        assert distance >= change - 1e-13
    else:
        assert distance == pytest.approx(change, abs=1e-12)
        assert present[s] > absent[s] - 1e-13


@given(mechanism=MECHANISMS, case=cases(most_values=12))
def test_distance_lies_between_zero_and_two(mechanism: NoisySanitizer, case: Case) -> None:
    assert 0 < one_distance(mechanism, *case) < 2


@given(mechanism=MECHANISMS, case=cases(), seed=st.integers(0, 100))
def test_order_of_values_does_not_matter(mechanism: NoisySanitizer, case: Case, seed: int) -> None:
    counts, s = case
    order = np.random.default_rng(seed).permutation(len(counts))
    shuffled = [counts[k] for k in order]
    moved = int(np.flatnonzero(order == s)[0])
    assert one_distance(mechanism, shuffled, moved) == pytest.approx(
        one_distance(mechanism, counts, s), rel=1e-13
    )
    assert expected_beliefs(mechanism, [shuffled])[0] == pytest.approx(
        expected_beliefs(mechanism, [counts])[0, order], rel=1e-13
    )


@given(mechanism=MECHANISMS, seed=st.integers(0, 1000))
def test_many_cases_at_once_equal_one_at_a_time(mechanism: NoisySanitizer, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (12, 3))
    values = rng.integers(0, 3, 12)
    counts[np.arange(12), values] += 1
    together = distances(mechanism, counts, values)
    apart = [one_distance(mechanism, list(c), s) for c, s in zip(counts, values, strict=True)]
    assert together == pytest.approx(np.array(apart), rel=1e-12)
    beliefs = [expected_beliefs(mechanism, [c])[0] for c in counts]
    assert expected_beliefs(mechanism, counts) == pytest.approx(np.array(beliefs), rel=1e-12)


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [[1, c, 2 * c] for c in range(40)]
    whole = distances(Laplace(1.0), counts, [0] * 40)
    beliefs = expected_beliefs(Laplace(1.0), counts)
    monkeypatch.setattr("indiff.differential.noise.closed_form._BLOCK", 700)
    assert np.array_equal(whole, distances(Laplace(1.0), counts, [0] * 40))
    assert np.array_equal(beliefs, expected_beliefs(Laplace(1.0), counts))


def test_no_cases_give_no_distances() -> None:
    nothing = np.zeros((0, 3), dtype=np.int64)
    for mechanism in (Laplace(1.0), Gaussian(1.0), RandomizedResponse(1.0)):
        assert distances(mechanism, nothing, np.zeros(0, dtype=np.int64)).shape == (0,)
        assert expected_beliefs(mechanism, nothing).shape == (0, 3)


# --- limits --------------------------------------------------------------------------------------


def noiseless(counts: list[int], s: int) -> float:
    """Σ_j |p_j − p'_j| of the plain relative frequencies, each count one larger."""
    size = sum(counts) + len(counts)
    pairs = zip(counts, without(counts, s), strict=True)
    return float(sum(abs(Fraction(c + 1, size) - Fraction(d + 1, size - 1)) for c, d in pairs))


@given(case=cases(most_values=12))
def test_without_noise_it_is_the_distance_of_two_frequencies(case: Case) -> None:
    counts, s = case
    for mechanism in (
        Laplace(INFINITY),
        Geometric(INFINITY),
        RandomizedResponse(INFINITY),
        Gaussian(1e-90),
    ):
        assert one_distance(mechanism, counts, s) == pytest.approx(noiseless(counts, s), rel=1e-14)
        assert expected_beliefs(mechanism, [counts])[0] == pytest.approx(
            (np.array(counts) + 1) / (sum(counts) + len(counts)), abs=1e-15
        )


@given(case=cases(most_values=12))
@example(case=([1_000_000, 0], 0))
def test_little_noise_approaches_no_noise_at_the_proven_rate(case: Case) -> None:
    for epsilon in (1e5, 1e9, 1e40):
        for mechanism in (
            Laplace(epsilon),
            Geometric(epsilon),
            Gaussian(1 / epsilon),
        ):
            assert one_distance(mechanism, *case) == pytest.approx(
                noiseless(*case), abs=4 / epsilon + 1e-13 * noiseless(*case)
            )


@given(case=cases(most_values=12))
@example(case=([1, 0], 0))
def test_much_noise_approaches_its_limit_at_the_proven_rate(case: Case) -> None:
    counts, _ = case
    n = len(counts)
    for epsilon in (1e-9, 1e-12, 1e-50):
        limit = 2 * epsilon / n * (1 - 2.0 ** -(n - 1))
        log = math.log1p(1 / (epsilon * n))
        rate = epsilon * (2.0 ** -(n - 1) * n * (1 + log) + 1.7 * n + log)
        slack = math.expm1(epsilon * sum(counts)) * (limit / epsilon + rate) + rate
        # The page bounds Laplace; the geometric mechanism adds two more shifts of the same size.
        for mechanism, times in ((Laplace(epsilon), 1), (Geometric(epsilon), 3)):
            assert one_distance(mechanism, *case) == pytest.approx(
                limit, abs=times * epsilon * slack + 1e-13 * limit
            )


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Laplace, Geometric, RandomizedResponse])
@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), 1e-120, -INFINITY])
def test_epsilon_must_be_positive(make: Callable[[float], NoisySanitizer], epsilon: float) -> None:
    with pytest.raises(UserError, match=r"epsilon must be greater than 0 .*; got .*or inf"):
        make(epsilon)


@pytest.mark.parametrize("sigma", [0, -1.0, float("nan"), INFINITY])
def test_sigma_must_be_positive_and_finite(sigma: float) -> None:
    with pytest.raises(UserError, match=r"sigma must be greater than 0 and at most .*; got"):
        Gaussian(sigma)


@pytest.mark.parametrize(
    ("counts", "values", "text"),
    [
        ([[3]], [0], "must have at least 2 values .* got 1. Choose another sensitive column"),
        ([3, 1], [0], r"one row per case .* got 1 dimension\(s\)"),
        ([[0.5, 1.5]], [0], "whole numbers.* of float64"),
        ([[2, -1]], [0], "must not be negative; got -1"),
        ([[2, 1]], [0, 1], r"one whole number per case \(1\); got shape \(2,\)"),
        ([[2, 1]], [0.5], "one whole number per case .* of float64"),
        ([[2, 1]], [2], r"columns of counts \(0 to 1\); got 2"),
        ([[2, 1]], [-1], r"columns of counts \(0 to 1\); got -1"),
        ([[2, 1], [0, 1]], [0, 0], "include the target itself.* got 0 in case 1"),
    ],
)
def test_bad_cases_are_refused(counts: object, values: object, text: str) -> None:
    for mechanism in (Laplace(1.0), Gaussian(1.0), RandomizedResponse(1.0)):
        with pytest.raises(UserError, match=text):
            distances(mechanism, counts, values)  # type: ignore[arg-type]
