"""Which columns of text are numbers and dates, and which stay as they are written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.reading.door import read_raw, typed
from indiff.data.reading.input_files import Reading
from indiff.data.reading.kinds import without_missing
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
        (["2020-1-1"], pa.date32(), [dt.date(2020, 1, 1)]),
        (["2020-01-01 00:00:00"], pa.date32(), [dt.date(2020, 1, 1)]),
        (["2020-01-01 08:15:00"], pa.string(), ["2020-01-01 08:15:00"]),
        (["29/07/1953", "4/7/1976"], pa.date32(), [dt.date(1953, 7, 29), dt.date(1976, 7, 4)]),
        (["29/07/1953", "7/29/1953"], pa.string(), ["29/07/1953", "7/29/1953"]),
        (["29/07/1953", "4.7.1976"], pa.string(), ["29/07/1953", "4.7.1976"]),
        (["31.06.1953", "4.7.1976"], pa.string(), ["31.06.1953", "4.7.1976"]),
        (["04.04.1976"], pa.date32(), [dt.date(1976, 4, 4)]),
        (["1,65", "2"], pa.float64(), [1.65, 2.0]),
        (["1,65", "1.65"], pa.string(), ["1,65", "1.65"]),
        (["1.234,5", "12"], pa.float64(), [1234.5, 12.0]),
        (["1,234.5", "12"], pa.float64(), [1234.5, 12.0]),
        (["1'234.5", "12"], pa.float64(), [1234.5, 12.0]),
        (["1.234.567", "1.234"], pa.int64(), [1234567, 1234]),
        (["1.234", "12345"], pa.float64(), [1.234, 12345.0]),
        (["1.234", "0.125"], pa.float64(), [1.234, 0.125]),
        (["1.234", "1234"], pa.string(), ["1.234", "1234"]),
        (["110 00", "5"], pa.string(), ["110 00", "5"]),
        (["012 345", "5"], pa.string(), ["012 345", "5"]),
        (["1_000", "١٢"], pa.string(), ["1_000", "١٢"]),
        (["1 000", "5"], pa.int64(), [1000, 5]),
        ([" a ", "b"], pa.string(), [" a ", "b"]),
        (["-", "."], pa.string(), ["-", "."]),
        (["1e", "e5"], pa.string(), ["1e", "e5"]),
    ],
)
def test_types_of_text(tmp_path: Path, cells: list[str], kind: pa.DataType, expected: Any) -> None:
    for missing in (False, True):
        body = "".join(f"{cell};x\n" for cell in cells) + (";x\n" if missing else "")
        frame = raw_of(tmp_path, "v;w\n" + body).frame
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
            ["1", "2", "high"],
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
    with pytest.raises(
        UserError, match=r"missing_tokens= must be a list of texts; got '\?': write"
    ):
        read_raw(pa.table({"a": [1]}), missing_tokens="?")
    with pytest.raises(UserError, match=r"missing_tokens= must be a list of texts; got \[9\]"):
        read_raw(pa.table({"a": [1]}), missing_tokens=[9])


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_integers_are_exact(values: list[int | None]) -> None:
    text = pa.chunked_array([["" if value is None else str(value) for value in values]])
    assert typed("v", without_missing(text, [""])).values.to_pylist() == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_are_exact(values: list[float]) -> None:
    text = pa.chunked_array([[repr(value) for value in values]])
    assert typed("v", text, Reading(decimal=".")).values.to_pylist() == values


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1,65", "2"], "numbers with a comma before the fraction: 1 of its 2 values"),
        (["1 234", "2"], "numbers with a blank between thousands: 1 of its 2 values"),
        (["29/07/1953", "1/1/1990"], "dates (%d/%m/%Y): all of its 2 values are, 1 of them with a"),
        (["04-Jul-1976", "x", "1-May-1980"], "2 of its 3 values are dates, others not"),
        (["name", "1", "2"], "where record 0 is the header, give header_row=2"),
    ],
)
def test_how_values_are_written_is_noted(tmp_path: Path, cells: list[str], words: str) -> None:
    raw = raw_of(tmp_path, "v;w\n" + "".join(f"{cell};x\n" for cell in cells))
    assert words in " ".join(raw.notes)
    assert not any(cell in " ".join(raw.notes) for cell in cells if len(cell) > 4)


def test_what_can_be_read_in_two_ways_is_asked(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "a;b;c\n1.234;04/07/1976;x\n2.500;05/06/1980;y\n")
    assert "decimal='.' where a fraction follows a point" in str(raw.questions["a"])
    assert "date_format={'b': '%d/%m/%Y'} where the day comes first" in str(raw.questions["b"])
    assert raw.frame["a"].to_pylist() == ["1.234", "2.500"]


def test_other_columns_tell_the_decimal_sign(tmp_path: Path) -> None:
    commas = "a;b\n1.234;0,5\n2.500;1,25\n"
    assert columns_of(tmp_path, commas) == {"a": [1234, 2500], "b": [0.5, 1.25]}
    assert columns_of(tmp_path, commas.replace(",", "."))["a"] == [1.234, 2.5]


def test_formats_that_are_given(tmp_path: Path) -> None:
    text = "a;b\n1.234;04/07/1976\n2.500;05/06/1980\n"
    days = [dt.date(1976, 4, 7), dt.date(1980, 5, 6)]
    assert columns_of(tmp_path, text, decimal=",", date_format="%m/%d/%Y") == {
        "a": [1234, 2500],
        "b": days,
    }
    assert columns_of(tmp_path, text, decimal=".")["a"] == [1.234, 2.5]
    frame = pa.table({"a": ["1,5", "2"], "b": [27945, 28000], "c": ["4.7.1976", "x"]})
    told = read_raw(frame, decimal=",", date_format={"b": "excel"}).frame.to_pydict()
    assert told["a"] == [1.5, 2.0]
    assert told["b"][0] == dt.date(1976, 7, 4)
    for wrong, words in (
        ({"decimal": ";"}, "decimal must be"),
        ({"date_format": "%d.%m.%y"}, "century"),
        ({"date_format": "day"}, "date_format= must have"),
        ({"date_format": {"c": "%d.%m.%Y"}}, "in record 1"),
        ({"date_format": {"z": "%d.%m.%Y"}}, "no column 'z'"),
        ({"header_row": 2}, "header_row is for text files and workbooks"),
    ):
        with pytest.raises(UserError, match=words):
            read_raw(frame, **wrong)


@pytest.mark.parametrize("told", ["%d.%m.%Y", "%Y%%%b%d", "%B %d, %Y", "excel"])
def test_a_date_format_has_a_day_a_month_and_a_year(told: str) -> None:
    Reading(date_format=told)


@pytest.mark.parametrize(
    "told",
    [
        *("%Y-%m-%d\n%Y-%m-%d", "%d.%m.%Y %b", "%d.%m.%Y %d", "%d.%m", "%m/%Y", "%d %Y"),
        *("%d.%m.%Y %H", "%d.%m.%Y %", "%d.%m.%Y %\n", "%%d.%m.%Y", "", 7),
    ],
)
def test_a_date_format_has_each_of_them_once(told: Any) -> None:
    with pytest.raises(UserError, match="each once") as refused:
        Reading(date_format={"born": told})
    assert repr(told) in str(refused.value)


def test_excel_counts_a_day_that_never_was() -> None:
    frame = pa.table({"day": [1, 59, 61]})
    days = read_raw(frame, date_format={"day": "excel"}).frame["day"].to_pylist()
    assert days == [dt.date(1900, 1, 1), dt.date(1900, 2, 28), dt.date(1900, 3, 1)]
    with pytest.raises(UserError, match="must be a date"):
        read_raw(pa.table({"day": [60]}), date_format={"day": "excel"})
