"""Keeps what the items of one run share: the data, the seeds, and every result measured once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from indiff.papers.hierarchies import hierarchy_files

if TYPE_CHECKING:
    from indiff.data.table import Table

SEEDS = 5
_INTERNET = ("education_attainment", "major_occupation", "marital_status", "race")
TREES = {  # the columns that are generalized along the authors' hierarchies
    "adult": ("education", "marital-status", "native-country"),
    "internet-v2": _INTERNET,
    "internet-v1": ("country", *_INTERNET),
}

T = TypeVar("T")


@dataclass
class Run:
    """One call of ``indiff reproduce``.

    ``seeds`` is how many selections of 10,000 Adult records are drawn; ``billion`` asks for times
    at 10⁹ rows; ``report(done, total)`` hears how far a long item is.
    """

    folder: Path | None = None
    download: bool = False
    seeds: int = SEEDS
    billion: bool = False
    report: Callable[[int, int], object] = lambda done, total: None
    kept: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` gave when this key was first asked for."""
        if key not in self.kept:
            self.kept[key] = make()
        found: T = self.kept[key]
        return found

    def table(
        self, name: str, seed: int = 0, *, trees: bool = True, records: int = 10_000
    ) -> Table:
        """Return a data set: ``adult`` (some records of it), ``internet-v1`` or ``internet-v2``.

        ``trees`` generalizes along the authors' hierarchies.
        """
        return self.once(
            ("table", name, seed, trees, records), lambda: self._table(name, seed, trees, records)
        )

    def _table(self, name: str, seed: int, trees: bool, records: int) -> Table:
        from indiff import datasets

        data, _, version = name.partition("-")
        place: dict[str, Any] = {"folder": self.folder, "download": self.download}
        if trees:
            place["hierarchies"] = hierarchy_files(data, columns=TREES[name], **place)
        if data == "adult":
            return datasets.adult(records, seed, **place)
        return datasets.internet_usage(version, **place)  # type: ignore[arg-type]
