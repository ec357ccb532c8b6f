"""Whether time and memory grow with the cells and no faster, on tables large in one direction.

python benchmarks/bench_resources.py                every case, about half an hour
python benchmarks/bench_resources.py --only columns those whose name has this word
python benchmarks/bench_resources.py --quick        a tenth of the size, for a first look

Every case is one command in a process of its own, at two sizes. Shown are its processor time, its
peak memory, and by how much both grew per cell: 1 is linear, 10 at ten times the cells is
quadratic. A case falls short above ``MOST_GROWTH``, above ``MOST_MEMORY`` or with another exit code
than it should have; then the script ends with 1. What cannot be linear has to be refused (exit
code 2) before it begins.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

MOST_GROWTH = 1.5
MOST_MEMORY = 3.0  # GB
MOST_SECONDS = 900
REFUSED_WITHIN = 15.0  # seconds of processor time, start-up included
ADDRESSES = 8 * 2**30
"""A stop for what runs away: libraries reserve some GB that they never use."""

PROGRAM = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS},) * 2)
from indiff.cli.main import main
main(sys.argv[2:])
"""
Words = list[str]


@dataclass(frozen=True)
class Cost:
    """How a command ended, and what it used."""

    code: int
    seconds: float
    gigabytes: float
    said: str


def run(words: Words, folder: Path, addresses: int = ADDRESSES) -> Cost:
    """Run a command line in a process of its own."""
    errors = folder / "stderr"
    with errors.open("wb") as err:
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(addresses), *words],
            stdout=subprocess.DEVNULL,
            stderr=err,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    said = errors.read_text(errors="replace").strip().splitlines()
    return Cost(
        child.returncode,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss * 1024 / 1e9,
        said[-1] if said else "",
    )


def table(path: Path, rows: int, columns: int, values: int, *, twins: bool = False) -> Words:
    """Write a table; return the options for its roles.

    With ``twins`` every second record differs from the one before in a single column, another
    one each time: no column can be left out unseen.
    """
    rng = np.random.default_rng(rows + columns)
    cells = rng.integers(0, 4, (rows, columns))
    if twins:
        odd = np.arange(1, rows, 2)
        cells[odd] = cells[odd - 1]
        cells[odd, (odd // 2) % columns] += 1
    data = {f"q{place}": cells[:, place] for place in range(columns)}
    data["ill"] = np.char.add("v", (rng.permutation(rows) % values).astype(str))
    pa.csv.write_csv(pa.table(data), path)
    return ["--quasi", ",".join(name for name in data if name != "ill"), "--sensitive", "ill"]


Command = Callable[[Path, Words], Words]


def commands(folder: Path) -> dict[str, Command]:
    """Return every command on a table, by name."""
    mondrian = ["--sanitizer", "mondrian:k=5"]
    out = str(folder / "out.csv")
    few = ["--targets", "200"]
    return {
        "risk": lambda data, roles: ["risk", str(data), *roles],
        "sanitize": lambda data, roles: [
            "sanitize", str(data), *roles, *mondrian, "--out", out,
        ],
        "test": lambda data, roles: ["test", str(data), *roles, *mondrian, *few],
        "compare": lambda data, roles: ["compare", str(data), *roles, *mondrian],
        "audit": lambda data, roles: [
            "audit", str(data), *roles, *mondrian, *few, "--out", str(folder / "report"),
        ],
    }  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One command at two sizes; ``make`` writes its files and returns its words and its cells."""

    name: str
    sizes: tuple[int, int]
    make: Callable[[Path, int], tuple[Words, int]]


def cases(folder: Path, scale: int) -> Iterator[Case]:
    """Yield every case."""
    data = folder / "data.csv"
    rows_of_wide = 1_000
    for name, command in commands(folder).items():

        def wide(_: Path, columns: int, command: Command = command) -> tuple[Words, int]:
            roles = table(data, rows_of_wide, columns, 5)
            return command(data, roles), rows_of_wide * columns

        def long(_: Path, rows: int, command: Command = command) -> tuple[Words, int]:
            return command(data, table(data, rows, 5, 5)), rows * 6

        yield Case(f"{name}, columns", (300 // scale, 1_000 // scale), wide)
        yield Case(f"{name}, rows", (200_000 // scale, 1_000_000 // scale), long)

    def twins(_: Path, columns: int) -> tuple[Words, int]:
        roles = table(data, rows_of_wide, columns, 5, twins=True)
        return ["risk", str(data), *roles], rows_of_wide * columns

    def values(_: Path, number: int) -> tuple[Words, int]:
        return ["risk", str(data), *table(data, 2 * number, 3, number)], 2 * number * 4

    def beliefs(_: Path, number: int) -> tuple[Words, int]:
        roles = table(data, 4_000, 3, number)
        words = ["test", str(data), *roles, "--sanitizer", "mondrian:k=5"]
        return words, 4_000 * number

    def verified(_: Path, rows: int) -> tuple[Words, int]:
        roles, release = table(data, rows, 5, 5), str(folder / "judged.csv")
        audit = commands(folder)["audit"](data, roles)
        made = run([*audit, "--write-release", release], folder)
        assert made.code in (0, 3), made.said
        report = str(folder / "report" / "report.json")
        return ["verify", report, release, "--data", str(data)], rows * 6

    def everybody(_: Path, number: int) -> tuple[Words, int]:
        roles = table(data, number, 3, number)
        return ["test", str(data), *roles, "--sanitizer", "mondrian:k=5"], number**2

    def lines(_: Path, number: int) -> tuple[Words, int]:
        tree = folder / "tree.csv"
        tree.write_text("".join(f"v{i};g{i // 100};h{i // 10_000};*\n" for i in range(number)))
        roles = table(data, number // 100, 3, 50)
        return ["risk", str(data), *roles, "--hierarchy", f"ill={tree}"], 4 * number

    yield Case("risk, columns with twins", (300 // scale, 1_000 // scale), twins)
    yield Case("risk, sensitive values", (20_000 // scale, 100_000 // scale), values)
    yield Case("test, sensitive values", (1_000 // scale, 4_000 // scale), beliefs)
    yield Case("test, a value each", (1_250 // scale, 5_000 // scale), everybody)
    yield Case("verify, rows", (200_000 // scale, 1_000_000 // scale), verified)
    yield Case("risk, lines of a hierarchy", (200_000 // scale, 1_000_000 // scale), lines)


def refusals(folder: Path) -> Iterator[tuple[str, Words, int, int]]:
    """Yield what is large by its words alone: its name, the words, exit code, address space."""
    small, wide = folder / "small.csv", folder / "wide.csv"
    roles = table(small, 40, 3, 2)
    yield "targets beyond the table", ["test", str(small), *roles, "--targets", "0-20000000"], 2, 0
    many = table(wide, 20, 1_000, 2)
    yield "combinations", ["risk", str(wide), *many, "--combinations", "3"], 2, 0
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    for row in [["q0", "ill"], *[[n % 3, "ab"[n % 2]] for n in range(40)]]:
        sheet.append(row)
    sheet.cell(1_048_576, 16_384, "stray")
    book.save(folder / "stray.xlsx")
    words = ["test", str(folder / "stray.xlsx"), "--quasi", "q0", "--sensitive", "ill"]
    yield "a stray cell", words, 2, 0
    beliefs = folder / "beliefs.csv"
    roles = table(beliefs, 20_000, 3, 10_000)
    yield "beliefs above ulimit -v", ["test", str(beliefs), *roles], 2, 5 * 2**30


def judge(case: Case, folder: Path) -> bool:
    """Run a case at both sizes and print it; tell whether it is linear."""
    found = []
    for size in case.sizes:
        words, cells = case.make(folder, size)
        found.append((size, cells, run(words, folder)))
    (_, few, small), (_, many, large) = found
    growth = [
        getattr(large, what) / getattr(small, what) / (many / few)
        for what in ("seconds", "gigabytes")
    ]
    holds = max(growth) <= MOST_GROWTH and large.gigabytes <= MOST_MEMORY
    holds = holds and small.code == large.code == 0
    for size, cells, cost in found:
        print(
            f"{case.name:28} {size:>9,} {cells:>12,} {cost.seconds:8.1f} {cost.gigabytes:8.2f}"
            f"{f'  exit {cost.code}: {cost.said[:200]}' if cost.code else ''}"
        )
    print(
        f"{'':28} per cell × {growth[0]:.2f} time, × {growth[1]:.2f} memory"
        f"{'' if holds else '  FALLS SHORT'}",
        flush=True,
    )
    return holds


def main() -> int:
    """Run the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    print(f"{'case':28} {'size':>9} {'cells':>12} {'seconds':>8} {'GB':>8}")
    fine = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in cases(folder, 10 if asked.quick else 1):
            if asked.only in case.name:
                fine &= judge(case, folder)
        for title, words, code, addresses in refusals(folder):
            if asked.only in f"refused: {title}":
                cost = run(words, folder, addresses or ADDRESSES)
                holds = cost.code == code and cost.seconds <= REFUSED_WITHIN
                fine &= holds
                print(
                    f"refused: {title:40} {cost.seconds:8.1f} {cost.gigabytes:8.2f}  "
                    f"exit {cost.code}: {cost.said[:300]}{'' if holds else '  FALLS SHORT'}",
                    flush=True,
                )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
