"""What a release is still good for, as findings."""

from __future__ import annotations

from typing import Any

from indiff.audit.finding import Finding
from indiff.audit.metrics import metric, percent
from indiff.audit.naming import spoken
from indiff.audit.plan import Plan
from indiff.errors import UserError
from indiff.release import Release
from indiff.table import Table
from indiff.utility import Utility, measure

_NAMES = ("ncp", "discernibility", "average_group", "accuracy")


def utility_findings(
    table: Table, release: Release | None, plan: Plan, *, reason: str | None, suffix: str
) -> list[Finding]:
    """Return what the release loses, and what an analyst keeps on his task.

    ``reason`` says why there is nothing to measure; ``suffix`` tells the releases of several
    sensitive attributes apart.
    """
    task = plan.report.task or table.sensitive.name
    words: dict[str, Any] = {"task": spoken(task)}
    if release is None or reason is not None:
        return [
            metric(name, **words).missed(f"{name}{suffix}", "skipped", str(reason))
            for name in _NAMES
        ]
    sanitizer = None if plan.release.file is not None else plan.release.sanitizer
    try:
        found = measure(
            table, release, sanitizer=sanitizer, task=plan.report.task, seed=plan.run.seed
        )
    except UserError as error:
        return [
            metric(name, **words).missed(f"{name}{suffix}", "failed", str(error)) for name in _NAMES
        ]
    return [_finding(name, found, plan, words, suffix) for name in _NAMES]


def _finding(name: str, found: Utility, plan: Plan, words: dict[str, Any], suffix: str) -> Finding:
    chosen, value = metric(name, **words), getattr(found, name)
    if value is None:
        reason = found.missing.get(name, "it has no meaning for this release")
        return chosen.missed(f"{name}{suffix}", "skipped", reason)
    if name != "accuracy":
        return chosen.found(f"{name}{suffix}", value, exactness="exact")
    original, majority = found.accuracy_original, found.accuracy_majority
    told = {
        "original": "unknown" if original is None else percent(original),
        "majority": "unknown" if majority is None else percent(majority),
    }
    return chosen.found(
        f"{name}{suffix}",
        value,
        words | told,
        before=original,
        exactness="estimate",
        seed=plan.run.seed,
        parameters={"task": found.task, "model": found.model, "majority": majority},
    )
