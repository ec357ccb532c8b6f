"""What start-up costs: each command beside Python's own and that of the libraries it stands on.

python benchmarks/bench_start.py           the best of seven of each, turn by turn
python benchmarks/bench_start.py --runs 3  for a first look

Needs ``INDIFF_DATA``, the folder with Adult. Every line is a process of its own, with its bytecode
and its kernels in the cache, as from the second run on: processor time, clock and peak memory, and
what comes on top of a bare ``import numpy, numba, pyarrow``. A goal is about processor time, which
other programs on the machine change least; a command that uses two cores at once may be quicker on
the clock. Also listed is what a command loads though it does not need it. Ends with 1 where a goal
is missed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
]  # fmt: skip
QUASI = ["age", "education", "marital-status", "hours-per-week", "native-country"]
SENSITIVE = "occupation"
ROLES = ["--quasi", ",".join(QUASI), "--sensitive", SENSITIVE]
START = "from indiff.cli import start; start()"
SHOWN = """
import atexit, json, sys
atexit.register(lambda: open({place!r}, "w").write(json.dumps(list(sys.modules))))
"""
HEAVY = ("pandas", "sklearn", "scipy.stats", "scipy.linalg", "altair", "narwhals", "jinja2")
MEGABYTE = 1_000_000


@dataclass
class Cost:
    """The best of several runs."""

    processor: float = float("inf")
    clock: float = float("inf")
    megabytes: float = float("inf")
    loaded: list[str] = field(default_factory=list)


def write_adult(folder: Path) -> tuple[Path, Path]:
    """Write the complete records of Adult in the columns in use, and a megabyte of all columns."""
    with (Path(os.environ["INDIFF_DATA"]) / "adult.data").open(encoding="utf-8") as lines:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    whole = [row for row in rows if len(row) == len(NAMES) and "?" not in row]
    places = [NAMES.index(name) for name in (*QUASI, SENSITIVE)]
    adult, part = folder / "adult.csv", folder / "megabyte.csv"
    chosen = [[row[place] for place in places] for row in whole]
    adult.write_text("\n".join(map(",".join, [[*QUASI, SENSITIVE], *chosen])) + "\n")
    text = "\n".join(map(",".join, [NAMES, *whole])) + "\n"
    part.write_text(text[: text.rindex("\n", 0, MEGABYTE) + 1])
    return adult, part


def run(words: list[str], bytecode: Path, best: Cost) -> None:
    """Run Python once and keep what was best so far."""
    place = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    place["PYTHONPATH"] = os.pathsep.join([str(HERE / "src"), place.get("PYTHONPATH", "")])
    place.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], env=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(process.stderr.read().decode() if process.stderr else "a command failed")
    best.processor = min(best.processor, used.ru_utime + used.ru_stime)
    best.clock = min(best.clock, time.perf_counter() - start)
    best.megabytes = min(best.megabytes, used.ru_maxrss / 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        adult, part = write_adult(folder)
        work: dict[str, tuple[list[str], float | None]] = {
            "python -c pass": (["-c", "pass"], None),
            "import numpy, numba, pyarrow": (["-c", "import numpy, numba, pyarrow"], None),
            "import indiff; indiff.read_table": (["-c", "import indiff; indiff.read_table"], 0.3),
            "indiff --help": (["-c", START, "--help"], None),
            "indiff risk, 1 MB of text": (["-c", START, "risk", str(part), *ROLES], 0.6),
            "indiff test on Adult": (["-c", START, "test", str(adult), *ROLES], 0.8),
            "  with naive Bayes alone": (
                ["-c", START, "test", str(adult), *ROLES, "--model", "naive-bayes"], None,
            ),
        }  # fmt: skip
        best = {label: Cost() for label in work}
        for label, (words, _) in work.items():  # compiles, and fills the caches
            seen = folder / "modules.json"
            run(["-c", SHOWN.format(place=str(seen)) + words[1], *words[2:]], folder / "c", Cost())
            loaded = json.loads(seen.read_text())
            best[label].loaded = [one for one in HEAVY if one in loaded]
        for _ in range(runs):
            for label, (words, _) in work.items():
                run(words, folder / "c", best[label])
    bare = best["import numpy, numba, pyarrow"].processor
    print(f"best of {runs}: {'':19} processor s  clock s  peak MB  beyond bare  goal")
    missed = []
    for label, (_, goal) in work.items():
        cost = best[label]
        told = "" if goal is None else f"{goal:.1f} {'yes' if cost.processor <= goal else 'NO'}"
        missed += [label] if goal is not None and cost.processor > goal else []
        print(
            f"{label:<34}{cost.processor:11.3f} {cost.clock:8.3f} {cost.megabytes:8.0f} "
            f"{cost.processor - bare:+12.3f}  {told}  {', '.join(cost.loaded)}"
        )
    print(f"FALLS SHORT: {', '.join(missed)}" if missed else "holds")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
