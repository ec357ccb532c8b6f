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

import indiff
from indiff.engines.protocol import Resources, connect
from indiff.engines.tally import (
    BATCH,
    Coder,
    NotCountedHere,
    Tally,
    add_codes,
    count_keys,
)


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


def test_columns_with_many_values_have_a_limit() -> None:
    wide = pa.table({name: list(range(70_000)) for name in "ab"})
    with pytest.raises(NotCountedHere, match="Use engine='duckdb'"):
        connect(wide, ["a", "b"], {"cells": [0, 1]}, engine="in-process")


def test_auto_chooses_by_the_number_of_values() -> None:
    for rows, expected in ((100, "in-process"), (3000, "in-process"), (70_000, "duckdb")):
        table = pa.table({name: list(range(rows)) for name in "ab"})
        engine = connect(table, ["a", "b"], {"cells": [0, 1]})
        assert engine.name == expected
        engine.close()


def counted_by_tally(batches: list[pa.Array]) -> dict[Any, int]:
    coder = Coder([""])
    tally = Tally([coder], [[0]])
    for batch in batches:
        tally.add([batch])
    assert tally.rows == sum(map(len, batches))
    total = Tally.total([tally], 0)
    values = coder.values().to_pylist()
    return {values[place]: int(total[place]) for place in np.nonzero(total)[0]}


@pytest.mark.parametrize(
    "batches",
    [
        [[0], [0, None], [0]],
        [[5, None], [4, None]],  # 4 stood for missing in the first batch
        [[5, None], [4, 9, None]],
        [[5, 9, None], [4, 9, None]],
        [[5], [5, None], [4], [3, None, None]],
        [[None], [3], [None], [2, None]],
        [[1, 2, 3], [2], [9, 1], [-7, None]],
        [[2**63 - 2, 2**63 - 1], [2**63 - 1, None]],
        [[-(2**63), None], [-(2**63) + 1]],
        [[2**62, 2**62 - 1, None], [-(2**62), None]],
        [[1, None], [2**40], [1, 2**40, None]],
        [[1, 2**40, None], [1]],
        [[1], [2**31, None]],  # a table from one to the other would have 8 GB
        [[], [1], []],
    ],
)
def test_every_whole_number_is_counted_whatever_the_batches(batches: list[list[Any]]) -> None:
    """No value may be taken for the missing one, however the table of codes grows."""
    expected = Counter(value for batch in batches for value in batch)
    assert counted_by_tally([pa.array(batch, pa.int64()) for batch in batches]) == expected


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["int", "uint"])
def test_every_width_of_whole_numbers_is_counted_to_its_ends(sign: str, bits: int) -> None:
    kind: pa.DataType = getattr(pa, f"{sign}{bits}")()
    low, high = (0, 2**bits - 1) if sign == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for batches in (
        [[low, high, high]],
        [[low, low + 1, None]],
        [[low, None, high]],
        [[high], [None], [low, None]],
        [[high - 1, high], [None, high]],
    ):
        expected = Counter(value for batch in batches for value in batch)
        assert counted_by_tally([pa.array(batch, kind) for batch in batches]) == expected


def test_a_batch_of_any_length_fits() -> None:
    batches = [[1] * length for length in (3, 20, BATCH + 1, 2)]
    assert counted_by_tally([pa.array(one, pa.int32()) for one in batches]) == {1: BATCH + 26}


def test_texts_whose_dictionaries_differ_from_batch_to_batch() -> None:
    batches: list[list[str | None]] = [["b", "a"], ["a", None], ["a", ""], ["b", "c", "c"]]
    expected = {"a": 3, "b": 2, "c": 2, None: 2}
    assert counted_by_tally([pa.array(one) for one in batches]) == expected
    coded = [pa.array(one).dictionary_encode() for one in batches]
    assert counted_by_tally(coded) == expected


def test_32_columns_are_counted_together_and_one_more_is_not() -> None:
    for number, expected in ((32, "in-process"), (33, "duckdb")):
        nothing = pa.table({f"c{i}": pa.nulls(3, pa.int64()) for i in range(number)})
        countings = {"cells": range(number), "people": [0]}
        engine = connect(nothing, nothing.column_names, countings)
        assert engine.name == expected
        assert engine.query(f"SELECT n FROM {engine.counts['people']}") == [(3,)]
        engine.close()


@pytest.mark.parametrize(
    ("threads", "row_group_size", "expected"),
    [(2, 10, [2]), (1, 10, []), (7, 100, []), (7, 34, [3])],
)
def test_no_more_threads_than_allowed_or_than_parts(
    threads: int,
    row_group_size: int,
    expected: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One after the other, the first thread takes all parts: the others count nothing."""
    started = []

    class OneAfterTheOther:
        def __init__(self, workers: int) -> None:
            started.append(workers)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None: ...

        def map(self, work: Any, tallies: Any) -> Any:
            return map(work, tallies)

    monkeypatch.setattr("indiff.engines.in_process.ThreadPoolExecutor", OneAfterTheOther)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [*range(100)]}), path, row_group_size=row_group_size)
    engine = connect(
        path, ["a"], {"cells": [0]}, engine="in-process", resources=Resources(threads=threads)
    )
    assert engine.query(f"SELECT COUNT(*), SUM(n) FROM {engine.counts['cells']}") == [(100, 100)]
    engine.close()
    assert started == expected


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_nan_is_missing_and_minus_zero_is_zero_however_they_are_stored(
    engine: Any, coded: bool
) -> None:
    """A column with a dictionary brings its own values, NaN and -0 among them."""
    nan = float("nan")
    column = pa.array([nan, -0.0, 0.0, None] * 2)
    if coded:
        column = pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 2, None] * 2), pa.array([nan, -0.0, 0.0])
        )
    frame = pa.table({"x": column, "ill": ["a", "b"] * 4})
    found = indiff.measure_risk(frame, quasi=["x"], sensitive="ill", engine=engine)
    assert (found.groups.k, found.groups.groups) == (4, 2)


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_a_weight_that_no_float_holds_is_no_number_of_people(engine: Any) -> None:
    frame = pa.table({"a": [1, 1, 2], "w": [3, 4, 2**60 + 1]})
    with pytest.raises(indiff.UserError, match="a positive number of people; got 1 records"):
        indiff.measure_risk(frame, quasi=["a"], weight="w", engine=engine)


def test_rows_of_households_are_kept_however_many_combinations_they_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are not counted, so no table of all combinations is made for them."""
    monkeypatch.setattr("indiff.engines.tally.MOST_COMBINATIONS", 4)
    frame = pa.table({"a": [1, 1, 1], "h": [1, 2, 3]})
    countings = {"cells": [0], "households": [0, 1]}
    made: Any = connect(frame, ["a", "h"], countings, engine="in-process")
    assert list(made.counts) == ["cells", "households"]
    assert len(made.counts) == 2
    assert made.query(f"SELECT COUNT(*) FROM {made.counts['households']}") == [(3,)]
    made.close()


def test_threads_that_saw_different_values_add_their_weights() -> None:
    """The second has met more values than the first, which has no room for them."""
    coders = [Coder([""]), Coder([""])]
    few, many = (Tally(coders, [[0]], weighed=(0, 1)) for _ in range(2))
    few.add([pa.array(["a", "a"]), pa.array([1.0, 2.0])])
    many.add([pa.array(["b", "c", "a", "c"]), pa.array([4.0, 8.0, 16.0, None])])
    labels = [str(value) for value in coders[0].values().to_pylist()]
    counts, sums = Tally.total([few, many], 0), Tally.sums([few, many], 0)
    by_value = {
        label: (int(counts[at]), float(sums["w"][at]), int(sums["unweighted"][at]))
        for at, label in enumerate(labels)
    }
    assert {label: by_value[label] for label in "abc"} == {
        "a": (3, 19.0, 0), "b": (1, 4.0, 0), "c": (2, 8.0, 1),
    }  # fmt: skip
    assert Tally.sums([few, many], 1) == {}
