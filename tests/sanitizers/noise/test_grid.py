"""The cells of a noisy table: from declarations alone, with edges by definition."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import indiff
from indiff.errors import UserError
from indiff.sanitizers.noise.grid import quantile_edges
from tests.sanitizers.noise.test_mechanisms import DECLARED, people, seeded


def test_every_cell_of_the_domain_has_a_row() -> None:
    release = indiff.Laplace(1.0, **DECLARED).sanitize(people(), seeded())
    rows = release.to_arrow().to_pylist()
    cells = {(row["age"], row["sex"], row["ill"]) for row in rows}
    assert len(rows) == len(cells) == 3 * 3 * 3  # the values that nobody has included
    assert {row["age"] for row in rows} == {"<=30", "(30, 50]", ">50"}
    assert {row["ill"] for row in rows} == {"cold", "flu", "none"}


def test_the_domain_does_not_depend_on_the_records() -> None:
    sanitizer = indiff.Laplace(0.5, **DECLARED)
    first, second = (
        sanitizer.sanitize(people(records, seed), seeded()).to_arrow().drop_columns("weight")
        for records, seed in ((40, 0), (7, 1))
    )
    assert first.equals(second)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 100))
def test_quantile_edges_by_definition(ages: list[int], bins: int) -> None:
    table = indiff.read_table(pa.table({"age": ages, "ill": ["a"] * len(ages)}),
                              quasi=["age"], sensitive="ill")  # fmt: skip
    expected = set()
    for share in range(1, bins):
        reached = [v for v in set(ages) if sum(a <= v for a in ages) * bins >= share * len(ages)]
        expected.add(min(reached))
    expected.discard(max(ages))  # nothing lies above
    assert quantile_edges(table.attribute("age"), bins).tolist() == sorted(expected)


def test_missing_numbers_have_a_bin_where_they_are_split_off() -> None:
    frame = pa.table({"age": [20, None, 40, 60], "ill": list("abab")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", missing="split")
    for options in ({"edges": {"age": [30]}}, {"bins": 2}):
        release = indiff.Laplace(math.inf, **options).sanitize(table, seeded())
        assert release.covers("age", None).sum() == 2
        assert release.weights is not None
        assert release.weights.sum() == 4


def test_edges_of_dates_are_dates() -> None:
    days = pa.array([0, 100, 20_000], pa.date32())
    table = indiff.read_table(pa.table({"born": days, "ill": list("aba")}),
                              quasi=["born"], sensitive="ill")  # fmt: skip
    release = indiff.Laplace(math.inf, edges={"born": ["2000-01-01"]}).sanitize(table, seeded())
    assert release.to_arrow()["weight"].to_pylist() == [1, 1, 1, 0]


def test_too_many_cells_are_refused() -> None:
    frame = pa.table({f"q{i}": list(range(100)) for i in range(4)} | {"ill": list("ab") * 50})
    table = indiff.read_table(frame, quasi=[f"q{i}" for i in range(4)], sensitive="ill")
    with pytest.raises(UserError, match="at most 10,000,000 cells; this one has 200,000,000"):
        indiff.Laplace(0.5, bins=None).sanitize(table, seeded())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": {"sex": [1]}}, "edges cut numbers; 'sex' is categorical"),
        ({"edges": {"age": []}}, "at least one number, in ascending order"),
        ({"edges": {"age": [50, 30]}}, "in ascending order; got \\[50, 30\\]"),
        ({"edges": {"age": ["old"]}}, "'age' takes finite numbers; got 'old'"),
        ({"edges": {"agee": [30]}}, "no quasi-identifier 'agee': did you mean 'age'"),
        ({"domains": {"size": [30]}}, "no column 'size'"),
        ({"domains": {"sex": ["F"]}}, "the domain of 'sex' must list every value .* lacks 'M'"),
        ({"domains": {"sex": ["F", "M", "M"]}}, "must list each value once"),
        ({"domains": {"ill": ["cold"]}}, "the domain of 'ill' must list every value .* 'flu'"),
        ({"edges": {"age": [30]}, "domains": {"age": [1]}}, "'age' has edges and a domain"),
    ],
)
def test_bad_declarations(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.Laplace(0.5, **options).sanitize(people(), seeded())
