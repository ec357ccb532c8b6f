"""Runs an audit: reads, sanitizes, measures everything, judges, and writes one document."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from indiff.audit import document
from indiff.audit.document import AuditResult
from indiff.audit.findings import exposure, release
from indiff.audit.findings.also import with_others
from indiff.audit.findings.claim import Claims
from indiff.audit.findings.earlier import uncounted, with_earlier
from indiff.audit.findings.exposure import Exposure, Progress
from indiff.audit.findings.population import population_findings
from indiff.audit.findings.release import Subject
from indiff.audit.findings.tested import worst_records
from indiff.audit.findings.uniques import check_keys, joined_notes, unique_findings
from indiff.audit.metrics import METRICS
from indiff.audit.next_steps.case import Case, Step, each_case
from indiff.audit.next_steps.steps import next_steps
from indiff.audit.plan.plan import Plan, check_files, check_names, read_plan
from indiff.audit.policy.assess import judge_policy, unjudged
from indiff.audit.provenance import input_files, judged_files
from indiff.audit.redaction import Redaction
from indiff.audit.verdict import Verdict, incomplete, judge, with_columns
from indiff.data.table import Table
from indiff.databases import one_database
from indiff.differential.test import describe, part_of
from indiff.errors import UserError, why_exhausted
from indiff.release.unmeasured import Unmeasured, judge_columns, of_all
from indiff.report.finding import ORDER, Finding
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.sanitizer import Promise, Sanitizer, as_sanitizer, promise_of
from indiff.text import FORMAT, json_values

Found = TypeVar("Found")
DIGITS = 12  # what a number of the document keeps: rounding noise would differ by machine
# Steps that are no finding: what is said where one fails.
_EXTRAS = {
    "worst records": "the worst records could not be explained",
    "parameter": "other parameters could not be tested",
    "files": "the SHA-256 of the release could not be taken",
    "columns": "the release's other columns could not be judged",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Audit:
    """What every step of one audit needs: what to measure, and what became of the steps before.

    ``stopped`` has something in it once somebody asked to stop, ``lost`` says which steps failed
    and why. Memory or disk that runs out, and a bug, fail what was being measured and nothing else.
    """

    plan: Plan
    table: Table
    sanitizer: Sanitizer | None
    redaction: Redaction
    say: Progress
    seconds: dict[str, float]
    stopped: list[bool] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    bugs: list[Exception] = field(default_factory=list)

    def attempt(self, name: str, find: Callable[[], Found], *, stops: bool = False) -> Found | None:
        """Time a step; where it fails, ``lost`` has the reason. An interruption ``stops`` some."""
        begin = time.perf_counter()
        try:
            return find()
        except UserError as error:
            if why_exhausted(error) is None:
                raise
            self.lost[name] = self.failed(error)
        except KeyboardInterrupt:  # what was measured before it is kept
            if not stops:
                raise
            self.stopped.append(True)
        except Exception as error:  # noqa: BLE001 - nor does a bug take it along
            self.lost[name] = self.failed(error)
        finally:
            spent = time.perf_counter() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
        return None

    def failed(self, error: Exception) -> str:
        """Return why a measurement failed, in words that hold no value; keep a bug for later."""
        exhausted = why_exhausted(error)
        if exhausted is None and isinstance(error, UserError):
            return str(error)
        if exhausted is None:
            self.bugs.append(error)
        return exhausted or f"a bug in indiff ({type(error).__name__}); please report it"


@one_database()
def run_audit(
    plan: Plan | str | Path,
    table: Any = None,
    *,
    progress: Progress | None = None,
    command: str | None = None,
    complete: bool = True,
    source: str | None = None,
    run: str | Path | None = None,
    plan_file: str | Path | None = None,
) -> AuditResult:
    """Measure everything a plan asks for and judge it.

    ``plan`` is a :class:`Plan` or the path of one; ``table`` is a frame or a table to audit
    instead of the plan's file. Bad input raises; a measurement that cannot be made becomes a
    failed finding, which is never a pass. ``progress`` is called with what is being done and how
    far it is. ``command`` is the call as the report names it; if it is ``complete``, next steps
    add their options to it. ``run`` is a folder that keeps every finished target of a test that
    asks record by record, so that the same audit goes on there if it is killed. ``plan_file`` is
    where a :class:`Plan` was read, whose SHA-256 the report then names.

    >>> import indiff
    >>> plan = indiff.Plan(
    ...     data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
    ...     release={"sanitizer": "mondrian:k=5"}, limits={"k": 5, "delta": 0.1})
    >>> result = indiff.run_audit(plan, indiff.datasets.demo(records=200))
    >>> result.verdict["status"], result.finding("k").value, result.finding("k").exceeded
    ('fail', 5.0, False)
    """
    started, begin = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    chosen = plan if isinstance(plan, Plan) else read_plan(plan)
    say = progress or (lambda stage, done, total: None)
    say("reading the table", 0, 0)
    read = read_data(chosen, table)
    files = {"input": input_files(chosen, table, plan_file if isinstance(plan, Plan) else plan)}
    sanitizer = as_sanitizer(chosen.release.sanitizer) if chosen.release.file is None else None
    made = () if sanitizer is None else (chosen.release.sanitizer, describe(sanitizer))
    redaction = Redaction(
        read, chosen.report.min_cell, chosen.report.show_values, chosen.files, made
    )
    seconds = {"reading": time.perf_counter() - begin}
    audit = _Audit(
        plan=chosen, table=read, sanitizer=sanitizer, redaction=redaction, say=say, seconds=seconds
    )
    say("sanitizing", 0, 0)
    subjects = [_subject(audit, read.focus(one.name)) for one in read.sensitives]
    findings = _profile(audit)
    risk = release.merged([_risk(audit, one) for one in subjects])
    people = audit.attempt("population", lambda: population_findings(subjects, chosen, sanitizer))
    exposures: list[Exposure] = []
    for place, subject in enumerate(subjects):
        exposures.append(_exposure(audit, subject, exposures, part_of(run, "attribute", place)))
    audit.stopped.extend(one.interrupted for one in exposures if one.interrupted)
    worst, parameter = _explained(audit, subjects, exposures)
    findings += [*risk.findings, *(people.findings if people else [])]
    findings += audit.attempt("uniques", lambda: unique_findings(subjects, chosen, sanitizer)) or []
    beside = [with_others(audit, one, with_earlier(audit, one)) for one in subjects]
    claims = Claims(audit, sanitizer, run)
    for subject, one, more in zip(subjects, exposures, beside, strict=True):
        claimed = claims.findings(subject)
        told = [*one.findings, *more.findings, *claimed, *_utility(audit, subject)]
        findings += subject.titled(told)
    promises = _promises(audit, subjects, exposures)
    releases = tuple(one.release for one in subjects if one.release is not None)
    files["release"] = audit.attempt("files", lambda: judged_files(chosen, releases)) or []
    judging = (judge_columns(one.release, one.table, chosen.release.key) for one in subjects)
    columns = audit.attempt("columns", lambda: of_all(judging)) or ()
    judged, verdict = _judged(audit, findings, columns, exposures, promises)
    repeated = [] if sanitizer else subjects[0].repeated
    verdict = claims.judge(with_columns(verdict, (), repeated))
    verdict, policy = _by_policy(audit, verdict, judged, columns, subjects)
    cases = each_case(
        subjects, exposures, plan=chosen, sanitizer=sanitizer, findings=judged, curve=parameter,
        columns=columns, redaction=redaction, command=command if complete else None,
    )  # fmt: skip
    steps, verdict = _next_steps(audit, cases, verdict)
    notes = [*release.unmade(subjects), *joined_notes(findings), *(people.notes if people else ())]
    notes += [note for one in exposures for note in one.notes]
    notes += dict.fromkeys(note for one in beside for note in one.notes)
    name = source or (Path(chosen.data.path).name if chosen.data.path else "a frame")
    whole = {
        "format": FORMAT,
        "kind": "audit",
        "title": chosen.report.title or f"Audit of {name}",
        "verdict": verdict.to_dict(),
        "context": chosen.context.to_dict(),
        "policy": policy,
        "claim": claims.documents,
        "next_steps": steps,
        "table": document.table_block(read, name, redaction),
        "release": document.release_block(chosen, redaction, releases, notes, promises),
        "files": files,
        "fix": None,
        "tried": document.tried_block(chosen, [name for one in exposures for name in one.results]),
        "findings": [finding.to_dict() for finding in judged],
        "together": [one.told for one in beside if one.told is not None],
        "charts": document.charts_block(exposures, risk, parameter, worst),
        **document.settings_block(chosen, redaction, sanitizer, command),
        "timing": document.timing_block(started, begin, seconds),
    }
    return AuditResult(
        redaction.document(json_values(whole, digits=DIGITS)),
        results=tuple(result for one in exposures for result in one.results.values()),
        releases=releases,
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
    check_keys(plan, read)
    return read


def _subject(audit: _Audit, table: Table) -> Subject:
    """Make or read the release of one sensitive attribute."""
    plan, sanitizer = audit.plan, audit.sanitizer
    apart = len(audit.table.sensitives) > 1
    if sanitizer is None:  # a file that cannot be read is bad input
        return Subject(table, apart, plan.release.read(table))
    rng = (np.random.default_rng(plan.run.seed),) if sanitizer.randomized else ()
    try:
        made = audit.attempt("sanitizing", lambda: sanitizer.sanitize(table, *rng))
    except UserError as error:
        return Subject(table, apart, reason=audit.redaction.text(error.message))
    return Subject(table, apart, made, None if made is not None else audit.lost["sanitizing"])


def _profile(audit: _Audit) -> list[Finding]:
    """Return how many records the audit is about, and how much of them is missing."""
    if found := audit.attempt("profile", lambda: release.profile_findings(audit.table)):
        return found
    reason = audit.lost["profile"]
    return [METRICS[name].missed(name, "failed", reason) for name in ("records", "missing")]


def _risk(audit: _Audit, subject: Subject) -> release.RiskPart:
    audit.say("measuring risk before and after", 0, 0)
    table, made = subject.table, subject.release
    both = audit.attempt(
        "risk",
        lambda: release.measure_both(
            table,
            made,
            individual=audit.plan.data.individual,
            why_not=subject.why_not,
            in_order=audit.sanitizer is not None and not isinstance(audit.sanitizer, BlackBox),
        ),
    )
    before, after = both or (release.Side(), release.Side(reason=audit.lost["risk"]))
    weighted = both is not None and made is not None and made.weights is not None
    status: release.Missed = "skipped" if weighted else "failed"
    part = release.risk_part(table, before, after, status=status, suffix=subject.suffix)
    return replace(part, findings=tuple(subject.titled(part.findings)))


def _exposure(
    audit: _Audit, subject: Subject, earlier: Sequence[Exposure], run: Path | None
) -> Exposure:
    table, plan, sanitizer = subject.table, audit.plan, audit.sanitizer
    if any(one.interrupted for one in earlier):
        return exposure.unmeasured(table, sanitizer, plan, "skipped", exposure.INTERRUPTED)
    if subject.why_not is not None:
        return exposure.unmeasured(table, sanitizer, plan, "failed", subject.why_not)

    def find() -> Exposure:
        if sanitizer is None:
            return exposure.measure_beside(table, plan, audit.failed)
        return exposure.measure_exposure(table, sanitizer, plan, audit.say, run, audit.failed)

    found = audit.attempt("differential test", find)
    reason = audit.lost.get("differential test", "")
    return found or exposure.unmeasured(table, sanitizer, plan, "failed", reason)


def _explained(
    audit: _Audit, subjects: Sequence[Subject], exposures: Sequence[Exposure]
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the worst records and the curve over a parameter, as far as there was time."""
    worst: list[dict[str, Any]] = []
    plan, sanitizer, redaction = audit.plan, audit.sanitizer, audit.redaction
    if sanitizer is None or audit.stopped:
        return worst, None

    def explain() -> None:
        audit.say("explaining the worst records", 0, 0)
        for subject, one in zip(subjects, exposures, strict=True):
            if one.combined is not None:
                worst.extend(worst_records(subject.table, sanitizer, one.combined, plan, redaction))

    def vary() -> dict[str, Any] | None:
        return exposure.parameter_curve(subjects[0].table, plan, redaction, audit.say, exposures[0])

    audit.attempt("worst records", explain, stops=True)
    return worst, None if audit.stopped else audit.attempt("parameter", vary, stops=True)


def _utility(audit: _Audit, subject: Subject) -> list[Finding]:
    table, plan, suffix, made = subject.table, audit.plan, subject.suffix, subject.release

    def find() -> list[Finding] | None:
        audit.say("measuring utility", 0, 0)
        return None if made is None else release.utility_findings(table, made, plan, suffix=suffix)

    asked = made is not None and not audit.stopped
    found = audit.attempt("utility", find, stops=True) if asked else None
    if found is not None:
        return found
    if "utility" in audit.lost:
        return release.no_utility(table, plan, "failed", audit.lost["utility"], suffix)
    reason = exposure.INTERRUPTED if audit.stopped else str(subject.why_not)
    return release.no_utility(table, plan, "skipped", reason, suffix)


def _promises(
    audit: _Audit, subjects: Sequence[Subject], exposures: Sequence[Exposure]
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
    findings: Sequence[Finding],
    columns: Sequence[Unmeasured],
    exposures: Sequence[Exposure],
    promises: Sequence[Promise],
) -> tuple[tuple[Finding, ...], Verdict]:
    """Check the limits on the findings, put in the order of the questions."""
    ids = [finding.id for finding in findings]
    assert len(set(ids)) == len(ids), "findings need ids of their own"
    unkept = [one.why_not for one in promises if one.why_not is not None]
    judged, verdict = judge(
        sorted(map(audit.redaction.finding, findings), key=lambda x: ORDER.index(x.question)),
        audit.plan.all_limits,
        interrupted=bool(audit.stopped),
        unfinished=[
            *(text for one in exposures for text in one.unfinished),
            *uncounted(findings, audit.plan.all_limits),
            *(f"{_EXTRAS[name]}: {why}" for name, why in audit.lost.items() if name in _EXTRAS),
        ],
        broken=[f"the release breaks its own promise: {why}" for why in unkept[:1]],
    )
    return judged, with_columns(verdict, columns)


def _by_policy(
    audit: _Audit,
    verdict: Verdict,
    judged: Sequence[Finding],
    columns: Sequence[Unmeasured],
    subjects: Sequence[Subject],
) -> tuple[Verdict, dict[str, Any] | None]:
    """Judge the policy of the plan, where there is one; if that fails, nothing passes."""
    plan, policy = audit.plan, audit.plan.policy
    if policy is None:
        return verdict, None
    found = audit.attempt(
        "policy", lambda: judge_policy(verdict, policy, plan, judged, columns, subjects)
    )
    return found or unjudged(verdict, audit.lost["policy"])


def _next_steps(
    audit: _Audit, cases: Sequence[Case], verdict: Verdict
) -> tuple[list[Step], Verdict]:
    """Return what to do next; where that fails, the verdict says so."""
    steps = None if audit.stopped else audit.attempt("next steps", lambda: next_steps(cases))
    if "next steps" in audit.lost:
        why = audit.lost["next steps"]
        verdict = incomplete(verdict, f"what to do next could not be worked out: {why}")
    return steps or [], verdict
