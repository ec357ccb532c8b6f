"""The exact path for sanitizers whose release without one record follows from the whole table's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from indiff.differential.calls.calls import Asking
from indiff.differential.mondrian import leave_one_out as mondrian
from indiff.differential.path import (
    Beliefs,
    Measurement,
    Named,
    Test,
    is_random,
    join_beliefs,
    measure_beliefs,
)
from indiff.differential.recoding import leave_one_out as recoding
from indiff.differential.refit.refit import Releases, refit
from indiff.errors import InternalError, UserError, option
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe


class Exact(NamedTuple):
    """How records are left out of one kind of sanitizer: by counts, or release by release."""

    by_counts: Callable[..., Beliefs]
    releases: type[Any]


def exact_for(sanitizer: object) -> Exact | None:
    """Return how records are left out of a sanitizer exactly; None where nobody knows.

    >>> exact_for(Recoding(k=2)).releases.__name__, exact_for("a program")
    ('RecodingReleases', None)
    """
    if isinstance(sanitizer, Mondrian):
        return Exact(mondrian.leave_one_out, mondrian.MondrianReleases)
    if isinstance(sanitizer, Recoding):
        return Exact(recoding.leave_one_out, recoding.RecodingReleases)
    return None


def releases_of(sanitizer: object) -> type[Any]:
    """Return what makes f(D⁻ⁱ) of a sanitizer: by a shorter way where there is one."""
    exact = exact_for(sanitizer)
    return Releases if exact is None else exact.releases


class LeaveOneOut:
    """Exact for Mondrian, recoding, and any model not random (``docs/leave-one-out.md``)."""

    name: ClassVar[str] = "leave-one-out"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        randomized = is_random(sanitizer, model)
        if exact_for(sanitizer) is not None and not randomized:
            return None
        return UserError(
            "method 'leave-one-out' needs Mondrian or recoding, and a model that is not random",
            f"{describe(sanitizer)} and {describe(model)}",
            f"Use {option('method', 'sampled' if randomized else 'refit')}",
            field="method",
        )

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure the distances between the beliefs with and without each person."""
        with test.asking(self.name, distances) as asking:
            beliefs, notes = _believe(test, asking)
        return measure_beliefs(beliefs, test.table, test.model, distances, self.name, notes)


def _believe(test: Test, asking: Asking) -> tuple[Beliefs, tuple[str, ...]]:
    """Leave out one-record people by counts, others by sanitizing again."""
    table, sanitizer, model, people = test.table, test.sanitizer, test.model, test.people
    exact = exact_for(sanitizer)
    if exact is None:
        raise InternalError("leave-one-out was chosen for a sanitizer that it does not know")
    if not isinstance(model, NaiveBayes | Frequency):  # these need only counts
        return refit(table, sanitizer, model, people, asking, source=exact.releases), ()
    single = people.sizes == 1
    rows = people.firsts[single]
    walked = exact.by_counts(
        table, sanitizer, model, rows, jobs=test.calls.jobs, progress=test.progress
    )
    if single.all():
        return walked, ()
    several = people.choose(np.flatnonzero(~single))
    again = refit(table, sanitizer, model, several, asking.about(~single))
    note = (
        f"the {len(several):,} people with several records were measured by sanitizing again, "
        f"the other {len(rows):,} by the exact walk"
    )
    return join_beliefs(walked, again, people), (note,)
