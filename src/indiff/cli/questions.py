"""Answers what ``indiff test`` is asked beside the distances: why, and who was in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.recipe import Recipe
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table
    from indiff.differential.explain.membership import MembershipResult
    from indiff.differential.explain.why import Explanation
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    Result = DifferentialResult | StrongestResult


@dataclass(frozen=True)
class Answers:
    """What was found out about one result; memberships by model."""

    why: tuple[Explanation, ...] = ()
    membership: dict[str, MembershipResult] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked for as plain data."""
        found: dict[str, Any] = {}
        if self.why:
            found["why"] = [
                {
                    "record": one.record,
                    "model": one.model,
                    "text": str(one),
                    "log_odds": one.log_odds,
                }
                for one in self.why
            ]
        if self.membership:
            found["membership"] = {name: one.to_dict() for name, one in self.membership.items()}
        return found


def check_questions(plan: Plan, recipe: Recipe) -> None:
    """Refuse, before any file is read, a question that has no answer."""
    from indiff.differential.strongest import choose_models
    from indiff.differential.test import choose_path, describe
    from indiff.distances.functions import Distance, as_distance, emd
    from indiff.inference.models import is_randomized_model
    from indiff.sanitizers.noise.mechanisms import NoisySanitizer
    from indiff.sanitizers.sanitizer import as_sanitizer

    chosen = as_sanitizer(plan.release.sanitizer)
    distance = plan.adversary.distance
    named: tuple[str, Distance] = (distance, emd)
    if not distance.startswith("emd:"):
        named = as_distance(distance)
    why = recipe["why"]
    for model in choose_models(recipe.model, chosen).models:
        names = describe(chosen), describe(model)
        noisy = isinstance(chosen, NoisySanitizer) or is_randomized_model(model)
        if why is not None and (noisy or chosen.randomized):
            raise UserError(
                "--why compares one release with one other, which says nothing about a "
                "randomized sanitizer or model",
                f"{names[0]} and {names[1]}",
                "Leave it out",
                field="why",
            )
        if not recipe["membership"]:
            continue
        path = choose_path(chosen, model, named, plan.adversary.method).name
        if path in ("sampled", "closed-form"):
            raise UserError(
                "--membership needs a sanitizer and models that are not random, and "
                "beliefs that are no means over runs",
                f"{names[0]} and {names[1]}, measured by {path}",
                "Leave it out",
                field="membership",
            )


def answer(table: Table, plan: Plan, result: Result, recipe: Recipe) -> Answers:
    """Explain the worst records and turn each model's result into membership inference."""
    from indiff.differential.explain.membership import membership_inference
    from indiff.differential.strongest import StrongestResult

    results = result.results if isinstance(result, StrongestResult) else {result.model: result}
    found = {}
    if recipe["membership"]:
        found = {
            name: membership_inference(
                one, confidence=plan.adversary.confidence, seed=plan.run.seed
            )
            for name, one in results.items()
            if len(one.records)
        }
    asked = recipe["why"] is not None
    return Answers(tuple(_explained(table, plan, result, recipe)) if asked else (), found)


def _explained(table: Table, plan: Plan, result: Result, recipe: Recipe) -> Sequence[Explanation]:
    from indiff.differential.explain.why import explain
    from indiff.differential.strongest import StrongestResult, possible_models
    from indiff.sanitizers.sanitizer import as_sanitizer

    several = isinstance(result, StrongestResult)
    chosen = as_sanitizer(plan.release.sanitizer)
    named = possible_models(recipe.model, chosen)
    why: list[Explanation] = []
    for row in result.worst(recipe["why"]):
        told = explain(
            table.focus(result.sensitive_name), chosen, row["record"],
            model=named[row["model"]] if several else next(iter(named.values())),
            prior=plan.adversary.prior, known=plan.adversary.known,
            show_values=recipe["show-values"],
        )  # fmt: skip
        why += [replace(one, names_model=several) for one in told]
    return why
