"""Which way to the distances: exact where a theorem or a fast walk applies, else refit or runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from indiff.differential.noise.runs import is_randomized_model
from indiff.distances.functions import DISTANCES, Distance
from indiff.errors import UserError, unknown
from indiff.inference import Frequency, Model, NaiveBayes, as_model
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer

Method = Literal["auto", "leave-one-out", "closed-form", "refit", "sampled"]
METHODS = ("auto", "leave-one-out", "closed-form", "refit", "sampled")

Named = tuple[str, Distance]


def choose_model(model: str | Model | None, sanitizer: Sanitizer) -> Model:
    """Return the model asked for; by default the one that the papers pair with the sanitizer.

    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> str(choose_model(None, Laplace(0.5))), str(choose_model("auto", Mondrian(k=2)))
    ('frequency', 'naive-bayes')
    """
    if model is None or (isinstance(model, str) and model == "auto"):
        return Frequency() if isinstance(sanitizer, NoisySanitizer) else NaiveBayes()
    return as_model(model)


def choose_method(
    sanitizer: Sanitizer, model: Model, distance: Named, method: str, names: tuple[str, str]
) -> str:
    """Return the method for one distance; ``names`` are the sanitizer's and the model's.

    >>> from indiff.distances.functions import tv, wasserstein
    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> [choose_method(Laplace(0.5), Frequency(), named, "auto", ("laplace", "frequency"))
    ...  for named in (("wasserstein", wasserstein), ("tv", tv))]
    ['closed-form', 'sampled']
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    exact = has_closed_form(sanitizer, model, distance)
    randomized = sanitizer.randomized or is_randomized_model(model)
    walkable = isinstance(sanitizer, Mondrian) and not randomized
    got = f"got {names[0]}, {names[1]} and {distance[0]}"
    if method == "leave-one-out" and not walkable:
        raise UserError(
            "method 'leave-one-out' needs Mondrian and a model that is not random",
            f"{names[0]} and {names[1]}",
            f"Use method='{'sampled' if randomized else 'refit'}'",
        )
    if method == "closed-form" and not exact:
        raise UserError(
            "method 'closed-form' needs a noisy table or randomized response, the "
            f"model frequency and the distance wasserstein; {got}",
            way_out="Use method='sampled'",
        )
    if method == "refit" and randomized:
        raise UserError(
            "method 'refit' runs once with and once without a record, which says "
            f"nothing about a randomized sanitizer or model; {got}",
            way_out="Use method='sampled'",
        )
    if method != "auto":
        return method
    if exact:
        return "closed-form"
    if randomized:
        return "sampled"
    return "leave-one-out" if walkable else "refit"


def has_closed_form(sanitizer: Sanitizer, model: Model, distance: Named) -> bool:
    """Tell whether the theorem of docs/closed-form.md applies; without noise any distance does."""
    name, function = distance
    theorem = name == "wasserstein" and DISTANCES[name] is function
    return (
        isinstance(sanitizer, NoisySanitizer)
        and isinstance(model, Frequency)
        and (theorem or not sanitizer.randomized)
    )


def by_method(
    sanitizer: Sanitizer,
    model: Model,
    distances: Sequence[Named],
    method: str,
    names: tuple[str, str],
) -> dict[str, list[Named]]:
    """Group the distances by the method that measures them."""
    groups: dict[str, list[Named]] = {}
    for distance in distances:
        groups.setdefault(choose_method(sanitizer, model, distance, method, names), []).append(
            distance
        )
    return groups
