"""How the test of one synthetic file grows, beside the leave-one-out search of the original alone.

python benchmarks/bench_synthetic.py            10,000 records, rows and held-out records
python benchmarks/bench_synthetic.py --full     100,000, some minutes

Processor time of one thread. The claim: with ten columns it takes at most ten times the search of
each record's nearest other record, one of the four searches that it makes, and less than 1 GB.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pyarrow as pa

from indiff import read_table, test_synthetic
from indiff.differential.synthetic.nearest import most_rows, nearest
from indiff.differential.synthetic.pool import make_pool

MOST_TIMES, MOST_MEGABYTES = 10.0, 1000.0


def people(size: int, seed: int) -> pa.Table:
    """Return random people with four numbers and six categories."""
    rng = np.random.default_rng(seed)
    numbers = {f"number{i}": rng.normal(size=size).round(2) for i in range(4)}
    kinds = {
        f"kind{i}": rng.choice([f"v{value}" for value in range(3 + 5 * i)], size) for i in range(6)
    }
    return pa.table({**numbers, **kinds, "ill": rng.choice(["no", "yes"], size, p=[0.8, 0.2])})


def main() -> None:
    """Measure both, and say whether the claim holds."""
    size = 100_000 if "--full" in sys.argv else 10_000
    original, held_out, file = (people(size, seed) for seed in range(3))
    table = read_table(original, sensitive="ill")
    pool = make_pool(table, file, None, None)
    some = np.arange(min(size, most_rows(size)))
    start = time.process_time()
    nearest(pool.original.take(some), pool.original, own=some)
    one = time.process_time() - start
    start = time.process_time()
    test_synthetic(table, file, held_out=held_out)
    whole = time.process_time() - start
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"{size:,} records, rows and held-out records: {whole:.1f} s, one search {one:.1f} s, "
        f"{whole / one:.1f} times it; {held:,.0f} MB\n"
    )
    if whole > MOST_TIMES * one or held > MOST_MEGABYTES:
        sys.exit("the claim does not hold")


if __name__ == "__main__":
    main()
