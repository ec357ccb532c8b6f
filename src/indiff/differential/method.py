"""Lists the paths to the distances, and chooses the first one that nothing stands against."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.differential.measurement import Named
from indiff.differential.mondrian.path import LeaveOneOut
from indiff.differential.noise.path import ClosedForm, Sampled
from indiff.differential.path import Path
from indiff.differential.refit.path import Refit
from indiff.errors import unknown
from indiff.inference import Frequency, Model, NaiveBayes, as_model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer

# From the exact ones to the one that is right for anything: a path of one's own goes here.
PATHS: tuple[Path, ...] = (LeaveOneOut(), ClosedForm(), Refit(), Sampled())
METHODS = ("auto", *(path.name for path in PATHS))


def choose_model(model: str | Model | None, sanitizer: Sanitizer) -> Model:
    """Return the model asked for; by default the one that the papers pair with the sanitizer.

    >>> from indiff.sanitizers.mondrian.mondrian import Mondrian
    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> str(choose_model(None, Laplace(0.5))), str(choose_model("auto", Mondrian(k=2)))
    ('frequency', 'naive-bayes')
    """
    if model is None or (isinstance(model, str) and model == "auto"):
        return Frequency() if isinstance(sanitizer, NoisySanitizer) else NaiveBayes()
    return as_model(model)


def choose_path(sanitizer: Sanitizer, model: Model, distance: Named, method: str) -> Path:
    """Return the path that measures one distance; a method that was named is that or refused.

    >>> from indiff.distances.functions import tv, wasserstein
    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> [choose_path(Laplace(0.5), Frequency(), named, "auto").name
    ...  for named in (("wasserstein", wasserstein), ("tv", tv))]
    ['closed-form', 'sampled']
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS, field="method")
    for path in PATHS:
        if method in ("auto", path.name):
            obstacle = path.obstacle(sanitizer, model, distance)
            if obstacle is None:
                return path
            if method != "auto":
                raise obstacle
    raise AssertionError("nothing stands against runs")


def group_by_path(
    sanitizer: Sanitizer, model: Model, distances: Sequence[Named], method: str
) -> dict[Path, list[Named]]:
    """Group the distances by the path that measures them."""
    groups: dict[Path, list[Named]] = {}
    for distance in distances:
        groups.setdefault(choose_path(sanitizer, model, distance, method), []).append(distance)
    return groups
