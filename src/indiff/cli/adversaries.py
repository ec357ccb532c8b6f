"""What ``indiff test`` asks of adversaries: several, informed, explained, telling in from out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.data.table import Table
    from indiff.differential.explain.membership import MembershipResult
    from indiff.differential.explain.why import Explanation
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    Result = DifferentialResult | StrongestResult


@dataclass(frozen=True)
class Questions:
    """What to find out beside the distances."""

    why: int | None = None
    show_values: bool = False
    membership: bool = False


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
                {"record": one.record, "model": one.model, "text": str(one)} for one in self.why
            ]
        if self.membership:
            found["membership"] = {name: one.to_dict() for name, one in self.membership.items()}
        return found


def check_names(
    sanitizer: str, models: Sequence[str], distance: str, method: str, questions: Questions
) -> None:
    """Refuse, before any file is read, a misspelt name or a question without an answer."""
    from indiff.differential.method import choose_method, choose_model
    from indiff.differential.noise.runs import is_randomized_model
    from indiff.differential.test import describe
    from indiff.distances.functions import Distance, as_distance, emd
    from indiff.distances.ground import Emd
    from indiff.sanitizers.noise.mechanisms import NoisySanitizer
    from indiff.sanitizers.parse import as_sanitizer

    chosen = as_sanitizer(sanitizer)
    named: tuple[str, Distance] = (distance, emd)
    if distance.startswith("emd:"):
        Emd(distance.removeprefix("emd:"))
    else:
        named = as_distance(distance)
    adversaries = [choose_model(model, chosen) for model in models or (None,)]
    if questions.why is not None and questions.why < 1:
        raise UserError("--why must be at least 1 record", questions.why)
    if questions.show_values and questions.why is None:
        raise UserError("--show-values needs --why N, which alone can show values; add it.")
    for model in adversaries:
        names = describe(chosen), describe(model)
        noisy = isinstance(chosen, NoisySanitizer) or is_randomized_model(model)
        if questions.why is not None and (noisy or chosen.randomized):
            raise UserError(
                "--why compares one release with one other, which says nothing about a "
                "randomized sanitizer or model",
                f"{names[0]} and {names[1]}",
                "Leave it out",
            )
        if not questions.membership:
            continue
        path = choose_method(chosen, model, named, method, names)
        if path in ("sampled", "closed-form"):
            raise UserError(
                "--membership needs a sanitizer and models that are not random, and "
                "beliefs that are no means over runs",
                f"{names[0]} and {names[1]}, measured by {path}",
                "Leave it out",
            )


def input_files(distance: str, prior: Path | None) -> list[Path]:
    """Return the files that describe the adversary, which no output may overwrite."""
    ground = distance.removeprefix("emd:")
    found = [Path(ground)] if ground.lower().endswith(".csv") else []
    return found if prior is None else [*found, prior]


def check_knowledge(
    table: Table, sanitizer: str, distance: str, prior: Path | None, known: Sequence[str] | None
) -> None:
    """Refuse, before any test, a prior, a column or a ground that does not fit an attribute."""
    import numpy as np

    from indiff.distances.ground import bind_distance
    from indiff.inference import NaiveBayes
    from indiff.inference.background import with_background
    from indiff.sanitizers.noise.mechanisms import NoisySanitizer
    from indiff.sanitizers.parse import as_sanitizer

    for sensitive in table.sensitives:
        with_background(NaiveBayes(), table.focus(sensitive.name), prior, known)
        # A noisy table has values of its own, which the test itself checks first.
        if distance.startswith("emd:") and not isinstance(as_sanitizer(sanitizer), NoisySanitizer):
            measure = bind_distance(distance, sensitive)[1]
            belief = np.full((1, len(sensitive.values)), 1 / len(sensitive.values))
            measure(belief, belief)  # what it needs to be installed is missed now


def answer(
    table: Table,
    sanitizer: str,
    result: Result,
    questions: Questions,
    *,
    models: Sequence[str] = (),
    prior: Path | None = None,
    known: Sequence[str] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Answers:
    """Explain the worst records and turn each model's result into membership inference."""
    from indiff.differential.explain.membership import membership_inference
    from indiff.differential.explain.why import explain
    from indiff.differential.method import choose_model
    from indiff.differential.strongest import StrongestResult
    from indiff.differential.test import describe
    from indiff.sanitizers.parse import as_sanitizer

    several = isinstance(result, StrongestResult)
    results = result.results if isinstance(result, StrongestResult) else {result.model: result}
    why: list[Explanation] = []
    if questions.why is not None:
        chosen = as_sanitizer(sanitizer)
        adversaries = [choose_model(model, chosen) for model in models or (None,)]
        named = {describe(model): model for model in adversaries}
        for row in result.worst(questions.why):
            adversary = named[row["model"]] if several else adversaries[0]
            told = explain(
                table, chosen, row["record"], model=adversary, prior=prior, known=known,
                show_values=questions.show_values,
            )  # fmt: skip
            why += [replace(one, names_model=several) for one in told]
    found = {}
    if questions.membership:
        found = {
            name: membership_inference(one, confidence=confidence, seed=seed)
            for name, one in results.items()
            if len(one.records)
        }
    return Answers(tuple(why), found)
