"""Copies of records are recognised by their content, whatever rows are added to them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Table, read_release, read_table
from indiff.release.repeated import repeats


def told(table: Table, frame: dict[str, list[Any]]) -> list[str]:
    return repeats(read_release(pa.table(frame), table), table)


def people(size: int = 40, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 90, size).tolist(),
        "job": rng.choice(list("abc"), size).tolist(),
        "ill": rng.choice(["no", "yes"], size).tolist(),
    }


def table_of(frame: dict[str, list[Any]]) -> Table:
    return read_table(pa.table(frame), quasi=["age", "job"], sensitive="ill")


def test_rows_that_say_nothing_do_not_hide_a_copy() -> None:
    frame = people()
    table = table_of(frame)
    rows = list(zip(*frame.values(), strict=True))
    alone = sum([row[:2] for row in rows].count(row[:2]) == 1 for row in rows)
    assert alone > 30
    copy = {name: [*map(str, cells), "*", "*"] for name, cells in frame.items()}
    assert told(table, copy)[0].startswith(f"the release repeats {alone} of its 40 rows unchanged")


@pytest.mark.parametrize("copied", [19, 20])
def test_half_of_the_rows_are_enough_and_fewer_are_not(copied: int) -> None:
    ages = list(range(40))
    table = table_of({"age": ages, "job": ["a"] * 40, "ill": ["no", "yes"] * 20})
    cells = [str(age) if age < copied else "[0, 39]" for age in ages]
    found = told(table, {"age": cells, "job": ["a"] * 40, "ill": ["no", "yes"] * 20})
    assert bool(found) == (copied == 20)


def test_what_several_records_share_or_what_was_changed_is_no_copy() -> None:
    shared: dict[str, list[Any]] = {
        "age": [30, 30, 40, 40],
        "job": list("aabb"),
        "ill": ["no", "yes", "no", "yes"],
    }
    assert told(table_of(shared), shared) == []
    other: dict[str, list[Any]] = {
        "age": [30, 31, 40, 41],
        "job": list("aabb"),
        "ill": ["no", "yes", "no", "yes"],
    }
    assert told(table_of(other), other)
    assert told(table_of(other), {**other, "ill": ["yes", "no", "yes", "no"]}) == []
    assert told(table_of(other), {**other, "age": ["[30, 31]"] * 2 + ["[40, 41]"] * 2}) == []


def test_many_wide_columns_are_told_apart() -> None:
    values = [list(range(1000))] * 8  # the product of their sizes is beyond 64 bits
    names = [f"q{place}" for place in range(8)]
    frame = dict(zip(names, values, strict=True)) | {"ill": ["a", "b"] * 500}
    table = read_table(pa.table(frame), quasi=names, sensitive="ill")
    assert "repeats 1,000 of its 1,000 rows" in told(table, frame)[0]
    turned = frame | {"q7": list(reversed(range(1000)))}
    assert told(table, turned) == []


def test_agrees_with_a_plain_count() -> None:
    for seed, size in product(range(5), (5, 12)):
        frame = people(size, seed)
        table = table_of(frame)
        rows = list(zip(*frame.values(), strict=True))
        mixed = {**frame, "ill": frame["ill"][1:] + frame["ill"][:1]}
        unique = [row for row in rows if [other[:2] for other in rows].count(row[:2]) == 1]
        found = sum(row in unique for row in zip(*mixed.values(), strict=True))
        said = told(table, mixed)
        assert bool(said) == (2 * found >= size)
        assert not said or f"repeats {found} of its {size} rows" in said[0]
