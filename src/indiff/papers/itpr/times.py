"""Times the ITPR paper's Figure 6: seconds by number of records."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from indiff.papers import charts
from indiff.papers.pages import Chart, Grid, Page
from indiff.papers.run import Run
from indiff.risk import measure_risk
from indiff.temporary import temporary_prefix

AGES, DISEASES = 120, 100
ROW_GROUP = 2**22
POOL = 2**16  # ages drawn for a row group, of which its rows have one each
ROWS = (10**5, 10**6, 10**7, 10**8)
BILLION = 10**9
PRINTED = {10**5: 1.0, BILLION: 19.0}  # seconds: the two that the text names
REPEATS = 3


@dataclass(frozen=True)
class Timed:
    """What one size took: the shortest of some calls, with the processor time of that call."""

    rows: int
    seconds: float
    processor: float
    itpr: float


def timed(rows: int, repeats: int = REPEATS) -> Timed:
    """Make the table in a temporary folder, measure it, and remove it."""
    with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as folder:
        path = write_people(Path(folder) / "people.parquet", rows)
        found = [_call(path, rows) for _ in range(repeats)]
    return min(found, key=lambda one: one.seconds)


def _call(path: Path, rows: int) -> Timed:
    start, used = time.perf_counter(), time.process_time()
    risk = measure_risk(path, quasi="age", sensitive="disease", details=False)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    return Timed(rows, seconds, processor, risk.inference["disease"].itpr)


def figure_6(run: Run) -> Page:
    """Figure 6 (Section 5.3): 10⁵ to 10⁸ records, and 10⁹ on request."""
    timed(1000)  # libraries and compiled code
    sizes = (*ROWS, BILLION) if run.billion else ROWS
    found = []
    for done, rows in enumerate(sizes):
        run.report(done, len(sizes))
        found.append(timed(rows, REPEATS if rows < BILLION else 1))
    lines = [
        (one.rows, f"{one.seconds:.2f} s", f"{one.processor:.2f} s", _printed(one.rows))
        for one in found
    ]
    if not run.billion:
        lines.append((BILLION, "not asked for", "–", _printed(BILLION)))
    drawn = [
        {"rows": one.rows, "seconds": charts.tidy(one.seconds), "series": "ours"} for one in found
    ]
    drawn += [{"rows": n, "seconds": s, "series": "printed"} for n, s in PRINTED.items()]
    return Page(
        status="reproduced (the same quantity; times are this machine's)",
        tables=(
            Grid(f"Time of one `measure_risk`, the shortest of {REPEATS} (10⁹: one)",
                 ("records", "ours", "processor time", "printed"), lines),
        ),
        charts=[Chart(charts.times(drawn), "Seconds by number of records")],
        facts={"cores": os.cpu_count(), "ages": AGES, "diseases": DISEASES},
        timed=True,
    )  # fmt: skip


def _printed(rows: int) -> str:
    return f"{PRINTED[rows]:g} s" if rows in PRINTED else "–"


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
            some = rng.binomial(AGES - 1, rng.beta(2.0, 3.0, 64)[rng.integers(0, 64, POOL)])
            ages = some[rng.integers(0, POOL, size, dtype=np.uint16)]  # far quicker than as many
            anybody = rng.integers(0, size, size // 50)  # so that all ages occur
            ages[anybody] = rng.integers(0, AGES, len(anybody))
            drawn = rng.integers(0, DISEASES, size, dtype=np.uint16)
            shifted = ((drawn * drawn // DISEASES) + ages // 10) % DISEASES
            diseases = pa.DictionaryArray.from_arrays(pa.array(shifted.astype(np.int8)), names)
            columns = [pa.array(ages.astype(np.int32)), diseases.cast(pa.string())]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=ROW_GROUP)
    return path
