"""Releases: written, read back to the same regions, and read as other tools write them."""

from __future__ import annotations

import datetime
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Hierarchy, Identity, Mondrian, Suppress, Table, UserError, read_release
from indiff.data.table import read_table
from indiff.files import write_frame
from indiff.release.release import Release
from tests.properties.random_tables import Sample, make_sample, samples, sanitizers


def coverage(release: Release) -> list[list[list[bool]]]:
    """For every column and value, which rows cover it."""
    return [
        [column.covering(code).tolist() for code in range(len(column.attribute.values))]
        for column in release.columns
    ]


@given(samples(most=25), sanitizers())
def test_a_release_is_read_back_to_the_same_regions(sample: Sample, sanitizer: Mondrian) -> None:
    release = sanitizer.sanitize(sample.table)
    back = read_release(release.to_arrow(), sample.table)
    assert coverage(back) == coverage(release)
    assert back.classes.tolist() == release.classes.tolist()
    for one, other in zip(release.columns, back.columns, strict=True):
        for row in range(len(release)):
            mine, theirs = one.regions[one.index[row]], other.regions[other.index[row]]
            for value in one.attribute.values.tolist():
                asked = None if value is None or value != value else value
                assert mine.covers(asked) == theirs.covers(asked)


@given(samples(most=20), st.sampled_from([Identity(), Suppress()]))
def test_the_two_ends_of_the_scale_are_read_back_too(sample: Sample, sanitizer: Any) -> None:
    release = sanitizer.sanitize(sample.table)
    back = read_release(release.to_arrow(), sample.table)
    assert coverage(back) == coverage(release)


@given(samples(most=25), st.one_of(sanitizers(), st.sampled_from([Identity(), Suppress()])))
def test_equal_numbers_are_equal_cells(sample: Sample, sanitizer: Any) -> None:
    release = sanitizer.sanitize(sample.table)
    for one in (release, read_release(release.to_arrow(), sample.table)):
        for name, numbers in one.told_apart().items():
            texts = one.to_arrow()[name].to_pylist()
            pairs = set(zip(numbers.tolist(), texts, strict=True))
            assert len(pairs) == len(set(texts)) == len(set(numbers.tolist()))


@given(samples(most=25), sanitizers())
def test_many_values_are_looked_up_as_each_is(sample: Sample, sanitizer: Mondrian) -> None:
    release = sanitizer.sanitize(sample.table)
    for column in release.columns:
        codes = np.resize(np.arange(len(column.attribute.values), dtype=np.int32)[::-1], 30)
        found = column.regions_covering_each(codes)
        assert found.shape == (30, column.count)
        for row, code in zip(found, codes.tolist(), strict=True):
            np.testing.assert_array_equal(row, column.regions_covering(code))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("sanitizer", [Mondrian(k=3), Mondrian(k=3, regions="cut"), Identity()])
def test_files_hold_the_same_rows_in_another_order_for_their_owner_only(
    tmp_path: Path, ending: str, sanitizer: Any
) -> None:
    kinds = ["continuous", "ties", "ordinal", "set", "jobs", "places"]
    table = make_sample(8, 60, kinds, 4).table
    release = sanitizer.sanitize(table)
    path = tmp_path / f"release.{ending}"
    release.write(path, seed=0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    back = read_release(path, table)
    rows, again = (
        [tuple(map(str, line.values())) for line in r.to_arrow().to_pylist()]
        for r in (release, back)
    )
    assert rows != again
    assert sorted(rows) == sorted(again)
    first = path.read_bytes()
    release.write(path, seed=0)
    assert path.read_bytes() == first
    release.write(path, seed=1)
    assert path.read_bytes() != first
    release.write(path)
    unseeded = path.read_bytes()
    release.write(path)
    assert path.read_bytes() != unseeded, "by default nobody can undo the shuffle"


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text("old")
    path.chmod(0o644)
    write_frame(pa.table({"x": [1]}), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    frame = pa.table({"x": [1]})
    with pytest.raises(UserError, match=r"a \.csv, \.tsv or \.parquet file; got 'x\.xlsx'"):
        write_frame(frame, "x.xlsx")
    with pytest.raises(UserError, match=r"cannot be written \(No such file or directory\)"):
        write_frame(frame, tmp_path / "no" / "x.csv")


def patients() -> Table:
    tree = Hierarchy.from_lines(["Dancer;Artist;*", "Writer;Artist;*", "Lawyer;*"])
    return read_table(
        pa.table(
            {
                "age": [20, 28, 40, 45, 47],
                "born": [datetime.date(2000, 1, day) for day in (1, 5, 9, 20, 31)],
                "zip": ["35510", "35512", "35520", "36000", "35510"],
                "job": ["Dancer", "Writer", "Lawyer", "Lawyer", "Dancer"],
                "ill": ["flu", "flu", "cold", "cold", "gout"],
            }
        ),
        quasi=["age", "born", "zip", "job"],
        sensitive="ill",
        kinds={"zip": "categorical"},
        hierarchies={"job": tree},
    )


def test_covers_takes_what_the_column_holds() -> None:
    release = Mondrian(k=2).sanitize(patients())
    assert release.covers("born", datetime.date(2000, 1, 1)).tolist() == (
        release.covers("born", "2000-01-01").tolist()
    )
    assert release.covers("born", datetime.datetime(2000, 1, 1, 12)).any()
    assert release.covers("age", 20).tolist() == release.covers("age", 20.0).tolist()
    assert not release.covers("age", 1000).any()
    told = read_table(
        pa.table({"b": [True, False, None], "f": [1.0, 2.5, 1e20], "s": list("uvu")}),
        quasi=["b", "f"], sensitive="s", kinds={"f": "categorical"},
    )  # fmt: skip
    as_it_is = Identity().sanitize(told)
    assert as_it_is.covers("b", True).tolist() == [True, False, False]
    assert as_it_is.covers("b", False).tolist() == [False, True, False]
    assert [as_it_is.covers("f", number).tolist().index(True) for number in (1.0, 2.5, 1e20)] == [
        0, 1, 2,
    ]  # fmt: skip
    with pytest.raises(UserError, match="column 'age' is numeric; got the text '20'"):
        release.covers("age", "20")
    with pytest.raises(UserError, match="column 'born' holds dates; got 'May'"):
        release.covers("born", "May")
    with pytest.raises(UserError, match="no released column 'agee': did you mean 'age'"):
        release.covers("agee", 3)


def test_a_joint_attribute_is_released_as_its_columns_whatever_their_names() -> None:
    table = read_table(
        pa.table({"x": [1, 2, 3, 4], "a, b": list("uvuv"), "c": [1, 1, 2, 2]}),
        quasi=["x"],
        sensitive=["a, b", "c"],
        joint=True,
    )
    frame = Mondrian(k=2).sanitize(table).to_arrow()
    assert frame.column_names == ["x", "a, b", "c"]
    assert frame["c"].to_pylist() == [1, 1, 2, 2]
    assert read_release(frame, table).classes.tolist() == table.sensitive.codes.tolist()


@pytest.mark.parametrize("sensitive", [["u", None, "u", "v"], [1.5, 2.0, None, 1.5], [True] * 2])
def test_sensitive_values_of_every_kind_come_back(tmp_path: Path, sensitive: list[Any]) -> None:
    values = [*sensitive, *[False] * (4 - len(sensitive))]
    table = read_table(pa.table({"x": [1, 2, 3, 4], "s": values}), quasi=["x"], sensitive="s")
    release = Mondrian(k=2).sanitize(table)
    for ending in ("csv", "parquet"):
        release.write(tmp_path / f"r.{ending}")
        back = read_release(tmp_path / f"r.{ending}", table)
        assert sorted(back.classes.tolist()) == sorted(table.sensitive.codes.tolist())


@pytest.mark.parametrize("kind", ["numeric", "categorical", "ordinal"])
@pytest.mark.parametrize(
    "numbers",
    [
        [1e-7, 2.0, 1e20, 1e-7],  # Python, Arrow and CSV write them in different ways
        [0.00001, 1234567.0, 0.1, None],
        [2.0**63, 2.5, 1.0, None],
        [0.1, 0.2, 0.30000000000000004, 0.3],
        [2**60, 2**60 + 1, 3, 3],
    ],
)
@pytest.mark.parametrize("joint", [False, True])
def test_sensitive_numbers_of_every_size_come_back(
    tmp_path: Path, numbers: list[Any], kind: str, joint: bool
) -> None:
    table = read_table(
        pa.table({"x": [1, 2, 3, 4], "s": numbers, "z": list("uvuv")}),
        quasi=["x"], sensitive=["s", "z"] if joint else "s", joint=joint, kinds={"s": kind},
    )  # fmt: skip
    release = Identity().sanitize(table)
    for ending in ("csv", "parquet"):
        release.write(tmp_path / f"r.{ending}")
        back = read_release(tmp_path / f"r.{ending}", table)
        rows = [int(np.flatnonzero(back.covers("x", x))[0]) for x in (1, 2, 3, 4)]
        assert back.classes[rows].tolist() == table.sensitive.codes.tolist()


def test_missing_values_come_back(tmp_path: Path) -> None:
    table = read_table(
        pa.table({"x": [1, None, 3, None], "g": ["a", None, None, "b"], "s": list("uvuv")}),
        quasi=["x", "g"],
        sensitive="s",
        missing="split",
    )
    release = Mondrian(k=2).sanitize(table)
    assert release.covers("x", None).tolist() == [False, True, False, True]
    release.write(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv", table)
    assert sorted(back.covers("x", None).tolist()) == [False, False, True, True]
    assert back.covers("g", None).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_frame_is_of_the_kind_that_was_read(make: Any) -> None:
    table = read_table(make({"x": [1, 2], "s": ["a", "b"]}), quasi=["x"], sensitive="s")
    assert isinstance(Suppress().sanitize(table).to_frame(), make)


def test_a_column_of_text_is_read_as_it_was_written(tmp_path: Path) -> None:
    # Without the rows of 'x' every cell of both columns looks like a number.
    (tmp_path / "t.csv").write_text("c,s\n1.0,5\n1, 5\n1e5,5.0\nx,x\n")
    table = read_table(tmp_path / "t.csv", quasi=["c"], sensitive="s")
    (tmp_path / "r.csv").write_text("c,s\n1.0, 5\n1e5,5.0\n")
    release = read_release(tmp_path / "r.csv", table)
    assert release.sensitive.tolist() == [" 5", "5.0"]
    assert release.covers("c", "1.0").tolist() == [True, False]
    assert release.covers("c", "1e5").tolist() == [False, True]
    assert not release.covers("c", "1").any()


def test_an_empty_text_and_a_missing_value_are_never_mistaken_for_each_other() -> None:
    table = read_table(
        pa.table({"x": [1, 2, 3], "s": ["", "?", "a"]}),
        quasi=["x"], sensitive="s", missing_tokens=["?"],
    )  # fmt: skip
    assert set(table.sensitive.values) == {"", None, "a"}
    with pytest.raises(UserError, match="the empty text and the missing value"):
        read_release(pa.table({"x": ["1", "2"], "s": ["", "a"]}), table)
