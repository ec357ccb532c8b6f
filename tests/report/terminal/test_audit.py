"""What the terminal says of an audit: the verdict in the word that belongs to it."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

import indiff
from indiff.report.terminal.audit import show_audit


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
    (line,) = (one for one in console.file.getvalue().splitlines() if one.startswith("Verdict:"))
    assert ("PASS" in line) == (status == "pass")
    assert ("FAIL" in line) == (status == "fail")
