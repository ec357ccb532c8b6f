"""Times the differential test per record on a hard table, beside that on Adult.

The hard table has 13,000 postal codes and amounts that hardly repeat (``hard_tables.py``); Adult's
columns have few values each. Both are tested in this process, after a first run that compiles; the
processor time of a record on the hard table may be at most three times that on Adult. The models
are named: by default a tree is asked of Adult, and of the hard table it is not.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hard_tables import QUASI, hard_table
from indiff import differential_test, read_table
from indiff.datasets import adult as load_adult

MOST = 3.0
RECORDS = 60_000
MODELS = ("naive-bayes", "frequency")
ADVERSARIES = {**{name: [name] for name in MODELS}, "both": list(MODELS)}


def per_record(table: object, model: list[str]) -> float:
    """Return the processor time of one record in microseconds, the better of two runs."""
    found = []
    for _ in range(2):
        start = time.process_time()
        differential_test(table, "mondrian:k=5", model=model)  # type: ignore[arg-type]
        found.append((time.process_time() - start) / len(table) * 1e6)  # type: ignore[arg-type]
    return min(found)


def main() -> int:
    """Print one line for each adversary: microseconds per record, and their ratio."""
    adult = load_adult()
    hard = read_table(hard_table(RECORDS), quasi=QUASI, sensitive="illness", identifier=["id"])
    for table in (adult, hard):
        differential_test(table, "mondrian:k=5", targets=10)
    print(f"{'adversary':12} {'Adult µs':>10} {'hard µs':>10} {'ratio':>7}")
    worst = 0.0
    for name, model in ADVERSARIES.items():
        easy, difficult = per_record(adult, model), per_record(hard, model)
        worst = max(worst, difficult / easy)
        print(f"{name:12} {easy:10.2f} {difficult:10.2f} {difficult / easy:7.2f}")
    print("holds" if worst <= MOST else "FALLS SHORT")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
