"""The counting kernel and the codes it counts by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.engines.in_process import (
    Coder,
    NotCountedHere,
    Tally,
    add_codes,
    count_keys,
)
from indiff.engines.protocol import Resources, connect


def test_a_value_outside_the_table_or_without_a_code_is_noticed() -> None:
    codes = np.array([0, 3, -1], np.int32)
    keys = np.zeros(2, np.int32)
    assert add_codes(np.array([7, 8], np.int64), 7, codes, True, keys)
    assert keys.tolist() == [0, 3]
    assert add_codes(np.array([8, 8], np.int64), 7, codes, False, keys)
    assert keys.tolist() == [3, 6]
    for value in (6, 9, 10):
        assert not add_codes(np.array([7, value], np.int64), 7, codes, True, keys)
    counts = np.zeros(7, np.int64)
    count_keys(np.array([3, 6, 3], np.int32), counts)
    assert counts.tolist() == [0, 0, 0, 2, 0, 0, 1]


FAR = [-(2**63), -(2**40), 2**19, 2**40, 2**63 - 1]
NUMBERS = st.one_of(st.none(), st.integers(-5, 5), st.sampled_from(FAR))
BATCHES = st.lists(st.lists(st.tuples(NUMBERS, st.sampled_from(["a", "b", "", None]))), max_size=5)


@given(batches=BATCHES)
def test_codes_survive_growing_tables(batches: list[list[tuple[Any, Any]]]) -> None:
    coders = [Coder([""]), Coder([""])]
    tally = Tally(coders, [[0, 1]])
    for batch in batches:
        tally.add(
            [
                pa.array([number for number, _ in batch], pa.int64()),
                pa.array([text for _, text in batch], pa.string()),
            ]
        )
    rows = [row for batch in batches for row in batch]
    expected = Counter((number, text or None) for number, text in rows)
    total = Tally.total([tally], 0)
    values = [coder.values().to_pylist() for coder in coders]
    found = {
        (values[0][i], values[1][j]): int(total[i, j])
        for i, j in zip(*np.nonzero(total), strict=True)
    }
    assert found == dict(expected)
    assert tally.rows == len(rows)


def test_threads_and_row_groups_agree_with_one_thread(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    size = 50_000
    table = pa.table(
        {
            "age": pa.array(rng.integers(0, 120, size).astype(np.int32)),
            "ill": pa.array([f"d{i}" for i in rng.integers(0, 40, size)]),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)
    answers = []
    for threads in (1, 2, 7):
        engine = connect(
            tmp_path / "a.parquet",
            ["age", "ill"],
            {"cells": [0, 1]},
            engine="in-process",
            resources=Resources(threads=threads),
        )
        answers.append(engine.query(f"SELECT * FROM {engine.counts['cells']} ORDER BY c0, c1"))
        engine.close()
    expected = table.group_by(["age", "ill"]).aggregate([([], "count_all")])
    assert len(answers[0]) == expected.num_rows
    assert sum(row[2] for row in answers[0]) == size
    assert answers[0] == answers[1] == answers[2]


def test_a_dense_array_has_a_limit() -> None:
    wide = pa.table({name: list(range(3000)) for name in "ab"})
    with pytest.raises(NotCountedHere, match="Use engine='duckdb'"):
        connect(wide, ["a", "b"], {"cells": [0, 1]}, engine="in-process")


def test_auto_chooses_by_the_number_of_combinations() -> None:
    for rows, expected in ((100, "in-process"), (3000, "duckdb")):
        table = pa.table({name: list(range(rows)) for name in "ab"})
        engine = connect(table, ["a", "b"], {"cells": [0, 1]})
        assert engine.name == expected
        engine.close()
