"""The most exposed records: by number, with the attributes and group sizes that explain them."""

from __future__ import annotations

from typing import Any

from indiff.audit.naming import Naming
from indiff.audit.plan import Plan
from indiff.differential.choosing import choose_model
from indiff.differential.result import DifferentialResult
from indiff.differential.runs import is_randomized_model
from indiff.differential.strongest import StrongestResult
from indiff.differential.testing import describe
from indiff.differential.why import Explanation, explain
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.background import with_background
from indiff.sanitizers.noisy import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.table import Table

_RANDOM = "the release or the adversary is random, so no single group explains it"

_PERSON = "all records of this person are left out at once, so no single group explains it"


def worst_records(
    table: Table,
    sanitizer: Sanitizer,
    result: DifferentialResult | StrongestResult,
    plan: Plan,
    naming: Naming,
) -> list[dict[str, Any]]:
    """Return the worst records of one sensitive attribute, each with its why."""
    adversaries = [choose_model(name, sanitizer) for name in plan.adversary.models]
    named = {describe(adversary): adversary for adversary in adversaries}
    found = []
    for row in result.worst(plan.report.worst):
        model = str(row.get("model", result.model))
        group_size, why = _why(table, sanitizer, named[model], row["record"], plan, naming)
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


def _why(
    table: Table, sanitizer: Sanitizer, model: Model, record: int, plan: Plan, naming: Naming
) -> tuple[int | None, str]:
    if plan.data.individual is not None:
        return None, _PERSON
    noisy = isinstance(sanitizer, NoisySanitizer) or is_randomized_model(model)
    if noisy or sanitizer.randomized:
        return None, _RANDOM
    informed, _ = with_background(model, table, plan.adversary.prior, plan.adversary.known)
    show = naming.show_values
    try:
        (found,) = explain(table, sanitizer, record, model=informed, show_values=show)
    except UserError as error:
        return None, naming.text(str(error))
    size = None if found.group is None else found.group.size
    return size, naming.short(_sentence(found))


def _sentence(found: Explanation) -> str:
    """Say why without the record's number, which stands beside it."""
    return "Without it, " + str(found).removeprefix(f"without record {found.record:,} ")
