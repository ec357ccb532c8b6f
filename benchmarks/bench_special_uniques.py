"""Special uniques and telling sets of columns against a textbook search in numpy.

python benchmarks/bench_special_uniques.py          half a minute
python benchmarks/bench_special_uniques.py --full   the rival on all 100,000 records as well

The rival does what the definition says with numpy's own tools: ``np.unique`` over the rows of every
set of columns, and a look at every subset of one column less. Both must find the same. Times are
processor time of one run, on one thread. Ends with 1 if a claim falls short.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

os.environ.update(  # before the libraries load, which read it then
    {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
)

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import indiff

DISTINCT = (2, 2, 5, 7, 9, 16, 42, 74, 90, 100)  # as in a census: sex to age and postal area
RECORDS, SOME, MILLION = 100_000, 10_000, 1_000_000
LEAST_AGAINST_NUMPY = 10.0
MOST_SECONDS = 30.0
MOST_FOR_COLUMNS = 60.0


def census(records: int) -> pa.Table:
    """Return made-up records, the values of each column as uneven as those of people are."""
    rng = np.random.default_rng(1)
    columns = {}
    for place, distinct in enumerate(DISTINCT):
        shares = 1 / np.arange(1, distinct + 1)
        columns[f"c{place}"] = rng.choice(distinct, records, p=shares / shares.sum())
    return pa.table(columns)


def textbook(frame: pa.Table) -> NDArray[np.int64]:
    """Count the MSUs of every record by size, set by set."""
    cells = np.column_stack([column.to_numpy() for column in frame.columns])
    records, width = cells.shape
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    found = np.zeros((records, width), np.int64)
    for size in range(1, width + 1):
        for members in combinations(range(width), size):
            _, inverse, counts = np.unique(
                cells[:, members], axis=0, return_inverse=True, return_counts=True
            )
            unique[members] = counts[inverse.ravel()] == 1
            minimal = unique[members].copy()
            for place in range(size) if size > 1 else ():
                minimal &= ~unique[members[:place] + members[place + 1 :]]
            found[:, size - 1] += minimal
    return found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it gave."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> int:
    """Print every figure; return 1 if one falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    short = []
    indiff.special_uniques(census(100))  # compiled before anything is timed
    indiff.identifying_columns(census(100))

    compared = census(RECORDS if full else SOME)
    ours, found = timed(lambda: indiff.special_uniques(compared))
    theirs, expected = timed(lambda: textbook(compared))
    if not np.array_equal(found.msus, expected):
        short.append("the textbook search finds other minimal uniques")
    ratio = theirs / ours
    print(
        f"{len(compared):,} records × {len(DISTINCT)} columns, all "
        f"{2 ** len(DISTINCT) - 1:,} sets: {ours:.2f} s, textbook numpy {theirs:.1f} s: "
        f"{ratio:.0f} times"
    )
    if ratio < LEAST_AGAINST_NUMPY:
        short.append(f"special uniques are {ratio:.1f} times as fast as textbook numpy")

    seconds, found = timed(lambda: indiff.special_uniques(census(RECORDS)))
    print(f"{RECORDS:,} records: {seconds:.2f} s, {sum(found.summary.msus.values()):,} MSUs")
    if seconds > MOST_SECONDS:
        short.append(f"special uniques of {RECORDS:,} records took {seconds:.0f} s")

    seconds, columns = timed(lambda: indiff.identifying_columns(census(MILLION)))
    print(
        f"columns of {MILLION:,} records: {seconds:.2f} s, sets of up to {columns.size} columns, "
        f"{len(columns.telling)} of them telling"
    )
    if seconds > MOST_FOR_COLUMNS:
        short.append(f"the columns of {MILLION:,} records took {seconds:.0f} s")
    for one in short:
        print(f"FALLS SHORT: {one}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
