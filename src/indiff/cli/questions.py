"""Answers what ``indiff test`` is asked beside the distances: why, and who was in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from indiff.audit.plan.recipe import Recipe
from indiff.errors import UserError
from indiff.files import write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table
    from indiff.differential.claim.membership import MembershipRuns
    from indiff.differential.explain.membership import MembershipResult
    from indiff.differential.explain.why import Explanation
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    Result = DifferentialResult | StrongestResult


BY_CHANCE = ("sampled", "closed-form")
_NOT_WITH_A_CLAIM = (
    "release", "limit", "why", "membership", "together", "records", "method", "distance", "prior",
    "known", "runs", "key", "rows-in-order",
)  # fmt: skip


@dataclass(frozen=True)
class Answers:
    """What was found out about one result; memberships by model."""

    why: tuple[Explanation, ...] = ()
    membership: dict[str, MembershipResult] = field(default_factory=dict)
    by_runs: MembershipRuns | None = None

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
        if self.by_runs:
            found["membership_by_runs"] = self.by_runs.to_dict()
        return found


def check_questions(plan: Plan, recipe: Recipe) -> None:
    """Refuse, before any file is read, a question that has no answer."""
    if recipe["why"] is None:
        return
    from indiff.differential.strongest import choose_models
    from indiff.differential.test import describe
    from indiff.inference.models import is_randomized_model
    from indiff.sanitizers.noise.mechanisms import NoisySanitizer
    from indiff.sanitizers.sanitizer import as_sanitizer

    chosen = as_sanitizer(plan.release.sanitizer)
    for model in choose_models(recipe.model, chosen).models:
        names = describe(chosen), describe(model)
        noisy = isinstance(chosen, NoisySanitizer) or is_randomized_model(model)
        if noisy or chosen.randomized:
            raise UserError(
                "--why compares one release with one other, which says nothing about a "
                "randomized sanitizer or model",
                f"{names[0]} and {names[1]}",
                "Leave it out",
                field="why",
            )


def answer(table: Table, plan: Plan, result: Result, recipe: Recipe) -> Answers:
    """Explain the worst records and turn each model's result into membership inference."""
    from indiff.differential.explain.membership import membership_inference
    from indiff.differential.strongest import StrongestResult

    results = result.results if isinstance(result, StrongestResult) else {result.model: result}
    found, by_runs = {}, None
    if recipe["membership"] and any(one.method in BY_CHANCE for one in results.values()):
        by_runs = _membership_by_runs(table.focus(result.sensitive_name), plan, recipe)
    elif recipe["membership"]:
        found = {
            name: membership_inference(
                one, confidence=plan.adversary.confidence, seed=plan.run.seed
            )
            for name, one in results.items()
            if len(one.records)
        }
    asked = recipe["why"] is not None
    why = tuple(_explained(table, plan, result, recipe)) if asked else ()
    return Answers(why, found, by_runs)


def _membership_by_runs(table: Table, plan: Plan, recipe: Recipe) -> MembershipRuns:
    """Tell members from others where the sanitizer or the adversary is random."""
    from indiff.audit.plan.values.targets import read_targets
    from indiff.differential.claim.membership import TARGETS, infer_membership
    from indiff.differential.people import as_deadline
    from indiff.differential.test import part_of
    from indiff.report.terminal import tables as terminal

    targets = read_targets(recipe.raw["targets"], table.source.num_rows)
    with terminal.progress("telling members from others") as report:
        return infer_membership(
            table, plan.release.sanitizer, targets=TARGETS if targets is None else targets,
            runs=plan.adversary.runs, model=recipe.model, individual=plan.data.individual,
            confidence=plan.adversary.confidence, jobs=plan.run.jobs, seed=plan.run.seed,
            retries=recipe["retries"], backend=recipe["backend"], scheduler=recipe["scheduler"],
            time=as_deadline(plan.run.time), run=part_of(recipe["run"], "membership", 0),
            progress=report,
        )  # fmt: skip


def check_claim_alone(plan: Plan, recipe: Recipe) -> None:
    """Refuse what has no meaning beside a claim, and a number of canaries without one."""
    if not plan.adversary.claim:
        if plan.adversary.canaries is not None:
            raise UserError("--canaries test a claim", way_out="Add --claim epsilon=1",
                            field="canaries")  # fmt: skip
        return
    refuse_given(
        [f"--{name}" for name in _NOT_WITH_A_CLAIM if name in recipe.given],
        "--claim asks what a sanitizer's runs tell of ε",
        "Leave it out, or ask in two commands; indiff audit asks for both",
        "claim",
    )


def refuse_given(given: Sequence[str], what: str, way_out: str, field: str) -> None:
    """Refuse options that were given, though they have no meaning for what is asked."""
    if given:
        rule = f"{what}, for which there is no {', '.join(given)}"
        raise UserError(rule, way_out=way_out, field=field)


def finish_claim(
    table: Table, plan: Plan, recipe: Recipe, targets: Sequence[int] | int | None, order: Any
) -> NoReturn:
    """Test the claim on each sensitive attribute, print what was found, and end by its verdict."""
    from indiff.audit.findings.claim import claim_settings, judge_claims
    from indiff.differential.claim.claim import test_claim
    from indiff.differential.people import as_deadline
    from indiff.differential.test import part_of
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.claim import show_claim

    settings = claim_settings(plan) | {
        "model": recipe.model, "targets": targets, "order": order or "worst-first",
        "retries": recipe["retries"], "backend": recipe["backend"],
        "scheduler": recipe["scheduler"], "time": as_deadline(plan.run.time),
    }  # fmt: skip
    several, results = len(table.sensitives) > 1, []
    for place, one in enumerate(table.sensitives):
        folder = part_of(recipe["run"], "attribute", place) if several else recipe["run"]
        with terminal.progress("testing the claim") as report:
            results.append(
                test_claim(
                    table.focus(one.name), plan.release.sanitizer, run=folder, progress=report,
                    **settings,
                )
            )  # fmt: skip
        if results[-1].interrupted:
            break
    verdict = judge_claims(results, recipe["run"])
    documents = [one.to_dict() for one in results]
    if recipe["json"] is not None:
        below = {"format": 1, "kind": "claims", "results": {x["sensitive"]: x for x in documents}}
        whole = verdict.beside(below if several else documents[0])
        write_text(recipe["json"], json_text(whole))
    console = terminal.open_console()
    for document in documents:
        show_claim(console, document)
    terminal.show_reasons(console, verdict.reasons, passed=False)
    raise typer.Exit(verdict.exit_code)


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
