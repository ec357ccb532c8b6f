"""Estimates how many lone records are unique, or found, in the population by log-linear models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.risk.counts import Counted, keys

MOST_GROUPS = 2**22
MOST_FITTED = 2**18  # cells of a table to which margins are fitted
_ROUNDS = 100
_CLOSE = 1e-8
_PASSES = 2.0

Floats = NDArray[np.float64]
Codes = list[NDArray[np.intp]]


@dataclass(frozen=True)
class LoglinearModel:
    """One model of the numbers of records per combination of values."""

    model: str
    converged: bool
    tau1: float
    """Σ over lone records of P(F = 1 | f = 1) = exp(−λ(1 − π))."""
    tau2: float
    """Σ over lone records of E[1/F | f = 1] = (1 − exp(−λ(1 − π)))/(λ(1 − π))."""
    pearson: float
    """Pearson's statistic over its degrees of freedom; near 1 where the model fits."""
    bias: float | None
    """By how much τ₁ is off, to second order; None where there are too many combinations."""
    z: float | None
    """``bias`` over its standard error under the model: beyond ±2 the model does not fit."""


@dataclass(frozen=True)
class LoglinearRisk:
    """τ₁ and τ₂ of Poisson log-linear models (Skinner and Shlomo 2008).

    ``chosen`` is the simplest model that passes its test, or the one that is nearest to it: a model
    that is richer than need be finds too few uniques. It says nothing about people in combinations
    that a model's margins do not tell apart.
    """

    models: dict[str, LoglinearModel]
    chosen: str
    cells: int
    """How many combinations of values are possible."""
    lone: int
    """Records that are alone in the sample, of which τ₁ and τ₂ count some."""

    @property
    def best(self) -> LoglinearModel:
        """The chosen model."""
        return self.models[self.chosen]

    @property
    def fits(self) -> bool:
        """Whether the chosen model passes its own test."""
        return self.best.converged and self.best.z is not None and abs(self.best.z) <= _PASSES

    def span(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest of the models' ``tau1`` or ``tau2``."""
        found = [getattr(one, name) for one in self.models.values()]
        return min(found), max(found)


def loglinear_risk(counted: Counted, sampling: float) -> tuple[LoglinearRisk | None, str | None]:
    """Fit the models, or return why there is none."""
    if len(counted.quasi) < 2:
        return None, "a log-linear model needs two quasi-identifiers or more"
    engine, positions = counted.engine, counted.positions
    ((groups,),) = engine.query(f"SELECT COUNT(*) FROM {counted.groups}")
    if groups > MOST_GROUPS:
        return None, f"log-linear models are fitted to at most {MOST_GROUPS:,} groups"
    made = engine.keep(f"SELECT {keys(positions)}, {counted.size} AS f FROM {counted.groups}")
    table = engine.fetch(made)
    engine.forget(made)
    codes, shape = _coded(table, len(positions))
    frequencies = table["f"].to_numpy().astype(np.float64)
    order = np.lexsort(codes)  # engines give rows in any order, and sums differ in their last bits
    codes = [code[order] for code in codes]
    return fit(codes, shape, frequencies[order], sampling), None


def _coded(table: pa.Table, columns: int) -> tuple[Codes, tuple[int, ...]]:
    """Code each column's values in their order, the missing one first, whichever row has them."""
    codes, shape = [], []
    for position in range(columns):
        column = table[f"c{position}"].combine_chunks()
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        order = pc.array_sort_indices(column.dictionary).to_numpy()
        ranks = np.append(np.argsort(order), -1)
        indices = column.indices.fill_null(len(order)).to_numpy()
        used, place = np.unique(ranks[indices], return_inverse=True)
        codes.append(place.astype(np.intp))
        shape.append(len(used))
    return codes, tuple(shape)


def fit(codes: Codes, shape: Sequence[int], frequencies: Floats, sampling: float) -> LoglinearRisk:
    """Fit independence and, to tables that are small enough, all pairs of columns."""
    cells, shape = math.prod(shape), tuple(shape)
    dense = np.zeros(shape) if cells <= MOST_GROUPS else None
    if dense is not None:
        dense[tuple(codes)] = frequencies
    models = {"independence": _independence(codes, shape, frequencies, sampling, dense)}
    if dense is not None and cells <= MOST_FITTED and len(shape) > 2:
        models["two-way"] = _two_way(dense, sampling)
    off = {name: math.inf if one.z is None else abs(one.z) for name, one in models.items()}
    # A model that is richer than need be finds too few: the simplest that passes is taken.
    passed = [name for name in models if off[name] <= _PASSES]
    chosen = passed[0] if passed else min(models, key=off.__getitem__)
    lone = int((frequencies == 1).sum())
    return LoglinearRisk(models, chosen, cells, lone)


def _independence(
    codes: Codes, shape: tuple[int, ...], frequencies: Floats, sampling: float, dense: Floats | None
) -> LoglinearModel:
    """Fit main effects, which have a closed form: n · Π of the columns' shares."""
    n = float(frequencies.sum())
    shares = [
        np.bincount(code, frequencies, size) / n for code, size in zip(codes, shape, strict=True)
    ]
    expected = np.full(len(frequencies), n)
    for share, code in zip(shares, codes, strict=True):
        expected *= share[code]
    free = math.prod(shape) - 1 - sum(size - 1 for size in shape)
    cells = None
    if dense is not None:
        whole = np.full((), n)
        for share in shares:
            whole = whole[..., None] * share
        cells = dense, whole
    return _model("independence", frequencies, expected, n, free, sampling, cells, True)


def _two_way(dense: Floats, sampling: float) -> LoglinearModel:
    """Fit all margins of two columns by iterative proportional fitting."""
    axes = range(dense.ndim)
    pairs = [
        (tuple(axis for axis in axes if axis not in pair), pair) for pair in combinations(axes, 2)
    ]
    margins = [dense.sum(axis=others, keepdims=True) for others, _ in pairs]
    expected, n = np.ones(dense.shape), float(dense.sum())
    converged = False
    for _ in range(_ROUNDS):
        furthest = 0.0
        for (others, _), margin in zip(pairs, margins, strict=True):
            fitted = expected.sum(axis=others, keepdims=True)
            furthest = max(furthest, float(np.abs(fitted - margin).max()))
            expected *= np.divide(margin, fitted, out=np.zeros_like(margin), where=fitted > 0)
        if converged := furthest <= _CLOSE * n:
            break
    sizes = dense.shape
    free = dense.size - 1 - sum(size - 1 for size in sizes)
    free -= sum((a - 1) * (b - 1) for a, b in combinations(sizes, 2))
    held = dense > 0
    return _model(
        "two-way", dense[held], expected[held], n, free, sampling, (dense, expected), converged
    )


def _model(
    name: str,
    frequencies: Floats,
    expected: Floats,
    n: float,
    free: int,
    sampling: float,
    cells: tuple[Floats, Floats] | None,
    converged: bool,
) -> LoglinearModel:
    """Read τ₁, τ₂ and the fit off expected counts μ = πλ; ``cells`` has all, observed beside."""
    lone = expected[frequencies == 1] * (1 - sampling) / sampling  # λ(1 − π)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(lone > 0, -np.expm1(-lone) / lone, 1.0)
    pearson = (float((frequencies**2 / expected).sum()) - n) / max(free, 1)
    bias = z = None
    if cells is not None:
        bias, deviation = _bias(*cells, sampling)
        z = bias / deviation if deviation > 0 else 0.0
    return LoglinearModel(
        name, converged, float(np.exp(-lone).sum()), float(found.sum()), pearson, bias, z
    )


def _bias(observed: Floats, expected: Floats, sampling: float) -> tuple[float, float]:
    """Estimate E[τ̂₁ − τ₁] and its standard error under the model.

    It is Σ πλe^{−πλ}·(h(λ̂) − h(λ)), h(λ) = e^{−(1−π)λ}. To second order in λ − λ̂, of which
    (f − μ)/π and ((f − μ)² − f)/π² estimate the first and second power without bias, a cell adds
    a·(f − μ) + b·((f − μ)² − f), a = λ̂e^{−λ̂}(1 − π), b = e^{−λ̂}(1 − π)/π · (1 − λ̂(1 + π)/2).
    Under the model its variance is a²μ + 2b²μ² (in the manner of Skinner and Shlomo 2008, whose
    test leaves out the change of the first factor).
    """
    rate = expected / sampling
    shrunk = np.exp(-rate) * (1 - sampling)
    a, b = rate * shrunk, shrunk / sampling * (1 - rate * (1 + sampling) / 2)
    off = observed - expected
    bias = float((a * off + b * (off * off - observed)).sum())
    variance = float((a * a * expected + 2 * b * b * expected * expected).sum())
    return bias, math.sqrt(variance)
