"""Discernibility (Bayardo and Agrawal 2005) and average group size (LeFevre et al. 2006)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from indiff import Identity, Laplace, Release, Suppress, UserError
from indiff.utility.groups import average_group, discernibility, normalised_average_group
from tests.utility.releases import people, released


def test_squares_of_group_sizes() -> None:
    table = people()
    ages = ["20-30", "20-30", "40-70", "40-70", "40-70"]
    release = released(table, ages, ["Artist", "Artist", "*", "*", "*"])
    assert discernibility(table, release) == 4 + 9
    assert average_group(table, release) == 2.5
    assert normalised_average_group(2.5, 2) == 1.25


def test_the_same_regions_are_one_group_for_a_reader() -> None:
    table = people()
    release = released(table, ["20-40", "20-40", "20-40", "60", "70"], ["*"] * 3 + ["Doctor"] * 2)
    assert discernibility(table, release) == 9 + 1 + 1
    assert average_group(table, release) == pytest.approx(5 / 3)


def test_suppressed_records_cost_the_whole_table() -> None:
    table = people()
    starred = released(table, ["20-30", "20-30", "40", "*", "*"], ["Artist"] * 3 + ["*"] * 2)
    assert discernibility(table, starred) == 4 + 1 + 2 * 5
    left_out = released(table, ["20-30", "20-30", "40"], ["Artist"] * 3, "nyn")
    assert discernibility(table, left_out) == 4 + 1 + 2 * 5
    assert average_group(table, left_out) == 1.5


def test_the_ends_of_the_scale() -> None:
    table = people()
    assert discernibility(table, Identity().sanitize(table)) == 5
    assert discernibility(table, Suppress().sanitize(table)) == 25
    assert average_group(table, Identity().sanitize(table)) == 1
    assert average_group(table, Suppress().sanitize(table)) == 5


def test_nothing_released_has_no_average() -> None:
    table = people()
    empty = released(table, ["20"], ["Dancer"], "n")
    assert math.isnan(average_group(table, _without_rows(empty)))
    assert discernibility(table, _without_rows(empty)) == 25


def _without_rows(release: Release) -> Release:
    none = np.empty(0, np.int32)
    columns = tuple(replace(column, index=none) for column in release.columns)
    return replace(release, columns=columns, classes=none)


def test_noisy_counts_stand_for_no_record() -> None:
    table = people()
    noisy = Laplace(1.0, edges={"age": [30]}).sanitize(table, np.random.default_rng(0))
    with pytest.raises(UserError, match=r"\(noisy counts\), which stand for no record"):
        discernibility(table, noisy)
