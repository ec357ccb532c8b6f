"""A run that asks a service, killed and continued: the same result, nothing is asked twice."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

RECORDS = 60
KILLS = 5


class Handler(BaseHTTPRequestHandler):
    """Hides the ages, and notes which record is left out."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        rows = list(csv.reader(io.StringIO(body)))
        there = {row[0] for row in rows[1:]}
        self.server.asked.append(next((str(x) for x in range(RECORDS) if str(x) not in there), ""))  # type: ignore[attr-defined]
        time.sleep(0.02)
        answer = "age,ill\n" + "".join(f"{'*' if int(row[1]) % 3 else row[1]},{row[2]}\n"
                                       for row in rows[1:])  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def start(folder: Path, server: ThreadingHTTPServer) -> subprocess.Popen[bytes]:
    url = f"http://127.0.0.1:{server.server_address[1]}/anonymize"
    words = [
        "test", str(folder.parent / "data.csv"), "--identifier", "id", "--quasi", "age",
        "--sensitive", "ill", "--sanitizer", url, "--method", "refit", "--model", "frequency",
        "--jobs", "1", "--run", str(folder), "--json", str(folder.parent / f"{folder.name}.json"),
    ]  # fmt: skip
    code = "from indiff.cli import start; start()"
    return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL)


@pytest.mark.system
def test_kills_and_the_same_result(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    rows = "".join(f"{x},{20 + x % 30},{'yes' if x % 4 else 'no'}\n" for x in range(RECORDS))
    (tmp_path / "data.csv").write_text(f"id,age,ill\n{rows}")
    asked: list[str] = server.asked  # type: ignore[attr-defined]
    whole = start(tmp_path / "whole", server)
    assert whole.wait(timeout=300) == 0
    asked.clear()
    for kill in range(KILLS):
        process, goal = start(tmp_path / "killed", server), len(asked) + 6
        while len(asked) < goal and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None, f"the run ended before kill {kill}"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
    assert start(tmp_path / "killed", server).wait(timeout=300) == 0
    counted = Counter(one for one in asked if one)
    assert set(counted) == {str(x) for x in range(RECORDS)}
    assert sum(counted.values()) - RECORDS <= KILLS  # what flew at a kill
    one, two = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "killed"))
    for found in (one, two):
        found.pop("timing", None)
    assert one["delta"] == two["delta"]
    assert one["worst"] == two["worst"]
