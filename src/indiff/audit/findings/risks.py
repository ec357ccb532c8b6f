"""Measures the risk metrics and group models, on the original and on the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indiff.audit.metrics import metric
from indiff.data.schema import Kind
from indiff.data.side_files import label_of
from indiff.data.table import Table
from indiff.errors import UserError, why_exhausted
from indiff.release.release import Release
from indiff.report.finding import Finding
from indiff.risk import Risk, measure_risk
from indiff.sanitizers.trivial import Identity
from indiff.text import name as short_name

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


def _value(name: str, risk: Risk, about: str) -> float:
    if name in _WHO:
        return float(attrgetter(_WHO[name])(risk))
    part = risk.inference if name.startswith("inference.") else risk.groups.sensitive
    return float(getattr(part[about], name.removeprefix("inference.")))


@dataclass(frozen=True)
class RiskPart:
    """What the risk metrics add to the document for one sensitive attribute."""

    findings: tuple[Finding, ...]
    bars: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Both:
    """The original's risk and its release's, each with its columns' alone or a reason instead."""

    before: Risk | None
    after: Risk | None
    before_reason: str | None = None
    after_reason: str | None = None
    columns_before: dict[str, float] = field(default_factory=dict)
    columns_after: dict[str, float] = field(default_factory=dict)


def measure_both(
    table: Table,
    release: Release | None,
    *,
    individual: str | None,
    why_not: str | None,
    in_order: bool = True,
) -> Both:
    """Measure the original and its release; what cannot be measured has its reason.

    ``why_not`` says why there is no release, and ``in_order`` whether its rows are the table's in
    their order, without which nobody knows whose they are.
    """
    whole = Identity().sanitize(table)
    before, before_reason = measured(table, whole, individual, details=individual is not None)
    columns_before = _alone(before, whole)
    if release is None:
        return Both(before, None, before_reason, why_not, columns_before)
    if individual is not None and not in_order:
        reason = (
            f"people are told by {individual!r}, and nobody knows whose the rows of a release made "
            "elsewhere are; leave individual out to count rows"
        )
        return Both(before, None, before_reason, reason, columns_before)
    after, after_reason = measured(table, release, individual, details=individual is not None)
    columns_after = _alone(after, release)
    return Both(before, after, before_reason, after_reason, columns_before, columns_after)


def measured(
    table: Table, release: Release, individual: str | None = None, *, details: bool = False
) -> tuple[Risk | None, str | None]:
    """Measure one release of a table; what cannot be measured has its reason instead."""
    try:
        return _risk(table, release, individual, details), None
    except UserError as error:
        return None, str(error)
    except (MemoryError, OSError) as error:
        if (reason := why_exhausted(error)) is None:
            raise
        return None, reason


def _alone(risk: Risk | None, release: Release) -> dict[str, float]:
    """Return DR of re-identification for each column alone (ITPR paper, Eq. 5).

    Where a row is a person it is 1 − Σ n log n / (N log N) over the column's groups, which needs
    the groups' sizes and nothing else of the risk plane.
    """
    if risk is None:
        return {}
    if risk.method.individual is not None:
        return {name: part.reidentification.dr for name, part in risk.columns.items()}
    found, frame = {}, release.to_arrow()
    for name in risk.method.quasi:
        sizes = np.asarray(pc.value_counts(frame[name]).field("counts"), np.float64)
        total = sizes.sum()
        if total > 1 and len(sizes) > 1:
            found[name] = 1 - float((sizes * np.log2(sizes)).sum() / (total * np.log2(total)))
        else:
            found[name] = 0.0
    return found


def _risk(table: Table, release: Release, individual: str | None, details: bool) -> Risk:
    if release.weights is not None:
        raise UserError(
            "risk is measured on records, one per row; this release has weighted rows (noisy "
            "counts), which stand for no record."
        )
    frame, sensitive = release.to_arrow(), table.sensitive
    joint = len(sensitive.columns) > 1
    known: dict[str, Any] = {}
    if not joint:
        known["kinds"] = {sensitive.name: str(sensitive.kind)}
        if sensitive.kind == Kind.ORDINAL:
            order = [label_of(value) for value in sensitive.values if value is not None]
            frame = _as_text(frame, sensitive.name)
            known["orders"] = {sensitive.name: order}
        if sensitive.hierarchy is not None:
            known["hierarchies"] = {sensitive.name: sensitive.hierarchy}
    if individual is not None:
        frame = _with_individuals(frame, table, individual)
    return measure_risk(
        frame,
        quasi=[attribute.name for attribute in table.attributes],
        sensitive=list(sensitive.columns),
        joint=joint,
        individual=individual,
        details=details,
        **known,
    )


def _as_text(frame: pa.Table, name: str) -> pa.Table:
    texts = [None if value is None else label_of(value) for value in frame[name].to_pylist()]
    place = frame.column_names.index(name)
    return frame.set_column(place, name, pa.array(texts, pa.string()))


def _with_individuals(frame: pa.Table, table: Table, individual: str) -> pa.Table:
    """Put the column of individuals beside a release that has a row per record, in their order."""
    if frame.num_rows != len(table):
        raise UserError(
            f"individuals are told by {individual!r}, which this release does not carry; measure "
            "each row as one by leaving individual out."
        )
    return frame.append_column(individual, table.frame()[individual])


def risk_part(
    table: Table,
    risks: Both,
    *,
    status: Literal["failed", "skipped"] = "failed",
    suffix: str = "",
) -> RiskPart:
    """Turn the two measurements into findings and chart rows.

    ``suffix`` tells the releases of several sensitive attributes apart.
    """
    before, after = risks.before, risks.after
    about, said = table.sensitive.name, short_name(table.sensitive.name)
    findings = []
    for name in (*_WHO, *_WHAT):
        concerns = about if name in _WHAT else None
        chosen = metric(name, about=said)
        id = f"{name}:{about}" if concerns else f"{name}{suffix}"
        more: dict[str, Any] = {"about": concerns}
        if before is not None:
            more["before"] = _value(name, before, about)
        if after is None:
            reason = risks.after_reason or risks.before_reason or "there is no release"
            findings.append(chosen.missed(id, status, reason, **more))
            continue
        if name in ("k", "singled_out") and after.method.individual is not None:
            more["parameters"] = {"individual": after.method.individual}
        if name == "t":
            more["parameters"] = {"ground_distance": _ground(table)}
        findings.append(
            chosen.found(id, _value(name, after, about), {"about": said}, exactness="exact", **more)
        )
    return RiskPart(tuple(findings), _bars(about, before, after), _columns(risks))


def _ground(table: Table) -> str:
    """Name what t takes for the distance of two sensitive values."""
    if table.sensitive.hierarchy is not None:
        return "hierarchy"
    ordered = len(table.sensitive.columns) == 1 and table.sensitive.kind != Kind.CATEGORICAL
    return "ranks" if ordered else "equal"


def _bars(about: str, before: Risk | None, after: Risk | None) -> list[dict[str, Any]]:
    return [
        {
            "metric": name.upper(),
            "about": about if part == "inference" else "re-identification",
            "before": None if before is None else _value(f"{part}.{name}", before, about),
            "after": None if after is None else _value(f"{part}.{name}", after, about),
            "range": [0, 1],
        }
        for part in ("reidentification", "inference")
        for name in ("itpr", "dr")
    ]


def _columns(risks: Both) -> list[dict[str, Any]]:
    return [
        {"column": name, "metric": "DR", "before": dr, "after": risks.columns_after.get(name)}
        for name, dr in risks.columns_before.items()
    ]


def merged(parts: Sequence[RiskPart]) -> RiskPart:
    """Put the parts of several sensitive attributes together; equal chart rows stay once."""
    bars: list[dict[str, Any]] = []
    for part in parts:
        bars += [row for row in part.bars if row not in bars]
    findings = tuple(finding for part in parts for finding in part.findings)
    return RiskPart(findings, bars, parts[0].columns if parts else [])
