"""Takes from a policy what counts alone can answer, for ``indiff risk``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indiff.audit.plan.limits import GROUP_MODELS, INFORMATION, PLANES, SIZES, with_stricter
from indiff.audit.plan.policies import Policy, PolicyLimit
from indiff.audit.policy.assess import limit_block, policy_block, which_counts
from indiff.audit.verdict import Check, Exit, Verdict, rule_of

_UNTOLD = "counts do not tell: run indiff audit"


@dataclass(frozen=True)
class CountedPolicy:
    """A policy beside limits of one's own, as far as counts of records tell.

    Nothing is known of the release here: an attack is taken for certain, and a checklist is open.
    """

    policy: Policy
    own: Mapping[str, float]

    @property
    def limits(self) -> dict[str, float]:
        """The limits that can be checked, with one's own; of two on a number the stricter."""
        asked = self.policy.limits_for(None)
        return with_stricter(self.own, {x: y for x, y in asked.items() if _is_counted(x)})

    def judged(self, verdict: Verdict) -> Verdict:
        """Return the verdict with what of the policy stays open, which is no pass."""
        name, asked = self.policy.name, self.policy.limits_for(None)
        told = [
            f"{name}, {metric}: {text}"
            for metric, limit in asked.items()
            for text in which_counts(metric, limit, self.own)
        ]
        open_ones = [
            f"{name} limits {metric}, which {_UNTOLD}"
            for metric in asked
            if not _is_counted(metric)
        ]
        if points := len(self.policy.checklist):
            open_ones.append(f"{name} has {points} points to check: run indiff audit")
        code, reasons = verdict.exit_code, verdict.reasons
        if open_ones and code == Exit.NOTHING_EXCEEDED:
            code, reasons = Exit.INCOMPLETE, ()
        return replace(
            verdict, exit_code=code, reasons=(*reasons, *open_ones, *told), has_limits=True
        )

    def block(self, checks: Sequence[Check]) -> dict[str, Any]:
        """Return what a document says of the policy, as that of an audit does."""
        return policy_block(
            self.policy,
            [self._limit(one, checks) for one in self.policy.limits],
            [
                {"item": one.item, "status": "incomplete", "evidence": _UNTOLD}
                for one in self.policy.checklist
            ],
        )

    def _limit(self, one: PolicyLimit, checks: Sequence[Check]) -> dict[str, Any]:
        """Check one limit alone: where one's own is stricter, the verdict checked that."""
        found = [
            replace(check, limit=self.policy.threshold(one, None))
            for check in checks
            if one.metric in (check.name, _of_any(check.name))
        ]
        if not found:
            return limit_block(
                self.policy, one, None, self.own, status="incomplete", reasons=[_UNTOLD]
            )
        sign = -1 if rule_of(one.metric) == "at least" else 1
        worst = max(found, key=lambda check: (math.isnan(check.value), sign * check.value))
        return limit_block(
            self.policy,
            one,
            None,
            self.own,
            status="failed" if worst.exceeded else "passed",
            reasons=[str(check) for check in found if check.exceeded],
            value=worst.value,
        )


def _of_any(name: str) -> str:
    """Return a limit's name without its sensitive attribute.

    >>> _of_any("inference.ill.itpr"), _of_any("k")
    ('inference.itpr', 'k')
    """
    plane, _, rest = name.partition(".")
    return f"inference.{rest.rpartition('.')[2]}" if plane == "inference" else name


def _is_counted(name: str) -> bool:
    plane, _, what = name.partition(".")
    return name in (*SIZES, *GROUP_MODELS) or (plane in PLANES and what in INFORMATION)
