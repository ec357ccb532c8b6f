"""Checks an audit's limits on its findings; what was not measured never counts as passed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from indiff.audit.metrics import METRICS, number
from indiff.audit.plan.limits import PLANES
from indiff.audit.verdict import NO_LIMIT, Check, Exit, Verdict, beyond_reach, whom
from indiff.report.finding import Finding, Limit

# A number of this exactness can exceed a limit but never prove that it holds.
_NO_PROOF = {
    "lower-bound": "a lower bound: not every record was tested",
    "approximation": "an approximation, which proves nothing if small",
}


def judge(
    findings: Sequence[Finding],
    limits: Mapping[str, float],
    *,
    interrupted: bool = False,
    unfinished: Sequence[str] = (),
    broken: Sequence[str] = (),
) -> tuple[tuple[Finding, ...], Verdict]:
    """Check every limit on every finding that it names; return them with the outcome.

    An estimate is checked at the worse end of its interval, and a lower bound below the limit is
    no pass. A failed finding, or a limit on something that was not measured, leaves the audit
    incomplete, as does a measurement that was ``unfinished``. A release of which something
    ``broken`` is known never passes, such as that it does not keep its own promise.
    """
    checked = tuple(_checked(finding, limits) for finding in findings)
    exceeded = [finding for finding in checked if finding.exceeded]
    gaps = [*unfinished, *_gaps(checked, limits)]
    reasons = [*broken]
    reasons += [_beyond(finding) for finding in exceeded]
    if interrupted:
        reasons.append("the audit was interrupted; what was measured so far is kept")
    reasons += gaps
    if exceeded or broken:
        code = Exit.EXCEEDED
    elif interrupted or gaps:
        code = Exit.INTERRUPTED if interrupted else Exit.INCOMPLETE
    else:
        code = Exit.NOTHING_EXCEEDED
        tested = [one.parameters.get("model") for one in checked if one.metric == "delta"]
        models = dict.fromkeys(name for name in tested if name is not None)
        reasons.append(f"every limit holds{whom(models)}" if limits else NO_LIMIT)
    return checked, Verdict(code, tuple(reasons), has_limits=bool(limits))


def _checked(finding: Finding, limits: Mapping[str, float]) -> Finding:
    limit = _limit_on(finding.metric, finding.about, limits)
    if limit is None or finding.value is None:
        return replace(finding, limit=limit)
    check = Check(limit.name, _worst(finding, limit), limit.value, limit.rule)
    unproven = finding.exactness in _NO_PROOF or _lacks_interval(finding)
    exceeded = check.exceeded or (None if unproven else False)
    means = f"{finding.means.removesuffix('.')}; {_allowed(finding, limit, check)}."
    return replace(finding, limit=limit, exceeded=exceeded, means=means)


def _allowed(finding: Finding, limit: Limit, check: Check) -> str:
    """Say what the limit is, and what of the finding counts where that is not the number itself."""
    asked = "you asked for at least" if limit.rule == "at least" else "you allowed at most"
    if check.value != finding.value:
        end = f"the worse end of its interval, {number(check.value)}, counts"
        return f"{asked} {number(limit.value)}, and {end}"
    shown = number(check.value)
    if check.exceeded and shown == number(limit.value):
        shown = f"{check.value!r}"  # two numbers that look alike would not explain themselves
    said = re.search(rf"(?<![\d.,]){re.escape(shown)}(?!%|[.,]?\d)", finding.means)
    return f"{'' if said else f'as a number it is {shown}, and '}{asked} {number(limit.value)}"


def _limit_on(metric: str, about: str | None, limits: Mapping[str, float]) -> Limit | None:
    """Return the narrowest limit on a metric of an attribute, with its direction.

    >>> _limit_on("inference.itpr", "ill", {"itpr": 0.9, "inference.ill.itpr": 0.5})
    Limit(name='inference.ill.itpr', rule='at most', value=0.5)
    """
    plane, _, what = metric.partition(".")
    names = [f"{plane}.{about}.{what}", metric, what] if plane in PLANES else [metric]
    name = next((one for one in names if one in limits), None)
    return None if name is None else Limit(name, METRICS[metric].rule, limits[name])


def _lacks_interval(finding: Finding) -> bool:
    """Tell whether a number is an estimate of which nobody knows how far off it may be."""
    return finding.exactness == "estimate" and finding.interval is None


def _worst(finding: Finding, limit: Limit) -> float:
    """Return the number, or the worse end of an estimate."""
    assert finding.value is not None
    if finding.interval is None:
        return finding.value
    return finding.interval[0 if limit.rule == "at least" else 1]


def _beyond(finding: Finding) -> str:
    limit = finding.limit
    assert limit is not None
    side = "below" if limit.rule == "at least" else "above"
    worst = _worst(finding, limit)
    verb = "is" if finding.interval is None else "may be"
    # Two numbers that look alike would not explain themselves.
    shown = number(worst) if number(worst) != number(limit.value) else f"{worst!r}"
    return f"{finding.title} {verb} {shown}, {side} the limit {number(limit.value)}"


def _gaps(findings: Sequence[Finding], limits: Mapping[str, float]) -> list[str]:
    """Say what keeps the findings from being a pass."""
    failed = [finding for finding in findings if finding.status == "failed"]
    reasons = [f"{titles} could not be measured: {why}" for titles, why in _by_reason(failed)]
    skipped = [finding for finding in findings if finding.status == "skipped" and finding.limit]
    reasons += [
        f"no limit on {titles} could be checked: {why}" for titles, why in _by_reason(skipped)
    ]
    unproven = [one for one in findings if one.limit and one.exactness in _NO_PROOF]
    for titles, why in _by_reason(unproven, lambda one: _NO_PROOF[str(one.exactness)]):
        reasons.append(f"{titles} {'are' if ' more' in titles else 'is'} {why}")
    reached = set()
    for finding in findings:
        if finding.limit is None:
            continue
        reached.add(finding.limit.name)
        if finding.range is not None and finding.range[1] is not None:
            reasons += beyond_reach(finding.title, finding.limit.value, finding.range[1])
        if _lacks_interval(finding):
            reasons.append(f"{finding.title} is an estimate without an interval: no pass")
    reasons += [
        f"the limit on {name} was not checked: nothing of that name was measured"
        for name in limits
        if name not in reached
    ]
    return list(dict.fromkeys(reasons))


def _by_reason(
    findings: Sequence[Finding], reason: Callable[[Finding], str | None] = lambda one: one.reason
) -> list[tuple[str, str | None]]:
    """Put together what one cause took along; name the first, and how many more."""
    found: dict[str | None, list[str]] = {}
    for finding in findings:
        found.setdefault(reason(finding), []).append(finding.title)
    return [
        (f"{titles[0]} and {len(titles) - 1} more" if len(titles) > 1 else titles[0], reason)
        for reason, titles in found.items()
    ]
