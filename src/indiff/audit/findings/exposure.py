"""Measures private inference, public inference and membership by the differential test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from indiff.audit.metrics import METRICS, metric, number, percent
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.beside.dropped_row import test_release
from indiff.differential.beside.linkage import Linkage
from indiff.differential.calls.calls import Share
from indiff.differential.explain.membership import membership_inference
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import Adversaries, StrongestResult, choose_models, strongest
from indiff.differential.test import each_confidence, part_of
from indiff.inference import Model
from indiff.plot.style import thinned
from indiff.report.finding import Finding
from indiff.sanitizers.sanitizer import Identity, Sanitizer
from indiff.text import name as short_name

_NAMES = ("delta", "mean", "quantile", "changed_predictions", "told_by_the_crowd")
INTERRUPTED = "the audit was interrupted"
Progress = Callable[[str, int, int], object]
Failed = Callable[[Exception], str]


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

    def ask(place: int, model: Model) -> DifferentialResult:
        share = Share(progress, place, len(chosen.models))
        share(0, len(table))  # the first record may take long
        return differential_test(
            table,
            sanitizer,
            model=model,
            progress=share,
            run=part_of(run, "model", place),
            **settings(plan, len(chosen.models)),
        )

    findings, results, interrupted = _ask_each(table, chosen, ask, plan, failed)
    if plan.adversary.membership:
        findings += [_membership(result, plan, failed) for result in results.values()]
    combined: DifferentialResult | StrongestResult | None = next(iter(results.values()), None)
    if len(results) > 1:
        try:
            combined = strongest(results, plan.adversary.confidence, left_out=chosen.left_out)
            findings += _strongest(combined, plan)
        except Exception as error:  # noqa: BLE001 - each adversary's own findings survive it
            combined = None
            findings += missed(table, "failed", failed(error), "the strongest adversary")
    notes = () if chosen.left_out is None else (chosen.left_out,)
    return Exposure(tuple(findings), results, combined, interrupted, notes)


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
            {"none": number(linkage.unlinked)},
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


@dataclass(frozen=True, eq=False)
class _Found:
    """Turns the numbers of one adversary, or of the strongest of several, into findings."""

    result: DifferentialResult | StrongestResult
    seed: int
    model: str
    id: str
    parameters: dict[str, Any]

    def __call__(self, name: str, value: float, baseline: str = "", **more: Any) -> Finding:
        about, largest = self.result.sensitive_name, self.result.largest
        bounded = bool(np.isfinite(largest))
        words = {"about": short_name(about), "model": self.model}
        told = {"largest": f"{largest:g}" if bounded else "without bound", "baseline": baseline}
        if name in ("delta", "mean", "quantile"):
            more["range"] = (0.0, largest if bounded else None)
        common = {"about": about, "exactness": self.result.exactness, "seed": self.seed}
        more = {**common, "parameters": self.parameters, **more}
        return metric(name, **words).found(f"{name}:{about}:{self.id}", value, words | told, **more)

    def changed(self) -> Finding:
        """Return the changed predictions, which may be less exact than δ is."""
        result, of = self.result, self.result.exactness
        of = of if of in ("lower-bound", "approximation") else result.changed_exactness
        value, interval = result.changed_predictions, result.changed_interval
        return self("changed_predictions", value, interval=interval, exactness=of)


def findings_of(result: DifferentialResult, plan: Plan) -> list[Finding]:
    """Return what one adversary's test says, of private and of public inference."""
    parameters = _parameters(result)
    found = _Found(result, plan.run.seed, result.model, result.model, parameters)
    mean_interval = quantile_interval = None
    if result.lower is not None and result.upper is not None:
        mean_interval = (float(result.lower.mean()), result.mean_upper)
        quantile_interval = (_quantile(result.lower), _quantile(result.upper))
    baseline = float(np.bincount(result.classes).max() / len(result.classes))
    crowd = {
        **parameters,
        "baseline": baseline,
        "belief_in_true_value": float(result.true_beliefs_without.mean()),
        "accuracy_with_record": accuracy(result.beliefs, result.classes),
    }
    told = accuracy(result.beliefs_without, result.classes)
    return [
        found("delta", result.delta, interval=result.delta_interval),
        found("mean", result.mean, interval=mean_interval),
        found("quantile", _quantile(result.distances), interval=quantile_interval),
        found.changed(),
        found("told_by_the_crowd", told, percent(baseline), parameters=crowd),
    ]


def _strongest(result: StrongestResult, plan: Plan) -> list[Finding]:
    """Return the strongest of several adversaries, record by record."""
    parameters = {
        "models": list(result.results),
        "left_out": result.left_out,
        "confidence": result.confidence,
    }
    found = _Found(result, plan.run.seed, "the strongest adversary", "strongest", parameters)
    interval = result.delta_interval
    mean_interval = None if interval is None else (0.0, result.mean_upper)
    return [
        found("delta", result.delta, interval=interval),
        found("mean", result.mean, interval=mean_interval),
        found.changed(),
    ]


def _quantile(distances: Any) -> float:
    return float(np.quantile(distances, 0.99, method="inverted_cdf"))


def accuracy(beliefs: Any, classes: Any) -> float:
    """Return how often the most probable value is the true one; a tie counts by its share.

    >>> accuracy(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 1]))
    0.25
    """
    top = beliefs >= beliefs.max(axis=1, keepdims=True) - 1e-12
    right = np.take_along_axis(top, classes[:, None].astype(np.intp), axis=1)[:, 0]
    return float((right / top.sum(axis=1)).mean())


def _parameters(result: DifferentialResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "model": result.model,
        "distance": result.distance,
        "method": result.method,
        "records_tested": len(result.distances),
        "records_requested": result.requested,
        "records_in_table": result.table_size,
        "individuals": result.people,
        "infinite": result.infinite,
        "uncovered": result.uncovered,
        "uncovered_without": result.uncovered_without,
        "generalized_without": result.generalized_without,
        "failures": len(result.failures),
    }
    if result.runs is not None:
        found |= {"runs": result.runs, "confidence": result.confidence}
    return found


def _membership(result: DifferentialResult, plan: Plan, failed: Failed) -> Finding:
    about, id = result.sensitive_name, f"advantage:{result.sensitive_name}:{result.model}"
    chosen, seed = METRICS["advantage"], plan.run.seed
    if result.method in ("sampled", "closed-form"):
        reason = (
            "its beliefs are means over runs, which no adversary sees; δ and its limits say what "
            "a randomized release tells"
        )
        return chosen.missed(id, "skipped", reason, about=about)
    try:
        found = membership_inference(result, confidence=plan.adversary.confidence, seed=seed)
    except Exception as error:  # noqa: BLE001 - what the test measured must survive it
        return chosen.missed(id, "failed", failed(error), about=about)
    whole = result.complete and len(result.distances) >= result.population
    return chosen.found(
        id,
        found.advantage.value,
        about=about,
        interval=(found.advantage.lower, found.advantage.upper),
        exactness="estimate" if whole else "lower-bound",
        seed=seed,
        parameters={
            "model": result.model,
            "area_under_roc": found.area.value,
            "true_positives_at": {
                str(rate): one.value for rate, one in found.true_positives_at.items()
            },
            "told_apart": found.told_apart,
            "confidence": found.confidence,
            "resamples": found.resamples,
        },
    )
