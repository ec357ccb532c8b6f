"""What is particular to the DuckDB engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from indiff.engines import MOST_ROWS, connect
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
