"""Runs an audit: reads, sanitizes, measures everything, judges, and writes one document."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from indiff.audit.findings import exposure, risks
from indiff.audit.findings.beside import measure_beside
from indiff.audit.findings.exposure import parameter_curve
from indiff.audit.findings.profile import profile_findings, table_block
from indiff.audit.findings.usefulness import no_utility, utility_findings
from indiff.audit.findings.worst_records import worst_records
from indiff.audit.metrics import METRICS
from indiff.audit.plan.plan import Plan, check_files, check_names, read_plan
from indiff.audit.redaction import Redaction
from indiff.audit.result import DIGITS, AuditResult, plan_block, versions
from indiff.audit.steps import Clock, Progress, Staged, Steps
from indiff.audit.verdict import Verdict, judge, with_columns
from indiff.data.table import Table
from indiff.differential.test import describe, part_of
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.release.unmeasured import judge_columns, key_notes
from indiff.report.finding import QUESTIONS, Finding
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.promise import Promise, all_kept, promise_of
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import FORMAT, json_values

# Steps that are no finding: what is said where one fails.
_EXTRAS = {
    "worst records": "the worst records could not be explained",
    "parameter": "other parameters could not be tested",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Audit(Steps):
    """What every step of one audit needs."""

    plan: Plan
    table: Table
    sanitizer: Sanitizer | None
    redaction: Redaction


@dataclass(frozen=True, eq=False)
class _Subject:
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

    def titled(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Name the attribute in every title, where each of several has a release of its own."""
        name = self.table.sensitive.name
        return tuple(
            replace(one, title=f"{one.title}, release for {name}")
            if self.apart and name not in one.title
            else one
            for one in findings
        )


def run_audit(
    plan: Plan | str | Path,
    table: Any = None,
    *,
    progress: Progress | None = None,
    command: str | None = None,
    source: str | None = None,
    run: str | Path | None = None,
) -> AuditResult:
    """Measure everything a plan asks for and judge it.

    ``plan`` is a :class:`Plan` or the path of one; ``table`` is a frame or a table to audit
    instead of the plan's file. Bad input raises; a measurement that cannot be made becomes a
    failed finding, which is never a pass. ``progress`` is called with what is being done and how
    far it is. ``run`` is a folder that keeps every finished target of a test that asks record by
    record, so that the same audit goes on there if it is killed.

    >>> import indiff
    >>> plan = indiff.Plan(
    ...     data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
    ...     release={"sanitizer": "mondrian:k=5"}, limits={"k": 5, "delta": 0.1})
    >>> result = indiff.run_audit(plan, indiff.datasets.demo(records=200))
    >>> result.verdict["status"], result.finding("k").value, result.finding("k").exceeded
    ('fail', 5.0, False)
    """
    chosen = plan if isinstance(plan, Plan) else read_plan(plan)
    say = progress or (lambda stage, done, total: None)
    clock = Clock()
    say("reading the table", 0, 0)
    read = read_data(chosen, table)
    clock.add("reading", time.perf_counter() - clock.begin)
    sanitizer = None if chosen.release.file is not None else as_sanitizer(chosen.release.sanitizer)
    audit = _Audit(
        plan=chosen, table=read, sanitizer=sanitizer, say=say, clock=clock,
        redaction=_redaction(read, chosen, sanitizer),
    )  # fmt: skip
    say("sanitizing", 0, 0)
    subjects = [_subject(audit, read.focus(one.name)) for one in read.sensitives]
    findings = _profile(audit)
    risk = risks.merged([_risk(audit, one) for one in subjects])
    exposures: list[exposure.Exposure] = []
    for place, subject in enumerate(subjects):
        exposures.append(_exposure(audit, subject, exposures, part_of(run, "attribute", place)))
    if any(one.interrupted for one in exposures):
        audit.stopped.append(True)
    charts = {
        "cdf": [curve for one in exposures for curve in one.curves],
        "parameter": None,
        "risk": risk.bars,
        "columns": risk.columns,
        "worst": [],
        **_explained(audit, subjects, exposures),
    }
    findings += risk.findings
    for subject, one in zip(subjects, exposures, strict=True):
        findings += subject.titled(one.findings)
    for subject in subjects:
        findings += subject.titled(_utility(audit, subject))
    promises = _promises(audit, subjects, exposures)
    judged, verdict = _judged(audit, findings, subjects, exposures, promises)
    name = source or (Path(chosen.data.path).name if chosen.data.path else "a frame")
    told = [note for one in exposures for note in one.notes]
    document = {
        "format": FORMAT,
        "kind": "audit",
        "title": chosen.report.title or f"Audit of {name}",
        "verdict": verdict.to_dict(),
        "table": table_block(read, name, audit.redaction),
        "release": _release_block(audit, subjects, told, promises),
        "findings": [finding.to_dict() for finding in judged],
        "charts": charts,
        **_settings_block(audit, command),
    }
    return AuditResult(
        audit.redaction.document(json_values(document, digits=DIGITS)),
        results=tuple(result for one in exposures for result in one.results.values()),
        releases=tuple(one.release for one in subjects if one.release is not None),
        inputs=chosen.files,
        bug=audit.bugs[0] if audit.bugs else None,
    )


def read_data(plan: Plan, table: Any = None) -> Table:
    """Read the table of a plan, or the one given instead, with the plan's roles and kinds."""
    if isinstance(table, Table):
        return table
    if table is None and plan.data.path is None:
        raise UserError("[data] path is needed; name the table's file, or pass a table.")
    check_files(plan)
    read = plan.data.read(table)
    check_names(plan, read)
    return read


def _redaction(table: Table, plan: Plan, sanitizer: Sanitizer | None) -> Redaction:
    made = () if sanitizer is None else (plan.release.sanitizer, describe(sanitizer))
    return Redaction(table, plan.report.min_cell, plan.report.show_values, plan.files, made)


def _settings_block(audit: _Audit, command: str | None) -> dict[str, Any]:
    """Return what a repetition needs, and how long this run took."""
    plan, redaction = audit.plan, audit.redaction
    return {
        "plan": plan_block(plan, redaction, audit.sanitizer),
        "min_cell": plan.report.min_cell,
        "show_values": plan.report.show_values,
        "seed": plan.run.seed,
        "versions": versions(),
        "command": redaction.text(command or "indiff.run_audit(plan)"),
        "timing": audit.clock.to_dict(),
    }


def _subject(audit: _Audit, table: Table) -> _Subject:
    """Make or read the release of one sensitive attribute."""
    plan, sanitizer = audit.plan, audit.sanitizer
    apart = len(audit.table.sensitives) > 1
    if sanitizer is None:  # a file that cannot be read is bad input
        return _Subject(table, apart, plan.release.read(table))
    try:
        with audit.attempt("sanitizing"):
            if sanitizer.randomized:
                release = sanitizer.sanitize(table, np.random.default_rng(plan.run.seed))
            else:
                release = sanitizer.sanitize(table)
            return _Subject(table, apart, release)
    except UserError as error:
        return _Subject(table, apart, reason=audit.redaction.text(error.message))
    return _Subject(table, apart, reason=audit.lost["sanitizing"])


def _profile(audit: _Audit) -> list[Finding]:
    with audit.attempt("profile"):
        return profile_findings(audit.table)
    reason = audit.lost["profile"]
    return [METRICS[name].missed(name, "failed", reason) for name in ("records", "missing")]


def _risk(audit: _Audit, subject: _Subject) -> risks.RiskPart:
    audit.say("measuring risk before and after", 0, 0)
    both = None
    with audit.attempt("risk"):
        both = risks.measure_both(
            subject.table,
            subject.release,
            individual=audit.plan.data.individual,
            why_not=subject.why_not,
            in_order=audit.sanitizer is not None and not isinstance(audit.sanitizer, BlackBox),
        )
    if both is None:
        both = risks.Both(None, None, after_reason=audit.lost["risk"])
    weighted = (
        "risk" not in audit.lost
        and subject.release is not None
        and subject.release.weights is not None
    )
    part = risks.risk_part(
        subject.table, both, status="skipped" if weighted else "failed", suffix=subject.suffix
    )
    return replace(part, findings=subject.titled(part.findings))


def _exposure(
    audit: _Audit, subject: _Subject, earlier: Sequence[exposure.Exposure], run: Path | None
) -> exposure.Exposure:
    table, plan = subject.table, audit.plan
    if any(one.interrupted for one in earlier):
        reason = exposure.INTERRUPTED
        return exposure.unmeasured(table, audit.sanitizer, plan, "skipped", reason)
    if subject.why_not is not None:
        return exposure.unmeasured(table, audit.sanitizer, plan, "failed", subject.why_not)
    with audit.attempt("differential test"):
        if audit.sanitizer is None:
            return measure_beside(table, plan, audit.failed)
        progress = Staged(audit.say, f"testing {len(table):,} records")
        return exposure.measure_exposure(
            table, audit.sanitizer, plan, progress, run, failed=audit.failed
        )
    reason = audit.lost["differential test"]
    return exposure.unmeasured(table, audit.sanitizer, plan, "failed", reason)


def _explained(
    audit: _Audit, subjects: Sequence[_Subject], exposures: Sequence[exposure.Exposure]
) -> dict[str, Any]:
    """Return the worst records and the curve over a parameter, as far as there was time."""
    found: dict[str, Any] = {}
    if audit.sanitizer is None or audit.stopped:
        return found
    with audit.step("worst records"):
        audit.say("explaining the worst records", 0, 0)
        worst: list[dict[str, Any]] = []
        found["worst"] = worst
        for subject, one in zip(subjects, exposures, strict=True):
            if one.combined is not None:
                worst += worst_records(
                    subject.table, audit.sanitizer, one.combined, audit.plan, audit.redaction
                )
    if not audit.stopped:
        with audit.step("parameter"):
            audit.say("testing other parameters", 0, 0)
            found["parameter"] = parameter_curve(subjects[0].table, audit.plan, audit.redaction)
    return found


def _utility(audit: _Audit, subject: _Subject) -> list[Finding]:
    table, plan, suffix = subject.table, audit.plan, subject.suffix
    if not audit.stopped and subject.release is not None:
        with audit.step("utility"):
            audit.say("measuring utility", 0, 0)
            return utility_findings(table, subject.release, plan, suffix=suffix)
    if "utility" in audit.lost:
        return no_utility(table, plan, "failed", audit.lost["utility"], suffix)
    reason = exposure.INTERRUPTED if audit.stopped else str(subject.why_not)
    return no_utility(table, plan, "skipped", reason, suffix)


def _in_order(findings: list[Finding]) -> list[Finding]:
    """Put the findings in the order of the questions; equal ids would not be told apart."""
    order = list(QUESTIONS)
    ids = [finding.id for finding in findings]
    assert len(set(ids)) == len(ids), "findings need ids of their own"
    return sorted(findings, key=lambda finding: order.index(finding.question))


def _promises(
    audit: _Audit, subjects: Sequence[_Subject], exposures: Sequence[exposure.Exposure]
) -> list[Promise]:
    """Judge the promise of every release that was made, and of those that the tests made."""
    made = [
        Promise(kept=False)
        if one.release is None
        else promise_of(audit.sanitizer, one.table, one.release.constraint_met)
        for one in subjects
    ]
    tests = [result for one in exposures for result in one.results.values()]
    return [*made, *(Promise(test.constraint_met, test.unmet) for test in tests)]


def _judged(
    audit: _Audit,
    findings: Iterable[Finding],
    subjects: Sequence[_Subject],
    exposures: Sequence[exposure.Exposure],
    promises: Sequence[Promise],
) -> tuple[tuple[Finding, ...], Verdict]:
    unkept = [one.why_not for one in promises if one.why_not is not None]
    judged, verdict = judge(
        _in_order([audit.redaction.finding(one) for one in findings]),
        audit.plan.limits,
        interrupted=bool(audit.stopped),
        unfinished=[
            *(text for one in exposures for text in one.unfinished),
            *(f"{_EXTRAS[name]}: {why}" for name, why in audit.lost.items() if name in _EXTRAS),
        ],
        broken=[f"the release breaks its own promise: {why}" for why in unkept[:1]],
    )
    columns = judge_columns(subjects[0].release, subjects[0].table, audit.plan.release.key)
    return judged, with_columns(verdict, columns)


def _release_block(
    audit: _Audit, subjects: Sequence[_Subject], told: Iterable[str], promises: Sequence[Promise]
) -> dict[str, Any]:
    plan, release = audit.plan, subjects[0].release
    notes = [
        f"no release of {one.table.sensitive.name} could be made: {one.reason}"
        for one in subjects
        if one.reason is not None
    ]
    notes += () if release is None else release.notes
    if release is not None and release.weights is not None:
        notes.append(f"made to be tested, not to be published: {release.sanitizer}")
    notes += dict.fromkeys(told)
    if len(subjects) > 1:
        notes.append("each sensitive attribute has a release of its own, measured on its own")
    groups = None
    if release is not None and release.groups is not None:
        groups = len(np.unique(release.groups))
    file = plan.release.file
    return {
        "sanitizer": plan.release.sanitizer if file is None else Path(file).name,
        "records": 0 if release is None else len(release),
        "constraint_met": all_kept(one.kept for one in promises),
        "groups": groups,
        "notes": [
            *map(audit.redaction.text, notes),
            *key_notes(release, plan.release.key),
        ],
    }
