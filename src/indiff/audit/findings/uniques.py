"""Measures the combinations of columns that a plan names, and the records that few columns find."""

from __future__ import annotations

from collections.abc import Sequence
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
from indiff.risk.identifying.keys import read_keys
from indiff.sanitizers.sanitizer import Identity

_OF_PEOPLE = "records are counted, and people are told by {!r}; leave individual out to count rows"
_WEIGHTED = "this release has weighted rows (noisy counts), which stand for no record"


def check_keys(plan: Plan, table: Table) -> None:
    """Refuse a key that names a column which is no quasi-identifier of the table."""
    read_keys(plan.adversary.keys, [one.name for one in table.attributes])


def unique_findings(subjects: Sequence[Subject], plan: Plan) -> list[Finding]:
    """Return what was asked for of every release, before and after; nothing where nothing was."""
    found = []
    for subject in subjects:
        found += subject.titled(_findings(subject, plan))
    return found


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
