"""Names the column without which a limit is kept, or comes nearest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from indiff.audit.findings.exposure import settings
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import MOST_TESTED, Case, Step, step
from indiff.audit.next_steps.tried import Tried
from indiff.audit.verdict import Check, rule_of
from indiff.differential import differential_test
from indiff.errors import UserError
from indiff.report.finding import against
from indiff.text import counted, describe
from indiff.text import name as short_name

COUNTS = ("k", "singled_out", "prosecutor", "marketer")
_WORTH_IT = 0.95  # what is left of δ without a column before the column is worth a sentence


def told_most(case: Case, tried: Tried) -> Iterator[Step]:
    """Name the column without which δ is smallest, where this is cheap to measure.

    It is left out of the setting that comes nearest to the limit, where none keeps it.
    """
    names = [one.name for one in case.table.attributes]
    limit = case.limits.get("delta")
    if limit is None or not case.is_fast or not case.quick or len(names) < 2:
        return
    tests = (len(names) + 1) * len(case.quick) * len(case.table)
    if tests > MOST_TESTED or case.plan.adversary.known is not None:
        return
    near = [] if tried.kept is not None else tried.allowed(case)
    setting = near[0]["setting"] if near else case.plan.release.sanitizer
    try:
        now, *without = (_delta_without(case, setting, name) for name in (None, *names))
    except UserError:
        return
    best = min(without)
    shown = short_name(names[without.index(best)])
    alone = against([describe(one) for one in case.quick])
    at = "" if setting == case.plan.release.sanitizer else f", with {setting}"
    if best <= limit:
        text = f"Leave {shown} out: without it δ is {number(best)}{at}{alone}, which keeps the "
        yield step("coarsen", f"{text}limit. A coarser {shown} was not tried.")
    elif best < _WORTH_IT * now:
        text = f"Without {shown} δ falls most, from {number(now)} to {number(best)}{at}{alone}: "
        yield step("coarsen", f"{text}leaving it out helps, but not enough by itself.")


def _delta_without(case: Case, setting: str, name: str | None) -> float:
    left = tuple(one for one in case.table.attributes if one.name != name)
    table = replace(case.table, attributes=left)
    options = settings(case.plan, 1)
    found: Any = differential_test(table, setting, model=case.quick, **options)
    return float(found.delta_upper)


def wider_groups(case: Case) -> Iterator[Step]:
    """Name the column without which the groups of this release come nearest to their limits."""
    wanted = [name for name in COUNTS if name in case.exceeded]
    release, names = case.release, [one.name for one in case.table.attributes]
    if not wanted or release is None or release.weights is not None or len(names) < 2:
        return
    if case.plan.data.individual is not None:
        return
    frame, limits = release.to_arrow(), case.limits
    now = _groups(frame, names)
    found = {name: _groups(frame, [one for one in names if one != name]) for name in names}

    def kept(name: str) -> int:
        numbers = found[name]
        checks = [Check(x, numbers[x], limits[x], rule_of(x)) for x in wanted]
        return sum(not check.exceeded for check in checks)

    best = max(names, key=lambda x: (kept(x), -found[x]["singled_out"], found[x]["k"]))
    own = found[best]
    if own["k"] <= now["k"] and own["singled_out"] >= now["singled_out"]:
        return
    told = []
    if own["k"] != now["k"]:
        told.append(f"the smallest group has {counted(own['k'], 'record')} instead of {now['k']:,}")
    if own["singled_out"] != now["singled_out"]:
        alone = counted(own["singled_out"], "record") if own["singled_out"] else "no record"
        verb = "is alone in its group" if own["singled_out"] < 2 else "are alone in their groups"
        told.append(f"{alone} instead of {now['singled_out']:,} {verb}")
    enough = "keeps the limit" if kept(best) == len(wanted) else "is not yet enough"
    text = f"Leave {short_name(best)} out: without it {' and '.join(told)}. "
    text += f"That {enough}."
    yield step("coarsen", text)


def _groups(frame: pa.Table, columns: list[str]) -> dict[str, Any]:
    """Count the groups of a release by some of its columns."""
    sizes = frame.group_by(columns).aggregate([([], "count_all")])["count_all"].to_numpy()
    least = int(sizes.min())
    alone, share = int((sizes == 1).sum()), len(sizes) / int(sizes.sum())
    return {"k": least, "singled_out": alone, "prosecutor": 1 / least, "marketer": share}
