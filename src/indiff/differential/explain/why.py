"""Explains why a record makes a difference: what becomes of its group, which attributes tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from indiff.data.table import Table
from indiff.differential.explain.models import (
    DecisionPath,
    Shift,
    decision_path,
    is_tree,
    records,
    shifts,
)
from indiff.differential.people import fallback
from indiff.differential.recoding.changes import NodeChange
from indiff.differential.recoding.leave_one_out import RecodingReleases
from indiff.differential.refit.refit import Releases
from indiff.differential.strongest import choose_model
from indiff.differential.test import as_rows, check_testable, describe
from indiff.errors import UserError
from indiff.inference import Model, NaiveBayes
from indiff.inference.background import Background, Prior, with_background
from indiff.inference.models import covering_rows, is_randomized_model
from indiff.release.release import Release, write_regions
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import as_sanitizer

__all__ = ["DecisionPath", "Explanation", "GroupChange", "NodeChange", "Shift", "explain"]


Fate = Literal["keeps", "narrows", "disappears", "generalized"]


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
        group += f" of {records(self.size)}"
        if self.fate == "generalized":
            return "the constraint cannot be met and everything is published as one group"
        if self.fate == "keeps":
            return f"{group} keeps its regions"
        if self.fate == "narrows":
            return f"{group} has other regions ({', '.join(self.changed)})"
        if not self.sizes_without:
            return f"{group} disappears"
        sizes = self.sizes_without
        spread = f"{len(sizes)} groups of {min(sizes):,} to {max(sizes):,} records"
        if len(set(sizes)) == 1:
            each = f"{len(sizes)} groups" if len(sizes) > 1 else "a group"
            spread = f"{each} of {records(sizes[0])}"
        return f"{group} disappears (the others go to {spread})"


def _group_change(
    release: Release, without: Release, row: int, records: int, show_values: bool
) -> GroupChange | None:
    """Follow the other members of the record's group into the release without it."""
    if release.groups is None or without.groups is None:
        return None
    if len(release) < records or len(without) < records - 1:  # nobody knows whose row is whose
        return None
    members = np.flatnonzero(release.groups == release.groups[row])
    others = members[members != row]
    places = others - (others > row)  # rows after the record's move up by one
    regions = _regions(release, row)
    shown = None
    if show_values:
        shown = " × ".join(text for text in regions.values() if text != "*") or "*"
    alone = len(np.unique(without.groups)) == 1
    if release.constraint_met and without.constraint_met is False and alone:
        return GroupChange(len(members), "generalized", (len(without),), regions=shown)
    ends = np.unique(without.groups[places])
    sizes = tuple(int((without.groups == end).sum()) for end in ends)
    if sizes != (len(others),):
        return GroupChange(len(members), "disappears", sizes, regions=shown)
    left = _regions(without, int(places[0]))
    changed = tuple(name for name, text in regions.items() if left[name] != text)
    return GroupChange(len(members), "narrows" if changed else "keeps", sizes, changed, shown)


def _covering(release: Release, target: Table) -> int:
    """Count the released records whose regions all cover the target."""
    return int(covering_rows(release, release.codes_of(target)[0]).sum())


def _regions(release: Release, row: int) -> dict[str, str]:
    return {
        c.attribute.name: write_regions([c.make_region(int(c.index[row]))], c.attribute)[0]
        for c in release.columns
    }


@dataclass(frozen=True)
class Explanation:
    """Why one record moves the belief about it; ``str()`` says it in words.

    The value spoken of is the one whose belief moves most, ``is_true_value`` tells whether it is
    the record's own, and ``value`` names it only where values may be shown. The log-odds are
    against the value that moves most the other way, and are there for naive Bayes alone: their
    changes add up, with ``prior``, to the change of the log-odds of the two beliefs. ``paths`` are
    the ways that a single decision tree takes to the target, with the record and without.
    ``model`` names the model; the words name it too where ``names_model`` says so.
    ``covering`` counts the released records whose regions all cover the target. Of a recoding
    ``node`` has the levels with and without the record, and whose suppression changes.
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
    paths: tuple[DecisionPath | None, DecisionPath | None] | None = None
    model: str = ""
    names_model: bool = False
    node: NodeChange | None = None

    def __str__(self) -> str:
        place = f"{self.model}: " if self.names_model else ""
        place += f"without record {self.record:,} "
        present, absent = self.covering
        cause = f"it is covered by {records(absent)} instead of {present:,}"
        if self.group is not None:
            cause = str(self.group)
        if self.node is not None:
            cause = str(self.node)
        moved = self.belief_without - self.belief
        if abs(moved) <= 1e-12:
            return f"{place}{cause}: no belief changes"
        what = repr(self.value) if self.shows_values else "another value"
        if self.is_true_value and not self.shows_values:
            what = "its true value"
        verb = "falls" if moved < 0 else "rises"
        shown = _told_apart(self.belief, self.belief_without)
        text = f"{place}{cause}: belief in {what} {verb} from {shown[0]} to {shown[1]}"
        if self.paths is not None:
            return f"{text}; {_ways(*self.paths)}"
        if self.prior is None:
            return text
        if np.isinf(self.prior.log_odds_without):
            lost = "it" if self.prior.log_odds_without < 0 else "the record's own value"
            return f"{text}, since no other record holds {lost}"
        # What pushes the other way contributes nothing to the move.
        names = [one.name for one in self._largest if (one.change > 0) == (moved < 0)]
        if not names:
            return text
        then = f", then {' and '.join(names[1:])}" if names[1:] else ""
        return f"{text}; {names[0]} contributes most{then}"

    @property
    def _largest(self) -> list[Shift]:
        """The up to three sources whose log-odds the record moves most; ties in their order."""
        if self.prior is None or np.isinf(self.prior.log_odds_without):
            return []
        shifts = sorted((*self.attributes, self.prior), key=lambda shift: -abs(shift.change))
        return [one for one in shifts[:3] if abs(one.change) > 5e-3]

    @property
    def log_odds(self) -> str | None:
        """What the record adds to the log-odds of the value, by source; None where nothing is."""
        return ", ".join(f"{one.name} {one.change:+.2f}" for one in self._largest) or None


def explain(
    table: Table,
    sanitizer: Any,
    records: int | np.integer[Any] | Iterable[int],
    *,
    model: str | Model | None = None,
    prior: Mapping[Any, Any] | str | Path | Prior | None = None,
    known: Sequence[str] | str | None = None,
    show_values: bool = False,
) -> tuple[Explanation, ...]:
    """Say for each record which group and which attributes make the difference (DIT draft, §5).

    Values of the table, and regions, appear only with ``show_values=True``: an explanation is
    about one person. ``prior`` and ``known`` are the adversary's knowledge, as in
    :func:`differential_test`. It explains this model's belief; another model may differ for other
    reasons.

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
            "an explanation compares one release with one other, which says nothing "
            "about a randomized sanitizer or model",
            f"{describe(chosen)} and {describe(adversary)}",
            "Explain a deterministic one",
        )
    if prior is not None or known is not None:
        adversary, _ = with_background(adversary, table, prior, known)
    asked = [int(records)] if isinstance(records, int | np.integer) else list(records)
    rows = [int(as_rows(table, [record])[0]) for record in asked]  # in the order asked for
    release = chosen.sanitize(table)
    source: Any = RecodingReleases if isinstance(chosen, Recoding) else Releases
    releases: Releases = source(table, fallback(chosen))
    found = []
    for row in rows:
        one = _explain(table, adversary, release, releases.without(row), row, show_values)
        node = releases.change(row) if isinstance(releases, RecodingReleases) else None
        found.append(replace(one, node=node))
    return tuple(found)


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
    inner, own, seen, seen_without = _unwrapped(model, release, without)
    attributes: tuple[Shift, ...] = ()
    prior = paths = None
    if isinstance(inner, NaiveBayes):
        prior, attributes = shifts(inner, own, (seen, seen_without), target, value, rival)
    elif is_tree(inner):
        paths = (
            decision_path(inner, seen, target, value, show_values=show_values),
            decision_path(inner, seen_without, target, value, show_values=show_values),
        )
    values = table.sensitive.values
    return Explanation(
        record=int(table.records[row]),
        belief=float(present[value]),
        belief_without=float(absent[value]),
        is_true_value=value == true,
        group=_group_change(release, without, row, len(table), show_values),
        covering=(_covering(release, target), _covering(without, target)),
        attributes=attributes,
        prior=prior,
        value=values[value] if show_values else None,
        rival=values[rival] if show_values else None,
        shows_values=show_values,
        paths=paths,
        model=describe(model),
    )


def _unwrapped(
    model: Any, release: Release, without: Release
) -> tuple[Any, Prior | None, Release, Release]:
    """Return the model without its knowledge, its own prior, and the columns that it looks at."""
    if not isinstance(model, Background):
        return model, None, release, without
    if model.known is None:
        return model.model, model.prior, release, without
    names = model.known
    seen, seen_without = (
        replace(one, columns=tuple(map(one.column, names))) for one in (release, without)
    )
    return model.model, model.prior, seen, seen_without


def _ways(present: DecisionPath | None, absent: DecisionPath | None) -> str:
    """Say which way the tree takes with the record, and which without it."""
    alone = "needs no question, since one value is left"
    if present is not None and absent is not None and present.steps == absent.steps:
        left = f"{absent.held:,.10g} of {records(absent.size)}"
        return f"both times the tree looks at {present}, without it {left}"
    with_it = alone if present is None else f"looks at {present}"
    without = alone if absent is None else f"at {absent}"
    return f"with the record the tree {with_it}, without it {without}"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two beliefs with two digits, or as many as tell them apart."""
    for digits in range(2, 13):
        texts = f"{one:.{digits}f}", f"{other:.{digits}f}"
        if texts[0] != texts[1]:
            break
    return texts
