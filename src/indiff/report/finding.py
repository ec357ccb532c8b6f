"""Finding: one measured number, what it means, and what it does not prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["measured", "failed", "skipped"]
Question = Literal["table", "singling-out", "linkability", "inference", "utility"]
Rule = Literal["at most", "at least"]

MIN_CELL = 10  # records that hold a value before it is named, unless somebody asks otherwise

QUESTIONS: dict[str, str] = {
    "table": "The table",
    "singling-out": "Singling out: can a person's record be isolated?",
    "linkability": "Linkability: can a record be linked to a person?",
    "inference": "Inference: can a person's sensitive value be deduced?",
    "utility": "Utility: what is the release still good for?",
}


@dataclass(frozen=True)
class Limit:
    """What a number may be at most, or must be at least."""

    name: str
    rule: Rule
    value: float


@dataclass(frozen=True)
class Finding:
    """One number of an audit, or the reason why there is none.

    ``metric`` is the name that a limit calls it by, ``about`` the sensitive attribute. ``value``
    is None unless it was measured; ``interval`` holds the limits of an estimate. ``exceeded`` is
    set by the verdict, after measuring; it stays None where that cannot be decided.
    """

    id: str
    metric: str
    question: Question
    title: str
    status: Status
    means: str
    does_not_prove: str
    source: str
    inference: Literal["private", "public"] | None = None
    about: str | None = None
    reason: str | None = None
    value: float | None = None
    range: tuple[float, float | None] | None = None
    better: Literal["low", "high"] | None = None
    exactness: str | None = None
    interval: tuple[float, float] | None = None
    before: float | None = None
    limit: Limit | None = None
    exceeded: bool | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.status == "measured") != (self.value is not None):
            raise ValueError(f"{self.id}: a value is there if and only if it was measured")
        if self.status != "measured" and not self.reason:
            raise ValueError(f"{self.id}: what was not measured needs a reason")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, its keys in a fixed order."""
        limit = self.limit
        return {
            "id": self.id,
            "metric": self.metric,
            "about": self.about,
            "question": self.question,
            "inference": self.inference,
            "title": self.title,
            "status": self.status,
            "reason": self.reason,
            "value": self.value,
            "range": None if self.range is None else list(self.range),
            "better": self.better,
            "exactness": self.exactness,
            "interval": None if self.interval is None else list(self.interval),
            "before": self.before,
            "limit": None
            if limit is None
            else {"name": limit.name, "rule": limit.rule, "value": limit.value},
            "exceeded": self.exceeded,
            "means": self.means,
            "does_not_prove": self.does_not_prove,
            "source": self.source,
            "parameters": dict(self.parameters),
            "seed": self.seed,
        }
