"""Measures what a release is still good for."""

from __future__ import annotations

from typing import Any, Literal

from indiff.audit.metrics import metric, percent
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.report.finding import Finding
from indiff.text import name as short_name
from indiff.utility import Analyst, Utility, measure

_NAMES = ("ncp", "discernibility", "average_group", "accuracy")


def no_utility(
    table: Table, plan: Plan, status: Literal["failed", "skipped"], reason: str, suffix: str
) -> list[Finding]:
    """Return the findings of utility that could not be measured."""
    words = _words(table, plan)
    return [metric(name, **words).missed(f"{name}{suffix}", status, reason) for name in _NAMES]


def _words(table: Table, plan: Plan) -> dict[str, Any]:
    return {"task": short_name(plan.report.task or table.sensitive.name)}


def utility_findings(table: Table, release: Release, plan: Plan, *, suffix: str) -> list[Finding]:
    """Return what the release loses, and what an analyst keeps on his task.

    ``suffix`` tells the releases of several sensitive attributes apart.
    """
    words = _words(table, plan)
    sanitizer = None if plan.release.file is not None else plan.release.sanitizer
    analyst, no_analyst = _analyst(table, plan)
    if analyst is None:
        sanitizer = None
    found = measure(table, release, sanitizer=sanitizer, analyst=analyst, seed=plan.run.seed)
    findings = [_finding(name, found, plan, words, suffix) for name in _NAMES]
    if no_analyst is not None:
        # What somebody asked for and did not get has failed; by default there may be none.
        status: Literal["failed", "skipped"] = "skipped" if plan.report.task is None else "failed"
        lost = metric("accuracy", **words).missed(f"accuracy{suffix}", status, no_analyst)
        findings[_NAMES.index("accuracy")] = lost
    return findings


def _analyst(table: Table, plan: Plan) -> tuple[Analyst | None, str | None]:
    """Return the analyst of a release that can be made again, or why there can be none."""
    if plan.release.file is not None:
        return None, None
    try:
        return Analyst(table, task=plan.report.task, seed=plan.run.seed), None
    except UserError as error:
        return None, str(error)


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
