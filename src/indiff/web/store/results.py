"""Reads what finished runs left on the disk, and puts several of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from indiff.web.refusals import NotFoundError

FileName = Literal[
    "report.html", "report.json", "report.md", "release.csv", "records.csv", "plan.toml"
]
FILES: dict[FileName, str] = {
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "report.md": "text/markdown; charset=utf-8",
    "release.csv": "text/csv; charset=utf-8",
    "records.csv": "text/csv; charset=utf-8",
    "plan.toml": "application/toml",
}


def distances_file(folder: Path, place: int) -> Path:
    """Where the sorted distances behind one of the CDF's curves are."""
    return folder / f"distances-{place}.npy"


def above(folder: Path, place: int, threshold: float) -> tuple[int, int]:
    """Count the distances above a threshold, and all of them, without reading them all."""
    import numpy as np

    try:
        distances = np.load(distances_file(folder, place), mmap_mode="r")
    except FileNotFoundError:
        raise NotFoundError("the distances of this run are no longer on the disk.") from None
    return int(len(distances) - np.searchsorted(distances, threshold, side="right")), len(distances)


def side_by_side(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per finding: what it is, and itself in every run (None where it has none).

    >>> one = {"id": "k", "title": "k", "better": "high", "question": "table", "value": 5}
    >>> (row,) = side_by_side([{"findings": [one]}, {"findings": []}])
    >>> row["title"], [finding and finding["value"] for finding in row["findings"]]
    ('k', [5, None])
    """
    rows: dict[str, dict[str, Any]] = {}
    for place, document in enumerate(documents):
        for finding in document["findings"]:
            same = {name: finding[name] for name in ("id", "title", "better", "question")}
            row = rows.setdefault(finding["id"], {**same, "findings": [None] * len(documents)})
            row["findings"][place] = finding
    return list(rows.values())
