"""Estimates how many people are unique in the population from the sizes of a sample's groups.

Three models and the rule that chooses among them. All are of a simple random sample: of people who
answered because they wanted to, or were drawn by household, they say little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indiff.risk.population.sums import places

_TOLERANCE = 1e-8
_SMALLEST_EXPONENT = -745.0  # exp of less is 0
_MOST_NEGATIVE = 1e6
_LOW_FRACTION = 0.1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Histogram:
    """How many groups of the sample have which size."""

    sizes: Floats
    groups: Floats

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, int]]) -> Histogram:
        """Make it of pairs (size, groups)."""
        sizes, groups = zip(*sorted(pairs), strict=True)
        return cls(np.array(sizes, np.float64), np.array(groups, np.float64))

    @property
    def people(self) -> int:
        """How many people the sample has."""
        return round(float(self.sizes @ self.groups))

    @property
    def classes(self) -> int:
        """How many groups there are."""
        return int(self.groups.sum())

    def of_size(self, size: int) -> int:
        """Return how many groups have one size."""
        return int(self.groups[self.sizes == size].sum())


@dataclass(frozen=True)
class Estimate:
    """What one model makes of the sample."""

    model: str
    converged: bool
    uniques: float | None
    """People who are unique in the population; None where the model has no solution."""
    share: float | None
    """The same, as a share of the population."""
    assumes: str
    parameters: dict[str, float] = field(default_factory=dict)
    residual: float | None = None
    """How far the model's equations are from being met, relative to their terms."""
    reason: str | None = None
    """Why there is no solution."""


ASSUMES = {
    "pitman": "a simple random sample; sizes of groups follow Pitman's two-parameter partition",
    "zayatz": "a simple random sample; the sample's sizes of groups are in the population as often",
    "snb": "a simple random sample; sizes of groups, less one, are negative binomial",
    "counted": "the table is the whole population",
}


def pitman(histogram: Histogram, population: int) -> Estimate:
    """Fit Pitman's partition (θ, α) by maximum likelihood (Hoshino 2001).

    Uniques are Γ(θ + 1)/Γ(θ + α) · N^α, its large-N form, which is slightly above the exact
    expectation. A negative α is allowed while θ + iα > 0 for every i below the number of groups;
    beyond that there is no such model, though the equations may have a root there. It proves
    nothing about a population whose sizes of groups are shaped otherwise.
    """
    from scipy import special  # only where a model is asked for

    u, n = histogram.classes, histogram.people
    if u == n or u == 1:
        which = "every record is alone" if u == n else "all records are in one group"
        return _none("pitman", f"{which}: the likelihood has no maximum")
    found = _pitman_root(histogram, u, n)
    if found is None:
        return _none("pitman", "the sizes of groups are too even: the likelihood has no maximum")
    theta, alpha, residual = found
    log_uniques = (
        special.gammaln(theta + 1) - special.gammaln(theta + alpha) + alpha * math.log(population)
    )
    if theta + alpha <= 0 or residual > _TOLERANCE:
        return _none("pitman", "the likelihood equations could not be solved")
    uniques = math.exp(min(log_uniques, math.log(population)))
    return _made("pitman", uniques, population, {"theta": theta, "alpha": alpha}, residual)


def _pitman_root(histogram: Histogram, u: int, n: int) -> tuple[float, float, float] | None:
    """Return θ, α and the residual: θ by its own equation for every α, then α."""
    from scipy import optimize, special

    classes, people = places(u - 1), places(n - 1)
    sizes, groups = histogram.sizes, histogram.groups

    def slope_of_theta(theta: float, alpha: float) -> tuple[float, float]:
        x, w = classes
        gained = float(w @ (1 / (theta + x * alpha)))
        y, v = people
        return gained - float(v @ (1 / (theta + y))), gained

    def theta_at(alpha: float) -> float:
        least = -alpha if alpha >= 0 else -(u - 1) * alpha

        def slope(log_excess: float) -> float:
            return slope_of_theta(least + math.exp(log_excess), alpha)[0]

        low, high = math.log(max(1.0, least)) - 30, math.log(max(1.0, least))
        while slope(high) > 0:
            high += 5
        root = optimize.brentq(slope, low, high, xtol=1e-14, rtol=1e-15, maxiter=500)
        return float(least + math.exp(root))

    def slope_of_alpha(alpha: float) -> tuple[float, float]:
        theta, (x, w) = theta_at(alpha), classes
        gained = float(w @ (x / (theta + x * alpha)))
        lost = float(groups @ (special.digamma(sizes - alpha) - special.digamma(1 - alpha)))
        return gained - lost, gained

    at_zero = slope_of_alpha(0.0)[0]
    low, high = 0.0, 0.0
    if at_zero > 0:
        high = 0.5
        while slope_of_alpha(high)[0] > 0:
            low, high = high, 1 - (1 - high) / 2
    elif at_zero < 0:
        low = -0.1
        while slope_of_alpha(low)[0] < 0:
            low, high = 2 * low, low
            if low < -_MOST_NEGATIVE:
                return None
    alpha = low
    if low < high:
        alpha = float(optimize.brentq(lambda a: slope_of_alpha(a)[0], low, high, xtol=1e-15))
    theta = theta_at(alpha)
    own, whole = slope_of_theta(theta, alpha)
    other, all_of_it = slope_of_alpha(alpha)
    return theta, alpha, max(abs(own) / whole, abs(other) / max(all_of_it, 1.0))


def zayatz(histogram: Histogram, population: int) -> Estimate:
    """Let the sample's sizes of groups stand for the population's (Zayatz 1991).

    A record that is alone in the sample is unique in the population with chance
    h(1)·c₁ / Σ h(i)·cᵢ, where h(i) is the chance that exactly one of i people is drawn
    (hypergeometric) and cᵢ the number of groups of size i. A sample has smaller groups than its
    population, so the number is mostly too high, the more so the smaller the sample.
    """
    n, ones = histogram.people, histogram.of_size(1)
    if not ones:
        return _made("zayatz", 0.0, population, {"unique_if_alone": 0.0}, 0.0)
    drawn = _drawn_once(histogram.sizes, n, population)
    chance = ones / float(histogram.groups @ drawn)
    uniques = ones * chance * population / n
    return _made("zayatz", uniques, population, {"unique_if_alone": chance}, 0.0)


def _drawn_once(sizes: Floats, n: int, population: int) -> Floats:
    """Return h(i)/h(1) = i · Π over j < i of (N − n − j + 1)/(N − j), for every size i."""
    largest = int(min(sizes.max(), population - n + 1, 1 - _SMALLEST_EXPONENT * population / n))
    steps = np.arange(1, largest, dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log1p(-(n - 1) / (population - steps)))])
    within = sizes <= largest
    place = np.where(within, sizes, 1) - 1
    found = np.interp(place, np.arange(len(logs)), logs)
    return np.where(within, sizes * np.exp(np.maximum(found, _SMALLEST_EXPONENT)), 0.0)


def snb(histogram: Histogram, population: int) -> Estimate:
    """Fit the slide negative binomial (Chen and Keller-McNulty 1998): uniques are K·β^α.

    A population group has one person and a negative binomial number more. K, their number, is the
    modified Shlosser estimate (Haas and Stokes 1998); α and β make the expected numbers of groups
    of one and of two in the sample what they are. Of several solutions the one is taken that
    implies a population of the size nearest to the given one. It needs a large sample.
    """
    fraction = histogram.people / population
    ones, twos = histogram.of_size(1), histogram.of_size(2)
    if not ones or not twos:
        which = "alone" if not ones else "in a group of two"
        return _none("snb", f"no record is {which}, and the model needs some")
    groups = _shlosser(histogram, fraction)
    equation = _snb_equation(groups, ones, twos / ones, fraction)
    best: tuple[float, float, float] | None = None
    for beta in _roots(lambda beta: equation(beta)[0]):
        alpha = equation(beta)[1]
        implied = groups * (1 + alpha * (1 - beta) / beta)
        off = abs(math.log(implied / population))
        if best is None or off < best[0]:
            best = off, alpha, beta
    if best is None:
        return _none("snb", "its two equations have no solution here")
    _, alpha, beta = best
    expected = snb_expected(groups, alpha, beta, fraction)
    residual = max(abs(expected[0] / ones - 1), abs(expected[1] / twos - 1))
    if residual > _TOLERANCE:
        return _none("snb", "its two equations could not be solved")
    parameters = {"alpha": alpha, "beta": beta, "groups": groups}
    uniques = groups * math.exp(alpha * math.log(beta))
    return _made("snb", uniques, population, parameters, residual)


def snb_expected(groups: float, alpha: float, beta: float, fraction: float) -> tuple[float, float]:
    """Return how many of the population's groups have one and two people in the sample.

    The coefficients of s and s² in G(1 − f + f·s), G(s) = s·(β/(1 − (1 − β)·s))^α.
    """
    d = (1 - fraction) * (1 - beta)
    e = fraction * (1 - beta) / (1 - d)
    empty = groups * math.exp(alpha * (math.log(beta) - math.log1p(-d)))
    one = fraction + (1 - fraction) * alpha * e
    two = fraction * alpha * e + (1 - fraction) * alpha * (alpha + 1) / 2 * e * e
    return empty * one, empty * two


def _shlosser(histogram: Histogram, fraction: float) -> float:
    """Return the number of the population's groups (Haas and Stokes 1998, modified Shlosser)."""
    i, c, rest = histogram.sizes, histogram.groups, 1 - fraction
    # (1 − f)^i·((1 + f)^i − 1) = (1 − f²)^i − (1 − f)^i
    square = np.exp(i * math.log1p(-fraction * fraction))
    unseen = np.exp(i * math.log1p(-fraction))
    first = float(c @ (i * fraction**2 * square)) / (1 - fraction**2)
    first /= float(c @ (square - unseen))
    second = float(c @ unseen) / (float(c @ (i * fraction * unseen)) / rest)
    return histogram.classes + histogram.of_size(1) * first * second**2


def _snb_equation(
    groups: float, ones: int, ratio: float, fraction: float
) -> Callable[[float], tuple[float, float]]:
    """Return β → (log of expected over counted ones, the α that meets the ratio of twos)."""
    rest = 1 - fraction

    def equation(beta: float) -> tuple[float, float]:
        e = fraction * (1 - beta) / (1 - rest * (1 - beta))
        # The ratio is a quadratic in α with one positive root.
        a = rest * e * e / 2
        b, c = a + fraction * e - ratio * rest * e, -ratio * fraction
        root = math.sqrt(b * b - 4 * a * c)
        alpha = (root - b) / (2 * a) if b < 0 else -2 * c / (b + root)
        expected = snb_expected(groups, alpha, beta, fraction)[0]
        return math.log(expected / ones) if expected > 0 else -math.inf, alpha

    return equation


def _roots(equation: Callable[[float], float]) -> list[float]:
    """Return the β in (0, 1) where an equation changes its sign."""
    from scipy import optimize

    far = np.logspace(-12, np.log10(0.5), 400)
    places = np.concatenate([far, 1 - far[-2::-1]])
    values = np.array([equation(float(beta)) for beta in places])
    is_below = np.signbit(values)  # where a value is 0, that is the root
    changes = np.flatnonzero(is_below[:-1] != is_below[1:])
    found = []
    for at in changes:
        if np.isfinite(values[at]) and np.isfinite(values[at + 1]):
            root = optimize.brentq(
                equation, float(places[at]), float(places[at + 1]), xtol=1e-300, rtol=1e-15,
                maxiter=500,
            )  # fmt: skip
            found.append(float(root))
    return found


def dankar(estimates: dict[str, Estimate], ones: int, fraction: float) -> str | None:
    """Choose a model (Dankar, El Emam, Neisa and Roffey 2012); None where nobody is alone.

    Up to a tenth of the population: Pitman, or Zayatz where it has no solution. Beyond: the
    smaller of Zayatz and the slide negative binomial, or Zayatz.
    """
    if not ones:
        return None
    if fraction <= _LOW_FRACTION:
        return "pitman" if estimates["pitman"].converged else "zayatz"
    slide, plain = estimates["snb"].uniques, estimates["zayatz"].uniques
    return "snb" if slide is not None and plain is not None and slide < plain else "zayatz"


def _none(model: str, reason: str) -> Estimate:
    return Estimate(model, False, None, None, ASSUMES[model], reason=reason)


def _made(
    model: str, uniques: float, population: int, parameters: dict[str, float], residual: float
) -> Estimate:
    uniques = min(uniques, float(population))
    share = uniques / population
    return Estimate(model, True, uniques, share, ASSUMES[model], parameters, residual)
