"""``indiff hierarchy``: the file it writes is read by the others, and nothing is shown unasked."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.command_line import call, write_people


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path)


def test_a_built_hierarchy_is_what_a_recoding_takes(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "age.csv"
    words = ("--from", people, "--intervals", "5,10,20", "--out", out)
    ended = call("hierarchy", "age", *words)
    assert (ended.code, ended.err) == (0, "")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    lines = out.read_text().splitlines()
    assert len(lines) == 40  # ages 20 to 59
    assert lines[0] == "20;20-24;20-29;20-39;*"
    rows = [line.split() for line in ended.out.splitlines() if line[:1].isdigit()]
    assert [row[:2] for row in rows] == [["1", "8"], ["2", "4"], ["3", "2"], ["4", "1"]]
    assert all(row[-2:] == ["40", "60"] for row in rows)
    release = tmp_path / "release.csv"
    made = call(
        "sanitize", people, "--quasi", "age", "--sensitive", "ill", "--identifier", "id",
        "--other", "wage,town,smokes", "--sanitizer", "recoding:k=10", "--hierarchy", f"age={out}",
        "--out", release,
    )  # fmt: skip
    assert made.code == 0, made.err
    shown = {line.split(",")[0].strip('"') for line in release.read_text().splitlines()[1:]}
    assert shown == {"20-29", "30-39", "40-49", "50-59"}


def test_values_are_shown_only_where_asked(people: Path) -> None:
    words = ("hierarchy", "town", "--from", people, "--priorities", "2,1")
    assert "town0" not in call(*words).out
    assert "town0" in call(*words, "--show-values").out


def test_masking_the_year_is_warned_of(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("born,ill\n" + "".join(f"1{d}.0{d}.1976,no\n" for d in range(3, 9)))
    kept = call("hierarchy", "born", "--from", table, "--mask", "left").out
    assert "keeps the day and the month" in " ".join(kept.split())
    assert "keeps" not in call("hierarchy", "born", "--from", table, "--mask", "right").out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("age",), "a hierarchy is built in one way"),
        (("age", "--mask", "left", "--groups", "2"), "got mask and groups"),
        (("agee", "--mask", "left"), "did you mean 'age'?"),
        (("age", "--mask", "top"), "from the right or the left"),
        (("age", "--intervals", "5,7"), "a multiple of the one before"),
        (("age", "--intervals", "nan"), "a multiple of the one before"),
        (("age", "--intervals", "five"), "intervals are widths, or auto"),
        (("town", "--intervals", "auto"), "intervals are made of numbers"),
        (("town", "--groups", "x"), "--groups is a list of whole numbers; got 'x'"),
        (("town", "--groups", "2", "--order", "town0"), "names every value of its column once"),
        (("town", "--prefixes", "1,3"), "fewer on each level"),
        (("town", "--prefixes", "icd10"), "codes of ICD-10 begin with a letter and a digit"),
        (("town", "--mask", "left", "--order", "a"), "an order is for groups and priorities"),
    ],
)
def test_what_is_refused(people: Path, words: tuple[str, ...], text: str) -> None:
    ended = call("hierarchy", *words, "--from", people)
    assert (ended.code, ended.out) == (2, "")
    assert text in ended.err


def test_the_table_is_not_written_over(people: Path) -> None:
    ended = call("hierarchy", "age", "--from", people, "--intervals", "5", "--out", people)
    assert ended.code == 2
    assert "which is the input" in ended.err
