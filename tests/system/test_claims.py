"""Tests of claims that are killed, go on, and run on a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import indiff
from tests.command_line import write_people
from tests.differential.claim import gallery
from tests.system.dask_cluster import dask_cluster

ROLES = ("--identifier", "id", "--quasi", "age,town", "--sensitive", "ill")
SOME = (
    "import random, sys\n"
    "lines = open(sys.argv[1]).readlines()\n"
    "random.seed(int(sys.argv[3]))\n"
    "kept = [line for line in lines[1:] if random.random() < 0.9]\n"
    "open(sys.argv[2], 'w').writelines([lines[0], *kept])\n"
)


def told(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return {key: value for key, value in document.items() if key != "timing"}


@pytest.mark.system
def test_a_killed_test_of_a_claim_goes_on(tmp_path: Path) -> None:
    people, script = write_people(tmp_path), tmp_path / "some.py"
    script.write_text(SOME)

    def words(name: str, *more: str) -> list[str]:
        return [
            sys.executable, "-m", "indiff.cli.main", "test", str(people), *ROLES, "--sanitizer",
            f"command:{sys.executable} {script} {{input}} {{output}} {{seed}}", "--claim",
            "epsilon=0.5", "--calls", "120", "--targets", "3", "--jobs", "2", "--json",
            str(tmp_path / name), *more,
        ]  # fmt: skip

    night = tmp_path / "night"
    begun = subprocess.Popen(words("night.json", "--run", str(night)))
    journal = night / "first" / "journal"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 10:
        assert begun.poll() is None
        time.sleep(0.02)
    begun.kill()
    begun.wait()
    kept = journal.read_bytes().count(b"\n")
    ended = subprocess.run(words("night.json", "--run", str(night)), check=False)
    undisturbed = subprocess.run(words("day.json"), check=False)
    assert ended.returncode == undisturbed.returncode == 1
    assert told(tmp_path / "night.json") == told(tmp_path / "day.json")
    assert journal.read_bytes().count(b"\n") > kept >= 10


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_claim_is_tested_on_a_cluster(tmp_path: Path) -> None:
    table, function = gallery.people(100), gallery.named(gallery.noisy, scale=0.5)
    settings: dict[str, Any] = {"epsilon": 1, "calls": 80, "targets": 3}
    alone = indiff.test_claim(table, function, jobs=1, **settings).to_dict()
    with dask_cluster(tmp_path, workers=2) as cluster:
        found = indiff.test_claim(
            table, function, backend="dask", scheduler=cluster.address, **settings
        ).to_dict()
    del alone["timing"], found["timing"]
    assert found == alone
