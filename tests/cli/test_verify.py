"""``indiff verify`` on the command line: exit codes, and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import indiff
from indiff.files import write_frame
from tests.command_line import call


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filed")
    write_frame(indiff.datasets.demo(records=150), folder / "data.csv")
    call(
        "audit", folder / "data.csv", "--quasi", "age,sex", "--sensitive", "diagnosis", "--model",
        "naive-bayes", "--worst", "0", "--limit", "k=2", "--out", folder, "--write-release",
        folder / "out.tsv",
    )  # fmt: skip
    return folder


def test_a_release_that_was_written_belongs_to_its_report(filed: Path) -> None:
    ended = call("verify", filed / "report.json", filed / "out.tsv", "--data", filed / "data.csv")
    assert ended.code == 0, ended.out + ended.err
    said = " ".join(ended.out.split())
    assert "'out.tsv' is the release that was judged" in said
    assert "every finding was recomputed" in said
    assert said.endswith("they belong together")


def test_exit_codes(filed: Path, tmp_path: Path) -> None:
    assert call("verify", filed / "report.json", filed / "data.csv").code == 1
    assert call("verify", filed / "report.json", tmp_path / "no.csv").code == 2
    document = json.loads((filed / "report.json").read_text(encoding="utf-8"))
    document["findings"][2]["value"] = 9.0
    report = tmp_path / "report.json"
    report.write_text(json.dumps(document), encoding="utf-8")
    ended = call("verify", report, filed / "out.tsv", "--data", filed / "data.csv")
    assert ended.code == 1
    assert f"differs {document['findings'][2]['id']}" in " ".join(ended.out.split())
    del document["files"]
    report.write_text(json.dumps(document), encoding="utf-8")
    ended = call("verify", report, filed / "out.tsv")
    assert ended.code == 3
    assert "cannot be decided" in ended.out


def test_write_release_is_refused_before_any_work(filed: Path, tmp_path: Path) -> None:
    words = ("audit", filed / "data.csv", "--quasi", "age", "--sensitive", "diagnosis")
    before = (filed / "data.csv").read_bytes()
    for place, message in (
        (filed / "data.csv", "must be a file of its own"),
        (tmp_path / "out.xlsx", "must end in .csv, .tsv, .parquet"),
        (tmp_path / "no" / "out.csv", "must be in a folder that exists"),
    ):
        ended = call(*words, "--out", tmp_path / "report", "--write-release", place)
        assert ended.code == 2
        assert message in ended.err
        assert ended.err.count("\n") == 1
    assert (filed / "data.csv").read_bytes() == before
    assert list(tmp_path.iterdir()) == []
