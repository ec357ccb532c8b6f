"""What is particular to the DuckDB engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.engines.protocol import MOST_ROWS, connect
from indiff.errors import InternalError


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
