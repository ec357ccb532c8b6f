"""Measures what the table and its release hold: records, risk, and what is still of use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from indiff.audit.metrics import METRICS, metric, percent
from indiff.audit.plan.plan import Plan
from indiff.data.reading.input_files import Reading
from indiff.data.schema import Kind, Role
from indiff.data.side_files import label_of
from indiff.data.table import Table
from indiff.engines.duckdb import enough_memory
from indiff.engines.protocol import Resources
from indiff.errors import UserError, why_exhausted
from indiff.release.release import Release
from indiff.release.repeated import repeats
from indiff.report.finding import Finding
from indiff.risk.columns import ColumnsRisk, measure_columns
from indiff.risk.counts import Counted, Question, count
from indiff.risk.values import GROUNDS, Ground
from indiff.sanitizers.sanitizer import Identity
from indiff.text import name as short_name
from indiff.utility import Analyst, measure

# About whose record it is: once for every release; then about a sensitive attribute.
_WHO = {
    "k": "groups.k",
    "singled_out": "groups.singled_out",
    "reidentification.itpr": "reidentification.itpr",
    "reidentification.dr": "reidentification.dr",
    "prosecutor": "groups.prosecutor",
    "marketer": "groups.marketer",
}
_WHAT = (
    "inference.itpr", "inference.dr", "l", "distinct_l", "entropy_l", "alpha", "t", "beta",
    "delta_disclosure",
)  # fmt: skip
_CONFIDENCE = 0.95
_UTILITY = ("ncp", "discernibility", "average_group", "accuracy")
Missed = Literal["failed", "skipped"]


@dataclass(frozen=True, eq=False)
class Subject:
    """One sensitive attribute: its table, and the release or the reason why there is none.

    ``apart`` says that it is one of several, each of which has a release of its own.
    """

    table: Table
    apart: bool
    release: Release | None = None
    reason: str | None = None

    @property
    def suffix(self) -> str:
        """What tells the findings of several releases apart."""
        return f":{self.table.sensitive.name}" if self.apart else ""

    @property
    def why_not(self) -> str | None:
        """Why nothing can be measured of its release."""
        return None if self.reason is None else f"there is no release: {self.reason}"

    @property
    def repeated(self) -> list[str]:
        """Say that the release is a copy of records, where it is."""
        return repeats(self.release, self.table)

    def titled(self, findings: Sequence[Finding]) -> list[Finding]:
        """Name the attribute in every title, where each of several has a release of its own."""
        name = self.table.sensitive.name
        return [
            replace(one, title=f"{one.title}, release for {name}")
            if self.apart and name not in one.title
            else one
            for one in findings
        ]


def profile_findings(table: Table) -> list[Finding]:
    """Return how many records the audit is about, and how much of them is missing."""
    frame = table.frame()
    used = [c.name for c in table.schema if c.role in (Role.QUASI, Role.SENSITIVE)]
    cells = len(table) * len(used)
    missing = sum(frame[name].null_count for name in used)
    dropped = {0: "None was", 1: "1 more was"}.get(table.dropped, f"{table.dropped:,} more were")
    return [
        METRICS["records"].found(
            "records", len(table), {"dropped": dropped}, exactness="exact",
            parameters={"dropped": table.dropped},
        ),
        METRICS["missing"].found(
            "missing", missing / cells if cells else 0.0, exactness="exact",
            parameters={"cells": cells, "missing": missing},
        ),
    ]  # fmt: skip


@dataclass(frozen=True)
class RiskPart:
    """What the risk metrics add to the document for one sensitive attribute."""

    findings: tuple[Finding, ...]
    bars: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Side:
    """The risk of the original or of its release, or a reason instead.

    ``columns`` has DR of re-identification for each column alone (ITPR paper, Eq. 5), ``ground``
    what t takes for the distance of two values, and ``individual`` the column that names people.
    """

    risk: ColumnsRisk | None = None
    reason: str | None = None
    columns: dict[str, float] = field(default_factory=dict)
    ground: Ground = "equal"
    individual: str | None = None


def measure_both(
    table: Table,
    release: Release | None,
    *,
    individual: str | None,
    why_not: str | None,
    in_order: bool = True,
) -> tuple[Side, Side]:
    """Measure the original and its release; what cannot be measured has its reason.

    ``why_not`` says why there is no release, and ``in_order`` whether its rows are the table's in
    their order, without which nobody knows whose they are.
    """
    before = measured(table, Identity().sanitize(table), individual)
    if release is None:
        return before, Side(reason=why_not)
    if individual is not None and not in_order:
        reason = (
            f"people are told by {individual!r}, and nobody knows whose the rows of a release made "
            "elsewhere are; leave individual out to count rows"
        )
        return before, Side(reason=reason)
    return before, measured(table, release, individual)


def measured(table: Table, release: Release, individual: str | None = None) -> Side:
    """Measure one release of a table; what cannot be measured has its reason instead."""
    try:
        return _risk(table, release, individual)
    except UserError as error:
        return Side(reason=str(error))
    except (MemoryError, OSError) as error:
        if (reason := why_exhausted(error)) is None:
            raise
        return Side(reason=reason)


def _alone(counted: Counted, release: Release) -> dict[str, float]:
    """Return DR of re-identification for each column alone.

    Where a row is a person it is 1 − Σ n log n / (N log N) over the column's groups, which needs
    the groups' sizes and nothing else of the risk plane.
    """
    if counted.individual is not None:
        return {
            name: measure_columns(counted, [place]).reidentification.dr
            for place, name in enumerate(counted.quasi)
        }
    found, cells = {}, release.told_apart()
    for name in counted.quasi:
        sizes = np.bincount(cells[name]).astype(np.float64)
        sizes, total = sizes[sizes > 0], sizes.sum()
        found[name] = 0.0
        if len(sizes) > 1:
            found[name] = 1 - float((sizes * np.log2(sizes)).sum() / (total * np.log2(total)))
    return found


def _risk(table: Table, release: Release, individual: str | None) -> Side:
    if release.weights is not None:
        raise UserError(
            "risk is measured on records, one per row; this release has weighted rows (noisy "
            "counts), which stand for no record."
        )
    # Risk is counted, and numbers are counted faster than the texts of regions.
    frame, sensitive = pa.table(release.told_apart() | release.sensitive_cells()), table.sensitive
    joint = len(sensitive.columns) > 1
    known: dict[str, Any] = {}
    if not joint:
        known["kinds"] = {sensitive.name: str(sensitive.kind)}
        if sensitive.kind == Kind.ORDINAL:
            known["orders"] = {
                sensitive.name: [label_of(x) for x in sensitive.values if x is not None]
            }
            texts = [None if x is None else label_of(x) for x in frame[sensitive.name].to_pylist()]
            place = frame.column_names.index(sensitive.name)
            frame = frame.set_column(place, sensitive.name, pa.array(texts, pa.string()))
        if sensitive.hierarchy is not None:
            known["hierarchies"] = {sensitive.name: sensitive.hierarchy}
    if individual is not None:  # the release has a row per record, in their order
        if frame.num_rows != len(table):
            raise UserError(
                f"individuals are told by {individual!r}, which this release does not carry; "
                "measure each row as one by leaving individual out."
            )
        frame = frame.append_column(individual, table.frame()[individual])
    quasi = tuple(attribute.name for attribute in table.attributes)
    question = Question(quasi, tuple(sensitive.columns), individual, joint, **known)
    resources = Resources()
    with enough_memory(resources):
        counted = count(frame, question, "auto", Reading(), resources)
        try:
            risk = measure_columns(counted, counted.positions)
            alone = _alone(counted, release)
        finally:
            counted.engine.close()
    return Side(risk, None, alone, counted.values[0].sensitive.ground, individual)


def risk_part(
    table: Table, before: Side, after: Side, *, status: Missed = "failed", suffix: str = ""
) -> RiskPart:
    """Turn the two measurements into findings and chart rows.

    ``suffix`` tells the releases of several sensitive attributes apart.
    """
    about, said = table.sensitive.name, short_name(table.sensitive.name)
    findings = []
    for name in (*_WHO, *_WHAT):
        concerns = about if name in _WHAT else None
        chosen = metric(name, about=said)
        id = f"{name}:{about}" if concerns else f"{name}{suffix}"
        more: dict[str, Any] = {"about": concerns, "before": _value(name, before, about)}
        if after.risk is None:
            reason = after.reason or before.reason or "there is no release"
            findings.append(chosen.missed(id, status, reason, **more))
            continue
        if name in ("k", "singled_out") and after.individual is not None:
            more["parameters"] = {"individual": after.individual}
        if name == "t":
            more["parameters"] = {"ground_distance": after.ground}
        words = {"about": said, "ground": GROUNDS[after.ground]}
        value = _value(name, after, about)
        findings.append(chosen.found(id, value, words, exactness="exact", **more))
    bars = [
        {
            "metric": name.upper(),
            "about": about if part == "inference" else "re-identification",
            "before": _value(f"{part}.{name}", before, about),
            "after": _value(f"{part}.{name}", after, about),
            "range": [0, 1],
        }
        for part in ("reidentification", "inference")
        for name in ("itpr", "dr")
    ]
    columns = [
        {"column": name, "metric": "DR", "before": dr, "after": after.columns.get(name)}
        for name, dr in before.columns.items()
    ]
    return RiskPart(tuple(findings), bars, columns)


def _value(name: str, side: Side, about: str) -> Any:
    risk = side.risk
    if risk is None:
        return None
    if name in _WHO:
        return float(attrgetter(_WHO[name])(risk))
    part = risk.inference if name.startswith("inference.") else risk.groups.sensitive
    return float(getattr(part[about], name.removeprefix("inference.")))


def merged(parts: Sequence[RiskPart]) -> RiskPart:
    """Put the parts of several sensitive attributes together; equal chart rows stay once."""
    bars: list[dict[str, Any]] = []
    for part in parts:
        bars += [row for row in part.bars if row not in bars]
    findings = tuple(finding for part in parts for finding in part.findings)
    return RiskPart(findings, bars, parts[0].columns)


def no_utility(table: Table, plan: Plan, status: Missed, reason: str, suffix: str) -> list[Finding]:
    """Return the findings of utility that could not be measured."""
    task = short_name(plan.report.task or table.sensitive.name)
    return [metric(name, task=task).missed(f"{name}{suffix}", status, reason) for name in _UTILITY]


def utility_findings(table: Table, release: Release, plan: Plan, *, suffix: str) -> list[Finding]:
    """Return what the release loses, and what an analyst keeps on his task.

    ``suffix`` tells the releases of several sensitive attributes apart.
    """
    task, sanitizer = short_name(plan.report.task or table.sensitive.name), plan.release.sanitizer
    analyst, no_analyst = None, None
    if plan.release.file is None:
        try:
            analyst = Analyst(table, task=plan.report.task, seed=plan.run.seed)
        except UserError as error:
            no_analyst = str(error)
    found = measure(
        table,
        release,
        sanitizer=None if analyst is None else sanitizer,
        analyst=analyst,
        seed=plan.run.seed,
    )
    findings = []
    for name in _UTILITY:
        chosen, id, value = metric(name, task=task), f"{name}{suffix}", getattr(found, name)
        if value is None:
            lost = no_analyst if name == "accuracy" else None
            if name == "accuracy" and plan.release.file is not None:
                lost = (
                    "the analyst trains on a release of a part of the records, which only whatever "
                    "made this one could make"
                )
            # What somebody asked for and did not get has failed; by default there may be none.
            status: Missed = "failed" if lost and plan.report.task is not None else "skipped"
            reason = lost or found.missing.get(name, "it has no meaning for this release")
            findings.append(chosen.missed(id, status, reason))
        elif name == "accuracy" and analyst is not None:
            told = {"original": percent(analyst.original), "majority": percent(analyst.majority)}
            findings.append(
                chosen.found(
                    id,
                    value,
                    {"task": task, **told},
                    before=analyst.original,
                    exactness="estimate",
                    interval=analyst.interval(value, _CONFIDENCE),
                    seed=plan.run.seed,
                    parameters={
                        "task": found.task, "model": found.model, "majority": analyst.majority,
                        "held_out": analyst.held_out, "confidence": _CONFIDENCE,
                    },
                )
            )  # fmt: skip
        else:
            findings.append(chosen.found(id, value, exactness="exact"))
    return findings


def unmade(subjects: Sequence[Subject]) -> list[str]:
    """Say of which attributes there is no release, and that several have one each."""
    notes = [
        f"no release of {one.table.sensitive.name} could be made: {one.reason}"
        for one in subjects
        if one.reason is not None
    ]
    if len(subjects) > 1:
        notes.append("each sensitive attribute has a release of its own, measured on its own")
    return notes
