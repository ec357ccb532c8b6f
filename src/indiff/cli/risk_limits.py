"""Limits on risk metrics: ``k=5``, ``reidentification.itpr=0.5``, ``inference.ill.dr=0.1``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indiff.cli.verdict import EXCEEDED, NOTHING_EXCEEDED
from indiff.errors import UserError, unknown

if TYPE_CHECKING:
    from indiff.risk.result import Risk

# Less is worse: these limits are exceeded when the number is below them.
LOWER = ("k", "l", "distinct_l", "entropy_l", "h_conditional", "h_normalised")
SIZES = ("k", "singled_out", "prosecutor", "journalist", "marketer")
MODELS = (
    "l", "distinct_l", "entropy_l", "alpha", "t", "beta", "beta_enhanced", "delta_disclosure",
)  # fmt: skip
INFORMATION = (
    "itpr", "dr", "mi", "cp", "mil", "mil_unweighted", "eld", "theta", "h_conditional",
    "h_normalised",
)  # fmt: skip


@dataclass(frozen=True)
class RiskCheck:
    """One limit against one measured number."""

    name: str
    value: float
    limit: float

    @property
    def is_lower(self) -> bool:
        """Whether the limit is a lower one, as that of k is."""
        return self.name.rpartition(".")[2] in LOWER

    @property
    def exceeded(self) -> bool:
        """Whether the number is not known to be within the limit: NaN is not."""
        within = self.value >= self.limit if self.is_lower else self.value <= self.limit
        return not within

    def __str__(self) -> str:
        side = "below" if self.is_lower else "above"
        return f"{self.name} is {self.value:.4g}, {side} the limit {self.limit:g}"


@dataclass(frozen=True)
class RiskVerdict:
    """What the numbers say about the limits, with the exit code and the sentences for it."""

    code: int
    checks: tuple[RiskCheck, ...]
    reasons: tuple[str, ...]


def risk_limits(texts: Iterable[str] | None, sensitive: Sequence[str]) -> dict[str, float]:
    """Read ``--limit`` texts; ``inference.itpr`` stands for every sensitive attribute.

    >>> risk_limits(["k=5", "inference.itpr=0.5"], ["ill", "income"])
    {'k': 5.0, 'inference.ill.itpr': 0.5, 'inference.income.itpr': 0.5}
    """
    read: dict[str, float] = {}
    for text in texts or ():
        name, _, value = (part.strip() for part in text.rpartition("="))
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not name or not 0 <= limit < math.inf:
            raise UserError("a limit is written NAME=NUMBER, of at least 0", f"{text!r}")
        for expanded in _names(name, sensitive):
            if expanded in read:
                raise UserError("a limit may be given once", f"{expanded!r} twice")
            read[expanded] = limit
    return read


def _names(name: str, sensitive: Sequence[str]) -> list[str]:
    plane, _, rest = name.partition(".")
    if name in SIZES or (plane == "reidentification" and rest in INFORMATION):
        return [name]
    if name not in MODELS and plane != "inference":
        raise unknown("limit", name, _known())
    if not sensitive:
        raise UserError(f"the limit {name} needs a sensitive attribute; add --sensitive COLUMN.")
    if name in MODELS:
        return [name]
    attribute, _, metric = rest.rpartition(".")
    if metric not in INFORMATION:
        raise unknown("limit", name, _known())
    if attribute and attribute not in sensitive:
        raise unknown("sensitive attribute", attribute, sensitive)
    return [f"inference.{x}.{metric}" for x in ([attribute] if attribute else sensitive)]


def _known() -> list[str]:
    planes = [f"{plane}.{m}" for plane in ("reidentification", "inference") for m in INFORMATION]
    return [*SIZES, *MODELS, *planes]


def judge_risk(risk: Risk, limits: Mapping[str, float]) -> RiskVerdict:
    """Check every limit on a result."""
    checks = tuple(RiskCheck(name, _measured(risk, name), x) for name, x in limits.items())
    exceeded = [check for check in checks if check.exceeded]
    reasons = [str(check) for check in exceeded]
    if not limits:
        reasons = ["no limit was given, so nothing could be exceeded"]
    elif not exceeded:
        reasons = ["no limit was exceeded"]
    return RiskVerdict(EXCEEDED if exceeded else NOTHING_EXCEEDED, checks, tuple(reasons))


def _measured(risk: Risk, name: str) -> float:
    plane, _, rest = name.partition(".")
    if plane == "reidentification":
        return float(getattr(risk.reidentification, rest))
    if plane == "inference":
        attribute, _, metric = rest.rpartition(".")
        return float(getattr(risk.inference[attribute], metric))
    return float(getattr(risk.groups, name))


def as_plain(verdict: RiskVerdict) -> dict[str, Any]:
    """Return the limits and the verdict for the JSON file."""
    return {
        "limits": [
            {
                "name": check.name,
                "value": check.value,
                "limit": check.limit,
                "is_lower": check.is_lower,
                "exceeded": check.exceeded,
            }
            for check in verdict.checks
        ],
        "verdict": {"exit_code": verdict.code, "reasons": list(verdict.reasons)},
    }
