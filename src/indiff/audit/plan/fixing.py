"""Checks whether outliers can be removed as a plan asks, and adds the limit to be reached."""

from __future__ import annotations

from indiff.audit.plan.plan import Plan
from indiff.errors import UserError, option


def with_limit(plan: Plan, delta: float) -> Plan:
    """Return the plan with the limit that removing outliers must reach among its own."""
    if plan.release.file is not None:
        raise UserError(
            "removing outliers sanitizes again and again; a release made elsewhere cannot be.",
            field="fix",
        )
    for name, wrong in {
        "individual": plan.data.individual is not None,
        "targets": plan.adversary.targets is not None,
        "method": plan.adversary.method != "auto",
        "time": plan.run.time is not None,
    }.items():
        if wrong:
            raise UserError(
                "removing outliers tests every record, row by row, as often as it takes",
                option(name), "Leave it out", field=name,
            )  # fmt: skip
    sections = plan.model_dump()
    sections["limits"]["delta"] = min(delta, plan.limits.get("delta", delta))
    return Plan(**sections)
