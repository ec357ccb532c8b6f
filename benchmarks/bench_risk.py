"""Every risk metric against pyCANON's t-closeness alone, in one run; and how cost grows with rows.

python benchmarks/bench_risk.py            10⁵ rows against pyCANON (minutes, its), 5·10⁶ rows
python benchmarks/bench_risk.py --quick    the same with 2·10⁴ rows for pyCANON, for a first look

The table is raw, as before any sanitizing: age, education, marital status, hours and country with
the skew of census data; 10⁵ rows have about 58,000 groups. Both sides get the same pandas frame.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.rivals.harness import Case, pycanon_each

from indiff.risk import measure_risk

QUASI = ["age", "education", "marital", "hours", "country"]
LEAST_RATIO = 500
MOST_SECONDS = 10.0


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    """Make raw census-like records."""
    rng = np.random.default_rng(seed)

    def skewed(name: str, size: int, power: float) -> np.ndarray:
        weights = 1 / np.arange(1, size + 1) ** power
        labels = np.array([f"{name} {i}" for i in range(size)])
        return labels[rng.choice(size, rows, p=weights / weights.sum())]

    hours = np.where(rng.random(rows) < 0.35, 40, rng.normal(40, 13, rows).round()).clip(1, 99)
    return pd.DataFrame(
        {
            "age": rng.gamma(8, 5, rows).round().clip(17, 90).astype(int),
            "education": skewed("education", 16, 1.1),
            "marital": skewed("marital", 7, 1.7),
            "hours": hours.astype(int),
            "country": skewed("country", 42, 2.3),
            "occupation": skewed("occupation", 14, 0.3),
        }
    )


def seconds(frame: pd.DataFrame, *, details: bool) -> tuple[float, int]:
    """Time one call of everything; return seconds and the number of groups."""
    start = time.perf_counter()
    risk = measure_risk(frame, quasi=QUASI, sensitive="occupation", details=details)
    return time.perf_counter() - start, risk.groups.groups


def against_pycanon(rows: int) -> bool:
    frame = people(rows)
    seconds(people(1000), details=True)  # imports and compiled kernels, once per process
    ours = sorted(seconds(frame, details=False) for _ in range(5))[2]
    everything = sorted(seconds(frame, details=True) for _ in range(3))[1]
    (rival,) = pycanon_each([Case(frame, QUASI, ["occupation"])], measures=["t"], timeout=7200)
    theirs = rival.seconds["t"]
    print(f"{rows:,} rows, {ours[1]:,} groups")
    print(f"  pyCANON, t-closeness alone           {theirs:10.2f} s")
    print(f"  indiff, all metrics (median of 5)    {ours[0]:10.3f} s   {theirs / ours[0]:8.0f}×")
    print(
        f"  indiff, also per column and value    {everything[0]:10.3f} s   "
        f"{theirs / everything[0]:8.0f}×"
    )
    return theirs / ours[0] >= LEAST_RATIO


def growth(largest: int) -> bool:
    print("growth with rows (all metrics; also per column and value)")
    within = True
    rows = 100_000
    while rows <= largest:
        frame = people(rows)
        short, groups = seconds(frame, details=False)
        long, _ = seconds(frame, details=True)
        print(
            f"  {rows:>10,} rows {groups:>10,} groups  {short:7.2f} s  {long:7.2f} s  "
            f"{short / rows * 1e6:6.2f} µs/row"
        )
        if rows == 5_000_000:
            within = short < MOST_SECONDS
        rows *= 5 if rows in (100_000, 1_000_000) else 2
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    fast_enough = growth(1_000_000 if quick else 5_000_000)
    ahead = against_pycanon(20_000 if quick else 100_000)
    if quick:
        return 0
    print(f"at least {LEAST_RATIO}× pyCANON's t: {'yes' if ahead else 'NO'}")
    print(f"5,000,000 rows under {MOST_SECONDS:.0f} s: {'yes' if fast_enough else 'NO'}")
    return 0 if ahead and fast_enough else 1


if __name__ == "__main__":
    sys.exit(main())
