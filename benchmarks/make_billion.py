"""Write one Parquet file of made-up people: age (120 values) and disease (100 values).

python benchmarks/make_billion.py people.parquet             10⁸ rows, about 0.2 GB
python benchmarks/make_billion.py people.parquet --rows 1e9  10⁹ rows, about 2 GB

Ages are skewed and diseases depend on age, as in the ITPR paper's large table; memory stays small
whatever the number of rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

AGES, DISEASES = 120, 100
ROW_GROUP = 2**22


def make(path: Path, rows: int, seed: int = 0) -> Path:
    """Write the file, one row group at a time."""
    rng = np.random.default_rng(seed)
    names = pa.array([f"disease {number:02}" for number in range(DISEASES)])
    schema = pa.schema([("age", pa.int32()), ("disease", pa.string())])
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, ROW_GROUP):
            size = min(ROW_GROUP, rows - start)
            ages = rng.binomial(AGES - 1, rng.beta(2.0, 3.0, 64)[rng.integers(0, 64, size)])
            anybody = rng.integers(0, size, size // 50)  # so that all ages occur
            ages[anybody] = rng.integers(0, AGES, len(anybody))
            drawn = rng.integers(0, DISEASES, size, dtype=np.uint16)
            shifted = ((drawn * drawn // DISEASES) + ages // 10) % DISEASES
            diseases = pa.DictionaryArray.from_arrays(pa.array(shifted.astype(np.int8)), names)
            columns = [pa.array(ages.astype(np.int32)), diseases.cast(pa.string())]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=ROW_GROUP)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=float, default=1e8)
    asked = parser.parse_args()
    make(asked.path, int(asked.rows))
    print(f"{asked.path}: {int(asked.rows):,} rows, {asked.path.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
