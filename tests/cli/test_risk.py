"""``indiff risk``: what it prints and writes, and how it ends."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import indiff
from indiff.audit.verdict import Check
from indiff.cli.risk import _check_engine
from indiff.errors import UserError
from tests.command_line import ANSI, call, call_alone, write_people

# ITPR paper, Table 5, row 4: eight records, ages 30 (six times) and 47 (twice): 0.83.
AGES = "age,ill\n" + "".join(
    f"{age},{ill}\n" for age, ill in zip([30, 30, 30, 47, 30, 47, 30, 30], "fffhfhgg", strict=True)
)


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    path = tmp_path / "ages.csv"
    path.write_text(AGES)
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path, records_each=2)


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_papers_example(ages: Path) -> None:
    ended = call("risk", ages, "--quasi", "age")
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^ITPR +0\.8333 +DR to 1 +the worst group", ended.out, re.MULTILINE)
    assert re.search(r"^DR +0\.2704 +0 to 1 ", ended.out, re.MULTILINE)
    assert re.search(r"^MI +0\.8113 +0 to 3 ", ended.out, re.MULTILINE)
    assert re.search(r"^MIL +2\.75 +0 to 3 ", ended.out, re.MULTILINE)
    assert re.search(r"^ELD +0\.5 ", ended.out, re.MULTILINE)
    assert re.search(r"^k +2 +1 up ", ended.out, re.MULTILINE)
    assert re.search(r"^marketer +0\.25 ", ended.out, re.MULTILINE)
    assert "no group: no metric is at its maximum" in ended.out
    assert "journalist risk equals prosecutor risk because no population" in words(ended.out)
    assert "no limit was given" in ended.out


def test_a_metric_at_its_maximum_says_why(people: Path) -> None:
    ended = call("risk", people, "--quasi", "age,town", "--sensitive", "ill", "--combinations", "1")
    shown = words(ended.out)
    # ages 20 … 59: twenty occur once, twenty twice; the town follows from neither
    assert "alone 20 records in 20 groups (20 in groups of 1), 33.3 % of all" in shown
    assert "1 column at most 20 records singled out 2 columns 20 records singled out" in shown
    assert "20 in groups of 1, 6 in groups of 2" in shown
    assert "Combinations: the worst 2 of 2" in shown


def test_columns_and_values_contribute(people: Path) -> None:
    ended = call("risk", people, "--quasi", "age,town", "--sensitive", "ill")
    assert re.search(r"^age +40 +1 +20 +20 +0\.\d+ +0\.5833$", ended.out, re.MULTILINE)
    assert re.search(r"^town +5 +0\.3931 +0 +0 +0 +0$", ended.out, re.MULTILINE)
    assert len(re.findall(r"^age +a rare value +1 +1 +2\.5 %$", ended.out, re.MULTILINE)) == 3
    assert len(re.findall(r"^town +a value +12 +4 +20 %$", ended.out, re.MULTILINE)) == 3
    short = call("risk", people, "--quasi", "age,town", "--sensitive", "ill", "--no-details")
    assert "a rare value" not in short.out
    assert "Columns:" not in short.out


def test_an_outlier_is_named_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("age,town\n" + "30,a\n" * 50 + "40,b\n" * 49 + "400,b\n")
    ended = call("risk", path)
    assert "age 1 value, held by 1 record" in words(ended.out)
    assert "400" not in ended.out
    ended = call("risk", path, "--show-values")
    assert "age 1 value, held by 1 record: 400" in words(ended.out)
    assert re.search(r"^age +400 +1 +1 +33\.3 % +outlier$", ended.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("limits", "code", "reason"),
    [
        (["k=2", "reidentification.itpr=0.9"], 0, "no limit was exceeded"),
        (["k=3"], 1, "k is 2, below the limit 3"),
        (["reidentification.itpr=0.5"], 1, "reidentification.itpr is 0.8333, above the limit 0.5"),
        (["l=1", "distinct_l=1", "t=0.75"], 0, "no limit was exceeded"),
        (["l=1.1"], 1, "l is 1, below the limit 1.1"),
        (["entropy_l=2"], 1, "entropy_l is 1, below the limit 2"),
        (["distinct_l=2"], 1, "distinct_l is 1, below the limit 2"),
        (["inference.itpr=0.5"], 1, "inference.ill.itpr is 1, above the limit 0.5"),
        (["inference.ill.dr=0.9"], 0, "no limit was exceeded"),
        (["delta_disclosure=1000"], 1, "delta_disclosure is inf, above the limit 1000"),
        (["k=5", "marketer=0.1"], 1, "marketer is 0.25, above the limit 0.1"),
    ],
)
def test_limits(ages: Path, limits: list[str], code: int, reason: str) -> None:
    options = [word for limit in limits for word in ("--limit", limit)]
    ended = call("risk", ages, "--quasi", "age", "--sensitive", "ill", *options)
    assert ended.code == code
    assert f"Verdict: {reason}" in words(ended.out)


@pytest.mark.parametrize(("limit", "passed"), [("k=2", True), ("k=3", False)])
def test_a_verdict_is_green_only_where_all_limits_are_kept(
    ages: Path, limit: str, passed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bool] = []
    monkeypatch.setattr(
        "indiff.report.terminal.tables.show_reasons", lambda *_, passed: shown.append(bool(passed))
    )
    call("risk", ages, "--quasi", "age", "--sensitive", "ill", "--limit", limit)
    assert shown == [passed]


@pytest.mark.parametrize(
    ("policy", "limits", "code", "reasons"),
    [
        # The paper's example has groups of two.
        ("cell-3", (), 1, ["k is 2, below the limit 3"]),
        ("ours.toml", (), 0, ["no limit was exceeded"]),
        ("ours.toml", ("k=1",), 0, ["no limit", "ours, k: it is stricter than your own limit, 1"]),
        ("ours.toml", ("k=3",), 1, ["k is 2, below", "your own limit, 3, is stricter and counts"]),
        (
            "hipaa-safe-harbor",
            (),
            3,
            ["hipaa-safe-harbor has 19 points to check: run indiff audit"],
        ),
        ("delta.toml", (), 3, ["delta limits delta, which counts do not tell: run indiff audit"]),
    ],
)
def test_policies(
    ages: Path, policy: str, limits: tuple[str, ...], code: int, reasons: list[str]
) -> None:
    for name, limit in {
        "ours": 'metric = "k"\nlimit = 2',
        "delta": 'metric = "delta"\nlimit = 1',
    }.items():
        (ages.parent / f"{name}.toml").write_text(
            'title = "T"\ndocument = "D"\nyear = 2026\nsection = "S"\nverified = true\n[[limits]]\n'
            f'{limit}\nlabel = "L"\nkind = "maximum"\nscope = "sample"\n'
        )
    place = ages.parent / policy if policy.endswith(".toml") else policy
    options = [word for limit in limits for word in ("--limit", limit)]
    told = ages.parent / "risk.json"
    ended = call("risk", ages, "--quasi", "age", "--policy", place, *options, "--json", told)
    assert ended.code == code, ended.err
    for reason in reasons:
        assert reason in words(ended.out)
    block = json.loads(told.read_text(encoding="utf-8"))["policy"]
    # The policy is judged by its own limit, whatever else was asked for.
    status = {"cell-3": "failed", "ours.toml": "passed"}.get(policy, "incomplete")
    assert (block["name"], block["status"]) == (place_name(policy), status)
    parts = [*block["limits"], *block["checklist"]]
    assert {one["status"] for one in parts} == {status}
    assert [one["measured"] for one in block["limits"] if one["name"] == "k"] in ([], [2])


def place_name(policy: str) -> str:
    return policy.removesuffix(".toml")


@pytest.mark.parametrize(
    ("metric", "limit", "status", "measured"),
    [
        # Everybody of 47 has h.
        ("inference.itpr", 0.99, "failed", 1.0),
        ("inference.itpr", 1.0, "passed", 1.0),
        ("t", 1.0, "passed", None),
    ],
)
def test_a_limit_of_a_policy_on_what_is_inferred(
    ages: Path, metric: str, limit: float, status: str, measured: float | None
) -> None:
    place, told = ages.parent / "rules.toml", ages.parent / "risk.json"
    place.write_text(
        'title = "T"\ndocument = "D"\nyear = 2026\nsection = "S"\nverified = true\n[[limits]]\n'
        f'metric = "{metric}"\nlimit = {limit}\nlabel = "L"\nkind = "maximum"\n'
        'scope = "population"\n'
    )
    call("risk", ages, "--quasi", "age", "--sensitive", "ill", "--policy", place, "--json", told)
    (one,) = json.loads(told.read_text(encoding="utf-8"))["policy"]["limits"]
    assert one["status"] == status
    assert measured is None or one["measured"] == pytest.approx(measured)
    assert "measured in the table" in one["reason"]


def test_without_a_policy_there_is_no_block(ages: Path) -> None:
    told = ages.parent / "risk.json"
    call("risk", ages, "--quasi", "age", "--json", told)
    assert json.loads(told.read_text(encoding="utf-8"))["policy"] is None


def test_a_policy_is_never_overwritten(ages: Path) -> None:
    place = ages.parent / "ours.toml"
    ours = (
        'title = "T"\ndocument = "D"\nyear = 2026\nsection = "S"\nverified = true\n[[limits]]\n'
        'metric = "k"\nlimit = 2\nlabel = "L"\nkind = "maximum"\nscope = "sample"\n'
    )
    place.write_text(ours)
    ended = call("risk", ages, "--quasi", "age", "--policy", place, "--json", place)
    assert (ended.code, place.read_text()) == (2, ours)
    assert "--json" in ended.err
    assert len(ended.err.splitlines()) == 1
    assert call("risk", ages, "--quasi", "age", "--policy", place).code == 0


def test_an_unknown_number_is_beyond_any_limit() -> None:
    assert Check("k", float("nan"), 0, "at least").exceeded
    assert Check("t", float("nan"), 1).exceeded


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "k"), "a limit is written k=NUMBER, of at least 0; got 'k'"),
        (("--limit", "k=-1"), "of at least 0; got 'k=-1'"),
        (("--limit", "kk=1"), "no limit 'kk'"),
        (("--limit", "inference.itpr=1"), "needs a sensitive attribute; add --sensitive COLUMN"),
        (("--limit", "l=1"), "the limit l needs a sensitive attribute"),
        (("--sensitive", "ill", "--limit", "inference.il.dr=1"), "did you mean 'ill'"),
        (("--sensitive", "ill", "--limit", "inference.drr=1"), "no limit 'inference.drr'"),
        (("--limit", "k=1", "--limit", "k=2"), "a limit may be given once; got 'k' twice"),
        (("--engine", "sparc"), "no engine 'sparc': did you mean 'spark'?"),
        (("--engine", "duckdb", "--master", "local[2]"), "--master is for Spark"),
        (("--master", "local[2]", "--threads", "2"), "--threads is for this machine"),
        (("--quasi", "agee"), "no column 'agee': did you mean 'age'?"),
        (("--sensitive", "age", "--quasi", "age"), "a column may be named once"),
        (("--memory-limit", "much"), "--memory-limit must be a size such as 2GB; got 'much'"),
        (("--threads", "0"), "--threads must be at least 1; got 0."),
        (("--records", "r.txt"), "--records must end in .csv, .tsv, .parquet"),
        (("--json", "/nowhere/r.json"), "--json must be in a folder that exists"),
        (("--quasi", "age", "--individual", "age"), "a column may be named once"),
    ],
)
def test_bad_usage(ages: Path, options: tuple[str, ...], message: str) -> None:
    ended = call("risk", ages, *options)
    assert ended.code == 2
    assert ended.out == ""
    assert message in ended.err


def test_java_and_pyspark_that_are_missing(
    ages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for options in (("--engine", "spark"), ("--master", "spark://127.0.0.1:7077")):
        ended = call("risk", ages, *options)
        assert ended.code == 2
        assert "sudo apt install openjdk-17-jre-headless" in ended.err
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ended = call("risk", ages, "--engine", "spark")
    assert ended.code == 2
    assert "pip install 'indiff[spark]'" in ended.err


def test_files_hold_what_python_computes(people: Path, tmp_path: Path) -> None:
    places = tmp_path / "r.json", tmp_path / "r.tsv"
    asked = ("--quasi", "age,town", "--sensitive", "ill", "--individual", "id", "--limit", "k=1")
    ended = call("risk", people, *asked, "--json", places[0], "--records", places[1])
    assert ended.code == 0
    expected = indiff.measure_risk(people, quasi=["age", "town"], sensitive="ill", individual="id")
    stored = json.loads(places[0].read_text())
    assert stored["reidentification"]["itpr"] == expected.reidentification.itpr
    assert stored["inference"]["ill"]["dr"] == expected.inference["ill"].dr
    assert stored["groups"]["t"] == expected.groups.t
    assert stored["limits"] == [
        {
            "sensitive": None,
            "name": "k",
            "value": 1.0,
            "limit": 1.0,
            "is_lower": True,
            "exceeded": False,
        }
    ]
    assert stored["verdict"] == {
        "status": "pass", "exit_code": 0, "reasons": ["no limit was exceeded"],
    }  # fmt: skip
    tabs = pyarrow.csv.ParseOptions(delimiter="\t")
    rows = pyarrow.csv.read_csv(places[1], parse_options=tabs)
    assert rows["record"].to_pylist() == list(range(60))
    assert max(rows["itpr"].to_pylist()) == expected.reidentification.itpr
    for place in places:
        assert place.stat().st_mode & 0o777 == 0o600


def test_no_value_of_the_table_is_printed_or_stored(people: Path, tmp_path: Path) -> None:
    places = tmp_path / "r.json", tmp_path / "r.csv"
    asked = ("risk", people, "--sensitive", "ill", "--json", places[0], "--records", places[1])
    ended = call(*asked)
    everything = ended.out + ended.err + "".join(place.read_text() for place in places)
    for value in ("secret", "person1", "town3", "puff"):
        assert value not in everything
    call(*asked, "--show-values")
    assert "town3" in places[0].read_text()


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_engines_print_the_same(people: Path, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pyarrow.csv.read_csv(people), path)
    asked = ("--quasi", "age,town", "--sensitive", "ill,smokes", "--combinations", "2")
    ended = call("risk", path, *asked, "--engine", engine, "--threads", "1")
    assert ended.code == 0
    assert f"engine {engine}" in words(ended.out)
    reference = call("risk", path, *asked, "--engine", "duckdb")
    assert ended.out.replace(engine, "duckdb") == reference.out


def test_a_workbook_and_recoded_text(ages: Path, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for line in AGES.splitlines():
        age, ill = line.split(",")
        book.active.append([int(age) if age.isdigit() else age, ill])
    book.save(tmp_path / "ages.xlsx")
    reference = call("risk", ages, "--quasi", "age").out
    found = call("risk", tmp_path / "ages.xlsx", "--quasi", "age").out
    assert re.findall(r"^(?:ITPR|k|DR) +\S+", found, re.MULTILINE) == re.findall(
        r"^(?:ITPR|k|DR) +\S+", reference, re.MULTILINE
    )
    latin = tmp_path / "latin.csv"
    latin.write_bytes("âge,ill\n30,a\n30,b\n31,é\n".encode("latin-1"))
    ended = call("risk", latin, "--quasi", "âge", "--encoding", "latin-1")
    assert "20 records" not in ended.out
    assert re.search(r"^k +1 ", ended.out, re.MULTILINE)


def test_a_release_is_less_risky_than_its_table(people: Path, tmp_path: Path) -> None:
    release = tmp_path / "release.csv"
    asked = ("--sensitive", "ill", "--quasi", "age,town")
    assert (
        call("sanitize", people, *asked, "--sanitizer", "mondrian:k=4", "--out", release).code == 0
    )
    assert call("risk", people, *asked, "--limit", "k=4").code == 1
    ended = call("risk", release, "--sensitive", "ill", "--limit", "k=4")
    assert ended.code == 0
    assert "quasi age, town" in words(ended.out)


def test_piped_output_is_plain_stable_and_narrow(people: Path) -> None:
    asked = ("risk", people, "--sensitive", "ill", "--combinations", "2", "--limit", "k=5")
    colourful = {"FORCE_COLOR": "1", "COLUMNS": "200", "TERM": "xterm-256color"}
    ended = call_alone(*asked, environment=colourful)
    assert (ended.code, ended.err) == (1, "")
    assert not ANSI.search(ended.out)
    assert max(map(len, ended.out.splitlines())) <= 80
    assert all(line == line.rstrip() for line in ended.out.splitlines())
    assert ended == call(*asked)


def test_odd_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"ag\x1b[31me\u202e[bold]",ill\n1,"\x1b[2J"\n2,b\n3,a\n')
    ended = call("risk", path, "--sensitive", "ill", "--show-values")
    assert ended.code == 0
    assert r"ag\x1b[31me\u202e[bold]" in ended.out
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


def test_help_names_every_option_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, indiff.cli.main\n"
        "try: indiff.cli.main.main(['risk', '--help'])\n"
        "finally: sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"numba", "sklearn", "pyarrow", "altair", "pyspark", "duckdb", "scipy"}
    for option in ("--quasi", "--sensitive", "--individual", "--engine", "--master", "--limit",
                   "--combinations", "--records", "--json", "--show-values"):  # fmt: skip
        assert option in done.stdout


def test_the_bins_and_what_t_takes_for_a_distance_stand_beside_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{'ab'[row % 2]},{row},{'xyz'[row % 3]}" for row in range(12)]
    path.write_text("\n".join(["zip,pay,ill", *rows]) + "\n")
    words = ["risk", str(path), "--quasi", "zip", "--sensitive", "pay,ill", "--bins", "pay=4"]
    ended = call(*words, "--json", str(tmp_path / "risk.json"))
    flat = " ".join(ended.out.split())
    assert "pay (ordinal, 4 bins), ill (categorical)" in flat
    assert "of a group to the table, with values as far apart as their ranks" in flat
    assert "of a group to the table, with any two values equally far apart" in flat
    method = json.loads((tmp_path / "risk.json").read_text())["method"]
    assert method["bins"] == {"pay": 4}
    assert method["ground_distances"] == {"pay": "ranks", "ill": "equal"}


def test_a_file_is_named_without_its_folder_and_a_pattern_as_it_is(people: Path) -> None:
    ended = call("risk", people, "--quasi", "age")
    assert "Risk of people.csv\n" in ended.out
    parts = people.parent / "parts"
    parts.mkdir()
    for number in range(2):
        pq.write_table(pyarrow.csv.read_csv(people), parts / f"{number}.parquet")
    ended = call("risk", parts / "*.parquet", "--quasi", "age")
    assert re.search(r"^Risk of .*parts/\*\.parquet$", ended.out, re.MULTILINE)
    assert re.search(r"^records +120$", ended.out, re.MULTILINE)


def test_a_fingerprint_is_shown_by_its_key_and_16_digits(people: Path, tmp_path: Path) -> None:
    ended = call("risk", people, "--quasi", "age", "--json", tmp_path / "r.json")
    whole = json.loads((tmp_path / "r.json").read_text())["method"]["fingerprint"]
    key, _, digits = whole.partition("-")
    assert re.search(rf"^fingerprint +{key}-{digits[:16]}$", ended.out, re.MULTILINE)


def test_what_is_elsewhere_is_no_file_here(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address is passed on as it is: its name is no place that could be overwritten."""
    found = indiff.measure_risk(people, quasi=["age"])
    asked = []

    def measured(recipe: Any) -> Any:
        asked.append(recipe["data"])
        return found

    monkeypatch.setattr("indiff.cli.risk._measure", measured)
    monkeypatch.chdir(tmp_path)
    address = "hdfs://cluster/people.json"
    (tmp_path / "hdfs:" / "cluster").mkdir(parents=True)
    ended = call("risk", address, "--quasi", "age", "--json", "hdfs:/cluster/people.json")
    assert (ended.code, asked) == (0, [address])
    assert f"Risk of {address}\n" in ended.out
    ended = call("risk", people, "--quasi", "age", "--json", people)
    assert ended.code == 2


@pytest.mark.parametrize(
    ("engine", "master", "threads", "expected"),
    [
        ("auto", None, None, "here"),
        ("auto", None, 2, "here"),
        ("in-process", None, 2, "here"),
        ("duckdb", None, None, "here"),
        ("spark", None, None, "spark"),
        ("spark", None, 2, "spark"),
        ("auto", "local[2]", None, "spark"),
        ("spark", "local[2]", None, "spark"),
        ("in-process", "local[2]", None, "--master is for Spark"),
        ("duckdb", "local[2]", None, "--master is for Spark"),
        ("auto", "local[2]", 2, "--threads is for this machine"),
        ("spark", "local[2]", 2, "--threads is for this machine"),
        ("sparc", None, None, "no engine 'sparc'"),
    ],
)
def test_what_goes_with_which_engine(
    engine: str,
    master: str | None,
    threads: int | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr("indiff.engines.spark.require_spark", lambda: asked.append("spark"))
    if expected in ("here", "spark"):
        _check_engine(engine, master, threads)
        assert asked == (["spark"] if expected == "spark" else [])
    else:
        with pytest.raises(UserError, match=expected):
            _check_engine(engine, master, threads)


def test_an_engine_is_refused_before_any_file_is_read(tmp_path: Path) -> None:
    ended = call("risk", tmp_path / "nowhere.csv", "--engine", "sparc")
    assert (ended.code, "no engine 'sparc'" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("ending", "options", "expected"),
    [
        (".csv", (), False),
        (".TSV", (), False),
        (".txt", (), False),
        (".parquet", (), True),
        (".xlsx", (), True),
        (".csv", ("--engine", "in-process"), True),
        (".parquet", ("--engine", "in-process"), True),
        (".parquet", ("--engine", "duckdb"), False),
        (".csv", ("--engine", "duckdb"), False),
        (".parquet", ("--master", "local[2]"), False),
    ],
)
def test_the_kernel_is_compiled_first_where_it_counts(
    ending: str,
    options: tuple[str, ...],
    expected: bool,
    ages: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = indiff.measure_risk(ages, quasi=["age"], details=False)
    compiled: list[Any] = []
    monkeypatch.setattr("indiff.engines.spark.require_spark", lambda: None)
    monkeypatch.setattr("indiff.risk.measure_risk", lambda *_, **__: found)
    monkeypatch.setattr("indiff.report.terminal.tables.compile_first", compiled.append)
    ended = call("risk", f"ages{ending}", "--quasi", "age", *options)
    assert (ended.code, bool(compiled)) == (0, expected)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--sensitive", "ill,smokes", "--joint", "--limit", "inference.ill, smokes.dr=0"),
         "inference.ill, smokes.dr is"),
        (("--sensitive", "ill,smokes", "--limit", "inference.smokes.dr=0"),
         "inference.smokes.dr is"),
        (("--sensitive", "ill", "--joint", "--limit", "inference.ill.dr=0"), "inference.ill.dr is"),
        (("--sensitive", "ill,smokes,wage", "--joint", "--limit", "inference.dr=0"),
         "inference.ill, smokes, wage.dr is"),
    ],
)  # fmt: skip
def test_limits_on_attributes_taken_together_and_apart(
    people: Path, options: tuple[str, ...], reason: str
) -> None:
    ended = call("risk", people, "--quasi", "age,town", "--no-details", *options)
    assert ended.code == 1
    assert reason in words(ended.out)


def test_without_quasi_every_column_without_another_role_is_one(people: Path) -> None:
    asked = ("risk", people, "--no-details")
    for options, quasi in (
        (("--sensitive", "ill"), "id, age, town, wage, smokes"),
        (("--sensitive", "ill", "--individual", "id"), "age, town, wage, smokes"),
        (("--identifier", "id", "--other", "wage"), "age, town, ill, smokes"),
    ):
        ended = call(*asked, *options)
        assert (ended.code, f"quasi {quasi} " in words(ended.out)) == (0, True)
    ended = call(*asked, "--sensitive", "wage > 1500")
    assert ended.code == 2
    assert "beside an expression ('wage > 1500') the quasi-identifiers must be named" in ended.err


def test_no_input_is_overwritten(people: Path, tmp_path: Path) -> None:
    tree = tmp_path / "ill.csv"
    tree.write_text("secret-a;*\nsecret-b;*\nsecret-c;*\n")
    asked = ("risk", people, "--quasi", "age", "--sensitive", "ill", "--hierarchy", f"ill={tree}")
    for place in (people, tree):
        before = place.read_text()
        for option in ("--json", "--records"):
            ended = call(*asked, option, place)
            assert (ended.code, place.read_text()) == (2, before)
    assert call(*asked, "--no-details").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--limit", "keys.k=1", "--keys", "age+town"), 0, "no limit was exceeded"),
        (("--limit", "keys.k=2", "--keys", "age,age+town"), 1, "keys.k is 1, below the limit 2"),
        (("--limit", "keys.singled_out=0", "--keys", "town"), 0, "no limit was exceeded"),
        (("--limit", "keys.singled_out=0", "--keys", "age+town"), 1, "keys.singled_out is"),
        (("--limit", "special.records=60", "--special", "2"), 0, "no limit was exceeded"),
        (("--limit", "special.records=1", "--special", "2"), 1, "special.records is"),
        (("--limit", "special.dis=1", "--special", "2"), 0, "no limit was exceeded; special.dis"),
        (("--limit", "special.dis=0.001", "--special", "2"), 1, "special.dis is estimated at"),
        (("--limit", "special.dis=2", "--special", "2"), 2, "is a number from 0 to 1; got 2"),
        (("--limit", "special.dis=0.1"), 2, "add --special"),
        (("--limit", "keys.k=2"), 2, "add --keys"),
        (("--keys", "age+twon"), 2, "did you mean 'town'"),
    ],
)
def test_limits_on_keys_and_special_uniques(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    ended = call("risk", write_people(tmp_path), "--quasi", "age,town", "--no-details", *words)
    assert ended.code == code
    assert said in ended.out + ended.err


def test_special_uniques_are_shown_without_a_value(tmp_path: Path) -> None:
    shown = call(
        "risk", write_people(tmp_path), "--quasi", "age,town,smokes", "--special", "2", "--keys",
        "age+town",
    ).out  # fmt: skip
    assert "Special uniques: records that few columns single out" in shown
    assert "Keys: the combinations that were named" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert not any(value in shown for value in ("town3", "puff"))


@pytest.mark.parametrize(("engine", "master"), [("auto", "local[2]"), ("sp" + "ark", None)])
def test_a_cluster_has_to_be_there_before_any_file_is_read(
    engine: str, master: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("indiff.engines.spark.require_spark", lambda: asked.append(engine))
    _check_engine(engine, master, None)
    assert asked == [engine]


def test_the_population_is_shown(ages: Path) -> None:
    ended = call("risk", ages, "--quasi", "age", "--population", "80")
    assert ended.code == 0
    assert "Population uniques by model, and which Dankar's rule chooses" in words(ended.out)
    assert "Population uniques" not in words(call("risk", ages, "--quasi", "age").out)
