"""The data sets as tables: roles, hierarchies, record numbers, and what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff.data.schema import Kind, Role
from indiff.datasets import adult, demo, demo_hierarchies, demo_table, internet_usage
from indiff.datasets.fetch import ADULT_QUASI, INTERNET_QUASI


@pytest.mark.parametrize("seed", [0, 1])
def test_demo_table(seed: int) -> None:
    table = demo_table(seed=seed)
    assert len(table) == 5000
    assert table.notes == ()
    assert table.frame().equals(demo(seed=seed))
    assert table.schema.names(Role.IDENTIFIER) == ("patient_id",)
    assert [a.name for a in table.attributes] == ["age", "sex", "zip", "marital_status", "admitted"]
    assert table.attribute("zip").kind == Kind.CATEGORICAL
    assert table.attribute("admitted").is_date
    with_tree = {a.name for a in table.attributes if a.hierarchy is not None}
    assert with_tree == set(demo_hierarchies())
    assert len(table.sensitive.values) == 20


def test_adult_is_the_papers_table(needs_data: Path) -> None:
    """DIT v2, Table 3: 10,000 records, 7,960 of them distinct in the papers' draw, n = 14."""
    table = adult(folder=needs_data)
    assert len(table) == 10_000
    assert table.records.tolist() == list(range(10_000))
    assert [a.name for a in table.attributes] == list(ADULT_QUASI)
    assert len(table.sensitive.values) == 14
    assert any("45,222" in note and "seed 0" in note for note in table.notes)
    assert adult(folder=needs_data).fingerprint == table.fingerprint
    assert adult(seed=1, folder=needs_data).fingerprint != table.fingerprint


def test_internet_usage_is_the_papers_table(needs_data: Path) -> None:
    """DIT v2, Table 3: 9,799 records, 7,049 of them distinct, n = 9."""
    table = internet_usage(folder=needs_data)
    assert len(table) == 9_799
    assert [a.name for a in table.attributes] == list(INTERNET_QUASI["v2"])
    assert len(table.sensitive.values) == 9
    assert "Not-Say" in table.sensitive.values
    assert len(table.frame().to_pandas().drop_duplicates()) == 7_049
    assert "309 of 10,108 records with age Not-Say left out" in table.notes


def test_internet_usage_v1_has_country(needs_data: Path) -> None:
    """DIT v1, Section 3: six quasi-identifiers."""
    table = internet_usage("v1", folder=needs_data)
    assert len(table) == 9_799
    assert {a.name for a in table.attributes} == {*INTERNET_QUASI["v2"], "country"}
    assert len(table.attribute("country").values) == 128  # one of 129 occurs only without an age


def test_hierarchies_are_passed_on(needs_data: Path) -> None:
    tree = needs_data / "hierarchies" / "internet" / "race.csv"
    table = internet_usage(folder=needs_data, hierarchies={"race": tree})
    assert table.attribute("race").hierarchy is not None
