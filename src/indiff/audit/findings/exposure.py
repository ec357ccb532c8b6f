"""Measures private inference, public inference and membership by the differential test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from indiff.audit.metrics import METRICS, metric, percent
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.settings import expand
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.calls.calls import Share
from indiff.differential.explain.membership import membership_inference
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import (
    Adversaries,
    StrongestResult,
    choose_models,
    strongest,
)
from indiff.differential.test import each_confidence, part_of
from indiff.errors import UserError
from indiff.plot.style import thinned
from indiff.report.finding import Finding
from indiff.sanitizers.parse import as_sanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.sanitizers.trivial import Identity
from indiff.text import name as short_name

_NAMES = ("delta", "mean", "quantile", "changed_predictions", "told_by_the_crowd")
INTERRUPTED = "the audit was interrupted"
_NOT_OVER_RUNS = ("sampled", "closed-form")
Progress = Callable[[int, int], object]
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


def measure_exposure(
    table: Table,
    sanitizer: Sanitizer,
    plan: Plan,
    progress: Progress | None = None,
    run: Path | None = None,
    *,
    failed: Failed,
) -> Exposure:
    """Run the differential test of one sensitive attribute with every adversary of the plan.

    An adversary that cannot be asked is a failed finding; the others still are. ``failed`` says
    why, where it was no fault of the input. ``run`` is the folder that keeps every finished target.
    """
    chosen = adversaries_of(plan, sanitizer, table)
    findings: list[Finding] = []
    results: dict[str, DifferentialResult] = {}
    interrupted = False
    for place, (name, adversary) in enumerate(chosen.named.items()):
        if interrupted:
            findings += missed(table, "skipped", INTERRUPTED, name)
            continue
        share = None if progress is None else Share(progress, place, len(chosen.models))
        try:
            if share is not None:
                share(0, len(table))  # the first record may take long
            result = differential_test(
                table,
                sanitizer,
                model=adversary,
                progress=share,
                run=part_of(run, "model", place),
                **settings(plan, len(chosen.models)),
            )
        except UserError as error:
            findings += missed(table, "failed", str(error), name)
            continue
        except KeyboardInterrupt:  # before the first record; what others measured is kept
            interrupted = True
            findings += missed(table, "skipped", INTERRUPTED, name)
            continue
        except Exception as error:  # noqa: BLE001 - what others measured must survive it
            findings += missed(table, "failed", failed(error), name)
            continue
        interrupted = result.interrupted
        if not len(result.distances):
            findings += missed(table, "failed", _nothing(result), name)
            continue
        results[name] = result
        findings += findings_of(result, plan)
        if plan.adversary.membership:
            findings.append(_membership(result, plan, failed))
    combined: DifferentialResult | StrongestResult | None = None
    if len(results) > 1:
        try:
            combined = strongest(results, plan.adversary.confidence, left_out=chosen.left_out)
            findings += _strongest(combined, plan)
        except Exception as error:  # noqa: BLE001 - each adversary's own findings survive it
            findings += missed(table, "failed", failed(error), "the strongest adversary")
    elif results:
        combined = next(iter(results.values()))
    notes = () if chosen.left_out is None else (chosen.left_out,)
    return Exposure(tuple(findings), results, combined, interrupted, notes)


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


def _nothing(result: DifferentialResult) -> str:
    return result.failures[0] if result.failures else "no record was measured"


def missed(
    table: Table, status: Any, reason: str, model: str, names: Sequence[str] = _NAMES
) -> list[Finding]:
    """Return the findings of an adversary who could not be asked."""
    about = table.sensitive.name
    return [
        metric(name, about=short_name(about), model=model).missed(
            f"{name}:{about}:{model}", status, reason, about=about
        )
        for name in names
    ]


def unmeasured(
    table: Table, sanitizer: Sanitizer | None, plan: Plan, status: Any, reason: str
) -> Exposure:
    """Return the findings of all adversaries of a test that could not be begun."""
    named = choose_models(plan.adversary.models, sanitizer or Identity()).named
    return Exposure(tuple(f for name in named for f in missed(table, status, reason, name)))


def findings_of(result: DifferentialResult, plan: Plan) -> list[Finding]:
    """Return what one adversary's test says, of private and of public inference."""
    parameters = _parameters(result)
    common = {"exactness": result.exactness, "seed": plan.run.seed, "parameters": parameters}
    mean_interval = quantile_interval = None
    if result.lower is not None and result.upper is not None:
        mean_interval = (float(result.lower.mean()), result.mean_upper)
        quantile_interval = (_quantile(result.lower), _quantile(result.upper))
    baseline = float(np.bincount(result.classes).max() / len(result.classes))
    crowd = {
        "baseline": baseline,
        "belief_in_true_value": float(result.true_beliefs_without.mean()),
        "accuracy_with_record": accuracy(result.beliefs, result.classes),
    }
    span = _span(result.largest)
    found = _Found(result.sensitive_name, result.model, result.model, result.largest, common)
    return [
        found("delta", result.delta, interval=result.delta_interval, range=span),
        found("mean", result.mean, interval=mean_interval, range=span),
        found("quantile", _quantile(result.distances), interval=quantile_interval, range=span),
        found("changed_predictions", result.changed_predictions, **_changed(result)),
        replace(found, common={**common, "parameters": {**parameters, **crowd}})(
            "told_by_the_crowd", accuracy(result.beliefs_without, result.classes), percent(baseline)
        ),
    ]


@dataclass(frozen=True)
class _Found:
    """Turns the numbers of one adversary into findings."""

    about: str
    model: str
    id: str
    largest: float
    common: dict[str, Any]

    def __call__(self, name: str, value: float, baseline: str = "", **more: Any) -> Finding:
        largest = f"{self.largest:g}" if np.isfinite(self.largest) else "without bound"
        words = {"about": short_name(self.about), "model": self.model}
        filled = {**words, "largest": largest, "baseline": baseline}
        more = {"about": self.about, **self.common, **more}
        return metric(name, **words).found(f"{name}:{self.about}:{self.id}", value, filled, **more)


def _span(largest: float) -> tuple[float, float | None]:
    return (0.0, largest if np.isfinite(largest) else None)


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


def is_whole(result: DifferentialResult) -> bool:
    """Tell whether every person of the table was measured."""
    return result.complete and len(result.distances) >= result.population


def _changed(result: DifferentialResult | StrongestResult) -> dict[str, Any]:
    """Return how exact the changed predictions are, which may be less than δ is."""
    of = result.exactness
    sure = of in ("lower-bound", "approximation")
    return {
        "interval": result.changed_interval,
        "exactness": of if sure else result.changed_exactness,
    }


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
    chosen = METRICS["advantage"]
    if result.method in _NOT_OVER_RUNS:
        reason = (
            "its beliefs are means over runs, which no adversary sees; δ and its limits say what "
            "a randomized release tells"
        )
        return chosen.missed(id, "skipped", reason, about=about)
    try:
        found = membership_inference(
            result, confidence=plan.adversary.confidence, seed=plan.run.seed
        )
    except UserError as error:
        return chosen.missed(id, "failed", str(error), about=about)
    except Exception as error:  # noqa: BLE001 - what the test measured must survive it
        return chosen.missed(id, "failed", failed(error), about=about)
    return chosen.found(
        id,
        found.advantage.value,
        about=about,
        interval=(found.advantage.lower, found.advantage.upper),
        exactness="estimate" if is_whole(result) else "lower-bound",
        seed=plan.run.seed,
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


def _strongest(result: StrongestResult, plan: Plan) -> list[Finding]:
    """Return the strongest of several adversaries, record by record."""
    largest = result.largest
    common = {
        "exactness": result.exactness,
        "seed": plan.run.seed,
        "parameters": {
            "models": list(result.results),
            "left_out": result.left_out,
            "confidence": result.confidence,
        },
    }
    span, interval = _span(largest), result.delta_interval
    mean_interval = None if interval is None else (0.0, result.mean_upper)
    found = _Found(result.sensitive_name, "the strongest adversary", "strongest", largest, common)
    return [
        found("delta", result.delta, interval=interval, range=span),
        found("mean", result.mean, interval=mean_interval, range=span),
        found("changed_predictions", result.changed_predictions, **_changed(result)),
    ]


def parameter_curve(table: Table, plan: Plan, redaction: Redaction) -> dict[str, Any] | None:
    """Test each setting of the plan's curve with the plan's adversaries on the first attribute.

    A setting that cannot be tested has no numbers and says why; an interruption ends the curve.
    """
    if plan.report.parameter is None:
        return None
    points: list[dict[str, Any]] = []
    chosen = expand(plan.report.parameter)
    for setting in chosen:
        point: dict[str, Any] = {"setting": setting.text, "value": setting.value}
        try:
            made = as_sanitizer(setting.text)
            models = adversaries_of(plan, made, table, share=len(chosen)).models
            result = differential_test(table, made, model=models, **settings(plan, 1))
        except UserError as error:
            told = redaction.text(error.message)
            points.append({**point, "delta": None, "mean": None, "reason": told})
            continue
        reason = None if result.complete else "not every record was measured"
        points.append({**point, "delta": result.delta, "mean": result.mean, "reason": reason})
        if result.interrupted:
            break
    return {"parameter": chosen[0].parameter, "points": points}
