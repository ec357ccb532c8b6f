"""Turns a release into features, in one of the 24 ways e_ij of DIT v1, Appendix A."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.errors import UserError, check_whole, did_you_mean
from indiff.inference import features
from indiff.inference.features import Block
from indiff.release.release import Release, ReleasedColumn

Floats = NDArray[np.float64]

# Up to so many TF features all their patterns are counted, in 8 kB per sensitive value.
MOST_COUNTED = 10
CELLS_AT_ONCE = 2**20  # groups and counts of several targets: some megabytes

Lesson = tuple[Floats, NDArray[np.int32], Floats]


TF = "TF"

# In the appendix's order, which numbers them: e64 is TF-TF.
NUMERIC: dict[str, Callable[[ReleasedColumn, int], Block] | None] = {
    "Scaling": features.scaling,
    "Bounds": features.bounds,
    "Binary": features.middle_bits,
    "QuantilesB": features.refuse_numbers,
    "QuantilesA": features.quantiles_after,
    TF: None,
}
CATEGORICAL: dict[str, Callable[[ReleasedColumn], Block] | None] = {
    "Hot": features.hot,
    "Binary": features.numbered,
    "HotA": features.hot_after,
    TF: None,
}
ENCODINGS = tuple(f"{i}-{j}" for i in NUMERIC for j in CATEGORICAL)


@dataclass(frozen=True)
class Encoding:
    """How regions become features: one encoding for numeric columns, one for the others.

    ``TF`` is 1 where a region covers the target's value and 0 elsewhere: it depends on the target,
    so that every target needs a model of its own. The others do not. Ordinal columns are encoded
    like categorical ones; ``quantiles`` is the number of parts of ``QuantilesA``.

    >>> Encoding.named("Scaling-Hot")
    Encoding(numeric='Scaling', categorical='Hot', quantiles=5)
    >>> str(Encoding.named("e64"))
    'TF-TF'
    """

    numeric: str = TF
    categorical: str = TF
    quantiles: int = 5

    def __post_init__(self) -> None:
        if self.numeric not in NUMERIC or self.categorical not in CATEGORICAL:
            raise _no_encoding(f"{self.numeric}-{self.categorical}")
        check_whole("quantiles", self.quantiles, 2)

    @classmethod
    def named(cls, name: str) -> Encoding:
        """Return an encoding by its name (``Scaling-Hot``) or its number (``e11``)."""
        if name in ENCODINGS:
            first, _, second = name.partition("-")
            return cls(first, second)
        if len(name) == 3 and name[0] == "e" and name[1] in "123456" and name[2] in "1234":
            return cls(list(NUMERIC)[int(name[1]) - 1], list(CATEGORICAL)[int(name[2]) - 1])
        raise _no_encoding(name)

    def __str__(self) -> str:
        return f"{self.numeric}-{self.categorical}"

    def of(self, release: Release) -> EncodedRelease:
        """Encode a release, as far as that does not depend on the target."""
        return EncodedRelease(release, tuple(self._block(c) for c in release.columns))

    def _block(self, column: ReleasedColumn) -> Block | None:
        if column.attribute.kind == Kind.NUMERIC:
            encode = NUMERIC[self.numeric]
            return None if encode is None else encode(column, self.quantiles)
        make = CATEGORICAL[self.categorical]
        return None if make is None else make(column)


@dataclass(frozen=True, eq=False)
class Tally:
    """How many released records of each class cover the target on just these columns.

    ``counts[p, c]`` has the records of class c with the pattern p: its bits, the first column's
    first, tell on which columns a record's region covers the target's value. The last pattern is
    that of a record which covers the target everywhere, and of the target itself. A model on TF
    features (DIT v1, Appendix A) sees nothing else of a release.

    >>> tally = Tally(("age", "sex"), np.array([[0, 1], [0, 0], [2, 0], [1, 3.0]]))
    >>> tally.covered, len(tally)
    (True, 7)
    >>> tally.lesson()[0].tolist(), tally.lesson()[2].tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 1.0, 3.0])
    >>> tally.of_columns(["sex"]).counts.tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    """

    names: tuple[str, ...]
    counts: Floats

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def covered(self) -> bool:
        """Whether any released record covers the target on all columns."""
        return bool(self.counts[-1].any())

    def class_totals(self) -> Floats:
        """Return N_c: the released records with each sensitive value."""
        totals: Floats = self.counts.sum(axis=0)
        return totals

    def lesson(self) -> Lesson:
        """Return features, classes and weights: each distinct row of the encoding once."""
        flat = self.counts.ravel()
        shown = np.flatnonzero(flat)
        pattern, of_class = np.divmod(shown, self.counts.shape[1])
        places = np.arange(len(self.names) - 1, -1, -1)
        features = ((pattern[:, None] >> places) & 1).astype(np.float64)
        return features, of_class.astype(np.int32), flat[shown]

    def of_columns(self, names: Sequence[str]) -> Tally:
        """Return the tally of some of the columns, kept in their order."""
        kept = tuple(name for name in self.names if name in names)
        dropped = tuple(place for place, name in enumerate(self.names) if name not in names)
        cube = self.counts.reshape(*[2] * len(self.names), -1)
        return Tally(kept, cube.sum(axis=dropped).reshape(2 ** len(kept), -1))


@dataclass(frozen=True, eq=False)
class EncodedRelease:
    """The features of a release; a column without a block is TF, relative to a target.

    A target is the tuple of its codes, column by column.
    """

    release: Release
    blocks: tuple[Block | None, ...]

    @property
    def relative(self) -> bool:
        """Whether the features depend on the target."""
        return any(block is None for block in self.blocks)

    def sharing(self, targets: NDArray[np.int32]) -> list[NDArray[np.intp]]:
        """Return which targets see the same features in the release, and can share one model."""
        seen = [targets[:, place] for place, block in enumerate(self.blocks) if block is None]
        if not seen:
            return [np.arange(len(targets))]
        _, group = np.unique(np.stack(seen), axis=1, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        return np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])

    @property
    def width(self) -> int:
        """How many features a released record has."""
        return sum(1 if block is None else block.width for block in self.blocks)

    @cached_property
    def _distinct_rows(self) -> DistinctRows:
        return distinct_rows(self.release)

    def rows(self, target: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of every released record: the materialised encoding."""
        parts = [
            column.covering(int(code))[:, None] if block is None else block.regions[column.index]
            for column, block, code in zip(self.release.columns, self.blocks, target, strict=True)
        ]
        return np.hstack(parts).astype(np.float64)

    def targets(self, targets: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of targets, one in each row; TF is 1, since a value covers itself."""
        parts = [
            np.ones((len(targets), 1)) if block is None else block.values[targets[:, place]]
            for place, block in enumerate(self.blocks)
        ]
        return np.hstack(parts)

    def lesson(self, target: NDArray[np.int32]) -> Lesson:
        """Return what :meth:`rows` and the classes teach, each distinct pair once, with weights."""
        tally = self.tally(target)
        if tally is not None:
            return tally.lesson()
        held = self._distinct_rows
        keys = held.classes.astype(np.int64)
        size, places = len(self.release.sensitive_values), []
        for column, block, shown, code in zip(
            self.release.columns, self.blocks, held.regions, target, strict=True
        ):
            place: NDArray[Any] = shown
            if block is None:
                place = column.regions_covering(int(code))[shown]
            count = 2 if block is None else column.count
            keys, size = _joined(keys, size, place, count)
            places.append(place)
        some, weights = _counted(keys, size, held.weights)
        parts = [
            place[some][:, None] if block is None else block.regions[place[some]]
            for place, block in zip(places, self.blocks, strict=True)
        ]
        return np.hstack(parts).astype(np.float64), held.classes[some], weights

    def tally(self, target: NDArray[np.int32]) -> Tally | None:
        """Return all that TF shows of a partition; None where that is not counted by group."""
        names = tuple(column.attribute.name for column in self.release.columns)
        each = (Tally(names, counts[0]) for _, counts in self.tallies(target[None]))
        return next(each, None)

    def tallies(self, targets: NDArray[np.int32]) -> Iterator[tuple[slice, Floats]]:
        """Yield the counts of some targets' tallies after the other, looked up by group.

        Nothing where a column is not TF, rows have weights or share no groups, or there are too
        many columns to count all patterns.
        """
        held, classes = self._distinct_rows, len(self.release.sensitive_values)
        if not held.by_group or any(block is not None for block in self.blocks):
            return
        from indiff.inference.patterns import add_patterns

        columns, patterns = self.release.columns, 2 ** len(self.blocks)
        step = max(1, CELLS_AT_ONCE // (columns[0].count + patterns * classes))
        for start in range(0, len(targets), step):
            some = slice(start, min(start + step, len(targets)))
            covered = np.zeros((some.stop - start, columns[0].count), np.int32)
            for place, column in enumerate(columns):
                covered *= 2
                covered += column.regions_covering_each(targets[some, place])
            counts = np.zeros((len(covered), patterns, classes))
            add_patterns(covered, held.regions[0], held.classes, held.weights, counts)
            yield some, counts


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a release: the region in each column, the class, and their weight.

    ``by_group`` says that a region has the same number in all columns, that of its group, and
    that there are few enough columns to count all their combinations.
    """

    regions: tuple[NDArray[np.int32], ...]
    classes: NDArray[np.int32]
    weights: NDArray[np.float64]
    by_group: bool = False


def distinct_rows(release: Release) -> DistinctRows:
    """Return each distinct row of a release once; whatever has no weight is left out."""
    classes, size = release.classes.astype(np.int64), len(release.sensitive_values)
    if release.weights is None and release.shares_groups:  # counts by group and class do
        group = release.columns[0].index.astype(np.int64)
        counts = np.bincount(group * size + classes)
        held = np.flatnonzero(counts)
        group, of_class = np.divmod(held, size)
        weights = counts[held].astype(np.float64)
        regions = (group.astype(np.int32),) * len(release.columns)
        few = len(release.columns) <= MOST_COUNTED
        return DistinctRows(regions, of_class.astype(np.int32), weights, by_group=few)
    keys = classes
    for column in release.columns:
        keys, size = _joined(keys, size, column.index, column.count)
    each = np.ones(len(release)) if release.weights is None else release.weights
    some, weights = _counted(keys, size, each)
    regions = tuple(column.index[some] for column in release.columns)
    return DistinctRows(regions, release.classes[some], weights)


def _joined(
    keys: NDArray[np.int64], size: int, more: NDArray[Any], count: int
) -> tuple[NDArray[np.int64], int]:
    """Return keys that tell pairs apart, below a size that whole numbers hold."""
    if size * count >= 2**62:
        keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
        size = len(keys)
    return keys * count + more, size * count


def _counted(
    keys: NDArray[np.int64], size: int, weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return one place of each distinct key with a weight above 0, and the weight of all."""
    if size > 16 * len(keys) + 1024:  # too sparse to count in place
        keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
        size = len(keys)
    total: NDArray[np.float64] = np.bincount(keys, weights, minlength=size).astype(np.float64)
    some = np.empty(size, np.intp)
    some[keys] = np.arange(len(keys))  # any one stands for its equals
    held = total > 0
    return some[held], total[held]


def _no_encoding(name: str) -> UserError:
    return UserError(
        f"no encoding {name!r}{did_you_mean(name, ENCODINGS) or '.'} An encoding is written "
        f"NUMERIC-CATEGORICAL; known numeric ones: {', '.join(NUMERIC)}; known categorical ones: "
        f"{', '.join(CATEGORICAL)}."
    )
