"""Frames: the same table whichever library it comes from, and orders that were declared."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.reading.door import Raw, read_raw
from indiff.errors import UserError

DAY = dt.date(2020, 2, 29)
COLUMNS: dict[str, list[Any]] = {
    "n": [1, 2, None],
    "x": [0.5, None, -1.0],
    "word": ["a", None, " b "],
    "day": [DAY, None, dt.date(1950, 1, 1)],
    "yes": [True, None, False],
}
TYPES = [pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.bool_()]


def _pandas() -> pd.DataFrame:
    frame = pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype)
    return frame.set_index(pd.Index(["row", "labels", "ignored"]))


def _pandas_numpy() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "n": pd.array([1, 2, None], dtype="Int64"),
            "x": np.array([0.5, np.nan, -1.0]),
            "word": ["a", None, " b "],
            "day": pd.to_datetime(["2020-02-29", None, "1950-01-01"]),
            "yes": pd.Series([True, None, False], dtype=object),
        }
    )


@pytest.mark.parametrize(
    ("make", "backend"),
    [
        (lambda: pa.table(COLUMNS), "pyarrow"),
        (lambda: pa.RecordBatch.from_pydict(COLUMNS), "pyarrow"),
        (lambda: pa.table(COLUMNS).to_reader(), "pyarrow"),
        (lambda: nw.from_native(pa.table(COLUMNS)), "pyarrow"),
        (_pandas, "pandas"),
        (_pandas_numpy, "pandas"),
        (lambda: nw.from_native(_pandas()), "pandas"),
        (lambda: pl.DataFrame(COLUMNS), "polars"),
        (lambda: pl.DataFrame(COLUMNS).lazy(), "polars"),
    ],
)
def test_every_library_gives_the_same_table(make: Callable[[], Any], backend: str) -> None:
    raw = read_raw(make())
    assert raw.frame.to_pydict() == COLUMNS
    assert raw.frame.schema.types == TYPES
    assert (raw.backend, dict(raw.orders), raw.notes) == (backend, {}, ())


def one(values: Any) -> Raw:
    return read_raw(pa.table({"v": values}))


def error_of(frame: Any, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_raw(frame, **options)
    assert str(caught.value).endswith(".")
    return str(caught.value)


# --- types


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


# --- declared orders


def test_polars_enum_declares_an_order() -> None:
    column = pl.Series("size", ["S", "L", None, "L"], dtype=pl.Enum(["S", "M", "L"]))
    for frame in (pl.DataFrame([column]), pl.LazyFrame([column])):
        raw = read_raw(frame)
        assert raw.orders == {"size": ("S", "M", "L")}
        assert raw.frame["size"].to_pylist() == ["S", "L", None, "L"]


def test_polars_categorical_declares_none() -> None:
    raw = read_raw(pl.DataFrame({"c": pl.Series(["b", "a", None], dtype=pl.Categorical)}))
    assert raw.orders == {}
    assert raw.frame["c"].to_pylist() == ["b", "a", None]


def test_pandas_categories() -> None:
    raw = read_raw(
        pd.DataFrame(
            {
                "size": pd.Categorical(["S", None, "L"], ["S", "M", "L"], ordered=True),
                "grade": pd.Categorical([2, 1, 2], [3, 2, 1], ordered=True),
                "town": pd.Categorical(["b", "a", None]),
                "code": pd.Categorical([7, None, 8]),
                "band": pd.cut([1, 5, 9], [0, 4, 10]),
                "since": pd.Categorical(pd.to_datetime(["2020-02-29"] * 3), ordered=True),
                "none": pd.Categorical([None, None, None]),
            }
        )
    )
    assert raw.orders == {
        "size": ("S", "M", "L"),
        "grade": ("3", "2", "1"),
        "band": ("(0, 4]", "(4, 10]"),
        "since": ("2020-02-29",),
    }
    assert raw.frame.to_pydict() == {
        "size": ["S", None, "L"],
        "grade": ["2", "1", "2"],
        "town": ["b", "a", None],
        "code": [7, None, 8],
        "band": ["(0, 4]", "(4, 10]", "(4, 10]"],
        "since": ["2020-02-29"] * 3,
        "none": [None] * 3,
    }


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


# --- columns of Python objects


def objects(*values: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": pd.Series(values, dtype=object)})


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["a", None, np.nan, pd.NA, pd.NaT], pa.string(), ["a", None, None, None, None]),
        ([1, np.int64(2), None], pa.int64(), [1, 2, None]),
        ([2**70, 1], pa.string(), [str(2**70), "1"]),
        ([1, 0.5, None], pa.float64(), [1.0, 0.5, None]),
        ([2**53 + 1, 0.5], pa.string(), ["9007199254740993", "0.5"]),
        ([True, np.bool_(False), None], pa.bool_(), [True, False, None]),
        ([DAY, dt.datetime(2020, 2, 29), pd.Timestamp("2020-02-29")], pa.date32(), [DAY] * 3),
        ([decimal.Decimal("1.5"), decimal.Decimal("NaN")], pa.float64(), [1.5, None]),
        (
            [1, 1.0, 2.5, "high", True, DAY, None],
            pa.string(),
            ["1", "1", "2.5", "high", "True", "2020-02-29", None],
        ),
        ([None, None], pa.string(), [None, None]),
    ],
)
def test_objects(values: list[Any], kind: pa.DataType, expected: list[Any]) -> None:
    frame = read_raw(objects(*values)).frame
    assert frame["v"].type == kind
    assert frame["v"].to_pylist() == expected


def test_mixed_objects_are_noted() -> None:
    assert read_raw(objects(1, "high")).notes == (
        "column 'v' mixes integer and text: read as text",
    )


def test_other_pandas_types() -> None:
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray([1, 0, 0]),
            "string": pd.array(["a", None, "b"], dtype="string"),
            "bool": pd.array([True, None, False], dtype="boolean"),
            "tz": pd.to_datetime(["2020-02-29"] * 3).tz_localize("Asia/Tokyo"),
        }
    )
    assert read_raw(frame).frame.to_pydict() == {
        "sparse": [1, 0, 0],
        "string": ["a", None, "b"],
        "bool": [True, None, False],
        "tz": [DAY] * 3,
    }


def test_the_frame_is_left_as_it_was() -> None:
    frame = objects(1, "high", None)
    frame["c"] = pd.Categorical(["?", "a", "?"])
    copy = frame.copy(deep=True)
    read_raw(frame, missing_tokens=["?"])
    pd.testing.assert_frame_equal(frame, copy)


# --- bad input


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pa.table({}), "a table needs at least one column; the frame has none"),
        (
            pa.table({"a": pa.array([], pa.int64())}),
            "at least one record; the frame has none: add rows.",
        ),
        (pd.DataFrame({"a": []}), "at least one record; the frame has none: add rows."),
        (pl.DataFrame({"a": []}), "at least one record; the frame has none: add rows."),
        (
            pa.table([[1], [2]], names=["a", "a"]),
            "the frame has two columns called 'a' (columns 1 and 2)",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a "]), "the frame has two columns called 'a'"),
        (pd.DataFrame([[1, 2]]), "column 1 of the frame is called 0: rename it, in pandas with"),
        (
            pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)),
            "column names must be valid Unicode; column 1",
        ),
        (pl.DataFrame({" ": [1]}), "column 1 of the frame has none"),
        (
            {"a": [1]},
            "must be a path or a frame of pandas, Polars or PyArrow; got a dict: make it a frame",
        ),
        (None, "got a NoneType"),
        (np.zeros((2, 2)), "got a ndarray"),
        (pl.Series("a", [1]), "got a Series"),
        (pd.Series([1]), "got a Series"),
        (pa.array([1]), "got a Int64Array"),
        (pa.table({"v": [[1], [2]]}), "column 'v' is of type list<item: int64>: cast it to text"),
        (pl.DataFrame({"v": [{"a": 1}]}), "column 'v' is of type struct<a: int64>"),
        (pa.table({"v": [b"x"]}), "column 'v' is of type binary"),
        (pa.table({"v": [dt.time(1)]}), "column 'v' is of type time64[us]"),
        (pa.table({"v": [dt.timedelta(1)]}), "column 'v' is of type duration[us]"),
        (
            pl.DataFrame({"v": pl.Series([object()], dtype=pl.Object)}),
            "column 'v' is of Polars type Object",
        ),
        (
            pl.DataFrame({"v": pl.Series([2**100], dtype=pl.Int128)}),
            "column 'v' is of Polars type Int128: cast it to Int64 or String",
        ),
        (
            pa.table({"v": pa.array([2**55], pa.int64()).cast(pa.timestamp("s"))}),
            "a date has no time of day; column 'v' has ",
        ),
        (
            pd.DataFrame({"v": pd.Categorical([1.5, 1.5, float("inf")])}),
            "column 'v' has inf in record 2",
        ),
        (objects([1]), "column 'v' has a list in record 0: cast the column to text"),
        (objects("a", {"b": 1}), "column 'v' has a dict in record 1"),
        (
            objects("a", "\ud800"),
            "column 'v' has half a surrogate pair in record 1 ('\\ud800'): replace it.",
        ),
        (objects(1, "1"), "column 'v' has both 1 and '1': cast the column to text or to numbers."),
        (
            objects(DAY, dt.datetime(2020, 1, 1, 5)),
            "column 'v' has 2020-01-01 05:00:00: cast it to dates",
        ),
        (pd.DataFrame({"v": [1j]}), "column 'v' is of pandas type complex128: cast it to text"),
        (
            pd.DataFrame({"v": pd.period_range("2020", periods=1)}),
            "column 'v' is of pandas type period[",
        ),
        (pd.DataFrame({"v": pd.interval_range(0, 1)}), "column 'v' is of pandas type interval["),
        (
            pa.table({"v": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 5)]}),
            "column 'v' has 2020-01-01 05:00:00 in record 1: cast it to dates",
        ),
        (
            pd.DataFrame({"v": pd.to_datetime(["2020-01-01 05:00"])}),
            "column 'v' has 2020-01-01 05:00:00 in",
        ),
        (
            pl.DataFrame({"v": [dt.datetime(2020, 1, 1, 5)]}),
            "column 'v' has 2020-01-01 05:00:00 in record 0",
        ),
        (pa.table({"v": [1.0, float("inf")]}), "column 'v' has inf in record 1: replace it"),
        (
            pa.table({"v": pa.array([-800_000], pa.int32()).cast(pa.date32())}),
            "in the years 1 to 9999",
        ),
        (pa.table({"v": ["a", "x" * 1_000_001]}), "column 'v' has a larger one in record 1"),
    ],
)
def test_bad_frames(frame: Any, message: str) -> None:
    assert message in error_of(frame)


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


def test_options_of_files_are_refused() -> None:
    frame = pa.table({"a": [1]})
    assert (
        "encoding is for text files; got encoding='utf-8' with a frame: leave it out."
        in error_of(frame, encoding="utf-8")
    )
    assert "sheet is for workbooks; got sheet=0 with a frame" in error_of(frame, sheet=0)
