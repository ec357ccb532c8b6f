"""Adult's complete records and the figures that ARX has for samples of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip

Row = dict[str, Any]


def complete(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return the complete records of the training part, and those of both parts."""
    parts = []
    for name, skipped in (("adult.data", 0), ("adult.test", 1)):
        lines = (folder / name).read_text().splitlines()[skipped:]
        cells = [[cell.strip() for cell in line.split(",")] for line in lines]
        parts.append(
            [
                dict(zip(NAMES, row, strict=True))
                for row in cells
                if len(row) == 15 and "?" not in row
            ]
        )
    return parts[0], parts[0] + parts[1]


def drawn(folder: Path) -> list[int]:
    """Return the random order of all complete records."""
    lines = (folder / "arx" / "sample_rows.csv").read_text().splitlines()[1:]
    return [int(line.split(",")[0]) for line in lines]


def figures(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of one of ARX's tables."""
    with (folder / "arx" / name).open() as lines:
        return list(csv.DictReader(lines))
