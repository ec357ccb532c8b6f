"""``indiff audit --fix``: remove outliers first, then audit what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.audit.plan import parsing
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.audit.fix import Fix
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table

EXCEEDED, INTERRUPTED = 1, 130


@dataclass(frozen=True)
class Wanted:
    """A limit on δ to reach, and the most records to remove on the way."""

    delta: float
    budget: float | None


def wanted(fix: str | None, budget: float | None) -> Wanted | None:
    """Read ``--fix delta=0.1`` and ``--budget``."""
    if fix is None:
        if budget is not None:
            raise UserError("--budget is the most records that --fix may remove; add --fix.")
        return None
    return Wanted(parsing.limits([fix], ["delta"])["delta"], budget)


def with_limit(plan: Plan, asked: Wanted) -> Plan:
    """Return the plan with the limit that the fix must reach among its own."""
    from indiff.audit.plan.plan import Plan

    if plan.release.file is not None:
        raise UserError("--fix sanitizes again and again; a release made elsewhere cannot be.")
    for name, wrong in {
        "individual": plan.data.individual is not None,
        "targets": plan.adversary.targets is not None,
        "method": plan.adversary.method != "auto",
        "time": plan.run.time is not None,
    }.items():
        if wrong:
            raise UserError(
                "--fix tests every record, row by row, as often as it takes", name, "Leave it out"
            )
    sections = plan.model_dump()
    sections["limits"]["delta"] = min(asked.delta, plan.limits.get("delta", asked.delta))
    return Plan(**sections)


def check_places(out: Path, inputs: list[Path]) -> None:
    """Refuse a folder in which a file of the fix would overwrite an input."""
    from indiff.audit.fix import NAMES
    from indiff.files import refuse_inputs

    refuse_inputs("fix", out, NAMES, inputs)


def fix_table(
    plan: Plan, asked: Wanted, progress: Callable[[str, int, int], object] | None
) -> tuple[Fix, Table]:
    """Remove outliers as the plan's adversary sees them; return the outcome and what is left."""
    import numpy as np

    from indiff.audit.fix import fix
    from indiff.audit.run import read_data

    table = read_data(plan)
    models: Any = plan.adversary.models
    found = fix(
        table,
        plan.release.sanitizer,
        delta=asked.delta,
        budget=asked.budget,
        model=models if len(models) > 1 else models[0],
        distance=plan.adversary.distance,
        prior=plan.adversary.prior,
        known=plan.adversary.known,
        task=plan.report.task,
        runs=plan.adversary.runs,
        confidence=plan.adversary.confidence,
        jobs=plan.run.jobs,
        seed=plan.run.seed,
        progress=progress,
    )
    if not found.holds:
        return found, table
    left = table.take(np.flatnonzero(~np.isin(table.records, found.removed)))
    note = f"{len(found.removed):,} outliers were removed from the original before sanitizing"
    return found, replace(left, notes=(*left.notes, note))


def exit_code(found: Fix, verdict: int) -> int:
    """Return how the run ended: a fix that did not reach its limit is never a pass."""
    if found.holds:
        return verdict
    return INTERRUPTED if found.status == "interrupted" else EXCEEDED
