"""Plants one small bug after another in the modules that decide, and names those no test sees.

``make mutants`` or ``python -m tests.mutants [--only audit] [--minutes 60] [--seed fresh]``. The
tests of a group run once to learn which of them run which line; then every bug gets a process of
its own, in which the tests that run the changed line are run until one fails. Compiled kernels
are left out: their tests compare every bit with plain Python. First come the bugs of
``planted.toml``, which some tests once let pass; then all changes that ``changes.py`` can make, in
an order drawn with the seed, until the group's part of the time is up. Small groups come first:
what they leave of their part, the others have.

Results are kept in ``build/mutants``: a run goes on where the last one stopped, and tries again
what was changed since, or what no test saw before there were new tests. ``--seed fresh`` draws a
seed and believes no earlier result.

A bug that no test sees is a missing test, or it changes nothing that anybody can observe: then
``explained.toml`` says why, and it is not tried. One with which a test never ends is looked at a
second time, with more patience, before it counts as caught. Ends with 1 where fewer than nine in
ten of a group are caught, where one is neither caught nor explained, or where a test fails with no
bug planted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutants.changes import PACKAGE, ROOT, Mutant, mutants_of, named
from tests.mutants.learning import Learned, learn
from tests.mutants.planting import SECONDS_OF_TESTS, Outcome, Planter

HERE = Path(__file__).parent
KEPT = ROOT / "build" / "mutants"
EXPLAINED = tomllib.loads((HERE / "explained.toml").read_text(encoding="utf-8"))
LEAST_SCORE = 0.9
CAUGHT = ("caught", "timed out")
BLOCK = 60

_AUDIT_TESTS = (
    *("tests/audit/findings", "tests/audit/plan/test_limits.py", "tests/audit/test_metrics.py"),
    *("tests/audit/test_redaction.py", "tests/audit/test_redaction_marked_errors.py"),
    *("tests/audit/test_run.py", "tests/audit/test_run_failing_steps.py"),
    *("tests/audit/test_verdict.py", "tests/audit/test_verdict_never_passes.py"),
    "tests/audit/test_verdict_tables.py",
    *("tests/audit/policy/test_assess.py", "tests/report/test_finding.py"),
    "tests/report/test_finding_tables.py",
    *("tests/report/terminal", "tests/cli/test_audit.py"),
)
# What decides, and the tests that are about it.
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "audit": (
        ("audit/verdict.py", "audit/metrics.py", "audit/plan/limits.py", "audit/findings"),
        _AUDIT_TESTS,
    ),
    "words": (
        ("audit/redaction.py", "report/finding.py", "report/terminal/audit.py"),
        _AUDIT_TESTS,
    ),
    "risk": (
        ("risk", "report/terminal/risk.py", "cli/risk.py"),
        ("tests/risk", "tests/cli/test_risk.py", "tests/report/terminal/test_risk.py"),
    ),
    "engines": (
        (
            *("engines/held.py", "engines/in_process.py", "engines/tally.py"),
            *("engines/duckdb.py", "engines/pages.py"),
        ),
        ("tests/engines", "tests/risk"),
    ),
    "test": (
        (
            *("differential/summary.py", "differential/result.py", "differential/strongest.py"),
            *("differential/people.py", "differential/targets", "differential/beside"),
            "cli/test.py",
        ),
        (
            *("tests/differential/test_people.py", "tests/differential/test_people_order.py"),
            "tests/differential/test_path.py",
            *("tests/differential/test_result.py", "tests/differential/test_strongest.py"),
            *("tests/differential/test_strongest_default.py", "tests/differential/test_test.py"),
            "tests/differential/test_strongest_tables.py",
            "tests/differential/test_people_choice.py",
            *("tests/differential/targets", "tests/differential/beside"),
            "tests/differential/synthetic/test_test.py",
            *("tests/differential/noise/test_sampling.py", "tests/cli/test_test_adversaries.py"),
            *("tests/cli/test_test.py", "tests/cli/test_test_release_beside.py"),
            *("tests/cli/beside", "tests/cli/test_test_several.py", "tests/differential/together"),
            *("tests/cli/test_test_claim.py", "tests/cli/test_test_together.py"),
            "tests/cli/test_test_knowledge.py",
            *("tests/differential/test_notebook.py", "tests/differential/test_summary.py"),
        ),
    ),
    "noise": (
        (
            *("differential/noise/bracket.py", "differential/noise/runs.py"),
            "differential/explain/membership.py",
        ),
        (
            *("tests/differential/noise/test_bracket.py", "tests/differential/explain"),
            "tests/differential/noise/test_bracket_margins.py",
            "tests/differential/noise/test_bracket_tail.py",
            "tests/differential/noise/test_path_people.py",
            "tests/differential/noise/test_runs.py",
            "tests/differential/noise/test_sampling.py",
            "tests/sanitizers/noise/test_draws.py",
        ),
    ),
    "journal": (
        ("differential/calls/journal.py", "differential/calls/identity.py"),
        ("tests/differential/calls", "tests/cli/test_test_long_runs.py"),
    ),
}


def _files(places: tuple[str, ...]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        path = PACKAGE / place
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def _warm() -> None:
    """Import what every test needs but ours, so that each copy of this process has it."""
    libraries = ("numpy", "numba", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "duckdb")
    for name in (
        *libraries,
        "pandas",
        "pydantic",
        "rich.console",
        "typer",
        "jinja2",
        "sklearn.tree",
    ):
        importlib.import_module(name)


class _Results:
    """What became of the mutants of a group, in a file that grows by a line for each."""

    def __init__(self, group: str, planter: Planter, afresh: bool) -> None:
        self.file = KEPT / f"{group}.jsonl"
        self.planter = planter
        self.outcomes: dict[str, Outcome] = {}
        self.words = os.dup(2)  # also from a copy of this process, which says nothing else
        self.place = self.file.stat().st_size if self.file.exists() else 0
        self.earlier = {} if afresh else _lines_of(self.file, 0)

    def _key(self, mutant: Mutant, kind: str) -> str:
        """Return what a result is about: for a survivor, the tests that did not see it, too."""
        learned: Learned = self.planter.learned
        files = {test.split("::")[0] for test in self.planter.tests_for(mutant)}
        tests = "".join(learned.digests.get(file, "")[:8] for file in sorted(files))
        return mutant.source if kind in CAUGHT else f"{mutant.source} {tests}"

    def known(self, mutant: Mutant) -> bool:
        """Say whether the mutant was tried before; then its outcome is that."""
        one = self.earlier.get(mutant.name)
        if one is None or one["key"] != self._key(mutant, one["kind"]):
            return False
        self.outcomes[mutant.name] = Outcome(one["kind"], one["test"])
        return True

    def is_open(self, mutant: Mutant) -> bool:
        """Say whether the mutant was tried before and not caught."""
        one = self.earlier.get(mutant.name)
        return one is not None and one["kind"] not in CAUGHT

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep a result, and print one that is not caught."""
        line = {"name": mutant.name, "kind": outcome.kind, "test": outcome.test}
        line["why"] = outcome.why
        line["key"] = self._key(mutant, outcome.kind)
        with self.file.open("a") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        if outcome.kind != "caught":
            tests = self.planter.tests_for(mutant)
            where = f"line {mutant.lines.start}" if tests else "no test runs it"
            self.say(f"  {outcome.kind}: {mutant.name} ({where})")

    def say(self, text: str) -> None:
        """Print a line at once."""
        os.write(self.words, f"{text}\n".encode())

    def reload(self, mutants: list[Mutant]) -> None:
        """Read what other processes added."""
        self.earlier |= _lines_of(self.file, self.place)
        for mutant in mutants:
            self.known(mutant)


def _lines_of(file: Path, place: int) -> dict[str, Any]:
    """Return the results that stand in a file from a place on, the last of each name."""
    text = file.read_bytes()[place:].decode() if file.exists() else ""
    return {one["name"]: one for one in map(json.loads, text.splitlines())}


@dataclass(frozen=True)
class _Score:
    """The figures of a group."""

    group: str
    possible: int
    kinds: Counter[str]
    explained: int
    open_ones: list[str]
    broken: list[str]

    @property
    def share(self) -> float:
        """The part that was caught of those that were tried; all of none."""
        total = self.kinds.total()
        return sum(self.kinds[kind] for kind in CAUGHT) / total if total else 1.0

    @property
    def is_well(self) -> bool:
        """Say whether the group is in order."""
        return self.share >= LEAST_SCORE and not self.open_ones and not self.broken

    def __str__(self) -> str:
        cells = (
            *(self.group, self.possible, self.kinds.total(), self.kinds["caught"]),
            *(self.kinds["timed out"], self.explained, len(self.open_ones), f"{self.share:.1%}"),
        )
        return f"| {' | '.join(map(str, cells))} |"


HEADS = """
| group | can be planted | tried | caught | never ended | explained | open | score |
|---|---|---|---|---|---|---|---|"""


def learn_group(name: str) -> Learned:
    """Learn which tests of a group run which line."""
    places, tests = GROUPS[name]
    started = time.monotonic()
    written = tomllib.loads((HERE / "planted.toml").read_text(encoding="utf-8"))
    changed = {file for places, _ in GROUPS.values() for file in _files(places)}
    changed |= {PACKAGE / bug["file"] for bug in written.values()}
    examples = [str(one.relative_to(ROOT)) for one in _files(places) if ">>>" in one.read_text()]
    learned = learn(sorted(changed), (*tests, *examples), KEPT / "learned")
    took = time.monotonic() - started
    print(
        f"{name}: {len(learned.seconds)} tests learned in {took:.0f} s", file=sys.stderr, flush=True
    )
    return learned


def run_group(
    name: str, drawn: list[Mutant], learned: Learned, end: float, asked: argparse.Namespace
) -> _Score:
    """Try a group's mutants until ``end`` by the clock, and return its figures."""
    bugs = named(name, tomllib.loads((HERE / "planted.toml").read_text(encoding="utf-8")))
    random.Random(asked.seed).shuffle(drawn)
    mutants = [*bugs, *drawn[: asked.count]]
    print(
        f"{name}: {len(bugs)} bugs were written down, {len(drawn)} more can be planted",
        file=sys.stderr,
        flush=True,
    )
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        planter = Planter(learned, Path(folder), asked.jobs, asked.seconds)
        results = _Results(name, planter, asked.afresh)
        if asked.open:
            mutants = [one for one in mutants if results.is_open(one)]
        new = [one for one in mutants if one.name not in EXPLAINED]
        new = new if asked.open else [one for one in new if not results.known(one)]
        results.outcomes.clear()
        tried = 0
        for first in range(0, len(new), BLOCK):  # a part of each kind, wherever the time ends
            tried = first + BLOCK
            block = new[first:tried]

            def tell(mutant: Mutant, outcome: Outcome) -> bool:
                results.add(mutant, outcome)
                return time.monotonic() < end

            planter.imported([one for one in block if not one.called], tell)
            planter.called([one for one in block if one.called], tell)
            passed = (time.monotonic() - started) / 60
            results.say(f"  {name}: {min(tried, len(new))} of {len(new)} in {passed:.1f} minutes")
            if time.monotonic() >= end:
                break
        reached = mutants.index(new[tried - 1]) + 1 if tried < len(new) else len(mutants)
        results.reload([one for one in mutants[:reached] if one.name not in EXPLAINED])
        explained = sum(one.name in EXPLAINED for one in mutants[:reached])
        catchers = {one.test for one in results.outcomes.values()} & learned.seconds.keys()
        broken = [*learned.broken, *(planter.control(sorted(catchers)) if new else ())]
    for test in broken:
        print(f"  fails with no bug planted: {test}", file=sys.stderr, flush=True)
    open_ones = [one for one, outcome in results.outcomes.items() if outcome.kind not in CAUGHT]
    for one in open_ones:
        print(f"  open: {one}", flush=True)
    kinds = Counter(outcome.kind for outcome in results.outcomes.values())
    return _Score(name, len(drawn) + len(bugs), kinds, explained, open_ones, broken)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument(
        "--only", choices=[*GROUPS], action="append", help="a group; may be repeated"
    )
    parser.add_argument("--minutes", type=float, default=60, help="time for all groups together")
    parser.add_argument("--seed", default="1", help="of the order of bugs; fresh: a new one")
    parser.add_argument("--count", type=int, help="how many bugs of a group, beside the written")
    parser.add_argument("--open", action="store_true", help="only what was not caught before")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS_OF_TESTS, help="of the tests that run a bug's line"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    asked = parser.parse_args()
    asked.afresh = asked.seed == "fresh"
    asked.seed = random.SystemRandom().randrange(10**6) if asked.afresh else int(asked.seed)
    return asked


def main() -> None:
    """Run the groups asked for and print the figures of each."""
    asked = _asked()
    os.chdir(ROOT)
    KEPT.mkdir(parents=True, exist_ok=True)
    _warm()
    groups = list(asked.only or GROUPS)
    end = time.monotonic() + 60 * asked.minutes
    learned = {name: learn_group(name) for name in groups}  # so that no group's part is spent on it
    drawn = {
        name: [one for file in _files(GROUPS[name][0]) for one in mutants_of(file)]
        for name in groups
    }
    waiting = sorted(groups, key=lambda name: len(drawn[name]), reverse=True)
    scores = {}
    while waiting:
        now = time.monotonic()
        part = (end - now) / len(waiting)  # what a small group leaves, the larger ones have
        name = waiting.pop()
        scores[name] = run_group(name, drawn[name], learned[name], now + part, asked)
    commit = subprocess.run(
        ("git", "describe", "--always", "--dirty"), capture_output=True, text=True, check=False
    ).stdout.strip()
    print(f"\n{time.strftime('%Y-%m-%d')}, commit {commit}, seed {asked.seed}\n{HEADS}")
    print("\n".join(str(scores[name]) for name in groups), flush=True)
    sys.exit(0 if all(one.is_well for one in scores.values()) else 1)


if __name__ == "__main__":
    main()
