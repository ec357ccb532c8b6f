"""What is particular to the Spark engine: one test on every run, the others with the system."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from indiff.engines.spark import require_spark
from indiff.errors import UserError
from indiff.risk import measure_risk
from tests.engines import test_protocol_sources
from tests.risk import (
    test_columns,
    test_measure_individuals,
    test_measure_records,
    test_metrics_definitions,
)
from tests.risk.sessions import ON_SPARK
from tests.risk.test_metrics_properties import same

pytestmark = ON_SPARK


def test_java_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"needs Java 17.*no java on the PATH.*apt install"):
        require_spark()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match="has no bin/java"):
        measure_risk(pa.table({"a": [1]}), quasi="a", engine="spark")


def test_pyspark_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'indiff\[spark\]'"):
        measure_risk(pa.table({"a": [1]}), quasi="a", engine="spark")


@pytest.mark.system
def test_another_master_than_the_running_one(spark: Any) -> None:
    with pytest.raises(UserError, match=r"a Spark session on 'local\[2\]' is already running"):
        measure_risk(pa.table({"a": [1]}), quasi="a", master="spark://127.0.0.1:7077")


@pytest.mark.system
def test_nothing_is_left_in_the_session(spark: Any) -> None:
    measure_risk(pa.table({"a": [1, 1, 2]}), quasi="a", engine="spark")
    assert [table.name for table in spark.catalog.listTables()] == []


@pytest.mark.system
def test_a_spark_frame_is_not_counted_elsewhere(spark: Any) -> None:
    frame = spark.createDataFrame([(1,)], "a int")
    with pytest.raises(UserError, match="a Spark DataFrame is counted by Spark"):
        measure_risk(frame, quasi="a", engine="duckdb")


@pytest.mark.system
def test_every_family_of_metrics(spark: Any, tmp_path: Path) -> None:
    test_metrics_definitions.test_every_metric_is_its_definition(2, "spark")
    test_measure_individuals.test_two_rows_of_one_person_do_not_hide_each_other("spark")
    test_columns.test_a_typing_error_stands_out_and_a_key_does_not("spark")
    test_columns.test_one_quasi_identifier_contributes_everything("spark")
    test_measure_records.test_every_record_has_its_group("parquet", "spark", tmp_path)


def test_every_kind_of_source(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(pa.table(test_protocol_sources.ROWS))
    assert test_protocol_sources.summary(frame, "auto") == test_protocol_sources.EXPECTED
    (tmp_path / "a.csv").write_text('age,name\n30,x\n31,"two\nlines"\n30,y\n')
    risk = measure_risk(tmp_path / "a.csv", quasi="age", engine="spark", details=False)
    assert (risk.groups.k, risk.groups.groups) == (1, 2)
    (tmp_path / "b.csv").write_text("age,name\n")
    with pytest.raises(UserError, match=r"at least one record; .*b.csv' has only a header"):
        measure_risk(tmp_path / "b.csv", quasi="age", engine="spark")


@pytest.mark.system
def test_many_counts_are_reduced_where_they_are(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indiff.engines.spark.FEW_COUNTS", 0)
    data = pa.table({"age": [30, 30, 40, 40, 50], "ill": [1, 2, 2, 2, 3]})
    asked: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "details": False}
    found, expected = (measure_risk(data, engine=e, **asked) for e in ("spark", "in-process"))
    same(found, expected)
    assert found.method.fingerprint == expected.method.fingerprint


@pytest.mark.system
def test_everything_also_runs_distributed(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("indiff.engines.spark.FEW_COUNTS", 0)
    for seed in (3, 4):
        test_metrics_definitions.test_every_metric_is_its_definition(seed, "spark")
    test_measure_individuals.test_repeats_are_counted_exactly("spark")
    test_columns.test_levels_share_out_the_risk("spark")
    test_measure_records.test_every_record_has_its_group("parquet", "spark", tmp_path)


@pytest.mark.system
def test_the_time_zone_of_the_session_does_not_matter(spark: Any, tmp_path: Path) -> None:
    # In New York the first two have the same time on the clock, an hour apart.
    minutes = [27_270_570, 27_270_630, 27_270_570, None, -63_115_200]
    times = pa.array([m and m * 60 * 10**6 for m in minutes], pa.timestamp("us"))
    table = pa.table({"zoned": times.cast(pa.timestamp("us", "UTC")), "plain": times})
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for name in table.column_names:
            out = tmp_path / f"{name}.parquet"
            risk = measure_risk(table, quasi=name, engine="spark", records=out)
            expected = measure_risk(table, quasi=name, engine="duckdb")
            same(risk, expected)
            assert risk.method.fingerprint == expected.method.fingerprint
            assert test_measure_records.read(out)["group_size"] == [2, 1, 2, 1, 1]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.system
def test_what_spark_would_round_or_does_not_know(spark: Any) -> None:
    fine = pa.table({"q": pa.array([1, 2, 2], pa.timestamp("ns"))})
    assert measure_risk(fine, quasi="q", engine="duckdb").groups.groups == 2
    with pytest.raises(UserError, match=r"times to the microsecond .*engine='duckdb'"):
        measure_risk(fine, quasi="q", engine="spark")
    clock = pa.table({"q": pa.array([1, 2, 2], pa.time32("s"))})
    with pytest.raises(UserError, match=r"Spark does not know .*engine='duckdb'"):
        measure_risk(clock, quasi="q", engine="spark")
