"""Log-linear models: the bias by its formula, cell by cell, and the rule that chooses."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import measure_risk
from indiff.risk.population import loglinear
from indiff.risk.population.loglinear import LoglinearModel, LoglinearRisk, fit


def random_table(seed: int, shape: tuple[int, ...], records: int) -> Any:
    rng = np.random.default_rng(seed)
    table = np.zeros(shape)
    columns = [rng.choice(size, records, p=rng.dirichlet(np.ones(size))) for size in shape]
    if seed % 3:  # two columns that go together, and then all three
        columns[1] = (columns[0] + (rng.random(records) < 0.2)) % shape[1]
    if seed % 3 == 2:
        columns[2] = (columns[0] * columns[1] + (rng.random(records) < 0.2)) % shape[2]
    np.add.at(table, tuple(columns), 1)
    return table


def fitted(table: Any, sampling: float) -> LoglinearRisk:
    held = np.nonzero(table)
    return fit(list(held), table.shape, table[held], sampling)


def independent(table: Any) -> Any:
    """n · Π of the shares of the columns' values."""
    n, expected = table.sum(), np.empty(table.shape)
    for cell in product(*map(range, table.shape)):
        shares = [np.take(table, at, axis).sum() / n for axis, at in enumerate(cell)]
        expected[cell] = n * math.prod(shares)
    return expected


def pairwise(table: Any) -> Any:
    """What has the same margins of each two columns, by a thousand rounds of fitting."""
    expected = np.ones(table.shape)
    for _ in range(1000):
        for pair in combinations(range(table.ndim), 2):
            others = tuple(axis for axis in range(table.ndim) if axis not in pair)
            have = expected.sum(others, keepdims=True)
            want = table.sum(others, keepdims=True)
            expected *= np.where(have > 0, want / np.where(have > 0, have, 1), 0)
    return expected


def expected_bias(table: Any, expected: Any, sampling: float) -> tuple[float, float]:
    """Σ a·(f − μ) + b·((f − μ)² − f), and the root of Σ a²μ + 2b²μ²."""
    bias = variance = 0.0
    for f, mu in zip(table.ravel().tolist(), expected.ravel().tolist(), strict=True):
        rate = mu / sampling
        a = rate * math.exp(-rate) * (1 - sampling)
        b = math.exp(-rate) * (1 - sampling) / sampling * (1 - rate * (1 + sampling) / 2)
        bias += a * (f - mu) + b * ((f - mu) ** 2 - f)
        variance += a**2 * mu + 2 * b**2 * mu**2
    return bias, math.sqrt(variance)


@pytest.mark.parametrize(("seed", "sampling"), [(0, 0.3), (1, 0.5), (4, 0.2)])
def test_the_bias_and_its_error_by_their_formula(seed: int, sampling: float) -> None:
    table = random_table(seed, (4, 3, 3), 150)
    found = fitted(table, sampling)
    assert found.models["two-way"].converged
    for name, expected in (("independence", independent(table)), ("two-way", pairwise(table))):
        bias, deviation = expected_bias(table, expected, sampling)
        one = found.models[name]
        assert one.bias == pytest.approx(bias, rel=1e-4, abs=1e-6)
        assert one.z == pytest.approx(bias / deviation, rel=1e-4, abs=1e-6)
        rates = expected[table == 1] * (1 - sampling) / sampling
        assert one.tau1 == pytest.approx(np.exp(-rates).sum(), rel=1e-4)
        assert one.tau2 == pytest.approx(((1 - np.exp(-rates)) / rates).sum(), rel=1e-4)
    assert (found.cells, found.lone) == (36, int((table == 1).sum()))


def test_the_simplest_that_passes_is_chosen_or_else_the_nearest() -> None:
    seen = set()
    for seed in range(24):
        found = fitted(random_table(seed, (5, 4, 4), 150), 0.4)
        z = {name: abs(float(one.z or 0)) for name, one in found.models.items()}
        passed = [name for name in ("independence", "two-way") if z[name] <= 2]
        assert found.chosen == (passed[0] if passed else min(z, key=lambda name: z[name]))
        assert found.best is found.models[found.chosen]
        assert found.fits == (bool(passed) and found.best.converged)
        seen.add((found.chosen, found.fits, z["independence"] < z["two-way"]))
    assert {(chosen, fits) for chosen, fits, _ in seen} >= {
        ("independence", True), ("two-way", True), ("two-way", False),
    }  # fmt: skip
    assert ("independence", True, False) in seen  # not the nearest, but the simplest


@pytest.mark.parametrize(
    ("converged", "z", "fits"),
    [(True, 2.0, True), (True, -2.0, True), (True, 2.1, False), (True, -2.1, False),
     (False, 0.0, False), (True, None, False)],
)  # fmt: skip
def test_a_model_fits_that_converged_and_is_within_two_errors(
    converged: bool, z: float | None, fits: bool
) -> None:
    def model(tau1: float, tau2: float) -> LoglinearModel:
        return LoglinearModel("x", converged, tau1, tau2, 1.0, 0.0, z)

    found = LoglinearRisk({"x": model(3, 8), "y": model(5, 7), "z": model(4, 9)}, "x", 9, 9)
    assert found.fits == fits
    assert found.span("tau1") == (3, 5)
    assert found.span("tau2") == (7, 9)


def test_pearsons_statistic_has_the_freedom_that_is_left() -> None:
    table = np.array([[6.0, 1.0], [2.0, 3.0]])  # 2 × 2: one degree of freedom
    mu = independent(table)
    found = fitted(table, 0.5)
    assert list(found.models) == ["independence"]  # pairs of two columns would be the table itself
    assert found.best.pearson == pytest.approx(((table - mu) ** 2 / mu).sum())


def test_where_everybody_is_in_the_sample_the_lone_are_unique() -> None:
    table = random_table(0, (4, 3, 3), 60)
    found = fitted(table, 1.0)
    assert found.lone > 0
    for one in found.models.values():
        assert (one.tau1, one.tau2, one.bias, one.z) == (found.lone, found.lone, 0, 0)


def test_how_large_a_table_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(0, (4, 3, 3), 60)
    for limit, models in ((36, ["independence", "two-way"]), (35, ["independence"])):
        monkeypatch.setattr(loglinear, "MOST_FITTED", limit)
        assert list(fitted(table, 0.5).models) == models
    for limit, tested in ((36, True), (35, False)):
        monkeypatch.setattr(loglinear, "MOST_GROUPS", limit)
        assert (fitted(table, 0.5).models["independence"].z is not None) == tested


def test_pairs_are_fitted_to_a_quarter_of_a_million_cells() -> None:
    codes = [np.array([0, 1], np.intp)] * 3
    for width, fitted_too in ((64, True), (65, False)):
        found = fit(codes, (64, 64, width), np.ones(2), 0.5)
        assert ("two-way" in found.models) == fitted_too


def test_few_rounds_do_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(2, (4, 3, 3), 60)
    assert fitted(table, 0.5).models["two-way"].converged
    monkeypatch.setattr(loglinear, "_ROUNDS", 1)
    found = fitted(table, 0.5)
    assert not found.models["two-way"].converged
    assert found.models["independence"].converged


def test_which_tables_have_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing is a value as any other; groups beyond a number are too many."""
    frame = pa.table({"a": [1, 1, None, 2, 2, 1], "b": ["x", "y", "x", None, "x", "x"]})
    one = measure_risk(frame, quasi="a", sampling=0.5, details=False).population
    assert one is not None
    assert one.loglinear is None
    assert one.notes == (
        "τ₁ and τ₂ were not estimated: a log-linear model needs two quasi-identifiers or more",
    )
    for limit, said in ((5, False), (4, True)):
        monkeypatch.setattr(loglinear, "MOST_GROUPS", limit)
        two = measure_risk(frame, quasi=["a", "b"], sampling=0.5, details=False).population
        assert two is not None
        assert (two.loglinear is None) == said
        assert any("at most 4 groups" in note for note in two.notes) == said
        if two.loglinear is not None:
            assert (two.loglinear.cells, two.loglinear.lone) == (9, 4)
