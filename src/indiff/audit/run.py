"""run_audit: read, sanitize, measure everything, judge, and put it all into one document."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from indiff.audit.document import DIGITS, plan_block, versions
from indiff.audit.findings import carried, exposure, risks
from indiff.audit.findings.beside import measure_beside
from indiff.audit.findings.curve import parameter_curve
from indiff.audit.findings.profile import profile_findings, table_block
from indiff.audit.findings.usefulness import utility_findings
from indiff.audit.findings.worst import worst_records
from indiff.audit.plan.fitting import check_files, check_names
from indiff.audit.plan.plan import Plan, read_plan
from indiff.audit.plan.settings import expand
from indiff.audit.redaction.naming import Naming
from indiff.audit.result import AuditResult
from indiff.audit.verdict import judge
from indiff.data.table import Table
from indiff.differential.test import describe, part_of
from indiff.errors import UserError
from indiff.release.release import Release, read_release
from indiff.report.finding import QUESTIONS, Finding
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import FORMAT, json_values

Progress = Callable[[str, int, int], object]


@dataclass
class _Clock:
    """How long each step took: the only part of a document that differs between two runs."""

    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    begin: float = field(default_factory=time.perf_counter)
    steps: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.steps[name] = self.steps.get(name, 0.0) + time.perf_counter() - begin

    def to_dict(self) -> dict[str, Any]:
        seconds = round(time.perf_counter() - self.begin, 3)
        steps = {name: round(spent, 3) for name, spent in self.steps.items()}
        return {"started": self.started, "seconds": seconds, "steps": steps}


@dataclass(frozen=True)
class _Staged:
    """The audit's progress as one test's, which may also tell each new distance."""

    say: Progress
    stage: str

    def __call__(self, done: int, total: int) -> None:
        self.say(self.stage, done, total)

    def measured(self, distance: float) -> None:
        """Hand a record's distance to whoever wants it."""
        if hasattr(self.say, "measured"):
            self.say.measured(distance)


@dataclass
class _Interruption:
    """Whether somebody asked to stop: what comes later is skipped, what was measured is kept."""

    happened: bool = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.happened = True


@dataclass(frozen=True, eq=False)
class _Subject:
    """One sensitive attribute: its table, and the release or the reason why there is none."""

    table: Table
    release: Release | None
    reason: str | None = None


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
    clock = _Clock()
    with clock.step("reading"):
        say("reading the table", 0, 0)
        read = read_data(chosen, table)
    naming = _naming(read, chosen)
    sanitizer = None if chosen.release.file is not None else as_sanitizer(chosen.release.sanitizer)
    with clock.step("sanitizing"):
        say("sanitizing", 0, 0)
        subjects = [
            _subject(read.focus(one.name), sanitizer, chosen, naming) for one in read.sensitives
        ]
    with clock.step("profile"):
        findings = profile_findings(read)
    with clock.step("risk"):
        several = len(subjects) > 1
        parts = [_risk(one, sanitizer, chosen, naming, several, say) for one in subjects]
        risk = risks.merged(parts)
    exposures: list[exposure.Exposure] = []
    with clock.step("differential test"):
        for place, subject in enumerate(subjects):
            folder = part_of(run, "attribute", place)
            exposures.append(_exposure(subject, sanitizer, chosen, naming, exposures, say, folder))
    stop = _Interruption(any(one.interrupted for one in exposures))
    worst: list[dict[str, Any]] = []
    curve = None
    if not stop.happened and sanitizer is not None:
        with clock.step("worst records"), stop.noticed():
            say("explaining the worst records", 0, 0)
            for subject, one in zip(subjects, exposures, strict=True):
                if one.combined is not None:
                    worst += worst_records(subject.table, sanitizer, one.combined, chosen, naming)
    if not stop.happened and sanitizer is not None:
        with clock.step("parameter"), stop.noticed():
            say("testing other parameters", 0, 0)
            curve = parameter_curve(subjects[0].table, chosen, naming)
    findings += risk.findings
    for subject, one in zip(subjects, exposures, strict=True):
        findings += _apart(one.findings, subject, several)
    with clock.step("utility"):
        for subject in subjects:
            findings += _apart(
                _utility(subject, chosen, naming, stop, several, say), subject, several
            )
    met = all(one.release is None or _met(one.release) for one in subjects)
    judged, verdict = judge(
        _in_order(findings),
        chosen.limits,
        constraint_met=met and all(one.constraint_met for one in exposures),
        interrupted=stop.happened,
        unfinished=[text for one in exposures for text in one.unfinished],
        broken=carried.identified(subjects[0].release, read, chosen.release.key),
    )
    name = source or (Path(chosen.data.path).name if chosen.data.path else "a frame")
    document = {
        "format": FORMAT,
        "kind": "audit",
        "title": chosen.report.title or f"Audit of {name}",
        "verdict": verdict.to_dict(),
        "table": table_block(read, name, naming),
        "release": _release_block(subjects, chosen, naming),
        "findings": [finding.to_dict() for finding in judged],
        "charts": {
            "cdf": [curve for one in exposures for curve in one.curves],
            "parameter": curve,
            "risk": risk.bars,
            "columns": risk.columns,
            "worst": worst,
        },
        "plan": plan_block(chosen, naming, sanitizer),
        "min_cell": chosen.report.min_cell,
        "show_values": chosen.report.show_values,
        "seed": chosen.run.seed,
        "versions": versions(),
        "command": naming.text(command or "indiff.run_audit(plan)"),
        "timing": clock.to_dict(),
    }
    return AuditResult(
        naming.renamed(json_values(document, digits=DIGITS)),
        results=tuple(result for one in exposures for result in one.results.values()),
        releases=tuple(one.release for one in subjects if one.release is not None),
        inputs=chosen.files,
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


def _naming(table: Table, plan: Plan) -> Naming:
    distance = plan.adversary.distance
    chosen = [plan.release.sanitizer, *plan.adversary.models, plan.adversary.method]
    chosen += [distance, distance.removeprefix("emd:")]
    if plan.report.parameter is not None:
        chosen += [setting.text for setting in expand(plan.report.parameter)]
    if plan.release.file is None:
        chosen.append(describe(as_sanitizer(plan.release.sanitizer)))
    return Naming(table, plan.report.min_cell, plan.report.show_values, plan.files, tuple(chosen))


def _subject(table: Table, sanitizer: Sanitizer | None, plan: Plan, naming: Naming) -> _Subject:
    """Make or read the release of one sensitive attribute."""
    try:
        if sanitizer is None:
            assert plan.release.file is not None
            release = read_release(plan.release.file, table, encoding=plan.release.encoding)
        elif sanitizer.randomized:
            release = sanitizer.sanitize(table, np.random.default_rng(plan.run.seed))
        else:
            release = sanitizer.sanitize(table)
    except UserError as error:
        return _Subject(table, None, naming.text(str(error)))
    return _Subject(table, release)


def _risk(
    subject: _Subject,
    sanitizer: Sanitizer | None,
    plan: Plan,
    naming: Naming,
    several: bool,
    say: Progress,
) -> risks.RiskPart:
    say("measuring risk before and after", 0, 0)
    reason = None if subject.reason is None else f"there is no release: {subject.reason}"
    both = risks.measure_both(
        subject.table,
        subject.release,
        individual=plan.data.individual,
        why_not=reason,
        in_order=sanitizer is not None and not isinstance(sanitizer, BlackBox),
    )
    weighted = subject.release is not None and subject.release.weights is not None
    part = risks.risk_part(
        subject.table,
        both,
        status="skipped" if weighted else "failed",
        suffix=f":{subject.table.sensitive.name}" if several else "",
    )
    return replace(part, findings=_apart(_told(part.findings, naming), subject, several))


def _exposure(
    subject: _Subject,
    sanitizer: Sanitizer | None,
    plan: Plan,
    naming: Naming,
    earlier: list[exposure.Exposure],
    say: Progress,
    run: Path | None,
) -> exposure.Exposure:
    table = subject.table
    status, reason = "skipped", None
    if any(one.interrupted for one in earlier):
        reason = exposure.INTERRUPTED
    elif subject.reason is not None:
        status, reason = "failed", f"there is no release: {subject.reason}"
    if reason is not None:
        named = [name for name in plan.adversary.models if name != "auto"] or ["naive-bayes"]
        lost = [one for name in named for one in exposure.missed(table, status, str(reason), name)]
        return exposure.Exposure(tuple(lost))
    if sanitizer is None:
        found = measure_beside(table, plan)
        return replace(found, findings=_told(found.findings, naming))
    stage = f"testing {len(table):,} records"
    found = exposure.measure_exposure(table, sanitizer, plan, _Staged(say, stage), run)
    return replace(found, findings=_told(found.findings, naming))


def _utility(
    subject: _Subject,
    plan: Plan,
    naming: Naming,
    stop: _Interruption,
    several: bool,
    say: Progress,
) -> list[Finding]:
    def found(reason: str | None) -> list[Finding]:
        suffix = f":{subject.table.sensitive.name}" if several else ""
        return utility_findings(subject.table, subject.release, plan, reason=reason, suffix=suffix)

    reason = None if subject.reason is None else f"there is no release: {subject.reason}"
    if not stop.happened:
        with stop.noticed():
            say("measuring utility", 0, 0)
            return list(_told(found(reason), naming))
    return found(exposure.INTERRUPTED)


def _apart(findings: Iterable[Finding], subject: _Subject, several: bool) -> tuple[Finding, ...]:
    """Name the attribute in every title, where each of several has a release of its own."""
    name = subject.table.sensitive.name
    return tuple(
        replace(one, title=f"{one.title}, release for {name}")
        if several and name not in one.title
        else one
        for one in findings
    )


def _told(findings: Any, naming: Naming) -> tuple[Finding, ...]:
    """Keep rare values out of the reasons that other modules gave."""
    return tuple(
        one if one.reason is None else replace(one, reason=naming.text(one.reason))
        for one in findings
    )


def _in_order(findings: list[Finding]) -> list[Finding]:
    """Put the findings in the order of the questions; equal ids would not be told apart."""
    order = list(QUESTIONS)
    ids = [finding.id for finding in findings]
    assert len(set(ids)) == len(ids), "findings need ids of their own"
    return sorted(findings, key=lambda finding: order.index(finding.question))


def _met(release: Release) -> bool:
    """Tell whether a release meets its constraint; that of noise is its privacy budget.

    Noise that repeats from a seed is for testing and never differentially private: the release's
    note says what keeps it from being so, which is no broken constraint.
    """
    return release.constraint_met or release.weights is not None


def _release_block(subjects: list[_Subject], plan: Plan, naming: Naming) -> dict[str, Any]:
    release = subjects[0].release
    foreign = plan.release.file is not None
    notes = [f"no release of {one.table.sensitive.name} could be made: {one.reason}"
             for one in subjects if one.reason is not None]  # fmt: skip
    if release is not None and release.weights is not None:
        notes.append(f"made to be tested, not to be published: {release.sanitizer}")
    if len(subjects) > 1:
        notes.append("each sensitive attribute has a release of its own, measured on its own")
    groups = None
    if release is not None and release.groups is not None:
        groups = len(np.unique(release.groups))
    return {
        "sanitizer": Path(str(plan.release.file)).name
        if foreign
        else naming.text(plan.release.sanitizer),
        "records": 0 if release is None else len(release),
        "constraint_met": all(one.release is not None and _met(one.release) for one in subjects),
        "groups": groups,
        "notes": [
            *map(naming.text, notes),
            *carried.unaudited(release, naming.table, plan.release.key),
        ],
    }
