"""Holds what one synthetic file tells of the records behind it: SyntheticResult."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.differential.synthetic.copies import Copies
from indiff.differential.synthetic.inference import Claims
from indiff.errors import Message, option
from indiff.release.release import to_backend
from indiff.release.unmeasured import Unmeasured
from indiff.text import FORMAT, json_text
from indiff.version import __version__

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NO_EVIDENCE = (
    "The distance to the closest record is no evidence of privacy: a file can be far from "
    "everybody and still tell what only one record could have taught it."
)
NOT_COMPARED: str = Message(
    f"without records that the generator never saw ({option('held_out')}) nothing can be said to "
    "come from a person's own record: what chance gives is an expectation here, and no test"
)


@dataclass(frozen=True)
class Excess:
    """How many of the original's people something holds for, and of those held out.

    ``p_value`` is the chance of at least as many of the original's, had it been drawn who is in
    the original and who is held out, after the file was made: exact (hypergeometric), since the
    two are then a random division of the same people. It needs held-out records of the same
    population that the generator never saw, drawn like the original's. ``share`` is its part of
    the error that all comparisons may make together.
    """

    name: str
    original: int
    people: int
    held_out: int
    others: int
    p_value: float
    share: float = 1.0

    @classmethod
    def of(cls, name: str, original: Bools, held_out: Bools) -> Excess:
        """Count both, and test that the original has no more than chance gives."""
        from scipy.stats import hypergeom

        one, two = int(original.sum()), int(held_out.sum())
        people, others = len(original), len(held_out)
        p_value = float(hypergeom.sf(one - 1, people + others, one + two, people))
        return cls(name, one, people, two, others, min(p_value, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class SyntheticResult:
    """The outcome of :func:`~indiff.differential.synthetic.test.test_synthetic`.

    ``excesses`` are the comparisons with the held-out records, empty where there are none;
    ``proved`` are those whose p-value is at most their share of 1 − ``confidence`` (Bonferroni,
    half of it for copies): with that confidence none of them is chance. That nothing is proved
    is no proof of privacy. ``compared`` are the places of the records that were compared by
    distance.
    """

    name: str
    sensitive_name: str
    rows: int
    held_out: int | None
    copies: Copies
    distances: Floats = field(repr=False)
    distances_held_out: Floats | None = field(repr=False)
    distances_among: Floats = field(repr=False)
    covered: Bools = field(repr=False)
    one_candidate: Bools = field(repr=False)
    linked: Bools = field(repr=False)
    linked_right: Bools = field(repr=False)
    claims: Mapping[str, Claims] = field(repr=False)
    claims_without: Mapping[str, Claims] = field(repr=False)
    claims_held_out: Mapping[str, Claims] | None = field(repr=False)
    excesses: tuple[Excess, ...]
    confidence: float
    records: NDArray[np.int64] = field(repr=False)
    compared: NDArray[np.intp] = field(repr=False)
    notes: tuple[str, ...]
    unmeasured: tuple[Unmeasured, ...]
    repeated: tuple[str, ...]
    fingerprint: str
    backend: str = field(default="pyarrow", repr=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def proved(self) -> tuple[Excess, ...]:
        """What holds for more of the original's people than chance gives."""
        error = 1 - self.confidence
        return tuple(one for one in self.excesses if one.p_value <= one.share * error)

    @property
    def suspicious(self) -> bool:
        """Whether there are more copied single records than a fresh sample would have."""
        return self.copies.fresh <= 1 - self.confidence

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, without any value of the table."""
        copies, compared = self.copies, len(self.compared)
        held = self.claims_held_out or {}
        return {
            "format": FORMAT,
            "kind": "synthetic-test",
            "release": self.name,
            "sensitive": self.sensitive_name,
            "records_in_table": len(self.records),
            "rows": self.rows,
            "held_out": self.held_out,
            "confidence": self.confidence,
            "copies": {
                "records": copies.count,
                "single_records": copies.singles,
                "rows": copies.rows,
                "rows_compared": copies.among,
                "comparable": copies.comparable,
                "expected": copies.expected,
                "p_value_fresh_sample": copies.fresh,
            },
            "linkage": {
                "records": compared,
                "covered": int(self.covered.sum()),
                "one_candidate": int(self.one_candidate.sum()),
                "linked_by_distance": int(self.linked.sum()),
                "linked_with_own_value": int(self.linked_right.sum()),
            },
            "inference": {
                name: {
                    "from_release": claims.to_dict(),
                    "never_saw_the_person": self.claims_without[name].to_dict(),
                    "held_out": held[name].to_dict() if name in held else None,
                }
                for name, claims in self.claims.items()
            },
            "distance_to_closest": {
                "original": _quantiles(self.distances),
                "held_out": _quantiles(self.distances_held_out),
                "among_records": _quantiles(self.distances_among),
                "meaning": NO_EVIDENCE,
            },
            "excesses": [one.to_dict() | {"proved": one in self.proved} for one in self.excesses],
            "notes": list(self.notes),
            "fingerprint": self.fingerprint,
            "versions": {"indiff": __version__, "python": platform.python_version()},
            "timing": {"seconds": self.seconds},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json_text(self.to_dict())

    def to_arrow(self) -> pa.Table:
        """Return one row per record; null where a record was not compared by distance."""
        size = len(self.records)
        columns: dict[str, Any] = {
            "record": self.records,
            "copied": self.copies.copied,
            "single": self.copies.single,
        }
        there = np.zeros(size, np.bool_)
        there[self.compared] = True
        found = {"distance_to_closest": self.distances, "linked_by_distance": self.linked}
        found |= {f"right_{name.replace('-', '_')}": one.right for name, one in self.claims.items()}
        for name, values in found.items():
            whole = np.zeros(size, values.dtype)
            whole[self.compared] = values
            columns[name] = pa.array(whole, mask=~there)
        return pa.table(columns)

    def to_frame(self) -> Any:
        """Return :meth:`to_arrow` in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)


def _quantiles(distances: Floats | None) -> dict[str, float] | None:
    if distances is None:
        return None
    low, middle = np.quantile(distances, [0.05, 0.5]).tolist()
    return {"smallest": float(distances.min()), "quantile_0.05": low, "median": middle}
