"""The same rows give the same counts, whatever holds them and whichever engine counts."""

from __future__ import annotations

import datetime
import decimal
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from indiff.errors import UserError
from indiff.risk import measure_risk
from tests.risk.sessions import ON_SPARK

ROWS = {
    "age": [30, 30, 41, None, 41, 30],
    "zip": ["01", "1", "", None, "O'Brien", "01"],
    "ill": ["flu", "flu", "HIV", "flu", "ulcer", "HIV"],
}


def summary(source: Any, engine: Any, **options: Any) -> tuple[Any, ...]:
    asked = {"quasi": ["age", "zip"], "sensitive": "ill", "details": False, **options}
    risk = measure_risk(source, engine=engine, **asked)
    return (
        risk.records,
        [(size.smallest, size.groups) for size in risk.groups.sizes],
        pytest.approx(risk.reidentification.itpr),
        pytest.approx(risk.inference["ill"].dr),
        pytest.approx(risk.groups.t),
    )


EXPECTED = summary(pa.table(ROWS), "duckdb")


def test_frames(engine: str) -> None:
    table = pa.table(ROWS)
    coded = table.set_column(1, "zip", table["zip"].dictionary_encode())
    assert summary(table, engine) == EXPECTED
    assert summary(coded, engine) == EXPECTED
    assert summary(table.to_pandas(), engine) == EXPECTED
    categories = table.to_pandas().astype({"zip": "category", "ill": "category"})
    assert summary(categories, engine) == EXPECTED
    assert summary(pl.from_arrow(table), engine) == EXPECTED
    assert summary(pl.DataFrame(ROWS).with_columns(pl.col("zip").cast(pl.Categorical)), engine) == (
        EXPECTED
    )
    assert summary(pl.from_arrow(table).lazy(), engine) == EXPECTED


def test_a_relation_is_read_by_its_own_connection(engine: str) -> None:
    with duckdb.connect() as connection:
        connection.register("people", pa.table(ROWS))
        connection.execute("CREATE TABLE mine AS SELECT * FROM people")
        relation = connection.sql("SELECT * FROM mine")
        assert summary(relation, engine) == EXPECTED
        assert connection.sql("SELECT COUNT(*) FROM mine").fetchall() == [(6,)]


def test_files(engine: str, tmp_path: Path) -> None:
    table = pa.table(ROWS)
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=2)
    assert summary(tmp_path / "people.parquet", engine) == EXPECTED
    (tmp_path / "many").mkdir()
    for number in range(3):
        pq.write_table(table.slice(2 * number, 2), tmp_path / "many" / f"{number}.parquet")
    assert summary(str(tmp_path / "many" / "*.parquet"), engine) == EXPECTED
    assert summary(tmp_path / "many", engine) == EXPECTED
    pacsv.write_csv(table, tmp_path / "people.csv")
    assert summary(tmp_path / "people.csv", engine) == EXPECTED
    tabs = pacsv.WriteOptions(delimiter="\t")
    pacsv.write_csv(table, tmp_path / "people.tsv", tabs)
    assert summary(tmp_path / "people.tsv", engine) == EXPECTED


@pytest.mark.system
@ON_SPARK
def test_a_spark_frame(spark: Any) -> None:
    frame = spark.createDataFrame(pa.table(ROWS))
    assert summary(frame, "auto") == EXPECTED
    assert summary(frame, "spark") == EXPECTED


def test_numbers_in_text_are_ordered_as_numbers(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,s\nx,9\nx,10\ny,100\ny,10.0\n")
    asked: dict[str, Any] = {"quasi": "q", "sensitive": "s", "engine": engine, "details": False}
    risk = measure_risk(path, **asked)
    assert risk.method.kinds == {"s": "numeric"}
    assert risk.groups.distinct_l == 2
    # ranks 9, 10, 100: x is (½, ½, 0) against (¼, ½, ¼), so (¼ + ¼) / 2
    assert risk.groups.t == pytest.approx(0.25)
    path.write_text("q,s\nx,09\nx,10\ny,100\ny,10\n")
    assert measure_risk(path, **asked).method.kinds == {"s": "categorical"}


def test_numbers_in_text_that_a_double_would_merge_stay_apart(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,s\nx,9007199254740993\nx,9007199254740992\ny,1\ny,2\n")
    risk = measure_risk(path, quasi="q", sensitive="s", engine=engine, details=False)  # type: ignore[arg-type]
    assert risk.method.kinds == {"s": "categorical"}
    assert risk.groups.distinct_l == 2


def test_every_type_is_counted(engine: str) -> None:
    day = datetime.date(2020, 1, 1)
    columns: dict[str, pa.Array] = {
        "int8": pa.array([1, 1, None, 3], pa.int8()),
        "uint32": pa.array([2**31 + 5, 2**31 + 5, None, 3], pa.uint32()),
        "int64": pa.array([2**61, 2**61, None, -(2**61)], pa.int64()),
        "float32": pa.array([0.5, 0.5, math.nan, -0.0], pa.float32()),
        "coded": pa.DictionaryArray.from_arrays(
            pa.array([0, 0, 1, 2]), pa.array([0.5, math.nan, 1.5])
        ),
        "bool": pa.array([True, True, None, False]),
        "date": pa.array([day, day, None, datetime.date(1, 1, 1)]),
        "time": pa.array(
            [datetime.datetime(2020, 1, 1)] * 2 + [None, datetime.datetime(1999, 1, 1)],
            pa.timestamp("us"),
        ),
        "zoned": pa.array(
            [datetime.datetime(2020, 1, 1)] * 2 + [None, datetime.datetime(1999, 1, 1)],
            pa.timestamp("us", "Europe/Paris"),
        ),
        "decimal": pa.array([decimal.Decimal("1.10")] * 2 + [None, decimal.Decimal("2.00")]),
        "bytes": pa.array([b"a", b"a", None, b""], pa.binary()),
        "large": pa.array(["a", "a", "", "b"], pa.large_string()),
        "view": pa.array(["a", "a", "", "b"]).cast(pa.string_view()),
        "float16": pa.array(np.array([0.5, 0.5, math.nan, -0.0], np.float16)),
        "decimal256": pa.array([decimal.Decimal("1.10")] * 2 + [None, 2], pa.decimal256(40, 2)),
        "date64": pa.array([day, day, None, datetime.date(1970, 1, 1)], pa.date64()),
        "duration": pa.array([1, 1, None, 2], pa.duration("ns")),
        "nanoseconds": pa.array([1_000, 1_000, None, 2_000], pa.timestamp("ns", "UTC")),
        "uuid": pa.array([b"0" * 16] * 2 + [None, b"1" * 16], pa.uuid()),
        "run ends": pa.RunEndEncodedArray.from_arrays([2, 3, 4], pa.array(["a", None, "b"])),
    }
    table = pa.table(columns)
    for name in columns:
        risk = measure_risk(table, quasi=name, engine=engine)  # type: ignore[arg-type]
        assert [(s.smallest, s.groups) for s in risk.groups.sizes] == [(1, 2), (2, 1)], name
    for name in [name for name in columns if name != "int8"]:
        risk = measure_risk(
            table,
            quasi="int8",
            sensitive=name,
            engine=engine,  # type: ignore[arg-type]
            details=False,
        )
        assert risk.inference[name].dr == pytest.approx(1), name


def test_several_sensitive_attributes_apart_and_together(engine: str) -> None:
    data = pa.table({"q": ["x", "x", "y", "y"], "a": [1, 2, 1, 2], "b": ["m", "n", "m", "m"]})
    asked: dict[str, Any] = {"quasi": "q", "sensitive": ["a", "b"], "engine": engine}
    apart = measure_risk(data, **asked, details=False)
    assert list(apart.inference) == ["a", "b"]
    assert (apart.groups.distinct_l, apart.groups.sensitive["a"].distinct_l) == (1, 2)
    together = measure_risk(data, **asked, joint=True, details=False)
    (joint,) = together.inference.values()
    assert joint.x == "a, b"
    assert joint.h == pytest.approx(1.5)  # (1, m) twice, (2, n) and (2, m) once
    assert together.groups.distinct_l == 2


def test_the_seed_of_a_frame_does_not_matter_for_many_batches(engine: str) -> None:
    rng = np.random.default_rng(0)
    size = 700_000 if engine == "in-process" else 20_000
    frame = pd.DataFrame({"a": rng.integers(-50, 50, size), "b": rng.choice(list("xyz"), size)})
    risk = measure_risk(frame, quasi=["a", "b"], engine=engine, details=False)  # type: ignore[arg-type]
    counts = frame.value_counts(["a", "b"])
    assert risk.groups.k == counts.min()
    assert risk.groups.groups == len(counts)
    assert risk.reidentification.epsilon == counts.max() - counts.min()


def test_no_row_of_an_uneven_frame_is_lost(engine: str) -> None:
    # PySpark reads nothing after an empty batch.
    uneven = pa.chunked_array([[1, 2], [], [10**7, None], [1]], pa.int64())
    words = pa.chunked_array([["a"], ["b", "a", "c"], ["a"]]).dictionary_encode()
    table = pa.table({"q": uneven, "w": words})
    risk = measure_risk(table, quasi=["q", "w"], engine=engine, details=False)  # type: ignore[arg-type]
    assert (risk.records, risk.groups.groups, risk.groups.k) == (5, 4, 1)


def test_names_are_any_text(engine: str, tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {
        "": ["a", "a", "b"],
        "Age": [1, 2, 2],
        "age": [1, 1, 1],
        'say "hi" `now`': [7, 7, 8],
    }
    table = pa.table(rows)
    pq.write_table(table, tmp_path / "a.parquet")
    sources: list[Any] = [table, pl.DataFrame(rows)]
    if engine != "spark":  # Spark refuses names that differ in case only
        sources.append(tmp_path / "a.parquet")
    for source in sources:
        for name in rows:
            risk = measure_risk(source, quasi=name, engine=engine)  # type: ignore[arg-type]
            assert list(risk.columns) == [name]
            assert risk.groups.groups == len(set(rows[name])), name


def test_a_column_without_any_value_is_one_group(engine: str, tmp_path: Path) -> None:
    table = pa.table({"q": pa.nulls(3), "s": ["a", "b", "a"]})
    out = tmp_path / "records.parquet"
    risk = measure_risk(table, quasi="q", sensitive="s", engine=engine, records=out)  # type: ignore[arg-type]
    assert (risk.groups.k, risk.groups.groups) == (3, 1)
    assert pq.read_table(out)["group_size"].to_pylist() == [3, 3, 3]


def test_files_of_types_that_are_not_counted_in_process(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    ids = pa.array([b"0" * 16] * 2 + [None, b"1" * 16], pa.uuid())
    halves = pa.array([np.float16(1), np.float16(1), None, np.float16(2)], pa.float16())
    pq.write_table(pa.table({"id": ids, "half": halves}), path)
    for name in ("id", "half"):
        risk = measure_risk(path, quasi=name)
        assert risk.method.engine == "duckdb"
        assert [(size.smallest, size.groups) for size in risk.groups.sizes] == [(1, 2), (2, 1)]
        with pytest.raises(UserError, match=r"does not count values of type .*engine='duckdb'"):
            measure_risk(path, quasi=name, engine="in-process")
    pq.write_table(pa.table({"q": pa.array([1], pa.decimal256(50, 2))}), path)
    with pytest.raises(UserError, match="a decimal may have 38 digits; 'q' is decimal256"):
        measure_risk(path, quasi="q")


def test_a_decimal_that_no_engine_holds() -> None:
    huge = pa.table({"q": pa.array([decimal.Decimal(10) ** 45], pa.decimal256(50, 0))})
    with pytest.raises(UserError, match=r"no engine holds .* Convert it to text first"):
        measure_risk(huge, quasi="q")
