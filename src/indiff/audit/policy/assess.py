"""Tells of every part of a policy whether it is met, and what that means for the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indiff.audit.findings.release import Subject
from indiff.audit.metrics import METRICS, number
from indiff.audit.plan.limits import BOTH, is_stricter, narrowest
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.policies import CHANCES, Point, Policy, PolicyLimit
from indiff.audit.policy.scan import Scan, Status
from indiff.audit.verdict import Exit, Verdict, incomplete, judge, rule_of
from indiff.release.unmeasured import Unmeasured
from indiff.report.finding import Finding
from indiff.report.sheet import called

_STATUS: dict[str, Status] = {"pass": "passed", "fail": "failed", "incomplete": "incomplete"}
_RANK: tuple[Status, ...] = ("failed", "incomplete", "passed")
_UPPER_END = (
    "measured in the table; where each row is a person, the risk in the population that it was "
    "drawn from is no larger"
)
_MAY_BE_LESS = "measured in the table; in the population it may be less, which was not measured"
_MOST = 3  # open points that the verdict names


@dataclass(frozen=True)
class Assessment:
    """What a policy is judged by: the plan, the findings with every limit that counts, the columns.

    ``columns`` are those of the release of which nothing was measured.
    """

    policy: Policy
    plan: Plan
    findings: Sequence[Finding]
    columns: Sequence[Unmeasured]
    scan: Scan

    def to_dict(self) -> dict[str, Any]:
        """Return the policy's part of the document."""
        return policy_block(
            self.policy,
            [self._limit(one) for one in self.policy.limits],
            [self._point(one) for one in self.policy.checklist],
        )

    def beside(self, verdict: Verdict, block: Mapping[str, Any]) -> Verdict:
        """Return the verdict with the policy's: what it forbids fails, what is open is no pass.

        Its limits are among those that the verdict was made of, and so are the numbers of its
        checklist; here the rest of that counts.
        """
        name, points, status = self.policy.name, block["checklist"], block["status"]
        code, reasons = verdict.exit_code, list(verdict.reasons)
        # That every limit is kept, or that there is none, is no reason for what follows.
        if code == Exit.NOTHING_EXCEEDED and (status != "passed" or not verdict.has_limits):
            reasons = []
        reasons += [
            f"{name} is not met: {one['item']}: {one['evidence']}"
            for one, point in zip(points, self.policy.checklist, strict=True)
            if one["status"] == "failed" and not point.metrics
        ]
        told = [
            f"{name} is open: {one['item']}: {one['evidence']}"
            for one in points
            if one["status"] == "incomplete"
        ]
        reasons += told[:_MOST]
        if more := len(told[_MOST:]):
            reasons.append(f"{name} is open on {more} more of its {len(points)} points")
        for metric, limit in self.policy.limits_for(self.plan.context.release_model).items():
            counts = which_counts(metric, limit, self.plan.limits)
            reasons += [f"{name}, {metric}: {text}" for text in counts]
        if status == "passed":  # which is no reason for any other verdict than a pass
            reasons += [f"every part of {name} is met"] * (code == Exit.NOTHING_EXCEEDED)
        elif any(one["status"] == "failed" for one in points):
            code = Exit.EXCEEDED
        elif code == Exit.NOTHING_EXCEEDED:
            code = Exit.INCOMPLETE
        return replace(verdict, exit_code=code, reasons=tuple(reasons), has_limits=True)

    def _limit(self, one: PolicyLimit) -> dict[str, Any]:
        name, model = one.metric, self.plan.context.release_model
        own = [finding for finding in self.findings if _is_of(finding, name)]
        checked, verdict = judge(own, {name: self.policy.threshold(one, model)})
        status, reasons = _STATUS[verdict.status], [*verdict.reasons]
        worst = _worst(checked, name)
        if status == "passed" and self.columns:
            status = "incomplete"
            reasons = ["the release has columns of which nothing was measured"]
        elif status == "passed":
            reasons = []
        return limit_block(
            self.policy,
            one,
            model,
            self.plan.limits,
            status=status,
            reasons=reasons,
            value=None if worst is None else worst.value,
            finding=None if worst is None else worst.id,
        )

    def _point(self, point: Point) -> dict[str, Any]:
        if point.scan is not None:
            status, evidence = self.scan(point.scan)
            if status == "incomplete" and point.scan in self.plan.context.confirmed:
                status, evidence = "passed", f"{evidence}; {self._by} has vouched for it"
        elif point.confirm is not None:
            status, evidence = self._confirmed(point.confirm)
        elif point.metrics:
            status, evidence = self._within_limits(point.metrics)
        else:
            status, evidence = self._written_down(point.context)
        return {"item": point.item, "status": status, "evidence": evidence}

    def _confirmed(self, name: str) -> tuple[Status, str]:
        if name in self.plan.context.confirmed:
            return "passed", f"no program can check it; {self._by} has vouched for it"
        return "incomplete", f"no program can check it; if it is so, confirm {name!r} in the plan"

    @property
    def _by(self) -> str:
        return str(self.plan.context.voucher)

    def _written_down(self, names: Sequence[str]) -> tuple[Status, str]:
        said = self.plan.context.to_dict()
        missing = [called(name) for name in names if not said[name]]
        if missing:
            return "incomplete", f"the plan's context does not say: {', '.join(missing)}"
        return "passed", "written down in the context"

    def _within_limits(self, names: Sequence[str]) -> tuple[Status, str]:
        own = [one for one in self.findings if any(_is_of(one, name) for name in names)]
        limited = [one for one in own if one.limit is not None]
        shown = [found for name in names if (found := _worst(own, name)) is not None]
        told = "; ".join(
            f"{one.title}: {'not measured' if one.value is None else number(one.value)}"
            for one in shown
        )
        if any(one.exceeded for one in limited):
            return "failed", told
        if not own or any(one.value is None for one in own):
            return "incomplete", told or "not measured"
        if not limited:
            return "incomplete", f"{told}; without a limit on {' or '.join(names)} nothing is kept"
        if any(one.exceeded is None for one in limited):
            return "incomplete", f"{told}; not proven"
        return "passed", f"{told}; the limit is kept"


def policy_block(
    policy: Policy, limits: list[dict[str, Any]], checklist: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what a document says of a policy: as a whole it is no better than its worst part."""
    found = [one["status"] for one in (*limits, *checklist)]
    return {
        "name": policy.name,
        "title": policy.title,
        "source": policy.source,
        "verified": policy.verified,
        "note": policy.note or None,
        "pr_attack": policy.pr_attack,
        "status": min(found, key=_RANK.index),
        "limits": limits,
        "checklist": checklist,
        "crosswalk": [one.model_dump() for one in policy.crosswalk],
    }


def limit_block(
    policy: Policy,
    one: PolicyLimit,
    model: str | None,
    own: Mapping[str, float],
    *,
    status: Status,
    reasons: Sequence[str],
    value: float | None = None,
    finding: str | None = None,
) -> dict[str, Any]:
    """Return what a document says of one limit, where ``value`` is what was measured for it.

    ``own`` are the limits of whoever asks, ``reasons`` why the limit does not hold.
    """
    name, told = one.metric, [*reasons]
    if one.scope == "population" and status != "incomplete":
        told.append(_UPPER_END if status == "passed" else _MAY_BE_LESS)
    attack = policy.attack(model) if name in CHANCES else 1.0
    if attack < 1:
        told.append(f"times the chance of an attack, {number(attack)}")
    elif name in CHANCES and (policy.pr_attack or 1.0) < 1:
        told.append("unless the release is controlled or internal, an attack is certain")
    measured = None if value is None else value * attack
    if one.cell is not None:
        told.append(f"the source takes groups of {one.cell} for {number(one.limit)}")
    told += which_counts(name, policy.threshold(one, model), own)
    return {
        "name": name,
        "label": one.label,
        "kind": one.kind,
        "scope": one.scope,
        "rule": rule_of(name),
        "limit": one.limit,
        "measured": measured,
        "finding": finding,
        "source": (one.source or policy.source) + _of_cell(one.cell),
        "status": status,
        "reason": "; ".join(told) or None,
    }


def _of_cell(cell: int | None) -> str:
    """Say which group size a source takes for its limit, and what chance that is."""
    return "" if cell is None else f": groups of at least {cell}, a chance of {number(1 / cell)}"


def which_counts(name: str, threshold: float, limits: Mapping[str, float]) -> list[str]:
    """Say whose limit counts where a policy and somebody's own ``limits`` are on one number.

    >>> which_counts("k", 11, {"k": 5, "delta": 0.1})
    ['it is stricter than your own limit, 5, and counts instead']
    """
    own = narrowest(name, limits)
    if own is None or own == threshold:
        return []
    if is_stricter(name, own, threshold):
        return [f"your own limit, {number(own)}, is stricter and counts"]
    return [f"it is stricter than your own limit, {number(own)}, and counts instead"]


def _is_of(finding: Finding, name: str) -> bool:
    """Tell whether a limit of this name is on the finding."""
    names = [metric for metric in METRICS if metric.endswith(f".{name}")] if name in BOTH else []
    return finding.metric in (name, *names)


def _worst(findings: Sequence[Finding], name: str) -> Finding | None:
    """Return the finding of a number that is furthest from good; one not measured comes first."""
    own = [finding for finding in findings if _is_of(finding, name)]
    sign = -1 if rule_of(name) == "at least" else 1
    return max(
        own,
        key=lambda one: (one.value is None, 0 if one.value is None else sign * one.value),
        default=None,
    )


def judge_policy(
    verdict: Verdict,
    policy: Policy,
    plan: Plan,
    findings: Sequence[Finding],
    columns: Sequence[Unmeasured],
    subjects: Sequence[Subject],
) -> tuple[Verdict, dict[str, Any]]:
    """Return the verdict beside the plan's policy, and what the document says of the policy."""
    judged = Assessment(policy, plan, findings, columns, Scan(subjects, columns))
    block = judged.to_dict()
    return judged.beside(verdict, block), block


def unjudged(verdict: Verdict, reason: str) -> tuple[Verdict, None]:
    """Return the verdict beside a policy that could not be judged: it is no pass."""
    return incomplete(verdict, f"the policy could not be judged: {reason}"), None
