"""Tests settings of the sanitizer beside the plan's own, and tells which keep the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indiff.audit.findings.exposure import adversaries_of, measure_point
from indiff.audit.findings.release import measured
from indiff.audit.next_steps.case import MOST_TESTED, TESTED, Case
from indiff.audit.plan.values.settings import Setting, changed
from indiff.audit.verdict import Check, rule_of
from indiff.data.table import Table
from indiff.errors import UserError
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.sanitizer import SANITIZERS, as_sanitizer

Point = Mapping[str, Any]
CONSTRAINTS = ("k", "l", "distinct_l", "entropy_l", "t")
# The sign that makes more of a parameter the stronger setting.
STRONGER = {"k": 1, "l": 1, "distinct_l": 1, "entropy_l": 1, "sigma": 1, "t": -1, "epsilon": -1}
_SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, eq=False)
class Tried:
    """What was found with one parameter varied, the mildest setting first.

    ``kept`` is the mildest setting that keeps every limit that can be told here, asked of all
    adversaries; ``single`` one that keeps them only by publishing a single group.
    """

    name: str = ""
    points: Sequence[Point] = ()
    kept: Point | None = None
    single: Point | None = None

    @property
    def best(self) -> Point | None:
        """The setting that leaves the fewest records above the limit, and the smallest δ."""
        return min(self.points, key=far, default=None)

    def allowed(self, case: Case) -> list[Point]:
        """Return the settings that ask for no less than the plan, the nearest to it first."""
        asked = case.limits.get(self.name)
        found = [one for one in self.points if one is not self.single]
        if asked is not None:  # smaller groups than the plan asks for are no way out
            rule = rule_of(self.name)
            found = [x for x in found if not Check(self.name, x["value"], asked, rule).exceeded]
        return sorted(found, key=far)


def far(point: Point) -> tuple[float, float]:
    """Order settings by the records above the limit, then by δ."""
    above = point.get("above")
    return math.inf if above is None else above, point["delta_upper"]


def settings_tried(case: Case) -> Tried:
    """Collect what other settings of the sanitizer do, and test what is needed to propose one.

    Where none of the plan's curve keeps the limits, or there is no curve, stronger settings are
    tested here if that is cheap. Only settings that were tested on every record count.
    """
    curve = case.curve
    name = curve["parameter"] if curve is not None else _own_parameter(case)
    known = case.plan.release.sanitizer.partition(":")[0] in SANITIZERS
    if not case.is_first or case.sanitizer is None or not known or name not in STRONGER:
        return Tried()
    points = [] if curve is None else [one for one in curve["points"] if _is_whole(one)]
    points.sort(key=lambda point: STRONGER[name] * point["value"])
    found = _first_kept(case, name, points)
    if found.kept is None and found.single is None:
        last = points[-1]["value"] if points else None
        more = _first_kept(case, name, _stronger(case, name, last))
        found = replace(more, points=(*found.points, *more.points))
    return found


def _first_kept(case: Case, name: str, points: Sequence[Point]) -> Tried:
    """Look for the mildest setting that keeps the limits; those asked of all have their numbers."""
    seen = list(points)
    for place, point in enumerate(points):
        if not keeps_tested(case, point, name):
            continue
        if is_one_group(case.table, point["setting"]):
            return Tried(name, seen, single=point)
        seen[place] = by_all(case, point)
        if keeps_tested(case, seen[place], name) and not unkept(case, point["setting"]):
            return Tried(name, seen, kept=seen[place])
    return Tried(name, seen)


def _own_parameter(case: Case) -> str | None:
    text = case.plan.release.sanitizer
    return next((x for x in ("k", "l", "epsilon", "sigma") if f"{x}=" in text), None)


def _is_whole(point: Point) -> bool:
    """Tell whether a setting of the curve was tested on every record."""
    told = point["reason"] is None and point["exactness"] not in (None, "lower-bound")
    return told and isinstance(point["value"], int | float)


def _stronger(case: Case, name: str, last: float | None) -> list[Point]:
    """Test stronger settings than the last by the adversaries that cost little, if all do."""
    now = last if last is not None else getattr(case.sanitizer, name, None)
    if now is None or not case.is_fast or not case.quick:
        return []
    least, sign = case.limits.get(name, now), STRONGER[name]
    start = [least] if sign * least > sign * now else []  # no less than the plan asks for
    most = MOST_TESTED // (len(case.quick) * len(case.table))
    values = [*start, *wider(case.table, name, least if start else now)][:most]
    found: list[Point] = []
    for value in values:
        text = changed(case.plan.release.sanitizer, **{name: value})
        try:
            point, _ = measure_point(
                case.table, case.plan, Setting(text, name, value), models=case.quick
            )
        except UserError:
            break
        found += [point] * _is_whole(point)
    return found


def wider(table: Table, name: str, last: float) -> list[float]:
    """Return stronger values of a parameter that this table allows, the mildest first."""
    counts = table.sensitive.counts
    found: list[float] = []
    if name == "k":
        found = [size for size in _SIZES if last < size <= len(table) // 2]
    elif name in ("l", "distinct_l"):
        most = len(counts) if name == "distinct_l" else int(counts.sum() // counts.max())
        found = list(range(int(last) + 1, most + 1))
    elif name in ("epsilon", "t"):
        found = [last / 2, last / 5, last / 10]
    elif name == "sigma":
        found = [last * 2, last * 5, last * 10]
    return found


def keeps_tested(case: Case, point: Point, name: str) -> bool:
    """Tell whether a setting keeps the limits on the test, and asks for no less than the plan."""
    limits = case.limits
    checks = [Check(x, point[f"{x}_upper"], limits[x]) for x in TESTED if x in limits]
    if name in limits:  # smaller groups than the plan asks for are no way out
        checks.append(Check(name, point["value"], limits[name], rule_of(name)))
    return not any(check.exceeded for check in checks)


def by_all(case: Case, point: Point) -> Point:
    """Return a setting as all adversaries of the plan see it, some of whom may not have been asked.

    Several settings share the work that a tree is asked for; an audit of this one alone asks it.
    """
    asked = adversaries_of(case.plan, as_sanitizer(point["setting"]), case.table)
    if set(asked.named) == set(point["models"]):
        return point
    setting = Setting(point["setting"], None, point["value"])
    found, _ = measure_point(case.table, case.plan, setting, models=asked.models)
    return found


def unkept(case: Case, setting: str, table: Table | None = None) -> list[str]:
    """Name what the release of a setting breaks: its own constraint, or limits on groups.

    Counts that Mondrian itself keeps to are not counted again: rows of several groups that read
    alike are a larger group with no fewer values.
    """
    whole, made = case.table if table is None else table, as_sanitizer(setting)
    release = made.sanitize(whole, np.random.default_rng(case.plan.run.seed))
    if release.constraint_met is False:
        return ["its own constraint"]
    limits = {x: case.limits[x] for x in CONSTRAINTS if x in case.limits}
    if isinstance(made, Mondrian) and case.plan.data.individual is None:
        own = {x: getattr(made, x) or 0 for x in ("k", "distinct_l")}
        limits = {x: limit for x, limit in limits.items() if own.get(x, 0) < limit}
    risk = measured(whole, release, case.plan.data.individual).risk if limits else None
    return [
        x
        for x, limit in limits.items()
        if risk is not None and Check(x, float(getattr(risk.groups, x)), limit, rule_of(x)).exceeded
    ]


def also_kept(case: Case) -> str:
    """Say which limits on groups, exceeded now, a setting keeps of which ``unkept`` names none."""
    weighed = (*CONSTRAINTS, "prosecutor")  # the chance of a link was weighed as a group's size
    titles = [one.title for one in case.beyond if one.metric in weighed]
    other = "another limit" if len(titles) == 1 else "other limits"
    return f" It was seen to keep {other}, too: {'; '.join(titles)}." if titles else ""


def is_one_group(table: Table, setting: str) -> bool:
    """Tell whether a setting publishes a single group, from which nothing could be learned."""
    groups = groups_of(table, setting)
    return groups is not None and groups < 2


def groups_of(table: Table, setting: str) -> int | None:
    """Count the groups that a setting of Mondrian publishes; nothing of another sanitizer."""
    made = as_sanitizer(setting)
    groups = made.sanitize(table).groups if isinstance(made, Mondrian) else None
    return None if groups is None else len(np.unique(groups))
