"""Noise on numbers: its law, what is rounded, and what stays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from indiff import AdditiveNoise, MultiplicativeNoise, Release, Table, UserError, read_table


def table_of(**columns: list[object]) -> Table:
    size = len(next(iter(columns.values())))
    frame = pa.table({**columns, "ill": ["no", "yes"] * (size // 2)})
    return read_table(frame, quasi=list(columns), sensitive="ill", missing="split")


def numbers(release: Release, name: str) -> np.ndarray:
    return np.array([float(text) for text in release.to_frame()[name].to_pylist()])


def test_additive_noise_is_normal_with_the_scale_of_the_column() -> None:
    income = (np.random.default_rng(0).random(4000) * 1000).tolist()
    release = AdditiveNoise(0.25).sanitize(table_of(income=income), np.random.default_rng(1))
    added = numbers(release, "income") - np.array(income)
    law = stats.norm(0, 0.25 * np.std(income))
    assert stats.kstest(added, law.cdf).pvalue > 0.001


def test_multiplicative_noise_is_log_normal_with_mean_one() -> None:
    income = (1 + np.random.default_rng(0).random(4000) * 1000).tolist()
    release = MultiplicativeNoise(0.2).sanitize(table_of(income=income), np.random.default_rng(1))
    factors = numbers(release, "income") / np.array(income)
    assert stats.kstest(np.log(factors), stats.norm(-0.02, 0.2).cdf).pvalue > 0.001
    assert abs(float(factors.mean()) - 1) < 4 * 0.2 / np.sqrt(4000)


def test_a_zero_and_a_sign_stay_under_factors() -> None:
    release = MultiplicativeNoise(1).sanitize(table_of(x=[0.5, 0.0, -3.5, 0.0]))
    shown = numbers(release, "x")
    assert shown[[1, 3]].tolist() == [0, 0]
    assert shown[0] > 0 > shown[2]


def test_whole_numbers_and_dates_are_rounded_and_the_rest_stays() -> None:
    table = table_of(
        age=[20, 30, 40, None],
        born=pa.array(["2001-01-01", "1999-05-06", "1950-12-31", "1970-01-01"]).cast(pa.date32()),
        job=["a", "b", "a", "b"],
    )
    release = AdditiveNoise(0.5).sanitize(table, np.random.default_rng(3)).to_frame()
    assert all(text.isdigit() for text in release["age"].to_pylist()[:3])
    assert release["age"].to_pylist()[3] == "missing"
    assert all(len(text) == 10 for text in release["born"].to_pylist())
    assert release["job"].to_pylist() == ["a", "b", "a", "b"]


def test_a_released_number_covers_its_own_value_alone() -> None:
    table = table_of(age=[20, 30, 40, 50])
    release = AdditiveNoise(1e-9).sanitize(table, np.random.default_rng(0))
    assert release.columns[0].covering(1).tolist() == [False, True, False, False]
    release = AdditiveNoise(0.5).sanitize(table, np.random.default_rng(0))
    for code, age in enumerate([20, 30, 40, 50]):
        assert release.columns[0].covering(code).tolist() == release.covers("age", age).tolist()


def test_the_same_seed_gives_the_same_release() -> None:
    table = table_of(age=[20, 30, 40, 50])
    one, two = (
        AdditiveNoise(0.5).sanitize(table, np.random.default_rng(7)).to_frame() for _ in range(2)
    )
    assert one == two
    assert one != AdditiveNoise(0.5).sanitize(table, np.random.default_rng(8)).to_frame()


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_scale_is_positive(scale: float) -> None:
    with pytest.raises(UserError, match="scale must be"):
        AdditiveNoise(scale)
