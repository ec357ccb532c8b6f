"""What an audit proposes is done as it says, and then keeps the limit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from tests.command_line import call


def written(place: Path, frame: pa.Table, sanitizer: str, limits: str, quasi: list[str]) -> None:
    pyarrow.csv.write_csv(frame, place / "people.csv")
    (place / "plan.toml").write_text(
        f'[data]\npath = "people.csv"\nquasi = {quasi}\nsensitive = "ill"\n'
        f'[release]\nsanitizer = "{sanitizer}"\n[limits]\n{limits}\n',
        encoding="utf-8",
    )


def people(ill: list[str]) -> pa.Table:
    """Four ages of as many people each: in two groups a record weighs half of what it does in four.

    Everybody has the same sex, which tells nothing.
    """
    each = len(ill) // 4
    ages = [age for age in (20, 21, 80, 81) for _ in range(each)]
    return pa.table({"age": ages, "sex": ["f"] * len(ill), "ill": ill})


def made_up(count: int) -> pa.Table:
    """Return demo patients with what is asked about called ill."""
    frame = indiff.datasets.demo(records=count).select(["age", "sex", "diagnosis"])
    return frame.rename_columns(["age", "sex", "ill"])


@pytest.mark.parametrize(
    ("frame", "sanitizer", "limits", "kind"),
    [
        (people(["n", "y"] * 60), "mondrian:k=2", "delta = 0.02", "parameter"),
        (people([*["n", "y"] * 59, "n", "z"]), "mondrian:k=2", "delta = 0.02\nk = 4", "fix"),
        (made_up(600), "mondrian:k=2", "delta = 0.5\nk = 5", None),
    ],
)
def test_the_advice_keeps_the_limit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    frame: pa.Table,
    sanitizer: str,
    limits: str,
    kind: str | None,
) -> None:
    """The first line of a failed audit that can be pasted ends in a pass."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, frame, sanitizer, limits, ["age", "sex"])
    assert call("audit", "plan.toml", "--out", "first").code == 1
    document: Any = json.loads((tmp_path / "first/report.json").read_text(encoding="utf-8"))
    steps = [x for x in document["next_steps"] if {"sanitizer", "fix"} & set(x["options"])]
    assert steps, document["next_steps"]
    if kind is not None:
        assert steps[0]["kind"] == kind
    ended = call(*shlex.split(steps[0]["command"])[1:], "--out", "second")
    assert ended.code == 0, ended.out
    again: Any = json.loads((tmp_path / "second/report.json").read_text(encoding="utf-8"))
    assert again["verdict"]["status"] == "pass"
