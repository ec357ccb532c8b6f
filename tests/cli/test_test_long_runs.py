"""Long runs on the command line: folders, failures, budgets, orders, people."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indiff.differential.refit import refit
from tests.command_line import Ended, call

WORDS = ("--sensitive", "ill", "--quasi", "age", "--other", "key")
ALONE = ("--model", "naive-bayes")

# Hides ages below a width; fails without one record.
PROGRAM = """
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
if sys.argv[3] not in [row["key"] for row in rows]:
    sys.exit("cannot do it")
for row in rows:
    low = int(row["age"]) // 10 * 10
    row["age"] = f"[{low}, {low + 9}]"
out = csv.DictWriter(open(sys.argv[2], "w"), ["age", "ill"], extrasaction="ignore")
out.writeheader()
out.writerows(rows)
"""


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    lines = ["key,who,age,ill"]
    for key in range(24):
        lines.append(f"{key},p{key // 2},{rng.integers(20, 70)},{rng.choice(['a', 'b', 'c'])}")
    file = tmp_path / "visits.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def flat(ended: Ended) -> str:
    return re.sub(r"\s+", " ", ended.out)


def without_timing(file: Path) -> Any:
    return re.sub(r'"seconds": .*', "", file.read_text())


def test_an_interrupted_command_goes_on_with_the_same_words(
    visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("test", visits, *WORDS, "--other", "who", "--sanitizer", "identity", "--jobs", "1")
    outputs = ("--json", tmp_path / "r.json", "--records", tmp_path / "r.csv")
    assert call(*words, *outputs).code == 0
    expected = without_timing(tmp_path / "r.json"), (tmp_path / "r.csv").read_bytes()
    run = refit.Without.__call__
    left = [6]

    def interrupted(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return run(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(refit.Without, "__call__", interrupted)
        ended = call(*words, *outputs, "--run", tmp_path / "night")
    assert ended.code == 130
    assert f"so far are kept; the same command goes on from '{tmp_path / 'night'}'" in flat(ended)
    assert "a lower bound on that of all" in flat(ended)
    assert call(*words, *outputs, "--run", tmp_path / "night").code == 0
    assert (without_timing(tmp_path / "r.json"), (tmp_path / "r.csv").read_bytes()) == expected
    ended = call(*words, "--run", tmp_path / "night", "--seed", "1")
    assert ended.code == 2
    assert "the seed is another one than when the run in" in ended.err


def test_failing_calls_end_with_3_or_with_1(visits: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    program = f"command:{sys.executable} {tmp_path / 'program.py'} {{input}} {{output}} 5"
    words = ("test", visits, *WORDS, *ALONE, "--other", "who", "--sanitizer", program,
             "--retries", "0", "--targets", "4-6", "--jobs", "1")  # fmt: skip
    ended = call(*words, "--json", tmp_path / "r.json")
    assert ended.code == 3
    assert "1 call failed: nothing is known about this record" in flat(ended)
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["complete"] is False
    assert len(document["failures"]) == 1
    assert document["failures"][0].startswith("record 5: ")
    assert "cannot do it" not in document["failures"][0]  # it may hold records
    assert document["records_tested"] == 2
    assert call(*words, "--limit", "delta=0").code == 1


def test_some_targets_are_a_lower_bound_in_every_output(visits: Path, tmp_path: Path) -> None:
    words = ("test", visits, *WORDS, *ALONE, "--other", "who", "--sanitizer", "mondrian:k=2")
    ended = call(*words, "--targets", "5", "--json", tmp_path / "r.json")
    assert ended.code == 0
    assert "5 tested of 24" in flat(ended)
    assert "with 95 % confidence at most" in flat(ended)
    assert "a lower bound" in flat(ended)
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["exactness"] == "lower-bound"
    assert "is a lower bound on that of all" in str(document["notes"])
    assert "with 95 % confidence" in document["guarantee"]
    ended = call(*words, "--targets", "5", "--order", "worst-first", "--limit", "delta=2")
    assert ended.code == 3
    assert "95 % confidence" not in flat(ended)
    ended = call(*words, "--targets", "4", "--method", "sampled", "--runs", "3")
    assert "a lower bound on that of all" in flat(ended)


def test_people(visits: Path, tmp_path: Path) -> None:
    words = ("test", visits, *WORDS, *ALONE, "--sanitizer", "mondrian:k=2", "--individual", "who",
             "--json", tmp_path / "r.json", "--records", tmp_path / "r.csv")  # fmt: skip
    ended = call(*words)
    assert ended.code == 0
    assert "12 tested of 12 by who; they hold 24 of 24 records" in flat(ended)
    assert "identifier who" in flat(ended)
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["individual"], document["people"]) == ("who", 12)
    assert document["exactness"] == "exact"
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0].replace('"', "").startswith("record,distance,records,")
    assert len(lines) == 13
    assert call(*words, "--limit", "delta=2").code == 0
    one = call(*words, "--targets", "7-7")
    assert "1 tested of 12 by who" in flat(one)


def test_a_budget(visits: Path, tmp_path: Path) -> None:
    words = ("test", visits, *WORDS, "--other", "who", "--sanitizer", "identity")
    assert call(*words, "--time", "1h").code == 0
    ended = call(*words, "--time", "0.000001s", "--run", tmp_path / "run")
    assert ended.code == 3
    assert "the time was up: what was measured is a lower bound; the same command goes on" in flat(
        ended
    )


def test_a_number_of_targets_of_a_release_beside_its_original(visits: Path, tmp_path: Path) -> None:
    ended = call("test", visits, *WORDS, "--other", "who", "--release", visits,
                 "--rows-in-order", "--targets", "3", "--json", tmp_path / "r.json")  # fmt: skip
    assert ended.code == 1, ended.err  # the file still has the key
    ended = call("test", visits, *WORDS, "--release", visits, "--run", tmp_path / "x")
    assert ended.code == 2
    assert "for which there is no --run" in ended.err
