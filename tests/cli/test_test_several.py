"""``indiff test DATA --release A --release B``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from indiff import read_table, test_releases
from indiff.cli.questions import Answers
from indiff.cli.test import document_of
from tests.command_line import call

DATA = "id,age,ill\na,21,flu\nb,24,cancer\nc,33,flu\nd,36,asthma\ne,45,flu\nf,48,asthma\n"
FIRST = "age,ill\n20-29,cancer\n20-29,flu\n30-39,flu\n30-39,asthma\n40-49,flu\n40-49,asthma\n"
SECOND = "age,ill\n22-34,flu\n22-34,cancer\n35-46,flu\n35-46,asthma\n"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The call, with releases that are 2-anonymous each, and name c together."""
    for name, text in (("data", DATA), ("2024", FIRST), ("2025", SECOND)):
        (tmp_path / f"{name}.csv").write_text(text)
    return [
        "test", str(tmp_path / "data.csv"), "--quasi", "age", "--sensitive", "ill", "--identifier",
        "id", "--release", str(tmp_path / "2024.csv"), "--release", str(tmp_path / "2025.csv"),
    ]  # fmt: skip


def test_what_two_releases_tell_together(words: list[str], tmp_path: Path) -> None:
    ended = call(*words, "--json", tmp_path / "out.json", "--records", tmp_path / "records.csv")
    assert ended.code == 0, ended.err
    flat = " ".join(ended.out.split())
    assert "What 2 releases tell together of ill" in flat
    assert "determined 1 of 6 records (16.6 %)" in flat
    assert "only together 1 of 6 records (16.6 %), though by none of them alone" in flat
    assert "2024.csv 0 0 0 2 2 2025.csv 0 1 1 2 2" in flat
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["kind"] == "releases-test"
    assert [one["determined"] for one in document["growth"]] == [0, 1]
    assert document["pairs"][0]["only_together"] == 1
    lines = (tmp_path / "records.csv").read_text().splitlines()
    assert lines[0].startswith('"record","candidates_1","candidates_2","candidates_left_1"')
    assert len(lines) == 7


def test_a_limit_on_the_determined(words: list[str]) -> None:
    ended = call(*words, "--limit", "determined=0.1")
    assert ended.code == 1
    assert "determined of ill is 0.1667, above the limit 0.1" in " ".join(ended.out.split())
    kept = call(*words, "--limit", "determined=0.2")
    assert kept.code == 0
    assert "no limit was exceeded by these releases together" in kept.out
    assert call(*words, "--limit", "delta=1").code == 2


def test_values_are_named_only_where_asked_for(words: list[str], tmp_path: Path) -> None:
    # One flu less in the thirties: two counts apart, as everywhere else 0 or the whole group.
    (tmp_path / "2025.csv").write_text(FIRST.replace("30-39,flu\n", ""))
    out = tmp_path / "out.json"
    ended = call(*words, "--json", out)
    assert "Small differences of counts" in ended.out
    assert "[30, 39]" not in ended.out
    assert "[30, 39]" not in out.read_text()
    shown = call(*words, "--json", out, "--show-values")
    assert "1 in age [30, 39]" in " ".join(shown.out.split())
    assert "named" in json.loads(out.read_text())["differences"][0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "tree"], "for which there is no --model"),
        (["--rows-in-order"], "for which there is no --rows-in-order"),
        (["--sanitizer", "identity"], "there is no --sanitizer"),
    ],
)
def test_what_several_releases_do_not_take(words: list[str], more: list[str], message: str) -> None:
    ended = call(*words, *more)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


def test_a_release_is_named_once(words: list[str]) -> None:
    ended = call(*words, "--release", words[-1])
    assert ended.code == 2
    assert "a release may be named once" in ended.err


def test_sanitizers_together(words: list[str]) -> None:
    base = words[:8]
    both = ["--sanitizer", "mondrian:k=2", "--sanitizer", "mondrian:k=3"]
    ended = call(*base, *both, "--together", "--model", "frequency")
    assert ended.code == 0, ended.err
    assert "mondrian:k=2 and mondrian:k=3" in " ".join(ended.out.split())
    assert "share their groups of all 2 releases" in " ".join(ended.out.split())
    assert "are tested --together" in " ".join(call(*base, *both).err.split())
    assert "--why is about one release" in call(*base, *both, "--together", "--why", "1").err
    one, same = (
        call(*base, *both[:2], "--model", "frequency", *more).out for more in ([], ["--together"])
    )
    assert one == same


def test_a_document_has_no_regions_unless_they_are_asked_for() -> None:
    frame = pa.table({"age": [21, 22, 31, 32], "ill": list("abab")})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    ages = ["20-29", "20-29", "30-39", "30-39"]
    whole = pa.table({"age": ages, "ill": frame["ill"]})
    found = test_releases(table, [whole, whole.slice(0, 3)])
    assert "[30, 39]" not in json.dumps(document_of(table, [found], [Answers()]))
    assert "[30, 39]" in json.dumps(document_of(table, [found], [Answers()], True))
