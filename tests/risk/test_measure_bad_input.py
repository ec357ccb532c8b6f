"""Errors that say what to change, on every engine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.data.hierarchy import Hierarchy
from indiff.errors import UserError
from indiff.risk import measure_risk

PEOPLE = {"age": [30, 30, 40], "ill": ["flu", "HIV", "flu"]}


def fails(match: str, source: Any = None, **options: Any) -> None:
    source = pa.table(PEOPLE) if source is None else source
    with pytest.raises(UserError, match=match):
        measure_risk(source, **{"quasi": "age", "sensitive": "ill", **options})


def test_a_column_that_does_not_exist(engine: Any, tmp_path: Path) -> None:
    fails(r"no column 'agee': did you mean 'age'\?", quasi="agee", engine=engine)
    pq.write_table(pa.table(PEOPLE), tmp_path / "a.parquet")
    fails("no column 'ilness'", tmp_path / "a.parquet", sensitive="ilness", engine=engine)
    (tmp_path / "a.csv").write_text("age,ill\n30,flu\n")
    fails("no column 'who'", tmp_path / "a.csv", individual="who", engine=engine)


def test_no_rows(engine: Any, tmp_path: Path) -> None:
    empty = pa.table(PEOPLE).slice(0, 0)
    fails("at least one record; Table has none", empty, engine=engine)
    pq.write_table(empty, tmp_path / "a.parquet")
    fails("at least one record; .*a.parquet' has none", tmp_path / "a.parquet", engine=engine)
    (tmp_path / "a.csv").write_text("age,ill\n")
    fails("at least one record; .*a.csv' has only a header", tmp_path / "a.csv", engine=engine)


def test_a_nested_type(engine: Any, tmp_path: Path) -> None:
    nested = pa.table({"age": [[30], [30], [40]], "ill": PEOPLE["ill"]})
    fails(r"single values; 'age' is nested \(list<.*int64>\)", nested, engine=engine)
    pq.write_table(nested, tmp_path / "a.parquet")
    fails("single values; 'age' is nested", tmp_path / "a.parquet", engine=engine)


def test_mixed_types(engine: Any) -> None:
    mixed = pd.DataFrame({"age": [30, "thirty", 40], "ill": PEOPLE["ill"]})
    fails("values of one type .*Convert the column", mixed, engine=engine)
    mixed_polars = pl.DataFrame(
        {"age": pl.Series([30, "thirty", 40], dtype=pl.Object), "ill": PEOPLE["ill"]}
    )
    fails("values of one type", mixed_polars, engine=engine)


def test_mixed_types_among_files(engine: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table(PEOPLE), tmp_path / "a.parquet")
    pq.write_table(pa.table({**PEOPLE, "age": ["30", "x", "y"]}), tmp_path / "b.parquet")
    fails(
        "one type in all files; 'age' is int64 in .*a.parquet' and string in .*b.parquet",
        str(tmp_path / "*.parquet"),
        engine=engine,
    )


def test_an_unreadable_file_among_many(engine: Any, tmp_path: Path) -> None:
    for name in "abc":
        pq.write_table(pa.table(PEOPLE), tmp_path / f"{name}.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 this is no Parquet file PAR1")
    fails(
        r"a Parquet file must be readable; .*b.parquet' is not",
        str(tmp_path / "*.parquet"),
        engine=engine,
    )


@pytest.mark.parametrize("header", ["ill,age", "age,ill,more", "age", "years,ill"])
def test_text_files_whose_headers_differ(header: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,ill\n30,flu\n30,HIV\n")
    row = ",".join("x" for _ in header.split(","))
    (tmp_path / "b.csv").write_text(f"{header}\n{row}\n")
    shown = header.replace(",", ", ")
    fails(rf"same header; .*b.csv' has {shown} and .*a.csv' has age, ill", str(tmp_path / "*.csv"))
    (tmp_path / "b.csv").write_text("age,ill\n41,flu\n")
    risk = measure_risk(str(tmp_path / "*.csv"), quasi="age", sensitive="ill", details=False)
    assert (risk.records, risk.groups.groups) == (3, 2)


def test_an_unreadable_text_file_among_many(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,ill\n30,flu\n")
    (tmp_path / "b.csv").write_bytes(b"\x00\xff\xfe no text")
    fails(r"no NUL bytes; .*b.csv' has one at byte 0", str(tmp_path / "*.csv"))


def test_a_file_whose_pages_are_damaged(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": list(range(5000)), "ill": ["flu"] * 5000}), path)
    raw = bytearray(path.read_bytes())
    raw[4:2000] = bytes(1996)  # the footer, which is at the end, stays readable
    path.write_bytes(raw)
    fails("a.parquet' cannot be read .*; check or repair it", path, engine=engine)


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"age,ill\n30,grippe\n31,rhum\xe9\n")
    for engine in ("duckdb", "in-process"):
        fails("valid in its encoding .utf-8.; .*a.csv' has the byte 0xe9", path, engine=engine)


def test_paths() -> None:
    fails("there is no folder '/nowhere' for '/nowhere/x.parquet'", "/nowhere/x.parquet")
    fails("no file matches '/nowhere/x.*'; check the path", "/nowhere/x.*")
    fails("ending must tell its format .*; got ", __file__)
    fails("a frame of pandas, Polars or PyArrow; got a int", 42)


def test_questions_that_make_no_sense() -> None:
    fails("at least one quasi-identifier is needed", quasi=[])
    fails("a column may be named once; 'age' is named 2 times", sensitive="age")
    fails("no engine 'sparc': did you mean 'spark'", engine="sparc")
    fails("combinations must be 0 or more columns; got -1", combinations=-1)
    fails("a kind is one of numeric, categorical, ordinal; got 'number'", kinds={"ill": "number"})
    fails("'ill' cannot be numeric: it holds text such as", kinds={"ill": "numeric"})
    fails("an ordinal column needs its order", kinds={"ill": "ordinal"})
    fails("no sensitive attribute 'il': did you mean 'ill'", kinds={"il": "ordinal"})
    fails("the order of 'ill' must name every value; it lacks 'HIV'", orders={"ill": ["flu"]})


def test_a_value_that_its_hierarchy_lacks(engine: Any) -> None:
    tree = Hierarchy.from_lines(["flu;lung;*", "HID;*"])
    match = "every value of 'ill' must be in its hierarchy; 'HIV' is not: did you mean 'HID'"
    fails(match, hierarchies={"ill": tree}, engine=engine)
    fails(
        "a hierarchy makes a column categorical",
        hierarchies={"ill": tree},
        kinds={"ill": "ordinal"},
    )


def test_a_header_of_a_hierarchy_is_no_branch_and_is_said() -> None:
    lines = ["flu;lung;*", "HIV;blood;*"]
    data = pa.table({"age": [1, 1, 1, 2], "ill": ["flu", "flu", "HIV", "HIV"]})
    plain, headed = (
        measure_risk(
            data, quasi="age", sensitive="ill", hierarchies={"ill": Hierarchy.from_lines(text)}
        ).groups
        for text in (lines, ["level0;level1;level2;level3;level4", *lines])
    )
    assert headed.t == plain.t == pytest.approx(0.5)
    assert "the hierarchy, line 1: taken for a header, no value of the column" in headed.notes


def test_too_many_values_to_be_counted_in_process() -> None:
    wide = pa.table({name: list(range(70_000)) for name in ("age", "ill")})
    fails("at most 4,194,304 possible combinations.*Use engine='duckdb'", wide, engine="in-process")
    assert measure_risk(wide, quasi="age", sensitive="ill").method.engine == "duckdb"


def test_a_missing_value_in_a_hierarchy_is_a_value(engine: Any) -> None:
    tree = Hierarchy.from_lines(["flu;lung;*", "HIV;*"])
    data = pa.table({"age": [1, 1, 2, 2], "ill": ["flu", "HIV", None, ""]})
    risk = measure_risk(
        data, quasi="age", sensitive="ill", hierarchies={"ill": tree}, engine=engine, details=False
    )
    assert risk.groups.t == pytest.approx(0.5)
    assert not math.isnan(risk.inference["ill"].itpr)


def test_more_combinations_than_can_be_ranked_are_refused_before_counting() -> None:
    """60 columns have C(60,1) + … + C(60,4) = 523,685 combinations of up to 4."""
    wide = pa.table({f"q{place}": [1] for place in range(60)})
    with pytest.raises(
        UserError,
        match=r"at most 100,000 combinations .* got 523,685 of up to 4 of 60 columns, which would "
        r"take .* or longer\. Use combinations=3, or name fewer columns",
    ):
        measure_risk(wide, quasi=wide.column_names, combinations=60)
