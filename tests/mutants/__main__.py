"""Plants one small bug after another in the modules that decide, and names those no test sees.

``make mutants`` or ``python -m tests.mutants [--only audit] [--minutes 20] [--count 100]``. The
tests of a group run once to learn which of them run which line; then every bug gets a process of
its own, in which the tests that run the changed line are run until one fails. Compiled kernels
are left out: their tests compare every bit with plain Python. First come the bugs of
``planted.toml``, which some tests once let pass; then all changes that ``changes.py`` can make, in
an order drawn with the seed.

Results are kept in ``build/mutants``: a run goes on where the last one stopped, and tries again
what was changed since, or what no test saw before there were new tests.

A bug that no test sees is a missing test, or it changes nothing that anybody can observe: then
``explained.toml`` says why. Ends with 1 where fewer than nine in ten are caught, where one is
neither caught nor explained, or where a test fails with no bug planted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tests.mutants.changes import PACKAGE, ROOT, Mutant, mutants_of, named
from tests.mutants.learning import Learned, learn
from tests.mutants.planting import Outcome, Planter

HERE = Path(__file__).parent
KEPT = ROOT / "build" / "mutants"
LEAST_SCORE = 0.9

_AUDIT_TESTS = (
    *("tests/audit/findings", "tests/audit/plan/test_limits.py", "tests/audit/test_metrics.py"),
    *("tests/audit/test_redaction.py", "tests/audit/test_redaction_marked_errors.py"),
    *("tests/audit/test_run.py", "tests/audit/test_run_failing_steps.py"),
    *("tests/audit/test_verdict.py", "tests/audit/test_verdict_never_passes.py"),
    *("tests/audit/policy/test_assess.py", "tests/report/test_finding.py"),
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
        ("tests/risk", "tests/cli/test_risk.py"),
    ),
    "engines": (("engines/in_process.py", "engines/duckdb.py"), ("tests/engines", "tests/risk")),
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
            *("tests/differential/targets", "tests/differential/beside"),
            *("tests/differential/noise/test_sampling.py", "tests/cli/test_test_adversaries.py"),
            "tests/cli/test_test_release_beside.py",
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

    def __init__(self, group: str, planter: Planter) -> None:
        self.file = KEPT / f"{group}.jsonl"
        self.planter = planter
        self.outcomes: dict[str, Outcome] = {}
        self.words = os.dup(2)  # also from a copy of this process, which says nothing else
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.earlier = {one["name"]: one for one in map(json.loads, lines)}

    def _key(self, mutant: Mutant, kind: str) -> str:
        """Return what a result is about: for a survivor, the tests that did not see it, too."""
        learned: Learned = self.planter.learned
        files = {test.split("::")[0] for test in self.planter.tests_for(mutant)}
        tests = "".join(learned.digests.get(file, "")[:8] for file in sorted(files))
        return mutant.source if kind == "caught" else f"{mutant.source} {tests}"

    def known(self, mutant: Mutant) -> bool:
        """Say whether the mutant was tried before; then its outcome is that."""
        one = self.earlier.get(mutant.name)
        if one is None or one["key"] != self._key(mutant, one["kind"]):
            return False
        self.outcomes[mutant.name] = Outcome(one["kind"], one["test"])
        return True

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep and print a result."""
        line = {"name": mutant.name, "kind": outcome.kind, "test": outcome.test}
        line["key"] = self._key(mutant, outcome.kind)
        with self.file.open("a") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        if outcome.kind != "caught":
            where = (
                f"line {mutant.lines.start}"
                if self.planter.tests_for(mutant)
                else "no test runs it"
            )
            os.write(self.words, f"  {outcome.kind}: {mutant.name} ({where})\n".encode())

    def reload(self, mutants: list[Mutant]) -> None:
        """Read what another process added."""
        self.earlier = (
            {one["name"]: one for one in map(json.loads, self.file.read_text().splitlines())}
            if self.file.exists()
            else {}
        )
        for mutant in mutants:
            self.known(mutant)


def run_group(name: str, seconds: float, seed: int, count: int | None) -> bool:
    """Try a group's mutants until the time is up, print its line, and say whether all is well."""
    places, tests = GROUPS[name]
    files = _files(places)
    started = time.monotonic()
    written = tomllib.loads((HERE / "planted.toml").read_text(encoding="utf-8"))
    bugs = named(name, written)
    changed = {file for places, _ in GROUPS.values() for file in _files(places)}
    changed |= {PACKAGE / bug["file"] for bug in written.values()}
    examples = [str(one.relative_to(ROOT)) for one in files if ">>>" in one.read_text()]
    learned = learn(sorted(changed), (*tests, *examples), KEPT / "learned")
    drawn = [one for file in files for one in mutants_of(file)]
    random.Random(seed).shuffle(drawn)
    mutants = [*bugs, *drawn[:count]]
    print(
        f"{name}: {len(learned.seconds)} tests learned in {time.monotonic() - started:.0f} s, "
        f"{len(bugs)} bugs were written down, {len(drawn)} more can be planted",
        file=sys.stderr,
        flush=True,
    )
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        planter = Planter(learned, Path(folder))
        results = _Results(name, planter)
        new = [one for one in mutants if not results.known(one)]

        def tell(mutant: Mutant, outcome: Outcome) -> bool:
            results.add(mutant, outcome)
            return time.monotonic() < end

        planter.called([one for one in new if one.called], tell)
        for mutant, outcome in planter.imported([one for one in new if not one.called]):
            if not tell(mutant, outcome):
                break
        results.reload(mutants)
        catchers = {one.test for one in results.outcomes.values()} & learned.seconds.keys()
        broken = [*learned.broken, *(planter.control(sorted(catchers)) if new else ())]
    for test in broken:
        print(f"  fails with no bug planted: {test}", file=sys.stderr, flush=True)
    return _score(name, len(drawn), results.outcomes) and not broken


def _score(group: str, all_of_them: int, outcomes: dict[str, Outcome]) -> bool:
    """Print the line of a group, and what is open; say whether nothing is."""
    explained = tomllib.loads((HERE / "explained.toml").read_text(encoding="utf-8"))
    kinds = {name: one.kind for name, one in outcomes.items()}
    caught = [name for name, kind in kinds.items() if kind == "caught"]
    late = [name for name, kind in kinds.items() if kind == "timed out"]
    unseen = [name for name, kind in kinds.items() if kind == "survived"]
    open_ones = [name for name in unseen if name not in explained]
    known = len(unseen) - len(open_ones)
    score = len(caught) / max(len(kinds) - known, 1)
    print(
        f"{group}: {len(kinds)} tried of {all_of_them} and the written ones, {len(caught)} caught, "
        f"{known} explained, {len(open_ones)} survived, {len(late)} timed out: {score:.1%}",
        flush=True,
    )
    for name in open_ones:
        print(f"  open: {name}")
    return score >= LEAST_SCORE and not open_ones


def main() -> None:
    """Run the groups asked for and print the line of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument(
        "--only", choices=[*GROUPS], action="append", help="a group; may be repeated"
    )
    parser.add_argument("--minutes", type=float, default=20, help="time for each group")
    parser.add_argument("--seed", type=int, default=1, help="the order in which bugs are planted")
    parser.add_argument("--count", type=int, help="how many bugs of a group, beside the written")
    given = parser.parse_args()
    os.chdir(ROOT)
    KEPT.mkdir(parents=True, exist_ok=True)
    _warm()
    seconds = 60 * given.minutes
    groups = given.only or GROUPS
    well = [run_group(name, seconds, given.seed, given.count) for name in groups]
    sys.exit(0 if all(well) else 1)


if __name__ == "__main__":
    main()
