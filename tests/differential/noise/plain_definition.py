"""The closed form again, written to be obviously right instead of fast: eighty decimal digits.

Every transform is the textbook antiderivative, with all its cancellations, and D_c is the plain
difference φ_{c−1} − φ_c: eighty digits leave more than enough. The outer integral is scipy's
adaptive quadrature. Nothing is shared with the code under test.
"""

from __future__ import annotations

import decimal
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal

from scipy.integrate import quad

DIGITS = decimal.Context(prec=80, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)

# (count, t) -> φ and μ
Transform = Callable[[int, Decimal], tuple[Decimal, Decimal]]


def laplace(epsilon: float) -> Transform:
    """P(X = 0) = ½e^{−εc}; density (ε/2)e^{−ε|y−c|} at y > 0, integrated left and right of c."""
    e = Decimal(epsilon)

    def transform(c: int, t: Decimal) -> tuple[Decimal, Decimal]:
        at_zero, decay = (-e * c).exp(), (-t * c).exp()
        gap, total = e - t, e + t
        left = (decay - at_zero) / gap
        left_moment = c * decay / gap - (decay - at_zero) / gap**2
        right = decay / total
        right_moment = decay * (c / total + 1 / total**2)
        return at_zero / 2 + e / 2 * (left + right), e / 2 * (left_moment + right_moment)

    return transform


def geometric(epsilon: float) -> Transform:
    """P(X = 0) = a^c/(1+a); P(X = y) = (1−a)/(1+a)·a^{|y−c|}, two geometric sums; μ = q dφ/dq."""
    a = (-Decimal(epsilon)).exp()

    def transform(c: int, t: Decimal) -> tuple[Decimal, Decimal]:
        q = (-t).exp()
        a_c, q_c = (-Decimal(epsilon) * c).exp(), (-t * c).exp()
        left = q * (q_c - a_c) / (q - a)
        left_slope = ((c + 1) * q_c - a_c) / (q - a) - q * (q_c - a_c) / (q - a) ** 2
        right = a * q * q_c / (1 - a * q)
        right_slope = a * (c + 1) * q_c / (1 - a * q) + a * a * q * q_c / (1 - a * q) ** 2
        weight = (1 - a) / (1 + a)
        return a_c / (1 + a) + weight * (left + right), weight * q * (left_slope + right_slope)

    return transform


def gaussian(sigma: float) -> Transform:
    """φ = Φ(−c/σ) + W with W = e^{−tc+t²σ²/2}Φ(c/σ−tσ); μ = (c−tσ²)W + σ·density(c/σ)."""
    s = Decimal(sigma)

    def transform(c: int, t: Decimal) -> tuple[Decimal, Decimal]:
        z = c / s
        positive = (t * (t * s * s / 2 - c)).exp() * normal_cdf(z - t * s)
        moment = (c - t * s * s) * positive + s * (-z * z / 2).exp() / _root_two_pi()
        return normal_cdf(-z) + positive, moment

    return transform


@functools.cache
def _root_two_pi() -> Decimal:
    # Machin's formula: π = 16 arctan(1/5) − 4 arctan(1/239).
    def arctan_inverse(x: int) -> Decimal:
        return sum(
            (Decimal((-1) ** k) / ((2 * k + 1) * Decimal(x) ** (2 * k + 1)) for k in range(70)),
            Decimal(0),
        )

    return (2 * (16 * arctan_inverse(5) - 4 * arctan_inverse(239))).sqrt()


@functools.lru_cache(maxsize=10_000)
def normal_cdf(x: Decimal) -> Decimal:
    """Φ(x): the series of positive terms near 0, the continued fraction of the tail far out."""
    size = abs(x)
    density = (-x * x / 2).exp() / _root_two_pi()
    if size < 10:
        term = total = size
        k = 1
        while term > total * Decimal("1e-85") and term:
            k += 2
            term *= x * x / k
            total += term
        half = density * total
        return Decimal("0.5") + (half if x > 0 else -half)
    fraction = size
    for k in range(max(20, int(12_000 / float(size) ** 2)), 0, -1):
        fraction = size + k / fraction
    tail = density / fraction
    return 1 - tail if x > 0 else tail


def _integrate(function: Callable[[Decimal], Decimal], scale: float, n: int) -> float:
    """Adaptive quadrature over ln t, from where nothing has happened yet to where all is over."""

    def in_log(u: float) -> float:
        t = Decimal(u).exp()
        return float(t * function(t))

    with decimal.localcontext(DIGITS):
        low, high = math.log(1e-14 / scale), math.log(60 / n)
        cuts = [low, math.log(1e-5 / scale), *(math.log(1 / scale) + i for i in (-4, 0, 4)), high]
        cuts = sorted(cut for cut in cuts if low <= cut <= high)
        pieces = itertools.pairwise(cuts)
        return math.fsum(quad(in_log, a, b, epsabs=1e-300, epsrel=1e-11)[0] for a, b in pieces)


def distance(transform: Transform, scale: float, counts: Sequence[int], s: int) -> float:
    """2(E p_s − E′ p_s), as 2 E[(ΣC − C_s)(1/S′ − 1/S)]."""
    n = len(counts)
    others = [c for k, c in enumerate(counts) if k != s]

    def integrand(t: Decimal) -> Decimal:
        pairs = {c: transform(c, t) for c in others}
        product = math.prod((pairs[c][0] for c in others), start=Decimal(1))
        spread = sum((1 + pairs[c][1] / pairs[c][0] for c in others), Decimal(0))
        drop = transform(counts[s] - 1, t)[0] - transform(counts[s], t)[0]
        return (-n * t).exp() * drop * product * spread

    return 2 * _integrate(integrand, n + sum(counts) + n * scale, n)


def belief(transform: Transform, scale: float, counts: Sequence[int], j: int) -> float:
    """E p_j = ∫ e^{−nt} (φ_j + μ_j) Π_{k≠j} φ_k dt."""
    n = len(counts)

    def integrand(t: Decimal) -> Decimal:
        pairs = [transform(c, t) for c in counts]
        product = math.prod((phi for phi, _ in pairs), start=Decimal(1))
        return (-n * t).exp() * product * (1 + pairs[j][1] / pairs[j][0])

    return _integrate(integrand, n + sum(counts) + n * scale, n)
