"""``indiff test DATA --release FILE --synthetic``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.csv as pc
import pytest

from tests.command_line import call
from tests.differential.synthetic.made_up import plant, population

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "test.schema.json"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(5)
    original, held_out, fresh = (population(300, rng) for _ in range(3))
    copied = plant(fresh, original, list(range(12)))
    files = {"data": original, "held": held_out, "fresh": fresh, "copied": copied}
    for name, frame in files.items():
        pc.write_csv(frame, tmp_path / f"{name}.csv")
    return ["test", str(tmp_path / "data.csv"), "--sensitive", "ill", "--synthetic"]


def test_copies_are_proved_beside_people_held_out(words: list[str], tmp_path: Path) -> None:
    ended = call(
        *words, "--release", tmp_path / "copied.csv", "--held-out", tmp_path / "held.csv",
        "--json", tmp_path / "out.json", "--records", tmp_path / "records.csv",
    )  # fmt: skip
    assert ended.code == 1, ended.err
    flat = " ".join(ended.out.split())
    assert "copied 12 of 300 records (4.0 %), in 12 rows" in flat
    assert (
        "holds something of the original's people (copies): of 12 of 300, and of 0 of 300" in flat
    )
    assert "no evidence of privacy" in flat
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert document["kind"] == "synthetic-test"
    assert document["excesses"][0]["proved"] is True
    lines = (tmp_path / "records.csv").read_text().splitlines()
    assert len(lines) == 301
    assert lines[1].startswith("0,true,true,0")


def test_nothing_found_is_no_pass(words: list[str], tmp_path: Path) -> None:
    fresh = ("--release", tmp_path / "fresh.csv")
    ended = call(*words, *fresh, "--held-out", tmp_path / "held.csv")
    assert ended.code == 3
    assert "that is no proof that nothing is: no pass" in " ".join(ended.out.split())
    ended = call(*words, *fresh, "--json", tmp_path / "out.json")
    assert ended.code == 3
    assert "without --held-out nothing can be proved" in " ".join(ended.out.split())
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


def test_without_people_held_out_copies_are_shown_and_nobody_is_accused(
    words: list[str], tmp_path: Path
) -> None:
    ended = call(*words, "--release", tmp_path / "copied.csv")
    assert ended.code == 3
    flat = " ".join(ended.out.split())
    assert "12 records that nobody shares are in the file, more than in a fresh sample" in flat
    assert "(--held-out) nothing can be said" in flat


def test_several_attributes_are_below_their_names(words: list[str], tmp_path: Path) -> None:
    words[3] = "ill,sex"
    ended = call(*words, "--release", tmp_path / "fresh.csv", "--json", tmp_path / "out.json")
    assert ended.code == 3, ended.err
    document = json.loads((tmp_path / "out.json").read_text())
    assert list(document["results"]) == ["ill", "sex"]
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


@pytest.mark.parametrize(
    ("more", "told"),
    [(["--synthetic"], "--synthetic is said of one --release; got none"),
     (["--release", "a.csv", "--held-out", "b.csv"], "Add --synthetic, or leave it out"),
     (["--release", "a.csv", "--synthetic", "--key", "id"], "for which there is no --key"),
     (["--release", "a.csv", "--synthetic", "--limit", "delta=1"], "there is no --limit")],
)  # fmt: skip
def test_what_makes_no_sense_together_is_refused(
    words: list[str], more: list[str], told: str
) -> None:
    ended = call(*words[:-1], *more)
    assert ended.code == 2
    assert told in " ".join(ended.err.split())
