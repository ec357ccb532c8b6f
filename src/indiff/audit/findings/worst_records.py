"""Lists the most exposed records, with the attributes and group sizes that explain them."""

from __future__ import annotations

from typing import Any

from indiff.audit.plan.plan import Plan
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential.explain.why import Explanation, explain
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import StrongestResult, possible_models
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.background import with_background
from indiff.inference.protocol import is_randomized_model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer

_RANDOM = "the release or the adversary is random, so no single group explains it"

_PERSON = "all records of this person are left out at once, so no single group explains it"


def worst_records(
    table: Table,
    sanitizer: Sanitizer,
    result: DifferentialResult | StrongestResult,
    plan: Plan,
    redaction: Redaction,
) -> list[dict[str, Any]]:
    """Return the worst records of one sensitive attribute, each with its why."""
    named = possible_models(plan.adversary.models, sanitizer)
    rows = result.worst(plan.report.worst)
    seen_by = {row["record"]: str(row.get("model", result.model)) for row in rows}
    reasons: dict[int, tuple[int | None, str]] = {}
    for model in dict.fromkeys(seen_by.values()):  # one release serves all of a model's records
        records = [record for record, name in seen_by.items() if name == model]
        reasons |= _reasons(table, sanitizer, named[model], records, plan, redaction)
    found = []
    for row in rows:
        model, (group_size, why) = seen_by[row["record"]], reasons[row["record"]]
        found.append(
            {
                "record": row["record"],
                "about": table.sensitive.name,
                "distance": row["distance"],
                "belief": row["belief"],
                "belief_without": row["belief_without"],
                "prediction_changed": row["prediction_changed"],
                "model": model,
                "group_size": group_size,
                "why": why,
            }
        )
    return found


def _reasons(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    records: list[int],
    plan: Plan,
    redaction: Redaction,
) -> dict[int, tuple[int | None, str]]:
    """Return the group size and the why of each record that one model sees."""
    if plan.data.individual is not None:
        return dict.fromkeys(records, (None, _PERSON))
    noisy = isinstance(sanitizer, NoisySanitizer) or is_randomized_model(model)
    if noisy or sanitizer.randomized:
        return dict.fromkeys(records, (None, _RANDOM))
    who, show = plan.adversary, redaction.show_values
    if who.prior is not None or who.known is not None:
        model, _ = with_background(model, table, who.prior, who.known)
    try:
        explained = explain(table, sanitizer, records, model=model, show_values=show)
    except UserError as error:
        return dict.fromkeys(records, (None, redaction.text(error.message)))
    return {
        found.record: (
            None if found.group is None else found.group.size,
            redaction.short(_sentence(found)),
        )
        for found in explained
    }


def _sentence(found: Explanation) -> str:
    """Say why without the record's number, which stands beside it."""
    return "Without it, " + str(found).removeprefix(f"without record {found.record:,} ")
