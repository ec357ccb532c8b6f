"""A small differentially private synthesizer: noisy two-way tables, and rows drawn from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import check_whole
from indiff.release.release import Release
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.grid import Grid
from indiff.sanitizers.noise.mechanisms import ByEpsilon

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Marginals(ByEpsilon):
    """Measure each quasi-identifier with the sensitive attribute, and draw rows from that.

    The d tables of one quasi-identifier by the sensitive values get two-sided geometric noise of
    scale d/ε on every count (OpenDP's for a release to publish). One record changes one count of
    each table by one, so each is ε/d-differentially private, and together, with everything that
    is made of them, they are ε-differentially private (sequential composition and post-processing:
    Dwork and Roth 2014, Theorem 3.16 and Proposition 2.1). A row is then drawn: its sensitive value
    by the mean of the tables' shares, and each quasi-identifier given that value, independently.
    That is the smallest of Bayesian networks (Zhang et al. 2017, PrivBayes): what quasi-identifiers
    say together is lost. There are as many rows as the noisy tables count, or ``rows``.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> drawn = Marginals(5, edges={"age": [40]}, domains={"ill": ["no", "yes"]})
    >>> drawn.sanitize(table, np.random.default_rng(1)).to_frame().num_rows
    4
    >>> Marginals(1).budget(4)
    (0.25, 0.25, 0.25, 0.25)
    """

    rows: int | None = None

    name: ClassVar[str] = "dp-marginals"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is not None:
            check_whole("rows", self.rows, 1)

    def __str__(self) -> str:
        return super().__str__() + ("" if self.rows is None else f",rows={self.rows}")

    @property
    def randomized(self) -> bool:
        """Return True: even without noise, rows are drawn."""
        return True

    def budget(self, columns: int) -> tuple[float, ...]:
        """Return the ε of each of the tables; together they are ``epsilon``."""
        return (self.epsilon / columns,) * columns

    def measure(self, grid: Grid, table: Table, rng: Generator | None) -> list[Floats]:
        """Return the noisy tables, bins × sensitive values; without ``rng`` OpenDP's noise."""
        classes, size = grid.classes(table), len(grid.sensitive_values)
        found = []
        budget = self.budget(len(grid.axes))
        for axis, attribute, share in zip(grid.axes, table.attributes, budget, strict=True):
            cells = axis.bin_of[attribute.codes].astype(np.int64) * size + classes
            counts = np.bincount(cells, minlength=len(axis) * size).reshape(len(axis), size)
            if rng is None:
                found.append(noise.vetted_counts("geometric", 1 / share, counts))
            else:
                found.append(counts + noise.draw("geometric", 1 / share, counts.shape, rng))
        return found

    def release(self, grid: Grid, table: Table, rng: Generator | None, **marks: Any) -> Release:
        """Return rows drawn from the noisy tables."""
        measured = self.measure(grid, table, rng)
        rng = np.random.default_rng() if rng is None else rng
        total = float(np.mean([counts.sum() for counts in measured]))
        rows = max(1, math.floor(total + 0.5)) if self.rows is None else self.rows
        kept = [np.maximum(counts, 0.0) for counts in measured]
        shares = np.mean([_shares(counts.sum(axis=0)) for counts in kept], axis=0)
        classes = rng.choice(len(shares), rows, p=_shares(shares))
        columns = []
        for axis, counts in zip(grid.axes, kept, strict=True):
            bins = np.empty(rows, np.int32)
            for value in np.unique(classes).tolist():
                own = np.flatnonzero(classes == value)
                bins[own] = rng.choice(len(axis), len(own), p=_shares(counts[:, value]))
            columns.append(axis.released(bins))
        return grid.rows(columns, classes, **marks)


def _shares(counts: Floats) -> Floats:
    """Return counts as shares; all are alike where nothing is counted."""
    total = counts.sum()
    return np.asarray(counts / total if total > 0 else np.full(len(counts), 1 / len(counts)))
