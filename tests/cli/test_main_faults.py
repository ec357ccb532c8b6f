"""Every fault at every write of a command: one sentence, old files whole, and it goes on alike."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indiff.audit import run as audits
from indiff.audit.document import AuditResult
from indiff.report.page import html
from tests.command_line import Ended, call, write_people
from tests.faults import FAULTS, Disk, Killed, each, sweep

ROLES = ("--sensitive", "ill", "--quasi", "age,town")
OLD = b"what was there"


@dataclass
class Command:
    """One command line with its outputs, which are files in a folder of their own."""

    folder: Path
    words: tuple[str | Path, ...]
    names: tuple[str, ...]

    def run(self) -> Ended:
        return call(*self.words)

    def begin(self) -> None:
        """Put old files where the outputs will be."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in self.names:
            (self.folder / name).write_bytes(OLD)

    def contents(self) -> dict[str, bytes]:
        return {name: plain(self.folder / name) for name in self.names}


def plain(file: Path) -> bytes:
    """What a file holds, but for the time that it took and for how threads round a sum."""
    data = file.read_bytes()
    if file.suffix != ".json" or data == OLD:
        return data

    def untimed(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: untimed(one) for name, one in part.items() if name != "timing"}
        if isinstance(part, list):
            return [untimed(one) for one in part]
        return f"{part:.12g}" if isinstance(part, float) else part

    return json.dumps(untimed(json.loads(data))).encode()


def a_test(folder: Path, people: Path) -> Command:
    words = (
        "test", people, *ROLES, "--sanitizer", "mondrian:k=2", "--model", "tree", "--jobs", "1",
        "--targets", "0-1", "--json", folder / "r.json", "--run", folder / "night",
    )  # fmt: skip
    return Command(folder, words, ("r.json",))


def a_release(folder: Path, people: Path) -> Command:
    words = ("sanitize", people, *ROLES, "--sanitizer", "mondrian:k=2", "--seed", "1",
             "--out", folder / "release.csv")  # fmt: skip
    return Command(folder, words, ("release.csv",))


def a_risk(folder: Path, people: Path) -> Command:
    words = ("risk", people, *ROLES, "--limit", "k=1", "--json", folder / "risk.json",
             "--records", folder / "records.csv")  # fmt: skip
    return Command(folder, words, ("risk.json", "records.csv"))


def an_audit(folder: Path, people: Path) -> Command:
    words = ("audit", people, *ROLES, "--limit", "k=1", "--out", folder,
             "--write-release", folder / "release.csv")  # fmt: skip
    names = ("report.json", "report.md", "report.html", "release.csv")
    return Command(folder, words, names)


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure an audit once: what fails here is the writing."""
    made: list[Any] = []

    def run_audit(*words: Any, **named: Any) -> Any:
        made.append(made[0] if made else measured(*words, **named))
        return made[0]

    measured, draw = audits.run_audit, cache(lambda _: html.render(made[0].document))
    monkeypatch.setattr(audits, "run_audit", run_audit)
    monkeypatch.setattr(AuditResult, "to_html", draw)


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    ("make", "faults"),
    [
        (a_release, FAULTS),
        (a_risk, ("failing",)),
        pytest.param(a_test, FAULTS, marks=pytest.mark.system),
        pytest.param(an_audit, FAULTS, marks=pytest.mark.system),
        pytest.param(a_risk, ("full", "memory", "killed"), marks=pytest.mark.system),
    ],
)
def test_whatever_fails_is_said_and_mended_by_the_same_command(
    tmp_path: Path, make: Callable[[Path, Path], Command], faults: tuple[str, ...]
) -> None:
    command = make(tmp_path / "out", write_people(tmp_path))
    command.begin()
    undisturbed = command.run()
    expected = command.contents()
    assert OLD not in expected.values()

    def again() -> None:
        command.begin()
        command.run()

    tried = []
    for disk in each(again, faults=faults):
        command.begin()
        with disk():
            ended = _run(command, disk)
        tried.append(disk.names[-1])
        if disk.fault == "killed":
            sweep(tmp_path)
        assert ended is not None or disk.fault == "killed"
        if ended == undisturbed:  # what failed was not needed
            assert command.contents() == expected
        elif ended is not None:
            check_said(ended, disk)
        for name, found in command.contents().items():
            assert found in (OLD, expected[name]), f"{name} after {disk.fault} at {disk.names}"
        assert not list(command.folder.glob(".indiff-*"))
        if disk.fault in ("full", "killed"):  # of the others nothing is left either
            assert command.run() == undisturbed
            assert command.contents() == expected
    assert {"open", "write", "fsync", "replace"} <= set(tried)


def _run(command: Command, disk: Disk) -> Ended | None:
    try:
        return command.run()
    except Killed:
        assert disk.fault == "killed"
        return None


def check_said(ended: Ended, disk: Disk) -> None:
    assert ended.code == (3 if disk.fault == "memory" else 2), (ended.err, disk.names)
    assert ended.err.startswith("indiff: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    for passed in ("no limit was exceeded", "PASS", "passed"):
        assert passed not in ended.out
