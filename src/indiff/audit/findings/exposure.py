"""Measures private inference, public inference and membership by the differential test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indiff.audit.findings.tested import (
    Failed,
    findings_of,
    findings_of_strongest,
    memberships,
    unlinked,
)
from indiff.audit.metrics import METRICS, metric
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.values.settings import Setting, expand
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.beside.dropped_row import test_release
from indiff.differential.beside.linkage import Linkage
from indiff.differential.calls.calls import Share
from indiff.differential.path import Beside
from indiff.differential.people import as_deadline
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import Adversaries, StrongestResult, choose_models, strongest
from indiff.differential.test import each_confidence, part_of
from indiff.errors import UserError
from indiff.inference import Model
from indiff.plot.style import thinned
from indiff.report.finding import Finding
from indiff.sanitizers.sanitizer import Identity, Sanitizer, as_sanitizer
from indiff.text import name as short_name

_NAMES = ("delta", "mean", "quantile", "changed_predictions", "told_by_the_crowd")
INTERRUPTED = "the audit was interrupted"
TIME_IS_UP = "the time was up before this setting"
# What a setting has that was not tested.
_NOTHING = {"delta": None, "mean": None, "delta_upper": None, "mean_upper": None, "exactness": None}
Progress = Callable[[str, int, int], object]


@dataclass(frozen=True, eq=False)
class Exposure:
    """What the differential test of one sensitive attribute found."""

    findings: tuple[Finding, ...]
    results: dict[str, DifferentialResult] = field(default_factory=dict)
    combined: DifferentialResult | StrongestResult | None = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def unfinished(self) -> list[str]:
        """Say which tests did not measure every record that they were asked for."""
        return [
            f"{name} was asked about {result.requested:,} and measured {len(result.distances):,}"
            for name, result in self.results.items()
            if not result.complete
        ]

    def answers(self, models: Iterable[str]) -> bool:
        """Tell whether it has what just these models find of every record they are asked for."""
        return list(self.results) == list(models) and not self.interrupted and not self.unfinished

    @property
    def curves(self) -> list[dict[str, Any]]:
        """The thinned CDF of each adversary's distances."""
        found = []
        for name, result in self.results.items():
            if len(result.distances):
                x, y = thinned(*result.cdf())
                found.append(
                    {"name": f"{result.sensitive_name}: {name}", "x": x.tolist(), "y": y.tolist()}
                )
        return found


@dataclass(frozen=True)
class _Staged:
    """The audit's progress as one test's, which may also tell each new distance."""

    say: Progress
    stage: str

    def __call__(self, done: int, total: int) -> None:
        self.say(self.stage, done, total)

    def measured(self, distance: float) -> None:
        if hasattr(self.say, "measured"):
            self.say.measured(distance)


def measure_exposure(
    table: Table,
    sanitizer: Sanitizer,
    plan: Plan,
    say: Progress,
    run: Path | None,
    failed: Failed,
) -> Exposure:
    """Run the differential test of one sensitive attribute with every adversary of the plan.

    An adversary that cannot be asked is a failed finding, for which ``failed`` has the words; the
    others still are asked. ``run`` is the folder that keeps every finished target.
    """
    chosen = adversaries_of(plan, sanitizer, table)
    progress = _Staged(say, f"testing {len(table):,} records")
    beside = Beside(chosen.models)

    def ask(place: int, model: Model) -> DifferentialResult:
        share = Share(progress, place, len(chosen.models))
        share(0, len(table))  # the first record may take long
        return differential_test(
            table,
            sanitizer,
            model=model,
            progress=share,
            run=part_of(run, "model", place),
            beside=beside,
            **settings(plan, len(chosen.models)),
        )

    findings, results, interrupted = _ask_each(table, chosen, ask, plan, failed)
    if plan.adversary.membership:
        findings += memberships([*results.values()], plan, failed)
    combined: DifferentialResult | StrongestResult | None = next(iter(results.values()), None)
    if len(results) > 1:
        try:
            combined = strongest(results, plan.adversary.confidence, left_out=chosen.left_out)
            findings += findings_of_strongest(combined, plan)
        except Exception as error:  # noqa: BLE001 - each adversary's own findings survive it
            combined = None
            findings += missed(table, "failed", failed(error), "the strongest adversary")
    notes = [] if chosen.left_out is None else [chosen.left_out]
    notes += [note for result in results.values() for note in result.notes]
    told = tuple(dict.fromkeys(notes))
    return Exposure(tuple(findings), results, combined, interrupted, told)


def measure_beside(table: Table, plan: Plan, failed: Failed) -> Exposure:
    """Link records to a release made elsewhere and, where rows are known to be theirs, drop them.

    Dropping a row is not sanitizing without the record: such a δ is an approximation, which the
    verdict never takes for a pass. Without rows that are known to be theirs it is skipped.
    """
    # All records where only a number is asked for: without a sanitizer they cost little.
    targets = None if isinstance(plan.adversary.targets, int) else plan.adversary.targets
    linkages: list[Linkage] = []

    def ask(_: int, model: Model) -> DifferentialResult | str:
        found = test_release(
            table,
            plan.release.file,
            key=plan.release.key,
            rows_in_order=plan.release.rows_in_order,
            model=model,
            distance=plan.adversary.distance,
            targets=targets,
            prior=plan.adversary.prior,
            known=plan.adversary.known,
            encoding=plan.release.encoding,
            suppressed=plan.release.suppressed,
        )
        linkages.append(found.linkage)
        return str(found.skipped) if found.test is None else found.test

    chosen = choose_models(plan.adversary.models, Identity())
    findings, results, interrupted = _ask_each(table, chosen, ask, plan, failed)
    about = table.sensitive.name
    findings += [
        METRICS["one_candidate"].found(
            f"one_candidate:{about}",
            linkage.unique,
            {"none": unlinked(linkage.unlinked)},
            about=about,
            exactness="exact",
            parameters=linkage.to_dict(),
        )
        for linkage in linkages[:1]
    ]
    return Exposure(tuple(findings), results, interrupted=interrupted)


def _ask_each(
    table: Table,
    chosen: Adversaries,
    ask: Callable[[int, Model], DifferentialResult | str],
    plan: Plan,
    failed: Failed,
) -> tuple[list[Finding], dict[str, DifferentialResult], bool]:
    """Ask every adversary, who may say why it skips; tell, too, whether somebody interrupted."""
    findings: list[Finding] = []
    results: dict[str, DifferentialResult] = {}
    interrupted = False
    for place, (name, model) in enumerate(chosen.named.items()):
        status = "skipped"
        try:
            result = INTERRUPTED if interrupted else ask(place, model)
        except KeyboardInterrupt:  # before the first record; what others measured is kept
            interrupted, result = True, INTERRUPTED
        except Exception as error:  # noqa: BLE001 - what others measured must survive it
            status, result = "failed", failed(error)
        if isinstance(result, str):
            findings += missed(table, status, result, name)
            continue
        interrupted = result.interrupted
        if not len(result.distances):
            reason = result.failures[0] if result.failures else "no record was measured"
            findings += missed(table, "failed", reason, name)
            continue
        results[name] = result
        findings += findings_of(result, plan)
    return findings, results, interrupted


def adversaries_of(plan: Plan, sanitizer: Sanitizer, table: Table, share: int = 1) -> Adversaries:
    """Return the adversaries of a plan; those of its own choice depend on the work of the test."""
    return choose_models(
        plan.adversary.models,
        sanitizer,
        table,
        targets=plan.adversary.targets,
        individual=plan.data.individual,
        method=plan.adversary.method,
        share=share,
    )


def settings(plan: Plan, models: int) -> dict[str, Any]:
    """Return the options of the differential test that the plan sets, for so many models."""
    asked = plan.adversary
    return {
        "distance": asked.distance,
        "targets": asked.targets,
        "method": asked.method,
        "runs": asked.runs,
        "individual": plan.data.individual,
        "time": plan.run.time,
        "confidence": each_confidence(asked.confidence, models),
        "jobs": plan.run.jobs,
        "seed": plan.run.seed,
        "prior": asked.prior,
        "known": asked.known,
    }


def missed(table: Table, status: Any, reason: str, model: str) -> list[Finding]:
    """Return the findings of an adversary who could not be asked."""
    about = table.sensitive.name
    return [
        metric(name, about=short_name(about), model=model).missed(
            f"{name}:{about}:{model}", status, reason, about=about
        )
        for name in _NAMES
    ]


def unmeasured(
    table: Table, sanitizer: Sanitizer | None, plan: Plan, status: Any, reason: str
) -> Exposure:
    """Return the findings of all adversaries of a test that could not be begun."""
    named = choose_models(plan.adversary.models, sanitizer or Identity()).named
    return Exposure(tuple(f for name in named for f in missed(table, status, reason, name)))


def parameter_curve(
    table: Table, plan: Plan, redaction: Redaction, say: Progress, tested: Exposure | None = None
) -> dict[str, Any] | None:
    """Test each setting of the plan's curve with the plan's adversaries on the first attribute.

    The plan's own setting was ``tested``. A setting that cannot be tested has no numbers and says
    why; an interruption ends the curve. All settings together have the plan's ``time``, as the
    test has.
    """
    if plan.report.parameter is None:
        return None
    points: list[dict[str, Any]] = []
    chosen = expand(plan.report.parameter)
    deadline = as_deadline(plan.run.time)
    for place, setting in enumerate(chosen):
        stage = f"testing other parameters: {setting.text}, {place + 1} of {len(chosen)}"
        say(stage, 0, 0)
        if deadline is not None and deadline.moment <= time.monotonic():
            points.append(unmeasured_point(setting) | {"reason": TIME_IS_UP})
            continue
        more: dict[str, Any] = {
            "time": deadline,
            "progress": lambda done, total, stage=stage: say(stage, done, total),
        }
        try:
            point, interrupted = measure_point(
                table, plan, setting, share=len(chosen), tested=tested, **more
            )
        except UserError as error:
            points.append(unmeasured_point(setting) | {"reason": redaction.text(error.message)})
            continue
        points.append(point)
        if interrupted:
            break
    return {"parameter": chosen[0].parameter, "points": points}


def unmeasured_point(setting: Setting) -> dict[str, Any]:
    """Return a setting of the curve of which nothing is known."""
    named = {"setting": setting.text, "value": setting.value}
    return {**named, **_NOTHING, "above": None, "models": []}


def measure_point(
    table: Table,
    plan: Plan,
    setting: Setting,
    models: Sequence[Model] = (),
    share: int = 1,
    tested: Exposure | None = None,
    **more: Any,
) -> tuple[dict[str, Any], bool]:
    """Test one setting, by these models or the plan's; return its numbers, and if it was ended.

    ``tested`` is what the plan's own setting was found to be, by whomever. ``above`` counts the
    records beyond the limit on δ, where there is one.
    """
    made = as_sanitizer(setting.text)
    asked = Adversaries(tuple(models)) if models else adversaries_of(plan, made, table, share)
    own = tested if setting.text == plan.release.sanitizer else None
    if own is not None and own.answers(asked.named):
        result = strongest(own.results, plan.adversary.confidence, left_out=asked.left_out)
    else:
        result = differential_test(table, made, model=asked.models, **settings(plan, 1) | more)
    limit = plan.all_limits.get("delta")
    point = unmeasured_point(setting) | {name: getattr(result, name) for name in _NOTHING}
    point["above"] = None if limit is None else int((~(result.uppers <= limit)).sum())
    point["models"] = list(asked.named)
    point["reason"] = None if result.complete else "not every record was measured"
    return point, result.interrupted
