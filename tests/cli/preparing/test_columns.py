"""``indiff columns``: counts and roles in 80 columns, JSON alone on a pipe, never a value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call, write_people


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path)


def test_what_is_shown_fits_and_has_no_value(people: Path) -> None:
    ended = call("columns", people)
    assert (ended.code, ended.err) == (0, "")
    assert all(len(line) <= 80 for line in ended.out.splitlines())
    assert "Columns of people.csv, 60 records" in ended.out
    assert "different in every record" in ended.out
    assert "Smallest sets of up to 3 columns that single out 50% of the records" in ended.out
    assert not any(value in ended.out for value in ("person7", "town3", "secret", "puff"))


def test_nothing_telling_is_said_with_the_most_telling(people: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "1,x\n2,x\n1,y\n2,y\n" * 2)
    ended = call("columns", table)
    assert "No set of up to 2 columns singles out 50% of the records" in ended.out
    rows = [line.split() for line in ended.out.splitlines() if line.startswith("a + b")]
    assert rows == [["a", "+", "b", "0", "0%", "50%", "85.7%"]]  # 24 of 28 pairs differ


def test_the_result_as_json(people: Path, tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    assert call("columns", people, "--json", place, "--share", "0.9", "--size", "1").code == 0
    found = json.loads(place.read_text())
    assert (found["kind"], found["size"], found["share"]) == ("columns", 1, 0.9)
    assert [one["columns"] for one in found["telling"]] == [["id"], ["wage"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--share", "0"), "--share must be between 0 and 1; got 0"),
        (("--size", "0"), "--size must be at least 1; got 0"),
        (("--json", "people.csv"), "must be a file of its own"),
    ],
)
def test_what_cannot_be_asked(people: Path, words: tuple[str, ...], said: str) -> None:
    words = tuple(str(people) if word == "people.csv" else word for word in words)
    ended = call("columns", people, *words)
    assert ended.code == 2
    assert said in ended.err
