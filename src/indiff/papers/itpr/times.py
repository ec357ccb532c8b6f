"""Times the ITPR paper's Figure 6: seconds by number of records."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from indiff.papers import charts
from indiff.papers.items import Chart, Grid, Page
from indiff.papers.itpr.people import AGES, DISEASES, write_people
from indiff.papers.run import Run
from indiff.risk import measure_risk

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
    with tempfile.TemporaryDirectory(prefix="indiff-") as folder:
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
        printed="Figure 6, Section 5.3: the time to compute ITPR on a Spark cluster of 4 nodes, "
        "100 workers with 1 core and 1 GB each. The text names two of its values: 1 s for 10⁵ "
        "records and 19 s for 10⁹.",
        tables=(
            Grid(f"Time of one `measure_risk`, the shortest of {REPEATS} (10⁹: one)",
                 ("records", "ours", "processor time", "printed"), lines),
        ),
        charts=[Chart(charts.times(drawn), "Seconds by number of records")],
        notes=(
            f"Ours runs on one machine with {os.cpu_count()} cores, in one process, on one Parquet "
            "file that it reads every time; the paper's ran on 100 cores and does not say whether "
            "reading is included. `indiff reproduce itpr:figure-6 --billion` adds 10⁹ records "
            "(about 2 GB on disk while it runs).",
            "Ours computes every metric of the paper, of re-identification and of inference, and "
            "the group models; the printed times are of ITPR alone.",
            f"The paper's table is not published; this one has its {AGES} ages and {DISEASES} "
            "diseases. Each record is one individual, so that no identifier is stored.",
            "Whatever else the machine was doing is part of the times.",
        ),
        timed=True,
    )  # fmt: skip


def _printed(rows: int) -> str:
    return f"{PRINTED[rows]:g} s" if rows in PRINTED else "–"
