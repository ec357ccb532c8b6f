"""PRAM, the post-randomisation method: each value is kept, or drawn anew, by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Attribute
from indiff.release.release import ReleasedColumn
from indiff.sanitizers.mondrian.constraints import check_choice
from indiff.sanitizers.perturbation.perturbed import Floats, Perturbed, check_number, coded_column

Redraw = Literal["marginal", "uniform"]


@dataclass(frozen=True)
class Pram(Perturbed):
    """Keep each quasi-identifier's value with probability p, and else draw it anew.

    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Section 2: a value v becomes w with the
    probability P(v, w). Here P = pI + (1 − p)·1qᵀ, where q is what is drawn from: the shares of
    the values in the table (``redraw="marginal"``), or every value of the column alike
    (``"uniform"``). With the shares t as q it is invariant PRAM, tP = t: the expected shares stay
    what they are. The values of each column are changed independently, numbers like categories.
    It promises no privacy: a rare combination that stayed whole is as recognisable as before.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"sex": ["f", "m", "m", "f"], "ill": ["no", "yes"] * 2}),
    ...                    quasi=["sex"], sensitive="ill")
    >>> release = Pram(0.5).sanitize(table, np.random.default_rng(0))
    >>> release.to_frame()["sex"].to_pylist()
    ['f', 'm', 'm', 'm']
    >>> Pram(0.8).matrix(table.attributes[0])
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """

    p: float
    redraw: Redraw = "marginal"

    name: ClassVar[str] = "pram"
    strength: ClassVar[str] = "p"
    example: ClassVar[str] = "0.8"

    def __post_init__(self) -> None:
        check_number("p", self.p, 0, 1)
        check_choice("redraw", self.redraw, ("marginal", "uniform"))

    @property
    def randomized(self) -> bool:
        """Whether any value may change."""
        return self.p < 1

    def matrix(self, attribute: Attribute) -> Floats:
        """Return P: the probability that each value (a row) becomes each other one."""
        number = len(attribute.values)
        return self.p * np.eye(number) + (1 - self.p) * np.tile(self._drawn(attribute), (number, 1))

    def _drawn(self, attribute: Attribute) -> Floats:
        number = len(attribute.values)
        if self.redraw == "uniform":
            return np.full(number, 1 / number)
        counts = np.bincount(attribute.codes, minlength=number)
        return np.asarray(counts / max(counts.sum(), 1))

    def column(self, attribute: Attribute, draws: Floats) -> ReleasedColumn:
        """Return the column with each value kept or drawn anew."""
        ends = np.cumsum(self._drawn(attribute))
        last = int(np.flatnonzero(np.diff(ends, prepend=0.0) > 0).max(initial=0))
        fresh: NDArray[np.intp] = np.minimum(np.searchsorted(ends, draws[:, 1], "right"), last)
        return coded_column(attribute, np.where(draws[:, 0] < self.p, attribute.codes, fresh))
