"""Brackets from runs: they must hold the exact answer, and the naive estimate must not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from indiff import Laplace, RandomizedResponse
from indiff.differential.noise.bracket import (
    bracket,
    indistinguishable_from_noise,
    order_statistics_distance,
)
from indiff.differential.noise.closed_form import distances
from indiff.errors import UserError

Runs = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, bool], tuple[Runs, Runs]]


def laplace_runs(counts: list[int], epsilon: float) -> Draw:
    """Noisy counts of a cell, whose first value is the target's."""

    def draw(rng: np.random.Generator, runs: int, paired: bool) -> tuple[Runs, Runs]:
        noise = rng.laplace(0, 1 / epsilon, (runs, len(counts)))
        other = noise if paired else rng.laplace(0, 1 / epsilon, noise.shape)
        first = 1 + np.maximum(0, np.array(counts) + noise)
        second = 1 + np.maximum(0, np.array(counts) - np.eye(len(counts))[0] + other)
        return first / first.sum(axis=1, keepdims=True), second / second.sum(axis=1, keepdims=True)

    return draw


def response_runs(counts: list[int], epsilon: float) -> Draw:
    """Reports of a cell, whose first value is the target's: means hide part of the distance."""

    def draw(rng: np.random.Generator, runs: int, paired: bool) -> tuple[Runs, Runs]:
        n, size = len(counts), sum(counts) + len(counts)
        keep = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
        chances = np.where(np.eye(n, dtype=bool), keep, (1 - keep) / (n - 1))

        def others() -> Runs:
            reports = np.zeros((runs, n))
            for k, c in enumerate(counts):
                reports += rng.multinomial(c - (k == 0), chances[k], runs)
            return reports

        with_it = others()
        without_it = with_it if paired else others()
        target = rng.multinomial(1, chances[0], runs)
        return (1 + with_it + target) / size, (1 + without_it) / (size - 1)

    return draw


def far_apart(rng: np.random.Generator, runs: int, paired: bool) -> tuple[Runs, Runs]:
    """Uniform on [0.9, 1] against uniform on [0, 0.1]: 0.9 in each of two coordinates."""
    first = rng.uniform(0.9, 1, runs)
    second = first - 0.9 if paired else rng.uniform(0, 0.1, runs)
    return np.stack([first, 1 - first], axis=1), np.stack([second, 1 - second], axis=1)


def exact(mechanism: Laplace | RandomizedResponse, counts: list[int]) -> float:
    return float(distances(mechanism, [counts], [0])[0])


SMALL, MEDIUM = [2, 1, 0, 3, 0], [3, 0, 1]
SITUATIONS: dict[str, tuple[Draw, float]] = {
    "small": (laplace_runs(SMALL, 0.01), exact(Laplace(0.01), SMALL)),
    "medium": (laplace_runs(MEDIUM, 1.0), exact(Laplace(1.0), MEDIUM)),
    "response": (response_runs(MEDIUM, 0.5), exact(RandomizedResponse(0.5), MEDIUM)),
    "large": (far_apart, 1.8),
}
EVERYWHERE = pytest.mark.parametrize("situation", list(SITUATIONS))


@pytest.mark.parametrize("paired", [True, False])
@EVERYWHERE
def test_bracket_holds_the_exact_answer(situation: str, paired: bool) -> None:
    draw, answer = SITUATIONS[situation]
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(200):
        found = bracket(*draw(rng, 300, paired), paired=paired)
        held += found.lower <= answer <= found.upper
    assert held >= 190


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_naive_estimate_does_not_hold_a_small_answer(epsilon: float) -> None:
    """Two standard errors around Eq. 1 miss what they claim to hold, always above it.

    Where the distance is large against its noise (the medium situation) the bias does not show.
    """
    draw, answer = laplace_runs(SMALL, epsilon), exact(Laplace(epsilon), SMALL)
    rng = np.random.default_rng(12)
    estimates = np.array([order_statistics_distance(*draw(rng, 300, False)) for _ in range(200)])
    held = np.abs(estimates - answer) <= 2 * estimates.std()
    assert held.mean() < 0.5  # an honest interval would hold it in 95 %
    assert estimates.min() > answer


@EVERYWHERE
def test_ends_are_on_their_sides_in_the_mean(situation: str) -> None:
    draw, answer = SITUATIONS[situation]
    found = bracket(*draw(np.random.default_rng(3), 100_000, True), paired=True)
    assert found.lower_end <= answer + 0.003
    assert found.upper_end >= answer - 0.003


def test_bracket_closes_with_more_runs() -> None:
    draw, answer = SITUATIONS["medium"]
    widths = []
    for runs in (1_000, 10_000, 100_000):
        found = bracket(*draw(np.random.default_rng(4), runs, True), paired=True)
        widths.append(found.upper - found.lower)
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 0.05 * answer


def test_correction_for_records_widens() -> None:
    runs = SITUATIONS["medium"][0](np.random.default_rng(5), 2_000, True)
    one, many = bracket(*runs, paired=True), bracket(*runs, paired=True, records=10_000)
    assert many.lower < one.lower < one.upper < many.upper
    assert (one.lower_end, one.upper_end) == (many.lower_end, many.upper_end)


@pytest.mark.parametrize("runs", [2, 10, 1_000])
def test_equal_runs_leave_room_for_what_was_not_seen(runs: int) -> None:
    """No movement in R runs: an event of probability x was missed with chance (1−x)^R."""
    same = np.full((runs, 2), 0.5)
    found = bracket(same, same, paired=True)
    assert (found.lower, found.lower_end, found.upper_end) == (0.0, 0.0, 0.0)
    unseen = 1 - 0.05 ** (1 / runs)
    assert 2 * unseen < found.upper <= 2
    # The limit is Chernoff's with a quarter of the error: half per side, half per method.
    assert found.upper == pytest.approx(2 * (1 - 0.0125 ** (1 / runs)), rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30),
    st.booleans(),
)
def test_limits_are_in_order(pairs: list[tuple[float, float]], paired: bool) -> None:
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    runs = np.stack([first, 1 - first], axis=1), np.stack([second, 1 - second], axis=1)
    found = bracket(*runs, paired=paired)
    assert 0 <= found.lower <= found.lower_end <= found.upper_end + 1e-12
    assert found.upper_end <= found.upper + 1e-12
    assert found.upper <= 2
    unpaired = sum(wasserstein_distance(runs[0][:, j], runs[1][:, j]) for j in (0, 1))
    assert order_statistics_distance(*runs) == pytest.approx(unpaired, abs=1e-12)
    assert unpaired <= bracket(*runs, paired=True).upper_end + 1e-12


# --- the null ------------------------------------------------------------------------------------


def test_null_rarely_sees_what_is_not_there() -> None:
    rng = np.random.default_rng(8)
    alarms = 0
    for seed in range(200):
        p = rng.beta(2, 3, (3, 60, 1))
        sets = np.concatenate([p, 1 - p], axis=2)
        alarms += not indistinguishable_from_noise(*sets, splits=99, seed=seed)
    assert alarms <= 22  # 5 % of 200, and four standard errors


def test_null_sees_a_large_distance() -> None:
    rng = np.random.default_rng(9)
    present, absent = far_apart(rng, 50, False)
    repeated, _ = far_apart(rng, 50, False)
    assert not indistinguishable_from_noise(present, repeated, absent, splits=99)


def test_null_depends_on_its_seed_alone() -> None:
    p = np.random.default_rng(10).beta(2, 3, (3, 40, 1))
    sets = np.concatenate([p, 1 - p], axis=2)
    answers = {indistinguishable_from_noise(*sets, splits=99, seed=1) for _ in range(3)}
    assert len(answers) == 1


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "absent", "text"),
    [
        ([[0.5, 0.5]], [[0.5, 0.5]], "at least 2 runs; got 1. Raise runs"),
        ([[0.5, 0.5]] * 3, [[0.5, 0.5]] * 2, r"one shape.* got \(3, 2\) and \(2, 2\)"),
        ([0.5, 0.5], [0.5, 0.5], "two tables of one shape"),
        ([[0.5, 0.4]] * 2, [[0.5, 0.5]] * 2, r"sum to 1 in each run; got \[0.5, 0.4\]"),
        ([[0.5, 0.5]] * 2, [[1.5, -0.5]] * 2, r"not be negative .* got \[1.5, -0.5\]"),
        ([[0.5, 0.5]] * 2, [[float("nan"), 0.5]] * 2, r"got \[nan, 0.5\]"),
    ],
)
def test_bad_runs_are_refused(present: object, absent: object, text: str) -> None:
    with pytest.raises(UserError, match=text):
        bracket(present, absent, paired=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan")])
def test_confidence_must_be_a_probability(confidence: float) -> None:
    runs = [[0.5, 0.5]] * 2
    with pytest.raises(UserError, match="confidence must lie between 0 and 1"):
        bracket(runs, runs, paired=True, confidence=confidence)


def test_other_bad_options_are_refused() -> None:
    runs = [[0.5, 0.5]] * 2
    with pytest.raises(UserError, match="records must be at least 1; got 0"):
        bracket(runs, runs, paired=True, records=0)
    with pytest.raises(UserError, match=r"splits must be at least 19 for level 0.05; got 18"):
        indistinguishable_from_noise(runs, runs, runs, splits=18)


def test_the_upper_limit_of_unpaired_runs_is_mcdiarmids() -> None:
    """One of 2R runs moves the sum by c = 2/R: P(excess ≥ t) ≤ exp(−2 t² / (2R c²)) = error."""
    runs, error = 400, 0.05 / 2
    same = np.tile([0.7, 0.3], (runs, 1))
    found = bracket(same, same, paired=False)
    assert math.exp(-2 * found.upper**2 / (2 * runs * (2 / runs) ** 2)) == pytest.approx(error)
