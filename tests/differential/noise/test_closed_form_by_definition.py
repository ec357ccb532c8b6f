"""The closed form against the definition itself: enumeration of all outcomes, and sampling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, wasserstein_distance

from indiff import Gaussian, Geometric, Laplace, RandomizedResponse
from indiff.differential.noise.closed_form import distances, expected_beliefs
from indiff.sanitizers.noise.mechanisms import NoisySanitizer


def one_distance(mechanism: NoisySanitizer, counts: list[int], s: int) -> float:
    return float(distances(mechanism, [counts], [s])[0])


def without(counts: list[int], s: int) -> list[int]:
    return [c - (k == s) for k, c in enumerate(counts)]


# --- enumeration: exact distributions, and their Wasserstein distance by an independent library --


def wasserstein_of_atoms(
    present: tuple[NDArray[np.float64], NDArray[np.float64]],
    absent: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Add up, over coordinates, the distance between two weighted point sets in the simplex."""
    (beliefs, weights), (beliefs_without, weights_without) = present, absent
    return sum(
        float(wasserstein_distance(beliefs[:, j], beliefs_without[:, j], weights, weights_without))
        for j in range(beliefs.shape[1])
    )


def geometric_atoms(
    counts: list[int], epsilon: float, reach: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All outcomes of two-sided geometric noise whose probability is not negligible."""
    a = math.exp(-epsilon)
    support = np.arange(-reach, reach + 1)
    chance = (1 - a) / (1 + a) * a ** np.abs(support)
    noise = np.array(list(itertools.product(support, repeat=len(counts))))
    weights = np.array([math.prod(w) for w in itertools.product(chance, repeat=len(counts))])
    beliefs = 1.0 + np.maximum(0, np.array(counts) + noise)
    return beliefs / beliefs.sum(axis=1, keepdims=True), weights


@pytest.mark.parametrize(
    ("counts", "epsilon", "reach"),
    [([1, 0], 0.5, 70), ([2, 3], 0.5, 70), ([1, 0, 0], 1.5, 22), ([2, 1, 4], 1.5, 22)],
)
def test_geometric_noise_by_enumeration(counts: list[int], epsilon: float, reach: int) -> None:
    mechanism = Geometric(epsilon)
    present = geometric_atoms(counts, epsilon, reach)
    absent = geometric_atoms(without(counts, 0), epsilon, reach)
    assert one_distance(mechanism, counts, 0) == pytest.approx(
        wasserstein_of_atoms(present, absent), abs=1e-11
    )
    assert expected_beliefs(mechanism, [counts])[0] == pytest.approx(
        present[1] @ present[0], abs=1e-11
    )


def response_atoms(
    counts: list[int], epsilon: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All reports of all records of the cell: n to the power of its size."""
    n = len(counts)
    truth = [k for k, c in enumerate(counts) for _ in range(c)]
    keep = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
    other = (1 - keep) / (n - 1)
    atoms, weights = [], []
    for reports in itertools.product(range(n), repeat=len(truth)):
        weights.append(
            math.prod(keep if r == v else other for r, v in zip(reports, truth, strict=True))
        )
        atoms.append([1.0 + reports.count(j) for j in range(n)])
    beliefs = np.array(atoms)
    return beliefs / beliefs.sum(axis=1, keepdims=True), np.array(weights)


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 5.0])
@pytest.mark.parametrize("counts", [[1, 0], [4, 2], [1, 7], [1, 0, 0], [2, 1, 3], [1, 2, 0, 1]])
def test_randomized_response_by_enumeration(counts: list[int], epsilon: float) -> None:
    mechanism = RandomizedResponse(epsilon)
    present, absent = response_atoms(counts, epsilon), response_atoms(without(counts, 0), epsilon)
    assert one_distance(mechanism, counts, 0) == pytest.approx(
        wasserstein_of_atoms(present, absent), abs=1e-12
    )
    assert expected_beliefs(mechanism, [counts])[0] == pytest.approx(
        present[1] @ present[0], abs=1e-12
    )


def test_randomized_response_moves_the_own_value_either_way() -> None:
    """The reason why the argument of dominance does not serve: the mean hides the movement."""
    counts, epsilon = [40, 1], 0.05
    beliefs = expected_beliefs(RandomizedResponse(epsilon), [counts, without(counts, 0)])
    change = float(np.abs(beliefs[0] - beliefs[1]).sum())
    assert one_distance(RandomizedResponse(epsilon), counts, 0) > 5 * change


# --- sampling with common noise --------------------------------------------------------------


def sample_distances(
    mechanism: NoisySanitizer, counts: list[int], s: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """One unbiased draw per run of Σ_j |p_j − p'_j|, the same noise with and without the target."""
    rng = np.random.default_rng(seed)
    n, present, absent = len(counts), np.array(counts), np.array(without(counts, s))
    shape = (draws, n)
    if isinstance(mechanism, Laplace):
        noise = rng.laplace(0, 1 / mechanism.epsilon, shape)
    elif isinstance(mechanism, Geometric):
        p = -math.expm1(-mechanism.epsilon)
        noise = (rng.geometric(p, shape) - rng.geometric(p, shape)).astype(np.float64)
    elif isinstance(mechanism, Gaussian):
        noise = rng.normal(0, mechanism.sigma, shape)
    elif isinstance(mechanism, RandomizedResponse):
        keep = math.exp(mechanism.epsilon) / (math.exp(mechanism.epsilon) + n - 1)
        others = np.zeros(shape)
        for k in range(n):
            chances = np.full(n, (1 - keep) / (n - 1))
            chances[k] = keep
            others += rng.multinomial(absent[k], chances, draws)
            if k == s:
                target = rng.multinomial(1, chances, draws)
        total = sum(counts) + n
        return np.abs((1 + others + target) / total - (1 + others) / (total - 1)).sum(axis=1)
    else:
        raise TypeError(mechanism)
    beliefs = []
    for cell in (present, absent):
        noisy = 1.0 + np.maximum(0, cell + noise)
        beliefs.append(noisy / noisy.sum(axis=1, keepdims=True))
    return np.abs(beliefs[0] - beliefs[1]).sum(axis=1)


SAMPLED = pytest.mark.parametrize(
    ("mechanism", "counts", "s"),
    [
        (Laplace(0.1), [3, 0, 1, 7], 0),
        (Laplace(2.0), [1, 0, 0, 0, 0], 0),
        (Laplace(0.5), [25, 3], 1),
        (Geometric(0.1), [3, 0, 1, 7], 0),
        (Geometric(2.0), [1, 0, 0, 0, 0], 0),
        (Gaussian(5.0), [3, 0, 1, 7], 3),
        (Gaussian(0.05), [2, 1, 0], 1),
        (RandomizedResponse(0.5), [3, 0, 1, 7], 2),
        (RandomizedResponse(3.0), [12, 5], 1),
    ],
)


@SAMPLED
def test_sampling_agrees(mechanism: NoisySanitizer, counts: list[int], s: int) -> None:
    draws = sample_distances(mechanism, counts, s, 200_000, seed=7)
    error = draws.std() / math.sqrt(len(draws))
    assert abs(draws.mean() - one_distance(mechanism, counts, s)) < 4 * error


@pytest.mark.long
@SAMPLED
def test_ten_million_draws_agree(mechanism: NoisySanitizer, counts: list[int], s: int) -> None:
    blocks = [sample_distances(mechanism, counts, s, 500_000, seed) for seed in range(20)]
    draws = np.concatenate(blocks)
    error = draws.std() / math.sqrt(len(draws))
    assert len(draws) == 10_000_000
    assert abs(draws.mean() - one_distance(mechanism, counts, s)) < 4 * error


def test_reports_of_randomized_response_are_binomial() -> None:
    """One value's count of reports, from records that all hold it, as scipy has it."""
    keep, other = RandomizedResponse(1.2).chances(4)
    assert keep + 3 * other == pytest.approx(1, abs=1e-15)
    assert keep / other == pytest.approx(math.exp(1.2))
    expected = (1 + binom(9, keep).mean()) / (9 + 4)
    assert expected_beliefs(RandomizedResponse(1.2), [[9, 0, 0, 0]])[0, 0] == pytest.approx(
        expected
    )
