"""The original, a synthetic file and held-out records are coded alike, whatever they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from indiff import UserError, read_table
from indiff.differential.synthetic.pool import make_pool

FRAME = pa.table({
    "age": [20, 30, None, 60], "size": ["S", "M", "L", "M"], "job": ["a", "b", None, "a"],
    "born": pa.array(["2001-01-01", "1999-05-06", "1950-12-31", "1970-01-01"]).cast(pa.date32()),
    "ill": ["no", "yes", "no", "yes"],
})  # fmt: skip
TABLE = read_table(FRAME, quasi=["age", "size", "job", "born"], sensitive="ill",
                   orders={"size": ["S", "M", "L"]}, missing="split")  # fmt: skip


def test_equal_rows_are_equal_in_all_three_and_others_are_not() -> None:
    synthetic = FRAME.take(pa.array([2, 0, 0]))
    changed = FRAME.set_column(4, "ill", pa.array(["yes", "yes", "no", "yes"]))
    pool = make_pool(TABLE, synthetic, changed, None)
    assert pool.held_out is not None
    assert pool.synthetic.whole.tolist() == pool.original.whole[[2, 0, 0]].tolist()
    assert (pool.held_out.quasi == pool.original.quasi).all()
    assert (pool.held_out.whole == pool.original.whole).tolist() == [False, True, True, True]


def test_scales_are_those_of_the_original() -> None:
    other = FRAME.set_column(0, "age", pa.array([100, 20, 40, 60]))
    pool = make_pool(TABLE, other, None, None)
    age, size, _ = pool.synthetic.numbers.T
    assert age.tolist() == [2.0, 0.0, 0.5, 1.0]
    assert size.tolist() == [0.0, 0.5, 1.0, 0.5]
    assert pool.held_out is None


def test_values_that_the_original_lacks_are_equal_to_none_of_its() -> None:
    other = FRAME.set_column(2, "job", pa.array(["z", "b", "z", "a"]))
    other = other.set_column(4, "ill", pa.array(["no", "perhaps", "no", "yes"]))
    pool = make_pool(TABLE, other, None, None)
    assert np.isin(pool.synthetic.whole, pool.original.whole).tolist() == [
        False, False, False, True,
    ]  # fmt: skip
    assert pool.synthetic.classes.tolist() == [0, 2, 0, 1]


def test_a_file_of_text_is_read_like_the_original(tmp_path: Path) -> None:
    (tmp_path / "original.csv").write_text("zip,age,ill\n01234,20,no\n99999,30,yes\n01236,,no\n")
    (tmp_path / "synthetic.csv").write_text("zip,age,ill,more\n99999,30,yes,1\n98765,,no,2\n")
    table = read_table(str(tmp_path / "original.csv"), quasi=["zip", "age"], sensitive="ill",
                       missing="split")  # fmt: skip
    pool = make_pool(table, tmp_path / "synthetic.csv", None, None)
    assert np.isin(pool.synthetic.whole, pool.original.whole).tolist() == [True, False]
    assert pool.name == "synthetic.csv"
    assert [one.name for one in pool.unmeasured] == ["more"]


def test_an_identifier_in_the_file_is_seen() -> None:
    frame = FRAME.append_column("name", pa.array(["w", "x", "y", "z"]))
    table = read_table(frame, quasi=["age", "job"], sensitive="ill", identifier="name",
                       missing="split")  # fmt: skip
    pool = make_pool(table, frame.select(["age", "job", "ill", "name"]), None, None)
    assert [one.names_people for one in pool.unmeasured] == [True]


@pytest.mark.parametrize(
    ("column", "told"),
    [(["20-29"] * 4, "'age' has no numbers"), (None, "no column of the synthetic file 'age'")],
)
def test_what_cannot_be_compared_is_refused(column: list[str] | None, told: str) -> None:
    frame = FRAME.drop_columns(["age"])
    if column is not None:
        frame = frame.append_column("age", pa.array(column))
    with pytest.raises(UserError, match=told):
        make_pool(TABLE, frame, None, None)
