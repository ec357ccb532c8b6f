"""The command line: what it prints and writes, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.verdict import judge_tests
from indiff.cli import test as test_command
from indiff.datasets import demo_outliers
from indiff.report.terminal.tables import cdf_steps
from tests.command_line import ANSI, call, call_alone, write_people

# DIT v2, Table 1a; its Table 1b has the distances 1, 1, 2/3, 1/3, 1/3.
TOY = "Age,Gender,Disease\n28,M,Flu\n36,M,Flu\n47,F,Cancer\n53,M,Flu\n72,F,Flu\n"
TOY_TEST = (
    "--quasi", "Age,Gender", "--sensitive", "Disease",
    "--sanitizer", "mondrian:k=2,regions=cut", "--model", "frequency",
)  # fmt: skip


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.csv"
    path.write_text(TOY)
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path)


def test_the_papers_example(toy: Path) -> None:
    ended = call("test", toy, *TOY_TEST)
    assert ended.code == 0
    assert ended.err == ""
    assert re.search(r"^δ, the largest +1$", ended.out, re.MULTILINE)
    assert re.search(r"^mean +0.6667$", ended.out, re.MULTILINE)
    worst = re.findall(
        r"^ +(\d) +(1|0\.\d+) +([01]\.\d{4}) +([01]\.\d{4})", ended.out, re.MULTILINE
    )
    assert worst == [
        ("0", "1", "1.0000", "0.5000"),
        ("1", "1", "1.0000", "0.5000"),
        ("2", "0.6667", "0.3333", "0.0000"),
        ("3", "0.3333", "0.6667", "0.5000"),
        ("4", "0.3333", "0.6667", "0.5000"),
    ]
    assert re.search(r"^ *≤ 0\.5 .* 2 +40\.0 %$", ended.out, re.MULTILINE)
    assert "no limit was given" in ended.out


def test_roles_kinds_and_provenance_are_shown(people: Path) -> None:
    ended = call("test", people, "--sensitive", "ill", "--identifier", "id", "--other", "wage",
                 "--kind", "age=categorical", "--seed", "7")  # fmt: skip
    assert ended.code == 0
    shown = " ".join(ended.out.split())
    assert "records 60 " in shown
    assert "identifier id (categorical)" in shown
    assert "quasi age (categorical), town (categorical), smokes (categorical)" in shown
    assert "sensitive ill (categorical, 3 values)" in shown
    assert "other wage (numeric)" in shown
    assert "sanitizer mondrian:k=5" in shown
    assert "models naive-bayes, frequency, tree" in shown
    assert "leave-one-out; exact" in shown
    assert "60 tested by every model, of 60" in shown
    assert "seed 7" in shown
    table = indiff.read_table(people, sensitive="ill", identifier="id", other="wage",
                              kinds={"age": "categorical"})  # fmt: skip
    assert f"fingerprint {table.fingerprint[:25]}" in shown


def test_notes_and_dropped_records_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    rows = "".join(f"{age};0{age};{'ab'[age % 2]}\n" for age in range(20, 40))
    path.write_text("age;zip;ill\n" + rows + ";01;a\n?;02;b\n")
    ended = call("test", path, "--sensitive", "ill", "--missing", "drop", "--missing-token", "?")
    assert ended.code == 0
    assert "20 (2 more were dropped)" in ended.out
    assert "fields are separated by ';'" in ended.out
    assert "column 'zip' has leading zeros (first in record 0): kept as text" in ended.out


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ((), 0, "no limit was given, so nothing could be exceeded"),
        (("--limit", "delta=1"), 0, "no limit was exceeded"),
        (("--limit", "delta=0.9"), 1, "delta of Disease is 1, above the limit 0.9"),
        (("--limit", "mean=0.5"), 1, "mean of Disease is 0.6667, above the limit 0.5"),
        (
            ("--limit", "delta=1", "--limit", "changed_predictions=10"),
            1,
            "changed_predictions of Disease is",
        ),
        (("--targets", "3-4"), 0, "no limit was given"),
        (("--targets", "3-4", "--limit", "delta=0.3"), 1, "delta of Disease is 0.3333"),
        (("--targets", "3-4", "--limit", "delta=0.5"), 3, "not every record was tested: no pass"),
        (("--distance", "kl", "--limit", "delta=99"), 1, "delta of Disease is inf, above"),
    ],
)
def test_exit_codes(toy: Path, words: tuple[str, ...], code: int, reason: str) -> None:
    ended = call("test", toy, *TOY_TEST, *words)
    assert ended.code == code
    assert f"Verdict: {reason}" in ended.out or reason in " ".join(ended.out.split())


@pytest.mark.parametrize("limits", [(), ("--limit", "delta=2")])
def test_an_unmet_constraint_is_never_a_pass(toy: Path, limits: tuple[str, ...]) -> None:
    words = ("--quasi", "Age", "--sensitive", "Disease", "--sanitizer",
             "mondrian:l=2,unmet=generalize")  # fmt: skip
    ended = call("test", toy, *words, *limits)
    assert ended.code == 1
    assert "never a pass" in ended.out
    assert "no limit was exceeded" in ended.out or not limits
    ended = call("sanitize", toy, *words, "--out", toy.parent / "r.csv")
    assert ended.code == 1
    assert "never a pass" in ended.out


def some_result(**changes: Any) -> Any:
    table = indiff.read_table(
        pa.table({"age": [1, 2, 3, 4, 5, 6], "ill": list("abbaba")}), sensitive="ill"
    )
    return replace(indiff.differential_test(table, "mondrian:k=2", model="naive-bayes"), **changes)


def test_failures_are_incomplete_unless_exceeded() -> None:
    result = some_result(failures=("record 3: the sanitizer failed",))
    two = some_result(failures=("record 3: the sanitizer failed", "record 4: it failed"))
    assert "1 call failed: nothing is known about this record" in judge_tests([result], {}).reasons
    assert "2 calls failed: nothing is known about these records" in judge_tests([two], {}).reasons
    assert judge_tests([result], {}).exit_code == 3
    assert judge_tests([result], {"delta": 2.0}).exit_code == 3
    assert judge_tests([result], {"delta": result.delta / 2}).exit_code == 1


def test_interrupted_results_are_kept_and_said(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import indiff.differential.refit.refit as refit

    run = refit.Without.__call__
    seen: list[int] = []

    def interrupted(*arguments: Any) -> Any:
        seen.append(1)
        if len(seen) > 4:
            raise KeyboardInterrupt
        return run(*arguments)

    monkeypatch.setattr(refit.Without, "__call__", interrupted)
    words = ("test", people, "--sensitive", "ill,smokes", "--quasi", "age,town", "--method",
             "refit", "--jobs", "1", "--json", tmp_path / "r.json")  # fmt: skip
    ended = call(*words)
    assert ended.code == 130
    assert "interrupted: the 5 records measured so far are kept" in ended.out
    assert "55 requested, not measured" in ended.out
    assert "Differential test of smokes" not in ended.out
    assert json.loads((tmp_path / "r.json").read_text())["results"]["ill"]["complete"] is False
    seen.clear()
    assert call(*words, "--limit", "delta=0.000001").code == 1
    seen.extend([1] * 4)
    ended = call(*words)
    assert ended.code == 130
    assert "the 0 records measured so far" in ended.out


def test_an_interruption_before_any_result(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **settings: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(test_command, "run", interrupted)
    ended = call("test", people, "--sensitive", "ill")
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "indiff: interrupted; nothing was kept.\n"


def test_a_bug_of_ours_is_70(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **settings: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(test_command, "run", broken)
    ended = call("test", people, "--sensitive", "ill")
    assert ended.code == 70
    assert ended.err.splitlines()[-1].startswith("indiff: internal error (ZeroDivisionError)")
    assert "Traceback" in ended.err


@pytest.mark.parametrize(
    ("library", "text"),
    [
        ("typer", "raise ImportError('too old')"),
        ("typer", "def Typer(**given): raise AttributeError('too old')"),
        ("numpy", "__version__ = '1.0'"),  # loaded by the command alone
        ("pydantic", "raise SyntaxError('for another Python')"),
    ],
)
def test_what_fails_before_a_command_begins_is_70(
    people: Path, tmp_path: Path, library: str, text: str
) -> None:
    """1 means that a limit is exceeded: a library that cannot be used must not end with it."""
    words = ("--version",) if library == "typer" else ("test", str(people), "--sensitive", "ill")
    (tmp_path / f"{library}.py").write_text(text)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-c", "from indiff.cli import start; start()", *words],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 70
    said = "it cannot start" if library == "typer" else "internal error"
    assert ended.stderr.splitlines()[-1].startswith(f"indiff: {said} (")


def test_the_program_starts_there() -> None:
    project = tomllib.loads(
        (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert project["scripts"]["indiff"] == "indiff.cli:start"
    started = [sys.executable, "-c", "from indiff.cli import start; start()", "--version"]
    assert subprocess.run(started, capture_output=True, timeout=120).returncode == 0


def test_files_hold_what_python_computes(people: Path, tmp_path: Path) -> None:
    places = {"--json": tmp_path / "r.json", "--records": tmp_path / "r.csv"}
    ended = call("test", people, "--sensitive", "ill", "--quasi", "age,town", "--limit", "delta=2",
                 *(word for pair in places.items() for word in pair))  # fmt: skip
    assert ended.code == 0
    table = indiff.read_table(people, sensitive="ill", quasi=["age", "town"])
    expected = indiff.differential_test(table, indiff.Mondrian(k=5))
    stored = json.loads(places["--json"].read_text())
    assert stored["delta"] == expected.delta
    assert stored["mean"] == expected.mean
    assert stored["limits"] == [
        {"sensitive": "ill", "name": "delta", "value": expected.delta, "limit": 2.0,
         "is_lower": False, "exceeded": False}
    ]  # fmt: skip
    assert stored["verdict"] == {
        "status": "pass", "exit_code": 0, "reasons": [
            "no limit was exceeded, cells read as covering a value or not (encoding TF-TF)"
        ],
    }  # fmt: skip
    assert {"name": "age", "role": "quasi", "kind": "numeric"} in stored["columns"]
    rows = pyarrow.csv.read_csv(places["--records"])
    assert rows["distance"].to_pylist() == expected.distances.tolist()
    assert rows["record"].to_pylist() == list(range(60))
    for path in places.values():
        assert path.stat().st_mode & 0o777 == 0o600


def test_several_sensitive_attributes(people: Path, tmp_path: Path) -> None:
    words = ("test", people, "--sensitive", "ill,smokes", "--quasi", "age,town", "--json",
             tmp_path / "r.json", "--records", tmp_path / "r.parquet")  # fmt: skip
    ended = call(*words)
    assert ended.code == 0
    stored = json.loads((tmp_path / "r.json").read_text())
    assert list(stored["results"]) == ["ill", "smokes"]
    rows = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    assert rows["sensitive"].to_pylist() == ["ill"] * 60 + ["smokes"] * 60
    joint = call(*words, "--joint")
    assert "Strongest adversary against ill, smokes" in joint.out
    assert "6 joint values" in joint.out
    assert json.loads((tmp_path / "r.json").read_text())["sensitive"] == "ill, smokes"


def test_options_reach_the_table(people: Path, tmp_path: Path) -> None:
    tree = tmp_path / "towns.csv"
    tree.write_text("town0;north;*\ntown1;north;*\ntown2;south;*\ntown3;south;*\ntown4;south;*\n")
    words = ("test", people, "--quasi", "age,town", "--hierarchy", f"town={tree}")
    ended = call(*words, "--sensitive", "wage", "--bins", "4")
    assert "town (categorical with hierarchy)" in ended.out
    assert "wage (ordinal, 4 bins)" in ended.out
    ended = call(*words, "--sensitive", "wage > 1500", "--distance", "tv")
    assert ended.code == 0
    assert "wage > 1500 (categorical, 2 values)" in ended.out
    assert "tv, from 0 to 1" in ended.out


def test_no_value_of_the_table_is_printed_or_stored(people: Path, tmp_path: Path) -> None:
    places = (tmp_path / "r.json", tmp_path / "r.csv")
    ended = call("test", people, "--sensitive", "ill", "--json", places[0], "--records", places[1])
    everything = ended.out + ended.err + "".join(place.read_text() for place in places)
    for value in ("secret", "person1", "town3", "puff"):
        assert value not in everything


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"ag\x1b[31me\n\u202e[bold]",ill\n' + "1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n")
    ended = call("test", path, "--sensitive", "ill", "--sanitizer", "mondrian:k=2")
    assert ended.code == 0
    assert r"ag\x1b[31me\n\u202e[bold] (numeric)" in ended.out
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


def test_piped_output_is_plain_stable_and_narrow(people: Path) -> None:
    words = ("test", people, "--sensitive", "ill", "--model", "frequency", "--limit", "delta=0.001")
    colourful = {"FORCE_COLOR": "1", "COLUMNS": "200", "TERM": "xterm-256color"}
    ended = call_alone(*words, environment=colourful)
    assert ended.code == 1
    assert ended.err == ""
    assert not ANSI.search(ended.out)
    assert max(map(len, ended.out.splitlines())) <= 80
    assert all(line == line.rstrip() for line in ended.out.splitlines())
    assert ended == call(*words)


def test_an_old_terminal_gets_what_it_can_show(people: Path) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    words = ("test", people, "--sensitive", "ill", "--model", "frequency")
    ended = call_alone(*words, environment=ascii_only)
    assert ended.code == 0
    assert "####" in ended.out


def test_a_terminal_of_80_columns(people: Path) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "indiff.cli.main", "test", str(people), "--sensitive", "ill",
         "--method", "refit"],
        stdin=child, stdout=child, stderr=child, env={**environment, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(child)
    seen = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # Linux says so when the last writer has gone
            break
        if not part:
            break
        seen += part
    os.close(parent)
    assert process.wait(timeout=60) == 0
    text = seen.decode()
    assert ANSI.search(text)
    assert "testing ill" in text
    assert re.search(r"/s, δ so far [0-9.]+, median [0-9.]+", ANSI.sub("", text))
    lines = [line.split("\r")[-1] for line in ANSI.sub("", text).replace("\r\n", "\n").split("\n")]
    assert max(map(len, lines)) <= 80
    assert any("δ, the largest" in line for line in lines)


def test_a_reader_who_leaves_does_not_change_the_exit_code(people: Path) -> None:
    words = [sys.executable, "-m", "indiff.cli.main", "test", str(people), "--sensitive", "ill"]
    words += ["--model", "frequency"]
    for limit, code in (("delta=2", 0), ("delta=0.001", 1)):
        process = subprocess.Popen(
            [*words, "--limit", limit], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == code


def test_sanitize_writes_a_release_that_reads_back(people: Path, tmp_path: Path) -> None:
    place = tmp_path / "release.csv"
    words = ("sanitize", people, "--sensitive", "ill", "--identifier", "id", "--other", "wage",
             "--sanitizer", "mondrian:k=4", "--out", place)  # fmt: skip
    ended = call(*words)
    assert ended.code == 0
    assert "constraint     met" in ended.out
    assert re.search(r"left out +id, wage", ended.out)
    assert place.stat().st_mode & 0o777 == 0o600
    table = indiff.read_table(people, sensitive="ill", identifier="id", other="wage")
    release = indiff.Mondrian(k=4).sanitize(table)
    written = pyarrow.csv.read_csv(place)
    assert written.column_names == ["age", "town", "smokes", "ill"]
    columns = [(name, "ascending") for name in written.column_names]
    assert written.sort_by(columns).equals(release.to_frame().sort_by(columns))
    assert not written.equals(release.to_frame()), "the input's order must not be kept"
    back = indiff.read_release(place, table)
    assert sorted(back.column("age").texts) == sorted(set(release.to_frame()["age"].to_pylist()))
    assert "shuffled at random" in ended.out
    assert call(*words, "--seed", "1").code == 0
    first = place.read_bytes()
    assert call(*words, "--seed", "1").code == 0
    assert place.read_bytes() == first
    assert call(*words).code == 0
    assert place.read_bytes() != first
    kept = call(*words, "--keep")
    assert "wage (DIFFERENT IN EVERY RECORD)" in kept.out
    assert pyarrow.csv.read_csv(place).column_names == ["age", "town", "smokes", "ill", "wage"]


def test_a_noisy_release_says_whether_it_is_private(people: Path, tmp_path: Path) -> None:
    words = ("sanitize", people, "--quasi", "age", "--sensitive", "ill", "--sanitizer",
             "laplace:epsilon=1", "--out", tmp_path / "r.csv")  # fmt: skip
    ended = call(*words)
    assert ended.code == 1
    assert "not differentially private" in ended.out
    assert "declare their edges or domains" in " ".join(ended.out.split())
    ended = call(*words, "--edges", "age=30,45", "--domain", "ill=secret-a,secret-b,secret-c")
    cells = pyarrow.csv.read_csv(tmp_path / "r.csv")
    assert cells.num_rows == 9
    assert "not differentially private" not in ended.out or "install indiff[dp]" in ended.out
    refused = call(*words, "--keep")
    assert refused.code == 2
    assert "a noisy table has none" in refused.err
    mondrian = (*words[:7], "mondrian:k=2", *words[8:])
    assert "for noisy tables; got mondrian:k=2" in call(*mondrian, "--edges", "age=3").err


def test_estimates_are_judged_by_their_upper_limit(people: Path) -> None:
    words = ("test", people, "--quasi", "age", "--sensitive", "smokes", "--sanitizer",
             "laplace:epsilon=1", "--model", "naive-bayes", "--targets", "0-1", "--runs",
             "20")  # fmt: skip
    table = indiff.read_table(people, quasi=["age"], sensitive="smokes")
    result = indiff.differential_test(
        table, "laplace:epsilon=1", model="naive-bayes", targets=[0, 1], runs=20
    )
    between = (result.delta + result.delta_upper) / 2
    ended = call(*words, "--limit", f"delta={between}")
    assert result.delta < between < result.delta_upper
    assert ended.code == 1
    assert "delta of smokes may be" in ended.out
    assert "(0.95 confidence, 20 runs)" not in ended.out  # of two records: no limits on δ


def test_demo(tmp_path: Path) -> None:
    ended = call("demo", "--out", tmp_path / "new" / "demo")
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert "naive-bayes 0.9338 6 of 5,000 6 of 6 frequency 2 2,619 of 5,000 1 of 6" in said
    assert ", ".join(map(str, demo_outliers())) in said
    assert "the same again indiff audit" in said
    assert "record 2221 with probability 0.46" in said
    assert "indiff demo 0: it has shown what it should" in said
    assert "indiff audit 1 with this verdict: a limit is exceeded" in said
    folder = tmp_path / "new" / "demo"
    reports = [folder / name for name in ("report.html", "report.json", "report.md")]
    assert ended.out.splitlines()[-3:] == [str(path) for path in reports]
    written = sorted(folder.iterdir())
    others = [path.name for path in written if path not in reports]
    assert others == [
        "marital_status.csv", "patients.csv", "plan.toml", "records.csv", "release.csv",
        "result.json", "zip.csv",
    ]  # fmt: skip
    again = indiff.read_table(folder / "patients.csv", quasi=["age", "zip"], sensitive="diagnosis")
    made = indiff.read_table(indiff.datasets.demo(), quasi=["age", "zip"], sensitive="diagnosis")
    assert again.fingerprint == made.fingerprint
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in written)
    assert json.loads((folder / "result.json").read_text())["delta"] > 0.5
    assert json.loads((folder / "report.json").read_text())["verdict"]["status"] == "fail"
    assert pyarrow.csv.read_csv(folder / "release.csv").num_rows == 5000
    for path in written:  # whose record it is, is in the table alone
        assert bool(re.search(rb"\bP00\d{4}\b", path.read_bytes())) == (path.name == "patients.csv")


def test_help_is_quick_to_load() -> None:
    code = (
        "import sys, indiff.cli.main\n"
        "try: indiff.cli.main.main(sys.argv[1:])\n"
        "finally: sys.stderr.write(' '.join(sys.modules))\n"
    )
    for words in (["--help"], ["test", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, check=True, text=True
        )
        loaded = {name.partition(".")[0] for name in done.stderr.split()}
        assert "typer" in loaded
        assert not loaded & {"numba", "sklearn", "pyarrow", "altair", "pyspark", "duckdb", "scipy"}


def test_version_and_completion() -> None:
    assert call("--version").out == f"indiff {indiff.__version__}\n"
    asked = {"_INDIFF_COMPLETE": "complete_bash", "COMP_WORDS": "indiff s", "COMP_CWORD": "1"}
    assert call_alone(environment=asked).out.split() == ["sanitize", "sql", "serve"]


def test_cdf_steps() -> None:
    import numpy as np

    assert cdf_steps(np.array([0.0, 0.5, np.inf])) == [0.0, 0.5, np.inf]
    steps = cdf_steps(10.0 ** -np.arange(300.0))
    assert len(steps) <= 14
    assert steps[-1] == 1.0
    assert steps == sorted(steps)
