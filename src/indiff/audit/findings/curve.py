"""Tests other settings of the sanitizer, for δ against a parameter."""

from __future__ import annotations

import time
from typing import Any

from indiff.audit.findings.exposure import Progress, adversaries_of, settings
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.settings import expand
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.people import as_deadline
from indiff.errors import UserError
from indiff.sanitizers.sanitizer import as_sanitizer

NOTHING = {"delta": None, "mean": None, "delta_upper": None, "mean_upper": None, "exactness": None}
TIME_IS_UP = "the time was up before this setting"


def parameter_curve(
    table: Table, plan: Plan, redaction: Redaction, say: Progress
) -> dict[str, Any] | None:
    """Test each setting of the plan's curve with the plan's adversaries on the first attribute.

    A setting that cannot be tested has no numbers and says why; an interruption ends the curve.
    All settings together have the plan's ``time``, as the test has.
    """
    if plan.report.parameter is None:
        return None
    points: list[dict[str, Any]] = []
    chosen = expand(plan.report.parameter)
    deadline = as_deadline(plan.run.time)
    for place, setting in enumerate(chosen):
        stage = f"testing other parameters: {setting.text}, {place + 1} of {len(chosen)}"
        say(stage, 0, 0)
        point: dict[str, Any] = {
            "setting": setting.text,
            "value": setting.value,
            **NOTHING,
            "models": [],
        }
        if deadline is not None and deadline.moment <= time.monotonic():
            points.append({**point, "reason": TIME_IS_UP})
            continue
        try:
            made = as_sanitizer(setting.text)
            adversaries = adversaries_of(plan, made, table, share=len(chosen))
            options = settings(plan, 1) | {
                "time": deadline,
                "progress": lambda done, total, stage=stage: say(stage, done, total),
            }
            result = differential_test(table, made, model=adversaries.models, **options)
        except UserError as error:
            points.append({**point, "reason": redaction.text(error.message)})
            continue
        points.append(
            point
            | {name: getattr(result, name) for name in NOTHING}
            | {"models": list(adversaries.named)}
            | {"reason": None if result.complete else "not every record was measured"}
        )
        if result.interrupted:
            break
    return {"parameter": chosen[0].parameter, "points": points}
