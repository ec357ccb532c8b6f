"""Follows a record's group into the release without the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from indiff.data.table import Table
from indiff.release.release import Release, write_regions

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


def group_change(
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
    if release.constraint_met and without.constraint_met is False:
        return GroupChange(len(members), "generalized", (len(without),), regions=shown)
    ends = np.unique(without.groups[places])
    sizes = tuple(int((without.groups == end).sum()) for end in ends)
    if sizes != (len(others),):
        return GroupChange(len(members), "disappears", sizes, regions=shown)
    left = _regions(without, int(places[0]))
    changed = tuple(name for name, text in regions.items() if left[name] != text)
    return GroupChange(len(members), "narrows" if changed else "keeps", sizes, changed, shown)


def covering(release: Release, target: Table) -> int:
    """Count the released records whose regions all cover the target."""
    mask = np.ones(len(release), dtype=bool)
    for column in release.columns:
        mask &= column.covering(int(target.attribute(column.attribute.name).codes[0]))
    return int(mask.sum())


def records(count: float) -> str:
    """Write a number of records.

    >>> records(1), records(2000), records(2.5)
    ('1 record', '2,000 records', '2.5 records')
    """
    return "1 record" if count == 1 else f"{count:,.10g} records"


def _regions(release: Release, row: int) -> dict[str, str]:
    return {
        c.attribute.name: write_regions([c.regions[int(c.index[row])]], c.attribute)[0]
        for c in release.columns
    }
