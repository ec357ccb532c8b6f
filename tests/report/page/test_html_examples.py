"""The examples of the page on reports run as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from indiff.report.page.html import render
from tests.report.documents import usual

PAGE = Path(__file__).parents[3] / "docs" / "report.md"


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "indiff-demo").mkdir()
    (tmp_path / "indiff-demo" / "report.json").write_text(json.dumps(usual()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), {})
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == render(usual())


def test_picture_is_small() -> None:
    picture = PAGE.parent / "images" / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size <= 300_000
