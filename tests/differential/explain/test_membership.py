"""Membership inference from two beliefs: hand-made scores, scikit-learn's ROC, known intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score, roc_curve

from indiff import DifferentialResult, Laplace, UserError, differential_test
from indiff.differential.explain import membership
from indiff.differential.explain.membership import (
    RATES,
    _lower,
    _upper,
    membership_inference,
    membership_inferences,
    resampled,
)
from indiff.differential.noise.bracket import mean_limits
from tests.properties.random_tables import make_sample


def result_of(
    present: NDArray[np.float64], absent: NDArray[np.float64], method: str = "refit"
) -> DifferentialResult:
    """A result whose true value is always the first of two."""
    beliefs = np.stack([present, 1 - present], axis=1)
    without = np.stack([absent, 1 - absent], axis=1)
    size = len(present)
    return DifferentialResult(
        distances=np.abs(beliefs - without).sum(axis=1),
        beliefs=beliefs,
        beliefs_without=without,
        records=np.arange(size),
        classes=np.zeros(size, np.int32),
        sensitive_name="s",
        sensitive_values=("yes", "no"),
        sanitizer="f",
        model="a",
        distance="wasserstein",
        method=method,
        exactness="exact",
        table_size=size,
        fingerprint="",
        requested=size,
    )


def test_by_hand() -> None:
    found = membership_inference(
        result_of(np.array([0.9, 0.6, 0.6, 0.2]), np.array([0.6, 0.3, 0.1, 0.2]))
    )
    # Thresholds .9, .6, .3, .2, .1: in ≥ t is 1, 3, 3, 4, 4 of 4 and out ≥ t is 0, 1, 2, 3, 4.
    assert found.true_positive_rates.tolist() == [0, 0.25, 0.75, 0.75, 1, 1]
    assert found.false_positive_rates.tolist() == [0, 0, 0.25, 0.5, 0.75, 1]
    assert found.thresholds.tolist() == [np.inf, 0.9, 0.6, 0.3, 0.2, 0.1]
    assert found.advantage.value == 0.5
    assert found.true_positives_at[0.001].value == 0.25
    assert found.told_apart == 0.75
    # 16 pairs (in, out): .9 beats 4; each .6 beats 3 and ties 1; .2 beats 1, ties 1.
    assert found.area.value == pytest.approx((4 + 2 * 3.5 + 1.5) / 16)


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    present, absent = rng.integers(0, 40, 2000) / 40, rng.integers(0, 36, 2000) / 40
    found = membership_inference(result_of(present, absent), resamples=100)
    truth, scores = np.repeat([1, 0], 2000), np.concatenate([present, absent])
    false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert np.allclose(found.roc(), (false, true))
    assert found.area.value == pytest.approx(roc_auc_score(truth, scores))
    assert found.advantage.value == pytest.approx((true - false).max())
    for rate, estimate in found.true_positives_at.items():
        assert estimate.value == pytest.approx(true[false <= rate].max())


def test_same_beliefs_of_some_are_no_proof_for_all() -> None:
    """Nobody of 500 moves: of all, 0.9 % may still (Clopper–Pearson: 1 − 0.0125^(1/500))."""
    scores = np.random.default_rng(0).random(500)
    found = membership_inference(result_of(scores, scores))
    assert (found.advantage.value, found.advantage.lower) == (0, 0)
    assert found.advantage.upper == pytest.approx(1 - 0.0125 ** (1 / 500))
    assert (found.area.value, found.area.lower) == pytest.approx((0.5, 0.5))
    assert 0.5 + 0.005 < found.area.upper < 0.53
    assert found.told_apart == 0


def test_rounding_is_not_knowledge() -> None:
    scores = np.random.default_rng(0).random(500)
    found = membership_inference(result_of(scores + 1e-15, scores))
    assert found.advantage.value == 0
    assert found.told_apart == 0


def test_nobody_told_of_few_is_no_proof_that_nobody_is() -> None:
    """0 of 60 still allow 6.0 % (Clopper–Pearson: 1 − 0.025^(1/60)); all of 60 allow all."""
    absent = np.linspace(0.2, 0.9, 60)
    found = membership_inference(result_of(absent - 0.1, absent))
    assert found.true_positives_at[0.001].value == found.true_positives_at[0.001].lower == 0
    assert found.true_positives_at[0.001].upper == pytest.approx(1 - 0.025 ** (1 / 60))


@pytest.mark.parametrize("steps", [7, 1000])
def test_lower_ends_are_those_of_records_drawn_again(steps: int) -> None:
    """Each resample by its definition: the ROC curve of the records that were drawn."""
    size, resamples = 300, 100
    rng = np.random.default_rng(steps)
    places = rng.integers(0, steps, size)
    present, absent = (
        places / steps,
        np.maximum(places - rng.integers(0, 1 + steps // 7, size), 0) / steps,
    )

    def rates(rows: NDArray[np.int64]) -> list[float]:
        false, true, _ = roc_curve(
            np.repeat([1, 0], size), np.concatenate([present[rows], absent[rows]]),
            drop_intermediate=False,
        )  # fmt: skip
        area = float((np.diff(false) * (true[1:] + true[:-1]) / 2).sum())
        return [area, *(float(true[false <= rate + 1e-12].max()) for rate in (0.001, 0.01))]

    again = np.random.default_rng(5)
    drawn = np.array([rates(again.integers(size, size=size)) for _ in range(resamples)])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    measured = np.array(rates(np.arange(size)))
    expected = np.clip(np.minimum.reduce([low, measured, 2 * measured - high]), 0, 1)
    found = membership_inference(result_of(present, absent), resamples=resamples, seed=5)
    lower = [found.area.lower, *(one.lower for one in found.true_positives_at.values())]
    assert lower == pytest.approx(expected)


def test_perfect_separation() -> None:
    found = membership_inference(result_of(np.full(50, 1.0), np.zeros(50)))
    assert found.advantage.value == found.advantage.lower == found.area.value == 1
    assert found.true_positives_at[0.001].lower == 1


def test_small_advantage_may_hide_that_everyone_is_told_apart() -> None:
    absent = np.linspace(0.1, 0.8, 1000)
    found = membership_inference(result_of(absent + 1e-6, absent))
    assert found.told_apart == 1
    assert found.advantage.value < 0.01
    assert any("does not bound what is learned about one" in note for note in found.notes)


def test_intervals_cover_the_true_area() -> None:
    """In and out are independent normal scores: the area is Φ(shift / √2) = 0.7602."""
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        present = 1 / (1 + np.exp(-(rng.normal(size=150) + 1)))
        absent = 1 / (1 + np.exp(-rng.normal(size=150)))
        area = membership_inference(result_of(present, absent), resamples=200, seed=seed).area
        covered += area.lower <= 0.7602 <= area.upper
    assert covered >= 95  # limits half as far away hold it 78 times


@pytest.mark.parametrize("size", [60, 240])
def test_intervals_cover_the_truth_where_beliefs_go_together(size: int) -> None:
    """A record lowers a uniform score by at most 0.1 as it leaves: known areas of a population.

    In is u, out is u − 0.1·v for independent uniform u and v, whatever is below 0 being possible
    too: P(out < t) − P(in < t) is largest, and constant, for t from 0 to 0.9, where it is the mean
    0.05; P(in > out) = ½ + 0.05 − E[(0.1·v)²]/2 = 0.5483.
    """
    covered = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        present = rng.random(size)
        absent = present - 0.1 * rng.random(size)
        scores = result_of(0.1 + 0.9 * present, 0.1 + 0.9 * absent)
        found = membership_inference(scores, resamples=100, seed=seed)
        covered += [
            found.advantage.lower <= 0.05 <= found.advantage.upper,
            found.area.lower <= 0.5483 <= found.area.upper,
        ]
        for limits in (found.advantage, found.area, *found.true_positives_at.values()):
            assert 0 <= limits.lower <= limits.value <= limits.upper <= 1
    assert covered.min() >= 95  # limits a fifth too narrow hold it 78 times


@pytest.mark.parametrize(("exposed", "size"), [(0.01, 100), (0.05, 30), (0.02, 300), (0.3, 100)])
def test_intervals_hold_where_few_people_are_exposed(exposed: float, size: int) -> None:
    """Exposed people's beliefs rise above everybody's: the advantage is their share e.

    P(in > out) is ½ for the others and 1 for them: the area is ½ + e/2.
    """
    runs, missed = 200, np.zeros(2, int)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        absent = 0.1 + 0.6 * rng.random(size)
        present = np.where(rng.random(size) < exposed, 0.8 + 0.1 * rng.random(size), absent)
        found = membership_inference(result_of(present, absent), resamples=100, seed=seed)
        truth = exposed, 0.5 + exposed / 2
        for place, limits in enumerate((found.advantage, found.area)):
            missed[place] += not limits.lower <= truth[place] + 1e-12 <= limits.upper + 1e-12
    assert missed.max() <= 0.05 * runs


@pytest.mark.parametrize("size", [100, 1000])
def test_rates_hold_though_the_threshold_moves_with_the_sample(size: int) -> None:
    """At the threshold 0.9 lie 0.8 % of those who are out, and 5 % of the others once they are in.

    In one of six samples of 1,000 more than 1 % are out there, and the threshold is another one.
    """
    runs, missed = 100, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        absent = rng.choice([0.1, 0.5, 0.9], p=[0.6, 0.392, 0.008], size=size)
        present = np.where(rng.random(size) < 0.05, 0.9, absent)
        found = membership_inference(result_of(present, absent), resamples=100, seed=seed)
        missed += found.true_positives_at[0.01].upper < 0.008 + 0.992 * 0.05
    assert missed <= 0.05 * runs


def test_one_record_allows_everything() -> None:
    found = membership_inference(result_of(np.array([0.5]), np.array([0.5])), resamples=100)
    assert found.advantage.upper == pytest.approx(1 - 0.0125)
    assert (found.area.lower, found.area.upper) == (0.5, 1.0)


def test_the_seed_decides() -> None:
    rng = np.random.default_rng(3)
    result = result_of(rng.random(300), rng.random(300))
    one, same, other = (membership_inference(result, seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == same.to_dict()
    assert one.advantage.value == other.advantage.value
    assert one.area.lower != other.area.lower


def test_bad_input() -> None:
    good = result_of(np.array([0.5, 0.6]), np.array([0.4, 0.6]))
    with pytest.raises(UserError, match="confidence is a share between 0 and 1; got 95"):
        membership_inference(good, confidence=95)
    with pytest.raises(UserError, match="resamples must be a whole number of at least 100; got 5"):
        membership_inference(good, resamples=5)
    with pytest.raises(UserError, match="seed must be a whole number of at least 0; got -1"):
        membership_inference(good, seed=-1)
    with pytest.raises(UserError, match="at least 1 tested record"):
        membership_inference(result_of(np.empty(0), np.empty(0)))


def test_means_over_runs_are_refused() -> None:
    table = make_sample(1, 20, ["ties"], 3).table
    result = differential_test(table, Laplace(1.0))
    with pytest.raises(UserError, match="'closed-form' gives means over runs"):
        membership_inference(result)


def test_what_resampling_pushes_up_is_mirrored() -> None:
    """Resamples that lie above what was measured move the lower limit as far below it."""
    found = np.array([0.5, 0.6, 0.2, 0.3])
    drawn = np.linspace(found, found + 0.2, 1001)  # never below
    limits = _lower(found, drawn, np.zeros(1001), 0.95)
    # The 97.5 % quantile is 0.195 above.
    assert limits == pytest.approx(found - 0.195, abs=1e-9)


def test_rates_below_what_was_measured_are_mirrored() -> None:
    """Resamples that lie below what was measured move the upper limit of a rate above it."""
    size = 4000
    present, absent = np.full(size, 0.9), np.full(size, 0.1)
    found = np.array([0.5, 0.75, 0.2, 0.3])
    drawn = np.linspace(found - 0.2, found, 1001)
    limits = _upper(present, absent, found, drawn, 0.95)
    assert limits[2:] == pytest.approx(found[2:] + 0.195, abs=1e-9)


def test_upper_limits_are_those_of_the_shares_that_rise_and_fall() -> None:
    """A threshold at 0.4 is passed by 12 of 90 upwards and by 5 downwards, by nobody else.

    Both shares have Clopper and Pearson's limits, each with a half of what one side may err.
    """
    absent = np.concatenate([np.full(12, 0.3), np.full(5, 0.5), np.linspace(0.6, 0.9, 73)])
    present = absent.copy()
    present[:12], present[12:17] = 0.5, 0.3
    found = membership_inference(result_of(present, absent), confidence=0.9, resamples=100)
    error = 0.1 / 2 / 2
    most = binomtest(12, 90).proportion_ci(1 - 2 * error, method="exact").high
    least = binomtest(5, 90).proportion_ci(1 - 2 * error, method="exact").low
    assert found.advantage.upper == pytest.approx(most - least)
    # Among the 90 beliefs without a record, 0.3 is in the middle of 12, and 0.5 of the next 5.
    move = ((12 + 17) / 2 - 12 / 2) / 90
    up, down = np.zeros(90), np.zeros(90)
    up[:12] = down[12:17] = move
    high = mean_limits(up, largest=1.0, error=error)[1]
    low = mean_limits(down, largest=1.0, error=error)[0]
    assert found.area.upper == pytest.approx(0.5 + high - low)


def test_whoever_falls_for_sure_lowers_the_limit_of_the_area() -> None:
    """Of 900, 300 rise and 300 fall by a third of all places: enough to be sure of some of it."""
    absent = np.concatenate([np.full(300, 0.3), np.full(300, 0.5), np.linspace(0.6, 0.9, 300)])
    present = absent.copy()
    present[:300], present[300:600] = 0.5, 0.3
    found = membership_inference(result_of(present, absent), confidence=0.9, resamples=100)
    moved = np.repeat([1 / 3, 0.0], [300, 600])
    low, high = mean_limits(moved, largest=1.0, error=0.1 / 2 / 2)
    assert low > 0.05
    assert found.area.upper == pytest.approx(0.5 + high - low)


def test_the_defaults_are_those_that_are_told() -> None:
    rng = np.random.default_rng(4)
    result = result_of(rng.random(200), rng.random(200))
    told = membership_inference(result, confidence=0.95, resamples=1000, seed=0)
    assert membership_inference(result).to_dict() == told.to_dict()
    assert {told: 1}[told] == 1, "a result is itself and no other"


def test_a_difference_beyond_twelve_decimals_is_rounding() -> None:
    scores = np.linspace(0.1, 0.9, 40)
    for difference, share in ((5e-13, 0), (2e-12, 1)):
        found = membership_inference(result_of(scores + difference, scores), resamples=100)
        assert found.told_apart == share
        assert (found.advantage.value > 0) == bool(share)


@pytest.mark.parametrize(("size", "expected"), [(999, True), (1000, False)])
def test_fewer_than_a_thousand_records_have_no_rate_of_a_thousandth(
    size: int, expected: bool
) -> None:
    scores = np.linspace(0.1, 0.9, size)
    notes = membership_inference(result_of(scores, scores), resamples=100).notes
    assert any("0.1 % means none at all" in note for note in notes) is expected


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, np.nan])
def test_a_confidence_is_a_share(confidence: float) -> None:
    good = result_of(np.array([0.5, 0.6]), np.array([0.4, 0.6]))
    with pytest.raises(UserError, match="confidence is a share between 0 and 1"):
        membership_inference(good, confidence=confidence)


@pytest.mark.parametrize("method", ["sampled", "closed-form"])
def test_no_adversary_sees_a_mean_over_runs(method: str) -> None:
    with pytest.raises(UserError, match=f"method '{method}' gives means over runs"):
        membership_inference(result_of(np.array([0.5]), np.array([0.4]), method))


def test_the_advantage_is_too_high_by_what_a_resample_goes_above_the_curve() -> None:
    """Its lower limit alone moves: by the 97.5 % quantile, 0.195."""
    found = np.array([0.5, 0.6, 0.2, 0.3])
    drawn = np.tile(found, (1001, 1))
    limits = _lower(found, drawn, np.linspace(0, 0.2, 1001), 0.95)
    assert limits == pytest.approx([0.305, 0.6, 0.2, 0.3], abs=1e-9)
    assert _lower(found / 10, drawn / 10, np.full(1001, 0.2), 0.95)[0] == 0


def test_resamples_are_by_their_definition() -> None:
    """Of the records drawn again: the rates at every threshold, and how far above the first."""
    size = 60
    rng = np.random.default_rng(8)
    present = rng.integers(0, 9, size)
    absent = np.maximum(present - rng.integers(0, 3, size), 0)
    places = np.concatenate([present, absent]).astype(np.intp)
    ((drawn, above),) = resampled([places], 100, 6)
    thresholds = np.arange(9)[:, None]

    def rates(rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        both = [(scores[rows] >= thresholds).mean(axis=1)[::-1] for scores in (present, absent)]
        return both[0], both[1]

    again, measured = np.random.default_rng(6), np.subtract(*rates(np.arange(size)))
    for run in range(100):  # more than are counted side by side
        true, false = rates(again.integers(size, size=size))
        found = true - false
        area = np.trapezoid(np.append(0, true), np.append(0, false))
        assert drawn[run, 1] == pytest.approx(area, abs=1e-12)
        at = [max(true[false <= rate], default=0) for rate in RATES]
        assert drawn[run, 2:] == pytest.approx(at, abs=1e-12)
        assert drawn[run, 0] == pytest.approx(max(found.max(), 0), abs=1e-12)
        assert above[run] == pytest.approx(max((found - measured).max(), 0), abs=1e-12)


def test_one_record_is_resampled_as_itself() -> None:
    """With the record the belief is above every one without: it is told apart, none mistaken."""
    ((drawn, above),) = resampled([np.array([1, 0])], 3, 0)
    assert drawn.tolist() == [[1.0, 1.0, 1.0, 1.0]] * 3
    assert above.tolist() == [0.0] * 3


def test_how_many_are_counted_side_by_side_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.random.default_rng(2).integers(0, 5, 34)
    ((drawn, above),) = resampled([places], 90, 4)
    for least, most, counts in ((8, 9, 2**20), (1, 64, 40), (3, 64, 1), (90, 90, 1)):
        monkeypatch.setattr(membership, "LEAST_AT_ONCE", least)
        monkeypatch.setattr(membership, "MOST_AT_ONCE", most)
        monkeypatch.setattr(membership, "MOST_COUNTS", counts)
        ((again, higher),) = resampled([places], 90, 4)
        assert np.array_equal(drawn, again)
        assert np.array_equal(above, higher)


def test_a_rate_is_at_most_what_so_many_of_so_many_allow() -> None:
    """40 and 60 of 200 by Clopper and Pearson, where resampling draws the same again and again."""
    found = np.array([0.5, 0.75, 0.2, 0.3])
    limits = _upper(np.full(200, 0.9), np.full(200, 0.1), found, np.tile(found, (100, 1)), 0.9)
    expected = [binomtest(n, 200).proportion_ci(0.9, method="exact").high for n in (40, 60)]
    assert limits[2:] == pytest.approx(expected)


def test_all_may_be_told_where_all_were() -> None:
    found = membership_inference(result_of(np.full(50, 1.0), np.zeros(50)), resamples=100)
    for limits in (found.advantage, found.area, *found.true_positives_at.values()):
        assert (limits.value, limits.upper) == (1, 1)


@pytest.mark.parametrize(("rise", "fall"), [(12, 1), (12, 0), (1, 0), (0, 3), (30, 2)])
def test_few_that_fall_count_against_those_that_rise(rise: int, fall: int) -> None:
    absent = np.concatenate([np.full(rise, 0.3), np.full(fall, 0.5), np.linspace(0.6, 0.9, 60)])
    present = absent.copy()
    present[:rise], present[rise : rise + fall] = 0.5, 0.3
    found = membership_inference(result_of(present, absent), resamples=100)
    size, error = len(absent), 0.05 / 2 / 2

    def limits(number: int) -> tuple[float, float]:
        found = binomtest(number, size).proportion_ci(1 - 2 * error, method="exact")
        return float(found.low), float(found.high)

    # Below every belief nobody rises and nobody falls: there 0 of all may rise.
    expected = max(limits(rise)[1] - limits(fall)[0], limits(0)[1])
    assert found.advantage.upper == pytest.approx(expected)


def test_who_is_told_apart_by_some_values_alone_is_told_apart() -> None:
    """Of three values, the belief in one may stay while it moves between the other two."""
    two = result_of(np.array([0.5, 0.5]), np.array([0.25, 0.5]))
    beliefs = np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
    without = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])
    result = replace(two, beliefs=beliefs, beliefs_without=without)
    assert membership_inference(result, resamples=100).told_apart == 0.5


def test_several_adversaries_have_the_numbers_that_each_has_alone() -> None:
    rng = np.random.default_rng(3)
    several = [result_of(rng.random(size), rng.random(size)) for size in (40, 70, 40)]
    found = membership_inferences(several, confidence=0.9, resamples=100, seed=2)
    for one, result in zip(found, several, strict=True):
        alone = membership_inference(result, confidence=0.9, resamples=100, seed=2)
        assert one.to_dict() == alone.to_dict()


def test_unless_told_otherwise_one_is_resampled_as_several_are() -> None:
    result = result_of(np.array([0.5, 0.25, 1.0]), np.array([0.25, 0.5, 0.0]))
    (found,) = membership_inferences([result], confidence=0.95, seed=0)
    assert found.resamples == 1000
    assert found.to_dict() == membership_inference(result).to_dict()
