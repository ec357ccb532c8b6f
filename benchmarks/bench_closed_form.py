"""Closed form against sampling: the differential test of the Laplace mechanism on Adult.

The rival is the estimate of DIT v2 (Eq. 1, N = 25,000 draws), made as fast as is fair: vectorised,
and run once per distinct case instead of once per record. It is timed on some of the cases and
extrapolated to all, since every case costs the same. Run it with

    INDIFF_DATA=folder-with-adult.data python benchmarks/bench_closed_form.py
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indiff import Laplace
from indiff.differential.noise.closed_form import distances

EPSILONS = (0.01, 0.1, 0.5, 1.0, 10.0)
AGE, EDUCATION, MARITAL_STATUS, OCCUPATION, HOURS, COUNTRY = 0, 3, 5, 6, 12, 13


def adult_cases(
    folder: Path, *, records: int = 10_000, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each record's cell as counts by occupation, and the record's own occupation."""
    rows = []
    for name in ("adult.data", "adult.test"):
        with (folder / name).open(newline="") as file:
            for row in csv.reader(file, skipinitialspace=True):
                if len(row) == 15 and "?" not in row:
                    rows.append(row)
    chosen = np.random.default_rng(seed).choice(len(rows), size=records, replace=False)
    table = np.array([rows[i] for i in np.sort(chosen)])
    columns = [table[:, EDUCATION], table[:, MARITAL_STATUS], table[:, COUNTRY]]
    for numeric in (AGE, HOURS):
        values = table[:, numeric].astype(np.float64)
        edges = np.unique(np.quantile(values, [0.2, 0.4, 0.6, 0.8]))
        columns.append(np.searchsorted(edges, values, side="left").astype(str))
    cell = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()
    names, occupation = np.unique(table[:, OCCUPATION], return_inverse=True)
    by_cell = np.zeros((cell.max() + 1, len(names)), dtype=np.int64)
    np.add.at(by_cell, (cell, occupation), 1)
    return by_cell[cell], occupation.astype(np.int64)


def naive_estimate(
    epsilon: float, counts: NDArray[np.int64], value: int, draws: int, rng: np.random.Generator
) -> float:
    """Eq. 1 of DIT v2: independent draws with and without the target, order statistics."""
    samples = []
    for removed in (0, 1):
        cell = counts.copy()
        cell[value] -= removed
        noisy = rng.laplace(0, 1 / epsilon, (draws, len(counts)))
        noisy += cell
        np.maximum(noisy, 0, out=noisy)
        noisy += 1
        noisy /= noisy.sum(axis=1, keepdims=True)
        beliefs = np.ascontiguousarray(noisy.T)
        beliefs.sort(axis=1)
        samples.append(beliefs)
    return float(np.abs(samples[0] - samples[1]).mean(axis=1).sum())


def distinct_cases(counts: NDArray[np.int64], values: NDArray[np.int64]) -> int:
    """Count what the rival has to sample: distinct pairs of own count and other counts."""
    rows = np.arange(len(counts))
    keys = counts.copy()
    keys[rows, values] = -1
    keys.sort(axis=1)
    keys[:, 0] = counts[rows, values]
    return len(np.unique(keys, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=25_000)
    parser.add_argument("--sampled-cases", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    counts, values = adult_cases(Path(os.environ["INDIFF_DATA"]))
    cases = distinct_cases(counts, values)
    print(f"Adult: {len(counts):,} records, {cases:,} distinct cases, n = {counts.shape[1]}")

    times = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        exact = [distances(Laplace(epsilon), counts, values) for epsilon in EPSILONS]
        times.append(time.perf_counter() - start)
    print(
        f"closed form, all records, {len(EPSILONS)} values of epsilon together: "
        f"first run {times[0]:.3f} s, median of {len(times)} {np.median(times):.3f} s "
        "(goal: under 0.5 s)"
    )

    rng = np.random.default_rng(1)
    chosen = rng.choice(len(counts), size=options.sampled_cases, replace=False)
    seconds = 0.0
    for epsilon, distance in zip(EPSILONS, exact, strict=True):
        start = time.perf_counter()
        naive = [naive_estimate(epsilon, counts[i], values[i], options.draws, rng) for i in chosen]
        seconds += time.perf_counter() - start
        print(
            f"epsilon {epsilon:>5g}: exact delta {distance.max():.6f} mean {distance.mean():.6f}; "
            f"on the sampled cases exact mean {distance[chosen].mean():.6f}, "
            f"Eq. 1 mean {np.mean(naive):.6f}: {np.mean(naive) / distance[chosen].mean():.2f} times"
        )
    whole = seconds / options.sampled_cases * cases
    print(
        f"sampling, N = {options.draws:,}, {options.sampled_cases} cases x {len(EPSILONS)} epsilon "
        f"took {seconds:.1f} s; extrapolated to {cases:,} distinct cases: {whole:.0f} s"
    )
    print(
        f"ratio: {whole / np.median(times):,.0f} (first run: {whole / times[0]:,.0f}; goal: 1,000)"
    )


if __name__ == "__main__":
    main()
