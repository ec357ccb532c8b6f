"""What is particular to the DuckDB engine."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.data.reading.source import Source
from indiff.engines.duckdb import DuckDBEngine, enough_memory
from indiff.engines.protocol import MOST_ROWS, Resources, connect
from indiff.errors import InternalError, UserError


def test_nothing_is_downloaded_and_nothing_is_left_behind() -> None:
    engine: Any = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb")
    settings = dict(
        engine.query(
            "SELECT name, value FROM duckdb_settings() WHERE name IN ("
            "'autoinstall_known_extensions', 'autoload_known_extensions', 'temp_directory')"
        )
    )
    assert settings["autoinstall_known_extensions"] == "false"
    assert settings["autoload_known_extensions"] == "false"
    assert Path(settings["temp_directory"]).is_dir()
    engine.close()
    assert not Path(settings["temp_directory"]).exists()


def test_the_driver_refuses_more_rows_than_promised() -> None:
    engine = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb")
    assert len(engine.query(f"SELECT * FROM range({MOST_ROWS})")) == MOST_ROWS
    with pytest.raises(InternalError, match="more than 100,000 rows"):
        engine.query(f"SELECT * FROM range({MOST_ROWS + 1})")
    engine.close()


TEXTS = pa.table({"a": ["b", "O'Brien", "", None, "é", "b"], "empty": [None, ""] * 3})
CELLS = [("O'Brien", None, 1), ("b", None, 2), ("é", None, 1), (None, None, 2)]


def kinds_and_cells(source: Any) -> tuple[Any, ...]:
    engine = connect(source, ["a", "empty"], {"cells": [0, 1]}, engine="duckdb")
    cells = engine.counts["cells"]
    (kinds,) = engine.query(f"SELECT DISTINCT typeof(c0), typeof(c1) FROM {cells}")
    rows = engine.query(f"SELECT * FROM {cells} ORDER BY c0 NULLS LAST")
    engine.close()
    return *kinds, rows


@pytest.fixture
def numbering(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("indiff.engines.duckdb.MANY_COUNTS", 2)
    return monkeypatch


def test_texts_of_a_file_are_numbered_in_their_order_where_they_are_few(
    numbering: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pq.write_table(TEXTS, tmp_path / "a.parquet")
    for most, kind in ((2, "VARCHAR"), (3, "ENUM('O''Brien', 'b', 'é')")):
        numbering.setattr("indiff.engines.duckdb.FEW_TEXTS", most)
        assert kinds_and_cells(tmp_path / "a.parquet") == (kind, "VARCHAR", CELLS)


def test_texts_of_a_frame_are_numbered_before_they_are_counted(
    numbering: pytest.MonkeyPatch,
) -> None:
    coded = TEXTS.set_column(0, "a", TEXTS["a"].dictionary_encode())
    for most, kind in ((4, "VARCHAR"), (5, "ENUM('', 'O''Brien', 'b', 'é')")):
        numbering.setattr("indiff.engines.duckdb.FEW_TEXTS", most)
        for table in (TEXTS, coded, pl.from_arrow(TEXTS)):
            assert kinds_and_cells(table) == (kind, "ENUM('')", CELLS)


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_an_engine_uses_what_it_may(engine: Any) -> None:
    may_use = Resources(threads=1, memory_limit="200MiB")
    made = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine=engine, resources=may_use)
    names = ("threads", "memory_limit", "enable_progress_bar")
    found = made.query(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}")
    assert found == [(1, "200.0 MiB", False)]
    made.close()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def test_whoever_is_refused_leaves_nothing_behind(temporary: Path) -> None:
    for table, resources in (
        (pa.table({"a": [1]}), Resources(memory_limit="much")),
        (pa.table({"a": [[1]]}), Resources()),
        (pa.table({"a": pa.array([], pa.int64())}), Resources()),
    ):
        with pytest.raises(UserError) as refused:
            connect(table, ["a"], {"cells": [0]}, engine="duckdb", resources=resources)
        assert [*temporary.iterdir()] == [], refused.value  # which keeps the engine from going
    elsewhere = Source("parquet", "s3://b/a.parquet", ("s3://b/a.parquet",))
    with pytest.raises(UserError) as refused:  # by the engine itself
        DuckDBEngine(elsewhere, ["a"], (), Resources())
    assert [*temporary.iterdir()] == [], refused.value


def test_what_is_forgotten_loaded_or_closed_is_gone() -> None:
    engine: Any = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb")
    name = engine.put({"x": [1, 2]}, ["BIGINT"])
    tables = "SELECT COUNT(*) FROM duckdb_tables() WHERE table_name = "
    assert engine.query(f"{tables}'{name}'") == [(1,)]
    engine.forget(name)
    assert engine.query(f"{tables}'{name}'") == [(0,)]
    views = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
    assert engine.query(views) == [("source",)], "what was loaded is copied, and let go"
    folder = tempfile.TemporaryDirectory()
    engine.source = replace(engine.source, folder=folder)
    engine.close()
    assert not Path(folder.name).exists()
    with pytest.raises(duckdb.ConnectionException):
        engine.query("SELECT 1")


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (Source("spark", "Spark DataFrame", spark=object()), "a Spark DataFrame"),
        (Source("parquet", "s3://b/a.parquet", ("s3://b/a.parquet",)), "'s3://b/a.parquet'"),
    ],
)
def test_what_only_a_cluster_reads(source: Source, what: str) -> None:
    with pytest.raises(UserError, match=f"{what} is counted by Spark"):
        DuckDBEngine(source, ["a"], (), Resources())


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_the_name_of_a_folder_is_no_column(engine: Any, tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    path = tmp_path / "year=2020" / "a[1].parquet"
    pq.write_table(pa.table({"year": [1, 1, 2]}), path)
    made = connect(path, ["year"], {"cells": [0]}, engine=engine)
    assert made.query(f"SELECT * FROM {made.counts['cells']} ORDER BY c0") == [(1, 2), (2, 1)]
    made.close()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.csv", b"x,y\n1,2\n"),
        ("a.TXT", b"x,y\n1,2\n"),
        ("a.tsv", b"x\ty\n1\t2\n"),
        ("a.TSV", b"x\ty\n1\t2\n"),
        ("a.parquet", b"PAR1"),
        ("a.PARQUET", b"PAR1"),
        ("a.pq", b"PAR1"),
    ],
)
def test_the_ending_of_a_file_says_its_format(name: str, begins: bytes, tmp_path: Path) -> None:
    engine = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb")
    engine.write("SELECT 1 AS x, 2 AS y", str(tmp_path / name), [])
    engine.close()
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_the_records_of_a_relation_are_numbered() -> None:
    """Our own connection does not know the tables of the relation's."""
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT * FROM (VALUES (3), (1), (2)) t(a)")
        made = connect(relation, ["a"], {"cells": [0]}, engine="duckdb")
        found = made.query(f"SELECT record, c0 FROM {made.records()} ORDER BY record")
        made.close()
    assert found == [(0, 3), (1, 1), (2, 2)]


@pytest.mark.parametrize("kind", ["frame", "file", "relation"])
def test_every_row_of_households_is_kept_wherever_it_is(kind: str, tmp_path: Path) -> None:
    """Our own connection does not know the tables of a relation's; a file is read again."""
    frame, file = pa.table({"a": [3, 1, 1], "b": ["x", "y", "y"]}), tmp_path / "t.parquet"
    pq.write_table(frame, file)
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT * FROM (VALUES (3, 'x'), (1, 'y'), (1, 'y')) t(a, b)")
        source: Any = {"frame": frame, "file": str(file), "relation": relation}[kind]
        countings = {"cells": [0], "households": [0, 1]}
        made: Any = connect(source, ["a", "b"], countings, engine="duckdb")
        found = made.query(f"SELECT * FROM {made.counts['households']} ORDER BY c0")
        made.close()
    assert found == [(1, "y", 1), (1, "y", 1), (3, "x", 1)]


@pytest.mark.parametrize("shown", [True, False])
def test_progress_is_switched_off_where_it_is_on(
    shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off already, it may not be set in every notebook."""
    asked: list[str] = []
    connect_to = duckdb.connect

    class Terminal:
        def __init__(self, **more: Any) -> None:
            self.real = connect_to(**more)

        def execute(self, sql: str, *more: Any) -> Any:
            asked.append(sql)
            told = "current_setting('enable_progress_bar')" in sql
            return self.real.execute(f"SELECT {shown}" if told else sql, *more)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

    monkeypatch.setattr("indiff.engines.duckdb.duckdb.connect", Terminal)
    connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb").close()
    assert ("SET enable_progress_bar = false" in asked) == shown


def test_what_the_disk_says_is_told_in_one_line(tmp_path: Path) -> None:
    """A file that is missing stands for a disk that fails: both are errors of input and output."""
    engine = connect(pa.table({"a": [1]}), ["a"], {"cells": [0]}, engine="duckdb")
    missing = f"SELECT * FROM read_parquet('{tmp_path / 'nothing.parquet'}')"
    with pytest.raises(UserError, match=r"a\.csv' cannot be written \(No files"):
        engine.write(missing, str(tmp_path / "a.csv"), [])
    engine.close()
    assert [*tmp_path.iterdir()] == []


def test_memory_that_does_not_suffice_is_the_limit_s_fault_only_where_there_is_one() -> None:
    with pytest.raises(MemoryError), enough_memory(Resources()):
        raise duckdb.OutOfMemoryException
    with (
        pytest.raises(UserError, match=r"memory_limit must suffice .*'1MB'"),
        enough_memory(Resources(memory_limit="1MB")),
    ):
        raise duckdb.OutOfMemoryException


@pytest.mark.parametrize("kind", ["INT[]", "STRUCT(x INT)", "MAP(INT, INT)", "UNION(x INT)"])
def test_nothing_nested_is_counted_of_a_relation(kind: str) -> None:
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT CAST(NULL AS {kind}) AS a")
        with pytest.raises(UserError, match="single values; 'a' is nested"):
            connect(relation, ["a"], {"cells": [0]}, engine="duckdb")


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_a_column_that_a_file_lacks_is_named(engine: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match="'ages'"):
        connect(str(tmp_path / "t.parquet"), ["ages"], {"cells": [0]}, engine=engine)
