"""What ends a command from outside: signals, kills, full disks, and users without a home."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from indiff.engines.duckdb import DuckDBEngine
from indiff.systems import ENDINGS
from tests.command_line import announce, call, write_people

ORACLE = """
import os, sys, time
open(sys.argv[2], "w").write(str(os.getpid()))
time.sleep(300)
"""


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def environment(temporary: Path) -> dict[str, str]:
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary)}


def heed() -> None:
    """Let a process start with the usual signals, though ours may ignore some, as nohup does."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_DFL)


def start_slow(folder: Path, begin: Any = heed) -> tuple[subprocess.Popen[bytes], int]:
    """Start a test whose oracle never answers; return both processes once it has its input."""
    announce()  # kernels are compiled before
    people = write_people(folder)
    (folder / "oracle.py").write_text(ORACLE)
    told = folder / "told"
    process = subprocess.Popen(
        [sys.executable, "-m", "indiff.cli.main", "test", people, "--sensitive", "ill", "--quasi",
         "age,town", "--sanitizer",
         f"command:{sys.executable} {folder / 'oracle.py'} {{input}} {told} {{output}}"],
        env=environment(folder / "tmp"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=begin,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not (told.exists() and told.read_text()):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    assert list((folder / "tmp").rglob("input.csv"))
    return process, int(told.read_text())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes have no files here")
@pytest.mark.parametrize(
    "name",
    ["SIGTERM", *(pytest.param(name, marks=pytest.mark.system) for name in ("SIGHUP", "SIGINT"))],
)
def test_a_signal_ends_a_command_with_all_it_began(tmp_path: Path, name: str) -> None:
    process, oracle = start_slow(tmp_path)
    process.send_signal(getattr(signal, name))
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert b"Traceback" not in told
    assert not list((tmp_path / "tmp").iterdir())
    assert not is_running(oracle)


@pytest.mark.system
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes have no files here")
def test_any_command_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    process, oracle = start_slow(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    assert list((tmp_path / "tmp").rglob("input.csv"))
    assert is_running(oracle)
    subprocess.run(
        [sys.executable, "-m", "indiff.cli.main", "--version"],
        env=environment(tmp_path / "tmp"), check=True, capture_output=True,
    )  # fmt: skip
    assert not list((tmp_path / "tmp").iterdir())
    assert not is_running(oracle)


@pytest.mark.system
def test_who_ignores_hang_ups_goes_on(tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does

    process, oracle = start_slow(tmp_path, ignore)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    assert is_running(oracle)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 130


@pytest.mark.system
def test_a_spill_folder_says_whose_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    script = (
        "import os, pyarrow as pa\n"
        "from indiff.engines.duckdb import DuckDBEngine\n"
        "from indiff.engines.protocol import Resources\n"
        "from indiff.data.reading.source import open_source\n"
        "from indiff.data.reading.input_files import Reading\n"
        "source = open_source(pa.table({'a': [1, 2]}), ['a'], Reading())\n"
        "engine = DuckDBEngine(source, ['0'], [''], Resources())\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script], env=environment(tmp_path / "tmp"), check=False)
    assert list((tmp_path / "tmp").iterdir())
    subprocess.run(
        [sys.executable, "-m", "indiff.cli.main", "--version"],
        env=environment(tmp_path / "tmp"), check=True, capture_output=True,
    )  # fmt: skip
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("engine", ["duckdb", "auto"])
def test_an_interruption_that_duckdb_words_its_own_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """DuckDB raises RuntimeError("Query interrupted") where Python would KeyboardInterrupt."""

    def interrupted(*arguments: Any) -> Any:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None

    for name in ("keep", "query"):
        monkeypatch.setattr(DuckDBEngine, name, interrupted)
    people = write_people(tmp_path)
    ended = call("risk", people, "--sensitive", "ill", "--engine", engine)
    assert ended.code == 130
    assert ended.err == "indiff: interrupted; nothing was kept.\n"
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "handlers are put back"


OUTPUTS = {
    "sanitize": ("sanitize", "--sanitizer", "mondrian:k=2", "--out", "FILE.csv"),
    "sanitize, Parquet": ("sanitize", "--sanitizer", "mondrian:k=2", "--out", "FILE.parquet"),
    "records of a test": ("test", "--records", "FILE.csv"),
    "records of risk": ("risk", "--records", "FILE.csv"),
    "records of risk, Parquet": ("risk", "--records", "FILE.parquet"),
    "JSON of a test": ("test", "--json", "FILE.json"),
    "JSON of risk": ("risk", "--json", "FILE.json"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    people = write_people(tmp_path)
    command, *words = OUTPUTS[name]
    out = tmp_path / "out"
    out.mkdir()
    file = out / words[-1].replace("FILE", "old")
    file.write_text("what was there")

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))  # no file may grow beyond this
    try:
        ended = call(
            command, people, "--sensitive", "ill", "--quasi", "age,town", *words[:-1], file
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert ended.code == 2, ended.err
    assert "cannot be written" in ended.err
    assert "Traceback" not in ended.err
    assert [one.name for one in out.iterdir()] == [file.name]
    assert file.read_text() == "what was there"


HOMELESS = """
import os, sys
os.environ.pop("HOME", None)
import pwd
def nobody(number):
    raise KeyError(f"getpwuid(): uid not found: {number}")
pwd.getpwuid = nobody
from indiff.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("test", "people.csv", "--sensitive", "ill", "--quasi", "town"), 0),
        (("audit", "--init", "people.csv"), 0),
        (("serve", "--port", "0"), 2),
        (("serve", "--port", "0", "--folder", "~nobody-of-this-name"), 2),
    ],
)
def test_a_user_without_a_home(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    write_people(tmp_path)
    surroundings = environment(tmp_path / "tmp") | {"NUMBA_DISABLE_JIT": "1"}
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "NUMBA_CACHE_DIR", "HOME"):
        surroundings.pop(name, None)
    ended = subprocess.run(
        [sys.executable, "-c", HOMELESS, *words], env=surroundings, cwd=tmp_path,
        capture_output=True, check=False, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    assert not (tmp_path / "~").exists()
    if words[0] == "serve":
        assert "--data-dir" in ended.stderr
