"""Holds what several releases of the same people tell together: SeveralResult."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.beside.differences import Differences
from indiff.differential.beside.intersection import Intersection
from indiff.differential.beside.linkage import spread
from indiff.release.release import to_backend
from indiff.release.unmeasured import Unmeasured
from indiff.text import FORMAT, json_text
from indiff.version import __version__

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Considered:
    """One of the releases: its name, rows and quasi-identifiers, and what else is in it."""

    name: str
    rows: int
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SeveralResult:
    """The outcome of :func:`~indiff.differential.beside.several.test_releases`.

    ``candidates`` has a row for each record and a column for each release. ``everything`` is what
    all candidates leave possible: who is ``determined`` there is so for certain, whichever row is
    the record's. ``closest`` is what the most specific candidates of each release leave, which is
    where an adversary looks first: rows of ``*`` hide nobody from him, and he may be misled.
    """

    sensitive_name: str
    records: Ints = field(repr=False)
    considered: tuple[Considered, ...]
    candidates: Ints = field(repr=False)
    everything: Intersection = field(repr=False)
    closest: Intersection = field(repr=False)
    differences: tuple[Differences, ...]
    fingerprint: str
    table_size: int
    backend: str = field(default="pyarrow", repr=False)
    seconds: float = 0.0

    def __repr__(self) -> str:
        growth = ", ".join(f"{one['determined']:,}" for one in self.growth)
        names = ", ".join(one.name for one in self.considered)
        return f"SeveralResult({names}: determined {growth} of {len(self.records):,})"

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Whether all releases together leave a record its own value alone."""
        return self.everything.determined[:, -1]

    @property
    def likely(self) -> NDArray[np.bool_]:
        """Whether a record is determined by all candidates or, at some point, by the closest.

        A column for the first release, one for the first two, and so on.
        """
        found = self.everything.determined | self.closest.determined
        return np.logical_or.accumulate(found, axis=1)

    @property
    def only_together(self) -> NDArray[np.bool_]:
        """Whether a record is determined by all releases, though by none of them alone."""
        return self.determined & ~self.everything.alone

    @property
    def growth(self) -> list[dict[str, Any]]:
        """What is known after one release, after two, and so on."""
        return [self._after(place) for place in range(len(self.considered))]

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """What each two releases determine, those first that do most damage.

        That is measured by the records that neither release determines alone, then by all that the
        two determine.
        """
        found = [
            {
                "releases": [self.considered[one].name, self.considered[two].name],
                "determined": int(self.everything.pairs[one, two]),
                "only_together": int(self.everything.only_together[one, two]),
            }
            for one, two in combinations(range(len(self.considered)), 2)
        ]
        return sorted(found, key=lambda one: (-one["only_together"], -one["determined"]))

    def _after(self, place: int) -> dict[str, Any]:
        every = self.everything
        known = every.possible[:, place] >= 0
        return {
            "release": self.considered[place].name,
            "determined": int(every.determined[:, place].sum()),
            "determined_by_closest": int(self.likely[:, place].sum()),
            "one_candidate": int(every.unique[:, place].sum()),
            "misled": int(every.misled[:, place].sum()),
            "no_candidate": int((~known).sum()),
            "values_left": spread(every.possible[known, place]) if known.any() else None,
            "candidates_left": spread(every.left[known, place]) if known.any() else None,
        }

    def without_values(self) -> SeveralResult:
        """Return the result without the regions of groups in which two releases differ."""
        hidden = [
            replace(one, smallest=tuple(replace(each, regions=None) for each in one.smallest))
            for one in self.differences
        ]
        return replace(self, differences=tuple(hidden))

    def to_dict(self, *, values: bool = False) -> dict[str, Any]:
        """Return the result as plain data; regions of the releases only with ``values``."""
        return {
            "format": FORMAT,
            "kind": "releases-test",
            "sensitive": self.sensitive_name,
            "records_in_table": self.table_size,
            "records": len(self.records),
            "releases": [
                {
                    "release": one.name,
                    "released_rows": one.rows,
                    "quasi": list(one.columns),
                    "no_candidate": int((self.candidates[:, place] == 0).sum()),
                    "determined_alone": int(self.everything.pairs[place, place]),
                    "notes": list(one.notes),
                }
                for place, one in enumerate(self.considered)
            ],
            "growth": self.growth,
            "pairs": self.pairs,
            "determined": int(self.determined.sum()),
            "determined_by_closest": int(self.likely[:, -1].sum()),
            "determined_alone": int(self.everything.alone.sum()),
            "determined_by_a_pair": int(self.everything.paired.sum()),
            "only_together": int(self.only_together.sum()),
            "differences": [one.to_dict(values=values) for one in self.differences],
            "fingerprint": self.fingerprint,
            "versions": {"indiff": __version__, "python": platform.python_version()},
            "timing": {"seconds": self.seconds},
        }

    def to_json(self, *, values: bool = False) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json_text(self.to_dict(values=values))

    def to_arrow(self) -> pa.Table:
        """Return one row per record: its candidates in each release, and what is left of them."""
        columns: dict[str, Any] = {"record": self.records}
        for place in range(len(self.considered)):
            columns[f"candidates_{place + 1}"] = self.candidates[:, place]
        for place in range(len(self.considered)):
            columns[f"candidates_left_{place + 1}"] = self.everything.left[:, place]
            columns[f"values_left_{place + 1}"] = self.everything.possible[:, place]
        columns["determined"] = self.determined
        columns["determined_alone"] = self.everything.alone
        columns["determined_by_a_pair"] = self.everything.paired
        columns["determined_by_closest"] = self.likely[:, -1]
        return pa.table(columns)

    def to_frame(self) -> Any:
        """Return :meth:`to_arrow` in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)
