"""Load: a million rows in bounded memory, large uploads refused early, pages while runs compute."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pytest

from tests.system.web_server import V1, Running, memory_of
from tests.web.site import people

pytestmark = pytest.mark.system
GIGABYTE = 10**9
CLIENTS, RUNS, LOOKS = 10, 3, 40


def write_people(path: Path, records: int) -> None:
    rng = np.random.default_rng(11)
    diagnoses = ["flu", "cancer", "asthma", "none"]
    frame = pa.table(
        {
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(["F", "M"], records),
            "zip": rng.integers(10_000, 10_500, records),
            "job": rng.choice([f"job {number}" for number in range(8)], records),
            "diagnosis": rng.choice(diagnoses, records, p=[0.3, 0.1, 0.2, 0.4]),
        }
    )
    pv.write_csv(frame, path)


def chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as handle:
        while data := handle.read(1 << 20):
            yield data


class Watch:
    """The most memory that a server and its workers hold at once, watched in a thread."""

    def __init__(self, server: Running) -> None:
        self.server, self.peak, self._stop = server, 0, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._stop.is_set():
            self.peak = max(self.peak, memory_of(self.server.processes()))
            self._stop.wait(0.1)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stop.set()
        self._thread.join()


def test_a_million_rows_in_bounded_memory(tmp_path: Path, record_property: Any) -> None:
    table = tmp_path / "million.csv"
    write_people(table, 1_000_000)
    with Running(tmp_path / "data") as server, Watch(server) as watch:
        dataset = server.upload(chunks(table), "million.csv")
        assert dataset["profile"]["records"] == 1_000_000
        request = {
            "releases": [{"sanitizer": "mondrian:k=5"}],
            "adversary": {"membership": False},  # longer, with hardly more memory
            "limits": {"delta": 0.1},
        }
        place = f"/datasets/{dataset['id']}"
        guess = server.post(f"{place}/estimates", json=request)["id"]
        expected = server.wait(lambda: server.get(f"/estimates/{guess}"))["seconds"]
        begin = time.monotonic()
        run = server.post(f"{place}/runs", json=request)[0]["id"]
        found = server.wait(lambda: server.get(f"/runs/{run}"), seconds=1500)
        assert (found["state"], found["problem"]) == ("done", None)
        spent = time.monotonic() - begin
        counted = server.get(f"/runs/{run}/above", threshold=-1.0)
        assert (counted["above"], counted["records"]) == (1_000_000, 1_000_000)
    record_property("peak memory", watch.peak)
    record_property("run in seconds, and as estimated", (spent, expected))
    print(
        f"\npeak memory of server and workers: {watch.peak / 1e6:,.0f} MB; the run took "
        f"{spent:.0f} s, {spent / expected:.1f} times the estimate"
    )
    assert watch.peak < 1.5 * GIGABYTE


def test_two_gigabytes_against_one_are_refused_early(tmp_path: Path, record_property: Any) -> None:
    """Declared or not, an upload above the limit ends soon, and the server stays small."""
    with Running(tmp_path / "data", "--max-upload", "1GB") as server:
        assert answer_to_declared(server, 2 * GIGABYTE).startswith("HTTP/1.1 413")
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(200):
            sent += 1 << 20
            yield bytes(1 << 20)

    limit = 50_000_000  # the same counting, in a test that does not write a gigabyte
    with Running(tmp_path / "data", "--max-upload", "50MB") as server, Watch(server) as watch:
        before = memory_of(server.processes())
        try:
            answer = server.client.post(
                f"{V1}/datasets", params={"name": "a.csv"}, content=endless()
            )
            assert answer.status_code == 413
        except httpx.TransportError:
            pass  # the server hung up while the client was still sending
        assert server.get("/datasets") == []
        assert list((tmp_path / "data" / "datasets").iterdir()) == []
    grown = watch.peak - before
    record_property("grown by", grown)
    print(f"\nsent {sent / 1e6:,.0f} MB of 210 MB; the server grew by {grown / 1e6:,.0f} MB")
    assert sent < 4 * limit
    assert grown < 60_000_000


def answer_to_declared(server: Running, size: int) -> str:
    """What the server says to the head of an upload, before a byte of its body is sent."""
    url = httpx.URL(server.address)
    head = [
        f"POST {V1}/datasets?name=a.csv HTTP/1.1",
        f"Host: {url.host}:{url.port}",
        f"Cookie: {'; '.join(f'{name}={value}' for name, value in server.client.cookies.items())}",
        f"X-CSRF-Token: {server.client.headers['x-csrf-token']}",
        f"Content-Length: {size}",
    ]
    with socket.create_connection((url.host, url.port or 80), timeout=60) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        return connection.recv(65536).decode()


def page_times(server: Running, paths: list[str]) -> list[float]:
    spent = []
    for look in range(LOOKS):
        begin = time.perf_counter()
        answer = server.client.get(paths[look % len(paths)])
        spent.append(time.perf_counter() - begin)
        assert answer.status_code == 200
    return spent


def test_pages_answer_while_runs_compute(tmp_path: Path, record_property: Any) -> None:
    table = tmp_path / "people.csv"
    write_people(table, 25_000)
    with Running(tmp_path / "data") as server:
        small = server.upload(people(200))["id"]
        dataset = server.upload(chunks(table))["id"]
        paths = ["/data", f"/data/{small}", "/history", f"/data/{small}/adversary"]
        page_times(server, paths)  # templates and modules are loaded once
        idle = statistics.median(page_times(server, paths))
        request = {"releases": [{"sanitizer": f"mondrian:k={k}"} for k in (2, 5, 10)]}
        runs = [run["id"] for run in server.post(f"/datasets/{dataset}/runs", json=request)]
        assert len(runs) == RUNS
        stop, polled, wrong = threading.Event(), [0], []

        def poll(run: str) -> None:
            with httpx.Client(
                base_url=server.address, cookies=server.client.cookies, timeout=60
            ) as client:
                while not stop.is_set():
                    answer = client.get(f"{V1}/runs/{run}")
                    polled[0] += 1
                    if answer.status_code != 200:
                        wrong.append(answer.status_code)
                    stop.wait(0.5)

        threads = [
            threading.Thread(target=poll, args=(runs[number % RUNS],)) for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        while server.get(f"/runs/{runs[0]}")["state"] == "queued":
            time.sleep(0.02)
        busy = statistics.median(page_times(server, paths))
        computing = [server.get(f"/runs/{run}")["state"] for run in runs]
        stop.set()
        for thread in threads:
            thread.join()
        ended = [server.finish(run)["state"] for run in runs]
    print(
        f"\nmedian page: {idle * 1e3:.0f} ms idle, {busy * 1e3:.0f} ms with {CLIENTS} clients and "
        f"{RUNS} runs, {busy / idle:.1f} times; states then: {computing}"
    )
    record_property("ratio to idle", busy / idle)
    record_property("median in milliseconds", busy * 1e3)
    assert "running" in computing
    assert ended == ["done"] * RUNS
    assert not wrong
    assert polled[0] > CLIENTS
