"""What is sorted in process: too many combinations for an array, in few enough rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff.engines.protocol import Resources, connect
from indiff.engines.tally import MOST_VALUES, Coder, NotCountedHere, Tally


def many(rows: int = 3_000, columns: int = 2) -> pa.Table:
    """Return a table with more possible combinations than an array may have."""
    return pa.table({f"q{place}": np.arange(rows) for place in range(columns)})


def counts_here(table: Any, names: list[str], **options: Any) -> bool:
    """Tell whether a table of these columns is counted in process."""
    made = connect(table, names, {"cells": list(range(len(names)))}, **options)
    made.close()
    return made.name == "in-process"


def test_what_is_sorted_is_little_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["q0", "q1"]
    assert counts_here(many(), names)
    assert not counts_here(many(), names, resources=Resources(memory_limit="1GB"))
    assert not counts_here(many(), names, weight=1), "sums of weights are kept in arrays"
    everybody = {"cells": [0, 1], "people": [0, 1]}
    with pytest.raises(NotCountedHere, match="8,388,608 rows of columns with at most 65,536"):
        connect(many(), names, everybody, engine="in-process")
    # 3,000 values and the missing one take 12 bits: five columns have room, six do not.
    assert counts_here(many(columns=5), [f"q{place}" for place in range(5)])
    assert not counts_here(many(columns=6), [f"q{place}" for place in range(6)])
    # Seven values and the missing one take three more, which is all there is; eight take four.
    for values, fits in ((7, True), (8, False)):
        few = pa.array(np.arange(3_000) % values)
        table = many(columns=5).append_column("few", few)
        assert counts_here(table, table.column_names) is fits
    monkeypatch.setattr("indiff.engines.in_process.MOST_SORTED", 3_000)
    assert counts_here(many(), names)
    monkeypatch.setattr("indiff.engines.in_process.MOST_SORTED", 2_999)
    assert not counts_here(many(), names)


def test_the_missing_value_is_one_of_those_that_a_column_may_have() -> None:
    assert counts_here(many(MOST_VALUES - 1), ["q0", "q1"])
    assert not counts_here(many(MOST_VALUES), ["q0", "q1"])


def test_a_column_that_differs_in_nearly_every_row_is_seen_in_the_first_rows() -> None:
    """Of its values, which Python would have to learn, no more are looked at than those."""
    learned = []
    with pytest.MonkeyPatch.context() as patch:
        own = Coder._learn

        def learn(self: Coder, value: Any) -> int:
            learned.append(value)
            return own(self, value)

        patch.setattr(Coder, "_learn", learn)
        assert not counts_here(many(MOST_VALUES + 1), ["q0", "q1"])
    assert len(learned) <= 2 * 4096
    few = many(MOST_VALUES + 1)
    few = few.set_column(0, "q0", pa.array(np.arange(MOST_VALUES + 1) % 2_000))
    few = few.set_column(1, "q1", pa.array(np.arange(MOST_VALUES + 1) % 2_001))
    assert counts_here(few, ["q0", "q1"]), "2,001 values and the missing one"
    one = many(MOST_VALUES + 1).set_column(1, "q1", pa.array(np.arange(MOST_VALUES + 1) % 100))
    assert not counts_here(one, ["q0", "q1"]), "one column of many values is one too many"


def tallies_that_met_different_values(most_sorted: int) -> list[Tally]:
    """Return what two threads counted, each of which looked at a column before the other did."""
    one, other, third = (Coder([""]) for _ in range(3))
    numbers, nothing = pa.array(range(2_000)), pa.nulls(2_000, pa.int64())
    made = []
    for coders, columns in (
        ([one, other, third], [nothing, nothing, nothing]),
        ([one, other, Coder([""])], [numbers, numbers, nothing]),
        ([one, Coder([""]), third], [numbers, nothing, numbers]),
    ):
        made.append(Tally(coders, [[0, 1, 2]], most_sorted=most_sorted))
        made[-1].add(columns)
    return made


def test_threads_with_room_each_need_none_for_all_their_values_together() -> None:
    """An array of 2,001³ counts would take 64 GB."""
    found = Tally.combinations(tallies_that_met_different_values(MOST_VALUES), 0)
    codes = [found.codes(place).tolist() for place in range(3)]
    each = range(1, 2_001)
    expected = [(0, 0, 0), *((at, 0, at) for at in each), *((at, at, 0) for at in each)]
    assert list(zip(*codes, strict=True)) == sorted(expected)
    assert found.n.tolist() == [2_000, *[1] * 4_000]


def test_threads_whose_values_have_no_room_together_leave_them_to_duckdb() -> None:
    apart = tallies_that_met_different_values(0)
    for ask in (Tally.combinations, Tally.total):
        with pytest.raises(NotCountedHere, match="these columns have 8,012,006,001 combinations"):
            ask(apart, 0)
