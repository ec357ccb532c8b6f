"""The README does what it says: its examples run, its links and its commands exist."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import indiff
from tests.command_line import announce

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one code block in this language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def test_python_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    announce()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(block("python"), names)
    told = capsys.readouterr()
    described, numbers, worst = told.out.splitlines()
    assert described.startswith("identifier: patient_id (categorical); quasi: age (numeric)")
    found = names["result"]
    assert isinstance(found, indiff.StrongestResult)
    assert len(found.distances) == 5000
    assert numbers == f"δ = {found.distances.max():.3f}, mean {found.distances.mean():.4f}"
    assert worst == str(found.worst(3))
    assert (tmp_path / "cdf.svg").exists()
    assert told.err == ""


@pytest.mark.system  # a process for every command; tests/cli/test_main.py runs the demo
def test_shell_example(tmp_path: Path) -> None:
    announce()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", block("sh")],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "no limit was exceeded" in done.stdout
    written = json.loads((tmp_path / "result.json").read_text())
    assert list(written["deltas"]) == ["naive-bayes", "frequency", "tree"]
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    demo = json.loads((tmp_path / "demo" / "report.json").read_text())
    assert report["findings"] == demo["findings"]  # the demo's numbers again
    assert pyarrow.csv.read_csv(tmp_path / "records.csv").num_rows == 5000
    assert "patient_id" not in pyarrow.csv.read_csv(tmp_path / "release.csv").column_names
    assert (tmp_path / "demo" / "release.csv").exists()
    for folder in ("demo", "report"):
        assert (tmp_path / folder / "report.html").exists()


def test_commands_can_be_made() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^make ([a-z-]+)", pages, re.MULTILINE))
    assert {"demo", "test", "format", "benchmarks"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    "page",
    [
        page.relative_to(ROOT)
        for page in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")))
    ],
    ids=str,
)
def test_links_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(("http://", "https://", "#")):
            assert (ROOT / page.parent / link.partition("#")[0]).exists(), link


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    papers = (ROOT / "docs" / "papers" / "README.md").read_text(encoding="utf-8")  # its own index
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        if name.startswith("papers/") and page.name != "README.md":
            assert f"({page.name})" in papers, name
        else:
            assert f"({name})" in index or name == "index.md", name
