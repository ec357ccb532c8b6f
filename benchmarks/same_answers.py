"""Compares the answers of two versions of indiff: ``same_answers.py OLD_SOURCE``.

Runs the same commands with the source tree OLD_SOURCE (a folder that holds ``src/indiff``) and with
this one, and compares their JSON, the pages of ``reproduce`` and the exit codes; then the inputs
that must be refused. Numbers are compared as they are written. What CHANGELOG says has changed may
differ (``LISTED``); anything else is printed by its place, and the script ends with 1.

Needs INDIFF_DATA, the folder with Adult and Internet Usage. ``--only NAME`` runs what is called so.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("INDIFF_DATA", HERE / "data"))
RUNNER = """
import sys
try:
    from indiff.cli.main import main
except ImportError:
    from indiff.cli import main
main(sys.argv[1:])
"""
BATCH = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
try:
    from indiff.cli.main import main
except ImportError:
    from indiff.cli import main
for words in json.load(open(sys.argv[1])):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ending:
            code = ending.code
    err.flush()
    print(json.dumps([code, err.buffer.getvalue().decode()]), flush=True)
"""

ADULT = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
]  # fmt: skip
QUASI = "age,education,marital-status,hours-per-week,native-country"
ROLES = f"--quasi {QUASI} --sensitive occupation --other workclass,sex"
FEW = "--quasi education,marital-status --sensitive sex --other age,occupation"
TREES = (
    "--hierarchy education=trees/education.csv --hierarchy marital-status=trees/marital_status.csv "
    "--hierarchy native-country=trees/native_country.csv"
)
BAYES = "--model naive-bayes"

COMMANDS = {
    "test k": f"test adult.csv {ROLES} --sanitizer mondrian:k=5 {BAYES} --limit delta=0.1 --json",
    "test l, trees": f"test adult.csv {ROLES} {TREES} --sanitizer mondrian:k=3,l=2 {BAYES} "
    "--distance tv --why 3 --json",
    "test t, frequency": f"test adult.csv {ROLES} --sanitizer mondrian:k=5,t=0.4 "
    "--model frequency --distance kl --membership --json",
    "test two models": f"test small.csv {ROLES} --sanitizer mondrian:k=10 "
    "--model naive-bayes,frequency --distance js --known age,education --targets 0-19 --json",
    "test laplace": f"test adult.csv {FEW} --sanitizer laplace:epsilon=0.5 "
    "--model frequency --json",
    "test geometric": f"test adult.csv {ROLES} --sanitizer geometric:epsilon=1 "
    "--model frequency --limit delta=1.5 --json",
    "test response": f"test small.csv {FEW} --sanitizer randomized-response:epsilon=1 {BAYES} "
    "--targets 0-9 --runs 100 --json",
    "test identity": f"test adult.csv {ROLES} --sanitizer identity {BAYES} --distance hellinger "
    "--limit mean=0.001 --json",
    "test suppress": f"test people.csv --identifier id --quasi age,town --sensitive ill,smokes "
    f"--other wage --sanitizer suppress {BAYES} --limit delta=1 --json",
    "test people": "test people3.csv --individual id --quasi age,town --sensitive ill "
    f"--other wage,smokes --sanitizer mondrian:k=5 {BAYES} --json",
    "test release": f"test small.csv {ROLES} --release release.csv --rows-in-order {BAYES} "
    "--limit delta=2 --json",
    "test refit tree": f"test small.csv {ROLES} --sanitizer mondrian:k=5 --method refit "
    "--targets 3-12 --model tree --json",
    "test expression": f"test internet.csv --quasi age,race,marital_status "
    f"--sensitive household_income --other country --sanitizer mondrian:l=3 {BAYES} "
    "--targets 200 --json",
    "risk text": f"risk adult.csv {ROLES} --combinations 2 --threads 1 --limit k=5 --json",
    "risk parquet, duckdb": "risk adult.parquet --quasi age,education,sex,race --sensitive "
    "occupation,income --engine duckdb --threads 1 --combinations 3 --json",
    "risk in-process": "risk adult.parquet --quasi age,sex --sensitive occupation "
    "--engine in-process --threads 1 --no-details --limit t=0.9 --json",
    "risk people": "risk people3.csv --individual id --quasi age,town --sensitive ill "
    "--threads 1 --json",
    "audit plan": "audit plan.toml --out",
    "audit noise": f"audit small.csv {FEW} --sanitizer laplace:epsilon=1 --model frequency --out",
    "audit release": f"audit small.csv {ROLES} --release release.csv --rows-in-order {BAYES} --out",
    "compare": f"compare small.csv {ROLES} --sanitizer mondrian:k=2,5,10 --sanitizer mondrian:l=2 "
    f"{BAYES} --recommend delta=0.5 --json",
    "compare noise": f"compare small.csv {FEW} --sanitizer laplace:epsilon=0.1,1 "
    "--sanitizer identity --model frequency --json",
    "reproduce toy": "reproduce dit-v2:table-1 dit-v2:section-4.3 --out",
    "reproduce itpr": "reproduce itpr:table-4 itpr:table-5 --out",
}
PLAN = """
[data]
path = "people.csv"
quasi = ["age", "town"]
sensitive = ["ill", "smokes"]
identifier = ["id"]
other = ["wage"]

[release]
sanitizer = "mondrian:k=5"

[adversary]
models = ["naive-bayes"]
membership = true

[limits]
k = 4
delta = 0.5

[report]
parameter = "mondrian:k=2,5,10"
"""


@dataclass(frozen=True)
class Listed:
    """What may differ: the commands, the places in their JSON, and CHANGELOG's words for it."""

    commands: str
    places: str
    changelog: str
    new: bool = False  # the place itself is new: nothing that was there may differ

    def covers(self, command: str, place: str, *, is_new: bool) -> bool:
        """Tell whether a difference is this one."""
        fits = re.fullmatch(self.commands, command) and re.fullmatch(self.places, place)
        return bool(fits) and (is_new or not self.new)


LISTED = (
    Listed(".*", r".*\.(timing\..*|seconds|version)", ""),
    Listed(".*", r".*\.fingerprint", "One fingerprint: `test` and `risk` print the same"),
    Listed(
        "(test|audit).*",
        r".*\.prediction_changed",
        "`prediction_changed` of a record is a number from 0 to 1",
    ),
    Listed(
        ".*",
        r".*\.changed_predictions_(exactness|lower|upper)",
        "`changed_predictions_exactness`, `_lower` and `_upper` in JSON",
        new=True,
    ),
    Listed(
        "test (laplace|geometric|response)",
        r".*\.changed_predictions_percent",
        "is the probability that a prediction changes",
    ),
    Listed(
        "audit noise",
        r".*\.findings\[changed_predictions.*\]\.(value|means)",
        "is the probability that a prediction changes",
    ),
    Listed(
        "audit.*",
        r".*\.findings\[changed_predictions.*\]\.does_not_prove",
        "is the probability that a prediction changes",
    ),
    Listed(
        "(test|risk).*",
        r".*(\.limits\[.*\]\.(is_lower|sensitive)|\.verdict\.status)",
        "Every limit in the JSON of `test` and `risk` has `sensitive`, `name`, `value`, `limit`, "
        "`is_lower` and `exceeded`",
        new=True,
    ),
    Listed(
        "(test|audit).*",
        r".*\.reasons\[(no limit was exceeded|every limit holds)(, against .* alone)?\]",
        "which a passing verdict mentions",
    ),
    Listed(
        ".*",
        r".*\.notes(\[\d+ of the \d+ values in the hierarchy of .* are held by no record\])?",
        "values of a hierarchy that no record holds are counted in a note",
    ),
    Listed(
        "(test|audit).*",
        r".*\.membership\..*\.upper|.*\.findings\[advantage.*\]\.interval\[1\]",
        "membership intervals were too narrow",
    ),
    Listed(
        "risk.*", r".*method\.(ground_distances|bins)\b.*", "The ground distance of t", new=True
    ),
    Listed("audit.*", r".*\.findings\[t:.*\]\.means", "The ground distance of t"),
    Listed("test two models", r"out\.json\..*", "has all the keys of one adversary's", new=True),
    Listed(
        "test (identity|suppress|release)|audit release|compare.*",
        r".*\.constraint_met",
        "`constraint_met` is null there",
    ),
    Listed(
        "test (laplace|geometric|response)|(audit|compare) noise",
        r"exit code|.*\.(constraint_met|on_front)|.*not differentially private.*"
        r"|.*\.verdict\.(exit_code|status|reasons\[no limit was .*)",
        "such a table fails (exit 1)",
    ),
    Listed(
        "test response",
        r".*\.(delta_upper|mean_upper|exactness)",
        "its JSON has no `delta_upper` and `mean_upper`",
    ),
    Listed(
        "test response",
        r".*notes\[the distances of randomized response do not fall with ε.*\]",
        "A note says why δ of randomized response does not fall with ε",
    ),
    Listed(
        "(test|audit) release",
        r".*\.(closest|posterior)\..*",
        "Linkage weighs candidates by how specific their regions are (`closest`, `posterior`)",
        new=True,
    ),
    Listed(
        "audit release",
        r".*\.findings\[one_candidate.*\]\.(title|means|source)",
        "and the most specific ones decide",
    ),
    Listed("compare.*", r".*\.rows\[.*\]\.models.*", "Rows of a comparison name", new=True),
    Listed(
        "compare.*", r".*\.rows\[.*\]\.unmeasured", "(`unmeasured` in a row of its JSON)", new=True
    ),
    Listed("audit.*", r".*\.columns\[.*\]\.note", 'a note says "belongs in no release"'),
    Listed(
        "audit.*",
        r".*\.findings\[t:.*\]\.parameters.*",
        "The finding of t names its ground distance",
    ),
    Listed(
        "audit.*", r".*\.plan\.data\.(decimal|date_format)", "`--date-format [COLUMN=]F`", new=True
    ),
    Listed("audit.*", r".*\.plan\.data\.header_row", "`--header-row`: titles above", new=True),
    Listed("audit.*", r".*\.plan\.release\.suppressed", "`--suppressed TEXT`", new=True),
    Listed("audit.*", r".*\.next_steps\b.*", "(`next_steps`)", new=True),
    Listed(
        "audit.*",
        r".*\.charts\.parameter\..*\.(models.*|exactness|delta_upper|mean_upper)",
        "(`models`,",
        new=True,
    ),
    Listed("audit.*", r".*\.findings\[.*\]\.(means|does_not_prove)", "All `means` and"),
    Listed(
        "audit.*", r".*\.findings\[advantage.*\]\.title", "Membership findings name their adversary"
    ),
    Listed("audit.*", r".*\.release\.notes\b.*", "An adversary's notes"),
    Listed("(test|audit).*", r".*\.log_odds", "the log-odds are `log_odds`", new=True),
    Listed(
        "(test|audit).*", r".*\.(why|why\[.*\]\.text)", "Why a record is exposed is said in words"
    ),
    Listed(
        "(test|audit).*",
        r".*\.reasons\[.*with encoding TF-TF\]",
        "names the encoding of adversaries",
    ),
    Listed(
        "audit.*", r".*\.reasons\[.*(a lower bound|an approximation).*\]", "one reason is given"
    ),
)


def write_inputs(folder: Path) -> None:
    """Write the tables that the commands read, with nothing of indiff."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [line.split(", ") for line in (DATA / "adult.data").read_text().splitlines() if line]
    rows = [row for row in rows if "?" not in row]
    pq.write_table(
        pa.table({name: [row[i] for row in rows] for i, name in enumerate(ADULT)}),
        folder / "adult.parquet",
    )
    random.Random(1).shuffle(rows)
    keep = [*QUASI.split(","), "occupation", "workclass", "sex"]
    places = [ADULT.index(name) for name in keep]
    for name, number in (("adult", 2000), ("small", 200)):
        _write_text(
            folder / f"{name}.csv", keep, [[row[i] for i in places] for row in rows[:number]]
        )
    names = (DATA / "internet.columns.txt").read_text().split()
    chosen = ["age", "race", "marital_status", "country", "household_income"]
    lines = (DATA / "internet.data").read_text().splitlines()
    answers = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[:2000]]
    _write_text(
        folder / "internet.csv",
        chosen,
        [[one[name] for name in chosen] for one in answers if one["age"] != "Not-Say"],
    )
    shutil.copytree(DATA / "hierarchies" / "adult", folder / "trees")
    for name, records_each in (("people", 1), ("people3", 3)):
        people = [
            [
                f"person{row // records_each}", 20 + row * 7 % 40, f"town{row % 5}",
                1000 + 17 * row, ("flu", "cold", "ague")[row * row % 7 % 3],
                ("yes", "no")[row % 2],
            ]
            for row in range(60)
        ]  # fmt: skip
        _write_text(folder / f"{name}.csv", ["id", "age", "town", "wage", "ill", "smokes"], people)
    (folder / "plan.toml").write_text(PLAN)


def _write_text(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def run(source: Path, folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run one command with a source tree, in a folder."""
    return subprocess.run(
        [sys.executable, "-c", RUNNER, *words],
        cwd=folder, env=_environment(source), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip


def _environment(source: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(source / "src"),
        "INDIFF_DATA": str(DATA),
        "COLUMNS": "100",
    }


def answer(
    source: Path, folder: Path, words: Sequence[str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    """Run one command; return how it ended and what it wrote."""
    target = folder / words[-1]
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    ended = run(source, folder, words)
    return ended, written(folder, words)


def kept(
    keep: Path | None, source: Path, folder: Path, words: Sequence[str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    """Answer as ``answer`` does, from the folder ``keep`` where the same was asked before."""
    if keep is None:
        return answer(source, folder, words)
    asked = hashlib.sha256(" ".join([str(source), *words]).encode())
    for file in sorted(folder.glob("*.*")):
        if file.name.partition(".")[0] != "out":
            asked.update(file.read_bytes())
    file = keep / f"{asked.hexdigest()[:16]}.pickle"
    if not file.exists():
        keep.mkdir(exist_ok=True)
        file.write_bytes(pickle.dumps(answer(source, folder, words)))
    found: tuple[subprocess.CompletedProcess[str], dict[str, object]]
    found = pickle.loads(file.read_bytes())
    return found


def written(folder: Path, words: Sequence[str]) -> dict[str, object]:
    """Return what a command wrote: the JSON documents and pages, by name."""
    out = folder / words[-1]
    files = sorted(out.glob("*.json")) + sorted(out.glob("*.md")) if out.is_dir() else [out]
    found: dict[str, object] = {}
    for file in files:
        if not file.exists():
            found[file.name] = "(not written)"
        elif file.suffix == ".json":
            found[file.name] = json.loads(file.read_text(), parse_float=str)
        elif words[0] == "reproduce" and file.name != "README.md":
            found[file.name] = dict(enumerate(file.read_text().splitlines(), 1))
    return found


UNIFIED = (
    'an infinite number is `"Infinity"` or `"-Infinity"`, one that is not a number `"NaN"`',
    "In the results of `indiff risk` the key was `schema`",
    "`levels` in JSON are in this order",
)
INFINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def unified(value: Any) -> Any:
    """Return a document with what CHANGELOG lists as ``UNIFIED`` written in one way."""
    if isinstance(value, dict):
        if value.get("kind") == "risk" and "schema" in value:
            value = {"format": value["schema"]} | {k: v for k, v in value.items() if k != "schema"}
        found = {key: unified(inner) for key, inner in value.items()}
        if isinstance(found.get("levels"), list):
            found["levels"] = sorted(found["levels"], key=json.dumps)
        return found
    if isinstance(value, list):
        return [unified(inner) for inner in value]
    return INFINITE.get(value, value) if isinstance(value, str) else value


def leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Go through a document: each place that holds no further one, and what it holds."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list) and value and all(map(_is_sentence, value)):
        for text in value:  # an order of sentences
            yield f"{place}[{text}]", "said"
    elif isinstance(value, list) and value:
        names = [_name(inner) for inner in value]
        by_name = None not in names and len(set(names)) == len(names)
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{place}[{names[number] if by_name else number}]")
    else:
        yield place, value


def _is_sentence(value: object) -> bool:
    """Tell text from decimals, which are kept as they were written."""
    return isinstance(value, str) and re.fullmatch(r"-?[0-9.]+(?:[eE][+-]?[0-9]+)?", value) is None


def _name(value: object) -> str | None:
    if isinstance(value, dict):
        parts = [value.get(key) for key in ("id", "name", "sensitive", "model", "label")]
        return "/".join(str(part) for part in parts if part is not None) or None
    return None


def differences(command: str, old: object, new: object) -> tuple[list[str], list[str]]:
    """Return the places that differ without being listed, with both values, and the listed ones."""
    one, other = dict(leaves(unified(old))), dict(leaves(unified(new)))
    plain, listed = [], []
    for place in [*one, *(place for place in other if place not in one)]:
        before, after = one.get(place, "(none)"), other.get(place, "(none)")
        if before == after and type(before) is type(after):
            continue
        if any(rule.covers(command, place, is_new=place not in one) for rule in LISTED):
            listed.append(place)
        else:
            plain.append(f"{place}: {_short(before)} → {_short(after)}")
    if not plain and not listed and list(one) != list(other):
        plain.append("the order of keys")
    return plain, listed


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:299] + "…"


def compare_commands(
    sources: dict[str, Path], folder: Path, only: str | None, keep: Path | None
) -> int:
    """Run every command with both trees, print how they compare, return how many differ."""
    differing = 0
    places = {}
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs)
    made = run(
        sources["old"],
        inputs,
        f"sanitize small.csv {ROLES} --sanitizer mondrian:k=4 --out release.csv".split(),
    )
    if made.returncode != 0:
        sys.exit(f"no release could be made: {made.stderr}")
    for side in sources:
        places[side] = folder / side
        shutil.copytree(inputs, places[side])
    for name, line in COMMANDS.items():
        if only is not None and only not in name:
            continue
        words = [*line.split(), "out.json" if line.endswith("--json") else f"out-{len(name)}"]
        ended, found = {}, {}
        started = time.monotonic()
        for side, source in sources.items():
            old = keep if side == "old" else None
            ended[side], documents = kept(old, source, places[side], words)
            found[side] = {"exit code": ended[side].returncode, **documents}
        plain, listed = differences(name, found["old"], found["new"])
        codes = ended["old"].returncode, ended["new"].returncode
        if 70 in codes or 2 in codes:
            plain.append("; ".join(f"{side}: {one.stderr[-300:]}" for side, one in ended.items()))
        differing += bool(plain)
        print(
            f"{name:22} exit {codes[1]}  {time.monotonic() - started:4.0f} s  "
            + ("DIFFERS" if plain else "same")
            + (f" apart from {len(listed)} listed places" if listed else ""),
            flush=True,
        )
        for one in plain:
            print(f"    {one}")
    return differing


def bad_inputs(folder: Path) -> dict[str, list[str]]:
    """Return the tests' commands that must be refused, after writing their files, by name."""
    sys.path.insert(0, str(HERE))
    from tests.cli.test_main_bad_input import FILES, GOOD, PLACES, ROLES, SETTINGS, TEST
    from tests.data.reading.test_separated import test_bad_text

    mark: Any = test_bad_text.pytestmark[0]  # type: ignore[attr-defined]
    files = {name: content for name, (content, _) in FILES.items()}
    files |= {f"text {i}: {message}": data for i, (data, message) in enumerate(mark.args[1])}
    (folder / "good.csv").write_text(GOOD)
    (folder / "good").write_text(GOOD)
    (folder / "empty").mkdir()
    found: dict[str, list[str]] = {}
    for number, (name, content) in enumerate(files.items()):
        place = f"table{number}.csv"
        (folder / place).write_bytes(content)
        roles = TEST if name in FILES else ("--quasi", "a", "--sensitive", "b")
        for command in ("test", "risk", "audit"):
            found[f"{command}: {name}"] = [command, place, *roles]
        found[f"risk, no quasi: {name}"] = ["risk", place, *roles[2:]]
    for name, (place, _) in PLACES.items():
        for command in ("test", "risk", "audit"):
            found[f"{command}: {name}"] = [command, place, *TEST]
    for name, (words, _) in ROLES.items():
        for command in ("test", "risk", "audit"):
            found[f"{command}: {name}"] = [command, "good.csv", *words]
    for name, (words, _) in SETTINGS.items():
        for command in ("test", "risk", "audit"):
            found[f"{command}: {name}"] = [command, "good.csv", *TEST, *words]
    for name, words in found.items():
        if name.startswith("audit"):
            words += ["--out", f"report-{len(name)}"]
        elif "--model" not in words and name.startswith("test"):
            words += ["--model", "naive-bayes"]
    return found


# The one difference in refusals: risk refuses what test refuses, and did before.
ONE_DOOR = "what one refuses, the other refuses in the same words"


def compare_refusals(sources: dict[str, Path], folder: Path) -> int:
    """Run every bad input with both trees, print where they differ, return how many do."""
    ended: dict[str, list[list[Any]]] = {}
    names: list[str] = []
    for side, source in sources.items():
        place = folder / f"bad-{side}"
        place.mkdir()
        found = bad_inputs(place)
        names = list(found)
        (folder / "bad.json").write_text(json.dumps(list(found.values())))
        done = subprocess.run(
            [sys.executable, "-c", BATCH, str(folder / "bad.json")],
            cwd=place, env=_environment(source), capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        ended[side] = [json.loads(line) for line in done.stdout.splitlines()]
        if len(ended[side]) != len(names):
            sys.exit(f"{side} stopped at {names[len(ended[side])]}: {done.stderr[-1000:]}")
    differing = listed = worded = 0
    codes = {
        name: (one[0], other[0])
        for name, one, other in zip(names, ended["old"], ended["new"], strict=True)
    }
    for name, before, after in zip(names, ended["old"], ended["new"], strict=True):
        worded += before[0] == after[0] and before[1] != after[1]
        if before[0] == after[0]:
            continue
        command, _, bad = name.partition(": ")
        if command.startswith("risk") and after[0] == 2 and codes[f"test: {bad}"] == (2, 2):
            listed += 1
            continue
        differing += 1
        print(f"{name}: exit {before[0]} → {after[0]}")
        for side, one in (("old", before), ("new", after)):
            print(f"    {side}: {one[1].strip()[-300:]}")
    refused = sum(one[0] == 2 for one in ended["new"])
    print(
        f"bad input: {len(names)} commands, {refused} refused now; {differing} differ in their "
        f"exit code, {listed} do as CHANGELOG lists; {worded} only in words"
    )
    return differing


def main() -> int:
    """Compare commands and refusals; 1 where anything differs that CHANGELOG does not list."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("old", type=Path, metavar="OLD_SOURCE")
    options.add_argument("--new", type=Path, default=HERE, help="the other tree; default: this one")
    options.add_argument("--only", metavar="NAME", help="commands whose name has this; or 'bad'")
    options.add_argument("--keep", type=Path, help="keep the old tree's answers in this folder")
    given = options.parse_args()
    if not (given.old / "src" / "indiff").is_dir():
        options.error(f"OLD_SOURCE is a checkout, with src/indiff in it; got {given.old}")
    sources = {"old": given.old.resolve(), "new": given.new.resolve()}
    changes = " ".join((HERE / "CHANGELOG.md").read_text().split())
    differing = 0
    for words in [*(rule.changelog for rule in LISTED), *UNIFIED, ONE_DOOR]:
        if words and words not in changes:
            print(f"CHANGELOG does not say {words!r}")
            differing += 1
    with tempfile.TemporaryDirectory() as name:
        if given.only != "bad":
            differing += compare_commands(sources, Path(name), given.only, given.keep)
        if given.only in (None, "bad"):
            differing += compare_refusals(sources, Path(name))
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
