"""Encoding: one of the 24 ways e_ij to turn a release into features (DIT v1, Appendix A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.errors import UserError, did_you_mean
from indiff.inference.encodings import categorical, numeric
from indiff.inference.encodings.block import Block
from indiff.release import Release, ReleasedColumn
from indiff.schema import Kind

TF = "TF"

# In the appendix's order, which numbers them: e64 is TF-TF.
NUMERIC: dict[str, Callable[[ReleasedColumn, int], Block] | None] = {
    "Scaling": numeric.scaling,
    "Bounds": numeric.bounds,
    "Binary": numeric.binary,
    "QuantilesB": numeric.refuse_numbers,
    "QuantilesA": numeric.quantiles_after,
    TF: None,
}
CATEGORICAL: dict[str, Callable[[ReleasedColumn], Block] | None] = {
    "Hot": categorical.hot,
    "Binary": categorical.binary,
    "HotA": categorical.hot_after,
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
        if type(self.quantiles) is not int or self.quantiles < 2:
            raise UserError(
                f"quantiles must be a whole number of at least 2; got {self.quantiles!r}."
            )

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

    @property
    def width(self) -> int:
        """How many features a released record has."""
        return sum(1 if block is None else block.width for block in self.blocks)

    def keys(self, target: NDArray[np.int32]) -> list[NDArray[np.int64]]:
        """Return for each column what decides a row's features: its region, or TF."""
        return [
            (column.index if block is not None else column.covering(int(code))).astype(np.int64)
            for column, block, code in zip(self.release.columns, self.blocks, target, strict=True)
        ]

    def features(self, keys: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return the features of rows with these keys."""
        parts = [
            key[:, None].astype(np.float64) if block is None else block.regions[key]
            for key, block in zip(keys, self.blocks, strict=True)
        ]
        return np.hstack(parts)

    def rows(self, target: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of every released record: the materialised encoding."""
        return self.features(self.keys(target))

    def targets(self, targets: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of targets, one in each row; TF is 1, since a value covers itself."""
        parts = [
            np.ones((len(targets), 1)) if block is None else block.values[targets[:, place]]
            for place, block in enumerate(self.blocks)
        ]
        return np.hstack(parts)

    def distinct(
        self, target: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the distinct pairs of features and class, and the weight of records with each."""
        release, keys = self.release, self.keys(target)
        whole = release.classes.astype(np.int64)
        for key, block, column in zip(keys, self.blocks, release.columns, strict=True):
            size = 2 if block is None else column.count
            if (int(whole.max(initial=0)) + 1) * size >= 2**62:
                whole = np.unique(whole, return_inverse=True)[1].ravel()
            whole = whole * size + key
        if int(whole.max(initial=0)) > 16 * len(whole):  # too sparse to count in place
            whole = np.unique(whole, return_inverse=True)[1].ravel()
        counts = np.bincount(whole)
        some = np.empty(len(counts), np.intp)
        some[whole] = np.arange(len(whole))  # any one record stands for its equals
        held = some[counts > 0]
        weights = counts if release.weights is None else np.bincount(whole, release.weights)
        features = self.features([key[held] for key in keys])
        return features, release.classes[held], weights[counts > 0].astype(np.float64)


def _no_encoding(name: str) -> UserError:
    return UserError(
        f"no encoding {name!r}{did_you_mean(name, ENCODINGS) or '.'} An encoding is written "
        f"NUMERIC-CATEGORICAL; known numeric ones: {', '.join(NUMERIC)}; known categorical ones: "
        f"{', '.join(CATEGORICAL)}."
    )
