"""Rank swapping: values stay, ranks move by at most the given share of the records."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import RankSwap, UserError, read_table
from indiff.sanitizers.perturbation.rank_swap import swap_partners


def test_a_swap_worked_out_by_hand() -> None:
    # Places 0 to 4, window 2. Place 0 draws 0.5 of {1, 2}: 2. Place 1 draws 0.0 of {3}: 3.
    # Place 4 has nobody left above it.
    assert swap_partners(np.array([0.5, 0.0, 0.9, 0.9, 0.3]), 2).tolist() == [2, 3, 0, 1, 4]


@given(st.integers(1, 200), st.integers(0, 50), st.integers(0, 1000))
def test_swaps_are_mutual_and_near(size: int, window: int, seed: int) -> None:
    partner = swap_partners(np.random.default_rng(seed).random(size), window)
    assert partner[partner].tolist() == list(range(size))
    assert (np.abs(partner - np.arange(size)) <= window).all()


@pytest.mark.parametrize("percent", [1, 5, 12.5, 100])
def test_values_stay_and_ranks_move_within_the_percentage(percent: float) -> None:
    rng = np.random.default_rng(1)
    age = rng.permutation(200).tolist()
    table = read_table(
        pa.table({"age": age, "ill": ["no", "yes"] * 100}), quasi=["age"], sensitive="ill"
    )
    release = RankSwap(percent).sanitize(table, np.random.default_rng(2))
    shown = np.array([int(text) for text in release.to_frame()["age"].to_pylist()])
    assert sorted(shown) == list(range(200))
    moved = np.abs(shown - np.array(age))  # values are ranks here
    assert moved.max() <= math.floor(percent * 200 / 100)
    assert (moved > 0).mean() > 0.9


def test_categories_and_missing_values_stay() -> None:
    frame = pa.table(
        {"age": [30, None, 20, 40], "job": list("abca"), "ill": ["no", "yes", "no", "no"]}
    )
    table = read_table(frame, quasi=["age", "job"], sensitive="ill", missing="split")
    release = RankSwap(100).sanitize(table, np.random.default_rng(0)).to_frame()
    assert release["job"].to_pylist() == list("abca")
    assert release["age"].to_pylist()[1] == "missing"
    assert RankSwap(100).notes(table) == ("rank-swap:percent=100 publishes 'job' as it is",)


def test_a_table_without_an_order_is_refused() -> None:
    table = read_table(
        pa.table({"job": list("abca"), "ill": ["no", "yes"] * 2}), quasi=["job"], sensitive="ill"
    )
    with pytest.raises(UserError, match="rank-swap changes quasi-identifiers that are numeric or "):
        RankSwap(10).sanitize(table)


@pytest.mark.parametrize("percent", [0, 101, float("inf")])
def test_percent_is_a_share_of_the_records(percent: float) -> None:
    with pytest.raises(UserError, match="percent must be greater than 0 and at most 100"):
        RankSwap(percent)
