"""Servers and workers that are killed: nothing is lost, nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
import sys
import time
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from indiff.audit.plan.plan import read_plan
from indiff.audit.run import run_audit
from tests.system.web_server import Running, workers_of
from tests.web.site import people

pytestmark = pytest.mark.system

# A sanitizer that takes its time and is a process of its own: ages to tens, codes to three digits.
SLOW = """
import csv, sys, time
time.sleep(0.04)
with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
    rows = csv.DictReader(source)
    writer = csv.DictWriter(target, rows.fieldnames)
    writer.writeheader()
    for row in rows:
        low = int(row["age"]) // 20 * 20
        writer.writerow({**row, "age": f"[{low}, {low + 19}]", "zip": "*"})
"""
KILLS = 20
RECORDS = 30


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    return ["--command", f"slow={sys.executable} {script} {{input}} {{output}}", "--workers", "2"]


def start_slow_run(server: Running, records: int = RECORDS) -> str:
    dataset = server.upload(people(records))["id"]
    request = {"releases": [{"command": "slow"}], "adversary": {"membership": False}, "worst": 0}
    run: str = server.post(f"/datasets/{dataset}/runs", json=request)[0]["id"]
    return run


def check_intact(data_dir: Path) -> None:
    connection = sqlite3.connect(data_dir / "indiff.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def wait_until_gone(data_dir: Path) -> None:
    end = time.monotonic() + 20
    while workers_of(data_dir):
        assert time.monotonic() < end, "workers outlived their server"
        time.sleep(0.05)


def without_timing(document: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in document.items() if name != "timing"}


def test_a_run_survives_twenty_kills_of_the_server(
    tmp_path: Path, words: list[str], record_property: Any
) -> None:
    """Killed at random moments, the run ends with the numbers of a plain call."""
    data_dir = tmp_path / "data"
    server = Running(data_dir, *words)
    run = start_slow_run(server, 100)
    rng = random.Random(5)
    in_mid_run = 0
    for _ in range(KILLS):
        end = time.monotonic() + rng.uniform(0.2, 1.0)
        while time.monotonic() < end and server.get(f"/runs/{run}")["state"] == "queued":
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 0.3))
        in_mid_run += server.get(f"/runs/{run}")["state"] == "running"
        server.kill()
        wait_until_gone(data_dir)
        check_intact(data_dir)
        server = Running(data_dir, *words)
    found = server.finish(run)
    assert (found["state"], found["problem"]) == ("done", None)
    document = server.get(f"/runs/{run}/document")
    events = [event["text"] for event in server.get(f"/runs/{run}/events")]
    errors = server.stop()
    assert errors == ""
    assert in_mid_run >= KILLS // 2 - 2
    assert events.count("the server ended: queued again") >= in_mid_run
    record_property("kills in mid-run", in_mid_run)
    # The plan names the table by its name alone, to stand beside it wherever that is.
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "people.csv").write_bytes(people(100))
    shutil.copy(data_dir / "runs" / run / "plan.toml", place)
    plan = read_plan(place / "plan.toml")
    plain = run_audit(plan, command=document["command"]).document
    assert without_timing(document) == without_timing(plain)
    check_intact(data_dir)
    for path in data_dir.rglob("*"):
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path


def test_progress_and_the_cdf_so_far_are_live(tmp_path: Path, words: list[str]) -> None:
    """A client that follows the stream sees the run begin, grow and end."""
    with Running(tmp_path / "data", *words) as server:
        run = start_slow_run(server)
        seen = []
        with server.client.stream("GET", f"/api/v1/runs/{run}/stream") as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line.removeprefix("data: ")))
        assert seen[-1]["state"] == "done"
        done = [one["progress"]["done"] for one in seen if one["progress"]["done"]]
        assert len(set(done)) > 3
        assert done == sorted(done)
        curves = [one["running_cdf"] for one in seen if one["running_cdf"]]
        sizes = [curve["measured"] for curve in curves]
        assert len(set(sizes)) > 3
        assert sizes == sorted(sizes)
        for curve in curves:
            # Of each record what naive Bayes sees, then what the frequency sees.
            assert curve["measured"] <= curve["total"] == 2 * RECORDS
            assert curve["x"] == sorted(curve["x"])
            assert curve["y"] == sorted(curve["y"])
            assert curve["y"][-1] == pytest.approx(1)


def test_cancelling_ends_every_process_of_the_run(tmp_path: Path, words: list[str]) -> None:
    with Running(tmp_path / "data", *words) as server:
        run = start_slow_run(server)
        started: list[psutil.Process] = []
        end = time.monotonic() + 60
        while len(started) < 2:  # the worker, and the command that it runs
            assert time.monotonic() < end
            started = server.processes()[1:]
        groups = {os.getpgid(process.pid) for process in started if process.is_running()}
        assert server.post(f"/runs/{run}/cancel")["state"] == "cancelled"
        gone, alive = psutil.wait_procs(started, timeout=10)
        assert not alive
        assert gone
        assert os.getpgid(server.process.pid) not in groups
        assert server.processes()[1:] == []
        time.sleep(0.3)
        assert server.get(f"/runs/{run}")["state"] == "cancelled"


def test_stopping_leaves_the_run_for_the_next_start(tmp_path: Path, words: list[str]) -> None:
    data_dir = tmp_path / "data"
    server = Running(data_dir, *words)
    run = start_slow_run(server)
    while server.get(f"/runs/{run}")["state"] == "queued":
        time.sleep(0.02)
    with server.client.stream("GET", f"/api/v1/runs/{run}/stream") as following:
        next(following.iter_lines())
        assert server.stop() == ""  # whoever follows a run holds nothing up
    assert workers_of(data_dir) == []
    with Running(data_dir, *words) as server:
        assert server.finish(run)["state"] == "done"


def test_a_run_that_needs_too_much_memory_fails_with_a_sentence(tmp_path: Path) -> None:
    with Running(tmp_path / "data", "--worker-memory", "150MB") as server:
        body = b"age,ill\n" + b"".join(b"%d,%d\n" % (n % 90, n % 3) for n in range(3_000_000))
        found = server.upload(body)
        assert found["state"] == "failed"
        assert "memory" in found["problem"]
        assert server.get("/datasets")[0]["state"] == "failed"
