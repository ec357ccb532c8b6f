"""Plants mutants, each in a process of its own, and runs the tests that run the changed line."""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.changes import Mutant
from tests.mutants.learning import PYTEST, Learned
from tests.mutants.processes import FAILED, TIMED_OUT, allow, in_child, start, wait

SECONDS_OF_TESTS = 20.0  # of the tests that run a line, as many as take this long
OF_WRITTEN = 5.0  # times as long for a bug that somebody wrote down
PATIENCE = 8.0, 8.0  # seconds of the processor for a test: so many, and so often its own
SECOND_LOOK = 3.0  # times as patient
SECONDS_TO_IMPORT = 60.0
SECONDS_OF_A_GROUP = 100_000.0


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: ``caught``, ``survived``, ``timed out`` or ``not planted``."""

    kind: str
    test: str = ""  # by which it was caught
    why: str = ""  # what that test said: a slow machine would be named here


Tell = Callable[[Mutant, Outcome], bool]


class Planter:
    """Tries mutants; those tests come first that saw others in the same file."""

    def __init__(
        self, learned: Learned, folder: Path, jobs: int = 1, seconds: float = SECONDS_OF_TESTS
    ) -> None:
        self.learned = learned
        self.seconds = seconds
        self.folder = folder
        self.jobs = jobs
        self.catchers: dict[Path, list[str]] = defaultdict(list)

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that are run for a mutant."""
        most = self.seconds * (OF_WRITTEN if mutant.replaced[0] else 1)
        return self.learned.tests_for(mutant, most, self.catchers[mutant.file][-5:])

    def _try(self, mutant: Mutant, run: Callable[[list[str], float], _Watcher]) -> Outcome:
        """Run the mutant's tests in a child by ``run``, which watches for one that fails."""
        tests = self.tests_for(mutant)
        if not tests:
            return Outcome("survived")
        note = self.folder / f"failed{os.getpid()}"

        def work(patience: float = 1.0) -> int:
            watcher = run(tests, patience)
            note.write_text(f"{watcher.failed}\n{watcher.why}")
            return 1 if watcher.failed else 0

        ended = in_child(work, SECONDS_TO_IMPORT)
        if ended == TIMED_OUT:
            ended = in_child(lambda: work(SECOND_LOOK), SECOND_LOOK * SECONDS_TO_IMPORT)
        elif ended == 1 and "MemoryError" in note.read_text():  # of the bug, or of chance
            ended = in_child(work, SECONDS_TO_IMPORT)
        if ended == TIMED_OUT:
            return Outcome("timed out")
        if ended == FAILED:
            return Outcome("not planted")
        if ended not in (0, 1):
            return Outcome("caught", f"the process, which ended with {ended}")
        if ended == 0:
            return Outcome("survived")
        test, _, why = note.read_text().partition("\n")
        earlier = self.catchers[mutant.file]
        if test in self.learned.seconds and self.learned.seconds[test] < 2:
            if test in earlier:
                earlier.remove(test)
            earlier.append(test)
        return Outcome("caught", test, why)

    def imported(self, mutants: list[Mutant], tell: Tell) -> None:
        """Try mutants of what runs at import: nothing of ours is imported before they are made."""

        def try_one(mutant: Mutant) -> Outcome:
            # Not rewritten: pytest would read a module with examples itself, without the bug.
            options = [*PYTEST, "-x", "--assert", "plain", "--basetemp", str(self.basetemp())]

            def run(tests: list[str], patience: float) -> _Watcher:
                finder: Any = _Finder(mutant)
                sys.meta_path.insert(0, finder)
                watcher = _Watcher(self.learned, patience)
                if pytest.main([*options, *tests], plugins=[watcher]) and not watcher.every:
                    watcher.every.append("the import")
                return watcher

            return self._try(mutant, run)

        self.share(mutants, try_one, tell)

    def called(self, mutants: list[Mutant], tell: Tell) -> None:
        """Try mutants of functions, in copies of a process in which every test is collected.

        ``tell`` gets each result and says whether to go on.
        """
        files = sorted({test.split("::")[0] for one in mutants for test in self.tests_for(one)})
        if not mutants or not files:
            for mutant in mutants:
                tell(mutant, Outcome("survived"))
            return

        def work() -> int:
            pytest.main([*PYTEST, *files], plugins=[_Loop(self, mutants, tell)])
            return 0

        in_child(work, SECONDS_OF_A_GROUP)

    def share(
        self, mutants: list[Mutant], try_one: Callable[[Mutant], Outcome], tell: Tell
    ) -> None:
        """Try mutants in as many processes as may work at once."""

        def work(part: list[Mutant]) -> int:
            for mutant in part:
                if not tell(mutant, try_one(mutant)):
                    break
            return 0

        parts = [mutants[number :: self.jobs] for number in range(self.jobs)]
        started = [start(partial(work, part), SECONDS_OF_A_GROUP) for part in parts if part]
        for child in started:
            wait(child)

    def basetemp(self) -> Path:
        """Return the folder in which tests that this process starts put their files."""
        return self.folder / f"tmp{os.getpid()}"

    def control(self, tests: list[str]) -> list[str]:
        """Return those of the tests that fail with no bug planted."""
        watcher = _Watcher()
        note = self.folder / "control"
        if not tests:
            return []

        def work() -> int:
            pytest.main([*PYTEST, "--basetemp", str(self.basetemp()), *tests], plugins=[watcher])
            note.write_text("\n".join(watcher.every))
            return 0

        if in_child(work, SECONDS_OF_A_GROUP) != 0:
            raise SystemExit("the tests that caught bugs cannot be run without one.")
        return note.read_text().splitlines()


class _Watcher:
    """A pytest plugin that notes which tests fail, and stops one that takes too long."""

    def __init__(self, learned: Learned | None = None, patience: float = 1.0) -> None:
        self.every: list[str] = []
        self.why = ""
        self.learned, self.patience = learned, patience

    @property
    def failed(self) -> str:
        return self.every[0] if self.every else ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.learned is not None:
            _be_patient(self.learned, nodeid, self.patience)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.every.append(report.nodeid)
            said = [line[2:] for line in report.longreprtext.splitlines() if line[:2] == "E "]
            self.why = self.why or (said[0].strip() if said else "")[:200]


def _be_patient(learned: Learned, test: str, patience: float) -> None:
    allow(patience * (PATIENCE[0] + PATIENCE[1] * learned.seconds[test]))


class _Loop:
    """A pytest plugin that, once the tests are collected, runs some of them for every mutant."""

    def __init__(self, planter: Planter, mutants: list[Mutant], tell: Tell) -> None:
        self.planter, self.mutants, self.tell = planter, mutants, tell

    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        for module in {one.module for one in self.mutants}:
            importlib.import_module(module)
        functions = _functions({str(one.file) for one in self.mutants})
        gc.collect()
        gc.freeze()  # what the copies share stays shared

        def try_one(mutant: Mutant) -> Outcome:
            basetemp = self.planter.basetemp()

            def run(tests: list[str], patience: float) -> _Watcher:
                watcher = _Watcher()
                session.config.pluginmanager.register(watcher)
                session.config._tmp_path_factory._given_basetemp = basetemp
                _exchange(mutant, functions)
                chosen = [items[test] for test in tests if test in items]
                for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                    _be_patient(self.planter.learned, item.nodeid, patience)
                    try:
                        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    except KeyboardInterrupt:
                        watcher.every.append(item.nodeid)
                    if watcher.every:
                        break
                return watcher

            return self.planter._try(mutant, run)

        self.planter.share(self.mutants, try_one, self.tell)
        return True


def _functions(files: set[str]) -> dict[str, list[FunctionType]]:
    """Return every function of some files by file and qualified name."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename in files:
            found[f"{one.__code__.co_filename} {one.__code__.co_qualname}"].append(one)
    return found


def _exchange(mutant: Mutant, functions: dict[str, list[FunctionType]]) -> None:
    """Give the functions that the mutant changes their changed code."""
    planted = False
    for code in _codes(mutant.code()):
        for function in functions.get(f"{mutant.file} {code.co_qualname}", ()):
            same_place = function.__code__.co_firstlineno == code.co_firstlineno
            if function.__code__ != code and (same_place or mutant.replaced[0]):
                function.__code__ = code
                planted = True
    assert planted, mutant.name


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function that is not inside another, methods included."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            if not one.co_flags & 2:  # CO_NEWLOCALS: a function; without it, a class
                yield from _codes(one)


class _Finder:
    """Finds the changed module before Python finds the file."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != self.mutant.module:
            return None
        code = self.mutant.code()

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return code

        file = str(self.mutant.file)
        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))
