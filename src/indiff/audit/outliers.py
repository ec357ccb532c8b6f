"""Removes the outliers that a plan's adversary sees, so that what is left can be audited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indiff.audit.document import AuditResult
from indiff.audit.findings.exposure import Progress
from indiff.audit.fix import Fix, fix
from indiff.audit.plan.plan import Plan
from indiff.audit.provenance import input_files
from indiff.audit.run import read_data, run_audit
from indiff.data.table import Table


def without_outliers(
    plan: Plan, delta: float, budget: float | None, progress: Progress | None
) -> tuple[Fix, Table]:
    """Remove outliers as the plan's adversary sees them; return the outcome and what is left."""
    table = read_data(plan)
    models: Any = plan.adversary.models
    found = fix(
        table,
        plan.release.sanitizer,
        delta=delta,
        budget=budget,
        model=models if len(models) > 1 else models[0],
        task=plan.report.task,
        progress=progress,
        **plan.settings,
    )
    if not found.holds:
        return found, table
    left = table.take(np.flatnonzero(~np.isin(table.records, found.removed)))
    gone = len(found.removed)
    told = "1 outlier was" if gone == 1 else f"{gone:,} outliers were"
    note = f"{told} removed from the original before sanitizing"
    return found, replace(left, notes=(*left.notes, note))


def audit_rest(plan: Plan, found: Fix, table: Table, **how: Any) -> AuditResult:
    """Audit what outliers were removed from; its document says so, and who asks can do it again.

    ``how`` goes to :func:`run_audit`. Which records were removed, the document does not say.
    """
    result = run_audit(plan, table, **how)
    result.document["files"]["input"] = input_files(
        plan, None, how.get("plan_file")
    )  # from which the others come
    result.document["fix"] = {
        "delta": found.limit,
        "budget": found.budget,
        "status": found.status,
        "removed": len(found.removed) if found.holds else 0,
    }
    return result
