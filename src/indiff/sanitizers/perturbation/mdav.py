"""MDAV microaggregation: groups of at least k similar records, each published as its average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError, check_whole, option
from indiff.release.release import Release, ReleasedColumn, release_of
from indiff.sanitizers.perturbation.perturbed import (
    Floats,
    coded_column,
    number_column,
    numbers_of,
)

Groups = NDArray[np.int32]


@dataclass(frozen=True)
class Mdav:
    """Publish each record as the average of its group of k to 2k − 1 similar ones.

    Maximum distance to average vector (Domingo-Ferrer and Mateo-Sanz 2002; in this form
    Domingo-Ferrer and Torra 2005): while 3k records are left, take the record that is furthest
    from their average and the one that is furthest from it, and make a group of each with its
    k − 1 nearest; what is left in the end are one or two groups. Numbers are compared in standard
    deviations of the table and averaged, ordinal values by their ranks with the lower median as
    average, categories by whether they differ with the most frequent one (the first of several).
    Of records equally far the first in the table is taken, so the result depends on their order.
    It is not random. Averages are not rounded, but for dates. Every group has k records: the
    release is k-anonymous, which does not make it safe.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [20, 21, 25, 60, 64], "ill": list("abaab")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> Mdav(2).sanitize(table).to_frame()["age"].to_pylist()
    ['22', '22', '22', '62', '62']
    """

    k: int

    randomized: ClassVar[bool] = False
    per_record: ClassVar[bool] = True
    coverage_says_little: ClassVar[bool] = True
    strength: ClassVar[str] = "k"
    example: ClassVar[str] = "5"

    def __post_init__(self) -> None:
        check_whole("k", self.k, 1)

    def __str__(self) -> str:
        return f"mdav:k={self.k}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; fewer than k records are one group, and its constraint is not met."""
        for attribute in table.attributes:
            ordered = attribute.kind != Kind.CATEGORICAL
            if ordered and (attribute.codes == attribute.missing_code).any():
                raise UserError(
                    f"mdav averages records, and some have no {attribute.name!r}",
                    way_out=f"Choose {option('missing', 'drop')} to leave them out",
                    field="missing",
                )
        groups = mdav_groups(_ordered(table), _categories(table), self.k)
        columns = [_averaged(attribute, groups) for attribute in table.attributes]
        met = len(table) >= self.k
        return release_of(table, columns, sanitizer=str(self), groups=groups, constraint_met=met)


def _ordered(table: Table) -> Floats:
    """Return numbers and ranks in standard deviations, records × columns."""
    found = [np.empty((len(table), 0))]
    for attribute in table.attributes:
        if attribute.kind != Kind.CATEGORICAL:
            numbers = attribute.points[attribute.codes]
            found.append(((numbers - numbers.mean()) / (numbers.std() or 1.0))[:, None])
    return np.hstack(found)


def _categories(table: Table) -> NDArray[np.int32]:
    """Return the codes of the columns without an order, records × columns."""
    found = [a.codes[:, None] for a in table.attributes if a.kind == Kind.CATEGORICAL]
    return np.hstack([np.empty((len(table), 0), np.int32), *found])


def mdav_groups(ordered: Floats, categories: NDArray[np.int32], k: int) -> Groups:
    """Return the group of each record.

    >>> mdav_groups(np.array([[0.0], [9], [1], [8], [7]]), np.empty((5, 0), np.int32), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    groups = np.empty(len(ordered), np.int32)
    left = np.arange(len(ordered), dtype=np.intp)
    number = 0

    def gaps(numbers: Floats, kinds: NDArray[np.int32]) -> Floats:
        """Return how far every record that is left is from one."""
        far = ((ordered[left] - numbers) ** 2).sum(axis=1)
        return np.asarray(far + (categories[left] != kinds).sum(axis=1))

    def gather(center: int) -> None:
        """Make a group of a record and those that are nearest to it."""
        nonlocal left, number
        away = gaps(ordered[center], categories[center])
        away[left == center] = -1.0
        chosen = np.argsort(away, kind="stable")[:k]
        groups[left[chosen]] = number
        left, number = np.delete(left, chosen), number + 1

    while len(left) >= 2 * k:
        middle = ordered[left].mean(axis=0), _most_frequent(categories[left])
        first = int(left[np.argmax(gaps(*middle))])
        second = int(left[np.argmax(gaps(ordered[first], categories[first]))])
        two = len(left) >= 3 * k
        gather(first)
        if two:
            # The furthest may have been gathered already, where many records are alike.
            if second not in left:
                second = int(left[np.argmax(gaps(ordered[first], categories[first]))])
            gather(second)
    groups[left] = number
    return groups


def _most_frequent(categories: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the most frequent code of each column, the lowest of equals."""
    return np.array([np.bincount(codes).argmax() for codes in categories.T], np.int32)


def _averaged(attribute: Attribute, groups: Groups) -> ReleasedColumn:
    """Release a column by the average of each group."""
    sizes = np.bincount(groups)
    if attribute.kind == Kind.NUMERIC:
        # From one of them: sums of large numbers would round.
        numbers = numbers_of(attribute)
        origin = float(numbers[0]) if len(numbers) else 0.0
        sums = np.bincount(groups, weights=numbers - origin)
        return number_column(attribute, (origin + sums / sizes)[groups], whole=attribute.is_date)
    order = np.lexsort((attribute.codes, groups))
    starts = np.cumsum(sizes) - sizes
    if attribute.kind == Kind.ORDINAL:
        middle = attribute.codes[order][starts + (sizes - 1) // 2]
        return coded_column(attribute, middle[groups])
    pairs, counts = np.unique(np.stack([groups, attribute.codes]), axis=1, return_counts=True)
    best = np.lexsort((pairs[1], -counts, pairs[0]))
    first = best[np.unique(pairs[0][best], return_index=True)[1]]
    return coded_column(attribute, pairs[1][first][groups])
