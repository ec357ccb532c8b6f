"""Linkage against its definition: look at every pair of a record and a released row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Release, Table, read_release, read_table
from indiff.differential.beside import linkage as module
from indiff.differential.beside.linkage import link
from indiff.inference import Frequency

AGES = ["20", "25", "[20, 30]", "[30, 45]", ">=40", "<30", "*", "33.5"]
JOBS = ["cook", "{cook, mason}", "m*", "*", "nurse"]


def table_of(rows: list[tuple[int, str, str]]) -> Table:
    fixed = [
        (20, "cook", "flu"),
        (45, "mason", "cold"),
        (33, "nurse", "flu"),
        (25, "miner", "cold"),
    ]
    ages, jobs, ills = zip(*[*fixed, *rows], strict=True)
    return read_table(
        pa.table({"age": ages, "job": jobs, "ill": ills}), quasi=["age", "job"], sensitive="ill"
    )


def release_of(rows: list[tuple[str, str, str]], table: Table) -> Release:
    ages, jobs, ills = zip(*rows, strict=True)
    return read_release(pa.table({"age": ages, "job": jobs, "ill": ills}), table)


def by_definition(table: Table, released: list[tuple[str, str, str]]) -> list[tuple[int, int]]:
    release = release_of(released, table)
    found = []
    for age, job in zip(
        table.source["age"].to_pylist(), table.source["job"].to_pylist(), strict=True
    ):
        rows = np.flatnonzero(release.covers("age", age) & release.covers("job", job))
        regions = {
            (release.columns[0].regions[release.columns[0].index[row]],
             release.columns[1].regions[release.columns[1].index[row]])
            for row in rows
        }  # fmt: skip
        found.append((len(rows), len(regions)))
    return found


RECORDS = st.tuples(
    st.sampled_from([20, 25, 29, 33, 40, 45]),
    st.sampled_from(["cook", "mason", "nurse", "miner"]),
    st.sampled_from(["flu", "cold"]),
)
RELEASED = st.tuples(st.sampled_from(AGES), st.sampled_from(JOBS), st.sampled_from(["flu", "cold"]))


@given(st.lists(RECORDS, max_size=12), st.lists(RELEASED, min_size=1, max_size=20))
def test_candidates_and_groups_are_those_of_the_definition(
    records: list[tuple[int, str, str]], released: list[tuple[str, str, str]]
) -> None:
    table = table_of(records)
    linkage = link(release_of(released, table), table)
    expected = by_definition(table, released)
    assert list(zip(linkage.candidates.tolist(), linkage.groups.tolist(), strict=True)) == expected
    assert linkage.unlinked == sum(rows == 0 for rows, _ in expected)
    assert linkage.unique == sum(rows == 1 for rows, _ in expected)


@given(st.lists(RECORDS, max_size=12), st.lists(RELEASED, min_size=1, max_size=20))
def test_shares_are_what_the_frequency_model_believes(
    records: list[tuple[int, str, str]], released: list[tuple[str, str, str]]
) -> None:
    table = table_of(records)
    release = release_of(released, table)
    np.testing.assert_array_equal(link(release, table).shares, Frequency().beliefs(release, table))


def test_a_column_of_too_many_values_is_looked_up_block_by_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(3)
    ages = generator.integers(0, 900, 700)
    columns: dict[str, Any] = {"age": ages, "ill": generator.choice(["a", "b"], 700)}
    table = read_table(pa.table(columns), quasi=["age"], sensitive="ill")
    low = generator.integers(0, 900, 500)
    cells = [f"[{a}, {a + b}]" for a, b in zip(low, generator.integers(0, 90, 500), strict=True)]
    release = read_release(pa.table({"age": cells, "ill": ["a"] * 500}), table)
    whole = link(release, table)
    monkeypatch.setattr(module, "_KEPT_BYTES", 0)
    blocks = link(release, table)
    expected = [int(release.covers("age", int(age)).sum()) for age in ages[:50]]
    assert whole.candidates[:50].tolist() == expected
    monkeypatch.setattr(module, "_DENSE", 0.0)
    dense = link(release, table)
    monkeypatch.setattr(module, "_DENSE", 9.0)
    sparse = link(release, table)
    np.testing.assert_array_equal(dense.candidates, sparse.candidates)
    np.testing.assert_array_equal(dense.shares, sparse.shares)
    np.testing.assert_array_equal(whole.candidates, blocks.candidates)
    np.testing.assert_array_equal(whole.groups, blocks.groups)


def test_certainty_counts_only_the_true_value() -> None:
    # 20 and 25 see one flu row; 33 and 45 see two rows of cold and flu.
    table = table_of([])
    linkage = link(
        release_of([("<30", "*", "flu"), (">=30", "*", "flu"), (">=30", "*", "cold")], table), table
    )
    assert linkage.candidates.tolist() == [1, 2, 2, 1]
    assert linkage.true_shares.tolist() == [1, 0.5, 0.5, 0]
    assert linkage.certain == 1
    assert linkage.to_dict() == {
        "released_rows": 3,
        "records": 4,
        "no_candidate": 0,
        "one_candidate": 2,
        "candidates": {"least": 1, "median": 1.5, "mean": 1.5, "most": 2},
        "groups": {"least": 1, "median": 1.0, "mean": 1.0, "most": 1},
        "certain": 1,
    }
    assert repr(linkage) == "Linkage(4 records to 3 released rows, unlinked=0, unique=2, certain=1)"
