"""A release's own promise: every command says the same of it, and none is invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import indiff
from tests.cli.test_compare import people as people
from tests.command_line import call

ROLES = ("--quasi", "town", "--sensitive", "ill")
UNDECLARED = "not differentially private: the bins or values of town, ill come from the records"


def audited(people: Path, out: Path, *words: Any) -> tuple[int, str, dict[str, Any]]:
    ended = call("audit", people, *ROLES, *words, "--out", out)
    return ended.code, " ".join(ended.out.split()), json.loads((out / "report.json").read_text())


def test_every_command_says_the_same_of_a_noisy_table(people: Path, tmp_path: Path) -> None:
    noisy = ("--sanitizer", "laplace:epsilon=0.01")
    made = call("sanitize", people, *ROLES, *noisy, "--out", tmp_path / "r.csv")
    tested = call("test", people, *ROLES, *noisy, "--limit", "delta=2", "--json", tmp_path / "t")
    code, out, document = audited(people, tmp_path / "a", *noisy, "--limit", "delta=2")
    compared = call("compare", people, *ROLES, *noisy, "--recommend", "delta=2", "--json",
                    tmp_path / "c")  # fmt: skip
    assert [made.code, tested.code, code, compared.code] == [1, 1, 1, 1]
    for text in (made.out, tested.out, out):
        assert UNDECLARED in " ".join(text.split())
        assert "constraint NOT met" in " ".join(text.split())
    assert document["release"]["constraint_met"] is False
    assert json.loads((tmp_path / "t").read_text())["constraint_met"] is False
    found = json.loads((tmp_path / "c").read_text())
    assert (found["recommended"], found["rows"][0]["constraint_met"]) == (None, False)


@pytest.mark.parametrize("made", [True, False])
def test_no_constraint_is_met_where_none_is_declared(
    people: Path, tmp_path: Path, made: bool
) -> None:
    how: tuple[Any, ...] = ("--sanitizer", "identity")
    if not made:
        call("sanitize", people, *ROLES, *how, "--out", tmp_path / "r.csv")
        how = ("--release", tmp_path / "r.csv")
    _, out, document = audited(people, tmp_path / "a", *how)
    assert document["release"]["constraint_met"] is None
    assert "constraint none is declared" in out
    for name in ("report.md", "report.html"):
        text = (tmp_path / "a" / name).read_text()
        assert "none is declared" in text
        assert "constraint is met" not in text


def test_a_constraint_that_is_kept_is_said(people: Path, tmp_path: Path) -> None:
    _, out, document = audited(people, tmp_path / "a", "--sanitizer", "mondrian:k=5")
    assert document["release"]["constraint_met"] is True
    assert "constraint met" in out
    table = indiff.read_table(people, quasi=["town"], sensitive="ill")
    assert indiff.differential_test(table, "identity").constraint_met is None
    assert indiff.differential_test(table, "mondrian:k=5").constraint_met is True


def test_a_fix_that_misses_its_limit_never_says_that_it_holds(people: Path, tmp_path: Path) -> None:
    ended = call("audit", people, *ROLES, "--sanitizer", "mondrian:k=2", "--fix", "delta=0.0001",
                 "--budget", "1", "--out", tmp_path)  # fmt: skip
    assert ended.code == 1
    document = json.loads((tmp_path / "fix.json").read_text())
    assert document["status"] == "budget"
    for text in (ended.out, json.dumps(document)):
        assert "holds" not in text
        assert "The limit was not reached" in " ".join(text.split())


@pytest.mark.parametrize(
    "twice",
    [
        ("--method", "refit", "--method=auto"),
        ("--seed", "1", "--seed", "1"),
        ("--json", "a", "--records", "b.csv", "--json", "c"),
    ],
)
def test_an_option_of_one_value_may_be_given_once(people: Path, twice: tuple[str, ...]) -> None:
    ended = call("test", people, *ROLES, *twice)
    name = twice[0]
    assert ended.code == 2
    assert f"{name} may be given once; got 2 of them. Leave the others out." in ended.err
    again = call("test", people, "--quasi", "age", "--quasi", "town", "--sensitive", "ill")
    assert again.code == 0


def test_too_many_targets_are_refused_before_they_are_listed(people: Path, tmp_path: Path) -> None:
    ended = call("audit", people, *ROLES, "--targets", "0-999999999999", "--out", tmp_path)
    assert ended.code == 2
    assert "--targets names at most 100,000,000 records in a range" in ended.err


@pytest.mark.parametrize("fails", [119, 120])
def test_what_a_failing_program_said_is_in_no_file(
    people: Path, tmp_path: Path, fails: int
) -> None:
    """It prints a record when it is called without one, or already on the whole table."""
    tool, place = tmp_path / "tool.sh", tmp_path / "t.json"
    tool.write_text(
        f'if [ "$(wc -l < "$1")" -eq {fails + 1} ]; then echo "$(tail -n 1 "$1")" >&2; '
        'echo telltale >&2; exit 4; fi\ncp "$1" "$2"\n'
    )
    words = ("test", people, *ROLES, "--sanitizer", f"command:sh {tool} {{input}} {{output}}",
             "--targets", "0-0", "--jobs", "1", "--retries", "0", "--json", place)  # fmt: skip
    ended = call(*words)
    told = " ".join((ended.out + ended.err).split())
    assert "telltale" not in told
    assert "they may hold values; see --show-values" in told
    shown = call(*words, "--show-values")
    assert "telltale" in shown.out + shown.err
    assert ended.code == (3 if fails == 119 else 2)
    if fails == 119:
        assert "telltale" not in place.read_text()
        assert "(its words are left out: they may hold values)" in place.read_text()
