"""Counts copies of records in a synthetic file, and what chance would give."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.differential.synthetic.pool import Part

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SHUFFLES = 999


@dataclass(frozen=True, eq=False)
class Copies:
    """Which records have an equal row in the synthetic file, and what a fresh sample would have.

    ``copied`` and ``single`` are by record: it has an equal row; and no other record of the
    original equals it. ``rows`` are synthetic rows that equal some record. ``expected`` is how many
    records would have an equal row if the file were a fresh sample of ``among`` rows: as many as
    the other records of the original would match (leave-one-out), and ``comparable`` is what so
    many rows of the file match. ``fresh`` is the p-value of the hypothesis that original and file
    are two samples of one population, by :data:`SHUFFLES` shuffles of the rows between them: a
    small one says that the file is no fresh sample. A generator that copies is none, and one that
    only makes frequent records more frequent is none either: records held out can tell.
    """

    copied: Bools = field(repr=False)
    single: Bools = field(repr=False)
    rows: int
    expected: float
    comparable: float
    among: int
    fresh: float

    @property
    def count(self) -> int:
        """How many records have an equal row."""
        return int(self.copied.sum())

    @property
    def singles(self) -> int:
        """How many records have one that no other record of the original equals."""
        return int((self.copied & self.single).sum())


def find_copies(original: Part, synthetic: Part, rng: Generator) -> Copies:
    """Compare all columns in use, the sensitive one included, of every record with every row."""
    size = int(max(original.whole.max(), synthetic.whole.max())) + 1
    ours, theirs = (np.bincount(part.whole, minlength=size) for part in (original, synthetic))
    among = min(len(synthetic), len(original) - 1)
    twins = (ours[original.whole] - 1).astype(np.int64)
    return Copies(
        copied=theirs[original.whole] > 0,
        single=twins == 0,
        rows=int((ours[synthetic.whole] > 0).sum()),
        expected=float(drawn_any(twins, len(original) - 1, among).sum()),
        comparable=float(drawn_any(theirs[original.whole], len(synthetic), among).sum()),
        among=among,
        fresh=_shuffled(ours, theirs, rng),
    )


def drawn_any(marked: Ints, size: int, drawn: int) -> NDArray[np.float64]:
    """Return the chance that of so many rows, drawn without replacement, at least one is marked.

    >>> drawn_any(np.array([0, 1, 2]), 4, 2).round(4)
    array([0.    , 0.5   , 0.8333])
    """
    from scipy.stats import hypergeom

    counts, back = np.unique(marked, return_inverse=True)
    return np.asarray(1 - hypergeom.pmf(0, size, counts, drawn))[back.ravel()]


def _shuffled(ours: Ints, theirs: Ints, rng: Generator) -> float:
    """Return the p-value of as many copied singles when rows are shuffled between the two.

    Rows that equal no other add nothing, whichever side they are on: only the others are shuffled.
    """
    both = ours + theirs
    kept = both > 1
    number, sizes = int(both.sum()), both[kept]
    values = np.repeat(np.arange(len(sizes)), sizes)
    seen = _copied_singles(ours[kept], sizes)
    as_many = 0
    for _ in range(SHUFFLES):
        mine = int(rng.hypergeometric(int(ours.sum()), number - int(ours.sum()), len(values)))
        chosen = rng.permutation(len(values))[:mine]
        counted = np.bincount(values[chosen], minlength=len(sizes))
        as_many += _copied_singles(counted, sizes) >= seen
    return (1 + as_many) / (1 + SHUFFLES)


def _copied_singles(ours: Ints, sizes: Ints) -> int:
    return int(((ours == 1) & (sizes > 1)).sum())
