"""Write one Parquet file of made-up people: age (120 values) and disease (100 values).

python benchmarks/make_billion.py people.parquet             10⁸ rows, about 0.2 GB
python benchmarks/make_billion.py people.parquet --rows 1e9  10⁹ rows, about 2 GB

Ages are skewed and diseases depend on age, as in the ITPR paper's large table; memory stays small
whatever the number of rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from indiff.papers.itpr.times import write_people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=float, default=1e8)
    asked = parser.parse_args()
    write_people(asked.path, int(asked.rows))
    print(f"{asked.path}: {int(asked.rows):,} rows, {asked.path.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
