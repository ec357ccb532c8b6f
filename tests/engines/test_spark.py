"""What is particular to the Spark engine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from indiff.engines.spark import require_spark
from indiff.errors import UserError
from indiff.risk import measure_risk
from tests.risk import test_columns, test_individuals, test_records


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


def test_another_master_than_the_running_one(spark: Any) -> None:
    with pytest.raises(UserError, match=r"a Spark session on 'local\[2\]' is already running"):
        measure_risk(pa.table({"a": [1]}), quasi="a", master="spark://127.0.0.1:7077")


def test_nothing_is_left_in_the_session(spark: Any) -> None:
    measure_risk(pa.table({"a": [1, 1, 2]}), quasi="a", engine="spark")
    assert [table.name for table in spark.catalog.listTables()] == []


def test_a_spark_frame_is_not_counted_elsewhere(spark: Any) -> None:
    frame = spark.createDataFrame([(1,)], "a int")
    with pytest.raises(UserError, match="a Spark DataFrame is counted by Spark"):
        measure_risk(frame, quasi="a", engine="duckdb")


def test_everything_also_runs_distributed(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("indiff.engines.spark.FEW_COUNTS", 0)
    test_individuals.test_repeats_are_counted_exactly("spark")
    test_columns.test_levels_share_out_the_risk("spark")
    test_records.test_every_record_has_its_group("parquet", "spark", tmp_path)
