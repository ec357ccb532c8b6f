"""Why a record makes a difference: what becomes of its group, and which attributes tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from indiff.differential.choosing import choose_model
from indiff.differential.handout import Handout
from indiff.differential.refit import FromScratch, Releases, fallback
from indiff.differential.runs import is_randomized_model
from indiff.differential.testing import as_rows, check_testable, describe
from indiff.errors import UserError
from indiff.inference import Model, NaiveBayes
from indiff.release import Release
from indiff.sanitizers.mondrian import Mondrian
from indiff.sanitizers.parse import as_sanitizer
from indiff.table import Table

Fate = Literal["keeps", "narrows", "disappears", "generalized"]


@dataclass(frozen=True)
class Shift:
    """Log-odds of the moved value against its rival from one source, with and without the record.

    For an attribute a: ln (N_ac + α)/(N_c + 2α) of the value minus that of the rival. Infinite
    where the release without the record lacks the value.
    """

    name: str
    log_odds: float
    log_odds_without: float

    @property
    def change(self) -> float:
        """What the record's presence adds to the log-odds."""
        return self.log_odds - self.log_odds_without


@dataclass(frozen=True)
class GroupChange:
    """The record's group, and what becomes of its other members without the record.

    ``keeps``: they stay together under the same regions; ``narrows``: together, under other
    regions, of the attributes in ``changed``; ``disappears``: they are spread over, or merged
    into, groups of ``sizes_without`` records, or there are none; ``generalized``: the constraint
    cannot be met any more and everything is published as one group. ``regions`` is None unless
    values may be shown.
    """

    size: int
    fate: Fate
    sizes_without: tuple[int, ...] = ()
    changed: tuple[str, ...] = ()
    regions: str | None = None

    def __str__(self) -> str:
        group = "its group" if self.regions is None else f"the group {self.regions}"
        group += f" of {_records(self.size)}"
        if self.fate == "generalized":
            return "the constraint cannot be met and everything is published as one group"
        if self.fate == "keeps":
            return f"{group} keeps its regions"
        if self.fate == "narrows":
            return f"{group} has other regions ({', '.join(self.changed)})"
        if not self.sizes_without:
            return f"{group} disappears"
        sizes = self.sizes_without
        spread = (
            f"a group of {_records(sizes[0])}"
            if len(sizes) == 1
            else f"{len(sizes)} groups of {min(sizes):,} to {max(sizes):,} records"
        )
        return f"{group} disappears (the others go to {spread})"


@dataclass(frozen=True)
class Explanation:
    """Why one record moves the belief about it; ``str()`` says it in words.

    The value spoken of is the one whose belief moves most, ``is_true_value`` tells whether it is
    the record's own, and ``value`` names it only where values may be shown. The log-odds are
    against the value that moves most the other way, and are there for naive Bayes alone: their
    changes add up, with ``prior``, to the change of the log-odds of the two beliefs.
    ``covering`` counts the released records whose regions all cover the target.
    """

    record: int
    belief: float
    belief_without: float
    is_true_value: bool
    group: GroupChange | None
    covering: tuple[int, int]
    attributes: tuple[Shift, ...] = ()
    prior: Shift | None = None
    value: Any = None
    rival: Any = None
    shows_values: bool = False

    def __str__(self) -> str:
        place = f"without record {self.record:,} "
        cause = str(self.group) if self.group is not None else self._coverage()
        moved = self.belief_without - self.belief
        if abs(moved) <= 1e-12:
            return f"{place}{cause}: no belief changes"
        what = repr(self.value) if self.shows_values else "another value"
        if self.is_true_value and not self.shows_values:
            what = "its true value"
        verb = "falls" if moved < 0 else "rises"
        shown = _told_apart(self.belief, self.belief_without)
        text = f"{place}{cause}: belief in {what} {verb} from {shown[0]} to {shown[1]}"
        if self.prior is None:
            return text
        if np.isinf(self.prior.log_odds_without):
            lost = "it" if self.prior.log_odds_without < 0 else "the record's own value"
            return f"{text}, since no other record holds {lost}"
        shifts = sorted(
            (*self.attributes, self.prior), key=lambda shift: -abs(shift.change)
        )  # stable: ties in the order of the columns
        told = ", ".join(f"{s.name} {s.change:+.2f}" for s in shifts[:3] if abs(s.change) > 5e-3)
        return f"{text}; the record adds to its log-odds: {told}" if told else text

    def _coverage(self) -> str:
        present, absent = self.covering
        return f"it is covered by {_records(absent)} instead of {present:,}"


def explain(
    table: Table,
    sanitizer: Any,
    records: int | np.integer[Any] | Iterable[int],
    *,
    model: str | Model | None = None,
    show_values: bool = False,
) -> tuple[Explanation, ...]:
    """Say for each record which group and which attributes make the difference (DIT draft, §5).

    Values of the table, and regions, appear only with ``show_values=True``: an explanation is
    about one person. It explains this model's belief; another model may differ for other reasons.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(
    ...     pa.table({"Age": [28, 36, 47, 53, 72], "Gender": list("MMFMF"),
    ...               "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...     quasi=["Age", "Gender"], sensitive="Disease")
    >>> (why,) = explain(table, Mondrian(k=2), 2, model="frequency", show_values=True)
    >>> print(why)  # doctest: +NORMALIZE_WHITESPACE
    without record 2 the group [47, 72] × {F, M} of 3 records has other regions (Age): belief in
    'Cancer' falls from 0.33 to 0.00
    """
    check_testable(table)
    chosen = as_sanitizer(sanitizer)
    adversary = choose_model(model, chosen)
    if chosen.randomized or is_randomized_model(adversary):
        raise UserError(
            "an explanation compares one release with one other, which says nothing about a "
            f"randomized sanitizer or model; got {describe(chosen)} and {describe(adversary)}. "
            "Explain a deterministic one."
        )
    asked = [int(records)] if isinstance(records, int | np.integer) else list(records)
    rows = [int(as_rows(table, [record])[0]) for record in asked]  # in the order asked for
    release = chosen.sanitize(table)
    source: type[Any] = Handout if isinstance(chosen, Mondrian) else FromScratch
    releases: Releases = source(table, fallback(chosen))
    return tuple(
        _explain(table, adversary, release, releases.without(row), row, show_values) for row in rows
    )


def _explain(
    table: Table, model: Model, release: Release, without: Release, row: int, show_values: bool
) -> Explanation:
    target = table.take([row])
    present = model.beliefs(release, target)[0]
    absent = model.beliefs(without, target)[0]
    true = int(table.sensitive.codes[row])
    moves = present - absent
    # Of values that move equally the record's own comes first.
    size = np.where(np.arange(len(moves)) == true, np.abs(moves) + 1e-12, np.abs(moves))
    value = int(size.argmax())
    against = np.where(np.arange(len(moves)) == value, -np.inf, -np.sign(moves[value]) * moves)
    rival = int(against.argmax())
    attributes: tuple[Shift, ...] = ()
    prior = None
    if isinstance(model, NaiveBayes):
        prior, attributes = _shifts(model, release, without, target, value, rival)
    values = table.sensitive.values
    return Explanation(
        record=int(table.records[row]),
        belief=float(present[value]),
        belief_without=float(absent[value]),
        is_true_value=value == true,
        group=_group_change(release, without, row, show_values),
        covering=(_covering(release, target), _covering(without, target)),
        attributes=attributes,
        prior=prior,
        value=values[value] if show_values else None,
        rival=values[rival] if show_values else None,
        shows_values=show_values,
    )


def _shifts(
    model: NaiveBayes, release: Release, without: Release, target: Table, value: int, rival: int
) -> tuple[Shift, tuple[Shift, ...]]:
    """Return the log-odds of naive Bayes from the prior and from each attribute."""
    (prior, scores), (prior_without, scores_without) = (
        _log_scores(model, one, target) for one in (release, without)
    )
    names = [column.attribute.name for column in release.columns]

    def shift(name: str, one: NDArray[np.float64], other: NDArray[np.float64]) -> Shift:
        with np.errstate(invalid="ignore"):  # two values without any prior have no log-odds: NaN
            return Shift(name, float(one[value] - one[rival]), float(other[value] - other[rival]))

    return (
        shift("how common it is", prior, prior_without),
        tuple(map(shift, names, scores, scores_without)),
    )


def _log_scores(
    model: NaiveBayes, release: Release, target: Table
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    totals = release.class_totals()
    with np.errstate(divide="ignore"):
        prior = np.log(np.where(totals > 0, model.prior_weights(totals), 0.0))
    scores = np.empty((len(release.columns), len(totals)))
    for place, column in enumerate(release.columns):
        mask = column.covering(int(target.attribute(column.attribute.name).codes[0]))
        weights = None if release.weights is None else release.weights[mask]
        counts = np.bincount(release.classes[mask], weights=weights, minlength=len(totals))
        scores[place] = np.log((counts + model.alpha) / (totals + 2 * model.alpha))
    return prior, scores


def _group_change(
    release: Release, without: Release, row: int, show_values: bool
) -> GroupChange | None:
    """Follow the other members of the record's group into the release without it."""
    if release.groups is None or without.groups is None:
        return None
    members = np.flatnonzero(release.groups == release.groups[row])
    others = members[members != row]
    places = others - (others > row)  # rows after the record's move up by one
    regions = _regions(release, row)
    shown = None
    if show_values:
        shown = " × ".join(text for text in regions.values() if text != "*") or "*"
    if release.constraint_met and not without.constraint_met:
        return GroupChange(len(members), "generalized", (len(without),), regions=shown)
    ends = np.unique(without.groups[places])
    sizes = tuple(int((without.groups == end).sum()) for end in ends)
    if sizes != (len(others),):
        return GroupChange(len(members), "disappears", sizes, regions=shown)
    left = _regions(without, int(places[0]))
    changed = tuple(name for name, text in regions.items() if left[name] != text)
    return GroupChange(len(members), "narrows" if changed else "keeps", sizes, changed, shown)


def _regions(release: Release, row: int) -> dict[str, str]:
    return {c.attribute.name: c.texts[int(c.index[row])] for c in release.columns}


def _covering(release: Release, target: Table) -> int:
    mask = np.ones(len(release), dtype=bool)
    for column in release.columns:
        mask &= column.covering(int(target.attribute(column.attribute.name).codes[0]))
    return int(mask.sum())


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two beliefs with two digits, or as many as tell them apart."""
    for digits in range(2, 13):
        texts = f"{one:.{digits}f}", f"{other:.{digits}f}"
        if texts[0] != texts[1]:
            break
    return texts
