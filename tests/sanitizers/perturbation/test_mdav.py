"""MDAV against groups worked out by hand and by a literal rewrite of the published steps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indiff import Mdav, UserError, differential_test, read_table
from indiff.sanitizers.perturbation.mdav import mdav_groups


def literally(points: np.ndarray, k: int) -> list[list[int]]:
    """Follow Domingo-Ferrer and Torra (2005), Algorithm MDAV, step by step, numbers only."""
    left, groups = list(range(len(points))), []

    def far(one: int, point: np.ndarray) -> float:
        return float(((points[one] - point) ** 2).sum())

    def take(center: int) -> None:
        near = sorted(left, key=lambda one: (one != center, far(one, points[center]), one))[:k]
        groups.append(sorted(near))
        left[:] = [one for one in left if one not in near]

    while len(left) >= 3 * k:
        average = points[left].mean(axis=0)
        r = max(left, key=lambda one: (far(one, average), -one))
        s = max(left, key=lambda one: (far(one, points[r]), -one))
        take(r)
        take(s)
    if len(left) >= 2 * k:
        average = points[left].mean(axis=0)
        take(max(left, key=lambda one: (far(one, average), -one)))
    groups.append(sorted(left))
    return groups


@settings(max_examples=60)
@given(st.integers(2, 60), st.integers(1, 7), st.integers(0, 10**6))
def test_groups_are_those_of_the_published_steps(size: int, k: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(size, 3))
    groups = mdav_groups(points, np.empty((size, 0), np.int32), k)
    found = [np.flatnonzero(groups == one).tolist() for one in range(groups.max() + 1)]
    assert found == literally(points, k)
    if size >= k:
        assert all(k <= len(one) <= 2 * k - 1 for one in found)


def test_the_release_has_group_means_worked_out_by_hand() -> None:
    # The average is 40, and 90 is furthest from it; from 90 it is 5: {90, 80} and {5, 10}. Fewer
    # than 2k are left: {20, 30, 45}.
    age = [10, 90, 20, 80, 30, 45, 5]
    table = read_table(pa.table({"age": age, "ill": list("ababaab")}), quasi=["age"],
                       sensitive="ill")  # fmt: skip
    shown = Mdav(2).sanitize(table).to_frame()["age"].to_pylist()
    assert shown == ["7.5", "85", "31.666666666666668", "85", "31.666666666666668",
                     "31.666666666666668", "7.5"]  # fmt: skip


def test_means_stay_and_groups_are_k_anonymous() -> None:
    rng = np.random.default_rng(3)
    frame = pa.table({
        "age": rng.integers(18, 90, 203), "income": rng.normal(size=203).round(3),
        "ill": rng.choice(["a", "b"], 203),
    })  # fmt: skip
    table = read_table(frame, quasi=["age", "income"], sensitive="ill")
    release = Mdav(7).sanitize(table)
    shown = release.to_frame()
    for name in ("age", "income"):
        published = np.array([float(text) for text in shown[name].to_pylist()])
        assert published.mean() == pytest.approx(np.mean(frame[name].to_numpy()))
    _, sizes = np.unique(
        [f"{a} {b}" for a, b in zip(*map(pa.Table.to_pydict(shown).get, ("age", "income")),
                                    strict=True)], return_counts=True)  # fmt: skip
    assert sizes.min() >= 7
    assert release.constraint_met is True
    assert release.groups is not None
    assert set(np.bincount(release.groups)) <= set(range(7, 14))


def test_categories_get_the_most_frequent_and_ordinal_values_the_lower_median() -> None:
    frame = pa.table({
        "size": ["S", "S", "M", "L", "L", "L"], "job": list("abbccd"), "ill": list("abaabb"),
    })  # fmt: skip
    table = read_table(
        frame, quasi=["size", "job"], sensitive="ill", orders={"size": ["S", "M", "L"]}
    )
    shown = Mdav(6).sanitize(table).to_frame()
    assert set(shown["size"].to_pylist()) == {"M"}
    assert set(shown["job"].to_pylist()) == {"b"}  # as frequent as c, and before it


def test_fewer_than_k_records_are_one_group_that_is_no_pass() -> None:
    table = read_table(pa.table({"age": [1, 2, 3], "ill": list("aba")}), quasi=["age"],
                       sensitive="ill")  # fmt: skip
    release = Mdav(5).sanitize(table)
    assert release.to_frame()["age"].to_pylist() == ["2", "2", "2"]
    assert release.constraint_met is False


def test_records_that_are_all_alike_are_grouped() -> None:
    groups = mdav_groups(np.zeros((10, 2)), np.empty((10, 0), np.int32), 3)
    assert np.bincount(groups).tolist() == [3, 3, 4]


def test_missing_numbers_are_refused_with_the_way_out() -> None:
    table = read_table(pa.table({"age": [1, None, 3], "ill": list("aba")}), quasi=["age"],
                       sensitive="ill", missing="split")  # fmt: skip
    with pytest.raises(UserError, match="mdav averages records, and some have no 'age'"):
        Mdav(2).sanitize(table)


def test_it_is_tested_by_leaving_records_out_and_a_tree_reads_the_averages() -> None:
    rng = np.random.default_rng(0)
    frame = pa.table({"age": rng.integers(18, 90, 30), "ill": rng.choice(["a", "b"], 30)})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    result = differential_test(table, "mdav:k=3", jobs=1)
    assert result.exactness == "exact"
    assert {"naive-bayes", "frequency", "tree:encoding=Scaling-Hot"} == set(result.results)
    # At k = n everybody's release is one average: nobody can stand out by age.
    one = differential_test(table, "mdav:k=29", jobs=1)
    assert one.delta < result.delta
