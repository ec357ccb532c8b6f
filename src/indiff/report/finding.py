"""Holds one measured number of an audit, what it means, and what it does not prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Status = Literal["measured", "failed", "skipped"]
Question = Literal["table", "singling-out", "linkability", "inference", "utility"]
Rule = Literal["at most", "at least"]

MIN_CELL = 10  # records that hold a value before it is named, unless somebody asks otherwise
QUESTIONS: tuple[Question, ...] = get_args(Question)


@dataclass(frozen=True)
class Limit:
    """What a number may be at most, or must be at least."""

    name: str
    rule: Rule
    value: float


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One number of an audit, or the reason why there is none.

    ``metric`` is the name that a limit calls it by, ``about`` the sensitive attribute. ``value``
    is None unless it was measured; ``interval`` holds the limits of an estimate. ``exceeded`` is
    set by the verdict, after measuring; it stays None where that cannot be decided.
    """

    id: str
    metric: str
    about: str | None = None
    question: Question
    inference: Literal["private", "public"] | None = None
    title: str
    status: Status
    reason: str | None = None
    value: float | None = None
    range: tuple[float, float | None] | None = None
    better: Literal["low", "high"] | None = None
    exactness: str | None = None
    interval: tuple[float, float] | None = None
    before: float | None = None
    limit: Limit | None = None
    exceeded: bool | None = None
    means: str
    does_not_prove: str
    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.status == "measured") != (self.value is not None):
            raise ValueError(f"{self.id}: a value is there if and only if it was measured")
        if self.status != "measured" and not self.reason:
            raise ValueError(f"{self.id}: what was not measured needs a reason")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, its keys in a fixed order."""
        return asdict(self)
