"""No command tells a rare value: not on a stream, in a file, a folder, a cache or a leftover."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command_line import call, call_alone
from tests.tokens import files_below, spelled_numbers, token_rows, told, write_tokens

ROLES = ("--identifier", "who", "--quasi", "age,street,pay,stage", "--sensitive", "ill")
COPIED = f"command:{sys.executable} PROGRAM {{input}} {{output}}"
# T is the table, R a release of it, O the folder for outputs.
COMMANDS = {
    "test": ("test", "T", *ROLES, "--json", "O/a.json", "--records", "O/a.csv", "--why", "3"),
    "test models": ("test", "T", *ROLES, "--model", "tree,frequency", "--membership",
                    "--json", "O/a.json", "--records", "O/a.parquet"),
    "test run": ("test", "T", *ROLES, "--model", "tree", "--method", "refit", "--targets", "0-5",
                 "--jobs", "1", "--run", "O/run"),
    "test program": ("test", "T", *ROLES, "--model", "naive-bayes", "--targets", "0-2", "--jobs",
                     "1", "--run", "O/run", "--sanitizer", COPIED),
    "test failing": ("test", "T", *ROLES, "--targets", "0-1", "--jobs", "1", "--run", "O/run",
                     "--retries", "0", "--json", "O/a.json",
                     "--sanitizer", f"{COPIED} 79"),
    "test noise": ("test", "T", *ROLES, "--sanitizer", "laplace:epsilon=1", "--json", "O/a.json"),
    "test release": ("test", "T", *ROLES, "--release", "R", "--json", "O/a.json"),
    "test expression": ("test", "T", "--identifier", "who", "--quasi", "age,street",
                        "--sensitive", "ill = 'flu'", "--json", "O/a.json"),
    "test joint": ("test", "T", "--identifier", "who", "--quasi", "age,street", "--sensitive",
                   "ill,stage", "--joint", "--json", "O/a.json", "--records", "O/a.csv"),
    "risk": ("risk", "T", *ROLES, "--combinations", "2", "--json", "O/a.json",
             "--records", "O/a.csv"),
    "risk duckdb": ("risk", "T", *ROLES, "--engine", "duckdb", "--memory-limit", "100MB",
                    "--json", "O/a.json", "--limit", "k=3"),
    "risk special": ("risk", "T", *ROLES, "--special", "2", "--keys", "age+street", "--sampling",
                     "0.1", "--json", "O/a.json", "--records", "O/a.csv"),
    "columns": ("columns", "T", "--json", "O/a.json"),
    "compare": ("compare", "T", *ROLES, "--sanitizer", "mondrian:k=2,5", "--json", "O/a.json",
                "--markdown", "O/a.md", "--chart", "O/a.svg"),
    "audit": ("audit", "T", *ROLES, "--parameter", "mondrian:k=2,5", "--task", "stage", "--out",
              "O/report", "--limit", "delta=0.1", "--limit", "k=3", "--order", "stage=LEVELS"),
    "audit release": ("audit", "T", *ROLES, "--release", "R", "--out", "O/report"),
    "audit policy": ("audit", "T", *ROLES, "--policy", "ema-0070", "--out", "O/report"),
    "audit fix": ("audit", "T", *ROLES, "--fix", "delta=0.5", "--budget", "20", "--out", "O/report",
                  "--model", "frequency"),
    "audit init": ("audit", "T", "--init"),
    "audit pdf": ("audit", "T", *ROLES, "--model", "frequency", "--pdf", "--out", "O/report"),
    "sanitize": ("sanitize", "T", *ROLES, "--sanitizer", "mondrian:k=5", "--out", "R2"),
    "hierarchy": ("hierarchy", "street", "--from", "T", "--priorities", "4,2", "--out", "R2"),
    "hierarchy of numbers": ("hierarchy", "pay", "--from", "T", "--intervals", "auto"),
    "hierarchy of codes": ("hierarchy", "who", "--from", "T", "--prefixes", "3,1"),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders that belong to this test: for the table, outputs, temporary files and caches."""
    for name in ("in", "out", "tmp", "cache", "config"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "cache"))
    (tmp_path / "in" / "copy.py").write_text(PROGRAM)
    (tmp_path / "in" / "browser").write_text(BROWSER)
    (tmp_path / "in" / "browser").chmod(0o700)
    monkeypatch.setattr("indiff.report.page.pdf.NAMES", (str(tmp_path / "in" / "browser"),))
    return tmp_path


# Copies the table; fails on one with so many records, and then says everything it knows.
PROGRAM = """import shutil, sys
lines = open(sys.argv[1]).read().splitlines()
if len(sys.argv) > 3 and len(lines) - 1 == int(sys.argv[3]):
    sys.exit(f"cannot do {lines[1]}")
shutil.copy(sys.argv[1], sys.argv[2])
"""

# Prints the page that it was given as it stands, and leaves something in its profile.
BROWSER = """#!/bin/sh
for word in "$@"; do
  case "$word" in
    --print-to-pdf=*) made=${word#*=};;
    --user-data-dir=*) profile=${word#*=};;
    file://*) page=${word#file://};;
  esac
done
mkdir -p "$profile" && cp "$page" "$profile" && cp "$page" "$made"
"""


def words_of(command: str, place: Path) -> list[str]:
    levels = sorted({row[4] for row in token_rows()[1]})
    files = {"T": "table.csv", "R": "release.csv", "R2": "made.csv"}
    short = {name: str(place / "in" / file) for name, file in files.items()}
    short["stage=LEVELS"] = f"stage={','.join(levels)}"
    program = str(place / "in" / "copy.py")
    return [
        short.get(word, word.replace("O/", f"{place / 'out'}/").replace("PROGRAM", program))
        for word in COMMANDS[command]
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_tells_a_rare_value(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the release of a fix, which has what its sanitizer publishes."""
    rare = write_tokens(place / "in" / "table.csv")
    shutil.copy(place / "in" / "table.csv", place / "in" / "release.csv")
    monkeypatch.chdir(place / "out")
    ended = call(*words_of(command, place))
    assert ended.code in (0, 1, 3), ended.err
    values = spelled_numbers(rare)
    assert told(ended.out, values) == []
    assert told(ended.err, values) == []
    for path, raw in files_below(place):
        if path.parent.name != "in" and path.name != "fixed-release.csv":
            assert told(raw, values) == [], path
    assert [*(place / "tmp").iterdir()] == []


def test_verifying_tells_no_rare_value(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where all belongs together, and not where numbers and files differ."""
    rare = write_tokens(place / "in" / "table.csv")
    table = (place / "in" / "table.csv").read_text()
    (place / "in" / "release.csv").write_text(table)
    (place / "in" / "other.csv").write_text("\n".join(table.splitlines()[:-1]) + "\n")
    monkeypatch.chdir(place / "in")
    made = ("--model", "frequency", "--release", "release.csv", "--out", str(place / "out"))
    assert call("audit", "table.csv", *ROLES, *made).code in (0, 1)
    report = place / "out" / "report.json"
    codes = []
    for words in (["release.csv", "--data", "table.csv"], ["other.csv", "--data", "other.csv"]):
        ended = call("verify", report, *words)
        codes.append(ended.code)
        assert told(ended.out + ended.err, spelled_numbers(rare)) == []
    assert codes == [0, 1]
    assert [*(place / "tmp").iterdir()] == []


# Sanitizes a table where no kernel is compiled yet.
COMPILING = """
import sys
import indiff
roles = {"identifier": "who", "quasi": ["age", "street", "pay", "stage"], "sensitive": "ill"}
indiff.Mondrian(k=5).sanitize(indiff.read_table(sys.argv[1], **roles))
"""


@pytest.mark.system
def test_compiled_kernels_hold_no_value(place: Path) -> None:
    """What numba keeps is made of types, also where it compiles while it has the table."""
    rare = write_tokens(place / "in" / "table.csv")
    subprocess.run(
        [sys.executable, "-c", COMPILING, str(place / "in" / "table.csv")],
        env={**os.environ, "XDG_CACHE_HOME": str(place / "cache")}, check=True, timeout=600,
    )  # fmt: skip
    kept = [*files_below(place / "cache")]
    assert any(path.suffix == ".nbc" for path, _ in kept)
    for path, raw in kept:
        assert told(raw, rare) == [], path


# Counts a table that does not fit into its memory.
SPILLING = """
import sys
from indiff.cli.main import main
main(["risk", sys.argv[1], "--quasi", "street,remark", "--sensitive", "ill", "--engine", "duckdb",
      "--memory-limit", "60MB", "--threads", "1"])
"""


@pytest.mark.system
def test_what_duckdb_spilled_before_a_kill_is_gone_after_the_next_command(place: Path) -> None:
    rng = np.random.default_rng(3)
    remarks = rng.integers(10**11, 10**12, 1_500_000).astype(str)
    streets = rng.integers(10**11, 10**12, 1_500_000).astype(str)
    ills = rng.choice(["flu", "cold"], 1_500_000)
    pq.write_table(
        pa.table({"street": streets, "remark": remarks, "ill": ills}), place / "in" / "t.parquet"
    )
    killed = subprocess.Popen([sys.executable, "-c", SPILLING, str(place / "in" / "t.parquet")])
    try:
        deadline = time.monotonic() + 300
        while sum(path.stat().st_size for path in (place / "tmp").glob("*/*")) < 1_000_000:
            assert time.monotonic() < deadline, "nothing was spilled"
            assert killed.poll() is None, "it ended before anything was spilled"
            time.sleep(0.01)
    finally:
        killed.kill()
        killed.wait()
    assert [*(place / "tmp").glob("*/*")]
    assert call_alone("--version").code == 0
    assert [*(place / "tmp").iterdir()] == []


def test_what_a_killed_command_left_is_gone_after_the_next(place: Path) -> None:
    """A black box gets the raw table in a file; nobody can remove it where its owner is killed."""
    rare = write_tokens(place / "in" / "table.csv")
    (place / "in" / "copy.py").write_text("import time; time.sleep(300)")
    words = words_of("test program", place)
    killed = subprocess.Popen([sys.executable, "-m", "indiff.cli.main", *words])
    try:
        deadline = time.monotonic() + 120
        while not any(told(raw, rare) for _, raw in files_below(place / "tmp")):
            assert time.monotonic() < deadline, "the black box was never asked"
            time.sleep(0.1)
    finally:
        killed.kill()
        killed.wait()
    assert any(told(raw, rare) for _, raw in files_below(place / "tmp"))
    assert call_alone("--version").code == 0
    assert [*(place / "tmp").iterdir()] == []
    for _, raw in files_below(place / "out"):
        assert told(raw, rare) == []
