"""Noisy contingency tables and randomized response: the mechanisms of differential privacy.

``sanitize(table)`` makes a release to publish, with OpenDP's noise; ``sanitize(table, rng)``
makes one that repeats from a seed, for testing. A release is called differentially private
(``constraint_met``) only if its bins and domains were declared, its noise is finite and nonzero
and comes from OpenDP; otherwise ``release.sanitizer`` says why not.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import UserError, from_data
from indiff.release.release import Release
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.grid import Grid, make_grid

# Beyond these the logarithms and squares of the closed form would leave the range of a double.
SMALLEST_EPSILON = 1e-100
LARGEST_SIGMA = 1e100

Declared = Mapping[str, Sequence[Any]]


class NotDifferentiallyPrivate(UserWarning):
    """A release was made for publication without what differential privacy needs."""


@dataclass(frozen=True, kw_only=True)
class CellMechanism(ABC):
    """What all mechanisms of differential privacy share: the cells of the table.

    ``bins`` cuts each numeric quasi-identifier into that many quantiles of the records (DIT v2,
    Section 4.5.2); None keeps its values. ``edges={column: [...]}`` cuts at declared numbers
    instead (each belongs to the bin below it) and ``domains={column: [...]}`` declares the values
    of other columns, the sensitive one included.
    """

    bins: int | None = 5
    edges: Declared = field(default_factory=dict, hash=False)
    domains: Declared = field(default_factory=dict, hash=False)

    name: ClassVar[str]
    strength: ClassVar[str] = "epsilon"  # the parameter that says how much noise there is

    def __post_init__(self) -> None:
        if self.bins is not None and not (type(self.bins) is int and self.bins >= 1):
            rule = "bins must be a whole number of at least 1, or None to keep every value"
            raise UserError(rule, f"{self.bins!r}")
        for option in ("edges", "domains"):
            given = getattr(self, option)
            if not isinstance(given, Mapping) or any(
                isinstance(values, str) or not isinstance(values, Sequence)
                for values in given.values()
            ):
                raise UserError(f"{option} maps columns to lists", from_data(given))

    def __str__(self) -> str:
        bins = "" if self.bins == 5 else f",bins={'none' if self.bins is None else self.bins}"
        return f"{self.name}:{self.strength}={getattr(self, self.strength):g}{bins}"

    @property
    @abstractmethod
    def scale(self) -> float:
        """The width of the noise, 1/ε or σ; 0 is none."""

    @property
    def randomized(self) -> bool:
        """Whether there is any noise."""
        return self.scale > 0

    @abstractmethod
    def release(self, grid: Grid, table: Table, rng: Generator | None, **marks: Any) -> Release:
        """Return the release of a table on fixed cells; without ``rng`` the noise is OpenDP's."""

    def grid(self, table: Table) -> Grid:
        """Lay out the cells: as declared, the rest from the table's records."""
        return make_grid(table, bins=self.bins, edges=self.edges, domains=self.domains)

    def undeclared(self, grid: Grid) -> tuple[str, ...]:
        """Name the columns whose bins or values must be declared, and are not."""
        return grid.undeclared

    def why_not_private(self, table: Table) -> str | None:
        """Say why a release of this table would not be differentially private; None if it is."""
        return "; ".join(self._reasons(self.grid(table))) or None

    def _reasons(self, grid: Grid) -> list[str]:
        reasons = []
        if not self.scale > 0:
            reasons.append("there is no noise")
        elif not noise.opendp_is_there():
            reasons.append("its noise is numpy's, not vetted: install indiff[dp]")
        if missing := self.undeclared(grid):
            reasons.append(
                f"the bins or values of {', '.join(missing)} come from the records: declare "
                "their edges or domains"
            )
        return reasons

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release to publish, or with ``rng`` one to test with."""
        grid = self.grid(table)
        reasons = self._reasons(grid)
        source = rng
        if rng is not None:
            reasons.append("its noise repeats from a seed, for testing only")
        elif self.randomized and not noise.opendp_is_there():
            source = np.random.default_rng()
        label = str(self)
        if reasons:
            label += f" (not differentially private: {'; '.join(reasons)})"
            if rng is None:
                warnings.warn(label, NotDifferentiallyPrivate, stacklevel=2)
        return self.release(grid, table, source, sanitizer=label, constraint_met=not reasons)


@dataclass(frozen=True, kw_only=True)
class NoisySanitizer(CellMechanism):
    """Noise on the count of every cell, or on every answer: what the closed forms are about."""


@dataclass(frozen=True, kw_only=True)
class NoisyTable(NoisySanitizer):
    """Independent noise on every count of the contingency table; negative counts become 0."""

    kind: ClassVar[noise.Kind]

    def release(self, grid: Grid, table: Table, rng: Generator | None, **marks: Any) -> Release:
        """Return the cells with their noisy counts as weights, every cell of the domain."""
        counts = grid.counts(table)
        if rng is None:
            noisy = noise.vetted_counts(self.kind, self.scale, counts)
        else:
            noisy = counts + noise.draw(self.kind, self.scale, counts.shape, rng)
        return grid.weighted(np.maximum(noisy, 0), **marks)


@dataclass(frozen=True)
class ByEpsilon(CellMechanism):
    """What the ε-differentially private mechanisms share; ``epsilon=inf`` is no noise at all."""

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (_is_number(self.epsilon) and self.epsilon >= SMALLEST_EPSILON):
            rule = f"epsilon must be greater than 0 (at least {SMALLEST_EPSILON:g})"
            raise UserError(rule, self.epsilon, "Give a positive number, or inf for no noise")

    @property
    def scale(self) -> float:
        """Return 1/ε."""
        return 1 / self.epsilon


@dataclass(frozen=True)
class Laplace(ByEpsilon, NoisyTable):
    """Laplace noise of scale 1/ε on every count: ε-differentially private (DIT v2, 4.2.2).

    It concerns adding or removing one record. ``epsilon=inf`` is no noise at all.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> noisy = Laplace(0.5, edges={"age": [40]}, domains={"ill": ["no", "yes"]})
    >>> release = noisy.sanitize(table, np.random.default_rng(0))
    >>> release.to_frame()["age"].to_pylist()
    ['<=40', '<=40', '>40', '>40']
    >>> release.weights.round(2)
    array([1.64, 0.  , 0.  , 0.  ])
    >>> noisy.why_not_private(table) is None
    True
    """

    name: ClassVar[str] = "laplace"
    kind: ClassVar[noise.Kind] = "laplace"


@dataclass(frozen=True)
class Geometric(ByEpsilon, NoisyTable):
    """Two-sided geometric noise, P(z) ∝ e^{−ε|z|}: ε-differentially private whole numbers.

    >>> Geometric(0.5).scale
    2.0
    """

    name: ClassVar[str] = "geometric"
    kind: ClassVar[noise.Kind] = "geometric"


@dataclass(frozen=True)
class Gaussian(NoisyTable):
    """Normal noise of standard deviation σ on every count: 1/(2σ²)-concentrated privacy.

    It is not ε-differentially private for any ε alone, only with a small probability of failure.

    >>> str(Gaussian(sigma=2))
    'gaussian:sigma=2'
    """

    sigma: float

    name: ClassVar[str] = "gaussian"
    kind: ClassVar[noise.Kind] = "gaussian"
    strength: ClassVar[str] = "sigma"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (_is_number(self.sigma) and 0 < self.sigma <= LARGEST_SIGMA):
            rule = f"sigma must be greater than 0 and at most {LARGEST_SIGMA:g}"
            way_out = "Give the standard deviation of the noise on each count"
            raise UserError(rule, self.sigma, way_out)

    @property
    def scale(self) -> float:
        """Return σ."""
        return float(self.sigma)


@dataclass(frozen=True)
class RandomizedResponse(ByEpsilon, NoisySanitizer):
    """Each record answers truthfully with probability e^ε/(e^ε + n − 1), else with another value.

    It protects the sensitive value alone: the (binned) quasi-identifiers of every record are
    published, so only the domain of the sensitive attribute has to be declared.

    >>> RandomizedResponse(math.log(3)).keep(2)
    0.75
    """

    name: ClassVar[str] = "randomized-response"

    def keep(self, number: int) -> float:
        """Return the probability of the true value among ``number`` values."""
        return self.chances(number)[0]

    def chances(self, number: int) -> tuple[float, float]:
        """Return the probability of the true value, and of each one of the others."""
        odds = math.exp(-self.epsilon)
        return 1 / (1 + (number - 1) * odds), odds / (1 + (number - 1) * odds)

    def undeclared(self, grid: Grid) -> tuple[str, ...]:
        """Name the sensitive attribute if its values were taken from the records."""
        return () if grid.sensitive_declared else (grid.sensitive_name,)

    def release(self, grid: Grid, table: Table, rng: Generator | None, **marks: Any) -> Release:
        """Return the records in their bins, each with its answer."""
        truth, number = grid.classes(table), len(grid.sensitive_values)
        if rng is None:
            answers = noise.vetted_answers(truth, number, self.keep(number))
        else:
            # By record number, not by place: without one record the others answer the same.
            each = rng.random((int(table.records.max(initial=-1)) + 1, 2))[table.records]
            answers = noise.draw_answers(truth, number, self.keep(number), each)
        return grid.microdata(table, answers, **marks)


@dataclass(frozen=True)
class OnGrid:
    """A mechanism on cells that were fixed beforehand: what the test runs with and without i."""

    sanitizer: CellMechanism
    cells: Grid = field(repr=False)

    def __str__(self) -> str:
        return str(self.sanitizer)

    @property
    def randomized(self) -> bool:
        """Whether there is any noise."""
        return self.sanitizer.randomized

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release of the table, or of a part of it, on the same cells, for testing."""
        if rng is None:
            rng = np.random.default_rng()
        return self.sanitizer.release(self.cells, table, rng, sanitizer=str(self))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
