"""Kills long runs at random moments, lets them go on, and compares what they end with.

python benchmarks/kills.py --times 1000 [--seed 1]

A run is ``indiff test --run --json --records``, by each of several sanitizers in turn. It is killed
(SIGKILL) again and again, wherever it is: reading, measuring, writing its journal or its results.
The same command goes on until it ends by itself. Then the exit code, what it printed, the records
and the JSON without its ``timing`` must be, byte by byte, those of a run that nobody disturbed; and
after each kill the results of the run before must still be whole. The processes are forks of one
that has everything loaded, so that a kill costs a fraction of a second. Ends with 1 if anything
differs, or if a temporary file is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.update(  # before the libraries load, which read it then
    {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
)

from indiff.cli.main import main as indiff

ROLES = ("--sensitive", "ill", "--quasi", "age,town", "--identifier", "id", "--jobs", "1")
CASES = {
    "each record fitted again": ("--sanitizer", "mondrian:k=2", "--model", "tree"),
    "a program as black box": (
        "--sanitizer", "command:cp {input} {output}", "--model", "naive-bayes", "--method",
        "refit", "--targets", "0-11",
    ),
    "noise, by runs": ("--sanitizer", "laplace:epsilon=1", "--method", "sampled", "--runs", "20"),
    "people, two attributes": (
        "--sensitive", "smokes", "--individual", "id", "--sanitizer", "mondrian:k=2", "--model",
        "tree",
    ),
}  # fmt: skip
OUTPUTS = ("result.json", "records.csv")


def write_people(folder: Path) -> Path:
    """Write 60 records of 30 people."""
    lines = ["id,age,town,ill,smokes"]
    for row in range(60):
        ill = ("flu", "cold", "none")[row * row % 7 % 3]
        smokes = ("yes", "no")[row % 5 % 2]
        lines.append(f"p{row // 2},{20 + row * 7 % 40},t{row % 5},{ill},{smokes}")
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def start(words: list[str], printed: Path) -> int:
    """Run a command in a process of its own, and return its number."""
    process = os.fork()
    if process:
        return process
    try:
        file = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, 1)
        os.dup2(file, 2)
        indiff(words)
    except SystemExit as ending:
        sys.stdout.flush()
        os._exit(int(ending.code or 0))
    finally:
        os._exit(99)


def ended(process: int) -> int | None:
    """Return how a process ended, negative by a signal; None while it runs."""
    number, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if number else None


class Case:
    """One command, with the results of a run that nobody disturbed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name.replace(" ", "-")
        self.folder.mkdir()
        words = ["test", str(write_people(self.folder)), *ROLES, *CASES[name]]
        outputs = ["--json", self.folder / OUTPUTS[0], "--records", self.folder / OUTPUTS[1]]
        self.words = [*words, *map(str, outputs), "--run"]
        self.expected: Any = None
        begin = time.perf_counter()
        code = os.waitstatus_to_exitcode(os.waitpid(self.start("whole"), 0)[1])
        self.seconds = time.perf_counter() - begin
        self.expected = self.results(code)
        self.lines = self.noted("whole")

    def start(self, run: str) -> int:
        return start([*self.words, str(self.folder / run)], self.folder / "printed")

    def noted(self, run: str) -> int:
        """Count the lines of a run's journals."""
        journals = (self.folder / run).rglob("journal")
        return sum(journal.read_bytes().count(b"\n") for journal in journals)

    def files(self) -> tuple[Any, bytes]:
        document, records = (self.folder / name for name in OUTPUTS)
        return without_timing(json.loads(document.read_text())), records.read_bytes()

    def results(self, code: int) -> Any:
        return code, (self.folder / "printed").read_bytes(), *self.files()


def without_timing(part: Any) -> Any:
    """Return a document without what it took."""
    if isinstance(part, dict):
        return {name: without_timing(one) for name, one in part.items() if name != "timing"}
    return [without_timing(one) for one in part] if isinstance(part, list) else part


def kill_at_random(cases: list[Case], times: int, dice: random.Random) -> Counter[str]:
    """Kill runs so many times; raise where one ends with other results."""
    counted: Counter[str] = Counter()
    number = 0
    while counted["kills"] < times:
        number += 1
        case, run = cases[number % len(cases)], f"run {number}"
        code = None
        while code is None:
            process, before = case.start(run), case.noted(run)
            end = time.perf_counter() + dice.random() * case.seconds
            while time.perf_counter() < end and code is None:
                time.sleep(0.001)
                code = ended(process)
            if code is not None:
                break
            if counted["kills"] >= times:
                code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                break
            os.kill(process, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if code == -signal.SIGKILL:  # it may have ended just before
                code = None
                counted["kills"] += 1
                counted[_moment(before, case.noted(run), case.lines)] += 1
                assert case.files() == case.expected[2:], f"{case.folder}: results are torn"
        found = case.results(code)
        assert found == case.expected, f"{case.folder}, {run}: {found} is not {case.expected}"
        counted["runs that ended"] += 1
        shutil.rmtree(case.folder / run)
    return counted


def _moment(before: int, after: int, whole: int) -> str:
    if after == whole:
        return "kills after the last record"
    return "kills while records were measured" if after > before else "kills before a record"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        (folder / "temporary").mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder / "temporary")
        load(folder)
        cases = [Case(folder, one) for one in CASES]
        begin = time.perf_counter()
        counted = kill_at_random(cases, words.times, random.Random(words.seed))
        took = time.perf_counter() - begin
        os.waitpid(start(["--version"], folder / "printed"), 0)  # removes what the last kill left
        left = sorted(path.name for path in (folder / "temporary").iterdir())
    whole = statistics.median(case.seconds for case in cases)
    print(f"{counted['kills']:,} kills in {took:,.0f} s; an undisturbed run takes {whole:.2f} s")
    for what in ("before a record", "while records were measured", "after the last record"):
        print(f"  {counted[f'kills {what}']:,} {what}")
    print(f"{counted['runs that ended']:,} runs went on to their end, each with the same bytes")
    print(f"{len(left):,} temporary files left")
    return 1 if left else 0


def load(folder: Path) -> None:
    """Run every case once here, so that forks find everything loaded."""
    keep = os.dup(1)
    with open(folder / "loading", "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        for place, words in enumerate(CASES.values()):
            try:
                indiff(["test", str(write_people(folder)), *ROLES, *words, "--run",
                        str(folder / f"loading {place}")])  # fmt: skip
            except SystemExit:
                sys.stdout.flush()
        os.dup2(keep, 1)


if __name__ == "__main__":
    sys.exit(main())
