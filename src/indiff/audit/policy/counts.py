"""Takes from a policy what counts alone can answer, for ``indiff risk``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from indiff.audit.plan.limits import GROUP_MODELS, INFORMATION, PLANES, SIZES, with_stricter
from indiff.audit.plan.policies import Policy
from indiff.audit.policy.assess import which_counts
from indiff.audit.verdict import Exit, Verdict


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
            f"{name} limits {metric}, which counts do not tell: run indiff audit"
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


def _is_counted(name: str) -> bool:
    plane, _, what = name.partition(".")
    return name in (*SIZES, *GROUP_MODELS) or (plane in PLANES and what in INFORMATION)
