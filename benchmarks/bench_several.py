"""How the test of several releases grows with people and releases, beside the linkage of each.

python benchmarks/bench_several.py            100,000 people, some minutes
python benchmarks/bench_several.py --full     1,000,000 people and five releases, files included

Processor time of a warm process, one thread. The claim: twice the people or twice the releases take
at most 2.5 times as long, and a million people with five releases less than 60 s and 2 GB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from indiff import Mondrian, read_table, test_releases
from indiff.data.table import Table
from indiff.differential.beside.linkage import link
from indiff.release.release import Release

QUASI = ["age", "zip", "education", "sex"]
MOST = 2.5


def people(size: int) -> pa.Table:
    """Return random people."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "age": rng.integers(0, 100, size),
            "zip": rng.integers(0, 2000, size),
            "education": rng.integers(0, 16, size),
            "sex": rng.choice(["m", "f"], size),
            "ill": rng.choice([f"d{number}" for number in range(20)], size),
        }
    )


def released(frame: pa.Table, releases: int) -> tuple[Table, list[Release]]:
    """Return the table and its releases, each at another order of the columns and another k."""
    table = read_table(frame, quasi=QUASI, sensitive="ill")
    made = []
    for number in range(releases):
        order = QUASI[number % 4 :] + QUASI[: number % 4]
        turned = read_table(frame, quasi=order, sensitive="ill")
        made.append(Mondrian(k=5 + number).sanitize(turned))
    return table, made


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call, the best of four."""
    times = []
    for _ in range(4):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> int:
    """Measure, print, and return 1 where a claim falls short."""
    if sys.argv[1:] == ["--full"]:
        return full()
    found = {}
    for size, releases in ((50_000, 2), (100_000, 2), (100_000, 4)):
        table, made = released(people(size), releases)
        test_releases(table, made[:1], targets=[0])  # compiled
        found[size, releases] = seconds(lambda table=table, made=made: test_releases(table, made))
        sys.stdout.write(f"{size:,} people, {releases} releases: {found[size, releases]:.2f} s\n")
    rival = seconds(lambda: [link(one, table) for one in made])
    by_people = found[100_000, 2] / found[50_000, 2]
    by_releases = found[100_000, 4] / found[100_000, 2]
    sys.stdout.write(
        f"twice the people: {by_people:.2f}×; twice the releases: {by_releases:.2f}× (at most "
        f"{MOST}×); linkage of the four, one by one: {rival / found[100_000, 4]:.1f}× as long\n"
    )
    return int(max(by_people, by_releases) > MOST)


def full() -> int:
    """Read a million people and five releases from files, and test them."""
    frame = people(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        csv.write_csv(frame, place / "data.csv")
        for number, one in enumerate(released(frame, 5)[1]):
            one.write(place / f"{number}.csv", seed=number)
        start = time.process_time()
        table = read_table(place / "data.csv", quasi=QUASI, sensitive="ill")
        found = test_releases(table, [place / f"{number}.csv" for number in range(5)])
        taken = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    sys.stdout.write(f"{found}\n{taken:.1f} s (60), {most:.2f} GB at most (2), making included\n")
    return int(taken > 60 or most > 2)


if __name__ == "__main__":
    sys.exit(main())
