"""By hand: discernibility (Bayardo and Agrawal 2005), group size (LeFevre et al. 2006), NCP.

NCP is that of Xu et al. 2006, Section 3.1.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from indiff import Identity, Laplace, Mondrian, Release, Suppress, UserError, datasets, read_table
from indiff.release.penalties import region_penalties
from indiff.utility.measure import (
    average_group,
    certainty_penalty,
    discernibility,
)
from tests.utility.releases import people, released


def test_squares_of_group_sizes() -> None:
    table = people()
    ages = ["20-30", "20-30", "40-70", "40-70", "40-70"]
    release = released(table, ages, ["Artist", "Artist", "*", "*", "*"])
    assert discernibility(table, release) == 4 + 9
    assert average_group(table, release) == 2.5


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


def test_widths_over_the_domain_and_leaves_over_all_leaves() -> None:
    table = people()
    release = released(
        table,
        ["20-30", "20-30", "40-70", "40-70", "40-70"],
        ["Artist", "Artist", "Medical", "Medical", "Lawyer"],
    )
    # age: 2 × 10/50 + 3 × 30/50 = 2.2; job: 4 × 2/5 + 0 = 1.6; over 5 records and 2 columns.
    assert certainty_penalty(table, release) == pytest.approx((2.2 + 1.6) / 10)


def test_the_penalty_at_the_ends_of_the_scale() -> None:
    table = people()
    assert certainty_penalty(table, Identity().sanitize(table)) == 0
    assert certainty_penalty(table, Suppress().sanitize(table)) == 1


def test_a_record_that_is_left_out_costs_one() -> None:
    table = people()
    release = released(table, ["20", "30", "40"], ["Dancer", "Writer", "Nurse"], "nyn")
    assert certainty_penalty(table, release) == pytest.approx(2 / 5)


def test_an_open_end_reaches_to_the_ends_of_the_domain() -> None:
    table = people()
    release = released(table, ["<=30", "<=30", ">30", ">30", ">30"], ["*"] * 5)
    ages = region_penalties(release.column("age"))[release.column("age").index]
    # 20 to 30 is 10 of 50; above 30 to 70 is 40 of 50.
    assert ages.tolist() == pytest.approx([0.2, 0.2, 0.8, 0.8, 0.8])


def test_sets_without_a_hierarchy_and_ordinal_ranks() -> None:
    table = read_table(
        pa.table(
            {
                "sex": ["a", "b", "c", "d"],
                "size": ["S", "M", "L", "XL"],
                "ill": ["no", "yes", "no", "yes"],
            }
        ),
        quasi=["sex", "size"],
        sensitive="ill",
        orders={"size": ["S", "M", "L", "XL"]},
    )
    release = Mondrian(k=2).sanitize(table)
    # Sex is cut into {a, b} and {c, d}: 2 of 4 values. Sizes S–M and L–XL: 1 of 3 steps.
    assert certainty_penalty(table, release) == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_a_missing_number_set_apart_loses_nothing() -> None:
    table = read_table(
        pa.table({"age": [20, 30, None, None], "ill": ["no", "yes", "no", "yes"]}),
        quasi=["age"],
        sensitive="ill",
        missing="split",
    )
    # [20, 30] twice is the whole width; the two missing ones stay what they were.
    assert certainty_penalty(table, Mondrian(k=2).sanitize(table)) == pytest.approx(0.5)


def test_a_constant_column_has_no_width() -> None:
    table = read_table(
        pa.table({"age": [40, 40], "ill": ["no", "yes"]}), quasi=["age"], sensitive="ill"
    )
    assert certainty_penalty(table, Mondrian(k=2).sanitize(table)) == 0


def test_rows_of_a_noisy_table_count_by_weight() -> None:
    table = people()
    release = Laplace(1.0, edges={"age": [30]}).sanitize(table, np.random.default_rng(0))
    age = region_penalties(release.column("age"))[release.column("age").index]
    by_hand = np.average(age / 2, weights=release.weights)  # jobs stay single values
    assert certainty_penalty(table, release) == pytest.approx(by_hand)
    assert math.isfinite(by_hand)


def test_a_release_of_another_table_is_refused() -> None:
    table = people()
    with pytest.raises(UserError, match="at most one row per record; the table has 2 records"):
        certainty_penalty(table.take([0, 1]), Identity().sanitize(table))


def test_more_anonymity_never_costs_less_on_the_demo() -> None:
    table = datasets.demo_table()
    penalties = [certainty_penalty(table, Mondrian(k=k).sanitize(table)) for k in (2, 5, 20, 100)]
    assert penalties == sorted(penalties)
    assert 0 < penalties[0] < penalties[-1] < 1
