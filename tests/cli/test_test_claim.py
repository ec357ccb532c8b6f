"""``indiff test --claim``: exit codes, words, files, and what makes no sense beside it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.command_line import call, write_people

ROLES = ("--identifier", "id", "--quasi", "age,town", "--sensitive", "ill")
# A program that publishes its input as it is, but for a lot that nobody needs.
COPY = (
    "command:" + sys.executable + ' -c "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"'
)
COPY += " {input} {output} {seed}"


def test_a_refuted_claim_ends_with_1(tmp_path: Path) -> None:
    place = tmp_path / "claim.json"
    ended = call(
        "test", write_people(tmp_path), *ROLES, "--sanitizer", "identity", "--claim", "epsilon=1",
        "--calls", "200", "--json", place,
    )  # fmt: skip
    assert ended.code == 1
    assert "is refuted with 95 % confidence" in ended.out
    document = json.loads(place.read_text())
    assert document["kind"] == "claim"
    assert document["refuted"]
    assert document["verdict"]["status"] == "fail"
    assert document["epsilon"] > document["claimed"] == 1


def test_a_claim_that_is_not_refuted_is_no_pass(tmp_path: Path) -> None:
    ended = call(
        "test", write_people(tmp_path), *ROLES, "--sanitizer", "suppress", "--claim", "epsilon=3",
        "--claim", "delta=0.9", "--calls", "40",
    )  # fmt: skip
    assert ended.code == 3
    assert "not refuted with 95 % confidence by" in " ".join(ended.out.split())
    assert "not tried" in ended.out


def test_one_run_of_a_program(tmp_path: Path) -> None:
    ended = call(
        "test", write_people(tmp_path), *ROLES, "--sanitizer", COPY, "--claim", "epsilon=0.5",
        "--canaries", "40",
    )  # fmt: skip
    assert ended.code == 1
    assert "1 of 1" in ended.out


def test_membership_of_a_randomized_sanitizer(tmp_path: Path) -> None:
    place = tmp_path / "test.json"
    ended = call(
        "test", write_people(tmp_path), *ROLES, "--sanitizer", "randomized-response:epsilon=1",
        "--membership", "--targets", "3", "--runs", "10", "--json", place,
    )  # fmt: skip
    assert "Members of 3 records told by one release" in ended.out
    found = json.loads(place.read_text())["membership_by_runs"]
    assert len(found["worst"]) == 3
    assert 0 <= found["overall"]["belief of frequency"]["advantage"]["value"] <= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--claim", "epsilon"), "a claim is written epsilon=NUMBER, of at least 0"),
        (("--claim", "alpha=1"), "no claim 'alpha'"),
        (("--claim", "delta=0.1"), "a claim needs an epsilon, as in epsilon=1; got delta alone"),
        (("--claim", "epsilon=1", "--claim", "delta=1"), "a claimed delta is a number from 0 to"),
        (("--claim", "epsilon=1", "--limit", "delta=1"), "for which there is no --limit"),
        (("--claim", "epsilon=1", "--calls", "3"), "calls must be a whole number of at least 40"),
        (("--canaries", "50"), "--canaries test a claim. Add --claim epsilon=1."),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    ended = call("test", write_people(tmp_path), *ROLES, "--sanitizer", "identity", *words)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())
