"""``indiff serve`` itself: what it refuses before it starts, and one real start."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from indiff.web.jobs.queue import worker_environment
from tests.command_line import call
from tests.system.web_server import Running, workers_of
from tests.web.site import people


def test_a_missing_part_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "fastapi" else found(name)
    )
    ended = call("serve", "--no-browser")
    assert ended.code == 2
    assert ended.err == (
        "indiff: indiff serve needs fastapi; install with: pip install 'indiff[web]'.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--host", "0.0.0.0"], "needs a password; got --host 0.0.0.0 without one"),
        (["--host", "192.168.1.7"], "Set INDIFF_PASSWORD, or leave out --host"),
        (["--folder", "nowhere"], "--folder must be a folder that exists"),
        (["--max-upload", "lots"], "--max-upload is a size such as 500MB"),
        (["--command", "ours"], "--command is written NAME=command"),
        (["--command", "ours=cp {input} away"], "needs {output}"),
        (["--workers", "0"], "--workers must be at least 1; got 0"),
        (["--port", "70000"], "--port must be from 0"),
        (["--password"], "--password asks at a terminal; there is none"),
    ],
)
def test_what_cannot_be_served_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.delenv("INDIFF_PASSWORD", raising=False)
    ended = call("serve", "--no-browser", "--data-dir", tmp_path, *words)
    assert ended.code == 2
    assert sentence in ended.err


def test_a_server_starts_profiles_a_table_and_stops(tmp_path: Path) -> None:
    """The one quick test with a real server and a real worker."""
    data_dir = tmp_path / "data"
    server = Running(data_dir)
    assert server.address.startswith("http://127.0.0.1:")
    second = call("serve", "--no-browser", "--data-dir", data_dir)
    assert (second.code, second.out) == (2, "")  # no link of a server that will not be there
    assert "another server uses" in second.err
    found = server.upload(people(50))
    assert (found["state"], found["profile"]["records"]) == ("done", 50)
    assert server.stop() == ""
    assert server.process.returncode == 0
    assert workers_of(data_dir) == []


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "indiff.sqlite").write_text("something else, long enough to look like a file" * 30)
    ended = call("serve", "--no-browser", "--data-dir", tmp_path)
    assert ended.code == 2
    assert "must be the SQLite file of an indiff server" in ended.err


def test_workers_are_not_told_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDIFF_PASSWORD", "correct horse battery")
    assert "INDIFF_PASSWORD" not in worker_environment()


def test_enter_in_the_terminal_prints_a_new_link(tmp_path: Path) -> None:
    terminal, typed = os.openpty()
    words = [sys.executable, "-m", "indiff.cli.main", "serve", "--no-browser", "--data-dir"]
    with subprocess.Popen(
        [*words, str(tmp_path / "data")], stdin=typed, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        first, help_line = server.stdout.readline(), server.stdout.readline()
        assert "Press Enter for a new link" in help_line
        os.write(terminal, b"\n")
        second = server.stdout.readline()
        links = [line.removeprefix("indiff is at ").strip() for line in (first, second)]
        answers = [answer_of(link) for link in links]
        server.send_signal(signal.SIGINT)
        assert server.stdout.read() == (
            "Stopped. Nothing was left unfinished; tables and results are kept.\n"
        )
    os.close(terminal)
    os.close(typed)
    assert answers == [403, 303]  # the earlier one has not been used, and works no longer


def answer_of(link: str) -> int:
    """Open a link as soon as its server listens."""
    for _ in range(600):
        try:
            return httpx.get(link, timeout=60).status_code
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")
