"""What can be planted, and that it is planted where it says."""

from __future__ import annotations

import os
import signal
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.mutants import changes
from tests.mutants.changes import Mutant, mutants_of, named
from tests.mutants.processes import TIMED_OUT, in_child, start

SOURCE = '''
if TYPE_CHECKING:
    Count = int | float

LEAST = 3

def enough(count: int, least: int = LEAST) -> bool:
    """Tell."""
    if count < 0:
        raise ValueError(f"{count + 1}")
    return count >= least and not count > 99
'''


@pytest.fixture
def mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Mutant]:
    monkeypatch.setattr(changes, "PACKAGE", tmp_path)
    (tmp_path / "module.py").write_text(SOURCE)
    return mutants_of(tmp_path / "module.py")


def test_every_change_is_made_once(mutants: list[Mutant]) -> None:
    assert {one.name.removeprefix("module.py ") for one in mutants} == {
        ": LEAST = 3 → LEAST = 4",
        "enough(): if count < 0: → if not count < 0:",
        "enough(): count < 0 → count <= 0",
        "enough(): count < 0 → count > 0",
        "enough(): count < 0 → count < 1",
        "enough(): count >= least and (not count > 99) → count >= least or not count > 99",
        "enough(): count >= least → count > least",
        "enough(): count >= least → count <= least",
        "enough(): not count > 99 → +(count > 99)",
        "enough(): count > 99 → count >= 99",
        "enough(): count > 99 → count < 99",
        "enough(): count > 99 → count > 100",
    }
    assert [one.called for one in mutants] == [False, *[True] * 11]
    lines = SOURCE.splitlines()
    assert {lines[one.lines.start - 1].split()[0] for one in mutants} == {"LEAST", "if", "return"}


@pytest.mark.parametrize("mark", ["kernel", "inner", "inline"])
def test_nothing_is_planted_in_what_is_compiled(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "PACKAGE", tmp_path)
    place = tmp_path / "module.py"
    place.write_text(f"@{mark}\ndef more(x):\n    return x + 1\n")
    assert mutants_of(place) == []
    place.write_text("def more(x):\n    return x + 1\n")
    assert {one.name for one in mutants_of(place)} == {
        "module.py more(): x + 1 → x - 1",
        "module.py more(): x + 1 → x + 2",
    }


def test_a_number_is_named_by_what_it_is_part_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the name means the same bug when another number is written before it."""
    monkeypatch.setattr(changes, "PACKAGE", tmp_path)
    long = ", ".join(f"'value {i}'" for i in range(12))
    source = f"x = where(a, 1, -1)\ny = f(axis=1)\nz = a.sum()\nu = g({long}, 7)\n"
    (tmp_path / "module.py").write_text(source)
    names = [one.name.removeprefix("module.py : ") for one in mutants_of(tmp_path / "module.py")]
    assert names[:4] == [
        "where(a, 1, -1) → where(a, 2, -1)",
        "where(a, 1, -1) → where(a, 1, -2)",
        "f(axis=1) → f(axis=2)",
        "a.sum() → a.len()",
    ]
    assert names[4].startswith("7 → 8 in g('value 0', ")


def test_a_mutant_does_what_its_name_says(mutants: list[Mutant]) -> None:
    (strict,) = [one for one in mutants if one.name.endswith("count >= least → count > least")]
    scope: dict[str, object] = {"TYPE_CHECKING": False}
    exec(strict.code(), scope)
    enough = scope["enough"]
    assert callable(enough)
    assert [enough(count) for count in (2, 3, 4, 100)] == [False, False, True, False]


def test_a_call_of_what_a_method_stands_for_is_dropped_without_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is exchanged for code that sees as much of what is around it."""
    monkeypatch.setattr(changes, "PACKAGE", tmp_path)
    source = "class A(list):\n    def append(self, one):\n        super().append(one)\n"
    (tmp_path / "module.py").write_text(source)
    (dropped,) = mutants_of(tmp_path / "module.py")
    here: dict[str, Any] = {}
    exec(source, here)
    whole = here["A"]
    exec(dropped.code(), here)
    lacking = here["A"]
    whole.append.__code__ = lacking.append.__code__
    (made := whole()).append(1)
    assert made == []


def test_the_written_bugs_can_be_planted() -> None:
    bugs = tomllib.loads((Path(__file__).parent / "planted.toml").read_text(encoding="utf-8"))
    groups = {bug["group"] for bug in bugs.values()}
    found = [one for group in groups for one in named(group, bugs)]
    assert len(found) == len(bugs) > 30
    for one in found:
        one.code()


def test_what_is_explained_can_be_planted() -> None:
    explained = tomllib.loads(
        (Path(__file__).parent / "explained.toml").read_text(encoding="utf-8")
    )
    files = {changes.PACKAGE / name.split(" ")[0] for name in explained}
    assert {*explained} <= {one.name for file in files for one in mutants_of(file)}
    assert all(len(reason) > 10 for reason in explained.values())


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_never_ends_is_stopped() -> None:
    def forever() -> int:
        while True:
            pass

    assert in_child(lambda: 3, 10) == 3
    assert in_child(forever, 0.5) == TIMED_OUT


@pytest.mark.skipif(sys.platform != "linux", reason="others let such processes work on")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_nobody_works_on_when_whoever_started_it_was_stopped(tmp_path: Path) -> None:
    ready = tmp_path / "ready"

    def inner() -> int:
        ready.write_text(str(os.getpid()))
        time.sleep(60)
        return 0

    def outer() -> int:
        start(inner, 60)
        while not ready.exists() or not ready.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    in_child(outer, 60)
    gone = Path("/proc", ready.read_text(), "cmdline")  # empty for one that has ended
    end = time.monotonic() + 30
    while gone.exists() and gone.read_bytes() and time.monotonic() < end:
        time.sleep(0.01)
    assert not gone.exists() or not gone.read_bytes()
