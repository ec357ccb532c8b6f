"""Limits to a verdict, after measuring: what was not measured never counts as passed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from indiff.audit.metrics import number
from indiff.audit.plan.limits import limit_on
from indiff.report.finding import Finding, Limit

# What is so exact can exceed a limit, and not keep it: the truth may be worse.
_NO_PROOF = ("lower-bound", "approximation")
PASSED, EXCEEDED, INCOMPLETE, INTERRUPTED = 0, 1, 3, 130


@dataclass(frozen=True)
class Verdict:
    """What the findings say about the limits, with the exit code and the sentences for it."""

    status: Literal["pass", "fail", "incomplete", "no-limits"]
    exit_code: int
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "status": self.status,
            "exit_code": self.exit_code,
            "reasons": list(self.reasons),
        }


def judge(
    findings: Sequence[Finding],
    limits: Mapping[str, float],
    *,
    constraint_met: bool = True,
    interrupted: bool = False,
    unfinished: Sequence[str] = (),
    broken: Sequence[str] = (),
) -> tuple[tuple[Finding, ...], Verdict]:
    """Check every limit on every finding that it names; return them with the outcome.

    An estimate is checked at the worse end of its interval, and a lower bound below the limit is
    no pass. A failed finding, or a limit on something that was not measured, leaves the audit
    incomplete, as does a measurement that was ``unfinished``. A release that does not meet its own
    constraint never passes, nor does one of which something ``broken`` is known.
    """
    checked = tuple(_checked(finding, dict(limits)) for finding in findings)
    exceeded = [finding for finding in checked if finding.exceeded]
    gaps = [*unfinished, *_gaps(checked, limits)]
    reasons = [*broken]
    reasons += [] if constraint_met else ["the release does not meet its own constraint"]
    reasons += [_beyond(finding) for finding in exceeded]
    if interrupted:
        reasons.append("the audit was interrupted; what was measured so far is kept")
    reasons += gaps
    if exceeded or broken or not constraint_met:
        return checked, Verdict("fail", EXCEEDED, tuple(reasons))
    if interrupted or gaps:
        code = INTERRUPTED if interrupted else INCOMPLETE
        return checked, Verdict("incomplete", code, tuple(reasons))
    if not limits:
        reasons.append("no limit was given, so nothing could be exceeded")
        return checked, Verdict("no-limits", PASSED, tuple(reasons))
    return checked, Verdict("pass", PASSED, ("every limit holds",))


def _checked(finding: Finding, limits: dict[str, float]) -> Finding:
    limit = limit_on(finding.metric, finding.about, limits)
    if limit is None or finding.value is None:
        return replace(finding, limit=limit)
    exceeded = None if finding.exactness in _NO_PROOF else False
    return replace(finding, limit=limit, exceeded=exceeded if _holds(finding, limit) else True)


def _holds(finding: Finding, limit: Limit) -> bool:
    """Tell whether the number is known to be within the limit: NaN is not."""
    low, high = finding.interval or (finding.value, finding.value)
    assert low is not None
    assert high is not None
    return low >= limit.value if limit.rule == "at least" else high <= limit.value


def _beyond(finding: Finding) -> str:
    limit = finding.limit
    assert limit is not None
    assert finding.value is not None
    side = "below" if limit.rule == "at least" else "above"
    worst = finding.value
    verb = "is"
    if finding.interval is not None:
        verb, worst = "may be", finding.interval[0 if limit.rule == "at least" else 1]
    # Two numbers that look alike would not explain themselves.
    shown = number(worst) if number(worst) != number(limit.value) else f"{worst!r}"
    if math.isnan(worst):
        shown = "unknown"
    return f"{finding.title} {verb} {shown}, {side} the limit {number(limit.value)}"


def _gaps(findings: Sequence[Finding], limits: Mapping[str, float]) -> list[str]:
    """Say what keeps the findings from being a pass."""
    failed = [finding for finding in findings if finding.status == "failed"]
    reasons = [f"{titles} could not be measured: {why}" for titles, why in _by_reason(failed)]
    skipped = [finding for finding in findings if finding.status == "skipped" and finding.limit]
    reasons += [
        f"no limit on {titles} could be checked: {why}" for titles, why in _by_reason(skipped)
    ]
    for finding in findings:
        if finding.limit is not None and finding.exactness == "lower-bound":
            reasons.append(f"{finding.title} is a lower bound: not every record was tested")
        elif finding.limit is not None and finding.exactness == "approximation":
            reasons.append(f"{finding.title} is an approximation, which proves nothing if small")
    reached = {finding.limit.name for finding in findings if finding.limit is not None}
    reasons += [
        f"the limit on {name} was not checked: nothing of that name was measured"
        for name in limits
        if name not in reached
    ]
    return list(dict.fromkeys(reasons))


def _by_reason(findings: Sequence[Finding]) -> list[tuple[str, str | None]]:
    """Put together what one cause took along; name the first, and how many more."""
    found: dict[str | None, list[str]] = {}
    for finding in findings:
        found.setdefault(finding.reason, []).append(finding.title)
    return [
        (f"{titles[0]} and {len(titles) - 1} more" if len(titles) > 1 else titles[0], reason)
        for reason, titles in found.items()
    ]
