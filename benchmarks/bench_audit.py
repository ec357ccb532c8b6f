"""Audits the demo beside its tests, and a hard table beside one that is twice as long.

python benchmarks/bench_audit.py [FOLDER]
python benchmarks/bench_audit.py --ratio     the demo alone, which takes seconds

An audit makes many differential tests: the plan's own, one for each other setting of the curve, and
those of next steps. What the demo's audit does beside them may take at most 0.3 s of processor
time, once everything is loaded and compiled; the best of seven (``docs/decisions/audit-time.md``).
The ratio to the plan's own test alone, once meant to be 2.5, is printed: both in one process, turn
by turn.

The table has 13,000 postal codes and amounts that hardly repeat (``hard_tables.py``). Each audit of
it runs in a process of its own; its processor time, clock and peak memory are printed. The rival is
the audit of half the records: twice as many may take at most 2.3 times as much of both.

Named a folder with an older version's source, it also audits the longer table with that
one, which must take at least ten times as much of both.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow.csv as pv

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hard_tables import QUASI, hard_table

RECORDS = 60_000
MOST_GROWTH = 2.3
MOST_BESIDE = 0.3
TESTING = ("findings.exposure", "fix", "next_steps.columns")  # the modules of an audit that test
RUNS = 7
MOST_SECONDS = 90.0
MOST_MEGABYTES = 1000.0
LEAST_GAIN = 10.0
WARM_UP = 500
START = """
try:
    from indiff.cli.main import main
except ModuleNotFoundError:  # an older version
    from indiff.cli import main
main()
"""


def audit(folder: Path, records: int, source: str | None = None) -> tuple[float, float, float]:
    """Return processor seconds, seconds on the clock and the peak in megabytes of one audit."""
    data = folder / f"hard-{records}.csv"
    pv.write_csv(hard_table(records), data)
    words = [
        sys.executable, "-c", START, "audit", str(data), "--identifier", "id",
        "--quasi", ",".join(QUASI), "--sensitive", "illness", "--sanitizer", "mondrian:k=5",
        "--limit", "k=5", "--out", str(folder / f"report-{records}"),
    ]  # fmt: skip
    # Bytecode is kept, as an installed package has it.
    where = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    where.pop("PYTHONDONTWRITEBYTECODE", None)
    if source is not None:
        where["PYTHONPATH"] = source
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=where)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
        sys.exit(process.stderr.read().decode() if process.stderr else "the audit failed")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def count_tests(spent: list[float]) -> None:
    """Add the processor time of every differential test of an audit to what was spent."""
    import indiff

    def test(*given: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return indiff.differential_test(*given, **options)
        finally:
            spent.append(time.process_time() - start)

    for name in TESTING:
        importlib.import_module(f"indiff.audit.{name}").differential_test = test


def demo_holds() -> bool:
    """Print what the demo's audit takes, what its tests take, and what is left beside them."""
    import indiff

    spent: list[float] = []
    count_tests(spent)
    with tempfile.TemporaryDirectory() as name, chdir(name):
        words = [sys.executable, "-m", "indiff.cli.main", "demo", "--out", name]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        plan = indiff.read_plan("plan.toml")
        table, best = plan.data.read(), [float("inf")] * 4
        for turn in range(RUNS + 1):
            spent.clear()
            start = time.process_time()
            indiff.run_audit(plan)
            whole, tests = time.process_time() - start, sum(spent)
            start = time.process_time()
            indiff.differential_test(table, plan.release.sanitizer)
            alone = time.process_time() - start
            if turn:  # the first loads and compiles
                best = [*map(min, best, (whole, tests, whole - tests, alone))]
    whole, tests, beside, alone = best
    print(f"the demo's audit: {whole:.3f} s, its {len(spent)} tests: {tests:.3f} s", end="")
    print(f" ({whole / tests:.2f}×), beside them: {beside:.3f} s of at most {MOST_BESIDE} s")
    print(f"the plan's own test alone: {alone:.3f} s ({whole / alone:.2f}×)")
    return beside <= MOST_BESIDE


def main(older: str | None = None) -> int:
    """Print one line for each audit, what twice the records cost, and what an older one took."""
    held = demo_holds()
    if older == "--ratio":
        print("holds" if held else "FALLS SHORT")
        return int(not held)
    print(f"{'records':>9} {'processor s':>12} {'clock s':>9} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as name:
        for source in {None, older}:  # kernels are compiled once
            audit(Path(name), WARM_UP, source)
        half, whole = (_shown(Path(name), records) for records in (RECORDS // 2, RECORDS))
        growth = whole[0] / half[0], whole[2] / half[2]
        print(
            f"twice the records: {growth[0]:.2f}× the processor time, {growth[1]:.2f}× the memory"
        )
        held = held and max(growth) <= MOST_GROWTH and whole[1] <= MOST_SECONDS
        held = held and whole[2] <= MOST_MEGABYTES
        if older is not None:
            old = _shown(Path(name), RECORDS, older)
            gains = old[0] / whole[0], old[1] / whole[1], old[2] / whole[2]
            took = "{:.1f}× the processor, {:.1f}× the clock, {:.1f}× the memory".format(*gains)
            print(f"an older version: {took}")
            held = held and min(gains) >= LEAST_GAIN
    print("holds" if held else "FALLS SHORT")
    return int(not held)


def _shown(folder: Path, records: int, source: str | None = None) -> tuple[float, float, float]:
    found = audit(folder, records, source)
    print(f"{records:9,} {found[0]:12.1f} {found[1]:9.1f} {found[2]:9.0f}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
