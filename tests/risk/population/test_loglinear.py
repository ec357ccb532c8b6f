"""Log-linear models against an independent fit, and against populations that are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm

from indiff.risk.population.loglinear import fit


def crossed(seed: int, records: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.zeros((4, 3, 5))
    first = rng.integers(0, 4, records)
    second = np.where(rng.random(records) < 0.5, first % 3, rng.integers(0, 3, records))
    np.add.at(table, (first, second, rng.integers(0, 5, records)), 1)
    return table


def fitted_by_newton(table: np.ndarray, pairs: bool) -> np.ndarray:
    """Fit by a general linear model with a column for every margin."""
    places = np.indices(table.shape).reshape(3, -1)
    parts = [np.eye(size)[place][:, 1:] for size, place in zip(table.shape, places, strict=True)]
    columns = [np.ones((table.size, 1)), *parts]
    if pairs:
        for a, b in combinations(parts, 2):
            columns.append((a[:, :, None] * b[:, None, :]).reshape(table.size, -1))
    model = sm.GLM(table.ravel(), np.hstack(columns), family=sm.families.Poisson())
    return np.asarray(model.fit(tol=1e-12).mu).reshape(table.shape)


@pytest.mark.parametrize("seed", range(3))
def test_both_models_are_those_of_a_poisson_regression(seed: int) -> None:
    table, sampling = crossed(seed), 0.05
    held = np.nonzero(table)
    found = fit(list(held), table.shape, table[held], sampling)
    for name, pairs in (("independence", False), ("two-way", True)):
        mu = fitted_by_newton(table, pairs)
        rate = mu[table == 1] / sampling * (1 - sampling)
        one = found.models[name]
        assert one.converged
        assert one.tau1 == pytest.approx(np.exp(-rate).sum(), rel=1e-5, abs=1e-9)
        assert one.tau2 == pytest.approx(((1 - np.exp(-rate)) / rate).sum(), rel=1e-5)
        whole = ((table - mu) ** 2 / mu).sum()
        free = table.size - (1 + 3 + 2 + 4 + (6 + 12 + 8 if pairs else 0))
        assert one.pearson == pytest.approx(whole / free, rel=1e-5)


def test_what_fits_is_near_the_truth_and_what_does_not_is_said() -> None:
    rng = np.random.default_rng(3)
    shape, people, sampling = (30, 12, 8), 100_000, 0.05
    columns = [rng.choice(size, people, p=rng.dirichlet(np.full(size, 0.6))) for size in shape]
    for tied in (False, True):
        if tied:
            columns[1] = (columns[0] * 5 + columns[2]) % 12
        whole, sample = np.zeros(shape), np.zeros(shape)
        drawn = rng.random(people) < sampling
        np.add.at(whole, tuple(columns), 1)
        np.add.at(sample, tuple(column[drawn] for column in columns), 1)
        held = np.nonzero(sample)
        found = fit(list(held), shape, sample[held], sampling)
        assert found.lone == int((sample == 1).sum())
        if not tied:
            assert found.chosen == "independence"
            assert found.fits
            true = (1 / whole[sample == 1]).sum()
            assert found.best.tau2 == pytest.approx(true, rel=0.15)
        else:
            assert not found.fits


def test_a_table_too_large_to_fit_pairs_has_independence_alone() -> None:
    codes = [np.arange(50, dtype=np.intp) for _ in range(4)]
    found = fit(codes, (50,) * 4, np.ones(50), 0.1)
    assert list(found.models) == ["independence"]
    assert found.best.z is None
    assert not found.fits
