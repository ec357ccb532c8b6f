"""Audits the demo beside its test alone, and a hard table beside one that is twice as long.

python benchmarks/bench_audit.py [FOLDER]
python benchmarks/bench_audit.py --ratio     the demo alone, which takes seconds

The demo's audit may take at most 2.5 times the processor time of its differential test alone: both
in one process, turn by turn, once everything is loaded and compiled; the best of seven.

The table has 13,000 postal codes and amounts that hardly repeat (``hard_tables.py``). Each audit of
it runs in a process of its own; its processor time, clock and peak memory are printed. The rival is
the audit of half the records: twice as many may take at most 2.3 times as much of both.

Named a folder with an older version's source, it also audits the longer table with that
one, which must take at least ten times as much of both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path

import pyarrow.csv as pv

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hard_tables import QUASI, hard_table

RECORDS = 60_000
MOST_GROWTH = 2.3
MOST_RATIO = 2.5
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


def ratio_holds() -> bool:
    """Print what the demo's audit takes, what its differential test takes alone, and the ratio."""
    import indiff

    with tempfile.TemporaryDirectory() as name, chdir(name):
        words = [sys.executable, "-m", "indiff.cli.main", "demo", "--out", name]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        plan = indiff.read_plan("plan.toml")
        table, best = plan.data.read(), [float("inf")] * 2
        works = (
            lambda: indiff.run_audit(plan),
            lambda: indiff.differential_test(table, plan.release.sanitizer),
        )
        for turn in range(RUNS + 1):
            for place, work in enumerate(works):
                start = time.process_time()
                work()
                if turn:  # the first loads and compiles
                    best[place] = min(best[place], time.process_time() - start)
    ratio = best[0] / best[1]
    print(f"the demo's audit: {best[0]:.3f} s, its test alone: {best[1]:.3f} s, {ratio:.2f}×")
    return ratio <= MOST_RATIO


def main(older: str | None = None) -> int:
    """Print one line for each audit, what twice the records cost, and what an older one took."""
    held = ratio_holds()
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
