"""SIGKILL at random moments: the same final bytes, and nothing computed twice but what flew."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from indiff import differential_test
from indiff.differential.calls import calls as calls_of_oracles
from indiff.differential.calls import pools
from tests.system.slow_oracle import people

SCRIPT = Path(__file__).parent / "slow_oracle.py"
TARGETS = 500
KILLS = 20


def start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), "--jobs", str(jobs), "--seconds", "0.008"],
        start_new_session=True,
    )


def calls(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().split() if file.exists() else []


def finished(folder: Path) -> set[str]:
    """The targets in the journal; a torn last line is not one of them."""
    journal = folder / "run" / "journal"
    if not journal.exists():
        return set()
    whole = journal.read_bytes().rpartition(b"\n")[0]
    lines = [json.loads(line.split(b" ", 1)[1]) for line in whole.split(b"\n") if line]
    return {str(line["target"]) for line in lines[1:]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    assert start(folder, 1).wait(timeout=300) == 0
    assert sorted(calls(folder)) == sorted(["whole", *map(str, range(TARGETS))])
    return folder


@pytest.mark.system
@pytest.mark.parametrize(("jobs", "in_flight"), [(1, 1), (2, 4)])
def test_twenty_kills_and_the_same_bytes(
    jobs: int, in_flight: int, whole: Path, tmp_path: Path
) -> None:
    dice = random.Random(jobs)
    folder = tmp_path / "run"
    kept: list[tuple[set[str], int]] = []  # after each kill: what is on disk, how many calls
    for kill in range(KILLS):
        process = start(folder, jobs)
        goal = len(calls(folder)) + dice.randrange(0, 25)  # some 12: the last, too, is before 500
        while len(calls(folder)) < goal and process.poll() is None:
            time.sleep(0.002)
        time.sleep(dice.random() * 0.03)
        assert process.poll() is None, f"the run ended before kill {kill}"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
        kept.append((finished(folder), len(calls(folder))))
    assert start(folder, jobs).wait(timeout=300) == 0
    for done, before in kept:  # never asked for again, neither by a survivor nor by a later run
        assert not done & set(calls(folder)[before:])
    counted = Counter(call for call in calls(folder) if call != "whole")
    assert set(counted) == set(map(str, range(TARGETS)))
    again = sum(counted.values()) - TARGETS
    assert again <= KILLS * in_flight
    for name in ("result.json", "records.csv"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.system
def test_a_hundred_kills_anywhere_in_a_command() -> None:
    """Reading, measuring, writing: the results of every run are those of an undisturbed one."""
    script = Path(__file__).parents[2] / "benchmarks" / "kills.py"
    done = subprocess.run(
        [sys.executable, str(script), "--times", "100"], capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 kills in" in done.stdout
    assert "0 temporary files left" in done.stdout


@pytest.mark.system
def test_a_second_process_is_refused(tmp_path: Path) -> None:
    first = start(tmp_path, 1)
    while not (tmp_path / "run" / "journal").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    second = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, check=False
    )
    first.kill()
    first.wait(timeout=60)
    assert second.returncode != 0
    assert "is in use by another process; wait for it, or name another folder." in second.stderr


def dies_without_four(frame: Any) -> Any:
    """Kill the process when record 4 is left out."""
    if 4 not in frame["key"].to_pylist():
        os._exit(1)
    return frame


@pytest.mark.system
def test_an_oracle_that_kills_its_process_costs_one_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_of_oracles, "WORTH_SHARING", 0.0)
    result = differential_test(
        people(60),
        dies_without_four,
        model="naive-bayes",
        targets=range(1, 9),
        jobs=2,
        retries=1,
        method="refit",
    )
    assert result.records.tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert result.failures == (f"record 4: {pools.DIED}",)
    assert not result.complete
