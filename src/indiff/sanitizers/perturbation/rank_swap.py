"""Rank swapping: records trade values with others whose values are of nearly the same rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.release.release import ReleasedColumn
from indiff.sanitizers.perturbation.perturbed import Floats, Perturbed, check_number, coded_column


@dataclass(frozen=True)
class RankSwap(Perturbed):
    """Swap each value with that of a record at most ``percent`` % of the ranks away.

    Moore (1996), "Controlled data-swapping techniques for masking public use microdata sets": the
    records are sorted by one column; each that has not been swapped yet trades its value with one
    drawn from those above it that have not, up to ``percent`` % of the records away. Each ordered
    column is swapped by itself, so that every column keeps its values exactly and only their
    combinations change. Categories without an order stay, and so do missing values.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53], "ill": ["no", "yes"] * 2}),
    ...                    quasi=["age"], sensitive="ill")
    >>> RankSwap(25).sanitize(table, np.random.default_rng(0)).to_frame()["age"].to_pylist()
    ['36', '28', '53', '47']
    """

    percent: float

    name: ClassVar[str] = "rank-swap"
    strength: ClassVar[str] = "percent"
    example: ClassVar[str] = "10"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMERIC, Kind.ORDINAL)

    def __post_init__(self) -> None:
        check_number("percent", self.percent, 0, 100, above=True)

    def column(self, attribute: Attribute, draws: Floats) -> ReleasedColumn:
        """Return the column with its values swapped."""
        known = np.flatnonzero(attribute.codes != attribute.missing_code)
        order = known[np.argsort(attribute.codes[known], kind="stable")]
        window = math.floor(self.percent * len(order) / 100 + 1e-9)
        partner = swap_partners(draws[order, 0], window)
        codes = attribute.codes.copy()
        codes[order] = attribute.codes[order[partner]]
        return coded_column(attribute, codes)


def swap_partners(draws: Floats, window: int) -> NDArray[np.intp]:
    """Return the place with which each place swaps, at most ``window`` away; maybe its own.

    >>> swap_partners(np.array([0.9, 0.0, 0.5, 0.0]), 2).tolist()
    [2, 3, 0, 1]
    """
    partner = np.arange(len(draws), dtype=np.intp)
    free = np.ones(len(draws), np.bool_)
    for place, draw in enumerate(draws.tolist()):
        if not free[place]:
            continue
        above = np.flatnonzero(free[place + 1 : place + 1 + window])
        if len(above):
            other = place + 1 + int(above[int(draw * len(above))])
            partner[place], partner[other] = other, place
            free[other] = False
        free[place] = False
    return partner
