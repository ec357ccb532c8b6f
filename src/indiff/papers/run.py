"""What the items share in one run: the data, the seeds, and every result measured once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from indiff.papers.hierarchies import hierarchy_files

if TYPE_CHECKING:
    from indiff.data.table import Table

SEEDS = 5
TREES = {
    "adult": ("education", "marital-status", "native-country"),
    "internet-v2": ("race", "education_attainment", "major_occupation", "marital_status"),
    "internet-v1": (
        "country",
        "education_attainment",
        "major_occupation",
        "marital_status",
        "race",
    ),
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

    def adult(self, seed: int = 0, *, trees: bool = True, records: int = 10_000) -> Table:
        """Return a selection of Adult; ``trees`` generalizes along the authors' hierarchies."""
        from indiff import datasets

        return self.once(
            ("adult", seed, trees, records),
            lambda: datasets.adult(
                records,
                seed,
                folder=self.folder,
                download=self.download,
                hierarchies=self._trees("adult") if trees else None,
            ),
        )

    def internet(self, version: str = "v2", *, trees: bool = True) -> Table:
        """Return Internet Usage with the quasi-identifiers of DIT v2 or v1."""
        from indiff import datasets

        return self.once(
            ("internet", version, trees),
            lambda: datasets.internet_usage(
                version,  # type: ignore[arg-type]
                folder=self.folder,
                download=self.download,
                hierarchies=self._trees(f"internet-{version}") if trees else None,
            ),
        )

    def _trees(self, name: str) -> dict[str, Path]:
        return hierarchy_files(
            name.split("-")[0], columns=TREES[name], folder=self.folder, download=self.download
        )
