"""Proposes settings of the sanitizer that keep a limit, or says that stronger ones do not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from indiff.audit.findings.exposure import measure_point
from indiff.audit.findings.release import measured
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import NAMES, TESTED, Case, Step, step
from indiff.audit.next_steps.tried import (
    CONSTRAINTS,
    STRONGER,
    Point,
    Tried,
    also_kept,
    far,
    keeps_tested,
    wider,
)
from indiff.audit.plan.values.settings import Setting, changed
from indiff.audit.verdict import Check, rule_of
from indiff.errors import Message, UserError, marked
from indiff.report.finding import against
from indiff.sanitizers.sanitizer import SANITIZERS, as_sanitizer

_WHOLE = ("k", "l", "distinct_l")
_ONE_GROUP = "but only by publishing a single group, from which nothing could be learned"


def from_curve(case: Case, tried: Tried) -> Iterator[Step]:
    """Propose the mildest setting of those tried that keeps the limits, or say that none does."""
    if case.sanitizer is None or case.plan.release.sanitizer.partition(":")[0] not in SANITIZERS:
        return
    if not case.is_first:
        told = "Other settings are tested for the first sensitive attribute alone: name this one "
        yield step("none", f"{told}first to see what would keep {case.wanted}.")
        return
    if not tried.points:
        yield from _untried(case)
        return
    found = tried.kept or tried.single
    if found is None:
        yield _none_keeps(case, tried)
        return
    name = tried.name
    at = f"{NAMES.get(name, name)} = {found['value']:g} is the "
    at += f"{'smallest' if STRONGER[name] > 0 else 'largest'} of those tried "
    at += f"({_listed(tried.points)}) that keeps "
    if tried.kept is None:
        yield step("none", f"{at}{case.wanted}, {_ONE_GROUP}.")
        return
    others = set(case.limits) - {*TESTED, *CONSTRAINTS, "prosecutor"}
    more = also_kept(case)
    more += " The other limits were not tried there." if others else ""
    delta = f"δ is {number(found['delta_upper'])} there{against(found['models'])}"
    yield step("parameter", f"{at}{case.wanted}: {delta}.{more}", case.command,
               sanitizer=found["setting"])  # fmt: skip


def _none_keeps(case: Case, tried: Tried) -> Step:
    """Say that stronger settings do not help, or which one comes nearest, and what else to try."""
    points, name, sign = tried.points, tried.name, STRONGER[tried.name]
    text, shown = case.plan.release.sanitizer, NAMES.get(name, name)
    now = next((point for point in points if point["setting"] == text), points[0])
    stronger = [point for point in points if sign * point["value"] > sign * now["value"]]
    best, last = tried.best, points[-1]
    assert best is not None
    if stronger and min(one["delta_upper"] for one in stronger) >= now["delta_upper"]:
        both = [f"{number(x['delta_upper'])} at {shown} = {x['value']:g}" for x in (now, last)]
        way = "larger" if sign > 0 else "smaller"
        told = f"A {way} {shown} does not help: δ is {' and '.join(both)}."
        if best in stronger and far(best) < far(now) and best["above"] is not None:
            told = f"A {way} {shown} does not lower δ, which is {' and '.join(both)}, but it "
            told += f"leaves fewer records above the limit: {best['above']:,} at {shown} = "
            told += f"{best['value']:g}, and {now['above']:,} at {now['value']:g}."
        return step("none", told)
    told = f"None of the {shown} tried ({_listed(points)}) keeps {case.wanted}: {shown} = "
    told += f"{best['value']:g} comes nearest, with a δ of {number(best['delta_upper'])}"
    if best.get("above") is not None:
        told += f" and {best['above']:,} of {len(case.table):,} records above the limit"
    told += against(best["models"])
    values = wider(case.table, name, last["value"])[:3] if best is last else []
    if not values:
        return step("none", f"{told}.")
    more = f"{told}. Test {_joined(values, ', ')}, too."
    return step("parameter", more, case.command, parameter=_several(text, name, values))


def _untried(case: Case) -> Iterator[Step]:
    """Propose to test other settings where none was."""
    text = case.plan.release.sanitizer
    for name in ("k", "l", "epsilon", "sigma"):
        now = getattr(case.sanitizer, name, None)
        if now is None or f"{name}=" not in text:
            continue
        if values := wider(case.table, name, now)[:3]:
            told = f"Other {NAMES.get(name, name)} were not tried: test {_joined(values, ', ')}, "
            told += f"too, to see what would keep {case.wanted}."
            yield step("parameter", told, case.command, parameter=_several(text, name, values))
        return


def _joined(values: Sequence[float], sign: str) -> str:
    return sign.join(f"{value:g}" for value in values)


def _several(text: str, name: str, values: Sequence[float]) -> str:
    """Return a sanitizer's text with several values of one parameter.

    >>> _several("mondrian:k=5,l=2", "k", [10, 20])
    'mondrian:l=2,k=10,20'
    """
    head, _, rest = text.partition(":")
    own = [part for part in rest.split(",") if not part.strip().startswith(f"{name}=")]
    varied = f"{name}={_joined(values, ',')}"
    return f"{head}:{','.join([*own, varied])}"


def _listed(points: Sequence[Point]) -> str:
    """List the values that were tried, each with its δ."""
    return ", ".join(f"{x['value']:g} with δ {number(x['delta_upper'])}" for x in points)


def constraint(case: Case, tried: Tried) -> Iterator[Step]:
    """Propose to ask the sanitizer for what a limit on groups wants, if it can be had."""
    if tried.points and case.exceeded & set(TESTED):  # these were weighed with the test's limits
        return
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
    risk = measured(case.table, made, case.plan.data.individual).risk
    if risk is not None and not any(
        Check(x, float(getattr(risk.groups, x)), limit, rule_of(x)).exceeded
        for x, limit in limits.items()
    ):
        text = f"{setting} keeps {wanted}, with {groups:,} groups"
        point = _tested(case, setting)
        if point is None:
            told = "; δ was not tested there." if case.test is not None else "."
            yield step("parameter", text + told, case.command, sanitizer=setting)
        elif keeps_tested(case, point, ""):
            told = f"; δ is {number(point['delta_upper'])} there{against(point['models'])}."
            yield step("parameter", text + told, case.command, sanitizer=setting)
        else:
            yield step("none", f"{text}, but not {case.wanted}.")


def _tested(case: Case, setting: str) -> Point | None:
    """Test a setting where the plan has a limit on δ, and the test is as cheap as its own was."""
    if not set(TESTED) & set(case.limits) or not case.is_fast:
        return None
    return measure_point(case.table, case.plan, Setting(setting, None, None))[0]
