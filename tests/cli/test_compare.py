"""``indiff compare``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import Ended, call

ROLES = ("--quasi", "age,town", "--sensitive", "ill")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    lines = ["age,town,ill"]
    for _ in range(120):
        ill = rng.choice(["flu", "cold", "secret-illness"], p=[0.6, 0.36, 0.04])
        lines.append(f"{rng.integers(20, 90)},town{rng.integers(4)},{ill}")
    path = tmp_path_factory.mktemp("compare") / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def compare(people: Path, *words: str | Path) -> Ended:
    return call("compare", people, *ROLES, *words)


def test_table_files_and_recommendation(people: Path, tmp_path: Path) -> None:
    places = {kind: tmp_path / f"c.{kind}" for kind in ("json", "md", "svg")}
    before = people.read_bytes()
    ended = compare(
        people, "--sanitizer", "mondrian:k=2,40", "--sanitizer", "mondrian:l=9",
        "--recommend", "delta=2", "--json", places["json"], "--markdown", places["md"],
        "--chart", places["svg"],
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "mondrian:l=9    FAILED: l=9 cannot be met" in ended.out
    assert "Verdict: mondrian:k=2 keeps delta at most 2" in ended.out
    document = json.loads(places["json"].read_text())
    assert [row["setting"] for row in document["rows"]] == [
        "mondrian:k=2",
        "mondrian:k=40",
        "mondrian:l=9",
    ]
    assert document["recommended"] == "mondrian:k=2"
    assert document["limits"] == {"delta": 2.0}
    assert places["md"].read_text().count("\n| mondrian:") == 3
    assert places["svg"].read_text().startswith("<svg")
    assert {stat.S_IMODE(place.stat().st_mode) for place in places.values()} == {0o600}
    for text in (ended.out, *(place.read_text() for place in places.values())):
        assert "secret-illness" not in text
    assert people.read_bytes() == before


def test_nothing_recommended_ends_with_1(people: Path) -> None:
    ended = compare(people, "--sanitizer", "mondrian:k=2", "--recommend", "delta=0")
    assert ended.code == 1
    assert "Verdict: no setting keeps delta at most 0: try stronger ones" in ended.out


def test_a_failed_setting_without_a_limit_ends_with_3(people: Path) -> None:
    ended = compare(people, "--sanitizer", "mondrian:l=9")
    assert ended.code == 3
    assert "1 of 1 settings failed" in ended.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sanitizer", "mondrain:k=2"), "no sanitizer 'mondrain': did you mean 'mondrian'?"),
        (("--sanitizer", "mondrian:2"), "a parameter is written name=value; got '2'"),
        (("--sanitizer", "mondrian:k=2", "--recommend", "d=1"), "no limit 'd'"),
        (("--sanitizer", "mondrian:k=2", "--recommend", "delta=x"), "written delta=NUMBER"),
        (("--sanitizer", "mondrian:k=2", "--utility", "size"), "no measure of utility 'size'"),
        (("--sanitizer", "mondrian:k=2", "--task", "tonw"), "no column to predict 'tonw'"),
        (("--sanitizer", "mondrian:k=2", "--chart", "c.pdf"), "--chart must end in .html, .svg"),
        ((), "Missing option '--sanitizer'"),
    ],
)
def test_bad_usage_is_one_sentence(people: Path, words: tuple[str, ...], message: str) -> None:
    ended = compare(people, *words)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_the_input_is_never_overwritten(people: Path) -> None:
    ended = compare(people, "--sanitizer", "mondrian:k=2", "--json", people)
    assert ended.code == 2
    assert "--json must be a file of its own" in ended.err
