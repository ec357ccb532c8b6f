"""Removes the outliers that a plan's adversary sees, so that what is left can be audited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indiff.audit.findings.exposure import Progress
from indiff.audit.fix import Fix, fix
from indiff.audit.plan.plan import Plan
from indiff.audit.run import read_data
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
    note = f"{len(found.removed):,} outliers were removed from the original before sanitizing"
    return found, replace(left, notes=(*left.notes, note))
