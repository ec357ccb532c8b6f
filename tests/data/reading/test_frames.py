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

from indiff.data.reading.door import read_raw
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


def error_of(frame: Any, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_raw(frame, **options)
    assert str(caught.value).endswith(".")
    return str(caught.value)


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
        (pd.DataFrame([[1, 2]]), "column 1 of the frame is called 0: write its name as text."),
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
        (
            pd.DataFrame(
                {"v": pd.Categorical.from_codes([0, 1], pd.Index(["a", "\ud800"], dtype=object))}
            ),
            "column 'v' has half a surrogate pair in a category ('\\ud800'): replace it.",
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


def test_options_of_files_are_refused() -> None:
    frame = pa.table({"a": [1]})
    assert (
        "encoding is for text files; got encoding='utf-8' with a frame: leave it out."
        in error_of(frame, encoding="utf-8")
    )
    assert "sheet is for workbooks; got sheet=0 with a frame" in error_of(frame, sheet=0)
