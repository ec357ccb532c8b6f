"""Margins are those of the theorems: simulations would not see one that is half as wide."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import binomtest, wasserstein_distance

from indiff.differential.noise.bracket import (
    _divergence,
    _mean_upper,
    bracket,
    change_limits,
    indistinguishable_from_noise,
    largest_tail,
    mean_limits,
    smallest_epsilon,
)
from indiff.differential.path import Changes
from indiff.errors import UserError

ERROR = 0.025
COIN = np.tile([0.0, 1.0, 0.0, 0.0], 25)  # as spread as it can be: Hoeffding's limits are narrower
CALM = np.tile([0.2, 0.2002, 0.2, 0.2], 2_500)  # hardly spread: Bernstein's are


def hoeffding(runs: int, error: float) -> float:
    """Return t with P(|mean − E| ≥ t) ≤ 2 exp(−2 R t²) = error (Hoeffding 1963, Theorem 2)."""
    return math.sqrt(-math.log(error / 2) / (2 * runs))


def bernstein(sample: np.ndarray, error: float) -> float:
    """Return t with P(E ≥ mean + t) ≤ error for values in [0, 1] (Maurer and Pontil, Theorem 4)."""
    runs, log = len(sample), math.log(2 / error)
    return math.sqrt(2 * np.var(sample, ddof=1) * log / runs) + 7 * log / (3 * (runs - 1))


def test_the_lower_limit_of_a_coin_is_hoeffdings() -> None:
    """Of the two margins each has half of the error, and each of the two sides a half of that."""
    low, _ = mean_limits(COIN, largest=1.0, error=ERROR)
    assert low == pytest.approx(0.25 - hoeffding(100, ERROR / 2))
    assert hoeffding(100, ERROR / 2) < bernstein(COIN, ERROR / 4)


def test_the_lower_limit_of_a_calm_sample_is_bernsteins() -> None:
    low, _ = mean_limits(CALM, largest=1.0, error=ERROR)
    assert low == pytest.approx(CALM.mean() - bernstein(CALM, ERROR / 4))


def test_the_upper_limit_of_a_coin_is_chernoffs() -> None:
    """exp(−R·KL(mean, m)) is the chance of so small a mean at the limit m: half of the error."""
    _, m = mean_limits(COIN, largest=1.0, error=ERROR)
    divergence = 0.25 * math.log(0.25 / m) + 0.75 * math.log(0.75 / (1 - m))
    assert m > 0.25
    assert math.exp(-100 * divergence) == pytest.approx(ERROR / 2)


def test_the_upper_limit_of_a_calm_sample_is_bernsteins() -> None:
    _, high = mean_limits(CALM, largest=1.0, error=ERROR)
    assert high == pytest.approx(CALM.mean() + bernstein(CALM, ERROR / 2))


def test_limits_grow_with_the_largest_distance() -> None:
    ones = mean_limits(COIN, largest=1.0, error=ERROR)
    assert mean_limits(3 * COIN, largest=3.0, error=ERROR) == pytest.approx([3 * x for x in ones])
    assert mean_limits(COIN, largest=0.0, error=ERROR) == (0.0, 0.0)
    assert mean_limits(np.array([0.5]), largest=2.0, error=ERROR) == (0.0, 2.0)
    low, high = mean_limits(5 * COIN, largest=math.inf, error=ERROR)  # 5 counts as 1
    assert (low, high) == (ones[0], math.inf)


def test_paired_runs_have_a_margin_in_each_coordinate() -> None:
    """A difference of beliefs lies in [−1, 1], twice as wide; two coordinates share the error."""
    runs, error, move = 400, 0.05 / 2 / 2, np.tile([0.5, 1.0], 200)
    first = np.stack([move, 1 - move], axis=1)
    second = np.tile([0.0, 1.0], (runs, 1))
    margin = min(
        2 * hoeffding(runs, error / 2),
        2 * bernstein(move / 2, error / 4),
    )
    found = bracket(first, second, paired=True)
    assert found.lower_end == found.upper_end == pytest.approx(1.5)
    assert found.lower == pytest.approx(2 * (0.75 - margin))
    three = bracket(first, second, paired=True, confidence=1 - 0.05 / 3)
    assert bracket(first, second, paired=True, records=3) == three


def test_unpaired_runs_have_two_margins_in_each_coordinate() -> None:
    """Each of two samples of beliefs, which lie in [0, 1], has half of a coordinate's error."""
    runs, error = 400, 0.05 / 2 / 2 / 2
    move, none = np.tile([0.5, 1.0], 200), np.zeros(400)
    first = np.stack([move, 1 - move], axis=1)
    second = np.stack([none, 1 - none], axis=1)
    margin = sum(
        min(hoeffding(runs, error / 2), bernstein(each, error / 4)) for each in (move, none)
    )
    assert bracket(first, second, paired=False).lower == pytest.approx(2 * (0.75 - margin))


def test_independent_sources_narrow_the_limits_on_changes() -> None:
    """Hoeffding for a weighted sum: P(mean − E ≥ t) ≤ exp(−2 R t² / Σ w²), half of the error."""
    runs = np.zeros((40, 100))
    runs[:20] = 1.0
    sources = np.arange(40) // 4  # ten sources of four records each
    found = change_limits(Changes.from_runs(runs, sources), 0.95)
    assert found is not None
    squares = 10 * 0.1**2
    margin = math.sqrt(-math.log(ERROR / 2) * squares / (2 * 100))
    assert found == pytest.approx((0.5 - margin, 0.5 + margin))
    # Where all records have one source, either limit on the runs counts, the narrower on each side.
    alone = change_limits(Changes.from_runs(runs, np.zeros(40, int)), 0.95)
    low, high = mean_limits(runs.mean(axis=0), largest=1.0, error=ERROR / 2)
    margin = math.sqrt(-math.log(ERROR / 2) / (2 * 100))
    assert alone == pytest.approx((max(low, 0.5 - margin), min(high, 0.5 + margin)))


@pytest.mark.parametrize("far", [0, 1, 30, 99, 100])
@pytest.mark.parametrize("records", [1, 7])
def test_limits_on_the_tail_are_clopper_and_pearsons(far: int, records: int) -> None:
    table = np.zeros((records, 100))
    table[-1, :far] = 1.0
    found = largest_tail(table, 0.5, confidence=0.9)
    level = 1 - 0.1 / records
    expected = binomtest(far, 100).proportion_ci(level, method="exact")
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("delta", ["0.02", "0.1", "0.5"])
@pytest.mark.parametrize("records", [1, 7])
def test_limits_on_epsilon_are_the_nearest_ranks_that_are_sure(delta: str, records: int) -> None:
    """Distance m is the m-th of 150: it is below the quantile where so many runs surely are."""
    runs, above = 150, Fraction(delta)
    error = Fraction(1, 20) / 2 / records

    def at_most(number: int) -> Fraction:
        below = 1 - above
        return sum(
            (math.comb(runs, k) * below**k * above ** (runs - k) for k in range(number + 1)),
            Fraction(0),
        )

    low = max(m for m in range(1, runs + 1) if at_most(m - 1) <= error)
    high = [m for m in range(1, runs + 1) if at_most(m - 1) >= 1 - error]
    table = np.tile(np.arange(1.0, runs + 1), (records, 1))
    found = smallest_epsilon(table, float(above), largest=999.0)
    assert found.lower == low
    assert found.upper == (high[0] if high else 999.0)
    assert found.estimate == runs - math.floor(above * runs)


def test_too_few_runs_leave_the_smallest_distance_below() -> None:
    """Of four runs one at least is surely (1 − 0.3⁴ = 99 %) at or below the 70 % quantile."""
    found = smallest_epsilon([[0.4, 0.3, 0.2, 0.1]], 0.3, largest=2.0)
    assert (found.lower, found.upper) == (0.1, 2.0)


def test_few_runs_may_leave_the_largest_distance_above() -> None:
    """Of four runs one at least is surely (1 − 0.3⁴ = 99 %) at or above the 30 % quantile."""
    found = smallest_epsilon([[0.4, 0.3, 0.2, 0.1]], 0.7, largest=2.0)
    assert (found.lower, found.upper) == (0.0, 0.4)


def test_the_null_is_a_permutation_test() -> None:
    """p is (1 + the splits that are as far apart) / (1 + all splits), and told apart if p ≤ 5 %."""
    data = np.random.default_rng(2)
    counted = set()
    for seed in range(150):
        p = data.beta(2, 3, (3, 6, 1))
        p[2] = np.minimum(p[2] + 0.25, 1)
        present, repeated, absent = np.concatenate([p, 1 - p], axis=2)
        observed = 2 * wasserstein_distance(repeated[:, 0], absent[:, 0])
        pool, rng = np.concatenate([present, repeated]), np.random.default_rng(seed)
        far = 0
        for _ in range(38):
            pool = rng.permutation(pool)
            far += 2 * wasserstein_distance(pool[:6, 0], pool[6:, 0]) >= observed - 1e-12
        counted.add(far)
        same = indistinguishable_from_noise(present, repeated, absent, splits=38, seed=seed)
        assert same == (Fraction(1 + far, 39) > Fraction(1, 20))
    assert {0, 1, 2} <= counted  # 1/39 and 2/39 are on both sides of 5 %


def test_two_values_say_something_and_one_nothing() -> None:
    """No movement in two: Chernoff's limit with half of the error is 1 − (error/2)^½."""
    assert mean_limits(np.zeros(1), largest=1.0, error=ERROR) == (0.0, 1.0)
    high = mean_limits(np.zeros(2), largest=1.0, error=ERROR)[1]
    assert high == pytest.approx(1 - (ERROR / 2) ** 0.5)


def test_what_is_known_of_some_records_is_not_limited() -> None:
    """Of four records two change in half of the runs, and of two 0.2 and 0.4 are known."""
    runs = np.tile([0.0, 1.0], (4, 50))
    runs[0], runs[2] = 0.2, 0.4
    drawn = np.array([False, True, False, True])
    changes = Changes(runs.mean(axis=1), runs, drawn)
    low, high = mean_limits(np.tile([0.0, 1.0], 50), largest=1.0, error=ERROR)
    expected = (0.15 + low / 2, 0.15 + high / 2)
    assert change_limits(changes, 0.95) == pytest.approx(expected)
    nobody = Changes(changes.each, runs, np.zeros(4, bool))
    assert change_limits(nobody, 0.95) == pytest.approx((changes.each.mean(),) * 2)
    assert change_limits(Changes(changes.each), 0.95) is None
    assert change_limits(Changes(changes.each, runs), 0.95) is None
    assert change_limits(Changes.from_runs(np.zeros((0, 5))), 0.95) is None


def test_only_the_sources_of_drawn_records_count() -> None:
    runs = np.zeros((30, 100))
    runs[:10] = 0.5
    runs[10:20] = 1.0
    drawn, sources = np.arange(30) >= 10, np.arange(30)
    found = change_limits(Changes(runs.mean(axis=1), runs, drawn, sources), 0.95)
    margin = math.sqrt(-math.log(ERROR / 2) * 20 * (1 / 20) ** 2 / (2 * 100))
    known, share = 10 * 0.5 / 30, 20 / 30
    assert found == pytest.approx((known + share * (0.5 - margin), known + share * (0.5 + margin)))


def test_the_null_at_its_ends() -> None:
    """19 splits give p = 1/20 at best; where nothing moves at all, every split is as far: p = 1."""
    same, other = np.tile([0.7, 0.3], (6, 1)), np.tile([0.1, 0.9], (6, 1))
    assert not indistinguishable_from_noise(same, same, other, splits=19)
    assert indistinguishable_from_noise(same, same, same, splits=19)
    assert indistinguishable_from_noise(same, same, same, level=0.96, splits=19)


def test_confidence_is_95_percent_for_one_record_unless_said() -> None:
    first, second = np.tile([0.7, 0.3], (50, 1)), np.tile([0.6, 0.4], (50, 1))
    told = bracket(first, second, paired=True, confidence=0.95, records=1)
    assert bracket(first, second, paired=True) == told
    table = np.linspace(0, 1, 60).reshape(2, 30)
    assert largest_tail(table, 0.5) == largest_tail(table, 0.5, confidence=0.95)
    assert smallest_epsilon(table, 0.1) == smallest_epsilon(table, 0.1, confidence=0.95)


def test_beliefs_may_be_off_by_rounding_and_no_more() -> None:
    good = np.tile([0.7, 0.3], (3, 1))
    for wrong, sound in (
        ([0.7, 0.3 + 9e-7], True),
        ([0.7, 0.3 + 2e-6], False),
        ([1 + 9e-10, -9e-10], True),
        ([1 + 2e-9, -2e-9], False),
    ):
        runs = np.array([[0.7, 0.3], wrong, [0.7, 0.3]])
        for pair in ((runs, good), (good, runs)):
            if sound:
                bracket(*pair, paired=True)
            else:
                with pytest.raises(UserError, match="beliefs must not be negative"):
                    bracket(*pair, paired=True)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("q", [0.3, 0.6, 1.0])
def test_the_divergence_of_two_coins(p: float, q: float) -> None:
    """rel_entr is p·ln(p/q), with 0 for p = 0, and infinite where q is 0 and p is not."""
    if p <= q:
        expected = float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))
        assert _divergence(p, q) == pytest.approx(expected)


def test_no_mean_of_shares_is_above_1() -> None:
    """Where every run found everything, nothing is left between the mean and its limit."""
    assert _mean_upper(np.ones(10), error=0.05) == 1.0


@pytest.mark.parametrize("delta", [0.1, 0.3, 0.6])
def test_the_record_furthest_away_sets_every_limit(delta: float) -> None:
    """Each of two records may err by half as much as one alone."""
    runs = np.random.default_rng(4).random(200)
    both = smallest_epsilon([runs, runs + 1], delta, confidence=0.9, largest=9.0)
    alone = smallest_epsilon([runs + 1], delta, confidence=0.95, largest=9.0)
    assert (both.lower, both.estimate, both.upper) == (alone.lower, alone.estimate, alone.upper)
    assert both.record == 1
    assert 1 < both.lower < both.estimate < both.upper < 2


def test_predictions_that_never_changed_have_an_upper_limit() -> None:
    found = change_limits(Changes.from_runs(np.zeros((3, 5))), 0.95)
    assert found is not None
    assert found[0] == 0 < found[1] < 1


@pytest.mark.parametrize("level", [1.0, 1.5])
def test_a_level_is_a_probability(level: float) -> None:
    runs = np.tile([0.5, 0.5], (4, 1))
    with pytest.raises(UserError, match="confidence must lie between 0 and 1"):
        indistinguishable_from_noise(runs, runs, runs, level=level)


def test_halves_are_drawn_by_the_seed_0_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds: list[Any] = []
    made = np.random.default_rng

    def noted(seed: Any = None) -> Any:
        seeds.append(seed)
        return made(seed)

    monkeypatch.setattr(np.random, "default_rng", noted)
    runs = np.tile([0.5, 0.5], (4, 1))
    indistinguishable_from_noise(runs, runs, runs)
    indistinguishable_from_noise(runs, runs, runs, seed=7)
    assert seeds == [0, 7]
