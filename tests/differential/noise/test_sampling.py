"""The sampled path through differential_test: brackets that hold, seeds, tails and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

import indiff
from indiff.differential.calls import calls
from indiff.errors import UserError
from indiff.inference import Frequency, NaiveBayes
from indiff.inference.models import SmoothedFrequency
from indiff.release.release import Release
from indiff.sanitizers.oracles.function import Oracle, SeededOracle

MECHANISMS = [
    indiff.Laplace(0.5),
    indiff.Geometric(0.5),
    indiff.Gaussian(2.0),
    indiff.RandomizedResponse(0.5),
]
ALL_FOUR = pytest.mark.parametrize("sanitizer", MECHANISMS, ids=[m.name for m in MECHANISMS])


def fifty() -> indiff.Table:
    rng = np.random.default_rng(0)
    frame = pa.table(
        {
            "age": rng.integers(20, 60, 50),
            "sex": rng.choice(["F", "M"], 50),
            "ill": rng.choice(["a", "b", "c"], 50),
        }
    )
    return indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")


TABLE = fifty()


def holds(result: Any, answers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((result.lower <= answers) & (answers <= result.upper))


# Against the closed form


@ALL_FOUR
def test_all_brackets_hold_the_closed_form(sanitizer: Any) -> None:
    exact = indiff.differential_test(TABLE, sanitizer)
    sampled = indiff.differential_test(TABLE, sanitizer, method="sampled", runs=20_000, jobs=1)
    assert (exact.method, sampled.method, sampled.exactness) == (
        "closed-form",
        "sampled",
        "estimate",
    )
    assert holds(sampled, exact.distances).all()
    # Common noise is the best coupling here: the estimate has no bias, only its error.
    error = sampled.run_distances.std(axis=1) / math.sqrt(20_000)
    assert (np.abs(sampled.distances - exact.distances) < 6 * error + 1e-12).all()
    assert (sampled.upper - sampled.lower).max() < 0.3
    np.testing.assert_allclose(sampled.beliefs, exact.beliefs, atol=0.02)
    np.testing.assert_allclose(sampled.beliefs_without, exact.beliefs_without, atol=0.02)
    low, high = sampled.delta_interval
    assert low <= exact.delta <= high == sampled.delta_upper


@ALL_FOUR
def test_the_general_path_agrees(sanitizer: Any) -> None:
    """Sanitize the whole table for every run, and let the model look the target up."""
    targets = range(0, 50, 7)
    exact = indiff.differential_test(TABLE, sanitizer, targets=targets)
    sampled = indiff.differential_test(
        TABLE, sanitizer, model=SmoothedFrequency(), targets=targets, runs=300, jobs=1
    )
    assert sampled.method == "sampled"
    assert holds(sampled, exact.distances).all()
    error = sampled.run_distances.std(axis=1) / math.sqrt(300)
    assert (np.abs(sampled.distances - exact.distances) < 5 * error + 1e-12).all()


def test_a_declared_value_that_nobody_holds() -> None:
    wide = indiff.Laplace(0.5, domains={"ill": ["a", "b", "c", "d"]})
    exact = indiff.differential_test(TABLE, wide, targets=[3])
    for model in (None, SmoothedFrequency()):
        sampled = indiff.differential_test(
            TABLE, wide, model=model, method="sampled", runs=400, targets=[3]
        )
        assert sampled.beliefs.shape == (1, 4)
        assert holds(sampled, exact.distances).all()


# A leak whose distance is known


def outlier_table() -> indiff.Table:
    """Nineteen people of 30 and one of 99, who alone is ill."""
    frame = pa.table({"age": [30] * 19 + [99], "ill": ["no"] * 19 + ["yes"]})
    return indiff.read_table(frame, quasi=["age"], sensitive="ill")


def sometimes_raw(share: float) -> Callable[..., pa.Table]:
    """Publish the raw table with a probability, else no ages."""

    def publish(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        if rng.random() < share:
            return frame
        return frame.set_column(0, "age", pa.array(["*"] * frame.num_rows))

    return publish


def leak(share: float) -> float:
    """Without the outlier nobody is ill, always; with it the belief in "yes" is 1 or 1/20."""
    return 2 * (share + (1 - share) / 20)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_seeded_function_is_sampled(share: float) -> None:
    result = indiff.differential_test(
        outlier_table(), sometimes_raw(share), model="frequency", targets=[19], runs=200
    )
    assert (result.method, result.runs, result.confidence) == ("sampled", 200, 0.95)
    assert holds(result, np.array([leak(share)])).all()
    assert result.sanitizer == "oracle:publish"


def test_the_tail_of_a_known_leak() -> None:
    result = indiff.differential_test(
        outlier_table(), sometimes_raw(0.3), model="frequency", targets=[19], runs=400
    )
    far = int((result.run_distances >= 1.0).sum())
    limits = result.tail(1.0)
    expected = binomtest(far, 400).proportion_ci(confidence_level=0.95, method="exact")
    assert limits.estimate == far / 400
    assert (limits.lower, limits.upper) == pytest.approx((expected.low, expected.high))
    assert limits.lower <= 0.3 <= limits.upper
    assert limits.record == 19
    assert result.epsilon_for(0.4).estimate == pytest.approx(0.1)  # 2 · 1/20
    assert result.epsilon_for(0.2).estimate == pytest.approx(2.0)
    assert result.epsilon_for(0).upper == 2.0


def test_the_tail_needs_runs() -> None:
    exact = indiff.differential_test(TABLE, indiff.Laplace(1.0))
    with pytest.raises(UserError, match=r"tail\(\) needs the distances of single runs"):
        exact.tail(0.1)
    with pytest.raises(UserError, match=r"epsilon_for\(\) needs .* method='sampled'"):
        exact.epsilon_for(0.1)
    assert exact.delta_interval is None
    assert exact.delta_upper == exact.delta
    assert exact.mean_upper == exact.mean


# Two hundred repetitions


def count_table() -> indiff.Table:
    frame = pa.table({"sex": list("FFFFFFM"), "ill": ["a", "a", "b", "d", "d", "d", "c"]})
    return indiff.read_table(frame, quasi=["sex"], sensitive="ill")


def unseeded_laplace(epsilon: float, seed: int) -> Callable[[Any], Any]:
    """A noisy table from somebody else, who does not take our random numbers."""
    rng = np.random.default_rng(seed)

    def publish(frame: pa.Table) -> pa.Table:
        rows = [(sex, ill) for sex in "FM" for ill in "abcd"]
        pairs = list(zip(frame["sex"].to_pylist(), frame["ill"].to_pylist(), strict=True))
        counts = np.array([pairs.count(row) for row in rows])
        weights = np.maximum(0, counts + rng.laplace(0, 1 / epsilon, len(rows)))
        sexes, ills = (list(column) for column in zip(*rows, strict=True))
        return pa.table({"sex": sexes, "ill": ills, "weight": weights})

    return publish


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_small_and_medium_brackets_hold_in_200_repetitions(epsilon: float) -> None:
    exact = indiff.differential_test(count_table(), indiff.Laplace(epsilon), targets=[0])
    held = 0
    for seed in range(200):
        sampled = indiff.differential_test(
            count_table(), indiff.Laplace(epsilon), model=SmoothedFrequency(),
            targets=[0], runs=100, seed=seed,
        )  # fmt: skip
        held += int(holds(sampled, exact.distances).all())
    assert held >= 190


@pytest.mark.long
def test_large_brackets_hold_in_200_repetitions() -> None:
    held = 0
    for seed in range(200):
        result = indiff.differential_test(
            outlier_table(), sometimes_raw(0.9), model="frequency", targets=[19], runs=100,
            seed=seed,
        )  # fmt: skip
        held += int(holds(result, np.array([leak(0.9)])).all())
    assert held >= 190


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_the_naive_estimate_does_not_hold_a_small_distance(epsilon: float) -> None:
    """Eq. 1 of DIT v2 from unpaired runs: its bias is all there is to see; the bracket holds."""
    exact = indiff.differential_test(count_table(), indiff.Laplace(epsilon), targets=[0]).delta
    estimates, held = [], 0
    for seed in range(200):
        result = indiff.differential_test(
            count_table(), Oracle(unseeded_laplace(epsilon, seed), randomized=True),
            model=SmoothedFrequency(), targets=[0], runs=100,
        )  # fmt: skip
        estimates.append(result.delta)
        held += int(result.lower[0] <= exact <= result.upper[0])
    naive = np.array(estimates)
    assert held >= 190
    assert (np.abs(naive - exact) <= 2 * naive.std()).mean() < 0.5
    assert naive.mean() > 1.5 * exact


def test_unpaired_runs_are_said_and_held() -> None:
    exact = indiff.differential_test(count_table(), indiff.Laplace(0.01), targets=[0]).delta
    result = indiff.differential_test(
        count_table(), Oracle(unseeded_laplace(0.01, 1), randomized=True),
        model=SmoothedFrequency(), targets=[0], runs=100,
    )  # fmt: skip
    assert result.lower[0] <= exact <= result.upper[0]
    assert result.delta > 3 * exact  # Eq. 1 shows the noise
    assert any("no random numbers in common" in note for note in result.notes)


# Noise is named, and never subtracted


def test_a_distance_like_noise_is_said_and_kept() -> None:
    result = indiff.differential_test(TABLE, indiff.Laplace(0.01), method="sampled", runs=50)
    note = "the largest distance is indistinguishable from noise at 50 runs"
    assert note in result.notes
    np.testing.assert_allclose(result.distances, result.run_distances.mean(axis=1))
    assert result.delta > 0
    loud = indiff.differential_test(
        outlier_table(), sometimes_raw(0.9), model="frequency", targets=[19], runs=50
    )
    assert note not in loud.notes


# Distances between beliefs


def test_belief_distances_are_means_over_paired_runs() -> None:
    results = indiff.differential_test(
        TABLE, indiff.Laplace(1.0), method="sampled", runs=300,
        distance=["wasserstein", "tv", "kl", "coordinate-tv"],
    )  # fmt: skip
    for result in results.values():
        np.testing.assert_allclose(result.distances, result.run_distances.mean(axis=1))
        assert (result.lower <= result.distances).all()
        assert (result.distances <= result.upper).all()
    np.testing.assert_allclose(
        results["tv"].run_distances, results["wasserstein"].run_distances / 2, atol=1e-15
    )
    assert results["tv"].upper.max() < 1
    assert results["kl"].delta_upper == math.inf
    assert "kl has no largest value, so samples give it no upper limit" in results["kl"].notes
    assert (results["coordinate-tv"].lower == 0).all()
    assert results["coordinate-tv"].epsilon_for(0).upper == 3.0


def test_a_distance_of_ones_own() -> None:
    def top(present: NDArray[Any], absent: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.abs(present - absent).max(axis=-1))

    result = indiff.differential_test(TABLE, indiff.Laplace(1.0), distance=top, runs=50)
    assert (result.method, result.distance) == ("sampled", "top")
    assert result.delta_upper == math.inf

    def broken(present: NDArray[Any], absent: NDArray[Any]) -> NDArray[Any]:
        return present - absent

    with pytest.raises(UserError, match="'broken' must return one number per run"):
        indiff.differential_test(TABLE, indiff.Laplace(1.0), distance=broken, runs=50)


# Seeds


@pytest.mark.parametrize("model", [None, "naive-bayes"])
def test_everything_follows_from_the_seed(model: Any) -> None:
    def run(**options: Any) -> Any:
        return indiff.differential_test(
            TABLE, indiff.Laplace(0.5), model=model, method="sampled", runs=10,
            **({"targets": range(12)} | options),
        )  # fmt: skip

    first, again, other = run(), run(), run(seed=1)
    assert first.run_distances.tolist() == again.run_distances.tolist()
    assert first.notes == again.notes
    assert first.run_distances.tolist() != other.run_distances.tolist()
    some = run(targets=[3, 8])
    assert some.run_distances.tolist() == first.run_distances[[3, 8]].tolist()


@pytest.mark.parametrize("model", [None, "naive-bayes"])
def test_one_core_equals_many(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(jobs: int) -> Any:
        return indiff.differential_test(
            TABLE, indiff.Laplace(0.5), model=model, method="sampled", runs=10,
            targets=range(12), jobs=jobs,
        )  # fmt: skip

    alone = run(1)
    monkeypatch.setattr(calls, "WORTH_SHARING", 0.0)
    monkeypatch.setattr(calls, "CHUNK_SECONDS", 1e-9)
    shared = run(2)
    assert alone.run_distances.tolist() == shared.run_distances.tolist()
    assert alone.upper.tolist() == shared.upper.tolist()


# Other randomness


class Jittery:
    """A model that is random in itself: naive Bayes with a random prior."""

    randomized = True

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def seeded(self, seed: int) -> Jittery:
        return Jittery(seed)

    def beliefs(self, release: Release, targets: indiff.Table) -> NDArray[np.float64]:
        prior = np.random.default_rng(self.seed).dirichlet(np.ones(3))
        return NaiveBayes(prior=tuple(prior / prior.sum())).beliefs(release, targets)


def test_a_randomized_model_is_sampled_with_common_seeds() -> None:
    result = indiff.differential_test(
        TABLE, indiff.Mondrian(k=5), model=Jittery(), targets=range(6), runs=40
    )
    fixed = indiff.differential_test(TABLE, indiff.Mondrian(k=5), targets=range(6))
    assert result.method == "sampled"
    assert (result.distances < 3 * fixed.delta).all()  # the prior's own noise cancels
    again = indiff.differential_test(
        TABLE, indiff.Mondrian(k=5), model=Jittery(), targets=range(6), runs=40
    )
    assert result.run_distances.tolist() == again.run_distances.tolist()


def test_a_function_that_turns_out_to_be_random_is_sampled() -> None:
    rng = np.random.default_rng(0)

    def shake(frame: pa.Table) -> pa.Table:
        return frame.set_column(0, "age", pa.array(rng.permutation(frame["age"].to_numpy())))

    result = indiff.differential_test(TABLE, shake, model="naive-bayes", targets=[0], runs=5)
    assert result.method == "sampled"
    assert "two runs of oracle:shake on the same table differ: sampled" in result.notes


def test_a_function_that_repeats_is_not() -> None:
    def same(frame: pa.Table) -> pa.Table:
        return frame

    result = indiff.differential_test(TABLE, same, model="naive-bayes", targets=[0])
    assert (result.method, result.runs) == ("refit", None)
    forced = indiff.differential_test(
        TABLE, same, model="naive-bayes", targets=[0], method="sampled", runs=5
    )
    assert forced.distances[0] == pytest.approx(result.distances[0])


def test_an_interruption_keeps_what_is_done() -> None:
    calls = 0

    class Impatient(Frequency):
        def beliefs(self, release: Release, targets: indiff.Table) -> NDArray[np.float64]:
            nonlocal calls
            calls += 1
            if calls > 5 + 3 * 5:  # the whole table, and three targets
                raise KeyboardInterrupt
            return super().beliefs(release, targets)

    result = indiff.differential_test(
        TABLE, SeededOracle(sometimes_raw(0.5)), model=Impatient(), targets=range(10), runs=5,
        jobs=1,
    )  # fmt: skip
    assert len(result.distances) == 3
    assert result.requested == 10
    assert not result.complete


# The result


def test_the_result_says_how_sure_it_is() -> None:
    result = indiff.differential_test(
        TABLE, indiff.Laplace(1.0), method="sampled", runs=100, confidence=0.9
    )
    document = result.to_dict()
    assert document["runs"] == 100
    assert document["confidence"] == 0.9
    assert (document["delta_lower"], document["delta_upper"]) == result.delta_interval
    assert document["delta_lower"] <= document["delta"] <= document["delta_upper"]
    assert result.mean <= result.mean_upper <= result.delta_upper
    frame = result.to_arrow()
    assert frame["upper"].to_pylist() == result.upper.tolist()
    sure = indiff.differential_test(
        TABLE, indiff.Laplace(1.0), method="sampled", runs=100, confidence=0.99
    )
    assert (sure.upper >= result.upper).all()
    assert sure.distances.tolist() == result.distances.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 1}, "runs must be a whole number of at least 2; got 1"),
        ({"runs": 0}, "runs must be a whole number of at least 2; got 0"),
        ({"runs": 10.5}, "runs must be a whole number of at least 2; got 10.5"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"confidence": math.nan}, "confidence must lie between 0 and 1"),
    ],
)
def test_bad_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.differential_test(TABLE, indiff.Laplace(1.0), method="sampled", **options)


# Columns that nothing was measured of


def test_a_name_in_any_run_is_found() -> None:
    who = [f"person {number}" for number in range(20)]
    frame = pa.table({"who": who, "age": [30, 40] * 10, "ill": ["no", "yes", "no", "no"] * 5})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", identifier="who")

    def publish(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        released = frame.select(["age", "ill"])
        if rng.random() < 0.2 and len(released) == len(who):
            released = released.append_column("pseudonym", pa.array(who))
        return released

    result = indiff.differential_test(table, publish, model="frequency", targets=[0], runs=40)
    assert [(one.name, one.names_people) for one in result.unmeasured] == [("pseudonym", True)]


# What a limit is checked against


def test_a_part_of_the_records_is_a_lower_bound_though_it_is_sampled() -> None:
    result = indiff.differential_test(
        TABLE, indiff.Laplace(0.5), method="sampled", targets=[3, 7], runs=50
    )
    assert (result.exactness, result.delta_interval) == ("lower-bound", None)


def test_the_mean_is_checked_at_its_upper_limit() -> None:
    result = indiff.differential_test(TABLE, indiff.Laplace(0.5), method="sampled", runs=50)
    assert result.upper is not None
    assert result.mean_upper == pytest.approx(sum(result.upper) / len(result.upper))
    assert result.mean_upper > result.mean
    both = indiff.differential_test(
        TABLE, indiff.Laplace(0.5), model=["frequency", "naive-bayes"], method="sampled", runs=50
    )
    worst = np.maximum(*(one.uppers for one in both.results.values()))
    assert both.mean_upper == pytest.approx(worst.mean())


def test_cases_have_noise_of_their_own() -> None:
    """Two cells that are alike but for one count: the same noise would go up and down together."""
    frame = pa.table(
        {"age": [1] * 9 + [2] * 10, "ill": ["a"] * 5 + ["b"] * 4 + ["a"] * 5 + ["b"] * 5}
    )
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", kinds={"age": "categorical"})
    result = indiff.differential_test(
        table, indiff.Laplace(0.5), model="frequency", method="sampled", runs=2000
    )
    assert result.run_distances is not None
    first, second = result.run_distances[0], result.run_distances[9]
    assert not np.array_equal(first, second)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
