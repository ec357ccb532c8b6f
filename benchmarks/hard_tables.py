"""Makes tables as hospitals and charities have them: many codes, many amounts, many columns.

``python benchmarks/hard_tables.py OUT.csv --records 60000`` writes eight columns, of which one has
13,000 postal codes and one nearly as many amounts as records.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

POSTCODES = 13_000
QUASI = ("postcode", "age", "sex", "state", "joined", "amount")


def hard_table(
    records: int = 60_000, *, columns: int = 8, sensitive_values: int = 12, seed: int = 0
) -> pa.Table:
    """Return a table whose postcodes are as uneven as real ones and whose amounts hardly repeat."""
    rng = np.random.default_rng(seed)
    place = np.minimum(rng.zipf(1.15, records) - 1, POSTCODES - 1)
    place = rng.permutation(POSTCODES)[place]
    age = rng.integers(18, 95, records)
    illness = (place // 97 + age // 9 + rng.geometric(0.4, records)) % sensitive_values
    made: dict[str, object] = {
        "id": np.arange(records),
        "postcode": np.char.zfill((place * 7 + 1000).astype(str), 5),
        "age": age,
        "sex": rng.choice(["F", "M"], records),
        "state": np.char.add("S", (place // 260).astype(str)),
        "joined": 1990 + rng.integers(0, 30, records),
        "amount": np.round(rng.lognormal(4, 1.5, records), 3),
        "illness": np.char.add("I", illness.astype(str)),
    }
    for number in range(columns - len(made)):
        made[f"answer{number}"] = rng.integers(0, 2 + number % 7, records)
    return pa.table(made)


def main() -> None:
    """Write one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--records", type=int, default=60_000)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--sensitive-values", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    table = hard_table(
        asked.records,
        columns=asked.columns,
        sensitive_values=asked.sensitive_values,
        seed=asked.seed,
    )
    if asked.out.suffix == ".parquet":
        pq.write_table(table, asked.out)
    else:
        pv.write_csv(table, asked.out)


if __name__ == "__main__":
    main()
