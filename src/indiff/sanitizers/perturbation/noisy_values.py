"""Noise on the numbers of records: added to them, or multiplied with them."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.release.release import ReleasedColumn
from indiff.sanitizers.perturbation.perturbed import (
    Floats,
    Perturbed,
    check_number,
    is_whole,
    number_column,
    numbers_of,
)


@dataclass(frozen=True)
class NoisyValues(Perturbed):
    """What both kinds of noise share: normal draws, and numbers that stay whole if they were."""

    scale: float

    strength: ClassVar[str] = "scale"
    example: ClassVar[str] = "0.1"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMERIC,)

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 0, math.inf, above=True)

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers."""
        return rng.standard_normal(shape)

    def column(self, attribute: Attribute, draws: Floats) -> ReleasedColumn:
        """Return the column with its noise."""
        noisy = self.noisy(numbers_of(attribute), draws[:, 0])
        return number_column(attribute, noisy, whole=is_whole(attribute))

    @abstractmethod
    def noisy(self, numbers: Floats, normal: Floats) -> Floats:
        """Return the numbers with their noise, from as many standard normal draws."""


@dataclass(frozen=True)
class AdditiveNoise(NoisyValues):
    """Add normal noise whose standard deviation is ``scale`` times that of the column.

    Uncorrelated noise addition (Kim 1986; Hundepool et al. 2012, Section 3.4.1), independent for
    each record and column. Whole numbers and dates are rounded. Outliers get no more noise than
    anybody, and stay outliers.

    >>> AdditiveNoise(0.5).noisy(np.array([10.0, 30.0]), np.array([1.0, -1.0]))
    array([15., 25.])
    """

    name: ClassVar[str] = "additive-noise"

    def noisy(self, numbers: Floats, normal: Floats) -> Floats:
        """Add the noise."""
        known = numbers[~np.isnan(numbers)]
        spread = float(known.std()) if len(known) else 0.0
        return numbers + self.scale * spread * normal


@dataclass(frozen=True)
class MultiplicativeNoise(NoisyValues):
    """Multiply each number with a log-normal factor of mean 1, ``scale`` in logarithms.

    Kim and Winkler (2003), the second scheme: noise is added to the logarithms. The factor is
    exp(σz − σ²/2), whose expectation is 1. Large numbers get more noise than small ones, a sign
    stays, and a zero stays a zero. Whole numbers and dates (as days since 1970-01-01, for which
    it is of little use) are rounded.

    >>> MultiplicativeNoise(0.1).noisy(np.array([0.0, 100.0]), np.array([1.0, 0.05])).round(3)
    array([  0., 100.])
    """

    name: ClassVar[str] = "multiplicative-noise"

    def noisy(self, numbers: Floats, normal: Floats) -> Floats:
        """Multiply with the factors."""
        return numbers * np.exp(self.scale * normal - self.scale**2 / 2)
