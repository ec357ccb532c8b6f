"""Measures the papers' experiments on the two data sets, every setting once in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.distances.functions import wasserstein
from indiff.papers.published.beliefs import published_beliefs
from indiff.papers.published.program import Partition, Rule
from indiff.papers.run import Run, once
from indiff.papers.share import shared
from indiff.sanitizers.mondrian.mondrian import Mondrian, RegionStyle
from indiff.sanitizers.noise.mechanisms import Laplace

Floats = NDArray[np.float64]

KS = LS = (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, float("inf"))
TIES = 1e-12
PROGRAM_DRAWS = 3  # the authors' program is tested on fewer draws: it takes longer than ours

NAMES = {"adult": "Adult", "internet-v1": "Internet Usage", "internet-v2": "Internet Usage"}
SYMBOL: dict[Rule, str] = {"k": "k", "l": "ℓ"}
LABEL: dict[Rule, str] = {"k": "k-anonymity", "l": "ℓ-diversity"}


@dataclass(frozen=True, eq=False)
class Measured:
    """The distances Σ|p − p′| of one setting, and what else the papers report of it.

    ``changed`` is the percentage of records with another prediction; ``whole`` says that the
    release is one group, since the table as a whole could not meet the rule or no cut was allowed.
    """

    distances: Floats
    changed: float
    whole: bool = False

    @property
    def delta(self) -> float:
        """The largest distance."""
        return float(self.distances.max())

    @property
    def mean(self) -> float:
        """The mean distance."""
        return float(self.distances.mean())


@dataclass(frozen=True, eq=False)
class Published:
    """The authors' program: as it is, and with numbers compared as numbers."""

    text: Measured
    numbers: Measured


@dataclass(frozen=True)
class DataSet:
    """A data set of the papers in one run: ``adult``, ``internet-v1`` or ``internet-v2``."""

    run: Run
    name: str

    @property
    def title(self) -> str:
        """Its name in the papers."""
        return NAMES[self.name]

    @property
    def seeds(self) -> range:
        """The seeds of its draws; Internet Usage is used whole, so it has one."""
        return range(self.run.seeds if self.name == "adult" else 1)

    @property
    def program_seeds(self) -> range:
        """The seeds on which the authors' program is tested."""
        return self.seeds[:PROGRAM_DRAWS]

    def table(self, seed: int = 0, *, trees: bool = True) -> Table:
        """Return its records; ``trees`` generalizes along the authors' hierarchies."""
        return self.run.table(self.name, seed, trees=trees)

    @once
    def measure(
        self,
        rule: Rule,
        value: int,
        seed: int = 0,
        trees: bool = True,
        regions: RegionStyle = "tight",
    ) -> Measured:
        """Test one setting; 1 is the raw table, and an unmet ℓ is one generalized group."""
        if value == 1:
            return self.raw(seed)
        return partitioned(self.table(seed, trees=trees), rule, value, regions)

    @once
    def raw(self, seed: int) -> Measured:
        """Test the raw table."""
        return _of(*raw_beliefs(self.table(seed)))

    def draws(self, rule: Rule, value: int, **how: Any) -> list[Measured]:
        """Test one setting on every draw."""
        return [self.measure(rule, value, seed, **how) for seed in self.seeds]

    def published(self, rule: Rule, value: int, seed: int = 0) -> Published:
        """Test one setting as the authors' published program does (DIT v1 and v2); 1 is raw.

        It is not a test of a sanitizer that keeps its promise: see
        :mod:`~indiff.papers.published.program`.
        """
        return self.all_published([(rule, value, seed)])[0]

    def all_published(self, settings: Sequence[tuple[Rule, int, int]]) -> list[Published]:
        """Test several settings so, on all cores: rule, value and seed."""
        asked = [(self.name, *setting) for setting in settings]
        kept = self.run.kept
        missing = [one for one in asked if one not in kept]
        kept |= zip(missing, shared(self.run, _published, missing), strict=True)
        return [kept[one] for one in asked]

    @once
    def noisy(self, epsilon: float, seed: int = 0) -> Measured:
        """Test Laplace noise on the counts of five quantiles, exactly (DIT v2, Section 4.5.2)."""
        table = self.table(seed, trees=False)
        result = differential_test(table, Laplace(epsilon), model="frequency")
        return Measured(result.distances, result.changed_predictions)


def _published(run: Run, asked: tuple[str, Rule, int, int]) -> Published:
    name, rule, value, seed = asked
    data = DataSet(run, name)
    if value == 1:
        return Published(data.raw(seed), data.raw(seed))
    partition = Partition(data.table(seed), rule, value)
    found, whole = published_beliefs(partition), not partition.root.children
    return Published(_of(*found["text"], whole=whole), _of(*found["numbers"], whole=whole))


def mondrian(rule: Rule, value: int, regions: RegionStyle = "tight") -> Mondrian:
    """Return Mondrian with one rule; an unmet ℓ is one generalized group."""
    if rule == "k":
        return Mondrian(k=value, regions=regions)
    return Mondrian(l=value, regions=regions, unmet="generalize")


def partitioned(table: Table, rule: Rule, value: int, regions: RegionStyle = "tight") -> Measured:
    """Test Mondrian with one rule, exactly, leave-one-out."""
    sanitizer = mondrian(rule, value, regions)
    result = differential_test(table, sanitizer, model="naive-bayes")
    groups = sanitizer.sanitize(table).groups
    whole = groups is None or int(groups.max()) == 0
    return Measured(result.distances, result.changed_predictions, whole)


def _of(beliefs: Floats, without: Floats, *, whole: bool = False) -> Measured:
    changed = _modes(beliefs) != _modes(without)
    return Measured(wasserstein(beliefs, without), float(100 * changed.mean()), whole)


def _modes(beliefs: Floats) -> NDArray[np.int64]:
    return np.argmax(beliefs >= beliefs.max(axis=1, keepdims=True) - TIES, axis=1)


def raw_beliefs(table: Table, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """Return naive Bayes' beliefs about every record, with it and without it (DIT v2, 4.5.1).

    Records × sensitive values. A class whose only member is left out has probability 0. This is
    the raw table's exposure to one model, and no limit for another. Leaving a record out lowers
    one count for each attribute and the count of its class by one, so that one set of count tables
    gives what ``differential_test(table, Identity(), model="naive-bayes")`` gives by fitting a
    model for every record.
    """
    classes, size = table.sensitive.codes, len(table.sensitive.values)
    own = np.zeros((len(table), size))
    own[np.arange(len(table)), classes] = 1.0
    totals = np.bincount(classes, minlength=size).astype(np.float64)
    with_record, without = _log(np.tile(totals, (len(table), 1))), _log(totals - own)
    for attribute in table.attributes:
        cells = attribute.codes.astype(np.int64) * size + classes
        counts = np.bincount(cells, minlength=len(attribute.values) * size).reshape(-1, size)
        held = counts[attribute.codes].astype(np.float64)
        with_record += np.log((held + alpha) / (totals + 2 * alpha))
        without += np.log((held - own + alpha) / (totals - own + 2 * alpha))
    return _normal(with_record), _normal(without)


def _log(counts: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # an empty class: minus infinity, probability 0
        logs: Floats = np.log(counts)
    return logs


def _normal(scores: Floats) -> Floats:
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    normal: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normal
