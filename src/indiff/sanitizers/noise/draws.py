"""Noise on counts and on answers: numpy's for testing, OpenDP's for what leaves the building.

Numpy's generators are fast and repeat from a seed, which a test needs. They are no protection:
floating-point noise has gaps that give the count away, and a seed can be guessed. OpenDP's noise
is exact and comes from the operating system's entropy.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.errors import UserError

Kind = Literal["laplace", "geometric", "gaussian"]
Floats = NDArray[np.float64]

# The widest noise that OpenDP's integers and floats hold without saturating.
WIDEST_VETTED = 1e15


def draw(kind: Kind, scale: float, shape: tuple[int, ...], rng: Generator) -> Floats:
    """Draw noise of width ``scale`` (1/ε or σ) with numpy; width 0 is no noise."""
    if scale == 0:
        return np.zeros(shape)
    if kind == "laplace":
        return rng.laplace(0, scale, shape)
    if kind == "gaussian":
        return rng.normal(0, scale, shape)
    # An exponential variable rounded down is geometric, at any width; two of them are two-sided.
    first, second = rng.exponential(scale, (2, *shape))
    return np.asarray(np.floor(first) - np.floor(second))


def draw_answers(
    truth: NDArray[np.int32], number: int, keep: float, uniform: Floats
) -> NDArray[np.int32]:
    """Answer by randomized response: the truth with probability ``keep``, else another value.

    ``uniform`` has two numbers from [0, 1) per answer, so that an answer can be repeated.
    """
    step = 1 + np.minimum((uniform[:, 1] * (number - 1)).astype(np.int32), number - 2)
    return np.where(uniform[:, 0] < keep, truth, (truth + step) % number).astype(np.int32)


def opendp_is_there() -> bool:
    """Tell whether the extra ``dp`` is installed."""
    return importlib.util.find_spec("opendp") is not None


def vetted_counts(kind: Kind, scale: float, counts: NDArray[np.int64]) -> Floats:
    """Return the counts with OpenDP's noise of width ``scale`` on each of them."""
    if scale == 0:
        return counts.astype(np.float64)
    if scale > WIDEST_VETTED:
        raise UserError(
            f"noise for a release may have width 1/epsilon or sigma up to {WIDEST_VETTED:g}",
            f"{scale:g}",
            "Nothing of the counts would be left: use less noise",
        )
    dp = _opendp()
    if kind == "geometric":  # Laplace noise on whole numbers
        values: list[Any] = counts.ravel().tolist()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    else:
        values = counts.ravel().astype(np.float64).tolist()
        metric = dp.l2_distance if kind == "gaussian" else dp.l1_distance
        space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), metric(T="f64")
    make = dp.m.make_gaussian if kind == "gaussian" else dp.m.make_laplace
    noisy = make(*space, scale=scale)(values)
    return np.asarray(noisy, np.float64).reshape(counts.shape)


def vetted_answers(truth: NDArray[np.int32], number: int, keep: float) -> NDArray[np.int32]:
    """Return randomized responses drawn by OpenDP."""
    if keep == 1:
        return truth
    dp = _opendp()
    answer = dp.m.make_randomized_response(categories=list(range(number)), prob=keep)
    return np.array([answer(value) for value in truth.tolist()], np.int32)


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp
