"""What a finished run left on the disk, and several of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.web.store.store import NotFoundError

FILES = {
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


def file_of(folder: Path, state: str, name: str) -> Path:
    """Return a finished run's file, or say why there is none."""
    path = folder / name
    if state != "done":
        raise UserError(
            f"files come with the result; this run is {state}", way_out="Wait until it is done"
        )
    if not path.is_file():
        raise NotFoundError(f"this run has no {name}.")
    return path


def side_by_side(runs: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one row per finding, with its value in every run (None where it has none).

    >>> one = {"findings": [{"id": "k", "title": "k", "better": "high", "value": 5}]}
    >>> two = {"findings": [{"id": "k", "title": "k", "better": "high", "value": 9}]}
    >>> side_by_side([("a", one), ("b", two)])
    [{'id': 'k', 'title': 'k', 'better': 'high', 'values': [5, 9]}]
    """
    rows: dict[str, dict[str, Any]] = {}
    for place, (_, document) in enumerate(runs):
        for finding in document["findings"]:
            row = rows.setdefault(
                finding["id"],
                {
                    "id": finding["id"],
                    "title": finding["title"],
                    "better": finding["better"],
                    "values": [None] * len(runs),
                },
            )
            row["values"][place] = finding["value"]
    return list(rows.values())
