"""Integrates how often one record changes the prediction from a noisy table, without sampling.

The prediction is the sensitive value with the largest noisy count of the target's cell; among
equal counts the lot decides, the same with and without the record. ``docs/closed-form.md``,
"Changed predictions", proves that with s the target's value

    P(the prediction changes) = P(it is s, with the record) − P(it is s, without it)

whichever way the noise of the two tables is coupled at best, and that this is one integral of a
positive function, piecewise a sum of exponentials.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indiff.differential.noise.closed_form import distinct_cases, distinct_rows
from indiff.differential.noise.runs import ANSWERED
from indiff.differential.noise.transforms import gauss_legendre
from indiff.kernels import inner, kernel
from indiff.sanitizers.noise.mechanisms import Gaussian, Geometric, NoisyTable, RandomizedResponse

Floats = NDArray[np.float64]

# Noise narrower than this leaves the order of different counts: e^{−50} < 10⁻²¹.
_NARROWEST_NOISE = 0.02
# What lies where the integrand has fallen by e^{−27} is left out: less than 10⁻¹⁰ in all.
_REACH = 27.0
# A Gauss rule of 16 points is as good as exact while the exponents of a panel span ±10.
_SPAN = 10.0
_POINTS = 16
_ORDERS = ((0.2, 4), (2.0, 8), (_SPAN, _POINTS))


def change_probabilities(
    mechanism: NoisyTable, counts: NDArray[np.int64], values: NDArray[np.int64]
) -> Floats:
    """Return, for each case, the probability that its record changes the prediction.

    One row of ``counts`` per case, the target included, as in
    :func:`~indiff.differential.noise.closed_form.distances`. The error is below 1e-9.

    >>> from indiff import Laplace
    >>> change_probabilities(Laplace(float("inf")), np.array([[1, 0], [3, 0], [2, 2]]), np.zeros(3))
    array([0.5, 0. , 0.5])
    >>> change_probabilities(Laplace(0.5), np.array([[1, 0], [3, 0]]), np.zeros(2)).round(4)
    array([0.1209, 0.0807])
    """
    cases, back = distinct_cases(counts, np.asarray(values, np.intp))
    if mechanism.scale <= _NARROWEST_NOISE:
        cases[:, 0] -= 1
        return tie_changes(cases)[back, 0]
    table, result = cases.astype(np.float64), np.empty(len(cases))
    if isinstance(mechanism, Geometric):
        _sum_geometric(table, mechanism.epsilon, *_rules(table.shape[1], mechanism.epsilon), result)
    else:
        normal = isinstance(mechanism, Gaussian)
        _integrate(table, mechanism.scale, normal, *_stacked(), result)
    return result[back]


def tie_changes(counts: NDArray[np.int64]) -> Floats:
    """Return, for each count, the probability that one more makes its value the prediction.

    Where it is largest already, alone, nothing changes; at the side of others the lot is decided;
    one behind, they draw lots; further behind nothing changes.
    """
    top = counts.max(axis=1, keepdims=True)
    first = counts == top
    number = first.sum(axis=1, keepdims=True)
    behind = np.where(counts == top - 1, 1 / (1 + number), 0.0)
    return np.asarray(np.where(first, 1 - 1 / number, behind))


def answer_changes(
    response: RandomizedResponse,
    counts: NDArray[np.int64],
    values: NDArray[np.int64],
    *,
    runs: int,
    seed: int,
) -> tuple[Floats, NDArray[np.intp]]:
    """Return, for each case and run, the probability of a change given the others' answers.

    The others' answers are drawn, the target's own is not: its probabilities are known. Cases with
    the same counts share their runs; the second array says which. Without chance one run is all.
    """
    number = counts.shape[1]
    keep, other = response.chances(number)
    cells, cell = distinct_rows(counts)
    truth = np.repeat(np.tile(np.arange(number), len(cells)), cells.ravel())
    base = number * np.repeat(np.arange(len(cells)), cells.sum(axis=1))
    places = (np.cumsum(cells.ravel()) - cells.ravel()).reshape(cells.shape)
    targets, rows = places[cell, values], np.arange(len(values))  # one such record is the target
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(ANSWERED,)))
    found = np.empty((len(values), runs))
    for run in range(runs):
        told = rng.random(len(truth)) < keep - other  # else any value, the true one included
        answers = np.where(told, truth, rng.integers(number, size=len(truth)))
        heard = np.bincount(base + answers, minlength=cells.size).reshape(cells.shape)[cell]
        heard[rows, answers[targets]] -= 1
        moved = tie_changes(heard)
        found[:, run] = other * moved.sum(axis=1) + (keep - other) * moved[rows, values]
    return found, cell


@cache
def _stacked() -> tuple[Floats, Floats]:
    """Return the Gauss–Legendre rules on [0, 1] of all orders, one row each."""
    points, weights = np.zeros((len(_ORDERS), _POINTS)), np.zeros((len(_ORDERS), _POINTS))
    for row, (_, order) in enumerate(_ORDERS):
        points[row, :order], weights[row, :order] = gauss_legendre(order)
    return points, weights


def _rules(values: int, epsilon: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the rule for the lot in [0, 1], and those for sums over 32, 64, … whole numbers.

    The lot's integrand is a polynomial of degree ``values`` − 1, with slopes of the order of ε.
    """
    order = math.ceil(values / 2)
    span = values * epsilon / 2
    order = min([order, *(points for limit, points in _ORDERS if span <= limit)])
    longest = 2 * _SPAN / (values * epsilon)
    sizes = [2.0**power for power in range(5, max(5, math.floor(math.log2(longest)) + 1))]
    sums = [_whole_numbers(size) for size in sizes]
    nodes = np.array([points for points, _ in sums]).reshape(len(sizes), _POINTS)
    weights = np.array([weight for _, weight in sums]).reshape(len(sizes), _POINTS)
    return (*gauss_legendre(order), nodes, weights)


@cache
def _whole_numbers(size: float) -> tuple[Floats, Floats]:
    """Return Gauss's rule for the sum over 0, 1, …, size − 1 (Golub and Welsch 1969).

    Its polynomials are the discrete Chebyshev ones.
    """
    k = np.arange(1, _POINTS)
    side = np.sqrt(k**2 * (1 - (k / size) ** 2) / (4 * (4 * k**2 - 1)))
    places, vectors = np.linalg.eigh(np.diag(side, 1) + np.diag(side, -1))
    return size * places + (size - 1) / 2, size * vectors[0] ** 2


@inner
def _compress(others, levels, times):  # type: ignore[no-untyped-def]
    """Write the distinct counts, ascending, and how often each stands there."""
    number = 0
    for count in others:
        if number and levels[number - 1] == count:
            times[number - 1] += 1
        else:
            levels[number] = count
            times[number] = 1
            number += 1
    return number


@inner
def _breaks(levels, extra, low, high, breaks):  # type: ignore[no-untyped-def]
    """Write low, the levels and extra counts between, and high, ascending."""
    breaks[0] = low
    number = 1
    for level in levels:
        if low < level < high:
            breaks[number] = level
            number += 1
    for count in extra:  # few: put in place one by one, as a sort takes seconds to compile
        if low < count < high:
            place = number
            while place > 1 and breaks[place - 1] > count:
                breaks[place] = breaks[place - 1]
                place -= 1
            breaks[place] = count
            number += 1
    breaks[number] = high
    return number


@inner
def _below(x, scale, normal):  # type: ignore[no-untyped-def]
    """Return the distribution function of the noise."""
    if normal:
        return 0.5 * math.erfc(-x / scale / math.sqrt(2.0))
    if x < 0:
        return 0.5 * math.exp(x / scale)
    return 1 - 0.5 * math.exp(-x / scale)


@inner
def _below_and_density(x, scale, normal):  # type: ignore[no-untyped-def]
    """Return the noise's distribution function and density."""
    if normal:
        density = math.exp(-((x / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))
        return _below(x, scale, True), density
    half = math.exp(-abs(x) / scale) / 2
    return half if x < 0 else 1 - half, half / scale


@inner
def _shifted(x, own, scale, normal):  # type: ignore[no-untyped-def]
    """Return how much likelier a count of own − 1 stays below x than one of own."""
    if normal:
        return _below(x - own + 1, scale, True) - _below(x - own, scale, True)
    unit = -math.expm1(-1 / scale) / 2
    if x >= own:
        return unit * math.exp((own - x) / scale)
    if x <= own - 1:
        return unit * math.exp((x - own + 1) / scale)
    return 1 - (math.exp((own - 1 - x) / scale) + math.exp((x - own) / scale)) / 2


@inner
def _window(own, top, scale, normal):  # type: ignore[no-untyped-def]
    """Return where both the target's and the largest other count may lie; empty if nowhere."""
    if not normal:
        low, high = (own - 1 + top - _REACH * scale) / 2, (own + top + _REACH * scale) / 2
        return low, high
    left = _REACH * scale**2 - (own - 1 - top) ** 2 / 4
    right = _REACH * scale**2 - (own - top) ** 2 / 4
    low = (own - 1 + top) / 2 - math.sqrt(max(left, 0.0))
    high = (own + top) / 2 + math.sqrt(max(right, 0.0))
    return low, high


@kernel
def _integrate(cases, scale, normal, points, weights, result):  # type: ignore[no-untyped-def]
    """Integrate (F_{c−1} − F_c) d(ΠF_k) over the positive numbers, and add the clipped part."""
    values = cases.shape[1]
    levels, times = np.empty(values - 1), np.empty(values - 1, np.int64)
    breaks, extra = np.empty(values + 3), np.empty(2)
    reach = 4 * scale / math.sqrt(values) if normal else 2 * _SPAN * scale / values
    for case in range(len(cases)):
        own = cases[case, 0]
        number = _compress(cases[case, 1:], levels, times)
        total = _shifted(0.0, own, scale, normal) * (1 - 1 / values)
        for k in range(number):
            total *= _below(-levels[k], scale, normal) ** times[k]
        low, high = _window(own, levels[number - 1], scale, normal)
        low = max(low, 0.0)
        extra[0], extra[1] = own - 1, own
        last = _breaks(levels[:number], extra, low, high, breaks) if low < high else 0
        for place in range(last):
            width = breaks[place + 1] - breaks[place]
            pieces = max(math.ceil(width / reach), 1)
            step = width / pieces
            span = _SPAN if normal else values * step / 2 / scale
            rule = 0 if span <= 0.2 else (1 if span <= 2 else 2)
            for piece in range(pieces):
                start = breaks[place] + piece * step
                for node in range(4 << rule):
                    x = start + step * points[rule, node]
                    product, rate = 1.0, 0.0
                    for k in range(number):
                        below, density = _below_and_density(x - levels[k], scale, normal)
                        if below == 0:  # far below this count, and so is the product's derivative
                            product = 0.0
                            break
                        product *= below ** times[k]
                        rate += times[k] * density / below
                    moved = _shifted(x, own, scale, normal)
                    total += step * weights[rule, node] * moved * product * rate
        result[case] = total


@inner
def _geometric_cell(at, own, levels, times, epsilon, lots, chances):  # type: ignore[no-untyped-def]
    """Return the part of count ``at`` ≥ 1: integrate over the lot of a record among equals.

    P(X < at) + lot·P(X = at) is a distribution function that splits ties evenly.
    """
    ratio, weight = math.exp(-epsilon), math.tanh(epsilon / 2)
    mass = weight * math.exp(-epsilon * abs(at - own))
    ahead = mass * (1 / ratio if at < own else ratio)  # at count at + 1
    product, rate = np.ones(len(lots)), np.zeros(len(lots))
    for k in range(len(levels)):
        away = math.exp(-epsilon * abs(at - levels[k]))
        less = (ratio * away if at < levels[k] else 1 + ratio - away) / (1 + ratio)
        equal = weight * away
        for node in range(len(lots)):
            below = less + lots[node] * equal
            product[node] *= below ** times[k]
            rate[node] += times[k] * equal / below
    return (chances * (mass + lots * (ahead - mass)) * product * rate).sum()


@kernel
def _sum_geometric(cases, epsilon, lots, chances, nodes, weights, result):  # type: ignore[no-untyped-def]
    """Sum over the whole numbers, many at a time where they are many."""
    values = cases.shape[1]
    levels, times = np.empty(values - 1), np.empty(values - 1, np.int64)
    breaks, extra = np.empty(values + 3), np.empty(1)
    ratio = math.exp(-epsilon)
    for case in range(len(cases)):
        own = cases[case, 0]
        number = _compress(cases[case, 1:], levels, times)
        held, often = levels[:number], times[:number]
        total = math.tanh(epsilon / 2) * math.exp(-epsilon * (own - 1)) * (1 - 1 / values)
        for k in range(number):
            clipped = ratio ** levels[k] / (1 + ratio)
            total *= clipped ** times[k]
        low, high = _window(own, levels[number - 1], 1 / epsilon, False)
        low, high = max(math.floor(low), 1.0), math.ceil(high) + 1.0
        extra[0] = own
        last = _breaks(held, extra, low, high, breaks) if low < high else 0
        for place in range(last):
            at, end = breaks[place], breaks[place + 1]
            rule = len(nodes) - 1
            while at < end:
                while rule >= 0 and 32.0 * 2.0**rule > end - at:
                    rule -= 1
                if rule < 0:
                    total += _geometric_cell(at, own, held, often, epsilon, lots, chances)
                    at += 1
                    continue
                for node in range(nodes.shape[1]):
                    x = at + nodes[rule, node]
                    cell = _geometric_cell(x, own, held, often, epsilon, lots, chances)
                    total += weights[rule, node] * cell
                at += 32.0 * 2.0**rule
        result[case] = total
