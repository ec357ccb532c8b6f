"""Holds what one release beside its original tells: ReleaseResult."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.beside.linkage import Linkage, of_own_value
from indiff.differential.result import DifferentialResult
from indiff.release.release import to_backend
from indiff.release.unmeasured import Unmeasured
from indiff.text import FORMAT, json_text
from indiff.version import __version__

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shift:
    """How far a model's beliefs are from the prior: one row per record, one column per value.

    The prior is the shares of the sensitive values in the release, unless the adversary has his
    own. The shift is all that the release teaches about a record beyond the prior, from the crowd
    and from the record itself alike: a large one is no leak by itself, a small one is no proof.
    """

    distances: Floats = field(repr=False)
    beliefs: Floats = field(repr=False)
    prior: Floats = field(repr=False)
    classes: NDArray[np.int32] = field(repr=False)

    @property
    def true_beliefs(self) -> Floats:
        """The belief in each record's true value."""
        return of_own_value(self.beliefs, self.classes)

    @property
    def true_priors(self) -> Floats:
        """The prior of each record's true value."""
        return of_own_value(self.prior, self.classes)

    @property
    def raised(self) -> int:
        """For how many records the true value is believed more than before (beyond 1e-12)."""
        return int((self.true_beliefs > self.true_priors + 1e-12).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, without any value of the table."""
        return {
            "largest": float(self.distances.max()),
            "mean": float(self.distances.mean()),
            "true_value_raised": self.raised,
            "mean_belief_in_true_value": float(self.true_beliefs.mean()),
            "mean_share_of_true_value": float(self.true_priors.mean()),
        }


@dataclass(frozen=True, eq=False)
class ReleaseResult:
    """The outcome of :func:`~indiff.differential.beside.dropped_row.test_release`.

    ``linkage`` and ``shift`` are always there; ``test`` is None, and ``skipped`` says why, where
    it is not known which released row is whose. ``unmeasured`` are the columns of the release that
    neither looks at; ``repeated`` says that it is a copy of records, where it is.
    """

    name: str
    sensitive_name: str
    model: str
    distance: str
    linkage: Linkage
    shift: Shift
    test: DifferentialResult | None
    skipped: str | None
    notes: tuple[str, ...]
    fingerprint: str
    table_size: int
    unmeasured: tuple[Unmeasured, ...] = ()
    repeated: tuple[str, ...] = ()
    backend: str = field(default="pyarrow", repr=False)
    seconds: float = field(default=0.0, compare=False)

    def to_dict(self, *, worst: int = 10) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "format": FORMAT,
            "kind": "release-test",
            "release": self.name,
            "sensitive": self.sensitive_name,
            "records_in_table": self.table_size,
            "linkage": self.linkage.to_dict(),
            "model": self.model,
            "distance": self.distance,
            "beliefs_against_shares": self.shift.to_dict(),
            "test": None if self.test is None else self.test.to_dict(worst=worst),
            "skipped": self.skipped,
            "notes": list(self.notes),
            "fingerprint": self.fingerprint,
            "versions": {"indiff": __version__, "python": platform.python_version()},
            "timing": {"seconds": self.seconds},
        }

    def to_json(self, *, worst: int = 10) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(worst=worst))

    def to_arrow(self) -> pa.Table:
        """Return one row per record: its number, candidates, beliefs and distances.

        ``distance`` and ``belief_without`` are null where the record has no released row.
        """
        columns: dict[str, Any] = {
            "record": self.linkage.records,
            "candidates": self.linkage.candidates,
            "groups": self.linkage.groups,
            "closest": self.linkage.closest,
            "posterior": self.linkage.posterior,
            "share_among_candidates": self.linkage.true_shares,
            "belief": self.shift.true_beliefs,
            "distance_to_shares": self.shift.distances,
        }
        if self.test is not None:
            found = np.isin(self.linkage.records, self.test.records)
            for name, values in (
                ("distance", self.test.distances),
                ("belief_without", self.test.true_beliefs_without),
            ):
                whole = np.zeros(len(found))
                whole[found] = values
                columns[name] = pa.array(whole, mask=~found)
        return pa.table(columns)

    def to_frame(self) -> Any:
        """Return :meth:`to_arrow` in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)
