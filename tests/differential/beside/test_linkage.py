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
    np.testing.assert_array_equal(dense.closest, sparse.closest)
    np.testing.assert_allclose(dense.posterior, sparse.posterior)
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
        "closest": {"least": 1, "median": 1.5, "mean": 1.5, "most": 2},
        "posterior": {"least": 0.5, "median": 0.75, "mean": 0.75, "most": 1.0},
        "groups": {"least": 1, "median": 1.0, "mean": 1.0, "most": 1},
        "certain": 1,
    }
    assert repr(linkage) == "Linkage(4 records to 3 released rows, unlinked=0, unique=2, certain=1)"


def weigh(table: Table, released: list[tuple[str, str, str]]) -> list[tuple[int, float]]:
    """The closest candidates of each record and the probability of one, by their definition."""
    release = release_of(released, table)
    ages, jobs = (table.source[name].to_pylist() for name in ("age", "job"))
    covered = {
        "age": np.array([release.covers("age", age) for age in ages]),
        "job": np.array([release.covers("job", job) for job in jobs]),
    }
    # A region's size is how many records it covers: the column's sum over the records.
    sizes = [covered[name].sum(axis=0) for name in ("age", "job")]
    found = []
    for record in range(len(table)):
        rows = np.flatnonzero(covered["age"][record] & covered["job"][record])
        products = [int(sizes[0][row] * sizes[1][row]) for row in rows]
        least = min(products, default=0)
        total = sum(1 / product for product in products)
        found.append((products.count(least), 1 / least / total if rows.size else 0.0))
    return found


@given(st.lists(RECORDS, max_size=12), st.lists(RELEASED, min_size=1, max_size=20))
def test_the_closest_candidates_and_their_probability_are_those_of_the_definition(
    records: list[tuple[int, str, str]], released: list[tuple[str, str, str]]
) -> None:
    table = table_of(records)
    linkage = link(release_of(released, table), table)
    expected = weigh(table, released)
    assert linkage.closest.tolist() == [count for count, _ in expected]
    np.testing.assert_allclose(linkage.posterior, [chance for _, chance in expected], rtol=1e-6)
    assert linkage.unique == sum(count == 1 for count, _ in expected)


@given(
    st.lists(RECORDS, max_size=12),
    st.lists(RELEASED, min_size=1, max_size=20),
    st.integers(1, 30),
)
def test_rows_that_say_nothing_never_lower_what_a_limit_checks(
    records: list[tuple[int, str, str]], released: list[tuple[str, str, str]], blanks: int
) -> None:
    table = table_of(records)
    before = link(release_of(released, table), table)
    after = link(release_of([*released, *[("*", "*", "flu")] * blanks], table), table)
    covered_by_more = [row for row in released if row[:2] != ("*", "*")]
    if len(covered_by_more) == len(released):  # the release itself had no such row
        assert after.unique >= before.unique
        assert after.certain >= before.certain


def test_a_raw_copy_with_two_rows_of_stars_is_as_linkable_as_the_copy() -> None:
    table = table_of([])
    copy = [("20", "cook", "flu"), ("45", "mason", "cold"), ("33", "nurse", "flu"),
            ("25", "miner", "cold")]  # fmt: skip
    linkage = link(release_of([*copy, ("*", "*", "flu"), ("*", "*", "cold")], table), table)
    assert linkage.candidates.tolist() == [3, 3, 3, 3]
    assert linkage.closest.tolist() == [1, 1, 1, 1]
    assert linkage.unique == linkage.certain == 4
    # Of each row of stars 1/(4·4) beside 1/(1·1) of the record's own.
    np.testing.assert_allclose(linkage.posterior, 1 / (1 + 2 / 16))


@pytest.mark.parametrize("dense", [0.0, 1e9])
def test_weights_beyond_all_numbers_count_for_nothing_beside_the_closest(
    dense: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kinds of 1 and 3 rows, one e^1000 times as specific: whom both cover is the one row."""
    monkeypatch.setattr(module, "_DENSE", dense)
    adds = np.array([[1.0, 1.0, 0.0], [3.0, 1.0, 2.0]])
    covers = np.packbits(np.array([[1, 1], [0, 1], [1, 0], [0, 0]], bool), axis=1)
    sums, closest, chance = module._add_up(covers, adds, np.array([0.0, -1000.0]), 4)
    assert sums.tolist() == [[4, 2, 2], [3, 1, 2], [1, 1, 0], [0, 0, 0]]
    assert closest.tolist() == [[1, 1, 0], [3, 1, 2], [1, 1, 0], [0, 0, 0]]
    assert chance.tolist() == pytest.approx([1, 1 / 3, 1, 0])


def test_as_many_spans_as_regions_need_not_be_one_each() -> None:
    """One region has two spans, and one has none: there is nobody of 60 to 70."""
    frame = pa.table({"age": [20, 30, 40, 50], "ill": list("abab")})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    found = link(
        read_release(pa.table({"age": ["{20, 40}", "[60, 70]"], "ill": ["a", "b"]}), table), table
    )
    assert found.candidates.tolist() == [1, 0, 1, 0]
    assert found.shares.tolist() == [[1, 0], [0.5, 0.5], [1, 0], [0.5, 0.5]]
