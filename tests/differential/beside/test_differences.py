"""Small differences between the counts of two releases, against counting by hand."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from indiff import read_table, test_releases

AGES = ["20-29", "20-29", "20-29", "30-39", "30-39", "30-39"]
ILL = ["flu", "flu", "cold", "flu", "cold", "cold"]


def test_one_person_who_left_is_named_by_the_difference() -> None:
    frame = pa.table({"age": [21, 22, 23, 31, 32, 33], "ill": ILL})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    whole = pa.table({"age": AGES, "ill": ILL})
    found = test_releases(table, [whole, whole.slice(0, 5)], k=2).differences[0]
    # All rows, and those from 30 to 39, are one row less; 20-29 is the same.
    assert (found.groups, [one.size for one in found.smallest]) == (2, [1, 1])
    assert [one.rows for one in found.smallest] == [(6, 5), (3, 2)]
    assert [one.regions for one in found.smallest] == [{}, {"age": "[30, 39]"}]
    assert found.to_dict() == {
        "releases": ["release 1", "release 2"], "below": 2, "groups": 2, "smallest": 1,
    }  # fmt: skip
    assert test_releases(table, [whole, whole]).differences[0].groups == 0
    # Five rows less are not few, unless somebody says so: two less from 20 to 29 are.
    assert test_releases(table, [whole, whole.slice(0, 1)]).differences[0].groups == 1
    assert test_releases(table, [whole, whole.slice(0, 1)], k=6).differences[0].groups == 2
    assert test_releases(table, [whole, whole.slice(0, 5)], k=1).differences[0].groups == 0


def test_regions_are_told_to_whom_values_are() -> None:
    frame = pa.table({"age": [21, 22, 23, 31, 32, 33], "ill": ILL})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    whole = pa.table({"age": AGES, "ill": ILL})
    found = test_releases(table, [whole, whole.slice(0, 5)], k=2)
    assert "[30, 39]" not in json.dumps(found.to_dict()) + found.to_json()
    assert "[30, 39]" in json.dumps(found.to_dict(values=True))
    assert "[30, 39]" in found.to_json(values=True)


@pytest.mark.parametrize("seed", range(20))
def test_against_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pa.table(
        {
            "x": rng.integers(0, 4, 30),
            "y": rng.choice(list("ab"), 30),
            "s": rng.choice(list("uvw"), 30),
        }
    )
    table = read_table(frame, quasi=["x", "y"], sensitive="s")
    releases = []
    for _ in range(3):
        rows = np.flatnonzero(rng.random(30) < 0.9)
        wide = [("0-1" if x < 2 else "2-3") for x in frame["x"].to_pylist()]
        part = pa.table({"x": wide, "y": frame["y"], "s": frame["s"]}).take(pa.array(rows))
        releases.append(part if rng.random() < 0.8 else part.drop_columns("y"))
    found = test_releases(table, releases, k=5).differences
    for result, (one, two) in zip(found, combinations(releases, 2), strict=True):
        shared = [
            name for name in ("x", "y") if name in one.column_names and name in two.column_names
        ]
        groupings = [[], *([name] for name in shared)]
        if one.column_names == two.column_names and len(shared) == 2:
            groupings.append(shared)
        expected = []
        for names in groupings:
            counts = [Counter(_rows(each, [*names, "s"])) for each in (one, two)]
            groups = [set(_rows(each, names)) for each in (one, two)]
            for group in groups[0] & groups[1]:
                size = sum(abs(counts[0][*group, v] - counts[1][*group, v]) for v in "uvw")
                sizes = tuple(sum(each[*group, v] for v in "uvw") for each in counts)
                expected += [(size, sizes)] if 0 < size < 5 else []
        assert result.groups == len(expected)
        named = [(one.size, one.rows) for one in result.smallest]
        assert sorted(named) == sorted(expected)
        assert [size for size, _ in named] == sorted(size for size, _ in named)


def _rows(frame: pa.Table, names: list[str]) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in frame.to_pylist()]


def test_a_hundred_of_the_smallest_are_named_and_all_are_counted() -> None:
    """Of 150 ages with three rows each, the first 75 lose two rows, and the others one."""
    ages = [age for age in range(150) for _ in range(3)]
    frame = pa.table({"age": ages, "ill": ["flu", "cold", "flu"] * 150})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    kept = [row for row, age in enumerate(ages) if row % 3 < (1 if age < 75 else 2)]
    (found,) = test_releases(table, [frame, frame.take(pa.array(kept))], k=3).differences
    assert found.groups == 150  # all rows differ by far more
    assert [one.size for one in found.smallest] == [1] * 75 + [2] * 25
    assert found.to_dict()["smallest"] == 1
