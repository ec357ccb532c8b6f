"""The plugin of pytest: a fixture, a marker, and the verdict in the failure output."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from indiff.kernels import cache_directory
from tests.command_line import announce, write_people

pytest_plugins = "pytester"
ROOT = Path(__file__).parents[1]
PLAN = """
[data]
path = "people.csv"
quasi = ["age", "town"]
sensitive = "ill"
identifier = "id"
other = ["wage", "smokes"]
[release]
sanitizer = "mondrian:k=5"
[adversary]
models = ["frequency"]
"""


TESTS = """
import pyarrow.csv
import pytest

def test_kept(indiff_audit):
    assert indiff_audit("kept.toml").passed

def test_exceeded(indiff_audit):
    assert indiff_audit("exceeded.toml").passed

def test_no_limit(indiff_audit):
    assert indiff_audit("open.toml").passed

def test_nowhere(indiff_audit):
    indiff_audit("nowhere.toml")

def test_no_plan(indiff_audit):
    indiff_audit()

@pytest.mark.indiff("kept.toml", out="report")
def test_marked(indiff_audit):
    assert indiff_audit().finding("k").value >= 5

def test_frame(indiff_audit):
    frame = pyarrow.csv.read_csv("people.csv")
    assert indiff_audit("kept.toml", frame.slice(0, 30)).finding("records").value == 30

def test_without_any():
    pass
"""


@pytest.fixture
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    announce()
    # pytester makes another home, where no compiled kernel is kept.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory().parent))
    made: pytest.Pytester = request.getfixturevalue("pytester")
    write_people(made.path)
    (made.path / "kept.toml").write_text(PLAN + "[limits]\nk = 5\n")
    (made.path / "exceeded.toml").write_text(PLAN + "[limits]\nk = 50\n")
    (made.path / "open.toml").write_text(PLAN)
    made.makepyfile(test_release=TESTS)
    return made


def run(folder: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run in another process: libraries that are loaded twice in one may end it."""
    plugin = ("-p", "indiff.pytest", "-p", "no:cacheprovider", "--strict-markers")
    return folder.runpytest_subprocess(*plugin, *words)


def test_an_audit_is_a_test_whose_failure_says_why(folder: pytest.Pytester) -> None:
    ended = run(folder)
    ended.assert_outcomes(passed=4, failed=4)
    told = ended.stdout.str()
    assert told.count("- indiff: the verdict -") == 2  # of the two that were audited and failed
    exceeded = told[told.index("_ test_exceeded _") : told.index("_ test_no_limit _")]
    assert "FAIL: this release does not keep what was asked of it" in exceeded
    assert "Smallest group (k) is 5, below the limit 50" in exceeded
    no_limit = told[told.index("_ test_no_limit _") : told.index("_ test_nowhere _")]
    assert "NO LIMITS: nothing was exceeded because no limit was given" in no_limit
    nowhere = told[told.index("_ test_nowhere _") : told.index("= short test summary")]
    assert "indiff: a plan must" in nowhere
    assert "indiff_audit needs a plan: indiff_audit('plan.toml')" in nowhere
    assert "run_audit" not in nowhere  # one sentence each, no traceback
    assert "secret-" not in told
    assert (folder.path / "report" / "report.html").exists()


def test_audits_can_be_left_out(folder: pytest.Pytester) -> None:
    run(folder, "-m", "not indiff").assert_outcomes(passed=1, deselected=7)


def test_it_costs_those_who_do_not_use_it_nothing() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import indiff.pytest; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    new = {name for name in done.stdout.split() if not name.startswith("indiff")}
    assert not new & {"numpy", "numba", "pyarrow", "pydantic", "duckdb", "sklearn", "typer"}
    assert len(new) < 20, new


def test_it_is_a_plugin_of_the_package_with_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"indiff.pytest": "indiff.pytest"}
    assert project["optional-dependencies"]["pytest"][0].startswith("pytest>=")
