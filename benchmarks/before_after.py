"""Times two versions of indiff side by side: ``before_after.py OLD_SOURCE``.

Every piece of work runs with the source tree OLD_SOURCE (a folder that holds ``src/indiff``) and
with this one, in processes of their own, turn by turn. What is compared is processor time, the
best of three, which other programs on the machine disturb least. Ends with 1 where this tree takes
more than 1.1 times as long. Needs INDIFF_DATA, the folder with Adult and its hierarchies.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
MOST = 1.10
COMMAND = """
import sys
try:
    from indiff.cli.main import main
except ImportError:
    from indiff.cli import main
main(sys.argv[1:])
"""
INPUTS = """
import os
import numpy as np, pyarrow as pa, pyarrow.csv, pyarrow.parquet
import indiff
pyarrow.csv.write_csv(indiff.datasets.demo(), "patients.csv")
rng = np.random.default_rng(0)
lines = open(os.environ["INDIFF_DATA"] + "/adult.data").read().split("\\n")
rows = [line.split(", ") for line in lines if line and "?" not in line]
names = {"age": 0, "education": 3, "marital-status": 5, "occupation": 6, "hours-per-week": 12,
         "native-country": 13}
chosen = rng.choice(len(rows), 10_000, replace=False)
cells = {name: [rows[row][place] for row in chosen] for name, place in names.items()}
pyarrow.csv.write_csv(pa.table(cells), "adult.csv")
size = 10**6
ill = np.array([f"ill{i}" for i in range(10)])
frame = pa.table({
    "age": rng.integers(18, 90, size), "zip": rng.integers(0, 500, size),
    "sex": np.array(["f", "m"])[rng.integers(0, 2, size)],
    "wage": rng.integers(0, 10**6, size) / 100, "ill": ill[rng.integers(0, 10, size)],
})
pyarrow.parquet.write_table(frame, "million.parquet")
pyarrow.csv.write_csv(frame, "million.csv")
"""
SETUP = """
import os, time
import indiff
from indiff import Laplace, Mondrian, differential_test, read_table
quasi = ["age", "education", "marital-status", "hours-per-week", "native-country"]
folder = os.environ["INDIFF_DATA"] + "/hierarchies/adult/"
trees = {name: folder + name.replace("-", "_") + ".csv" for name in (quasi[1], quasi[2], quasi[4])}
columns = {"quasi": quasi, "sensitive": "occupation"}
"""
CLOCK = """
started = time.process_time()
{}
print(time.process_time() - started)
"""
# A warm-up, which is not timed, and what is.
WALK = (
    "table = read_table('adult.csv', hierarchies=trees, **columns)\n"
    "differential_test(table, Mondrian({0}), model='naive-bayes', targets=[0], jobs=1)",
    "differential_test(table, Mondrian({0}), model='naive-bayes', jobs=1)",
)
CODE = {
    "read_table, 10⁶ rows of text": (
        "read_table('patients.csv', sensitive='diagnosis')",
        "read_table('million.csv', quasi=['age', 'zip', 'sex'], sensitive='ill', other=['wage'])",
    ),
    "exact walk, Adult, k = 5, trees": tuple(part.format("k=5") for part in WALK),
    "exact walk, Adult, ℓ = 2, trees": tuple(part.format("l=2") for part in WALK),
    "closed form, Adult, five ε": (
        "table = read_table('adult.csv', **columns)\ndifferential_test(table, Laplace(1))",
        "differential_test(table, [Laplace(e) for e in (0.01, 0.1, 0.5, 1, 10)])",
    ),
}
ADULT = (
    "adult.csv --quasi age,education,marital-status,hours-per-week,native-country "
    "--sensitive occupation --model naive-bayes --jobs 1"
)
PATIENTS = (
    "patients.csv --identifier patient_id --quasi age,sex,zip --sensitive diagnosis "
    "--model naive-bayes --jobs 1"
)
COMMANDS = {
    "indiff --help": "--help",
    "indiff test, Adult, k = 5": f"test {ADULT} --sanitizer mondrian:k=5",
    "indiff risk, 10⁶ rows of Parquet": "risk million.parquet --quasi age,zip,sex --sensitive ill",
    "indiff audit, 5,000 patients": f"audit {PATIENTS} --sanitizer mondrian:k=5 --out report",
    "indiff compare, four settings": f"compare {PATIENTS} --sanitizer mondrian:k=2,5,10,20",
}


def works() -> dict[str, list[str]]:
    """Return each piece of work as the arguments of Python; code prints its own seconds."""
    found = {"import indiff": ["-c", "import indiff"]}
    for name, line in COMMANDS.items():
        found[name] = ["-c", COMMAND, *line.split()]
    for name, (before, timed) in CODE.items():
        found[name] = ["-c", SETUP + before + CLOCK.format(timed)]
    return found


def seconds(source: Path, folder: Path, arguments: list[str], *, printed: bool) -> float:
    """Return the processor time of one process, or what it printed of its own."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=_environment(source, folder),
            stdout=out,
            stderr=err,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        if process.returncode not in ((0,) if printed else (0, 1, 3)):
            sys.exit(f"{arguments}: exit {process.returncode}: {err.read()[-2000:]}")
        out.seek(0)
        return float(out.read().split()[-1]) if printed else used.ru_utime + used.ru_stime


def _environment(source: Path, folder: Path) -> dict[str, str]:
    """Let both trees keep their bytecode, as an installed package has its."""
    found = {**os.environ, "PYTHONPATH": str(source / "src")}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def main() -> int:
    """Time everything with both trees and print the table; 1 where this one is slower."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("old", type=Path, metavar="OLD_SOURCE")
    options.add_argument("--new", type=Path, default=HERE, help="the other tree; default: this one")
    options.add_argument("--only", default="", metavar="NAME", help="work whose name has this")
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    if not (given.old / "src" / "indiff").is_dir():
        options.error(f"OLD_SOURCE is a checkout, with src/indiff in it; got {given.old}")
    sources = given.old.resolve(), given.new.resolve()
    slower = False
    print(
        f"{'processor time, best of ' + str(given.repeats):36} {'old':>8} {'new':>8} {'ratio':>6}"
    )
    with tempfile.TemporaryDirectory() as name:
        seconds(HERE, Path(name), ["-c", INPUTS + "print(1)"], printed=True)
        for work, arguments in works().items():
            if given.only not in work:
                continue
            taken: tuple[list[float], ...] = ([], [])
            for turn in range(given.repeats + 1):
                for times, source in zip(taken, sources, strict=True):
                    one = seconds(source, Path(name), arguments, printed=work in CODE)
                    if turn:  # the first compiles kernels and fills caches
                        times.append(one)
            old, new = (min(times) for times in taken)
            slower |= new > MOST * old
            mark = "  slower" if new > MOST * old else ""
            print(f"{work:36} {old:7.3f}s {new:7.3f}s {new / old:6.2f}{mark}", flush=True)
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
