"""Counts what each level of a hierarchy merges of a column's values and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indiff.data.hierarchy import Hierarchy


@dataclass(frozen=True)
class Level:
    """One level of a hierarchy above a column: how many groups, and the records in them."""

    groups: int
    fewest: int
    most: int
    example: str
    """The group of most records."""
    merged_values: int
    merged_records: int
    """How many values, and the records that hold them, are not by themselves any more."""


def count_levels(tree: Hierarchy, held: Mapping[str, int]) -> list[Level]:
    """Count the groups that records are in, level by level, from the values up to ``*``.

    ``held`` has the number of records of each value; values that no record holds are left out. A
    value that reaches ``*`` before others stays there.

    >>> tree = Hierarchy.from_lines(["Dancer;Artist;*", "Poet;Artist;*", "Lawyer;*"])
    >>> for level in count_levels(tree, {"Dancer": 3, "Poet": 1, "Lawyer": 2}):
    ...     print(level.groups, level.fewest, level.most, level.example)
    3 1 3 Dancer
    2 2 4 Artist
    1 6 6 *
    """
    above = {labels[0]: labels for _, labels in tree.paths}
    paths = [(above[value], count) for value, count in held.items() if value in above and count]
    depth = max((len(labels) for labels, _ in paths), default=0)
    return [_level(paths, height) for height in range(depth)]


def _level(paths: Iterable[tuple[Sequence[Any], int]], height: int) -> Level:
    groups: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for labels, count in paths:
        label = labels[min(height, len(labels) - 1)]
        groups[label] += count
        values[label] += 1
    label, most = groups.most_common(1)[0]
    merged = [one for one, count in values.items() if count > 1]
    return Level(
        len(groups), min(groups.values()), most, label,
        sum(values[one] for one in merged), sum(groups[one] for one in merged),
    )  # fmt: skip
