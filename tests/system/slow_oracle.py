"""A test of 500 targets with an oracle that notes each of its calls; killed and continued by tests.

python slow_oracle.py FOLDER [--jobs N] [--seconds S]    runs once, in FOLDER/run
"""

from __future__ import annotations

import argparse
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from indiff import differential_test, read_table
from indiff.files import write_frame, write_text

RECORDS = 500


def people(records: int = RECORDS) -> Any:
    rng = np.random.default_rng(7)
    frame = pa.table(
        {
            "key": np.arange(records),
            "age": rng.integers(18, 90, records),
            "zip": rng.integers(0, 50, records),
            "ill": rng.choice(["flu", "cold", "cancer", "none"], records, p=[0.3, 0.4, 0.1, 0.2]),
        }
    )
    return read_table(frame, quasi=["age", "zip"], sensitive="ill", other=["key"])


class Noting:
    """Rounds ages to ten years and hides the zip code; writes down who was left out."""

    def __init__(self, calls: Path, seconds: float) -> None:
        self.calls = str(calls)
        self.seconds = seconds

    def __call__(self, frame: pa.Table) -> pa.Table:
        missing = sorted(set(range(RECORDS)) - set(frame["key"].to_pylist()))
        time.sleep(self.seconds)
        line = f"{' '.join(map(str, missing)) or 'whole'}\n".encode()
        file = os.open(self.calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, line)  # one write: lines of several processes do not mix
        os.close(file)
        ages = (np.asarray(frame["age"]) // 10) * 10
        regions = pa.array([f"[{low}, {low + 9}]" for low in ages])
        hidden = pa.array(["*"] * frame.num_rows)
        return frame.set_column(1, "age", regions).set_column(2, "zip", hidden)


def run(folder: Path, jobs: int, seconds: float) -> None:
    result = differential_test(
        people(), Noting(folder / "calls", seconds), model="naive-bayes", method="refit", jobs=jobs,
        run=folder / "run",
    )  # fmt: skip
    text = re.sub(r'"seconds": .*', '"seconds": 0', result.to_json())
    write_text(folder / "result.json", text)
    write_frame(result.to_arrow(), folder / "records.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.002)
    words = parser.parse_args()
    run(words.folder, words.jobs, words.seconds)
