"""Which columns of text are numbers and dates, and which stay as they are written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.reading.door import read_raw
from indiff.data.reading.kinds import typed, without_missing
from indiff.errors import UserError
from tests.data.reading.helpers import columns_of, raw_of


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        (["0", "-7", "9223372036854775807"], pa.int64(), [0, -7, 2**63 - 1]),
        ([" 5", "6\t"], pa.int64(), [5, 6]),
        (["-0", "1"], pa.int64(), [0, 1]),
        (["0.5", "1", "-.25", "1e-3", "2.", "0"], pa.float64(), [0.5, 1.0, -0.25, 0.001, 2.0, 0.0]),
        (["2020-02-29", " 1999-12-31"], pa.date32(), [dt.date(2020, 2, 29), dt.date(1999, 12, 31)]),
        (["true", "false"], pa.string(), ["true", "false"]),
        (["9223372036854775808", "1"], pa.string(), ["9223372036854775808", "1"]),
        (["01234", "4321"], pa.string(), ["01234", "4321"]),
        (["-01", "1"], pa.string(), ["-01", "1"]),
        (["00.5", "1"], pa.string(), ["00.5", "1"]),
        (["00", "1"], pa.string(), ["00", "1"]),
        (["0x1F", "1"], pa.string(), ["0x1F", "1"]),
        (["+49", "1"], pa.string(), ["+49", "1"]),
        (["inf", "1"], pa.string(), ["inf", "1"]),
        (["nan", "1.5"], pa.string(), ["nan", "1.5"]),
        (["1e999", "1.5"], pa.string(), ["1e999", "1.5"]),
        (["9007199254740993", "0.5"], pa.string(), ["9007199254740993", "0.5"]),
        (["2020-02-30", "2020-01-01"], pa.string(), ["2020-02-30", "2020-01-01"]),
        (["0000-01-01"], pa.string(), ["0000-01-01"]),
        (["2020-1-1"], pa.string(), ["2020-1-1"]),
        (["2020-01-01 00:00:00"], pa.string(), ["2020-01-01 00:00:00"]),
        (["1_000", "١٢"], pa.string(), ["1_000", "١٢"]),
        (["1 000", "5"], pa.string(), ["1 000", "5"]),
        ([" a ", "b"], pa.string(), [" a ", "b"]),
        (["-", "."], pa.string(), ["-", "."]),
        (["1e", "e5"], pa.string(), ["1e", "e5"]),
    ],
)
def test_types_of_text(tmp_path: Path, cells: list[str], kind: pa.DataType, expected: Any) -> None:
    for missing in (False, True):
        body = "".join(f"{cell},x\n" for cell in cells) + (",x\n" if missing else "")
        frame = raw_of(tmp_path, "v,w\n" + body).frame
        assert frame["v"].type == kind
        assert frame["v"].to_pylist() == expected + [None] * missing


def test_negative_zero_is_zero(tmp_path: Path) -> None:
    values = columns_of(tmp_path, "v\n-0.0\n0.5\n")["v"]
    assert str(values[0]) == "0.0"


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["01234", "9"], "column 'v' has leading zeros (first in record 0): kept as text"),
        (["9223372036854775808"], "column 'v' has integers beyond 64 bits: kept as text"),
        (["1e999"], "column 'v' has numbers too large for a float: kept as text"),
        (
            ["9007199254740993", "0.5"],
            "column 'v' mixes decimals with integers that a float cannot hold "
            "(first in record 0): kept as text",
        ),
        (["2020-02-30"], "column 'v' has dates that are not in the calendar: kept as text"),
        (["0000-01-01"], "column 'v' has years 0000 (first in record 0): kept as text"),
        (
            ["1", "2", "n/a"],
            "column 'v' is kept as text: 2 of its 3 values are numbers, others not "
            "(first in record 2)",
        ),
        ([" a", "b"], "column 'v' has blanks around values (first in record 0): kept"),
    ],
)
def test_what_was_decided_is_noted(tmp_path: Path, cells: list[str], note: str) -> None:
    assert raw_of(tmp_path, "v\n" + "\n".join(cells)).notes == (note,)


@pytest.mark.parametrize(
    "cells",
    [
        ["0.12345678901234567891", "0.12345678901234567892"],
        ["9007199254740993.0", "9007199254740992.0"],
        ["1e-400", "0"],
        ["1e-99999999999999999999", "0"],
    ],
)
def test_different_numbers_never_become_one(tmp_path: Path, cells: list[str]) -> None:
    raw = raw_of(tmp_path, "v\n" + "\n".join(cells))
    assert raw.frame["v"].to_pylist() == cells
    assert raw.notes == ("column 'v' has numbers that a float cannot tell apart: kept as text",)


def test_one_number_written_in_several_ways_is_one(tmp_path: Path) -> None:
    cells = ["0.5", "0.500000000000000000000", "5e-1", "-0.0", "0"]
    assert columns_of(tmp_path, "v\n" + "\n".join(cells)) == {"v": [0.5, 0.5, 0.5, 0, 0]}


def test_ordinary_columns_need_no_note(tmp_path: Path) -> None:
    assert raw_of(tmp_path, "a,b,c,d\n1,0.5,2020-01-01,x\n,,,\n").notes == ()


def test_missing_tokens(tmp_path: Path) -> None:
    text = "a,b,c\n1,?,x\n ?,nan,\n3,2.5,NA\n"
    expected = {"a": [1, None, 3], "b": [None, None, 2.5], "c": ["x", "", None]}
    assert columns_of(tmp_path, text, missing_tokens=["?", "nan", "NA"]) == expected
    assert columns_of(tmp_path, "a\nx\n\n", missing_tokens=[]) == {"a": ["x", ""]}
    assert columns_of(tmp_path, "a,b\n01,1\n2,1\n", missing_tokens=["01"])["a"] == [None, 2]
    with pytest.raises(UserError, match=r"missing_tokens must be a list of texts; got '\?': write"):
        read_raw(pa.table({"a": [1]}), missing_tokens="?")
    with pytest.raises(UserError, match=r"missing_tokens must be a list of texts; got \[9\]"):
        read_raw(pa.table({"a": [1]}), missing_tokens=[9])  # type: ignore[list-item]


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_integers_are_exact(values: list[int | None]) -> None:
    text = pa.chunked_array([["" if value is None else str(value) for value in values]])
    column, _ = typed("v", without_missing(text, [""]))
    assert column.to_pylist() == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_are_exact(values: list[float]) -> None:
    column, _ = typed("v", pa.chunked_array([[repr(value) for value in values]]))
    assert column.to_pylist() == values
