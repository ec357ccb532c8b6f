"""Makes the paper's numbers: ``python docs/paper/experiments.py`` writes ``experiments.json``.

The first experiment compares the exact walk with sanitizing again for every record, the second the
closed form with draws of noisy tables. All data are made up; seeds are fixed.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import indiff
from indiff.differential.noise.closed_form import distances

RECORDED = Path(__file__).with_name("experiments.json")
COUNTS, VALUE = np.array([5, 3, 0, 2]), 0
DRAWS, REPEATS = (100, 1_000, 10_000), 50


def walk_against_refit(records: int) -> dict[str, Any]:
    """Test a table twice: by the walk, and by sanitizing it once for every record."""
    table = indiff.read_table(
        indiff.datasets.demo(records=records),
        identifier="patient_id", quasi=["age", "sex", "zip"], sensitive="diagnosis",
        other=["marital_status", "admitted"],
    )  # fmt: skip
    found, seconds = {}, {}
    for method in ("leave-one-out", "refit"):
        start = time.process_time()
        result = indiff.differential_test(
            table, indiff.Mondrian(k=5), model="naive-bayes", method=method, jobs=1
        )
        seconds[method] = time.process_time() - start
        found[method] = result.distances
    return {
        "records": records,
        "delta": float(found["refit"].max()),
        "largest_difference": float(np.abs(found["refit"] - found["leave-one-out"]).max()),
        "times_faster": round(seconds["refit"] / seconds["leave-one-out"]),
    }


def closed_form_against_draws(epsilon: float) -> dict[str, Any]:
    """Compare the exact distance of one cell with the sampled estimate of DIT v2, Eq. 1."""
    exact = float(distances(indiff.Laplace(epsilon), [COUNTS], [VALUE])[0])
    rng = np.random.default_rng(0)
    without = COUNTS - np.eye(len(COUNTS), dtype=int)[VALUE]
    means = {}
    for draws in DRAWS:
        estimates = [
            float(np.abs(_beliefs(COUNTS, epsilon, draws, rng)
                         - _beliefs(without, epsilon, draws, rng)).mean(axis=0).sum())
            for _ in range(REPEATS)
        ]  # fmt: skip
        means[str(draws)] = float(np.mean(estimates))
    return {"epsilon": epsilon, "exact": exact, "means_of_estimates": means}


def _beliefs(
    counts: NDArray[np.int64], epsilon: float, draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw beliefs, each coordinate sorted: equal ranks are the optimal coupling on a line."""
    noisy = counts + rng.laplace(scale=1 / epsilon, size=(draws, len(counts)))
    positive = 1 + np.maximum(0, noisy)
    beliefs: NDArray[np.float64] = positive / positive.sum(axis=1, keepdims=True)
    return np.sort(beliefs, axis=0)


def measure() -> dict[str, Any]:
    """Return all numbers of the paper."""
    walk_against_refit(100)  # loads the compiled code, which is not what is compared
    return {
        "walk": [walk_against_refit(records) for records in (250, 500, 1_000)],
        "closed_form": [closed_form_against_draws(epsilon) for epsilon in (0.01, 0.1, 1.0)],
        "repeats": REPEATS,
    }


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
