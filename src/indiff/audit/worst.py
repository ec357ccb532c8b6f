"""Explains the worst records of an audit."""

from __future__ import annotations

from typing import Any, NamedTuple

from indiff.audit.plan.plan import Plan
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential.explain.why import explain
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import StrongestResult, possible_models
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.models import is_randomized_model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer


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
