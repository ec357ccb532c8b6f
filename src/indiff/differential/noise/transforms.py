"""Computes Laplace transforms of a noisy count, for the mechanisms that add noise to counts.

With X_c = max(0, c + noise) and independent noise on every count, the closed form of the
differential test needs, at every node t of its quadrature and for every count c,

- φ_c(t) = E e^{−tX_c}, as its logarithm, since it underflows at large counts,
- μ_c(t)/φ_c(t), where μ_c(t) = E[X_c e^{−tX_c}] (``transforms`` returns both, counts × nodes),
- D_c(t) = φ_{c−1}(t) − φ_c(t) for c ≥ 1, as its logarithm, without the cancellation of the
  difference (``log_drop``).

``docs/closed-form.md`` derives every formula here; its sections are named below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.errors import InternalError
from indiff.sanitizers.noise.mechanisms import Gaussian, Geometric, Laplace, NoisySanitizer

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _LaplaceNoise:
    """Laplace noise of scale 1/ε on every count (DIT v2, 4.2.2): docs/closed-form.md, "Laplace"."""

    scale: float
    epsilon: float

    def transforms(self, counts: Floats, nodes: Floats) -> tuple[Floats, Floats]:
        epsilon = self.epsilon
        c, t = counts[:, None], nodes[None, :]
        z, at_zero, above = _weights(epsilon, c, t)
        ratio = epsilon / (epsilon + t)
        flat, tilted = _mean_exp(z), _mean_tilted_exp(z)
        inside = np.where(t >= epsilon, tilted, flat - tilted)
        doubled = at_zero + epsilon * c * flat + ratio * above
        moment = epsilon * c * c * inside + ratio * above * (c + 1 / (epsilon + t))
        return np.log(doubled / 2) - np.minimum(t, epsilon) * c, moment / doubled

    def log_drop(self, counts: Floats, nodes: Floats) -> Floats:
        epsilon = self.epsilon
        c, t = counts[:, None] - 1, nodes[None, :]
        z, at_zero, above = _weights(epsilon, c, t)
        positive = epsilon * c * _mean_exp(z) + epsilon / (epsilon + t) * above
        crossing = epsilon * at_zero * _laplace_crossing(epsilon, nodes)
        doubled = -np.expm1(-t) * positive + crossing
        return np.log(doubled / 2) - np.minimum(t, epsilon) * c


@dataclass(frozen=True)
class _GeometricNoise:
    """Two-sided geometric noise, P(z) ∝ e^{−ε|z|}: docs/closed-form.md, "Geometric"."""

    scale: float
    epsilon: float

    def transforms(self, counts: Floats, nodes: Floats) -> tuple[Floats, Floats]:
        epsilon = self.epsilon
        c, t = counts[:, None], nodes[None, :]
        z, at_zero, above = _weights(epsilon, c, t)
        inside, mean_step = self._inside(c, t, z)
        tail, tail_mean = _geometric_tail(epsilon + t)
        weight = math.tanh(epsilon / 2)
        total = at_zero / (1 + math.exp(-epsilon)) + weight * (inside + above * tail)
        inside_mean = np.where(t >= epsilon, 1 + mean_step, c - mean_step)
        moment = weight * (inside * inside_mean + above * tail * (c + tail_mean))
        return np.log(total) - np.minimum(t, epsilon) * c, moment / total

    def log_drop(self, counts: Floats, nodes: Floats) -> Floats:
        epsilon = self.epsilon
        c, t = counts[:, None] - 1, nodes[None, :]
        z, at_zero, above = _weights(epsilon, c, t)
        inside, _ = self._inside(c, t, z)
        tail, _ = _geometric_tail(epsilon + t)
        total = -np.expm1(-t) * math.tanh(epsilon / 2) * (at_zero + inside + above * tail)
        return np.log(total) - np.minimum(t, epsilon) * c

    def _inside(self, c: Floats, t: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return Σ_{y=1}^{c} a^{c−y}q^y without its factor e^{−lo·c}, and the mean step of it.

        The step is c − y where t < ε and y − 1 elsewhere: the distance from the largest term.
        """
        step = np.abs(self.epsilon - t)
        flat, flat_step = _mean_exp(z), _mean_exp(step)
        inside = np.where(t >= self.epsilon, np.exp(-step), 1.0) * c * flat / flat_step
        mean_step = c * _mean_tilted_exp(z) / flat - _mean_tilted_exp(step) / flat_step
        return inside, mean_step


@dataclass(frozen=True)
class _GaussianNoise:
    """Normal noise of standard deviation σ on every count: docs/closed-form.md, "Gaussian"."""

    scale: float
    sigma: float

    def transforms(self, counts: Floats, nodes: Floats) -> tuple[Floats, Floats]:
        sigma = self.sigma
        c, t = counts[:, None], nodes[None, :]
        shift = t * sigma - c / sigma
        log_positive = self._log_positive(c, t)
        log_total = np.logaddexp(_special().log_ndtr(-c / sigma), log_positive)
        log_density = math.log(sigma / math.sqrt(2 * math.pi)) - (c / sigma) ** 2 / 2
        # Left of 0 both terms of μ are positive; right of it they cancel, so another form is used.
        density_share = np.exp(log_density - log_total)
        below = np.exp(log_positive - log_total) * -np.minimum(shift, 0) * sigma + density_share
        beyond = density_share * _tilted_mills(np.maximum(shift, 0))
        return log_total, np.where(shift < 0, below, beyond)

    def log_drop(self, counts: Floats, nodes: Floats) -> Floats:
        # ln D_c(t) = ln t ∫_{c−1}^{c} W_x(t) dx
        offsets, weights = _unit_rule(self.sigma)
        c, t = counts[:, None, None], nodes[None, :, None]
        logs = self._log_positive(c - 1 + offsets, t)
        largest = logs.max(axis=2)
        total = np.exp(logs - largest[:, :, None]) @ weights
        return np.log(total) + largest + np.log(nodes)

    def _log_positive(self, x: Floats, t: Floats) -> Floats:
        """Return ln W_x(t), where W_x(t) = E[e^{−tX}; X > 0] for a real count x ≥ 0."""
        sigma = self.sigma
        shift = t * sigma - x / sigma
        below = t * (t * sigma**2 / 2 - x) + _special().log_ndtr(-np.minimum(shift, 0))
        scaled = _special().erfcx(np.maximum(shift, 0) / math.sqrt(2))
        beyond = np.log(scaled / 2) - (x / sigma) ** 2 / 2
        return np.where(shift < 0, below, beyond)


AdditiveNoise = _LaplaceNoise | _GeometricNoise | _GaussianNoise


def noise_of(mechanism: NoisySanitizer) -> AdditiveNoise:
    """Return the transforms of a mechanism's noise.

    >>> noise_of(Laplace(epsilon=0.5)).scale, noise_of(Gaussian(sigma=2)).scale
    (2.0, 2.0)
    """
    match mechanism:
        case Laplace():
            return _LaplaceNoise(mechanism.scale, mechanism.epsilon)
        case Geometric():
            return _GeometricNoise(mechanism.scale, mechanism.epsilon)
        case Gaussian():
            return _GaussianNoise(mechanism.scale, mechanism.sigma)
    raise InternalError(f"no closed form for {type(mechanism).__name__}")


def _special() -> Any:
    """Import scipy.special on first use: only normal noise needs it."""
    from scipy import special

    return special


def _weights(epsilon: float, c: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """Return z = |ε−t|c, and e^{−εc} and e^{−tc} without their common factor e^{−min(t,ε)c}."""
    z = np.abs(epsilon - t) * c
    small = np.exp(-z)
    return z, np.where(t >= epsilon, 1.0, small), np.where(t >= epsilon, small, 1.0)


def _mean_exp(x: Floats) -> Floats:
    """Return g(x) = ∫₀¹ e^{−xv} dv = (1 − e^{−x})/x, for x ≥ 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, -np.expm1(-safe) / safe)


def _mean_tilted_exp(x: Floats) -> Floats:
    """Return g₁(x) = ∫₀¹ v e^{−xv} dv = (1 − (1+x)e^{−x})/x², for x ≥ 0.

    Below 1 the difference cancels, and the power series Σ (−x)^j / (j! (j+2)) is summed instead.
    """
    near = np.minimum(x, 1.0)
    series = np.zeros_like(x)
    for j in range(18, -1, -1):  # the first term left out is below 1e-18
        series = 1 / (math.factorial(j) * (j + 2)) - near * series
    far = np.maximum(x, 1.0)
    closed = (-np.expm1(-far) - far * np.exp(-far)) / far / far
    return np.where(x < 1, series, closed)


def _laplace_crossing(epsilon: float, nodes: Floats) -> Floats:
    """Return ∫₀¹ e^{−ε(1−y)} (1 − e^{−ty}) dy: what passes the clip at 0 between c − 1 and c.

    The difference of closed forms loses digits like t, hence the other two ways for small t.
    """
    t = nodes
    at_epsilon = -math.expm1(-epsilon) / epsilon
    plain = at_epsilon - np.exp(-np.minimum(t, epsilon)) * _mean_exp(np.abs(epsilon - t))
    if epsilon > 0.5:
        near = t * (_mean_exp(t) - at_epsilon) / np.where(t < 0.1, epsilon - t, 1.0)
    else:
        points, weights = gauss_legendre(12)
        decay = np.exp(-epsilon * (1 - points))
        near = -np.expm1(-t[:, None] * points) @ (weights * decay)
    return np.where(t < 0.1, near, plain)


def _geometric_tail(x: Floats) -> tuple[Floats, Floats]:
    """Return Σ_{j≥1} e^{−xj} and the mean of j under those weights."""
    missing = -np.expm1(-x)
    return np.exp(-x) / missing, 1 / missing


def _tilted_mills(x: Floats) -> Floats:
    """Return J(x) = ∫₀^∞ v e^{−xv−v²/2} dv = 1 − x·(Mills ratio), for x ≥ 0.

    The difference cancels like x²: from 10 on the asymptotic series, alternating and shrinking
    for 50 terms there, is exact to the last digit after 20.
    """
    near = np.minimum(x, 10.0)
    direct = 1 - near * math.sqrt(math.pi / 2) * _special().erfcx(near / math.sqrt(2))
    inverse_square = 1 / np.maximum(x, 10.0) ** 2
    series = np.zeros_like(x)
    for k in range(20, 0, -1):
        series = (2 * k - 1) * inverse_square * (1 - series)
    return np.where(x < 10, direct, series)


def gauss_legendre(order: int) -> tuple[Floats, Floats]:
    """Return the points and weights of the Gauss–Legendre rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(order)
    return (points + 1) / 2, weights / 2


def _unit_rule(sigma: float) -> tuple[Floats, Floats]:
    """Return a rule on [0, 1] for integrands that bend at the scale σ next to 0 only.

    The clip makes a layer of width σ at 0: panels of two standard deviations follow it.
    """
    edges = [0.0, *(edge * sigma for edge in (2, 4, 6, 8, 10) if edge * sigma < 1), 1.0]
    points, weights = gauss_legendre(16)
    widths = np.diff(edges)
    offsets = np.asarray(edges[:-1])[:, None] + widths[:, None] * points
    return offsets.ravel(), (widths[:, None] * weights).ravel()
