"""Counts in memory: what is packed, masked and sorted is what is there."""

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

from indiff.engines.held import MOST_BITS, Combinations, packed, summed, widths_of
from indiff.engines.protocol import Resources, connect
from indiff.engines.tally import Coder, Tally

ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, -1, 7, 2**40]),
        st.sampled_from(["a", "b", "", None, "c"]),
        st.sampled_from([None, True, False]),
    ),
    max_size=12,
)
KINDS = (pa.int64(), pa.string(), pa.bool_())


def columns(rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    parts = zip(*rows, strict=True) if rows else [(), (), ()]
    return [pa.array(list(part), kind) for part, kind in zip(parts, KINDS, strict=True)]


def by_value(found: Combinations, coders: list[Coder]) -> dict[tuple[Any, ...], int]:
    values = [coder.values().to_pylist() for coder in coders]
    codes = [found.codes(place).tolist() for place in range(len(coders))]
    rows = zip(*codes, strict=True)
    keys = [tuple(v[c] for v, c in zip(values, row, strict=True)) for row in rows]
    assert len(set(keys)) == len(keys), "each combination is there once"
    return dict(zip(keys, found.n.tolist(), strict=True))


@pytest.mark.parametrize("most", [0, 1, 8, 10**6])
@given(batches=st.lists(st.tuples(ROWS, st.booleans()), max_size=4))
def test_rows_are_counted_in_an_array_or_sorted_whatever_the_batches(
    batches: list[tuple[list[tuple[Any, ...]], bool]], most: int
) -> None:
    """Codes grow from batch to batch, and the first may fit in an array that the next does not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indiff.engines.tally.MOST_COMBINATIONS", most)
        coders = [Coder([""]) for _ in KINDS]
        tallies = [Tally(coders, [[0, 1, 2]], most_sorted=9) for _ in range(2)]
        expected: Counter[Any] = Counter()
        for place, (rows, twice) in enumerate(batches):
            times = np.full(len(rows), 2) if twice else None
            tallies[place % 2].add(columns(rows), times)
            for number, text, flag in rows:
                expected[number, text or None, flag] += 2 if twice else 1
    found = Tally.combinations(tallies, 0)
    assert by_value(found, coders) == dict(expected)
    assert (np.diff(found.keys) > 0).all()
    values = {value for row in expected for value in row} - {None}
    if most == 0:  # an array has room for the missing values
        assert any(tally.sorted[0] for tally in tallies) == bool(values)
    if most == 10**6:
        assert not any(tally.sorted[0] for tally in tallies)


@given(rows=ROWS.filter(bool), kept=st.sets(st.integers(0, 2), min_size=1))
def test_masking_groups_by_the_other_columns(rows: list[tuple[Any, ...]], kept: set[int]) -> None:
    frame = pa.table(dict(zip("xyz", columns(rows), strict=True)))
    engine = connect(frame, list("xyz"), {"cells": [0, 1, 2]}, engine="in-process")
    try:
        held, positions = engine.held["cells"], sorted(kept)
        assert held.records == len(rows)
        table = held.totals(positions)
        seen = zip(*(table[f"c{at}"].to_pylist() for at in positions), strict=True)
        missing = [tuple(value if value != "" else None for value in row) for row in rows]
        expected = Counter(tuple(row[at] for at in positions) for row in missing)
        assert dict(zip(seen, table["n"].to_pylist(), strict=True)) == dict(expected)
        assert set(table["k"].to_pylist()) == set(held.keys(positions).tolist())
    finally:
        engine.close()


def test_bits_are_side_by_side_up_to_the_last_of_a_number() -> None:
    sizes = (1, 2, 2**30, 2**31, 2)
    assert widths_of(sizes) == (0, 1, 30, 31, 1)
    assert sum(widths_of(sizes)) == MOST_BITS
    codes = [np.array([0, 0]), np.array([1, 0]), np.array([2**30 - 1, 5])]
    codes += [np.array([2**31 - 1, 6]), np.array([1, 0])]
    found = Combinations(packed(codes, widths_of(sizes)), np.ones(2, np.int64), widths_of(sizes))
    assert found.keys.tolist() == [2**63 - 1, 5 << 32 | 6 << 1]
    for place, code in enumerate(codes):
        assert found.codes(place).tolist() == code.tolist()
    assert found.mask([1, 4]) == 2**62 + 1


def test_sorted_row_groups_agree_with_one_thread_and_with_duckdb(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    size, names = 20_000, ["a", "b", "c"]
    table = pa.table({name: rng.integers(0, 900, size) for name in names})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3_000)
    answers = []
    for name, threads in (("in-process", 1), ("in-process", 3), ("duckdb", 2)):
        used: Any = name
        engine = connect(
            tmp_path / "a.parquet",
            names,
            {"cells": [0, 1, 2]},
            engine=used,
            resources=Resources(threads=threads),
        )
        assert bool(engine.held) == (name == "in-process")
        rows = f"SELECT c0, c1, c2, n FROM {engine.counts['cells']} ORDER BY ALL"
        answers.append(engine.query(rows))
        engine.close()
    assert sum(row[-1] for row in answers[0]) == size
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("high", [5, 2**40, 2**62])
def test_counts_of_equal_keys_are_added_with_and_without_room_beside_the_key(high: int) -> None:
    keys, n = np.array([high, 1, high, 0]), np.array([5, 2**21, 7, 1])
    found, sums = summed(keys, n)
    assert found.tolist() == [0, 1, high]
    assert sums.tolist() == [1, 2**21, 12]
    assert (keys.tolist(), n.tolist()) == ([high, 1, high, 0], [5, 2**21, 7, 1])
