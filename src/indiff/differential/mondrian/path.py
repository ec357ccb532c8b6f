"""Measures Mondrian by the exact leave-one-out walk, or from partitions that are grown anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indiff.differential.calls.run import Asking
from indiff.differential.measurement import (
    Beliefs,
    Measurement,
    Named,
    join_beliefs,
    measure_beliefs,
)
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.differential.mondrian.releases import MondrianReleases
from indiff.differential.path import Test, is_random
from indiff.differential.refit.refit import refit
from indiff.errors import InternalError, UserError, option
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import describe


class LeaveOneOut:
    """Exact for Mondrian and any model that is not random (``docs/leave-one-out.md``)."""

    name: ClassVar[str] = "leave-one-out"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        randomized = is_random(sanitizer, model)
        if isinstance(sanitizer, Mondrian) and not randomized:
            return None
        return UserError(
            "method 'leave-one-out' needs Mondrian and a model that is not random",
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
    """Leave out one-record people by the exact walk, others by sanitizing again."""
    table, sanitizer, model, people = test.table, test.sanitizer, test.model, test.people
    if not isinstance(sanitizer, Mondrian):
        raise InternalError("leave-one-out was chosen for a sanitizer that it does not know")
    if not isinstance(model, NaiveBayes | Frequency):  # these need only counts
        return refit(table, sanitizer, model, people, asking, source=MondrianReleases), ()
    single = people.sizes == 1
    rows = people.firsts[single]
    walked = leave_one_out(
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
