"""Writes a table like the large one of the ITPR paper's Section 5.3: 120 ages, 100 diseases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

AGES, DISEASES = 120, 100
ROW_GROUP = 2**22


def write_people(path: Path, rows: int, seed: int = 0) -> Path:
    """Write a Parquet file, one row group at a time, so that memory stays small.

    Ages are skewed and diseases depend on age. 10⁸ rows take about 0.2 GB on disk.
    """
    import pyarrow.parquet as pq

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
