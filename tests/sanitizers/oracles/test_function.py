"""Functions as sanitizers: the user's own frames in, anything but a release refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import indiff
from indiff import Table, differential_test, read_table
from indiff.sanitizers.oracles.function import Oracle, OracleFailed

COLUMNS = {
    "age": [28, 36, 47, 53, 72],
    "sex": ["M", "M", "F", "M", "F"],
    "ill": ["flu", "flu", "cancer", "flu", "flu"],
}
FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def people(kind: str = "pandas") -> Table:
    return read_table(FRAMES[kind](COLUMNS), quasi=["age", "sex"], sensitive="ill")


@pytest.mark.parametrize(("kind", "type_"), [
    ("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table),
])  # fmt: skip
def test_the_function_gets_and_returns_the_users_kind_of_frame(kind: str, type_: type) -> None:
    seen: list[tuple[type, int]] = []

    def same(frame: Any) -> Any:
        seen.append((type(frame), len(frame)))
        return frame

    release = Oracle(same).sanitize(people(kind))
    assert seen == [(type_, 5)]
    assert isinstance(release.to_frame(), type_)
    assert release.to_arrow().to_pydict() == {**COLUMNS, "age": ["28", "36", "47", "53", "72"]}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_function_may_write_into_its_frame_and_never_into_our_table(kind: str) -> None:
    def vandal(frame: Any) -> Any:
        if isinstance(frame, pd.DataFrame):
            frame.loc[:, "age"] = 0
            frame.iloc[0, 0] = 99  # a view of read-only memory would refuse
        elif isinstance(frame, pl.DataFrame):
            frame[0, "age"] = 99
        else:
            buffer = frame["age"].chunk(0).buffers()[1]
            if buffer.is_mutable:
                np.frombuffer(buffer, np.int64)[:] = 99
        return people(kind).source

    table = people(kind)
    before = table.fingerprint
    Oracle(vandal).sanitize(table)
    assert table.source.to_pydict() == COLUMNS
    assert table.frame().to_pydict() == COLUMNS
    assert people(kind).fingerprint == before


def without(column: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.drop(columns=column)


def with_cells(**cells: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.assign(**cells)


def broken(frame: pd.DataFrame) -> pd.DataFrame:
    raise KeyError("no level")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda frame: None, "must return a frame; 'oracle:<lambda>' returned None"),
        (lambda frame: 7, "returned for 5 records is none: a table must be a path or a frame"),
        (lambda frame: frame.head(0), "is none: a table needs at least one record"),
        (lambda frame: pd.DataFrame(), "returned for 5 records is none: a table needs"),
        (without("sex"), "is none: no column 'sex'. Known: age, ill"),
        (without("ill"), "is none: no column 'ill'. Known: age, sex"),
        (with_cells(age="old"), "column 'age', row 1 and 4 more: 'aaa' is no number"),
        (with_cells(sex="X"), "column 'sex', row 1 and 4 more: 'a' is no value of this column"),
        (with_cells(age=float("nan")), "column 'age', row 1 and 4 more: "),
        (with_cells(sex=None), "column 'sex', row 1 and 4 more: an empty cell needs a column"),
        (with_cells(ill=float("nan")), "row 1 of the release, column 'ill': '' is not a sensitive"),
        (with_cells(ill="mumps"), "'mumps' is not a sensitive value of the table"),
        (broken, "'oracle:broken' raised KeyError: «'no level'» on 5 records. Correct the"),
    ],
    ids=[
        "none", "number", "no-rows", "nothing", "no-quasi", "no-sensitive", "no-region", "no-value",
        "nan", "null", "nan-sensitive", "new-sensitive", "raises",
    ],
)  # fmt: skip
def test_what_is_no_release_is_refused_with_its_reason(
    function: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(OracleFailed) as raised:
        Oracle(function).sanitize(people())
    assert message in str(raised.value)


def test_an_error_of_ours_inside_the_function_is_a_failure_of_the_function() -> None:
    def strict(frame: pd.DataFrame) -> pd.DataFrame:
        inner = read_table(frame, quasi=["age"], sensitive="ill")
        return indiff.Mondrian(k=6).sanitize(inner).to_frame()

    with pytest.raises(OracleFailed, match=r"'oracle:strict' raised UserError: "):
        Oracle(strict).sanitize(people())


def test_more_rows_than_records_are_a_release_too() -> None:
    # Every row twice: shares stay, so the belief about record 2 goes from 1/1 to the shares 4/4.
    def twice(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([frame, frame])

    result = differential_test(people(), twice, model="frequency", targets=[2], jobs=1)
    assert len(Oracle(twice).sanitize(people())) == 10
    assert "the release has 10 rows for 5 records" in result.notes
    np.testing.assert_allclose(result.beliefs, [[1, 0]])
    np.testing.assert_allclose(result.beliefs_without, [[0, 1]])


def test_a_function_may_tell_records_apart_that_look_alike() -> None:
    # Both look alike to the test, but the tool sees the order: it hides all but its first row.
    columns = {"age": [30, 30, 40], "ill": ["flu", "flu", "mumps"]}

    def first_only(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(age=[str(frame["age"].iloc[0])] + ["*"] * (len(frame) - 1))

    table = read_table(pd.DataFrame(columns), quasi=["age"], sensitive="ill")
    calls = []

    def counted(frame: pd.DataFrame) -> pd.DataFrame:
        calls.append(len(frame))
        return first_only(frame)

    differential_test(table, counted, model="naive-bayes", method="refit", jobs=1)
    assert calls.count(2) == 3


def returns_none(frame: pd.DataFrame) -> None:
    return None


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (returns_none, "returned None"),
        (lambda frame: frame.rename(columns={"age": "years"}), "no column 'age'"),
        (with_cells(age="old"), "column 'age', row 1"),
        (with_cells(age=float("nan")), "column 'age', row 1"),
        (broken, "raised KeyError: «'no level'»"),
    ],
    ids=["none", "columns", "region", "nan", "raises"],
)
def test_a_failure_without_one_record_is_recorded_and_the_run_goes_on(
    function: Callable[[Any], Any], reason: str
) -> None:
    def mostly_right(frame: pd.DataFrame) -> Any:
        return frame if 47 in set(frame["age"]) else function(frame)

    result = differential_test(
        people(), mostly_right, model="naive-bayes", method="refit", jobs=1, retries=0
    )
    assert result.records.tolist() == [0, 1, 3, 4]
    assert not result.complete
    [failure] = result.failures
    assert failure.startswith("record 2: ")
    assert reason in failure
