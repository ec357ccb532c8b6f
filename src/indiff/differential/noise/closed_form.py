"""Integrates the differential test of a noisy contingency table, exactly, without sampling.

The adversary of DIT v2, Section 4.2.2 (Eqs. 2 to 4) reads the belief in sensitive value k off the
noisy counts of the target's cell: C_k / ΣC with C_k = 1 + max(0, c_k + noise). The distance of
Section 3.2 adds, over the sensitive values, the Wasserstein distance between the distributions of
that belief with and without the target's record. ``docs/closed-form.md`` proves that it is a
single integral of a positive, smooth function, and bounds the error of the rule used here; for
randomized response it is a fraction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.differential.noise.transforms import AdditiveNoise, Floats, noise_of
from indiff.errors import UserError
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, RandomizedResponse

# The quadrature: docs/closed-form.md, "Quadrature", proves a relative error of 2.5e-14.
_STEP = 0.25
_FIRST_NODE = 3e-8
_LAST_NODE = 40.0

# Noise narrower than this changes no digit of a result: docs/closed-form.md, "Limits".
_NARROWEST_NOISE = 1e-60

_BLOCK = 1 << 20  # numbers held at a time for one block of cases × nodes


def distances(mechanism: NoisySanitizer, counts: ArrayLike, target_values: ArrayLike) -> Floats:
    """Return the exact distance of the differential test for each case.

    One row of ``counts`` per case: how many records share the target's (binned) quasi-identifiers
    and have sensitive value k, the target included. ``target_values`` has the column of the
    target's own value. DIT v2, Section 3.2 with Section 4.2.2's adversary; the theorem and its
    proof are in ``docs/closed-form.md``. Relative error below 1e-12.

    A small distance does not prove that the mechanism is differentially private, nor that another
    adversary, who combines cells, learns as little.

    >>> from indiff import Laplace
    >>> distances(Laplace(epsilon=float("inf")), [[3, 0], [2, 1]], [0, 1])
    array([0.1, 0.3])
    >>> distances(Laplace(epsilon=0.5), [[3, 0], [2, 1]], [0, 1]).round(6)
    array([0.104303, 0.112864])
    """
    table, values = _check(counts, target_values)
    if isinstance(mechanism, RandomizedResponse):
        return _randomized_response(mechanism, table, values)
    noise = noise_of(mechanism)
    if noise.scale < _NARROWEST_NOISE:
        own = table[np.arange(len(table)), values]
        size = (table.sum(axis=1) + table.shape[1]).astype(np.float64)
        return np.asarray(2 * (size - 1 - own) / (size * (size - 1)))
    cases, where = distinct_cases(table, values)
    return _noisy_distances(noise, cases)[where]


def expected_beliefs(mechanism: NoisySanitizer, counts: ArrayLike) -> Floats:
    """Return the expected belief in each sensitive value, cases × values; rows sum to 1.

    ``counts`` as in :func:`distances`; a row may be all zeros. The expectation is over the noise
    only (``docs/closed-form.md``, "Expected beliefs").

    >>> from indiff import Laplace
    >>> expected_beliefs(Laplace(epsilon=float("inf")), [[3, 0]])
    array([[0.8, 0.2]])
    >>> expected_beliefs(Laplace(epsilon=0.5), [[3, 0]]).round(4)
    array([[0.6688, 0.3312]])
    """
    table = _check_counts(counts)
    n = table.shape[1]
    size = (table.sum(axis=1, keepdims=True) + n).astype(np.float64)
    if isinstance(mechanism, RandomizedResponse):
        keep, other = mechanism.chances(n)
        return np.asarray((1 + keep * table + other * (size - n - table)) / size)
    noise = noise_of(mechanism)
    if noise.scale < _NARROWEST_NOISE:
        return np.asarray((1 + table) / size)
    order = np.argsort(table, axis=1, kind="stable")
    cases, where = distinct_rows(np.take_along_axis(table, order, axis=1))
    result = np.empty(table.shape)
    np.put_along_axis(result, order, _noisy_beliefs(noise, cases)[where], axis=1)
    return result


def _noisy_distances(noise: AdditiveNoise, cases: NDArray[np.int64]) -> Floats:
    """Integrate for each row: the target's count first, then the other counts."""
    n = cases.shape[1]
    nodes = _nodes(noise, n, int(cases.sum(axis=1).max(initial=0)))
    levels, position = np.unique(cases[:, 1:], return_inverse=True)
    position = position.reshape(len(cases), n - 1)
    log_phi, mean = noise.transforms(levels.astype(np.float64), nodes)
    own, own_position = np.unique(cases[:, 0], return_inverse=True)
    log_weight = noise.log_drop(own.astype(np.float64), nodes) + np.log(nodes) - n * nodes
    result = np.empty(len(cases))
    for rows in _blocks(len(cases), len(nodes)):
        # The sum starts at 0, not at the large weight: a thousand values would add up its rounding.
        exponent = np.zeros((len(cases[rows]), len(nodes)))
        others = np.full(exponent.shape, n - 1.0)
        for k in range(n - 1):
            exponent += log_phi[position[rows, k]]
            others += mean[position[rows, k]]
        exponent += log_weight[own_position[rows]]
        result[rows] = np.einsum("ij,ij->i", np.exp(exponent), others)
    return 2 * _STEP * result


def _noisy_beliefs(noise: AdditiveNoise, cases: NDArray[np.int64]) -> Floats:
    """Integrate E p_j for each row of counts and each j."""
    n = cases.shape[1]
    nodes = _nodes(noise, n, int(cases.sum(axis=1).max(initial=0)))
    levels, position = np.unique(cases, return_inverse=True)
    position = position.reshape(cases.shape)
    log_phi, mean = noise.transforms(levels.astype(np.float64), nodes)
    weight = _STEP * nodes
    # Left of the first node the integrand is flat: the missing nodes are a geometric series.
    weight[0] *= 1 / -math.expm1(-_STEP)
    result = np.empty(cases.shape)
    for rows in _blocks(len(cases), len(nodes)):
        exponent = np.zeros((len(cases[rows]), len(nodes)))
        for k in range(n):
            exponent += log_phi[position[rows, k]]
        integrand = np.exp(exponent - n * nodes) * weight
        for k in range(n):
            result[rows, k] = np.einsum("ij,ij->i", integrand, 1 + mean[position[rows, k]])
    return result


def _nodes(noise: AdditiveNoise, n: int, largest_total: int) -> Floats:
    """Return the nodes t, equally spaced in ln t; the step, not their number, sets the error."""
    first = _FIRST_NODE / (n + largest_total + n * noise.scale)
    number = math.ceil(math.log(_LAST_NODE / n / first) / _STEP) + 1
    return np.asarray(first * np.exp(_STEP * np.arange(number)))


def _randomized_response(
    mechanism: RandomizedResponse, table: NDArray[np.int64], values: NDArray[np.int64]
) -> Floats:
    """Return Σ_j W1_j: docs/closed-form.md, "Randomized response"."""
    n = table.shape[1]
    keep, other = mechanism.chances(n)
    rows = np.arange(len(table))
    without = table.copy()
    without[rows, values] -= 1
    rest = without.sum(axis=1, keepdims=True)
    reports = keep * without + other * (rest - without)  # expected, from the other records
    chance = np.full(table.shape, other)
    chance[rows, values] = keep
    size = (rest + 1 + n).astype(np.float64)
    moved = (1 - chance) * (1 + reports) + chance * (size - 2 - reports)
    return np.asarray((moved / (size * (size - 1))).sum(axis=1))


def distinct_rows(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the distinct rows, and for each row which of them it is."""
    if len(table) == 0:
        return table, np.zeros(0, dtype=np.intp)
    rows = np.ascontiguousarray(table).view(np.dtype((np.void, table.itemsize * table.shape[1])))
    _, first, where = np.unique(rows.ravel(), return_index=True, return_inverse=True)
    return table[first], where


def distinct_cases(
    counts: NDArray[np.int64], values: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the distinct cases, the target's own count first and then the others ascending.

    The second array says which of them each row of ``counts`` is.
    """
    keys, rows = counts.copy(), np.arange(len(counts))
    keys[rows, values] = -1  # sorts first: the others follow in order
    keys.sort(axis=1)
    keys[:, 0] = counts[rows, values]
    return distinct_rows(keys)


def _blocks(cases: int, nodes: int) -> list[slice]:
    """Cut the cases so that one block of cases × nodes stays in the processor's cache."""
    step = max(1, _BLOCK // nodes)
    return [slice(start, start + step) for start in range(0, cases, step)]


def _check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    table = np.asarray(counts)
    way_out = "Count the records of each case's cell by sensitive value"
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
        rule = "counts must be a table of whole numbers, one row per case and one column per "
        got = f"{table.ndim} dimension(s) of {table.dtype}"
        raise UserError(f"{rule}sensitive value", got, way_out)
    if table.shape[1] < 2:
        rule = "the sensitive attribute must have at least 2 values for anything to be inferred"
        raise UserError(rule, table.shape[1], "Choose another sensitive column")
    if table.size and table.min() < 0:
        raise UserError("counts must not be negative", table.min(), way_out)
    return table.astype(np.int64, copy=False)


def _check(
    counts: ArrayLike, target_values: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = _check_counts(counts)
    cases, n = table.shape
    values = np.asarray(target_values)
    way_out = "Give the column of each target's sensitive value"
    if values.shape != (cases,) or (cases and not np.issubdtype(values.dtype, np.integer)):
        rule = f"target_values must be one whole number per case ({cases:,})"
        raise UserError(rule, f"shape {values.shape} of {values.dtype}", way_out)
    values = values.astype(np.int64, copy=False)
    outside = (values < 0) | (values >= n)
    if outside.any():
        rule = f"target_values must be columns of counts (0 to {n - 1})"
        raise UserError(rule, values[outside][0], way_out)
    absent = table[np.arange(cases), values] < 1
    if absent.any():
        raise UserError(
            "counts must include the target itself, so at least 1 at its own sensitive value",
            f"0 in case {int(np.flatnonzero(absent)[0])}",
            "Count the target's cell with its record",
        )
    return table, values
