"""Estimates distances by Eq. 1 of DIT v2 as the paper did: two samples of beliefs, compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.sanitizers.noise.mechanisms import Laplace

SAMPLES = 25_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bias:
    """Per record: the exact distance, Eq. 1's estimate, and Eq. 1 of a table against itself."""

    exact: Floats
    estimate: Floats
    nothing: Floats


def bias(table: Table, epsilon: float, rows: NDArray[np.intp], *, seed: int = 0,
         samples: int = SAMPLES) -> Bias:  # fmt: skip
    """Estimate the distances of some rows by Eq. 1 (DIT v2, Section 3.2), beside the exact ones.

    Two samples of one law are not equal, so the estimate of 0 is above 0, and it adds up over
    the sensitive values. This shows the paper's estimator at work; the product does not use it.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [1, 1, 2], "ill": ["n", "y", "n"]}), sensitive="ill")
    >>> found = bias(table, 0.01, np.array([0]), samples=1000)
    >>> bool(found.exact[0] < found.nothing[0])
    True
    """
    noise = Laplace(epsilon)
    grid = noise.grid(table)
    cell, counts = grid.occupied(table)
    classes = grid.classes(table)
    exact = differential_test(table, noise, model="frequency").distances[rows]
    estimate, nothing = np.empty(len(rows)), np.empty(len(rows))
    for place, row in enumerate(rows):
        rng = np.random.default_rng([seed, int(row)])
        held = counts[cell[row]].astype(np.float64)
        less = held.copy()
        less[classes[row]] -= 1
        with_record, again, without = (
            _beliefs(each, noise.scale, samples, rng) for each in (held, held, less)
        )
        estimate[place] = equation_1(with_record, without)
        nothing[place] = equation_1(with_record, again)
    return Bias(exact, estimate, nothing)


def equation_1(one: Floats, other: Floats) -> float:
    """Sum over coordinates the mean difference of order statistics (DIT v2, Eq. 1).

    >>> equation_1(np.array([[0.25], [0.75]]), np.array([[0.75], [0.25]]))
    0.0
    """
    return float(np.abs(np.sort(one, axis=0) - np.sort(other, axis=0)).mean(axis=0).sum())


def _beliefs(counts: Floats, scale: float, samples: int, rng: Generator) -> Floats:
    noisy = 1 + np.maximum(0, counts + rng.laplace(0, scale, (samples, len(counts))))
    beliefs: Floats = noisy / noisy.sum(axis=1, keepdims=True)
    return beliefs
