"""Black boxes at full size, and what is left of them when everything goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Command, Mondrian, differential_test, read_table
from indiff.sanitizers.oracles.function import OracleFailed
from tests.real_tables import adult

pytestmark = pytest.mark.system

TARGETS = range(0, 10_000, 50)
SCRIPT = Path(__file__).with_name("release_with_mondrian.py")


@pytest.fixture(scope="module")
def exact(needs_data: Path) -> np.ndarray:
    return differential_test(
        adult(needs_data, hierarchies=False),
        Mondrian(k=5),
        model="naive-bayes",
        targets=TARGETS,
        method="leave-one-out",
    ).distances


def test_a_function_around_mondrian_gives_the_exact_distances_on_adult(
    needs_data: Path, exact: np.ndarray
) -> None:
    table = adult(needs_data, hierarchies=False)

    def function(frame: pa.Table) -> pa.Table:
        inner = read_table(frame, sensitive=table.sensitive.name)
        return Mondrian(k=5).sanitize(inner).to_arrow()

    result = differential_test(
        table, function, model="naive-bayes", targets=TARGETS, method="refit", jobs=2
    )
    assert len(result.distances) == 200
    np.testing.assert_allclose(result.distances, exact, rtol=0, atol=1e-12)
    assert exact.max() > 0.01


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Path]:
    """The socket of a service that releases tables with Mondrian."""
    place = tmp_path / "mondrian"
    process = subprocess.Popen([sys.executable, str(SCRIPT), str(place)])
    try:
        wait_for(place.exists, 60, process)
        yield place
    finally:
        process.kill()
        process.wait()


def test_a_program_around_mondrian_gives_the_exact_distances_on_adult(
    needs_data: Path, exact: np.ndarray, service: Path
) -> None:
    table = adult(needs_data, hierarchies=False)
    client = SCRIPT.with_name("ask_mondrian.py")  # to load all of indiff 200 times takes minutes
    words = [sys.executable, "-IS", client, service, "{input}", "{output}", table.sensitive.name, 5]
    result = differential_test(
        table, Command(words), model="naive-bayes", targets=TARGETS, method="refit", jobs=2
    )
    assert len(result.distances) == 200
    np.testing.assert_allclose(result.distances, exact, rtol=0, atol=1e-12)


def test_a_program_that_loads_everything_anew_gives_them_too(
    needs_data: Path, exact: np.ndarray
) -> None:
    table = adult(needs_data, hierarchies=False)
    command = Command([sys.executable, SCRIPT, "{input}", "{output}", table.sensitive.name, 5])
    some = list(TARGETS)[:3]
    result = differential_test(
        table, command, model="naive-bayes", targets=some, method="refit", jobs=1
    )
    np.testing.assert_allclose(result.distances, exact[:3], rtol=0, atol=1e-12)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def memory() -> int:
    """The most memory that this process ever had, in bytes."""
    [line] = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return 1024 * int(line.split()[1])


def test_a_gigabyte_of_complaints_fills_neither_memory_nor_disk(
    temporary: Path, tmp_path: Path
) -> None:
    table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
                       quasi=["age"], sensitive="ill")  # fmt: skip
    tool = tmp_path / "tool.sh"
    tool.write_text(
        "#!/bin/sh\nhead -c 1000000000 /dev/zero | tr '\\0' x >&2\necho the end >&2\nexit 5\n"
    )
    tool.chmod(0o755)
    command = Command([tool, "{input}", "{output}"])
    before = memory()
    with pytest.raises(OracleFailed, match=r"ended with code 5 on 2 records\. It said: .*the end"):
        command.sanitize(table)
    assert memory() - before < 50_000_000
    assert list(temporary.iterdir()) == []


TOOL = """#!/bin/sh
calls=$(ls "$3" | wc -l)
echo $$ > "$3/$$"
if [ "$calls" -ge 6 ]; then sleep 1000 & echo $! > "$3/child-$!"; wait; fi
sleep 0.5
cp "$1" "$2"
"""


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, Path]]:
    """A run of the command line in which programs have begun to hang."""
    tool, calls, temporary = tmp_path / "tool.sh", tmp_path / "calls", tmp_path / "temporary"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    calls.mkdir()
    temporary.mkdir()
    data = tmp_path / "data.csv"
    data.write_text("age,ill\n" + "".join(f"{i},{'yes' if i % 3 else 'no'}\n" for i in range(40)))
    words = [
        sys.executable, "-m", "indiff.cli.main", "test", str(data), "--quasi", "age",
        "--sensitive", "ill", "--sanitizer", f"command:{tool} {{input}} {{output}} {calls}",
        "--jobs", "2", "--method", "refit",
    ]  # fmt: skip
    process = subprocess.Popen(
        words, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: len(list(calls.glob("child-*"))) >= 1, 120, process)
    time.sleep(0.5)
    yield process, calls, temporary
    if process.poll() is None:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], Any], seconds: float, process: Any = None) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if process is not None and process.poll() is not None:
            pytest.fail(f"it ended too early: {process.communicate()}")
        if time.monotonic() > end:
            pytest.fail("it did not happen in time")
        time.sleep(0.05)


def running(calls: Path) -> list[int]:
    """The programs of a run, and their children, that still run."""
    found = []
    for file in calls.iterdir():
        number = int(file.read_text() or 0)
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            continue
        if state != "Z":
            found.append(number)
    return found


def left(temporary: Path) -> list[str]:
    return [entry.name for entry in temporary.iterdir() if entry.name.startswith("indiff-")]


def test_an_interruption_leaves_no_process_and_no_file(
    hanging: tuple[subprocess.Popen[str], Path, Path],
) -> None:
    process, calls, temporary = hanging
    assert running(calls)
    assert left(temporary)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait_for(lambda: not running(calls), 10)
    assert left(temporary) == []


def test_what_a_killed_run_leaves_is_cleared_by_the_next(
    hanging: tuple[subprocess.Popen[str], Path, Path],
) -> None:
    process, calls, temporary = hanging
    os.killpg(process.pid, signal.SIGKILL)  # also its workers, as when a machine runs out of memory
    process.communicate()
    assert running(calls)
    assert left(temporary)
    code = (
        "import pyarrow as pa\n"
        "from indiff import Command, read_table\n"
        "table = read_table(pa.table({'a': [1, 2], 's': ['x', 'y']}), quasi=['a'], sensitive='s')\n"
        "Command('cp {input} {output}').sanitize(table)\n"
    )
    wait_for(lambda: _sweeps(code, temporary) and not running(calls), 30)
    assert left(temporary) == []


def _sweeps(code: str, temporary: Path) -> bool:
    """Start the next run; workers of the last may take a moment to be gone."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return not left(temporary)
