"""Learns which test runs which line of some files, and how long each test takes."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.doctest import DoctestItem

from tests.mutants.changes import PACKAGE, ROOT, Mutant
from tests.mutants.processes import in_child

# Spark is a process of its own, in which no bug is planted.
PYTEST = (
    *("-q", "--no-header", "-p", "no:cacheprovider"),
    *("-m", "not system and not long", "-k", "not spark"),
)


@dataclass
class Learned:
    """What is known about the tests of a group."""

    seconds: dict[str, float]  # of processor time, by test
    lines: dict[str, dict[int, list[str]]]  # the tests that run a line, by file
    broken: list[str]  # tests that fail with no bug planted
    digests: dict[str, str] = field(default_factory=dict)  # of every test's file

    def tests_for(self, mutant: Mutant, most_seconds: float, quick: list[str]) -> list[str]:
        """Return the tests that run what is changed: ``quick`` ones first, then by their time.

        Tests are named after the module they are about: these come before the others. What runs
        when the module is imported concerns every test that runs a line of the file.
        """
        lines = self.lines.get(str(mutant.file.relative_to(ROOT)), {})
        chosen = mutant.lines if mutant.called else range(max(lines, default=0) + 1)
        able = {test for line in chosen for test in lines.get(line, ())}.difference(self.broken)
        order = [one for one in quick if one in able]
        about = mutant.file.relative_to(PACKAGE).with_suffix("")
        own = f"tests/{about.parent}/test_{about.name}"
        order += sorted(
            able.difference(order), key=lambda one: (own not in one, self.seconds[one], one)
        )
        taken: list[str] = []
        total = 0.0
        for test in order:
            total += self.seconds[test]
            if total > most_seconds and taken:
                break
            taken.append(test)
        return taken


class _Recorder:
    """A pytest plugin that runs every test, and what it shares with others, by its own name."""

    def __init__(self, files: list[Path], tell: Callable[[str, dict[str, Any]], None]) -> None:
        self.tell = tell  # gets what was learned of a test file when its tests have run
        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, include=[str(one) for one in files]
        )
        self.seconds: dict[str, float] = {}
        self.shared: dict[str, list[str]] = defaultdict(list)  # tests, by fixture
        self.failed: set[str] = set()
        self.item = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave the examples of a module of ours, not functions that are called like tests."""
        ours = [one for one in items if PACKAGE in one.path.parents]
        items[:] = [one for one in items if one not in ours or isinstance(one, DoctestItem)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session: Any) -> Iterator[None]:
        self.coverage.start()
        yield
        self.coverage.stop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            yield
            return
        self.coverage.switch_context(_fixture(fixturedef))
        yield
        self.coverage.switch_context(self.item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        self.item = item.nodeid
        info = getattr(item, "_fixtureinfo", None)
        for definitions in info.name2fixturedefs.values() if info else ():
            for one in definitions:
                self.shared[_fixture(one)].append(item.nodeid)
        self.coverage.switch_context(item.nodeid)
        started = time.process_time()
        yield
        self.seconds[item.nodeid] = round(time.process_time() - started, 3)
        file = item.nodeid.split("::")[0]
        if nextitem is None or nextitem.nodeid.split("::")[0] != file:
            self.tell(file, self._found())

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def _found(self) -> dict[str, Any]:
        """Return what was learned so far, as plain data."""
        data = self.coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            lines[str(Path(file).relative_to(ROOT))] = {
                line: sorted({t for one in contexts for t in self.shared.get(one, [one]) if t})
                for line, contexts in data.contexts_by_lineno(file).items()
            }
        return {"seconds": self.seconds, "lines": lines, "broken": sorted(self.failed)}


def _fixture(definition: Any) -> str:
    return f"fixture {definition.baseid} {definition.argname}"


def learn(files: list[Path], tests: tuple[str, ...], folder: Path) -> Learned:
    """Run the tests once; what was learned of a test file is kept until what it runs changes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [
        str(path.relative_to(ROOT))
        for place in tests
        for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("test_*.py"))
    ]
    known = {path: _kept(path, files, folder) for path in paths}
    if stale := [path for path, one in known.items() if one is None]:
        said = folder / f"{os.getpid()}.txt"

        def keep(path: str, found: dict[str, Any]) -> None:
            fresh = folder / f"{os.getpid()}.part"
            fresh.write_text(json.dumps(_of_file(found, path, files)))
            fresh.replace(_place(path, folder))

        def work() -> int:
            for path in stale:  # also of a file without tests
                _place(path, folder).unlink(missing_ok=True)
            return int(pytest.main([*PYTEST, *stale], plugins=[_Recorder(files, keep)]))

        ended = in_child(work, 3600, said)
        if ended not in (0, 1, 5):
            raise SystemExit(f"the tests cannot be run (pytest ended with {ended}; see {said}).")
        said.unlink()
        for path in stale:
            if not _place(path, folder).exists():  # no test of it runs
                keep(path, {"seconds": {}, "lines": {}, "broken": []})
        known |= {path: _kept(path, files, folder) for path in stale}
    return _together({path: one for path, one in known.items() if one is not None})


def _place(path: str, folder: Path) -> Path:
    return folder / (path.replace("/", "+") + ".json")


def _digest(path: str | Path) -> str:
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]


def _named(files: list[Path]) -> list[str]:
    return [str(file.relative_to(ROOT)) for file in files]


def _kept(path: str, files: list[Path], folder: Path) -> dict[str, Any] | None:
    """Return what is known of a test file, if it and the files that it runs are as they were."""
    place = _place(path, folder)
    one: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    if not one or one["key"] != _digest(path) or not {*_named(files)} <= {*one["measured"]}:
        return None
    same = all((ROOT / file).exists() and _digest(file) == key for file, key in one["runs"].items())
    return one if same else None


def _of_file(found: dict[str, Any], path: str, files: list[Path]) -> dict[str, Any]:
    """Return what was learned of the tests in one file."""
    mine = path + "::"
    lines = {
        file: {
            line: kept
            for line, tests in by_line.items()
            if (kept := [one for one in tests if one.startswith(mine)])
        }
        for file, by_line in found["lines"].items()
    }
    return {
        "key": _digest(path),
        "measured": _named(files),
        "runs": {file: _digest(file) for file, by_line in lines.items() if by_line},
        "seconds": {test: took for test, took in found["seconds"].items() if test.startswith(mine)},
        "broken": [test for test in found["broken"] if test.startswith(mine)],
        "lines": lines,
    }


def _together(known: dict[str, Any]) -> Learned:
    learned = Learned({}, defaultdict(lambda: defaultdict(list)), [])
    for path, one in known.items():
        learned.seconds |= one["seconds"]
        learned.broken += one["broken"]
        learned.digests[path] = one["key"]
        for file, by_line in one["lines"].items():
            for line, tests in by_line.items():
                learned.lines[file][int(line)] += tests
    return learned
