"""Bad input through the command line: one clear sentence, exit code 2, never a traceback."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Ended, call, call_alone

TEST = ("--quasi", "age", "--sensitive", "ill")
GOOD = "age,sex,ill\n" + "".join(
    f"{20 + row},{'MF'[row % 2]},{'yes' if row % 3 else 'no'}\n" for row in range(12)
)


def refused(ended: Ended) -> str:
    """The one line that a refused call prints, and nothing else."""
    assert ended.code == 2, ended
    assert ended.out == ""
    lines = ended.err.splitlines()
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("indiff: ")
    assert lines[0].endswith((".", "?"))
    return lines[0].removeprefix("indiff: ")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


FILES: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", r"a table needs a header and records; '.*' is empty: check the file\."),
    "blanks alone": (b" \n\n", r"is empty: check the file\."),
    "header only": (b"age,ill\n", r"needs at least one record; '.*' has only a header: add rows\."),
    "one row": (b"age,ill\n1,no\n", r"at least 2 records; the table has 1\. Add records\."),
    "duplicate column names": (
        b"age,age,ill\n1,2,no\n2,2,yes\n",
        r"names must differ; '.*' has two columns called 'age' \(columns 1 and 2\): rename one",
    ),
    "ragged row, too long": (
        b"age,ill\n1,no\n2,yes,maybe\n",
        r"as many fields as the header; '.*' has 3 on line 3 where the header has 2",
    ),
    "ragged row, too short": (b"age,ill\n1,no\n2\n", r"has 1 on line 3 where the header has 2"),
    "wrong encoding": (
        "age,ill\n1,grippé\n2,no\n".encode("latin-1"),
        r"valid in its encoding \(utf-8\); '.*' has the byte 0xe9 .* give --encoding cp1252",
    ),
    "NUL bytes": (b"age,ill\n1,n\0o\n2,yes\n", r"no NUL bytes; '.*' has one at byte 11 \(line 2\)"),
    "a cell of 10 MB": (
        b"age,ill\n1," + b"x" * 10_000_000 + b"\n2,yes\n",
        r"at most 1 MB .* a larger one that begins on line 2: shorten it",
    ),
    "open quote": (b'age,ill\n1,"no\n2,yes\n', r"opened must be closed; .* line 2"),
    "open quote in the header": (b'"age,ill\n1,no\n2,yes\n', r"opened must be closed; .* line 1"),
    "text after a quote": (b'age,ill\n1,"x"y\n2,yes\n', r"enclose a whole field .* line 2"),
    "a trailing separator": (
        b"age,ill\n1,no,\n2,yes,\n",
        r"has 3 on line 2 where the header has 2",
    ),
    "a footer": (b"age,ill\n1,no\n2,yes\nTotal\n", r"has 1 on line 4 where the header has 2"),
    "a column without a name": (b"age,,ill\n1,2,no\n", r"every column needs a name; column 2 of"),
    "no clear separator": (b"age,ill;sex\n1,no;m\n", r"must show which separator is used"),
    "a blank first line": (b"\nage,ill\n1,no\n", r"line 1 of '.*' is blank: remove it"),
    "constant sensitive": (
        b"age,ill\n1,no\n2,no\n3,no\n",
        r"needs at least 2 values; 'ill' has 1, .* Choose another column\.",
    ),
    "missing number": (
        b"age,ill\n1,no\n,yes\n3,no\n",
        r"must have a value in every record; missing in age \(1\)\. Choose --missing drop .* "
        r"or --missing split",
    ),
    "another format": (b"PK\x03\x04zip", r"zip archive or Excel workbook"),
}


# What is a table, though not one for the differential test.
FOR_TEST_ALONE = ("one row", "constant sensitive", "missing number")


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    content, sentence = FILES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    message = refused(call("test", path, *TEST))
    assert re.search(sentence, message)
    if name not in FOR_TEST_ALONE:
        assert refused(call("risk", path, *TEST)) == message
        assert refused(call("risk", path, "--sensitive", "ill")) == message
        assert refused(call("columns", path)) == message


PLACES = {
    "no such file": ("goood.csv", r"there is no '.*goood\.csv': did you mean 'good\.csv'\?"),
    "no such folder": ("nowhere/good.csv", r"there is no folder '.*nowhere'.*check the path\."),
    "a folder without tables": ("empty", r"a folder must hold Parquet files .* or text files"),
    "no ending": ("good", r"ending must tell its format"),
    "a name too long": ("x" * 300 + ".csv", r"must be readable; .*File name too long"),
}


@pytest.mark.parametrize("name", PLACES)
def test_paths(name: str, good: Path) -> None:
    place, sentence = PLACES[name]
    (good.parent / "good").write_text(GOOD)
    (good.parent / "empty").mkdir()
    message = refused(call("test", good.parent / place, *TEST))
    assert re.search(sentence, message)
    assert refused(call("risk", good.parent / place, *TEST)) == message
    assert refused(call("columns", good.parent / place)) == message


def test_unreadable_path(good: Path) -> None:
    path = good
    if os.geteuid() == 0:  # root may read any file, except one whose reading itself fails
        path = good.with_name("unreadable.csv")
        path.symlink_to("/proc/self/mem")
    else:
        path.chmod(0)
    message = refused(call("test", path, *TEST))
    assert re.search(r"must be readable; .* is not \(.*\): check its name and permissions", message)
    assert refused(call("risk", path, *TEST)) == message
    assert refused(call("columns", path)) == message


ROLES: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown column, near name": (
        ("--quasi", "agee", "--sensitive", "ill"),
        r"no column 'agee': did you mean 'age'\? Known: age, sex, ill\.",
    ),
    "unknown sensitive": (("--quasi", "age", "--sensitive", "il"), r"no column 'il'.* 'ill'\?"),
    "sensitive listed as quasi": (
        ("--quasi", "age,ill", "--sensitive", "ill"),
        r"one role; 'ill' is listed as quasi and as sensitive\. Remove it from one of the two\.",
    ),
    "no sensitive": (("--quasi", "age"), r"Missing option '--sensitive'; see 'indiff test --help'"),
    "bad expression": (
        ("--sensitive", "agee > 30"),
        r"'agee > 30' is neither a column nor an expression .* Columns: age, sex, ill\.",
    ),
    "empty list": (("--sensitive", ""), r"written a,b,c with no empty part; got ''\."),
    "unknown kind": ((*TEST, "--kind", "age=number"), r"a kind is one of .*; got 'number'"),
    "kind of no column": ((*TEST, "--kind", "agee=numeric"), r"no column 'agee': did you mean"),
    "half a kind": ((*TEST, "--kind", "age"), r"--kind is written COLUMN=KIND; got 'age'\."),
    "a kind twice": (
        (*TEST, "--kind", "age=numeric", "--kind", "age=ordinal"),
        r"--kind may name a column once; got 'age' twice\.",
    ),
    "an order that lacks a value": (
        ("--quasi", "sex", "--sensitive", "ill", "--order", "sex=M,X"),
        r"order of 'sex' must name every value; it lacks 'F'",
    ),
    "no hierarchy file": ((*TEST, "--hierarchy", "age=none.csv"), r"'none\.csv' cannot be read"),
    "bad bins": ((*TEST, "--bins", "few"), r"number of quantiles \(4\) or a list .*; got 'few'\."),
    "bins of text": ((*TEST, "--bins", "4"), r"'ill'"),
    "bad missing": ((*TEST, "--missing", "skip"), r"'error', 'drop' or 'split'; got 'skip'\."),
    "bad encoding": ((*TEST, "--encoding", "utf-9"), r"name of a text encoding; got 'utf-9'"),
    "a sheet of text": ((*TEST, "--sheet", "1"), r"sheet is for workbooks; .* leave it out\."),
}


@pytest.mark.parametrize("name", ROLES)
def test_roles_and_kinds(name: str, good: Path) -> None:
    words, sentence = ROLES[name]
    assert re.search(sentence, refused(call("test", good, *words)))


SETTINGS: dict[str, tuple[tuple[str, ...], str]] = {
    "k larger than n": (
        ("--sanitizer", "mondrian:k=13"),
        r"k must be at least 1 and at most the number of records \(12\); got 13\. Lower k\.",
    ),
    "k of zero": (("--sanitizer", "mondrian:k=0"), r"whole number of at least 1; got 0\."),
    "l larger than the number of classes": (
        ("--sanitizer", "mondrian:l=3"),
        r"l=3 cannot be met: the whole table has only 2 distinct values of 'ill'\. "
        r"No l above 1 is possible here: ask for k, distinct_l=2 or t, or pass unmet=generalize in "
        r"--sanitizer",
    ),
    "unknown sanitizer": (("--sanitizer", "mondriaan"), r"no sanitizer .* mean 'mondrian'\? Known"),
    "unknown parameter": (("--sanitizer", "mondrian:kk=2"), r"no parameter of mondrian 'kk'.*'k'"),
    "no number": (("--sanitizer", "mondrian:k=x"), r"k cannot be 'x' .*; give a whole number\."),
    "no pair": (("--sanitizer", "mondrian:recursive=3"), r"give c and ℓ, as in 3/2\."),
    "no value": (("--sanitizer", "mondrian:k"), r"written name=value; got 'k' in 'mondrian:k'\."),
    "a parameter too many": (("--sanitizer", "identity:k=2"), r"takes no parameters; got 'k=2'"),
    "unknown regions": (("--sanitizer", "mondrian:regions=wide"), r"'tight' or 'cut'; got 'wide'"),
    "unknown model": (("--model", "naive"), r"no model 'naive': did you mean 'naive-bayes'\?"),
    "unknown distance": (("--distance", "tvd"), r"no distance 'tvd': did you mean 'tv'\? Known"),
    "unknown method": (("--method", "fast"), r"no method 'fast'\. Known: auto, "),
    "limit without a number": (("--limit", "delta"), r"written delta=NUMBER, .*; got 'delta'\."),
    "limit of text": (("--limit", "delta=low"), r"at least 0; got 'delta=low'\."),
    "limit of NaN": (("--limit", "delta=nan"), r"at least 0; got 'delta=nan'\."),
    "negative limit": (("--limit", "delta=-1"), r"at least 0; got 'delta=-1'\."),
    "unknown limit": (("--limit", "detla=1"), r"no limit 'detla': did you mean 'delta'\?"),
    "a limit twice": (("--limit", "mean=1", "--limit", "mean=2"), r"given once; got 'mean' twice"),
    "no such target": (("--targets", "12-12"), r"records from 0 to 11, .*; got '12-12'\."),
    "no target at all": (("--targets", "0"), r"number of records of at least 1, .*; got '0'\."),
    "no span of time": (("--time", "soon"), r"span above 0, such as 90s, .*; got 'soon'\."),
    "unknown order": (("--order", "worst"), r"no order 'worst'.* Known: worst-first, random"),
    "two orders": (("--order", "given", "--order", "random"), r"once; got given, random\."),
    "unknown backend": (("--backend", "spark"), r"no backend 'spark'.* Known: loky, dask\."),
    "no scheduler": (("--backend", "dask"), r"belong together; got only --backend\."),
    "negative retries": (("--retries", "-1"), r"--retries must be at least 0; got -1\."),
    "unknown individual": (("--individual", "nobody"), r"no column 'nobody'"),
    "why of people": (
        ("--individual", "age", "--why", "1"),
        r"--why explains single records, not people; leave out --individual\.",
    ),
    "targets backwards": (("--targets", "9-3"), r"record numbers and ranges .*; got '9-3'\."),
    "no jobs": (("--jobs", "0"), r"--jobs must be -1 \(all cores\) or from 1 to 1,024; got 0\."),
    "negative seed": (("--seed", "-1"), r"--seed must be at least 0; got -1\."),
    "unknown option": (("--limits", "delta=1"), r"No such option: --limits.*see 'indiff test"),
    "output in no folder": (
        ("--json", "nowhere/r.json"),
        r"--json must be in a folder that exists",
    ),
    "output is a folder": (("--json", "."), r"--json must be a file; '\.' is a folder"),
    "output of unknown format": (("--records", "r.xlsx"), r"must end in .* 'r\.xlsx'\. Change the"),
    "one output for two": (
        ("--json", "same.csv", "--records", "same.csv"),
        r"--records must be a file of its own; got 'same\.csv', which is also --json\.",
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name: str, good: Path) -> None:
    words, sentence = SETTINGS[name]
    assert re.search(sentence, refused(call("test", good, *TEST, *words)))


def test_outputs_never_overwrite_an_input(good: Path) -> None:
    for words in (("test", good, "--records", good), ("sanitize", good, "--out", good)):
        message = refused(call(*words, *TEST))
        assert "which is the input" in message
        assert "Choose another name." in message
    assert good.read_text() == GOOD


def test_a_link_to_an_input_is_that_input(good: Path, tmp_path: Path) -> None:
    soft, hard = tmp_path / "soft.csv", tmp_path / "hard.csv"
    soft.symlink_to(good)
    hard.hardlink_to(good)
    for link in (soft, hard):
        assert "which is the input" in refused(call("sanitize", good, *TEST, "--out", link))
        assert "which is the input" in refused(call("test", good, *TEST, "--records", link))
    assert good.read_text() == GOOD
    words = ("--records", tmp_path / "new.csv", "--json", tmp_path / "sub" / ".." / "new.csv")
    (tmp_path / "sub").mkdir()
    assert "which is also --" in refused(call("test", good, *TEST, *words))


def test_a_link_that_leads_nowhere_is_no_bug(good: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    message = refused(call("sanitize", good, *TEST, "--out", loop))
    assert "cannot be written (Too many levels of symbolic links)" in message


def test_a_full_disk_is_no_bug(good: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.csv"
    full.symlink_to("/dev/full")
    before = stat.S_IMODE(os.stat("/dev/full").st_mode)
    for command, option in {"sanitize": "--out", "test": "--json"}.items():
        refusal = call(command, good, option, full, *TEST)
        assert refusal.code == 2
        assert "cannot be written (No space left on device); choose another place" in refusal.err
        assert ("δ" in refusal.out) == (command == "test"), "what was measured is shown"
    assert stat.S_IMODE(os.stat("/dev/full").st_mode) == before, "a device is not ours to close"
    with open("/dev/full", "w") as nowhere:
        ended = subprocess.run(
            [sys.executable, "-m", "indiff.cli.main", "--version"],
            stdout=nowhere, stderr=subprocess.PIPE, check=False, encoding="utf-8",
        )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr == (
        "indiff: there is no room left on the disk, for the output or for temporary files "
        "(their place: TMPDIR).\n"
    )


def test_unwritable_release(good: Path, tmp_path: Path) -> None:
    words = ("sanitize", good, *TEST, "--out")
    assert "a folder that exists" in refused(call(*words, tmp_path / "none" / "r.csv"))
    assert "must end in .csv, .tsv, .parquet" in refused(call(*words, tmp_path / "r.json"))
    assert "at most 255 bytes" in refused(call(*words, tmp_path / ("r" * 300 + ".csv")))
    assert "cannot" in refused(call("demo", "--out", good))


def test_several_sensitive_attributes_are_not_sanitized_one_by_one(
    good: Path, tmp_path: Path
) -> None:
    ended = call("sanitize", good, "--sensitive", "sex,ill", "--out", tmp_path / "r.csv")
    assert re.search(r"exactly one sensitive attribute .* several with --joint\.", refused(ended))


def test_usage() -> None:
    assert "No such command 'tset'. Did you mean 'test'?" in refused(call("tset"))
    assert "Missing argument 'DATA'; see 'indiff test --help'" in refused(call("test"))
    ended = call()
    assert ended.code == 2
    assert "Usage: indiff" in ended.out


def test_names_cannot_break_the_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"a\x1b[31mge\n\u202e",ill\n1,no\n2,yes\n')
    message = refused(call("test", path, *TEST))
    assert r"Known: a\x1b[31mge\n\u202e, ill." in message


def test_long_messages_keep_both_ends(good: Path) -> None:
    message = refused(call("test", good, "--sensitive", "ill", "--quasi", "x" * 5000))
    assert message.startswith("no column 'xxx")
    assert message.endswith("Known: age, sex, ill.")
    assert len(message) < 1300


def test_a_process_of_its_own_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"")
    ended = call_alone("test", path, *TEST)
    assert refused(ended) == refused(call("test", path, *TEST))
    assert "Traceback" not in ended.err
