"""What is counted is what was named: the file, its cells as written, its folders' names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indiff
from indiff.data.reading import source as sources
from indiff.data.reading.input_files import Reading
from indiff.data.reading.source import column_names, open_source
from indiff.errors import UserError
from indiff.risk import measure_risk

ENGINES: Any = ("auto", "in-process", "duckdb")


def cells(path: Path | str, columns: list[str], **reading: Any) -> list[list[Any]]:
    found = open_source(path, columns, Reading(**reading)).frame
    assert found is not None
    return [column.to_pylist() for column in found.columns]


def groups(source: Any, quasi: str, engine: Any = "auto", **options: Any) -> int:
    return measure_risk(source, quasi=quasi, engine=engine, details=False, **options).groups.groups


def test_cells_are_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Age,age,zip\n1,'1',01\n1,1, 1\n1,1.0, ?\n")
    assert column_names(path) == ["Age", "age", "zip"]
    found = cells(path, ["age", "Age", "zip"], missing_tokens=("?",))
    assert found == [["'1'", "1", "1.0"], ["1", "1", "1"], ["01", " 1", None]]
    assert [groups(path, name) for name in ("Age", "age", "zip")] == [1, 3, 3]


def test_a_quoted_comma_far_below_plain_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,s\n" + "x,1\n" * 50_000 + '"x,y",2\n')
    for engine in ENGINES:
        assert groups(path, "q", engine) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_path_that_exists_is_that_file(engine: Any, tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        for name, rows in (("data[1]", 3), ("data1", 5), ("d*a?", 2)):
            path = tmp_path / f"{name}.{ending}"
            table = pa.table({"q": [f"v{row}" for row in range(rows)]})
            if ending == "csv":
                path.write_text("q\n" + "\n".join(table["q"].to_pylist()))
            else:
                pq.write_table(table, path)
        assert groups(tmp_path / f"data[1].{ending}", "q", engine) == 3
        assert groups(tmp_path / f"d*a?.{ending}", "q", engine) == 2
        assert measure_risk(str(tmp_path / f"data*.{ending}"), quasi="q").records == 8


@pytest.mark.parametrize("engine", ENGINES)
def test_folders_are_columns_only_of_a_folder_that_is_named(engine: Any, tmp_path: Path) -> None:
    for city, ages in (
        ("Rome", [1, 2]),
        ("New%20York", [2, 2]),
        ("__HIVE_DEFAULT_PARTITION__", [3]),
    ):
        (tmp_path / f"city={city}").mkdir()
        pq.write_table(pa.table({"age": ages}), tmp_path / f"city={city}" / "f.parquet")
    assert column_names(tmp_path) == ["age", "city"]
    risk = measure_risk(tmp_path, quasi=["city", "age"], engine=engine)
    assert (risk.records, risk.groups.groups, risk.groups.k) == (5, 4, 1)
    values = {level.value for level in risk.levels if level.column == "city"}
    assert values == {"Rome", "New York", None}
    assert measure_risk(tmp_path, quasi="age", engine=engine).groups.groups == 3
    with pytest.raises(UserError, match="no column 'city'"):
        measure_risk(tmp_path / "city=Rome" / "f.parquet", quasi="city", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_does_not_override_a_column(engine: Any, tmp_path: Path) -> None:
    (tmp_path / "city=Rome").mkdir()
    path = tmp_path / "city=Rome" / "f.parquet"
    pq.write_table(pa.table({"city": ["Oslo", "Bern"], "age": [1, 1]}), path)
    assert groups(path, "city", engine) == 2
    assert groups(str(tmp_path / "*" / "*.parquet"), "city", engine) == 2
    with pytest.raises(UserError, match=r"in the files or in their folders' names.*'city'"):
        groups(tmp_path, "city", engine)
    with pytest.raises(UserError, match=r"in the files or in their folders' names"):
        groups(tmp_path, "age", engine)


def test_folders_with_other_keys(tmp_path: Path) -> None:
    for folder in ("city=Rome", "town=Ulm"):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"age": [1]}), tmp_path / folder / "f.parquet")
    with pytest.raises(UserError, match=r"must have the same keys; got city and, for .*, town"):
        groups(tmp_path, "age")


@pytest.mark.parametrize("engine", ENGINES)
def test_large_text_lies_in_a_private_file(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_IN_MEMORY", 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("indiff.data.reading.input_files.STEP", 4096)
    path = tmp_path / "a.csv"
    path.write_text("q,s\n" + "".join(f"{row % 7},{row}\n" for row in range(5_000)))
    found = open_source(path, ["q"])
    assert found.folder is not None
    assert Path(found.folder.name).stat().st_mode & 0o077 == 0
    assert found.frame is not None
    assert found.frame.num_rows == 5_000
    found.close()
    out = tmp_path / "records.csv"
    risk = measure_risk(path, quasi="q", sensitive="s", engine=engine, details=False, records=out)
    assert (risk.records, risk.groups.groups) == (5_000, 7)
    assert len(out.read_text().splitlines()) == 5_001
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.csv", "records.csv"]


def test_compressed_text_is_one_table_for_both(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"age,ill\n30,no\n41,yes\n"))
    table = indiff.read_table(path, quasi=["age"], sensitive="ill")
    assert len(table) == measure_risk(path, quasi="age", sensitive="ill").records == 2
    path.write_bytes(gzip.compress(b"age,ill\n30,no\n41,yes\n")[:-12])
    for read in (indiff.read_table, measure_risk):
        with pytest.raises(UserError, match="a file must be readable; "):
            read(path, quasi=["age"], sensitive="ill")


def test_workbooks_encodings_and_what_they_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("ville;n\nNîmes;1\nNimes;2\n".encode("latin-1"))
    assert groups(path, "ville", encoding="latin-1") == 2
    with pytest.raises(UserError, match="sheet is for workbooks"):
        measure_risk(path, quasi="ville", sheet=0)
    with pytest.raises(UserError, match="encoding is for text files; got encoding='latin-1' with"):
        measure_risk(pa.table({"a": [1]}), quasi="a", encoding="latin-1")
    with pytest.raises(UserError, match=r"'s3://x/a.parquet' is counted by Spark"):
        measure_risk("s3://x/a.parquet", quasi="a", engine="duckdb")


@pytest.mark.parametrize("engine", ENGINES)
def test_one_fingerprint_for_both_instruments(engine: Any, tmp_path: Path) -> None:
    rows = (
        "age,score,born,zip,flag,note,ill\n30,1.50,1990-01-02,01234,true, x,no\n"
        "-0,1,0001-01-01,1234,false,,yes\n 41,1e3,2020-02-29,9,true,1.0,no\n"
        "9007199254740993,.5,1999-12-31,0,false,1,yes\n"
    )
    path = tmp_path / "a.csv"
    path.write_text(rows)
    names = ["zip", "age", "score", "born", "flag", "note"]
    table = indiff.read_table(path, quasi=names, sensitive="ill")
    asked: dict[str, Any] = {"sensitive": "ill", "engine": engine, "details": False}
    text = measure_risk(path, quasi=names, **asked)
    assert text.method.fingerprint == table.fingerprint
    pq.write_table(table.source, tmp_path / "a.parquet")
    typed = measure_risk(tmp_path / "a.parquet", quasi=names[::-1], **asked)
    assert typed.method.fingerprint == table.fingerprint
    path.write_text(rows.replace("1.50", "1.51"))
    assert measure_risk(path, quasi=names, **asked).method.fingerprint != table.fingerprint


def test_a_column_that_is_not_among_numbered_ones() -> None:
    with pytest.raises(UserError, match=r"no column 'a'\. Known: 3"):
        open_source(pd.DataFrame({3: [1]}), ["a"])


@pytest.mark.parametrize("value", [2**70, "\ud800"])
def test_values_that_no_arrow_column_holds(value: object) -> None:
    with pytest.raises(UserError, match="a column must hold values of one type"):
        open_source(pd.DataFrame({"a": pd.Series([value], dtype=object)}), ["a"])
