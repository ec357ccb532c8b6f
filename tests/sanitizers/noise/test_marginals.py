"""The synthesizer of differentially private marginals: budget, noise, rows and its promise."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from indiff import Marginals, Table, UserError, differential_test, read_table
from indiff.sanitizers.noise import draws
from indiff.sanitizers.noise.mechanisms import NotDifferentiallyPrivate
from indiff.sanitizers.sanitizer import promise_of

DECLARED: Any = {"edges": {"age": [40, 60]}, "domains": {"sex": ["f", "m"], "ill": ["no", "yes"]}}


def table(size: int = 200) -> Table:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, size)
    ill = np.where(rng.random(size) < np.where(age > 60, 0.8, 0.2), "yes", "no")
    return read_table(pa.table({"age": age, "sex": rng.choice(["f", "m"], size), "ill": ill}),
                      quasi=["age", "sex"], sensitive="ill")  # fmt: skip


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 10])
def test_the_budget_is_spent_and_no_more(columns: int) -> None:
    each = Marginals(0.7).budget(columns)
    assert len(each) == columns
    assert math.fsum(each) == pytest.approx(0.7)


@pytest.mark.parametrize("vetted", [False, True])
def test_the_noise_is_geometric_with_the_share_of_each_table(vetted: bool) -> None:
    if vetted and importlib.util.find_spec("opendp") is None:
        pytest.skip("needs opendp")
    sanitizer, small = Marginals(1.0, **DECLARED), table(20)
    grid, drawn = sanitizer.grid(small), []
    exact = Marginals(math.inf, **DECLARED).measure(grid, small, np.random.default_rng(0))
    for seed in range(300):
        rng = None if vetted else np.random.default_rng(seed)
        noisy = sanitizer.measure(grid, small, rng)
        drawn += [(a - b).ravel() for a, b in zip(noisy, exact, strict=True)]
    noise = np.concatenate(drawn)
    q = math.exp(-0.5)  # two tables: ε/2 each
    ks = np.arange(-3, 4)
    expected = (1 - q) / (1 + q) * q ** np.abs(ks)
    seen = np.array([(noise == k).sum() for k in ks])
    rest = len(noise) - seen.sum()
    test = stats.chisquare([*seen, rest], len(noise) * np.array([*expected, 1 - expected.sum()]))
    assert test.pvalue > 1e-4


def test_counts_are_the_tables() -> None:
    one = Marginals(math.inf, **DECLARED)
    age, sex = one.measure(one.grid(table()), table(), np.random.default_rng(0))
    frame = table().frame()
    ages, ill = frame["age"].to_numpy(), np.array(frame["ill"].to_pylist())
    assert age[2, 1] == ((ages > 60) & (ill == "yes")).sum()
    assert age.sum() == sex.sum() == 200


def test_rows_follow_the_tables() -> None:
    exact = Marginals(math.inf, rows=40_000, **DECLARED)
    release = exact.sanitize(table(), np.random.default_rng(1))
    assert len(release) == 40_000
    frame = table().frame()
    old = np.array(frame["age"].to_numpy()) > 60
    wanted = (np.array(frame["ill"].to_pylist())[old] == "yes").mean()
    drawn_old = release.covers("age", 80)
    assert (release.sensitive[drawn_old] == "yes").mean() == pytest.approx(wanted, abs=0.02)


def test_as_many_rows_as_the_noisy_tables_count() -> None:
    sizes = [
        len(Marginals(1.0, **DECLARED).sanitize(table(), np.random.default_rng(s)))
        for s in range(20)
    ]
    assert len(set(sizes)) > 1
    assert abs(np.mean(sizes) - 200) < 5


def test_without_any_count_rows_are_drawn_alike() -> None:
    few = table(2)
    release = Marginals(0.001, rows=50, **DECLARED).sanitize(few, np.random.default_rng(3))
    assert len(release) == 50


def test_what_it_promises_and_what_not() -> None:
    pytest.importorskip("opendp")
    assert promise_of(Marginals(1.0, **DECLARED), table(), None).kept is True
    undeclared = promise_of(Marginals(1.0), table(), None)
    assert undeclared.kept is False
    assert "come from the records" in str(undeclared.why_not)
    assert Marginals(1.0, **DECLARED).sanitize(table()).constraint_met is True


def test_without_opendp_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "opendp_is_there", lambda: False)
    with pytest.warns(NotDifferentiallyPrivate, match=r"install indiff\[dp\]"):
        release = Marginals(1.0, **DECLARED).sanitize(table())
    assert release.constraint_met is False


def test_it_is_tested_by_runs() -> None:
    result = differential_test(
        table(40), Marginals(0.5, **DECLARED), runs=10, targets=[0, 1], jobs=1
    )
    assert result.method == "sampled"
    assert result.exactness in ("estimate", "lower-bound")


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_rows_is_a_whole_number(rows: int) -> None:
    with pytest.raises(UserError, match="rows must be a whole number of at least 1"):
        Marginals(1.0, rows=rows)
