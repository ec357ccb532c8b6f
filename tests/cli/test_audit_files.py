"""What ``indiff audit`` leaves behind, and what it says about it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit import outliers
from tests.command_line import call


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Change to a folder with a table, and return the words that audit it."""
    monkeypatch.chdir(tmp_path)
    frame = pa.table({"age": list(range(24)), "ill": list("nynynn") * 4})
    pyarrow.csv.write_csv(frame, "people.csv")
    return ["audit", "people.csv", "--quasi", "age", "--sensitive", "ill", "--model", "frequency"]


@pytest.mark.parametrize(("limit", "warned"), [("k=20", True), ("k=5", False)])
def test_a_release_without_a_pass_is_warned_about(
    people: list[str], limit: str, warned: bool
) -> None:
    ended = call(*people, "--limit", limit, "--write-release", "release.csv")
    assert ended.code == int(warned)
    assert Path("release.csv").exists()
    told = "release.csv was written, but its verdict is FAIL: do not publish it."
    assert (told in ended.out) == warned


def test_an_interrupted_fix_leaves_an_earlier_report(
    people: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(*people, "--limit", "k=5", "--out", "r").code == 0
    before = {place.name: place.read_bytes() for place in Path("r").iterdir()}
    usual = outliers.without_outliers

    def cut_short(*given: Any) -> Any:
        found, table = usual(*given)
        return dataclasses.replace(found, status="interrupted", release=None), table

    monkeypatch.setattr(outliers, "without_outliers", cut_short)
    ended = call(*people, "--out", "r", "--fix", "delta=0.1")
    assert ended.code == 130
    assert "Removing outliers" in ended.out
    assert {place.name: place.read_bytes() for place in Path("r").iterdir()} == before


def test_what_is_noted_while_reading_is_said_once(people: list[str]) -> None:
    Path("people.csv").write_text("age;ill\n" + "1;n\n2;y\n" * 12, encoding="utf-8")
    assert call(*people).out.count("fields are separated by ';'") == 1


def test_records_without_a_sensitive_value_are_noted() -> None:
    frame = pa.table({"age": [1, 2, 3, 4], "ill": ["n", None, "y", "n"]})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    assert table.notes[0].startswith("1 of 4 records have no 'ill'")


def test_columns_that_were_taken_as_quasi_identifiers_are_told(people: list[str]) -> None:
    told = "every column without another role is taken as a quasi-identifier"
    for more, expected in (([], True), (["--quasi", "age"], False)):
        ended = call("risk", "people.csv", "--sensitive", "ill", *more)
        assert (told in " ".join(ended.out.split())) == expected


def test_a_pipeline_gets_test_cases_and_a_summary_for_their_owner(people: list[str]) -> None:
    Path("r").mkdir()
    files = ["--out", "r", "--junit", "r/junit.xml", "--summary", "summary.md"]
    ended = call(*people, "--limit", "k=20", *files)
    assert ended.code == 1
    suite = Xml.parse("r/junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")  # k, and the verdict
    assert "below the limit 20" in Path("summary.md").read_text(encoding="utf-8")
    for name in ("r/junit.xml", "summary.md"):
        assert Path(name).stat().st_mode & 0o777 == 0o600
        assert name in ended.out
    assert call(*people, "--limit", "k=5", *files).code == 0
    assert 'failures="0" errors="0"' in Path("r/junit.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["people.csv", "r/report.md"])
def test_a_pipeline_s_file_overwrites_neither_the_input_nor_the_report(
    people: list[str], name: str
) -> None:
    ended = call(*people, "--out", "r", "--summary", name)
    assert ended.code == 2
    assert "--summary must be a file of its own" in ended.err
    assert Path("people.csv").read_text().startswith('"age","ill"')
