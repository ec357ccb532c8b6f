"""Releases of the papers' data, verified group by group by an independent checker and a rival."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from indiff import Mondrian, Release, Table, datasets
from tests import checker
from tests.real_tables import adult
from tests.rivals.harness import Case, pycanon_each

K = [2, 5, 20, 80]
L = [2, 3, 4, 5, 6, 7]


def cells(release: Release) -> list[tuple[str, ...]]:
    """Every released record's quasi-identifier cells: what a reader can group by."""
    frame = release.to_arrow().select([c.attribute.name for c in release.columns])
    return list(zip(*(column.to_pylist() for column in frame.columns), strict=True))


def verify(table: Table, release: Release, *, k: int | None = None, l: int | None = None) -> None:  # noqa: E741
    assert release.constraint_met
    assert release.groups is not None
    sensitive = release.sensitive.tolist()
    assert not checker.violations(release.groups.tolist(), sensitive, k=k, l=l)
    assert not checker.violations(cells(release), sensitive, k=k, l=l)
    assert len(set(zip(release.groups.tolist(), cells(release), strict=True))) == len(
        set(release.groups.tolist())
    )
    original = [table.sensitive.values[code] for code in table.sensitive.codes]
    assert not checker.lost_or_invented(original, sensitive)
    for column in release.columns:
        values = column.attribute.values[column.attribute.codes]
        assert not checker.uncovered(
            (value, column.regions[number].covers)
            for value, number in zip(values.tolist(), column.index.tolist(), strict=True)
        )


@pytest.fixture(scope="module", params=[False, True], ids=["sets", "hierarchies"])
def table(needs_data: Path, request: pytest.FixtureRequest) -> Table:
    return adult(needs_data, hierarchies=request.param)


@pytest.mark.parametrize("k", K)
def test_adult_by_k(table: Table, k: int) -> None:
    verify(table, Mondrian(k=k).sanitize(table), k=k)


@pytest.mark.parametrize("l", L)
def test_adult_by_l(table: Table, l: int) -> None:  # noqa: E741
    verify(table, Mondrian(l=l).sanitize(table), l=l)


@pytest.mark.parametrize("sanitizer", [Mondrian(k=5), Mondrian(l=3)], ids=str)
def test_adult_between_cuts(table: Table, sanitizer: Mondrian) -> None:
    release = Mondrian(k=sanitizer.k, l=sanitizer.l, regions="cut").sanitize(table)
    verify(table, release, k=sanitizer.k, l=sanitizer.l)


def test_adult_is_10_000_records_and_the_groups_are_many(table: Table) -> None:
    assert len(table) == 10_000
    groups = Mondrian(k=2).sanitize(table).groups
    assert groups is not None
    assert len(np.unique(groups)) > 1000


@pytest.mark.parametrize("l", [2, 3, 4, 5])
def test_internet_usage_by_l(needs_data: Path, l: int) -> None:  # noqa: E741
    internet = datasets.internet_usage(folder=needs_data)
    verify(internet, Mondrian(l=l).sanitize(internet), l=l)


@pytest.mark.parametrize("l", [6, 7])
def test_internet_usage_is_one_group_at_high_l(needs_data: Path, l: int) -> None:  # noqa: E741
    internet = datasets.internet_usage(folder=needs_data)
    release = Mondrian(l=l, unmet="generalize").sanitize(internet)
    assert not release.constraint_met
    assert set(cells(release)) == {("*",) * len(internet.attributes)}


def test_a_rival_measures_the_same_k_and_l(needs_data: Path) -> None:
    """pyCANON's k, α (1/α is our ℓ) and distinct ℓ are the textbook's: tests/rivals/README.md."""
    whole = adult(needs_data, hierarchies=False)
    asked = [Mondrian(k=20), Mondrian(l=3), Mondrian(k=10, distinct_l=4)]
    cases, expected = [], []
    for sanitizer in asked:
        release = sanitizer.sanitize(whole)
        frame = pd.DataFrame(cells(release), columns=[f"q{a}" for a in range(5)])
        frame["s"] = release.sensitive
        counts = frame.groupby([f"q{a}" for a in range(5)])["s"].value_counts()
        per_group = counts.groupby(level=list(range(5)))
        expected.append(
            (
                int(per_group.sum().min()),
                float((per_group.max() / per_group.sum()).max()),
                int(per_group.count().min()),
            )
        )
        cases.append(Case(frame, [f"q{a}" for a in range(5)], ["s"]))
    measured = pycanon_each(cases, measures=["k", "alpha_k", "distinct_l"])
    for answer, (k, alpha, distinct) in zip(measured, expected, strict=True):
        assert answer.values["k"] == k
        assert answer.values["alpha_k"] == [pytest.approx(alpha), k]
        assert answer.values["distinct_l"] == distinct
    assert measured[0].values["k"] >= 20
    assert measured[1].values["alpha_k"][0] <= 1 / 3 + 1e-12
    assert measured[2].values["k"] >= 10
    assert measured[2].values["distinct_l"] >= 4
