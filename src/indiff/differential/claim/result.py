"""What a test of a claim of differential privacy found: the bound, how sure, and what it missed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from indiff.differential.claim.bound import Counted
from indiff.differential.claim.events import Event

FORMAT = 1
NEIGHBOURS = "adding or removing one record"
NEIGHBOURS_PEOPLE = "adding or removing all records of one person"


@dataclass(frozen=True)
class Observed:
    """One person's event and how often it happened in the runs that count.

    ``person`` is a place in the people looked at, ``record`` the number of the first record.
    """

    person: int
    epsilon: float
    event: Event
    counted: Counted
    record: int = -1

    @property
    def where(self) -> str:
        """On which side the event is the more frequent one."""
        return "without" if self.event.absent else "with"

    def __str__(self) -> str:
        other = "with" if self.event.absent else "without"
        sign = "equals" if self.event.sign == "=" else "is at least"
        threshold, count = f"{self.event.threshold:.6g}", self.counted
        said = "a certain value" if self.event.statistic == "release as a whole" else threshold
        return (
            f"{self.event.statistic} {sign} {said} in {count.hits:,} of {count.runs:,} runs "
            f"{self.where} the record, and in {count.other_hits:,} of {count.other_runs:,} "
            f"{other} it"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        count = self.counted
        return {
            "record": self.record,
            "epsilon": self.epsilon,
            "statistic": self.event.statistic,
            "sign": self.event.sign,
            "threshold": self.event.threshold,
            "more_frequent": self.where,
            "hits": count.hits,
            "runs": count.runs,
            "other_hits": count.other_hits,
            "other_runs": count.other_runs,
        }


@dataclass(frozen=True)
class Guesses:
    """What one call gave: of ``canaries`` put in or left out by lot, so many guesses were right."""

    canaries: int
    made: int
    right: int
    statistic: str

    def __str__(self) -> str:
        return (
            f"{self.right:,} of {self.made:,} guesses about {self.canaries:,} records, put in or "
            f"left out by lot, were right, by {self.statistic}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        return {
            "canaries": self.canaries,
            "made": self.made,
            "right": self.right,
            "statistic": self.statistic,
        }


@dataclass(frozen=True)
class ClaimResult:
    """A lower bound on ε, observed in runs of a sanitizer, beside the ε that is claimed.

    ``epsilon`` is the bound: with ``confidence`` no (ε, ``delta``)-differential privacy with a
    smaller ε holds for this table and :attr:`neighbours`. ``claimed`` is None where nothing was
    claimed. ``most`` is the largest bound that so many runs can give: a claim above it can not be
    refuted by them. A bound that is small proves nothing; no number of runs proves a claim.
    """

    sensitive_name: str
    sanitizer: str
    epsilon: float
    claimed: float | None
    delta: float
    confidence: float
    method: Literal["runs", "one-run"]
    calls: int
    requested: int
    records: int
    table_size: int
    most: float
    statistics: tuple[str, ...]
    observed: tuple[Observed, ...] = ()
    guesses: Guesses | None = None
    neighbours: str = NEIGHBOURS
    complete: bool = True
    interrupted: bool = False
    out_of_time: bool = False
    failures: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether the bound exceeds the claim."""
        return self.claimed is not None and self.epsilon > self.claimed

    @property
    def claim(self) -> str:
        """The claim in words."""
        if self.claimed is None:
            return "no claim was made"
        return f"ε ≤ {self.claimed:g}" + (f" at δ = {self.delta:g}" if self.delta else "")

    @property
    def sentence(self) -> str:
        """What the runs say about the claim; never that it holds."""
        sure, runs = f"{100 * self.confidence:g} % confidence", f"{self.calls:,} runs"
        runs = "1 run" if self.calls == 1 else runs
        if self.refuted:
            found = math.floor(self.epsilon * 1000) / 1000
            return f"the claim {self.claim} is refuted with {sure}: ε is at least {found:g}"
        if self.claimed is None:
            return f"ε is at least {self.epsilon:.3g} with {sure}, by {runs}; nothing was claimed"
        open_still = f"the claim {self.claim} is not refuted with {sure} by {runs}"
        return f"{open_still}: no proof that it holds"

    @property
    def untried(self) -> tuple[str, ...]:
        """Say what was not tried: each may tell more than what was."""
        left = self.table_size - self.records
        found = [f"{left:,} of {self.table_size:,} records, as targets"] if left > 0 else []
        found += ["tables other than this one and its neighbours"]
        if self.method == "runs":
            found += ["events of several runs together, and statistics that are not listed"]
        if self.most <= (self.claimed or 0.0):
            found += [
                f"enough runs: {self.calls:,} show at most ε = {self.most:.3g}, whatever happens"
            ]
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, without any value of the table."""
        return {
            "format": FORMAT,
            "kind": "claim",
            "sensitive": self.sensitive_name,
            "sanitizer": self.sanitizer,
            "claimed": self.claimed,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "refuted": self.refuted,
            "sentence": self.sentence,
            "confidence": self.confidence,
            "method": self.method,
            "neighbours": self.neighbours,
            "calls": self.calls,
            "requested": self.requested,
            "records": self.records,
            "records_in_table": self.table_size,
            "most": self.most,
            "observed": [one.to_dict() for one in self.observed],
            "guesses": None if self.guesses is None else self.guesses.to_dict(),
            "statistics": list(self.statistics),
            "untried": list(self.untried),
            "complete": self.complete,
            "interrupted": self.interrupted,
            "out_of_time": self.out_of_time,
            "failures": list(self.failures),
            "timing": {"seconds": self.seconds},
            "seed": self.seed,
            "notes": list(self.notes),
        }
