"""``indiff audit``: from options and from a plan, its exit codes, its files, its refusals."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.fix import NAMES
from indiff.audit.plan.plan import read_plan
from indiff.audit.plan.plan_text import quoted
from tests.command_line import call

ROLES = (
    "--identifier", "patient_id", "--quasi", "age,sex", "--sensitive", "diagnosis", "--worst", "2",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    place = tmp_path_factory.mktemp("audit")
    pyarrow.csv.write_csv(indiff.datasets.demo(records=300), place / "patients.csv")
    return place


def document(out: Any) -> Any:
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("limits", "code", "words"),
    [
        ((), 0, "no limit was given"),
        (("--limit", "k=5", "--limit", "delta=2"), 0, "every limit is kept"),
        (("--limit", "delta=0.001"), 1, "above the limit 0.001"),
        (("--policy", "cell-5"), 0, "every part of cell-5 is met"),
        (("--policy", "ema-0070"), 1, "above the limit 0.09"),
        (("--policy", "iso-27559", "--limit", "k=5"), 3, "iso-27559 is open"),
        (("--limit", "k=5", "--targets", "0-3", "--limit", "delta=2"), 3, "not every record"),
    ],
)
def test_exit_codes(folder: Any, tmp_path: Path, limits: Any, code: Any, words: Any) -> None:
    ended = call("audit", folder / "patients.csv", *ROLES, "--out", tmp_path / "r", *limits)
    assert ended.code == code, ended.err
    assert words in " ".join(ended.out.split())
    assert document(tmp_path / "r")["verdict"]["exit_code"] == code
    places = [str(tmp_path / "r" / name) for name in ("report.html", "report.json", "report.md")]
    assert ended.out.splitlines()[-3:] == places
    assert ("≤ 2 undecided" in ended.out) == ("--targets" in limits)
    written = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert ("at most 2, not decided (lower bound)" in written) == ("--targets" in limits)
    held = indiff.datasets.demo(records=300)["diagnosis"].to_pylist()
    rare = {value for value in held if held.count(value) < 10}
    assert rare
    assert [value for value in rare if value in ended.out] == []


def test_a_plan_gives_what_the_options_give(
    folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = folder / "plan.toml"
    plan.write_text(
        '[data]\npath = "patients.csv"\nidentifier = "patient_id"\nquasi = ["age", "sex"]\n'
        'sensitive = "diagnosis"\n[report]\nworst = 2\n[limits]\nk = 5\n'
    )
    monkeypatch.chdir(tmp_path)
    first = call("audit", plan, "--out", "a")
    second = call("audit", folder / "patients.csv", *ROLES, "--limit", "k=5", "--out", "b")
    assert (first.code, second.code) == (0, 0)
    one, other = document(tmp_path / "a"), document(tmp_path / "b")
    for found in (one, other):
        del found["timing"], found["command"]
    assert one["files"]["input"].pop()["part"] == "plan"  # whose file it names
    assert one == other
    beside = call("audit", plan, "--limit", "delta=0.001", "--show-values", "--out", "c")
    assert beside.code == 1
    assert document(tmp_path / "c")["show_values"] is True
    assert document(tmp_path / "c")["plan"]["limits"] == {"k": 5, "delta": 0.001}
    assert document(tmp_path / "c")["command"] == "indiff audit plan.toml"
    policy = call("audit", plan, "--policy", "cell-11", "--out", "d")
    assert (policy.code, document(tmp_path / "d")["policy"]["status"]) == (1, "failed")
    refused = call("audit", plan, "--quasi", "age")
    assert refused.code == 2
    assert "--quasi belongs in the plan" in refused.err


def test_a_next_step_has_a_command_only_if_it_can_be_pasted(
    folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The groups of k = 3 are too small; the proposed line, as it stands, must keep the limit."""
    text = (
        f"[data]\npath = {quoted(str(folder / 'patients.csv'))}\nidentifier = 'patient_id'\n"
        "quasi = ['age', 'sex']\nsensitive = 'diagnosis'\n[release]\nsanitizer = 'mondrian:k=3'\n"
    )
    monkeypatch.chdir(tmp_path)
    Path("my plan.toml").write_text(text + "[limits]\nk = 9\n")
    Path("none.toml").write_text(text)
    limit = ("--limit", "k=9")
    table = (folder / "patients.csv", *ROLES, "--sanitizer", "mondrian:k=3", *limit)
    found = {}
    for name, words in {
        "whole": ("my plan.toml",), "beside": ("none.toml", *limit), "table": table
    }.items():  # fmt: skip
        assert call("audit", *words, "--out", name).code == 1
        steps = document(tmp_path / name)["next_steps"]
        found[name] = [one["command"] for one in steps if "sanitizer" in one["options"]]
        assert "…" not in " ".join(str(one["command"]) for one in steps)
    # What was said beside the plan, or instead of one, is not in the line: it would be another.
    assert found["beside"] == found["table"] == [None]
    (line,) = found["whole"]
    assert line.startswith("indiff audit 'my plan.toml' --sanitizer mondrian:k=")
    assert call(*shlex.split(line)[1:], "--out", "again").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sensitive", "diagnosis", "--limit", "kk=5"), "no limit 'kk'"),
        (("--sensitive", "diagnosis", "--limit", "k"), "a limit is written k=NUMBER"),
        (("--sensitive", "diagnosis", "--limit", "k=x"), "a limit is written k=NUMBER"),
        (("--sensitive", "diagnosiss"), "diagnosiss"),
        ((), "add --sensitive COLUMN"),
        (("--sensitive", "diagnosis", "--min-cell", "0"), "--min-cell must be at least 1; got 0."),
        (("--sensitive", "diagnosis", "--sanitizer", "mondrain"), "no sanitizer 'mondrain'"),
        (("--sensitive", "diagnosis", "--policy", "ema"), "no policy 'ema'"),
        (("--sensitive", "diagnosis", "--policy", "no.toml"), "policy must exist; there is no"),
        (("--sensitive", "diagnosis", "--parameter", "mondrian:k=5"), "a curve needs"),
        (("--sensitive", "diagnosis", "--quasi", "age", "--targets", "x"), "--targets is"),
    ],
)
def test_refusals_are_one_sentence(folder: Any, tmp_path: Path, words: Any, message: Any) -> None:
    ended = call("audit", folder / "patients.csv", *words, "--out", tmp_path / "r")
    assert message in ended.err
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert not (tmp_path / "r" / "report.json").exists()


def test_infinite_distances_are_shown_everywhere(tmp_path: Path) -> None:
    """The only record of its kind: without it, frequency holds its value for impossible."""
    ills = ["cold"] + ["flu"] * 29
    people = pa.table({"age": list(range(20, 50)), "ill": ills})
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    ended = call(
        "audit", tmp_path / "people.csv", "--quasi", "age", "--sensitive", "ill", "--distance",
        "max-divergence", "--model", "frequency", "--limit", "delta=99", "--out", tmp_path / "r",
    )  # fmt: skip
    assert ended.code == 1, ended.err
    assert "δ by frequency is infinite, above the limit 99" in " ".join(ended.out.split())
    assert "0           ∞         0." in ended.out
    assert "∞" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")


def test_the_input_is_never_overwritten(folder: Any, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("mine")
    ended = call(
        "audit", folder / "patients.csv", *ROLES, "--prior", tmp_path / "report.md",
        "--out", tmp_path,
    )  # fmt: skip
    assert ended.code == 2
    assert "must not overwrite its input" in ended.err
    assert (tmp_path / "report.md").read_text() == "mine"


def test_a_fix_spares_an_input_that_has_a_second_name(folder: Any, tmp_path: Path) -> None:
    from indiff.audit.fix import NAMES

    data = tmp_path / "data.csv"
    data.write_bytes((folder / "patients.csv").read_bytes())
    for name in NAMES:
        out = tmp_path / f"of-{name}"
        out.mkdir()
        (out / name).hardlink_to(data)
        ended = call("audit", data, *ROLES, "--fix", "delta=0.5", "--out", out)
        assert ended.code == 2
        assert f"a fix must not overwrite its input; {str(out / name)!r} is one" in ended.err
    assert data.read_bytes() == (folder / "patients.csv").read_bytes()


def test_init_writes_once(folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = call("audit", "--init", folder / "patients.csv")
    assert ended.code == 0, ended.err
    assert "diagnosis         sensitive (categorical): its name speaks of health" in ended.out
    written = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    again = call("audit", "--init", folder / "patients.csv")
    assert again.code == 2
    assert "never overwritten" in again.err
    assert (tmp_path / "plan.toml").read_text(encoding="utf-8") == written
    assert (tmp_path / "plan.toml").stat().st_mode & 0o777 == 0o600
    audited = call("audit", "plan.toml", "--min-cell", "2")
    assert audited.code == 1, audited.err
    few = "may name values that few records hold"
    assert f"The report {few}: from 2 on, not 10." in audited.out
    for name in ("report.html", "report.md"):
        assert few in (tmp_path / "indiff-audit" / name).read_text(encoding="utf-8")
    assert document(tmp_path / "indiff-audit")["table"]["source"] == "patients.csv"


def test_init_keeps_how_the_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes("age,größe,ill\n1,ä,x\n1,ä,y\n2,ö,x\n".encode("latin-1"))
    refused = call("audit", "--init", "t.csv", "--sensitive", "ill")
    assert refused.code == 2
    assert "--sensitive belongs in the plan that --init writes" in refused.err
    assert call("audit", "--init", "t.csv", "--encoding", "latin-1").code == 0
    plan = read_plan(tmp_path / "plan.toml")
    assert plan.data.encoding == "latin-1"
    assert plan.data.quasi == ["age", "größe"]


def test_hostile_table(tmp_path: Path) -> None:
    """Names and values that would run, calculate, or move a terminal: all is shown, none does."""
    names = [
        '=HYPERLINK("http://x")', "<script>alert(1)</script>", "\u202eevil", "😀", "x" * 10_000,
        "a\x1b[31m\x07b",
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    cells = {name: rng.choice(names, 60).tolist() for name in names}
    pyarrow.csv.write_csv(pa.table(cells), tmp_path / "hostile.csv")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"[data]\npath = 'hostile.csv'\nsensitive = [{quoted(names[0])}, {quoted(names[1])}]\n"
        "[limits]\nk = 5\n[report]\nworst = 2\n",
        encoding="utf-8",
    )
    ended = call("audit", plan, "--out", tmp_path / "r")
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines()[:-3])) <= 80
    for text in (ended.out, (tmp_path / "r" / "report.md").read_text(encoding="utf-8")):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    schema = Path(__file__).parents[2] / "docs" / "report.schema.json"
    jsonschema.validate(document(tmp_path / "r"), json.loads(schema.read_text(encoding="utf-8")))


def test_records_of_several_attributes_hold_no_formula(tmp_path: Path) -> None:
    """A spreadsheet that opens the records calculates nothing."""
    names = ["=HYPERLINK(1)", "-1+1", "ill"]
    cells = {name: ["a", "b"] * 10 for name in names} | {"age": list(range(20))}
    pyarrow.csv.write_csv(pa.table(cells), tmp_path / "t.csv")
    place = tmp_path / "records.csv"
    ended = call(
        "test", tmp_path / "t.csv", "--quasi", "age", "--sensitive", ",".join(names),
        "--sanitizer", "mondrian:k=5", "--records", place,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    held = pyarrow.csv.read_csv(place)["sensitive"].unique().to_pylist()
    assert held == ["'=HYPERLINK(1)", "'-1+1", "ill"]


def test_fix_removes_outliers_and_audits_the_rest(folder: Any, tmp_path: Path) -> None:
    before = (folder / "patients.csv").read_bytes()
    words = ("audit", folder / "patients.csv", *ROLES, "--out", tmp_path / "r")
    ended = call(*words, "--model", "naive-bayes", "--fix", "delta=0.5")
    assert ended.code == 0, ended.err
    assert "Removing outliers until δ is at most 0.5" in ended.out
    outcome = json.loads((tmp_path / "r" / "fix.json").read_text(encoding="utf-8"))
    report = document(tmp_path / "r")
    assert outcome["status"] == "below"
    assert outcome["rounds"][0]["delta"] > 0.5 >= outcome["rounds"][-1]["delta"]
    assert report["verdict"]["status"] == "pass"
    assert report["table"]["records"] == 300 - outcome["removed"] < 300
    assert "removed from the original before sanitizing" in report["table"]["notes"][-1]
    release, removed, _ = (tmp_path / "r" / name for name in NAMES)
    assert pyarrow.csv.read_csv(release).num_rows == 300 - outcome["removed"]
    assert pyarrow.csv.read_csv(removed).num_rows == outcome["removed"]
    assert (folder / "patients.csv").read_bytes() == before


def test_a_fix_that_does_not_hold_is_no_pass(folder: Any, tmp_path: Path) -> None:
    words = ("audit", folder / "patients.csv", *ROLES, "--out", tmp_path / "r")
    ended = call(*words, "--fix", "delta=0.001", "--budget", "1")
    assert ended.code == 1
    assert not (tmp_path / "r" / NAMES[0]).exists()
    for wrong, message in (
        (("--budget", "3"), "add --fix"),
        (("--fix", "k=5"), "no limit 'k'"),
        (("--fix", "delta=0.1", "--release", "x.csv"), "a release made elsewhere"),
        (("--fix", "delta=0.1", "--targets", "5"), "tests every record, row by row"),
        (("--fix", "delta=0.1", "--individual", "patient_id"), "got --individual. Leave it out"),
    ):
        refused = call(*words, *wrong)
        assert refused.code == 2
        assert message in refused.err
