"""Measures what one adversary learns about a record from several releases together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.differential.noise.runs import Pairs
from indiff.differential.noise.sampling import SMOOTHED, Source, measure_source
from indiff.differential.path import (
    Beliefs,
    Failures,
    Measurement,
    Named,
    Test,
    from_beliefs,
)
from indiff.differential.people import each_record
from indiff.differential.together.parts import Choose, Part, ask_part
from indiff.differential.together.rule import Floats, combine
from indiff.differential.together.sanitizer import Together
from indiff.errors import InternalError, UserError
from indiff.inference import Model
from indiff.inference.background import Prior
from indiff.release.release import Release
from indiff.release.unmeasured import judge_columns, of_all
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Sanitizer, all_kept, promise_of
from indiff.text import describe

RULE = (
    "the beliefs from the releases are put together as prior · Π belief / prior, as if they were "
    "independent given the sensitive value; the prior is the shares of the values in the table, "
    "with and without the record"
)


@dataclass(frozen=True)
class TogetherPath:
    """Each release is measured by its own path, with i left out of all; then beliefs are joined.

    Exact where the parts are. A noisy table makes it an estimate from runs.
    """

    choose: Choose
    name: ClassVar[str] = "together"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return None: the parts say what stands against them."""
        return None

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure the distances between the joined beliefs."""
        together = test.sanitizer
        if not isinstance(together, Together):
            raise InternalError("releases were to be measured together, but there is one")
        values = list(test.table.sensitive.values)
        for other in together.tables:
            held = () if other is None else other.sensitive.values
            values += [value for value in held if value not in values]
        parts = [
            ask_part(test, place, values, self.choose, distances)
            for place in range(len(together.parts))
        ]
        joined = _Joined.of(test, parts, values)
        notes = [RULE, *_notes(test, together, parts)]
        if any(part.runs is not None for part in parts):
            return _by_runs(test, together, distances, joined, notes)
        beliefs = _finish(test, together, joined, joined.beliefs(None, None))
        methods = {part.measured.method for part in parts if part.measured is not None}
        return Measurement(
            beliefs, from_beliefs(distances, beliefs.with_record, beliefs.without),
            test.table.sensitive.codes[beliefs.rows], tuple(values),
            "leave-one-out" if methods == {"leave-one-out"} else "refit", tuple(notes),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Joined:
    """The parts beside each other; ``chosen`` are the records that all of them measured."""

    parts: Sequence[Part]
    chosen: NDArray[np.intp]
    prior: tuple[Floats, Floats]
    own_prior: bool

    @staticmethod
    def of(test: Test, parts: Sequence[Part], values: Sequence[Any]) -> _Joined:
        chosen = np.flatnonzero(np.logical_and.reduce([part.known for part in parts]))
        if test.prior is not None:
            records = test.table.records[test.people.rows]
            told = Prior.of(test.prior).for_records(tuple(values), records)
            return _Joined(parts, chosen, (told, told), own_prior=False)
        weight = np.stack([part.inside for part in parts]).astype(np.float64)
        weight /= np.maximum(weight.sum(axis=0), 1)
        each = [(part.before, part.before_without) for part in parts]
        means = [
            sum(w[:, None] * one[side] for w, one in zip(weight, each, strict=True))
            for side in range(2)
        ]
        return _Joined(parts, chosen, (np.asarray(means[0]), np.asarray(means[1])), own_prior=True)

    def beliefs(self, place: int | None, runs: Sequence[Pairs | None] | None) -> Any:
        """Return the joined beliefs of all, or of one record and its runs, with and without."""
        found = []
        for side in range(2):
            told = []
            at = self.chosen if place is None else self.chosen[place]
            for number, part in enumerate(self.parts):
                before = (part.before, part.before_without)[side][at]
                noisy = None if runs is None else runs[number]
                if noisy is not None:
                    believed = (noisy.present, noisy.absent)[side]
                else:
                    held = (part.with_record, part.without)[side]
                    believed = before if held is None else held[at]
                # Where the person is not in the table, the release says nothing.
                said = np.asarray(part.inside[at])[..., None]
                told.append((said, np.where(said, believed, 1.0), np.where(said, before, 1.0)))
            belief = combine(self.prior[side][at], [one[1:] for one in told])
            if self.own_prior:
                # One release alone is believed as it is, to the last bit.
                single = sum(said.astype(np.int64) for said, *_ in told) == 1
                for said, believed, _ in told:
                    belief = np.where(single & said, believed, belief)
            found.append(belief)
        return found


def _finish(test: Test, together: Together, joined: _Joined, both: Sequence[Floats]) -> Beliefs:
    """Return joined beliefs, with what happened to any of the parts."""
    rows = test.people.rows[joined.chosen]
    uncovered = np.ones((2, len(test.table)), np.bool_)
    generalized = np.zeros(len(test.table), np.bool_)
    failures: dict[int, str] = {}
    kept, columns, repeated = [], [], 0
    for part, sanitizer, other in zip(joined.parts, together.parts, together.tables, strict=True):
        found = None if part.measured is None else part.measured.beliefs
        met = None if found is None else found.constraint_met
        kept.append(promise_of(sanitizer, other or test.table, met).kept)
        if found is None or other is not None:  # a grid has a cell for everybody
            uncovered[:] = False
        else:
            uncovered[0, found.rows] &= found.uncovered
            uncovered[1, found.rows] &= found.uncovered_without
            generalized[found.rows] |= found.generalized
            failures |= found.failures.texts
        if found is not None:
            repeated += found.failures.repeated
            carries = found.release is not None and found.release.carried is not None
            judged = judge_columns(found.release, other or test.table) if carries else ()
            columns.append(found.unmeasured or judged)
    return Beliefs(
        rows, both[0], both[1], uncovered[0, rows], uncovered[1, rows], generalized[rows],
        all_kept(kept), failures=Failures(failures, repeated), unmeasured=of_all(columns),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _TogetherRuns:
    """Runs of noisy tables, each joined with what the other releases tell for certain."""

    joined: _Joined
    runs: int
    paired: bool = True

    def __len__(self) -> int:
        return len(self.joined.chosen)

    def pairs(self, place: int) -> list[Pairs]:
        """Return the joined beliefs of each run."""
        noisy = [
            None if case is None or part.runs is None else part.runs.pairs(case)[0]
            for part, case in self._cases(place)
        ]
        present, absent = map(self._each_run, self.joined.beliefs(place, noisy))
        return [Pairs(present, absent)]

    def repeated(self, place: int, record: int) -> Floats:
        """Return as many runs with the record, from other random numbers."""
        noisy = []
        for part, case in self._cases(place):
            again = None if case is None or part.runs is None else part.runs.repeated(case, record)
            noisy.append(None if again is None else Pairs(again, again))
        return self._each_run(self.joined.beliefs(place, noisy)[0])

    def _each_run(self, belief: Floats) -> Floats:
        """Repeat what no noise is in."""
        return np.broadcast_to(belief, (self.runs, belief.shape[-1])).copy()

    def _cases(self, place: int) -> list[tuple[Part, int | None]]:
        at = self.joined.chosen[place]
        return [
            (part, None if part.case is None or part.case[at] < 0 else int(part.case[at]))
            for part in self.joined.parts
        ]


def _by_runs(
    test: Test, together: Together, distances: Sequence[Named], joined: _Joined,
    notes: Sequence[str],
) -> Measurement:  # fmt: skip
    """Estimate the distances from runs, as of one noisy table."""
    whole = _finish(test, together, joined, (np.empty((0, 0)), np.empty((0, 0))))
    light = replace(joined, parts=[replace(part, measured=None) for part in joined.parts])
    people, table = each_record(whole.rows), test.table
    source = Source(
        _TogetherRuns(light, test.runs), people, np.arange(len(people), dtype=np.intp),
        table.records[whole.rows], table.sensitive.codes[whole.rows], table.sensitive.values,
        whole.uncovered, whole.constraint_met, whole.unmeasured, (SMOOTHED, *notes),
    )  # fmt: skip
    with test.asking("sampled", distances, beside=" together") as asking:
        return measure_source(test, distances, people, asking, source)


def _notes(test: Test, together: Together, parts: Sequence[Part]) -> list[str]:
    """Say what came of each part, the groups that releases share, and the ε that adds up."""
    notes: list[str] = []
    for part, sanitizer, table in zip(parts, together.parts, together.tables, strict=True):
        if part.measured is not None:
            notes += part.measured.notes
        if table is not None:
            missing = int((~part.inside).sum())
            notes.append(
                f"{missing:,} of the people are not in the table of {describe(sanitizer)}, which "
                "says nothing about them"
            )
        notes += filter(None, [promise_of(sanitizer, table or test.table, None).why_not])
    return [*notes, *_shared_groups(test, together), *_epsilon(together)]


def _shared_groups(test: Test, together: Together) -> list[str]:
    """Put groups of all releases side by side: whom they leave alone, and with one value.

    That is said where releases are groups of the table; of records, whichever person they are of.
    """
    releases: list[Release] = []
    for sanitizer, table in zip(together.parts, together.tables, strict=True):
        if isinstance(sanitizer, Mondrian | Recoding) and table is None:
            release = sanitizer.sanitize(test.table)
            releases += [release] if len(release) == len(test.table) else []
    if len(releases) < 2:
        return []
    size, codes = len(test.table), test.table.sensitive.codes
    keys, alone = np.zeros(size, np.int64), []
    possible = np.ones((size, len(test.table.sensitive.values)), np.bool_)
    by_one = np.zeros(size, np.bool_)
    for release in releases:
        own = np.zeros(size, np.int64)
        for numbers in release.told_apart().values():
            own = np.unique(own * (int(numbers.max()) + 1) + numbers, return_inverse=True)[1]
        alone.append(int((np.bincount(own)[own] == 1).sum()))
        keys = np.unique(keys * (int(own.max()) + 1) + own, return_inverse=True)[1]
        held = np.zeros((int(own.max()) + 1, possible.shape[1]), np.bool_)
        held[own, codes] = True
        by_one |= held.sum(axis=1)[own] == 1
        possible &= held[own]
    shared, determined = np.bincount(keys)[keys], possible.sum(axis=1) == 1
    return [
        f"{int((shared == 1).sum()):,} of {size:,} records share their groups of all "
        f"{len(releases)} releases with nobody, against {max(alone):,} in one of them; the fewest "
        f"people who share all groups of a record are {int(shared.min()):,}",
        f"{int(determined.sum()):,} of {size:,} records have their own value alone in common "
        f"with all their groups, {int((determined & ~by_one).sum()):,} of them though with none "
        "of the groups by itself",
    ]


def _epsilon(together: Together) -> list[str]:
    """Add up what noisy tables promise; releases without noise promise none of it."""
    strengths = [getattr(one, "epsilon", None) for one in together.noisy]
    known = [float(one) for one in strengths if one is not None]
    if len(known) < len(strengths) or not known:
        return []
    total = f"{' + '.join(f'{one:g}' for one in known)} = {sum(known):g}"
    said = f"ε adds up to {total} (basic composition)" if len(known) > 1 else f"ε is {known[0]:g}"
    if len(known) == len(together.parts):
        return [f"{said}; δ is what was measured of this table, ε what the mechanisms promise"]
    without = len(together.parts) - len(known)
    return [
        f"{said} for the noisy tables alone: {without} of the releases "
        f"{'have' if without > 1 else 'has'} no noise, so together there is no ε"
    ]
