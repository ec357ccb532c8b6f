"""Turns what a differential test measured into findings, and explains the worst records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from indiff.audit.metrics import counted, metric, number, percent
from indiff.audit.plan.plan import Plan
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential.explain.membership import (
    Estimate,
    MembershipResult,
    membership_inferences,
)
from indiff.differential.explain.why import explain
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import StrongestResult, possible_models
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.models import is_randomized_model
from indiff.report.finding import Finding
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import name as short_name

Failed = Callable[[Exception], str]


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
        words = {"about": short_name(about), "model": self.model}
        if name in ("delta", "mean", "quantile"):
            more["range"] = (0.0, largest if np.isfinite(largest) else None)
        common = {"about": about, "exactness": self.result.exactness, "seed": self.seed}
        more = {**common, "parameters": self.parameters, **more}
        told = {"baseline": baseline, **_who(more["exactness"], value, largest)}
        told |= _the_rest(value, self.result.delta)
        return metric(name, **words).found(f"{name}:{about}:{self.id}", value, words | told, **more)

    def changed(self) -> Finding:
        """Return the changed predictions, which may be less exact than δ is."""
        result, of = self.result, self.result.exactness
        of = of if of in ("lower-bound", "approximation") else result.changed_exactness
        value, interval = result.changed_predictions, result.changed_interval
        return self("changed_predictions", value, interval=interval, exactness=of)


def _who(exactness: str, value: float, largest: float) -> dict[str, str]:
    """Return the words of a test: of whom it speaks, and how sure and how large a shift is."""
    found = {
        "of_most": f" of at most {largest:g}" if np.isfinite(largest) else ", on an open scale"
    }
    if exactness == "lower-bound":
        some = {"no_person": "No tested person", "a_person": "a tested person"}
        found |= some | {"tested": "tested people"}
        found |= {"by": "by at least "} if value < largest else {}
    elif exactness != "exact":
        found |= {"by": "by about ", "by_mean": "by about ", "by_mean_share": "about "}
    return found


def _the_rest(value: float, delta: float) -> dict[str, str]:
    """Say what the most exposed have beyond what holds for 99% of the people, if they have more.

    >>> _the_rest(0.1, 0.5)["rest_of_them"], _the_rest(0.5, 0.5)["rest_of_them"]
    ('; for the others by more, up to 0.5', ', which is the most for any of them')
    """
    up_to = "without bound" if np.isinf(delta) else f"up to {number(delta)}"
    by = up_to if np.isinf(delta) else f"by {up_to}"
    if not value < delta:
        return {"rest_of_them": ", which is the most for any of them", "rest_of_none": ""}
    return {
        "rest_of_them": f"; for the others by more, {up_to}",
        "rest_of_none": f"; for the others it shifts one {by}",
    }


def findings_of(result: DifferentialResult, plan: Plan) -> list[Finding]:
    """Return what one adversary's test says, of private and of public inference."""
    parameters = _parameters(result)
    found = _Found(result, plan.run.seed, result.model, result.model, parameters)
    above = parameters | _above_limit(result, plan)
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
        found("delta", result.delta, interval=result.delta_interval, parameters=above),
        found("mean", result.mean, interval=mean_interval),
        found("quantile", _quantile(result.distances), interval=quantile_interval),
        found.changed(),
        found("told_by_the_crowd", told, percent(baseline), parameters=crowd),
    ]


def findings_of_strongest(result: StrongestResult, plan: Plan) -> list[Finding]:
    """Return the strongest of several adversaries, record by record."""
    parameters = {
        "models": list(result.results),
        "left_out": result.left_out,
        "confidence": result.confidence,
    }
    found = _Found(result, plan.run.seed, "the strongest adversary", "strongest", parameters)
    above = parameters | _above_limit(result, plan)
    interval = result.delta_interval
    mean_interval = None if interval is None else (0.0, result.mean_upper)
    return [
        found("delta", result.delta, interval=interval, parameters=above),
        found("mean", result.mean, interval=mean_interval),
        found.changed(),
    ]


def _above_limit(result: DifferentialResult | StrongestResult, plan: Plan) -> dict[str, int]:
    """Count the people above the limit on δ, or not known to be within it."""
    limit = plan.all_limits.get("delta")
    return {} if limit is None else {"above_limit": int((~(result.uppers <= limit)).sum())}


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


def memberships(results: Sequence[DifferentialResult], plan: Plan, failed: Failed) -> list[Finding]:
    """Return how well each adversary's belief tells who is in the table, or why it does not."""
    asked = [one for one in results if one.method not in ("sampled", "closed-form")]
    told: dict[int, MembershipResult | str] = {}
    try:
        found = membership_inferences(
            asked, confidence=plan.adversary.confidence, seed=plan.run.seed
        )
        told = {id(one): each for one, each in zip(asked, found, strict=True)}
    except Exception as error:  # noqa: BLE001 - what the test measured must survive it
        told = dict.fromkeys(map(id, asked), failed(error))
    return [_membership(one, told.get(id(one))) for one in results]


def _membership(result: DifferentialResult, found: MembershipResult | str | None) -> Finding:
    """Return what was found, why that failed, or why nobody could be asked."""
    about, id = result.sensitive_name, f"advantage:{result.sensitive_name}:{result.model}"
    chosen = metric("advantage", model=result.model)
    if found is None:
        reason = (
            "its beliefs are means over runs, which no adversary sees; δ and its limits say what "
            "a randomized release tells"
        )
        return chosen.missed(id, "skipped", reason, about=about)
    if isinstance(found, str):
        return chosen.missed(id, "failed", found, about=about)
    whole = result.complete and len(result.distances) >= result.population
    return chosen.found(
        id,
        found.advantage.value,
        {
            key: _between(found.true_positives_at[rate])
            for key, rate in (("at_1", 0.01), ("at_01", 0.001))
        },
        about=about,
        interval=(found.advantage.lower, found.advantage.upper),
        exactness="estimate" if whole else "lower-bound",
        seed=found.seed,
        parameters={
            "model": result.model,
            "area_under_roc": found.area.value,
            "area_interval": [found.area.lower, found.area.upper],
            "true_positives_at": {
                str(rate): one.value for rate, one in found.true_positives_at.items()
            },
            "true_positives_interval": {
                str(rate): [one.lower, one.upper] for rate, one in found.true_positives_at.items()
            },
            "told_apart": found.told_apart,
            "confidence": found.confidence,
            "resamples": found.resamples,
        },
    )


def _between(found: Estimate) -> str:
    """Write a share with its interval."""
    ends = f"{percent(found.lower)} to {percent(found.upper)}"
    return f"{percent(found.value)} (interval {ends})"


def unlinked(records: int) -> str:
    """Say how many records fit no released row."""
    if not records:
        return "Every record fits some row."
    return f"{counted(records, 'record')} {'fits' if records == 1 else 'fit'} no row."


class _Reason(NamedTuple):
    """Why a record is exposed: in words, and for naive Bayes what it adds to the log-odds."""

    group_size: int | None
    why: str
    log_odds: str | None = None


def worst_records(
    table: Table,
    sanitizer: Sanitizer,
    result: DifferentialResult | StrongestResult,
    plan: Plan,
    redaction: Redaction,
) -> list[dict[str, Any]]:
    """Return the worst records of one sensitive attribute, each with its why."""
    named = possible_models(plan.adversary.models, sanitizer)
    rows = [{"model": result.model, **row} for row in result.worst(plan.report.worst)]
    reasons: dict[int, _Reason] = {}
    for model in dict.fromkeys(row["model"] for row in rows):  # one release serves all its records
        records = [row["record"] for row in rows if row["model"] == model]
        reasons |= _reasons(table, sanitizer, named[model], records, plan, redaction)
    found = []
    for row in rows:
        about, model = table.sensitive.name, row.pop("model")
        more = {"model": model, **reasons[row["record"]]._asdict()}
        found.append({"record": row.pop("record"), "about": about, **row, **more})
    return found


def _reasons(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    records: list[int],
    plan: Plan,
    redaction: Redaction,
) -> dict[int, _Reason]:
    """Return the group size and the why of each record that one model sees."""
    if plan.data.individual is not None:
        reason = "all records of this person are left out at once, so no single group explains it"
        return dict.fromkeys(records, _Reason(None, reason))
    noisy = isinstance(sanitizer, NoisySanitizer) or is_randomized_model(model)
    if noisy or sanitizer.randomized:
        reason = "the release or the adversary is random, so no single group explains it"
        return dict.fromkeys(records, _Reason(None, reason))
    try:
        explained = explain(
            table,
            sanitizer,
            records,
            model=model,
            prior=plan.adversary.prior,
            known=plan.adversary.known,
            show_values=redaction.show_values,
        )
    except UserError as error:
        return dict.fromkeys(records, _Reason(None, redaction.text(error.message)))
    found = {}
    for one in explained:  # its number stands beside it
        why = "Without it, " + str(one).removeprefix(f"without record {one.record:,} ")
        size = None if one.group is None else one.group.size
        odds = None if one.log_odds is None else redaction.cut_long_names(one.log_odds)
        found[one.record] = _Reason(size, redaction.cut_long_names(why), odds)
    return found
