"""``--join`` and ``--on``: several tables of the same people on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call

ROLES = ("--on", "id", "--quasi", "age,ward", "--sensitive", "ill")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people = "".join(f"p{one},{20 + one % 3}\n" for one in range(12))
    (tmp_path / "people.csv").write_text(f"id,age\n{people}")
    visits = "".join(f"p{one % 13},{'AB'[one % 2]},{'xyz'[one % 3]}\n" for one in range(26))
    (tmp_path / "visits.csv").write_text(f"id,ward,ill\n{visits}")
    return tmp_path


def test_an_audit_of_several_tables(folder: Path) -> None:
    """Person p12 has two visits and is in no table of people."""
    ended = call(
        "audit", "people.csv", "--join", "visits.csv", *ROLES, "--limit", "joined.only=0.5",
        "--model", "frequency", "--out", "out", "--worst", "0",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "2 rows of visits.csv have no key, or one that the tables before it lack" in shown
    assert "People singled out only after the join" in shown
    assert "δ is over people: 12 people by 'id' hold 24 records" in shown
    document = json.loads((folder / "out/report.json").read_text())
    assert document["plan"]["data"]["individual"] == "id"
    for name in ("report.html", "report.md"):
        assert "People singled out only after the join" in (folder / "out" / name).read_text()


def test_a_test_of_several_tables(folder: Path) -> None:
    ended = call("test", "people.csv", "--join", "visits.csv", *ROLES, "--model", "frequency")
    assert ended.code == 0, ended.err
    assert "δ is over people" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--join", "visits.csv"), "--on the column by which it is joined; got only --join"),
        (("--on", "id"), "got only --on"),
        (("--join", "visits.csv", "--on", "id", "--individual", "age"), "--individual names"),
        (("--join", "visits.csv", "--on", "id", "--release", "x.csv"), "there is no --join"),
        (("--join", "visits.csv", "--on", "id", "--why", "3"), "leave out --join"),
        (("--join", "nowhere.csv", "--on", "id"), "nowhere.csv"),
    ],
)
def test_what_is_refused(folder: Path, words: tuple[str, ...], says: str) -> None:
    ended = call("test", "people.csv", "--quasi", "age,ward", "--sensitive", "ill", *words)
    assert ended.code == 2
    assert says in " ".join(ended.err.split())
