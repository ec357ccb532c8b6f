"""Plants mutants, each in a process of its own, and runs the tests that run the changed line."""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import importlib.util
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.changes import Mutant
from tests.mutants.learning import PYTEST, Learned
from tests.mutants.processes import TIMED_OUT, in_child

SECONDS_OF_TESTS = 20.0  # of the tests that run a line, as many as take this long
PATIENCE = 30.0, 10.0  # seconds of the processor for a mutant: so many, and so often the tests' own


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: ``caught``, ``survived`` or ``timed out``; by which test."""

    kind: str
    test: str = ""


class Planter:
    """Tries mutants; those tests come first that saw others in the same file."""

    def __init__(self, learned: Learned, folder: Path) -> None:
        self.learned = learned
        self.note = folder / "failed"
        self.basetemp = folder / "tmp"
        self.catchers: dict[Path, list[str]] = defaultdict(list)

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that are run for a mutant."""
        most = math.inf if mutant.replaced[0] else SECONDS_OF_TESTS  # a written one deserves all
        return self.learned.tests_for(mutant, most, self.catchers[mutant.file][-5:])

    def _try(self, mutant: Mutant, run: Callable[[list[str]], str | None]) -> Outcome:
        """Run the mutant's tests in a child by ``run``, which names one that fails."""
        tests = self.tests_for(mutant)
        if not tests:
            return Outcome("survived")

        def work() -> int:
            failed = run(tests)
            self.note.write_text(failed or "")
            return 1 if failed else 0

        took = sum(self.learned.seconds[test] for test in tests)
        ended = in_child(work, PATIENCE[0] + PATIENCE[1] * took)
        if ended == TIMED_OUT:
            return Outcome("timed out")
        if ended not in (0, 1):
            return Outcome("caught", f"the process, which ended with {ended}")
        if ended == 0:
            return Outcome("survived")
        test = self.note.read_text()
        earlier = self.catchers[mutant.file]
        if test in self.learned.seconds and self.learned.seconds[test] < 2:
            if test in earlier:
                earlier.remove(test)
            earlier.append(test)
        return Outcome("caught", test)

    def imported(self, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Outcome]]:
        """Try mutants of what runs at import: nothing of ours is imported before they are made."""
        for mutant in mutants:

            def run(tests: list[str], mutant: Mutant = mutant) -> str | None:
                finder: Any = _Finder(mutant)
                sys.meta_path.insert(0, finder)
                watcher = _Watcher()
                code = pytest.main([*self._options(), "-x", *tests], plugins=[watcher])
                return None if code == 0 else watcher.failed or "the import"

            yield mutant, self._try(mutant, run)

    def called(self, mutants: list[Mutant], tell: Callable[[Mutant, Outcome], bool]) -> None:
        """Try mutants of functions, in copies of a process in which every test is collected.

        ``tell`` gets each result and says whether to go on.
        """
        files = sorted({test.split("::")[0] for one in mutants for test in self.tests_for(one)})
        if not mutants or not files:
            for mutant in mutants:
                tell(mutant, Outcome("survived"))
            return

        def work() -> int:
            pytest.main([*self._options(), *files], plugins=[_Loop(self, mutants, tell)])
            return 0

        in_child(work, 100_000)

    def _options(self) -> list[str]:
        return [*PYTEST, "--basetemp", str(self.basetemp)]

    def control(self, tests: list[str]) -> list[str]:
        """Return those of the tests that fail with no bug planted."""
        watcher = _Watcher()
        if not tests:
            return []

        def work() -> int:
            pytest.main([*self._options(), *tests], plugins=[watcher])
            self.note.write_text("\n".join(watcher.every))
            return 0

        in_child(work, 100_000)
        return self.note.read_text().split("\n") if self.note.read_text() else []


class _Watcher:
    """A pytest plugin that notes which tests fail."""

    def __init__(self) -> None:
        self.every: list[str] = []

    @property
    def failed(self) -> str:
        return self.every[0] if self.every else ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.every.append(report.nodeid)


class _Loop:
    """A pytest plugin that, once the tests are collected, runs some of them for every mutant."""

    def __init__(
        self, planter: Planter, mutants: list[Mutant], tell: Callable[[Mutant, Outcome], bool]
    ) -> None:
        self.planter, self.mutants, self.tell = planter, mutants, tell

    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        for module in {one.module for one in self.mutants}:
            importlib.import_module(module)
        functions = _functions({str(one.file) for one in self.mutants})
        gc.collect()
        gc.freeze()  # what the copies share stays shared
        for mutant in self.mutants:

            def run(tests: list[str], mutant: Mutant = mutant) -> str | None:
                _exchange(mutant, functions)
                chosen = [items[test] for test in tests if test in items]
                for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if session.testsfailed:
                        return str(item.nodeid)
                return None

            if not self.tell(mutant, self.planter._try(mutant, run)):
                break
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
