"""Says what a model is, the adversary's algorithm 𝒜, and what TF features show it of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.release.release import Release, ReleasedColumn


@runtime_checkable
class Model(Protocol):
    """𝒜: release × targets → beliefs (DIT v2, Definition 1)."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return one row per target: the probability of each sensitive value; rows sum to 1."""
        ...


@runtime_checkable
class TallyModel(Model, Protocol):
    """A model that may need no more of a release than what TF features show to one target."""

    def learns_from_tally(self, columns: int) -> bool:
        """Tell whether a tally of so many columns is all that it needs of a release."""
        ...

    def belief_from_tally(self, tally: Tally, target: Table) -> NDArray[np.float64]:
        """Return the one row that ``beliefs`` has for the tally's release and target."""
        ...


def is_randomized_model(model: Model) -> bool:
    """Tell whether a model says of itself that fitting it twice may give two beliefs."""
    return bool(getattr(model, "randomized", False))


Floats = NDArray[np.float64]

# Up to so many TF features all their patterns are counted, in 8 kB per sensitive value.
MOST_COUNTED = 10

Lesson = tuple[Floats, NDArray[np.int32], Floats]


@dataclass(frozen=True, eq=False)
class Tally:
    """How many released records of each class cover the target on just these columns.

    ``counts[p, c]`` has the records of class c with the pattern p: its bits, the first column's
    first, tell on which columns a record's region covers the target's value. The last pattern is
    that of a record which covers the target everywhere, and of the target itself. A model on TF
    features (DIT v1, Appendix A) sees nothing else of a release.

    >>> tally = Tally(("age", "sex"), np.array([[0, 1], [0, 0], [2, 0], [1, 3.0]]))
    >>> tally.covered, len(tally)
    (True, 7)
    >>> tally.lesson()[0].tolist(), tally.lesson()[2].tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 1.0, 3.0])
    >>> tally.of_columns(["sex"]).counts.tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    """

    names: tuple[str, ...]
    counts: Floats

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def covered(self) -> bool:
        """Whether any released record covers the target on all columns."""
        return bool(self.counts[-1].any())

    def class_totals(self) -> Floats:
        """Return N_c: the released records with each sensitive value."""
        totals: Floats = self.counts.sum(axis=0)
        return totals

    def lesson(self) -> Lesson:
        """Return features, classes and weights: each distinct row of the encoding once."""
        flat = self.counts.ravel()
        shown = np.flatnonzero(flat)
        pattern, of_class = np.divmod(shown, self.counts.shape[1])
        places = np.arange(len(self.names) - 1, -1, -1)
        features = ((pattern[:, None] >> places) & 1).astype(np.float64)
        return features, of_class.astype(np.int32), flat[shown]

    def of_columns(self, names: Sequence[str]) -> Tally:
        """Return the tally of some of the columns, kept in their order."""
        kept = tuple(name for name in self.names if name in names)
        dropped = tuple(place for place, name in enumerate(self.names) if name not in names)
        cube = self.counts.reshape(*[2] * len(self.names), -1)
        return Tally(kept, cube.sum(axis=dropped).reshape(2 ** len(kept), -1))


def regions_covering(column: ReleasedColumn, code: int) -> NDArray[np.bool_]:
    """Tell for every region whether it covers the value with this code."""
    inside = np.zeros(column.count, dtype=bool)
    inside[column.span_region[(column.span_low <= code) & (code <= column.span_high)]] = True
    return inside


def shares_groups(release: Release) -> bool:
    """Tell whether the columns share one array of regions, the groups of a partition."""
    first = release.columns[0]
    return all(c.index is first.index and c.count == first.count for c in release.columns)


def codes_of(release: Release, targets: Table) -> NDArray[np.int32]:
    """Return the codes of targets in the released columns, a row for each."""
    named = [targets.attribute(column.attribute.name).codes for column in release.columns]
    return np.stack(named, axis=1)
