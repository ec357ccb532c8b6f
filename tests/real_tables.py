"""The papers' data as tests use it."""

from __future__ import annotations

from pathlib import Path

from indiff import Table, datasets

_ADULT_TREES = {
    "education": "education",
    "marital-status": "marital_status",
    "native-country": "native_country",
}


def adult(folder: Path, *, hierarchies: bool) -> Table:
    """Return Adult, its categorical columns as ordered sets or by ``hierarchies/adult``."""
    trees = {name: folder / "hierarchies/adult" / f"{f}.csv" for name, f in _ADULT_TREES.items()}
    return datasets.adult(folder=folder, hierarchies=trees if hierarchies else None)
