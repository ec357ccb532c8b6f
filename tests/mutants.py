"""Plants one small bug after another in the modules that decide, and names those no test sees.

``make mutants`` or ``python tests/mutants.py [--only audit] [--minutes 20] [--seed 1]``. The tests
of a group run once to learn which of them call which function; then every bug gets a process of
its own, in which the changed module is imported and the tests that call the changed function run,
quickest first. Compiled kernels are left out: their tests compare every bit with plain Python.

A bug that no test sees is a missing test, or it changes nothing that anybody can observe: then
``explained_mutants.toml`` says why. Ends with 1 where fewer than nine in ten are seen, or where
one is neither seen nor explained.
"""

from __future__ import annotations

import argparse
import ast
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "indiff"
EXPLAINED = Path(__file__).with_name("explained_mutants.toml")
LEAST_SCORE = 0.9
SECONDS_OF_TESTS = 30.0  # of the tests that call a function, as many as take this long

# What decides, and the tests that are about it.
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "audit": (
        ("audit/verdict.py", "audit/metrics.py", "audit/plan/limits.py", "audit/findings"),
        (
            "tests/audit",
            "tests/report",
            "tests/cli/test_audit.py",
            "tests/cli/test_main_promises.py",
        ),
    ),
    "words": (
        ("audit/redaction.py", "report/finding.py", "report/terminal/audit.py"),
        (
            "tests/audit",
            "tests/report",
            "tests/cli/test_audit.py",
            "tests/cli/test_main_promises.py",
        ),
    ),
    "risk": (
        ("risk", "report/terminal/risk.py", "cli/risk.py"),
        ("tests/risk", "tests/cli/test_risk.py", "tests/cli/test_main_promises.py"),
    ),
    "engines": (("engines/in_process.py", "engines/duckdb.py"), ("tests/engines", "tests/risk")),
    "test": (
        (
            *("differential/summary.py", "differential/result.py", "differential/strongest.py"),
            *("differential/people.py", "differential/targets", "differential/beside"),
            *("differential/explain/membership.py", "differential/noise/bracket.py"),
            *("differential/noise/runs.py", "cli/test.py"),
        ),
        (
            "tests/differential",
            "tests/cli/test_main_promises.py",
            "tests/cli/test_test_release_beside.py",
        ),
    ),
    "journal": (
        ("differential/calls/journal.py", "differential/calls/identity.py"),
        ("tests/differential/calls", "tests/cli/test_test_long_runs.py"),
    ),
}


# How long every test takes, and which functions it calls.
Learned = dict[str, tuple[float, set[str]]]


@dataclass(frozen=True)
class Mutant:
    """One change of one module: the ``number``-th of those that can be made there."""

    file: Path
    number: int
    function: str  # the qualified name, or "" outside of functions
    change: str

    @property
    def name(self) -> str:
        """The mutant's name, in which no line number stands: it outlives edits elsewhere."""
        return f"{self.file.relative_to(PACKAGE)} {self.function}: {self.change}"


# Changes: each takes a node and changes it in place.

_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
_NAMES = {"min": "max", "any": "all", "minimum": "maximum", "sum": "len", "lower": "upper"}
_NAMES |= {changed: name for name, changed in _NAMES.items()}


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the fields of ``node`` that can be changed, with what they become."""
    if isinstance(node, ast.Compare):
        for changed in _OPERATORS.get(type(node.ops[0]), ()):
            yield "ops", [changed(), *node.ops[1:]]
    elif isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign):
        if isinstance(getattr(node, "left", None), ast.JoinedStr):
            return  # two parts of a sentence
        for changed in _OPERATORS.get(type(node.op), ()):
            yield "op", changed()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "op", ast.UAdd()  # +True is 1, which is true where True is
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "value", node.value + 1
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        yield "id", _NAMES[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield "attr", _NAMES[node.attr]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "ifs", []
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "value", ast.Constant(None)


# Words that nobody decides by, and what a type checker reads.
_SILENT = (ast.Raise, ast.Import, ast.ImportFrom, ast.AnnAssign, ast.JoinedStr)


def _points(node: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str, str, Any]]:
    """Yield (node, function, field, value) of every change below ``node``, in source order."""
    if isinstance(node, _SILENT) and not (isinstance(node, ast.AnnAssign) and node.value):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        marks = [ast.unparse(one) for one in node.decorator_list]
        if "kernel" in marks or node.name in ("__repr__", "_repr_html_"):
            return
        # A function inside a function is run by the tests that call the outer one.
        nested = "<locals>" in function or function.endswith("()")
        if not nested:
            name = node.name + ("" if isinstance(node, ast.ClassDef) else "()")
            function = f"{function}.{name}" if function else name
    below: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        below = [*node.args.defaults, *(one for one in node.args.kw_defaults if one), *node.body]
    elif isinstance(node, ast.AnnAssign):
        below = [node.value] if node.value else []
    yield from ((node, function, name, value) for name, value in _changes(node))
    for child in below:
        yield from _points(child, function)


def mutants_of(file: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    found = []
    seen: Counter[str] = Counter()
    for number, (node, function, name, value) in enumerate(_points(ast.parse(file.read_text()))):
        before = ast.unparse(node)
        kept = getattr(node, name)
        setattr(node, name, value)
        ast.fix_missing_locations(node)
        change = f"{_short(before)} → {_short(ast.unparse(node))}"
        setattr(node, name, kept)
        key = f"{function}: {change}"
        seen[key] += 1
        again = f" ({seen[key]})" if seen[key] > 1 else ""
        found.append(Mutant(file, number, function, change + again))
    return found


def _short(code: str) -> str:
    first = " ".join(code.split("\n", 1)[0].split())
    return first if len(first) <= 90 else first[:44] + " … " + first[-43:]


def planted(mutant: Mutant) -> CodeType:
    """Return the module's code with the change in it."""
    tree = ast.parse(mutant.file.read_text())
    for number, (node, _, name, value) in enumerate(_points(tree)):
        if number == mutant.number:
            setattr(node, name, value)
            break
    return compile(ast.fix_missing_locations(tree), str(mutant.file), "exec")


class _Planter:
    """Finds the changed module before Python finds the file."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = mutant.file.relative_to(PACKAGE.parent).with_suffix("").parts
        self.module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != self.module:
            return None
        code = planted(self.mutant)

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return code

        file = str(self.mutant.file)
        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))


class _Recorder:
    """A pytest plugin that notes which functions of some files every test calls."""

    def __init__(self, files: set[str]) -> None:
        self.files = files
        self.called: set[str] = set()
        self.fixtures: dict[str, set[str]] = defaultdict(set)
        self.tests: dict[str, tuple[float, set[str]]] = {}

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename in self.files:
            outer = frame.f_code.co_qualname.split(".<locals>")[0]
            self.called.add(f"{frame.f_code.co_filename} {outer}()")

    @contextmanager
    def _listening(self) -> Iterator[set[str]]:
        before, self.called = self.called, set()
        sys.setprofile(self._note)
        try:
            yield self.called
        finally:
            sys.setprofile(None)
            before |= self.called
            self.called = before

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        with self._listening() as called:
            yield
        sys.setprofile(self._note)  # the test that asked for the fixture goes on
        if fixturedef.scope != "function":
            self.fixtures[fixturedef.argname] |= called

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        started = time.perf_counter()
        with self._listening() as called:
            yield
        shared = (self.fixtures[name] for name in item.fixturenames if name in self.fixtures)
        took = time.perf_counter() - started
        self.tests[item.nodeid] = (took, called.union(*shared))


def _in_child(work: Any, seconds: float) -> int:
    """Run ``work`` in a copy of this process; return its exit code, or -1 when time ran out."""
    child = os.fork()
    if child == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return _wait(child, seconds)


def _wait(child: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


_PYTEST = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not system and not long", "--no-header")


def learn(files: list[Path], tests: tuple[str, ...]) -> Learned:
    """Run the tests once; return how long each took and which functions it called."""
    with tempfile.NamedTemporaryFile(suffix=".json") as kept:

        def work() -> int:
            recorder = _Recorder({str(file) for file in files})
            code = pytest.main([*_PYTEST, *tests], plugins=[recorder])
            found = {
                test: [took, sorted(called)] for test, (took, called) in recorder.tests.items()
            }
            Path(kept.name).write_text(json.dumps(found))
            return int(code)

        code = _in_child(work, 3600)
        if code:
            sys.exit(f"the tests fail before any bug is planted (pytest ended with {code}).")
        found = json.loads(Path(kept.name).read_text())
    return {test: (took, set(called)) for test, (took, called) in found.items()}


def tests_for(
    mutant: Mutant, learned: dict[str, tuple[float, set[str]]]
) -> tuple[list[str], float]:
    """Return the tests that call the changed function, quickest first, and how long they take."""
    key = f"{mutant.file} {mutant.function}"
    calling = mutant.function.endswith("()")
    able = sorted(
        (took, test) for test, (took, called) in learned.items() if not calling or key in called
    )
    chosen: list[str] = []
    total = 0.0
    for took, test in able:
        if total + took > SECONDS_OF_TESTS and chosen:
            break
        chosen.append(test)
        total += took
    return chosen, total


def seen(mutant: Mutant, learned: Learned) -> bool:
    """Say whether a test fails with the mutant planted."""
    chosen, seconds = tests_for(mutant, learned)
    if not chosen:
        return False

    def work() -> int:
        finder: Any = _Planter(mutant)
        sys.meta_path.insert(0, finder)
        return int(pytest.main([*_PYTEST, *chosen]))

    return _in_child(work, 60 + 10 * seconds) != 0


def _files(places: tuple[str, ...]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        path = PACKAGE / place
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def _warm() -> list[ModuleType]:
    """Import what every test needs but ours, so that each copy of this process has it."""
    ours = ("numpy", "numba", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "duckdb")
    others = ("pandas", "pydantic", "rich.console", "typer", "jinja2", "sklearn.tree")
    return [importlib.import_module(name) for name in (*ours, *others)]


def run_group(name: str, seconds: float, seed: int, every: int) -> tuple[int, list[Mutant]]:
    """Try a group's mutants until the time is up; return how many were tried, and those unseen."""
    places, tests = GROUPS[name]
    files = _files(places)
    started = time.monotonic()
    learned = learn(files, tests)
    every_mutant = [one for file in files for one in mutants_of(file)]
    random.Random(seed).shuffle(every_mutant)
    print(
        f"{name}: {len(learned)} tests learned in {time.monotonic() - started:.0f} s, "
        f"{len(every_mutant)} bugs can be planted",
        flush=True,
    )
    unseen = []
    tried = 0
    end = time.monotonic() + seconds
    for mutant in every_mutant[::every]:
        if time.monotonic() > end:
            break
        tried += 1
        if not seen(mutant, learned):
            unseen.append(mutant)
            print(f"  unseen: {mutant.name}", flush=True)
    return tried, unseen


def main() -> None:
    """Run the groups asked for and print the score of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument(
        "--only", choices=[*GROUPS], action="append", help="a group; may be repeated"
    )
    parser.add_argument("--minutes", type=float, default=20, help="time for each group")
    parser.add_argument("--seed", type=int, default=1, help="the order in which bugs are planted")
    parser.add_argument("--every", type=int, default=1, help="plant every n-th bug only")
    given = parser.parse_args()
    os.chdir(ROOT)
    _warm()
    explained = tomllib.loads(EXPLAINED.read_text()) if EXPLAINED.exists() else {}
    short = False
    for name in given.only or GROUPS:
        tried, unseen = run_group(name, 60 * given.minutes, given.seed, given.every)
        open_ones = [one for one in unseen if one.name not in explained]
        score = 1 - len(unseen) / max(tried, 1)
        short = short or score < LEAST_SCORE or bool(open_ones)
        print(
            f"{name}: {tried} planted, {tried - len(unseen)} seen ({score:.1%}), "
            f"{len(unseen) - len(open_ones)} explained, {len(open_ones)} open",
            flush=True,
        )
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
