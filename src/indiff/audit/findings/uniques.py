"""Measures whom named columns, few columns, or several tables only after a join single out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from indiff.audit.findings.release import Subject
from indiff.audit.metrics import METRICS, percent
from indiff.audit.plan.limits import FEW_COLUMNS
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.report.finding import Finding
from indiff.risk import Risk, measure_risk
from indiff.risk.identifying.after_join import count_unique, unique_after_join
from indiff.risk.identifying.keys import read_keys
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.sanitizer import Identity, Sanitizer

_OF_PEOPLE = "records are counted, and people are told by {!r}; leave individual out to count rows"
_WEIGHTED = "this release has weighted rows (noisy counts), which stand for no record"


def check_keys(plan: Plan, table: Table) -> None:
    """Refuse a key that names a column which is no quasi-identifier of the table."""
    read_keys(plan.adversary.keys, [one.name for one in table.attributes])


def unique_findings(
    subjects: Sequence[Subject], plan: Plan, sanitizer: Sanitizer | None = None
) -> list[Finding]:
    """Return what was asked for of every release, before and after; nothing where nothing was."""
    found = []
    for subject in subjects:
        found += subject.titled([*_findings(subject, plan), *_after_join(subject, sanitizer)])
    return found


def _after_join(subject: Subject, sanitizer: Sanitizer | None) -> list[Finding]:
    """Return the people whom no table of several singles out but their join; in what is released.

    Whose a released row is, is known where it was made here, row by row.
    """
    table, release, joined = subject.table, subject.release, subject.table.joined
    if joined is None:
        return []
    name, original = "joined.only", unique_after_join(table)
    share = original.only_by_one_row / original.people
    more: dict[str, Any] = {"before": share, "parameters": {"original": original.to_dict()}}
    id, reason = f"{name}{subject.suffix}", subject.why_not
    if release is not None and release.weights is not None:
        reason = _WEIGHTED
    elif release is not None and (
        sanitizer is None or isinstance(sanitizer, BlackBox) or len(release) != len(table)
    ):
        reason = (
            "nobody knows whose the rows of this release are: it was made elsewhere, or drops some"
        )
    if reason is not None or release is None:
        return [METRICS[name].missed(id, "failed", str(reason), **more)]
    view = replace(joined, rows=joined.rows[:, table.records])
    found = count_unique(view, release.told_apart())
    more["parameters"]["released"] = found.to_dict()
    words = {
        "tables": " and ".join(joined.names), "before": percent(share),
        "all": percent(original.only_by_all_rows / original.people),
    }  # fmt: skip
    value = found.only_by_one_row / found.people
    return [METRICS[name].found(id, value, words, exactness="exact", **more)]


def joined_notes(findings: Sequence[Finding]) -> list[str]:
    """Say how many people each of several tables singles out, and their join."""
    for one in findings:
        if one.metric == "joined.only":
            told = one.parameters["original"]
            known = {"one row": "by_one_row", "all rows": "by_all_rows"}
            each = [
                f"{name} {', '.join(f'{own[key]:,} by {how}' for how, key in known.items())}"
                for name, own in told["tables"].items()
            ]
            joined = ", ".join(
                f"{told[key]:,} by {how} ({told[f'only_{key}']:,} of them only so)"
                for how, key in known.items()
            )
            return [
                f"of {told['people']:,} people the original columns single out: {'; '.join(each)}; "
                f"joined {joined}"
            ]
    return []


def _findings(subject: Subject, plan: Plan) -> list[Finding]:
    asked = {"keys": plan.adversary.keys, "special": plan.adversary.special}
    names = [name for name, option in FEW_COLUMNS.items() if asked[option]]
    if not names:
        return []
    before, _ = _measured(Identity().sanitize(subject.table), plan)
    after, reason = None, subject.why_not
    if subject.release is not None:
        after, reason = _measured(subject.release, plan)
    found = []
    for name in names:
        id = f"{name}{subject.suffix}"
        more: dict[str, Any] = {"before": None if before is None else before.value_of(name)}
        if after is None:
            found.append(METRICS[name].missed(id, "failed", str(reason), **more))
            continue
        words = {}
        if after.special is not None and name.startswith("special."):
            words = {"size": f"{after.special.size}", "sampling": percent(after.special.sampling)}
            more["parameters"] = {"size": after.special.size, "sampling": after.special.sampling}
        else:
            more["parameters"] = {"keys": [" + ".join(one.columns) for one in after.keys]}
        value = after.value_of(name)
        # No score is counted; how likely a match is right is a guess at the population.
        sure = "estimate" if name == "special.dis" and value else "exact"
        found.append(METRICS[name].found(id, value, words, exactness=sure, **more))
    return found


def _measured(release: Release, plan: Plan) -> tuple[Risk | None, str | None]:
    """Measure a release, or say why it cannot be."""
    if plan.data.individual is not None:
        return None, _OF_PEOPLE.format(plan.data.individual)
    if release.weights is not None:
        return None, _WEIGHTED
    frame = pa.table(release.told_apart())
    keys, special = plan.adversary.keys, plan.adversary.special
    try:
        return measure_risk(
            frame, quasi=frame.column_names, keys=keys, special=special, details=False
        ), None
    except UserError as error:
        return None, str(error)
