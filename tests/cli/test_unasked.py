"""What the command line leaves out: libraries that others look for, unless someone needs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command_line import announce, write_people

STARTED = """
import atexit, json, sys
atexit.register(lambda: print("MODULES", json.dumps(sorted(sys.modules))))
from indiff.cli import start
start()
"""
FRAMES = """
import sys
from indiff.cli.unasked import keep_out_unasked
keep_out_unasked()
import indiff
indiff.read_table(sys.argv[1], sensitive="ill")
assert "pandas" not in sys.modules
import pandas as pd
import scipy.linalg
frame = pd.DataFrame({"age": pd.Series([30.0, None, 41.0]), "town": ["a", None, "b"],
                      "size": pd.Categorical(["s", "l", None], ["s", "l"], ordered=True),
                      "born": pd.to_datetime(["1990-01-01", None, "1980-05-05"]),
                      "ill": ["x", "y", "x"]})
table = indiff.read_table(frame, sensitive="ill", missing="split")
print(table.source.to_pydict(), table.describe(), table.backend)
"""
HEAVY = {
    "pandas",
    "narwhals",
    "scipy.linalg",
    "scipy.stats",
    "sklearn",
    "altair",
    "coverage",
    "jinja2",
}


def run(code: str, *words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("command", ["test", "risk"])
def test_a_run_loads_no_library_that_it_does_not_use(command: str, tmp_path: Path) -> None:
    announce()
    words: list[str | Path] = [
        command,
        write_people(tmp_path),
        "--quasi",
        "age,town",
        "--sensitive",
        "ill",
    ]
    words += ["--identifier", "id", "--other", "wage,smokes"]
    words += ["--model", "naive-bayes"] if command == "test" else []
    loaded = set(json.loads(run(STARTED, *words).rpartition("MODULES ")[2]))
    assert {"pyarrow", "numpy"} <= loaded
    assert not loaded & HEAVY
    assert ("numba" in loaded) == (command == "test")
    assert "duckdb" in loaded, "a fingerprint is made by it"


def test_frames_of_pandas_are_read_as_ever_after_it_was_kept_out(tmp_path: Path) -> None:
    kept_out = run(FRAMES, write_people(tmp_path))
    as_ever = run(FRAMES.replace("keep_out_unasked()\n", "pass\n").replace(
        'assert "pandas"', 'assert True or "pandas"'), write_people(tmp_path))  # fmt: skip
    assert "None" in kept_out
    assert kept_out == as_ever


def test_times_finer_than_those_of_python_are_counted_without_pandas(tmp_path: Path) -> None:
    times = np.array([1, 2, 1, 10**18 + 1], "datetime64[ns]")
    pq.write_table(pa.table({"at": times, "ill": list("xyxx")}), tmp_path / "times.parquet")
    words: list[str | Path] = [
        "risk",
        tmp_path / "times.parquet",
        "--quasi",
        "at",
        "--sensitive",
        "ill",
    ]
    counted = [
        run(STARTED, *words, "--engine", engine, "--json", tmp_path / f"{engine}.json")
        for engine in ("in-process", "duckdb")
    ]
    assert not any('"pandas"' in out for out in counted)
    here, there = (
        json.loads((tmp_path / f"{engine}.json").read_text()) for engine in ("in-process", "duckdb")
    )
    assert here["groups"]["groups"] == 3
    assert here["groups"] == there["groups"]
