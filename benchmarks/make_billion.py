"""Write made-up people to Parquet: age (120 values) and disease (100 values).

python benchmarks/make_billion.py people.parquet             10⁸ rows, about 0.2 GB
python benchmarks/make_billion.py people.parquet --rows 1e9  10⁹ rows, about 2 GB
python benchmarks/make_billion.py people --files 20          a folder of 20 files

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
    parser.add_argument("--files", type=int, default=1, help="a folder with so many files")
    asked = parser.parse_args()
    rows, paths = int(asked.rows), [asked.path]
    if asked.files > 1:
        asked.path.mkdir()
        paths = [asked.path / f"{number:03}.parquet" for number in range(asked.files)]
    for number, path in enumerate(paths):
        part = rows * (number + 1) // len(paths) - rows * number // len(paths)
        write_people(path, part, seed=number)
    size = sum(path.stat().st_size for path in paths)
    print(f"{asked.path}: {rows:,} rows, {size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
