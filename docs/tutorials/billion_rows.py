"""Measures the tutorial's large tables: ``python docs/tutorials/billion_rows.py 1e6 1e7 1e8 1e9``.

Each table is made up in a temporary folder (10⁹ rows are 2 GB there), and ``indiff risk`` runs as a
process of its own. What it cost and what it found goes to ``billion-rows.json``, which the tutorial
shows; the first row is computed again, and compared, whenever the tutorial is built.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("billion-rows.json")
MAKE = "import sys; from pathlib import Path; from indiff.papers.itpr.times import write_people; "
MAKE += "write_people(Path(sys.argv[1]), int(sys.argv[2]))"
ROLES = ["--quasi", "age", "--sensitive", "disease"]


def measure(rows: int) -> dict[str, Any]:
    """Make a table of so many rows, measure its risk, and say what that took."""
    with tempfile.TemporaryDirectory() as folder:
        table, found = Path(folder) / "people.parquet", Path(folder) / "risk.json"
        subprocess.run([sys.executable, "-c", MAKE, str(table), str(rows)], check=True)
        words = ["-m", "indiff.cli.main", "risk", str(table), *ROLES, "--json", str(found)]
        process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"indiff risk ended with {process.returncode}")
        risk = json.loads(found.read_text(encoding="utf-8"))
        return {
            "rows": rows,
            "file_gigabytes": round(table.stat().st_size / 1e9, 3),
            "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
            "peak_megabytes": round(used.ru_maxrss / 1024),
            "k": risk["groups"]["k"],
            "reidentification_itpr": risk["reidentification"]["itpr"],
            "inference_itpr": risk["inference"]["disease"]["itpr"],
        }


if __name__ == "__main__":
    measured = [measure(int(float(rows))) for rows in sys.argv[1:]]
    RECORDED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
