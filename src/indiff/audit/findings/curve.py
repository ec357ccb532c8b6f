"""Tests other values of a parameter of the sanitizer: δ and the mean against it."""

from __future__ import annotations

from typing import Any

from indiff.audit.findings.exposure import settings
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.settings import expand
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.errors import UserError


def parameter_curve(table: Table, plan: Plan, redaction: Redaction) -> dict[str, Any] | None:
    """Test each setting of the plan's curve with the first adversary on the first attribute.

    A setting that cannot be tested has no numbers and says why; an interruption ends the curve.
    """
    if plan.report.parameter is None:
        return None
    points: list[dict[str, Any]] = []
    chosen = expand(plan.report.parameter)
    model = plan.adversary.models[0]
    for setting in chosen:
        point: dict[str, Any] = {"setting": setting.text, "value": setting.value}
        try:
            result = differential_test(table, setting.text, model=model, **settings(plan))
        except UserError as error:
            told = redaction.text(error.message)
            points.append({**point, "delta": None, "mean": None, "reason": told})
            continue
        reason = None if result.complete else "not every record was measured"
        points.append({**point, "delta": result.delta, "mean": result.mean, "reason": reason})
        if result.interrupted:
            break
    return {"parameter": chosen[0].parameter, "points": points}
