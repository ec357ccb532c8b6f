"""The exact path for sanitizers whose release without one record follows from the whole table's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking
from indiff.differential.mondrian import leave_one_out as mondrian
from indiff.differential.path import (
    Beliefs,
    Measurement,
    Named,
    Test,
    Walked,
    is_random,
    join_beliefs,
    measure_beliefs,
)
from indiff.differential.recoding import leave_one_out as recoding
from indiff.differential.refit.refit import refit
from indiff.errors import InternalError, UserError, option
from indiff.inference import Classifier, Frequency, Model, NaiveBayes
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe


class Exact(NamedTuple):
    """How records are left out of one kind of sanitizer: by counts, or release by release.

    ``counts`` tells of which models counts are enough, for a table of so many columns.
    """

    by_counts: Callable[..., list[Beliefs]]
    counts: Callable[[Model, int], bool]
    releases: type[Any]


def exact_for(sanitizer: object) -> Exact | None:
    """Return how records are left out of a sanitizer exactly; None where nobody knows.

    >>> exact_for(Recoding(k=2)).releases.__name__, exact_for("a program")
    ('RecodingReleases', None)
    """
    if isinstance(sanitizer, Mondrian):
        return Exact(mondrian.leave_one_out_for, _counts_or_grows, mondrian.MondrianReleases)
    if isinstance(sanitizer, Recoding):
        return Exact(_each_recoding, _only_counts, recoding.RecodingReleases)
    return None


def _only_counts(model: Model, columns: int) -> bool:
    return isinstance(model, NaiveBayes | Frequency)


def _counts_or_grows(model: Model, columns: int) -> bool:
    if isinstance(model, Classifier):
        return model.is_own_tree and model.learns_from_tally(columns)
    return _only_counts(model, columns)


def _each_recoding(
    table: Any, sanitizer: Any, models: Sequence[Any], rows: Any, **how: Any
) -> list[Beliefs]:
    return [recoding.leave_one_out(table, sanitizer, model, rows, **how) for model in models]


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


def _walk(test: Test, exact: Exact, model: Model, rows: NDArray[np.intp]) -> Beliefs:
    """Walk once for all models that can share a walk, and for this one where they cannot."""
    table, sanitizer = test.table, test.sanitizer
    for one in test.beside.walked:
        # A result of another table, sanitizer, model or of other records would be a wrong number.
        same = one.table is table and one.sanitizer is sanitizer and one.model is model
        if same and np.array_equal(one.beliefs.rows, rows):
            return one.beliefs
    models = [model]
    # With knowledge of its own the others are not as they were asked for.
    others = test.beside.models if test.prior is None and test.known is None else ()
    for other in others:
        if exact.counts(other, len(table.attributes)) and all(
            type(other) is not type(one) for one in models
        ):
            models.append(other)
    each = exact.by_counts(
        table, sanitizer, models, rows, jobs=test.calls.jobs, progress=test.progress
    )
    for other, beliefs in zip(models[1:], each[1:], strict=True):
        test.beside.walked.append(Walked(table, sanitizer, other, beliefs))
    return each[0]


def _believe(test: Test, asking: Asking) -> tuple[Beliefs, tuple[str, ...]]:
    """Leave out one-record people by counts, others by sanitizing again."""
    table, sanitizer, model, people = test.table, test.sanitizer, test.model, test.people
    exact = exact_for(sanitizer)
    if exact is None:
        raise InternalError("leave-one-out was chosen for a sanitizer that it does not know")
    if not exact.counts(model, len(table.attributes)):
        return refit(table, sanitizer, model, people, asking, source=exact.releases), ()
    single = people.sizes == 1
    rows = people.firsts[single]
    walked = _walk(test, exact, model, rows)
    if single.all():
        return walked, ()
    several = people.choose(np.flatnonzero(~single))
    again = refit(table, sanitizer, model, several, asking.about(~single))
    note = (
        f"the {len(several):,} people with several records were measured by sanitizing again, "
        f"the other {len(rows):,} by the exact walk"
    )
    return join_beliefs(walked, again, people), (note,)
