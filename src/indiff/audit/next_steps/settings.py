"""Proposes settings of the sanitizer that keep a limit, or says that stronger ones do not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from indiff.audit.findings.release import measured
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import NAMES, TESTED, Case, Step, step
from indiff.audit.plan.settings import changed
from indiff.audit.verdict import Check, rule_of
from indiff.data.table import Table
from indiff.errors import Message, UserError, marked
from indiff.report.finding import against
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.sanitizer import SANITIZERS, as_sanitizer

CONSTRAINTS = ("k", "l", "distinct_l", "entropy_l", "t")
_WHOLE = ("k", "l", "distinct_l")
# The sign that makes more of a parameter the stronger setting.
_STRONGER = {"k": 1, "l": 1, "distinct_l": 1, "entropy_l": 1, "sigma": 1, "t": -1, "epsilon": -1}
_SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_ONE_GROUP = "but only by publishing a single group, from which nothing could be learned"


def from_curve(case: Case) -> Iterator[Step]:
    """Propose the mildest setting of those tried that keeps δ, or say that none does."""
    text, curve = case.plan.release.sanitizer, case.curve
    if case.sanitizer is None or text.partition(":")[0] not in SANITIZERS:
        return
    if not case.is_first:
        told = "Other settings are tested for the first sensitive attribute alone: name this one "
        yield step("none", f"{told}first to see what would keep {case.wanted}.")
        return
    points = [] if curve is None else [one for one in curve["points"] if _is_whole(one)]
    if curve is None or not points or curve["parameter"] not in _STRONGER:
        yield from _untried(case)
        return
    name, sign = curve["parameter"], _STRONGER[curve["parameter"]]
    points.sort(key=lambda point: sign * point["value"])
    kept = next((point for point in points if _keeps(case, point, name)), None)
    if kept is None:
        yield _none_keeps(case, points, name, sign)
        return
    at = f"{NAMES.get(name, name)} = {kept['value']:g} is the "
    at += f"{'smallest' if sign > 0 else 'largest'} of those tried ({_listed(points)}) that keeps "
    if _is_one_group(case.table, kept["setting"]):
        yield step("none", f"{at}{case.wanted}, {_ONE_GROUP}.")
        return
    others = set(case.limits) - {*TESTED, name}
    more = " The other limits were not tried there." if others else ""
    delta = f"δ is {number(kept['delta_upper'])} there{against(kept['models'])}"
    text = f"{at}{case.wanted}: {delta}.{more}"
    yield step("parameter", text, case.command, sanitizer=kept["setting"])


def _none_keeps(case: Case, points: list[Any], name: str, sign: int) -> Step:
    """Say that stronger settings do not help, or which one comes nearest, and what else to try."""
    text, shown = case.plan.release.sanitizer, NAMES.get(name, name)
    now = next((point for point in points if point["setting"] == text), points[0])
    stronger = [point for point in points if sign * point["value"] > sign * now["value"]]
    best, last = min(points, key=lambda point: point["delta_upper"]), points[-1]
    if stronger and min(one["delta_upper"] for one in stronger) >= now["delta_upper"]:
        both = [f"{number(x['delta_upper'])} at {shown} = {x['value']:g}" for x in (now, last)]
        way = "larger" if sign > 0 else "smaller"
        return step("none", f"A {way} {shown} does not help: δ is {' and '.join(both)}.")
    told = f"None of the {shown} tried ({_listed(points)}) keeps {case.wanted}: {shown} = "
    told += f"{best['value']:g} comes nearest, with a δ of {number(best['delta_upper'])}"
    told += against(best["models"])
    wider = _wider(case.table, name, last["value"]) if best is last else ""
    if not wider:
        return step("none", f"{told}.")
    curve = _several(text, name, wider)
    more = wider.replace(",", ", ")
    return step("parameter", f"{told}. Test {more}, too.", case.command, parameter=curve)


def _untried(case: Case) -> Iterator[Step]:
    """Propose to test other settings where none was."""
    text = case.plan.release.sanitizer
    for name in ("k", "l", "epsilon", "sigma"):
        now = getattr(case.sanitizer, name, None)
        if now is None or f"{name}=" not in text:
            continue
        wider = _wider(case.table, name, now)
        if wider:
            more = wider.replace(",", ", ")
            told = f"Other {NAMES.get(name, name)} were not tried: test {more}, too, to see what "
            curve = _several(text, name, wider)
            yield step(
                "parameter", f"{told}would keep {case.wanted}.", case.command, parameter=curve
            )
        return


def _several(text: str, name: str, values: str) -> str:
    """Return a sanitizer's text with several values of one parameter.

    >>> _several("mondrian:k=5,l=2", "k", "10,20")
    'mondrian:l=2,k=10,20'
    """
    head, _, rest = text.partition(":")
    own = [part for part in rest.split(",") if not part.strip().startswith(f"{name}=")]
    return f"{head}:{','.join([*own, f'{name}={values}'])}"


def _wider(table: Table, name: str, last: float) -> str:
    """Return up to three stronger values of a parameter that this table allows."""
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
    return ",".join(f"{value:g}" for value in found[:3])


def _listed(points: list[Any]) -> str:
    return ", ".join(f"{point['value']:g}" for point in points)


def _is_whole(point: Mapping[str, Any]) -> bool:
    """Tell whether a setting of the curve was tested on every record."""
    told = point["reason"] is None and point["exactness"] not in (None, "lower-bound")
    return told and isinstance(point["value"], int | float)


def _keeps(case: Case, point: Mapping[str, Any], name: str) -> bool:
    """Tell whether a setting of the curve keeps the limits that were tried there."""
    limits = case.limits
    checks = [Check(x, point[f"{x}_upper"], limits[x]) for x in TESTED if x in limits]
    if name in limits:  # smaller groups than the plan asks for are no way out
        checks.append(Check(name, point["value"], limits[name], rule_of(name)))
    return not any(check.exceeded for check in checks)


def _is_one_group(table: Table, setting: str) -> bool:
    made = as_sanitizer(setting)
    if not isinstance(made, Mondrian):
        return False
    groups = made.sanitize(table).groups
    return groups is not None and len(np.unique(groups)) < 2


def constraint(case: Case) -> Iterator[Step]:
    """Propose to ask the sanitizer for what a limit on groups wants, if it can be had."""
    limits = {name: case.limits[name] for name in CONSTRAINTS if name in case.limits}
    text = case.plan.release.sanitizer
    base = {"identity": "mondrian:", "mondrian": text}.get(text.partition(":")[0])
    if not case.exceeded & set(limits) or base is None or case.plan.release.file is not None:
        return
    asked = {x: math.ceil(limit) if x in _WHOLE else limit for x, limit in limits.items()}
    said = [f"{NAMES.get(x, x)} {rule_of(x)} {number(limit)}" for x, limit in limits.items()]
    setting, wanted = changed(base, **asked), " and ".join(said)
    try:
        made = as_sanitizer(setting).sanitize(case.table)
    except UserError as error:
        why = marked(Message(error.rule))
        yield step("none", Message(f"No grouping of this table keeps {wanted}: {why}."))
        return
    groups = 0 if made.groups is None else len(np.unique(made.groups))
    if groups < 2:
        yield step("none", f"{setting} keeps {wanted}, {_ONE_GROUP}.")
        return
    risk, _ = measured(case.table, made, case.plan.data.individual)
    if risk is not None and not any(
        Check(x, float(getattr(risk.groups, x)), limit, rule_of(x)).exceeded
        for x, limit in limits.items()
    ):
        text = f"{setting} keeps {wanted}, with {groups:,} groups; δ was not tested there."
        yield step("parameter", text, case.command, sanitizer=setting)
