"""Lists the paths to the distances, and chooses the first one that nothing stands against."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.differential.mondrian.leave_one_out import LeaveOneOut
from indiff.differential.noise.path import ClosedForm, Sampled
from indiff.differential.path import Named, Path
from indiff.differential.refit.refit import Refit
from indiff.errors import unknown
from indiff.inference import Model
from indiff.sanitizers.protocol import Sanitizer

# From the exact ones to the one that is right for anything: a path of one's own goes here.
PATHS: tuple[Path, ...] = (LeaveOneOut(), ClosedForm(), Refit(), Sampled())
METHODS = ("auto", *(path.name for path in PATHS))


def choose_path(sanitizer: Sanitizer, model: Model, distance: Named, method: str) -> Path:
    """Return the path that measures one distance; a method that was named is that or refused.

    >>> from indiff.distances.functions import tv, wasserstein
    >>> from indiff.inference import Frequency
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
