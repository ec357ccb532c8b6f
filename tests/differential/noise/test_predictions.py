"""How often one record changes the prediction: exactly, against a million draws, and by runs."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.audit.verdict import judge_tests
from indiff.differential.noise.bracket import change_limits
from indiff.differential.noise.predictions import (
    answer_changes,
    change_probabilities,
    tie_changes,
)
from indiff.differential.noise.sampling import changed
from indiff.differential.path import Changes
from indiff.sanitizers.noise.draws import draw
from indiff.sanitizers.noise.mechanisms import NoisyTable

DRAWS = 10**6
CELLS = ([1, 0], [3, 3, 1], [4, 5, 5, 0, 2, 0, 0])
STRENGTHS = (0.1, 0.5, 1.0, math.inf)
MECHANISMS: list[NoisyTable] = [
    *(indiff.Laplace(epsilon) for epsilon in STRENGTHS),
    *(indiff.Geometric(epsilon) for epsilon in STRENGTHS),
    *(indiff.Gaussian(1 / epsilon) for epsilon in STRENGTHS[:-1]),
]


def predictions(counts: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """The largest clipped count of each row; among equals, the largest lot."""
    clipped = np.maximum(counts, 0)
    first = clipped == clipped.max(axis=1, keepdims=True)
    return np.argmax(np.where(first, lots, -1), axis=1)


def patients(number: int = 120) -> indiff.Table:
    rng = np.random.default_rng(5)
    return indiff.read_table(
        pa.table(
            {
                "age": rng.integers(20, 40, number),
                "sex": rng.choice(["F", "M"], number),
                "ill": rng.choice(["a", "b", "c"], number, p=[0.5, 0.3, 0.2]),
            }
        ),
        quasi=["age", "sex"],
        sensitive="ill",
    )


@pytest.mark.parametrize("draws", [DRAWS // 4, pytest.param(DRAWS, marks=pytest.mark.long)])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_probability_is_that_of_many_draws(mechanism: NoisyTable, draws: int) -> None:
    rng = np.random.default_rng(20)
    for cell in CELLS:
        counts = np.array(cell)
        without = counts - np.eye(len(cell), dtype=int)[0]
        exact = float(change_probabilities(mechanism, counts[None], np.zeros(1, np.int64))[0])
        shape = (draws, len(cell))
        noise, lots = draw(mechanism.kind, mechanism.scale, shape, rng), rng.random(shape)
        one, two = predictions(counts + noise, lots), predictions(without + noise, lots)
        margin = 4 * math.sqrt(max(exact * (1 - exact), 1e-9) / draws)
        assert abs((one != two).mean() - exact) <= margin
        # The same number from releases that share no noise: the two laws are that far apart.
        other, lots = draw(mechanism.kind, mechanism.scale, shape, rng), rng.random(shape)
        alone = predictions(without + other, lots)
        assert abs((one == 0).mean() - (alone == 0).mean() - exact) <= 4 * math.sqrt(0.5 / draws)


@pytest.mark.parametrize("strength", [1e-100, 1e-6, 1e-3, 0.03])
def test_much_noise_leaves_little_of_a_record(strength: float) -> None:
    counts, values = np.array([[4, 5, 5, 0, 2], [1, 0, 0, 0, 0]]), np.zeros(2, np.int64)
    laplace = change_probabilities(indiff.Laplace(strength), counts, values)
    geometric = change_probabilities(indiff.Geometric(strength), counts, values)
    assert (laplace > 0).all()
    assert laplace == pytest.approx(geometric, rel=max(strength, 1e-9))
    assert (laplace <= strength).all()  # differential privacy: no law moves by more


def test_little_noise_is_none_with_ties_split() -> None:
    counts, values = np.array([[4, 5, 5], [5, 5, 1], [6, 5, 5], [9, 5, 5]]), np.zeros(4, np.int64)
    split = [0, 1 / 2, 2 / 3, 0]
    for mechanism in (indiff.Laplace(math.inf), indiff.Laplace(49), indiff.Gaussian(0.03)):
        assert change_probabilities(mechanism, counts, values) == pytest.approx(split, abs=1e-9)


def test_answers_are_those_of_a_million_draws() -> None:
    rng = np.random.default_rng(3)
    response, cell, runs = indiff.RandomizedResponse(0.5), np.array([4, 3, 1]), 20_000
    found, _ = answer_changes(response, cell[None], np.array([0]), runs=runs, seed=1)
    keep, other = response.chances(3)
    heard = np.zeros((DRAWS, 3))
    for value, count in enumerate(cell - [1, 0, 0]):
        heard += rng.multinomial(count, np.where(np.arange(3) == value, keep, other), DRAWS)
    own = rng.multinomial(1, [keep, other, other], DRAWS)
    lots = rng.random((DRAWS, 3))
    rate = (predictions(heard + own, lots) != predictions(heard, lots)).mean()
    spread = math.sqrt(rate * (1 - rate) / DRAWS + found.var() / runs)
    assert abs(found.mean() - rate) <= 4 * spread


def test_a_tie_changes_by_its_share() -> None:
    present = np.array([[0.6, 0.4, 0], [0.5, 0.5, 0], [0.4, 0.4, 0.2]])
    absent = np.array([[0.4, 0.6, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert changed(present, absent).tolist() == pytest.approx([1, 0, 1 / 3])
    assert tie_changes(np.array([[2, 2, 1]]))[0].tolist() == pytest.approx([0.5, 0.5, 1 / 3])


def test_the_changed_predictions_of_a_noisy_table_depend_on_the_noise() -> None:
    table = indiff.read_table(
        indiff.datasets.demo(), identifier="patient_id", quasi=["age", "sex", "zip"],
        sensitive="diagnosis",
    )  # fmt: skip
    found = [indiff.differential_test(table, indiff.Laplace(e)) for e in (1e-4, 0.1, 0.5, 1, 1e9)]
    share = [result.changed_predictions for result in found]
    assert share == pytest.approx([0.0005, 0.673, 4.276, 6.513, 8.894], abs=6e-4)
    assert {result.changed_exactness for result in found} == {"exact"}
    assert found[0].to_dict()["changed_predictions_exactness"] == "exact"
    no_noise = indiff.differential_test(table, indiff.Laplace(math.inf))
    assert no_noise.changed_predictions == pytest.approx(share[-1])


def test_two_records_of_one_value_were_called_unchanged_at_every_epsilon() -> None:
    """Their expected beliefs have one argmax; one release in ten has another prediction."""
    frame = pa.table({"town": list("aabbccdd"), "ill": list("xxyyxxyy")})
    table = indiff.read_table(frame, quasi=["town"], sensitive="ill")
    for epsilon, share in ((0.1, 2.47), (0.5, 10.32)):
        found = indiff.differential_test(table, indiff.Laplace(epsilon))
        kept = found.beliefs.argmax(axis=1) == found.beliefs_without.argmax(axis=1)
        assert kept.all()
        assert found.changed_predictions == pytest.approx(share, abs=0.006)
        assert found.changed_exactness == "exact"


def test_runs_bracket_the_exact_number_and_a_limit_is_judged_by_the_upper_end() -> None:
    table = patients()
    exact = indiff.differential_test(table, indiff.Laplace(0.5))
    runs = indiff.differential_test(table, indiff.Laplace(0.5), method="sampled", runs=200)
    assert runs.changed_interval is not None
    low, high = runs.changed_interval
    assert low < exact.changed_predictions < high
    assert runs.changed_exactness == "estimate"
    assert runs.changed_upper == high
    between = (runs.changed_predictions + high) / 2
    verdict = judge_tests([runs], {"changed_predictions": between})
    assert [check.exceeded for check in verdict.checks] == [True]
    assert any("changed_predictions of ill may be" in reason for reason in verdict.reasons)
    for result in (runs, exact):
        verdict = judge_tests([result], {"changed_predictions": high})
        assert [check.exceeded for check in verdict.checks] == [False]


def test_randomized_response_brackets_them_beside_an_exact_distance() -> None:
    table = patients()
    result = indiff.differential_test(table, indiff.RandomizedResponse(0.5))
    assert (result.exactness, result.changed_exactness) == ("exact", "estimate")
    assert result.changed_interval is not None
    low, high = result.changed_interval
    runs = indiff.differential_test(
        table, indiff.RandomizedResponse(0.5), method="sampled", runs=2000, seed=9
    )
    assert low < runs.changed_predictions < high
    document = result.to_dict()
    assert document["changed_predictions_upper"] == high
    assert (document["confidence"], document["runs"]) == (0.95, 100)
    assert any("do not fall with ε" in note for note in result.notes)
    silent = indiff.differential_test(table, indiff.RandomizedResponse(math.inf))
    assert silent.changed_exactness == "exact"
    noiseless = indiff.differential_test(table, indiff.Laplace(math.inf))
    assert silent.changed_predictions == pytest.approx(noiseless.changed_predictions)
    assert not any("do not fall with ε" in note for note in silent.notes)


def test_people_with_several_records_are_drawn_and_the_others_exact() -> None:
    frame = pa.table(
        {
            "who": [0, 0, *range(1, 29)],
            "age": [30, 41, *([30, 41] * 14)],
            "ill": [*"ab", *("aabb" * 7)],
        }
    )
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", identifier="who")
    result = indiff.differential_test(table, indiff.Laplace(0.5), individual="who", runs=50)
    alone = indiff.differential_test(table, indiff.Laplace(0.5))
    assert result.changed_exactness == "estimate"
    assert result.predictions_changed[1:] == pytest.approx(alone.predictions_changed[2:])
    assert result.changed_interval is not None
    low, high = result.changed_interval
    assert low < result.changed_predictions < high
    assert high - low < 100 / 29 + 1e-9  # of one person in 29 nothing is known


def test_limits_hold_for_rare_changes() -> None:
    rng = np.random.default_rng(0)
    truth, missed = 0.003, {True: 0, False: 0}
    for _ in range(300):
        drawn = (rng.random((20, 50)) < truth).astype(float)
        for sources in (None, np.arange(20)):
            limits = change_limits(Changes.from_runs(drawn, sources), 0.95)
            assert limits is not None
            missed[sources is None] += not limits[0] <= truth <= limits[1]
    assert max(missed.values()) <= 15


def test_models_together_are_bracketed() -> None:
    table = patients()
    found = indiff.differential_test(
        table, indiff.Laplace(1.0), model=["frequency", "naive-bayes"], targets=range(5), runs=20
    )
    assert found.changed_interval is not None
    low, high = found.changed_interval
    assert low <= found.changed_predictions <= high <= 100
    assert found.changed_exactness == "estimate"
    assert found.to_dict()["changed_predictions_upper"] == found.changed_upper == high
