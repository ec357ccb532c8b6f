"""Arrow columns of any type as one of five, and the names of columns."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.reading.door import Raw, read_raw
from tests.data.reading.test_frames import DAY, error_of


def one(values: Any) -> Raw:
    return read_raw(pa.table({"v": values}))


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (pa.array([1, 255], pa.uint8()), pa.int64(), [1, 255]),
        (pa.array([2**63], pa.uint64()), pa.string(), ["9223372036854775808"]),
        (pa.array([2**63 - 1], pa.uint64()), pa.int64(), [2**63 - 1]),
        (pa.array([0.5, None], pa.float32()), pa.float64(), [0.5, None]),
        (pa.array(np.array([0.5, np.nan], np.float16)), pa.float64(), [0.5, None]),
        (pa.array([float("nan"), 1.0]), pa.float64(), [None, 1.0]),
        (pa.array(["a", "é"], pa.large_string()), pa.string(), ["a", "é"]),
        (pa.array(["a", "é"], pa.string_view()), pa.string(), ["a", "é"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), pa.string(), ["a", "b", "a"]),
        (pa.array([5, None, 5]).dictionary_encode(), pa.int64(), [5, None, 5]),
        (pa.array([None, None]), pa.string(), [None, None]),
        (pa.array(["01", "2"]), pa.string(), ["01", "2"]),
        (pa.array(["1", "2"]), pa.string(), ["1", "2"]),
        (pa.array([DAY], pa.date64()), pa.date32(), [DAY]),
        (pa.array([dt.datetime(2020, 2, 29)], pa.timestamp("ns")), pa.date32(), [DAY]),
        (
            pa.array([dt.datetime(1950, 1, 1)], pa.timestamp("s")),
            pa.date32(),
            [dt.date(1950, 1, 1)],
        ),
        (
            # midnight in Paris is 23:00 of the day before in Greenwich
            pa.array([dt.datetime(2020, 2, 28, 23)], pa.timestamp("us")).cast(
                pa.timestamp("us", "Europe/Paris")
            ),
            pa.date32(),
            [DAY],
        ),
        (pa.array([decimal.Decimal("5.00"), None]), pa.int64(), [5, None]),
        (pa.array([decimal.Decimal("5.25")]), pa.float64(), [5.25]),
        (
            pa.array([decimal.Decimal("0.12345678901234567890")]),
            pa.string(),
            ["0.12345678901234567890"],
        ),
    ],
)
def test_arrow_types(values: pa.Array, kind: pa.DataType, expected: list[Any]) -> None:
    frame = one(values).frame
    assert frame["v"].type == kind
    assert frame["v"].to_pylist() == expected


def test_missing_tokens_hold_in_frames_too() -> None:
    frame = pa.table({"n": [-9, 5], "x": [-9.0, 0.5], "w": [" ? ", "y"], "d": ["", "z"]})
    read = read_raw(frame, missing_tokens=["-9", "?"]).frame
    assert read.to_pydict() == {"n": [None, 5], "x": [None, 0.5], "w": [None, "y"], "d": ["", "z"]}
    assert read_raw(frame).frame["d"].to_pylist() == [None, "z"]


def test_negative_zero_is_zero() -> None:
    assert str(one([-0.0]).frame["v"][0].as_py()) == "0.0"


def test_column_names_lose_the_blanks_around_them() -> None:
    raw = read_raw(pa.table({" age ": [1]}))
    assert raw.frame.column_names == ["age"]
    assert raw.notes == ("column ' age ' is called 'age': blanks around a name are removed",)


def test_names_that_differ_in_case_are_two_columns() -> None:
    assert read_raw(pa.table({"age": [1], "Age": [2]})).frame.to_pydict() == {
        "age": [1],
        "Age": [2],
    }


@given(st.lists(st.floats(width=64), min_size=1))
def test_nan_is_null_and_other_floats_are_kept(values: list[float]) -> None:
    if any(value in (float("inf"), float("-inf")) for value in values):
        assert "numbers must be finite; column 'v' has " in error_of(pa.table({"v": values}))
        return
    expected = [None if value != value else value for value in values]
    assert one(values).frame["v"].to_pylist() == expected
    assert read_raw(pd.DataFrame({"v": values})).frame["v"].to_pylist() == expected
    assert read_raw(pl.DataFrame({"v": values})).frame["v"].to_pylist() == expected


def test_arrow_ordered_dictionary() -> None:
    values = pa.DictionaryArray.from_arrays(
        pa.array([1, 0]), pa.array(["low", "high"]), ordered=True
    )
    raw = one(values)
    assert raw.orders == {"v": ("low", "high")}
    assert raw.frame["v"].to_pylist() == ["high", "low"]
    other = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["high", "low"]), ordered=True)
    assert "an ordered column must have one order; the parts of column 'v'" in error_of(
        pa.table({"v": pa.chunked_array([values, other])})
    )


def test_a_missing_token_has_no_place_in_an_order() -> None:
    column = pd.Categorical(["?", "a", "b"], ["a", "b", "?"], ordered=True)
    raw = read_raw(pd.DataFrame({"v": column}), missing_tokens=["?"])
    assert raw.orders == {"v": ("a", "b")}
    assert raw.frame["v"].to_pylist() == [None, "a", "b"]
    enum = pl.DataFrame({"v": pl.Series(["?", "a"], dtype=pl.Enum(["a", "?"]))})
    raw = read_raw(enum, missing_tokens=["?"])
    assert (raw.orders, raw.frame["v"].to_pylist()) == ({"v": ("a",)}, [None, "a"])


@given(st.lists(st.decimals(-(10**6), 10**6, places=5), min_size=1))
def test_decimals_are_the_floats_that_are_written_like_them(values: list[decimal.Decimal]) -> None:
    for kind in (pa.decimal128(20, 5), pa.decimal256(50, 5)):
        raw = read_raw(pa.table({"v": pa.array(values, kind)}))
        assert raw.frame["v"].to_pylist() == [float(value) for value in values]


@given(st.lists(st.floats(width=32, allow_infinity=False), min_size=1))
def test_floats_of_32_bits_are_the_numbers_that_are_written(values: list[float]) -> None:
    column = pa.array(values, pa.float32())
    read = read_raw(pa.table({"v": column})).frame["v"].to_pylist()
    written = [None if np.isnan(value) else float(str(np.float32(value))) for value in values]
    assert read == written
    assert read_raw(pa.table({"v": pa.array([0.1], pa.float32())})).frame["v"].to_pylist() == [0.1]


@pytest.mark.parametrize("token", ["-9", "-9.0", " -9.00", "-0.9e1"])
def test_a_number_is_a_token_however_the_token_is_written(token: str) -> None:
    frame = pa.table({"f": [1.5, -9.0], "n": [7, -9], "big": [2**62, -9]})
    read = read_raw(frame, missing_tokens=[token, "?"]).frame
    assert read.to_pydict() == {"f": [1.5, None], "n": [7, None], "big": [2**62, None]}


def test_decimals_of_any_size() -> None:
    def objects(*texts: str) -> Any:
        return pd.DataFrame({"v": [decimal.Decimal(text) for text in texts]}, dtype=object)

    assert "has Infinity in record 1: replace it" in error_of(objects("1", "Infinity"))
    raw = read_raw(objects("1e60", "1e-40", "-0", "0.0", "1000e57"))
    one, small = "1" + "0" * 60, "0." + "0" * 39 + "1"
    assert raw.frame["v"].to_pylist() == [one, small, "0", "0", one]
    assert raw.notes == ("column 'v' has decimals of too many digits: kept as text",)
