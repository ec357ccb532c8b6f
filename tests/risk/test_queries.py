"""The SQL for other databases: where it can be run, it gives the risk metrics' own numbers."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot

import indiff
from indiff.errors import UserError
from indiff.risk.queries import DIALECTS, MEASURES, query
from tests.risk.sessions import ON_SPARK

QUIET: dict[str, Any] = {"check": True, "capture_output": True, "text": True}
QUASI = ["age", "home town", 'we"ird', "order"]


def table(seed: int, rows: int) -> pa.Table:
    """Return random records with missing and empty cells, and names that need quotes."""
    rng = np.random.default_rng(seed)

    def drawn(values: list[Any]) -> list[Any]:
        return [values[at] for at in rng.integers(0, len(values), rows)]

    return pa.table(
        {
            "age": pa.array(drawn([31, 32, None]), pa.int64()),
            "home town": pa.array(drawn(["A", "b", "", None]), pa.string()),
            'we"ird': pa.array(drawn(["x"]), pa.string()),
            "order": pa.array(drawn([1.5, 2.5]), pa.float64()),
            "ill": pa.array(drawn(["flu", "hiv", "", None, "it's"]), pa.string()),
            "wage": pa.array(drawn([1000, 1500, 4000, None]), pa.int64()),
        }
    )


def on_duckdb(frame: pa.Table, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("release", frame)
        return [tuple(row) for row in connection.execute(text).fetchall()]


def on_sqlite(frame: pa.Table, text: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.column_names)
        connection.execute(f"CREATE TABLE release ({names})")
        marks = ", ".join("?" * frame.num_columns)
        rows = [tuple(row.values()) for row in frame.to_pylist()]
        connection.executemany(f"INSERT INTO release VALUES ({marks})", rows)
        return connection.execute(text).fetchall()


RUN = {"duckdb": on_duckdb, "sqlite": on_sqlite}


def assert_the_same_numbers(
    run: Callable[[pa.Table, str], list[tuple[Any, ...]]], dialect: str, seed: int, rows: int
) -> None:
    """Compare what a database finds with what the risk metrics find in the same table."""
    frame = table(seed, rows)
    risk = indiff.measure_risk(frame, quasi=QUASI, sensitive=["ill", "wage"])
    groups = risk.groups
    ill, wage = groups.sensitive["ill"], groups.sensitive["wage"]
    expected: dict[tuple[str, str | None, str], list[float]] = {
        ("k", None, "equal"): [groups.k],
        ("uniqueness", None, "equal"): [groups.singled_out, rows],
        ("alpha", "ill", "equal"): [ill.alpha],
        ("l", "ill", "equal"): [ill.l],
        ("distinct_l", "ill", "equal"): [ill.distinct_l],
        ("t", "ill", "equal"): [ill.t],
        ("t", "wage", "ordered"): [wage.t],
    }
    for (measure, sensitive, distance), numbers in expected.items():
        text = query(measure, quasi=QUASI, sensitive=sensitive, dialect=dialect, distance=distance)
        (row,) = run(frame, text)
        assert [float(one) for one in row] == pytest.approx(numbers, abs=1e-9), measure


@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize(("seed", "rows"), [(0, 60), (1, 200), (2, 1), (3, 7)])
def test_the_numbers_are_those_of_the_risk_metrics(dialect: str, seed: int, rows: int) -> None:
    assert_the_same_numbers(RUN[dialect], dialect, seed, rows)


@pytest.mark.system
@ON_SPARK
def test_spark_finds_the_same(spark: Any) -> None:
    def on_spark(frame: pa.Table, text: str) -> list[tuple[Any, ...]]:
        types = {"int64": "bigint", "string": "string", "double": "double"}
        schema = ", ".join(f"`{one.name}` {types[str(one.type)]}" for one in frame.schema)
        rows = [tuple(row.values()) for row in frame.to_pylist()]
        spark.createDataFrame(rows, schema).createOrReplaceTempView("release")
        return [tuple(row) for row in spark.sql(text).collect()]

    try:
        assert_the_same_numbers(on_spark, "spark", 0, 60)
    finally:  # the session is that of all tests
        spark.catalog.dropTempView("release")


@pytest.mark.system
def test_postgres_finds_the_same() -> None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found or shutil.which("psql") is None or shutil.which("runuser") is None:
        pytest.skip("PostgreSQL is not installed")  # it is no part of what CI installs
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if owner:
            shutil.chown(home, "postgres")
        made = ["-D", str(home / "data")]
        subprocess.run([*owner, str(found[-1] / "initdb"), *made, "-A", "trust"], **QUIET)
        server = [*owner, str(found[-1] / "pg_ctl"), *made, "-w"]
        heard = f"-k {home} -c listen_addresses=''"
        subprocess.run([*server, "-o", heard, "-l", str(home / "log"), "start"], **QUIET)
        ask = ["psql", "-h", str(home), "-d", "postgres", "-XAtq", "-v", "ON_ERROR_STOP=1"]
        ask += ["-U", "postgres"] if owner else []

        def on_postgres(frame: pa.Table, text: str) -> list[tuple[Any, ...]]:
            types = {"int64": "bigint", "string": "text", "double": "double precision"}
            names = [f'"{one.replace(chr(34), chr(34) * 2)}"' for one in frame.column_names]
            columns = [
                f"{name} {types[str(t)]}" for name, t in zip(names, frame.schema.types, strict=True)
            ]
            rows = [", ".join(map(_literal, row.values())) for row in frame.to_pylist()]
            script = f"CREATE TEMP TABLE release ({', '.join(columns)});"
            script += f"INSERT INTO release VALUES ({'), ('.join(rows)});{text};"
            done = subprocess.run(ask, input=script, **QUIET)
            return [tuple(line.split("|")) for line in done.stdout.splitlines()]

        try:
            for seed, rows in ((0, 60), (2, 1)):
                assert_the_same_numbers(on_postgres, "postgres", seed, rows)
        finally:
            subprocess.run([*server, "-m", "immediate", "stop"], **QUIET)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_limit_returns_a_row_only_where_it_is_broken(dialect: str, measure: str) -> None:
    frame = table(0, 60)
    how: dict[str, Any] = {"quasi": QUASI, "sensitive": "ill", "dialect": dialect}
    ((found, *_),) = RUN[dialect](frame, query(measure, **how))
    at_least = MEASURES[measure][1] == "at least"
    beyond = found + 1e-6 if at_least else found - 1e-6
    assert RUN[dialect](frame, query(measure, limit=found, **how)) == []
    assert len(RUN[dialect](frame, query(measure, limit=beyond, **how))) == 1
    # Nothing was measured of a table without records, and that is no pass.
    assert len(RUN[dialect](frame.slice(0, 0), query(measure, limit=found, **how))) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_dialect_reads_its_own_text(dialect: str, measure: str) -> None:
    text = query(measure, quasi=QUASI, sensitive="ill", dialect=dialect, table="shop.my release")
    tree = sqlglot.parse_one(text, read=dialect)
    columns = {one.name for one in tree.find_all(sqlglot.exp.Column)}
    assert {*QUASI} <= columns
    quote = "`" if dialect in ("bigquery", "spark") else '"'
    assert f"shop.{quote}my release{quote}" in text
    assert f"{quote}order{quote}" in text


def test_names_that_a_database_keeps_for_itself_are_quoted() -> None:
    for name in ("range", "groups", "offset", "interval"):
        text = query("k", quasi=[name], dialect="bigquery")
        assert f"CAST(`{name}` AS STRING)" in text
        ((found,),) = on_duckdb(pa.table({name: [1, 1, 2]}), query("k", quasi=[name]))
        assert found == 1


def test_what_dbt_fills_in_stays_as_it_is() -> None:
    text = query("k", quasi=["age"], table="{{ ref('release') }}", dialect="snowflake")
    assert "FROM {{ ref('release') }}" in text


def test_bad_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no measure 'kk': did you mean 'k'"):
        query("kk", quasi=["age"])
    with pytest.raises(UserError, match="no dialect 'oracle'"):
        query("k", quasi=["age"], dialect="oracle")
    with pytest.raises(UserError, match="t is about a sensitive column: add --sensitive"):
        query("t", quasi=["age"])
    with pytest.raises(UserError, match="groups need a quasi-identifier"):
        query("k", quasi=[])
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(UserError, match=r"pip install 'indiff\[sql\]'"):
        query("k", quasi=["age"])


def test_one_value_leaves_no_distance() -> None:
    frame = pa.table({"age": [1, 1, 2], "wage": [5, 5, 5]})
    text = query("t", quasi=["age"], sensitive="wage", distance="ordered")
    ((found,),) = on_duckdb(frame, text)
    assert math.isclose(found, 0.0)
