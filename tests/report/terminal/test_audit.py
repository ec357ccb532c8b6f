"""What the terminal says of an audit: the verdict in the word that belongs to it."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

import indiff
from indiff.report.sheet import HOLD
from indiff.report.terminal.audit import show_audit, show_fix


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    frame = pa.table({"age": [20, 20, 30, 30] * 5, "ill": ["a", "b", "b", "c"] * 5})
    plan = indiff.Plan(
        data={"quasi": ["age"], "sensitive": ["ill"]}, release={"sanitizer": "mondrian:k=5"}
    )
    return indiff.run_audit(plan, frame).document


@pytest.mark.parametrize("status", ["pass", "fail", "incomplete", "no-limits"])
def test_the_word_pass_is_said_of_a_pass_alone(document: dict[str, Any], status: str) -> None:
    verdict = {"status": status, "exit_code": 0, "reasons": ["so it is"]}
    console = Console(file=io.StringIO(), width=80, color_system=None)
    show_audit(console, document | {"verdict": verdict})
    assert isinstance(console.file, io.StringIO)
    above, _, said = console.file.getvalue().partition("Verdict:")
    assert above.endswith("\n\n")  # it stands apart
    line = said.splitlines()[0]
    assert ("PASS" in line) == (status == "pass")
    assert ("FAIL" in line) == (status == "fail")


def said(show: Any, *given: Any, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(console, *given)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_next_steps_are_shown_with_their_commands(document: dict[str, Any]) -> None:
    asked = {"sanitizer": "mondrian:k=9"}
    steps = [
        {"text": "take k = 9", "command": "indiff x", "options": asked},
        {"text": "or so", "command": None, "options": asked},
        {"text": "rest", "command": None, "options": {}},
    ]
    shown = said(show_audit, document | {"next_steps": steps})
    same = "    the same call with --sanitizer mondrian:k=9\n"
    assert shown.endswith(f"What to do next\n  take k = 9\n    indiff x\n  or so\n{same}  rest\n")
    assert "What to do next" not in said(show_audit, document | {"next_steps": []})
    failed = document | {"verdict": {"status": "fail", "exit_code": 1, "reasons": ["so it is"]}}
    assert HOLD not in " ".join(shown.split())
    assert HOLD in " ".join(said(show_audit, failed | {"next_steps": steps}).split())


def test_what_is_not_exact_is_explained(document: dict[str, Any]) -> None:
    found = [one for one in document["findings"] if one["status"] == "measured"]
    sure = [one | {"exactness": "exact"} for one in found]
    shown = said(show_audit, document | {"findings": sure}, width=200)
    assert "Every number is exact." in shown
    part = [*sure, sure[-1] | {"exactness": "lower-bound"}]
    shown = said(show_audit, document | {"findings": part}, width=200)
    marked = "Numbers are exact but for those marked lower-bound (not every record was tested)."
    assert marked in shown
    assert "Every number is exact." not in shown
    assert "[lower-bound]" in shown or ", lower-bound]" in shown


def test_a_fix_shows_its_rounds_and_what_it_loses() -> None:
    rounds = [
        SimpleNamespace(removed=one, delta=1 / (1 + one), mean=0.01, above=9 - one)
        for one in range(60)
    ]
    before = SimpleNamespace(ncp=0.1, discernibility=None, average_group=2.0, accuracy=0.5)
    after = SimpleNamespace(ncp=0.2, discernibility=3.0, average_group=None, accuracy=0.25)
    fixed = SimpleNamespace(
        limit=0.1, rounds=rounds, sanitizer="mondrian:k=5", model="tree", reason="it is below",
        removed=range(59), records=1_000, budget=50, verified_delta=0.05, verified_by="refit",
        utility_before=before, utility_after=after, release=None, does_not_prove="that it is safe",
    )  # fmt: skip
    shown = said(show_fix, fixed, {})
    assert "Removing outliers until δ is at most 0.1" in shown
    assert re.search(r"^removed +59 of 1,000 \(budget 50\)$", shown, re.MULTILINE)
    assert "δ = 0.05 by refit, from scratch" in shown
    # What was measured before and after, and nothing of which one is missing.
    changes = [line.split(": ")[1] for line in shown.splitlines() if line.startswith("utility")]
    assert sorted(changes) == ["0.1 → 0.2", "0.5 → 0.25"]
    assert "none is written, since none is below the limit" in shown
    # Of many rounds the first 39 and the last are shown, and that some are left out.
    shown_rounds = re.findall(r"^ *(\d+|…)  .* \S+$", shown.split("Fix")[0], re.MULTILINE)
    assert shown_rounds == [*map(str, range(39)), "…", "59"]


@pytest.mark.parametrize("status", ["pass", "fail", "incomplete", "no-limits"])
def test_a_pass_alone_is_green(document: dict[str, Any], status: str) -> None:
    verdict = {"status": status, "exit_code": 0, "reasons": ["so it is"]}
    console = Console(file=io.StringIO(), width=80, color_system="standard", force_terminal=True)
    show_audit(console, document | {"verdict": verdict})
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue().splitlines()
    for text in ("Verdict:", "so it is"):
        (line,) = (one for one in said if text in one)
        assert ("\x1b[1;32m" in line) == (status == "pass")
        assert ("\x1b[1;31m" in line) == (status in ("fail", "incomplete"))
