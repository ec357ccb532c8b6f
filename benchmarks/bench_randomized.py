"""The differential test of noisy tables on Adult, from a table to results, and honest sampling.

The first line is the whole call, five values of ε together: binning, counting, closed form and
expected beliefs. The second compares it with sampling in the same run: the test's own sampled
path (one bracket per distinct case), extrapolated to the 25,000 runs of DIT v2. Both ask the model
of the closed form, and times are processor time. Run it with

    INDIFF_DATA=folder-with-adult.data python benchmarks/bench_randomized.py
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import indiff
from indiff import differential_test  # the clock starts after import

EPSILONS = (0.01, 0.1, 0.5, 1.0, 10.0)
COLUMNS = {"age": 0, "education": 3, "marital": 5, "country": 13, "hours": 12, "occupation": 6}
PAPER_RUNS = 25_000


def adult(folder: Path, *, records: int = 10_000, seed: int = 0) -> indiff.Table:
    """Return a sample of the complete Adult records: the columns of DIT v2, Section 4.1."""
    rows = []
    for name in ("adult.data", "adult.test"):
        with (folder / name).open(newline="") as file:
            rows += [
                row
                for row in csv.reader(file, skipinitialspace=True)
                if len(row) == 15 and "?" not in row
            ]
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), size=records, replace=False))
    frame = {
        name: [int(rows[i][place]) if name in ("age", "hours") else rows[i][place] for i in chosen]
        for name, place in COLUMNS.items()
    }
    return indiff.read_table(
        pa.table(frame), quasi=[n for n in COLUMNS if n != "occupation"], sensitive="occupation"
    )


def main() -> None:
    table = adult(Path(os.environ["INDIFF_DATA"]))
    sanitizers = [indiff.Laplace(epsilon) for epsilon in EPSILONS]
    times = []
    for _ in range(5):
        start = time.process_time()
        exact = differential_test(table, sanitizers, model="frequency")
        times.append(time.process_time() - start)
    print(
        f"Adult, {len(table):,} records, five values of epsilon in one call: first "
        f"{times[0]:.3f} s, median of {len(times)} {np.median(times):.3f} s (goal: under 0.5 s)"
    )
    for epsilon, result in zip(EPSILONS, exact, strict=True):
        print(f"epsilon {epsilon:>5g}: delta {result.delta:.6f} mean {result.mean:.6f}")
    runs, targets = 1_000, range(0, len(table), 100)
    start = time.process_time()
    sampled = differential_test(
        table, sanitizers[2], model="frequency", method="sampled", runs=runs, targets=targets,
        jobs=1,
    )  # fmt: skip
    seconds = time.process_time() - start
    answers = exact[2].distances[list(targets)]
    held = (sampled.lower <= answers) & (answers <= sampled.upper)
    whole = seconds * len(table) / len(targets) * PAPER_RUNS / runs * len(EPSILONS)
    print(
        f"sampled, epsilon {EPSILONS[2]}, {runs:,} runs, {len(targets)} records: {seconds:.2f} s, "
        f"brackets hold {held.mean():.0%}; the largest {sampled.delta:.4f} in "
        f"[{sampled.lower.max():.4f}, {sampled.upper.max():.4f}], exact {answers.max():.4f}"
    )
    print(
        f"extrapolated to all records, {PAPER_RUNS:,} runs and {len(EPSILONS)} epsilon: "
        f"{whole:,.0f} s, {whole / np.median(times):,.0f} times the exact call"
    )


if __name__ == "__main__":
    main()
