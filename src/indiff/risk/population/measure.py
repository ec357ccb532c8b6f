"""Measures risk against the population by whatever is known of it, in one frozen result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from indiff.data.reading.input_files import Reading
from indiff.engines.protocol import EngineName, Resources
from indiff.errors import UserError, option
from indiff.risk.counts import Counted
from indiff.risk.metrics import SizeClass
from indiff.risk.population import individual, models
from indiff.risk.population.individual import IndividualRisk
from indiff.risk.population.loglinear import LoglinearRisk, loglinear_risk
from indiff.risk.population.models import Estimate, Histogram
from indiff.risk.population.table import KnownPopulation, Trees, match

Statistic = Literal["maximum", "minimum", "average", "total"]
Whose = Literal["sample", "population"]


@dataclass(frozen=True)
class Figure:
    """One number with its labels: of whom it is, and whether it was counted or estimated."""

    name: str
    """As a limit calls it."""
    value: float
    statistic: Statistic
    """``maximum`` and ``minimum`` are of the worst group, ``average`` and ``total`` of all."""
    of: Whose
    """Whether it counts the population's people or the sample's records."""
    exactness: Literal["exact", "estimate"]
    interval: tuple[float, float] | None = None
    """Between what the models lie, where several have a say; no interval of confidence."""

    @property
    def worst(self) -> float:
        """What a limit is checked against: the upper end of an interval."""
        return self.value if self.interval is None else self.interval[1]


@dataclass(frozen=True)
class Uniques:
    """How many people are unique in the population, by model, and by the rule that chooses."""

    models: dict[str, Estimate]
    chosen: str | None
    """The model of Dankar's rule; None where nobody is alone, so that there is none to estimate."""
    population: int
    uniques: float
    share: float
    interval: tuple[float, float]
    """From the lowest to the highest of the models that have a solution."""


@dataclass(frozen=True)
class PopulationRisk:
    """What is known of the risk against the population.

    ``table`` is there with a population table, ``uniques`` with a population size or a sampling
    fraction, ``individual`` with any of them or with weights, ``loglinear`` without a table.
    """

    size: float
    """The people in the population: given, counted, or the sum of the weights."""
    sampling: float
    """The share of them that is in the sample."""
    table: KnownPopulation | None
    uniques: Uniques | None
    individual: IndividualRisk
    loglinear: LoglinearRisk | None
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()

    def figure(self, name: str) -> Figure | None:
        """Return one number by the name that a limit gives it."""
        return next((one for one in self.figures if one.name == name), None)


@dataclass(frozen=True)
class Asked:
    """What is known of the population."""

    population: Any = None
    sampling: float | None = None
    weight: str | None = None
    household: str | None = None
    trees: Trees = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = self.size
        if size is not None and size < 1:
            raise UserError("a population has at least one person", size, field="population")
        share = self.sampling
        if share is not None and not 0 < share <= 1:
            raise UserError(
                "a sampling fraction is a number above 0 and at most 1", share, field="sampling"
            )
        if share is not None and self.population is not None:
            raise UserError(
                "a sampling fraction follows from the population",
                way_out=f"Leave {option('sampling')} or {option('population')} out",
                field="sampling",
            )
        if self.trees and self.table is None:
            raise UserError(
                f"a hierarchy of a quasi-identifier ({next(iter(self.trees))!r}) generalizes a "
                "population",
                way_out=f"Give {option('population')} as a table, or leave the hierarchy out",
                field="hierarchies",
            )
        if self.household is not None and not self:
            raise UserError(
                "the risk of a household needs that of its members",
                way_out=f"Add {option('weight')}, {option('sampling')} or {option('population')}",
                field="household",
            )

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.population, self.sampling, self.weight))

    @property
    def size(self) -> int | None:
        """The size of the population, where that was given."""
        given = self.population
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        if given != int(given):
            raise UserError("a population is a whole number of people", given, field="population")
        return int(given)

    @property
    def table(self) -> Any:
        """The population's table, where one was given."""
        return None if self.size is not None else self.population


def measure_population(
    counted: Counted,
    sizes: Sequence[SizeClass],
    asked: Asked,
    *,
    engine: EngineName,
    reading: Reading,
    resources: Resources,
) -> tuple[PopulationRisk | None, str | None]:
    """Measure everything that can be; also return the table of groups with their risk."""
    if not asked:
        return None, None
    histogram = Histogram.of([((one.smallest + one.largest) / 2, one.groups) for one in sizes])
    people, known = histogram.people, None
    notes: list[str] = []
    size = _size(asked, people)
    if asked.table is not None:
        matched = match(
            counted, asked.table, trees=asked.trees, individual=counted.individual,
            engine="spark" if counted.engine.name == "spark" else engine,
            reading=Reading(reading.missing_tokens), resources=resources,
        )  # fmt: skip
        known, groups = matched.found, matched.groups
        notes += known.notes
    elif asked.weight is not None:
        individual.require_weights(counted.engine, counted.cells, asked.weight)
        groups = individual.weighted_groups(counted)
    else:
        assert size is not None
        groups = individual.equal_groups(counted, size, people)
    found = individual.individual_risk(counted, groups, asked.weight, counted.household)
    if found.above and known is None:
        notes.append(f"{found.above:,} groups weigh less than they have records: their risk is 1/f")
    uniques = None if size is None else estimate_uniques(histogram, size)
    whole = float(size) if size is not None else found.population
    whole = float(known.people) if known is not None else whole
    sampling, fitted = min(1.0, people / whole), None
    if known is None and sampling < 1:
        fitted, why = loglinear_risk(counted, sampling)
        notes += [] if why is None else [f"τ₁ and τ₂ were not estimated: {why}"]
        if fitted is not None and not fitted.fits:
            notes.append("no log-linear model fits: τ₁ and τ₂ may be far off")
    parts: dict[str, Any] = {"table": known, "uniques": uniques, "individual": found}
    parts["loglinear"] = fitted
    figures = tuple(_figures(**parts))
    return PopulationRisk(whole, sampling, **parts, notes=tuple(notes), figures=figures), groups


def _size(asked: Asked, people: int) -> int | None:
    size = asked.size
    if asked.sampling is not None:
        size = max(people, round(people / asked.sampling))
    if size is not None and size < people:
        raise UserError(
            "a population has at least as many people as the sample",
            f"{size:,} of {people:,}",
            "Correct the number",
            field="population",
        )
    return size


def estimate_uniques(histogram: Histogram, population: int) -> Uniques:
    """Estimate the population's uniques by every model, and choose by Dankar's rule.

    The interval goes from the lowest to the highest estimate: models that see the same sample
    differently are the honest measure of what it does not show. It is no interval of confidence.
    """
    ones = histogram.of_size(1)
    if histogram.people == population:
        sure = Estimate(
            "counted", True, float(ones), ones / population, models.ASSUMES["counted"], residual=0.0
        )
        made, chosen = {"counted": sure}, "counted" if ones else None
    else:
        by = {"pitman": models.pitman, "zayatz": models.zayatz, "snb": models.snb}
        made = {name: model(histogram, population) for name, model in by.items()}
        chosen = models.dankar(made, ones, histogram.people / population)
    found = [one.uniques for one in made.values() if one.uniques is not None]
    value = 0.0 if chosen is None else made[chosen].uniques
    assert value is not None
    if chosen is None:
        found = [0.0, *found]
    return Uniques(made, chosen, population, value, value / population, (min(found), max(found)))


def _figures(
    table: KnownPopulation | None,
    uniques: Uniques | None,
    individual: IndividualRisk,
    loglinear: LoglinearRisk | None,
) -> Iterator[Figure]:
    """Yield every number with its name and labels."""
    sure: Literal["exact", "estimate"] = "estimate" if table is None else "exact"
    if table is not None:
        low, high = table.presence
        yield Figure("population.k_map", table.k_map, "minimum", "population", "exact")
        yield Figure("population.presence", high, "maximum", "population", "exact")
        yield Figure("population.presence_low", low, "minimum", "population", "exact")
        yield Figure("population.journalist", table.journalist, "maximum", "population", "exact")
        yield Figure(
            "population.journalist_average", table.journalist_average, "average", "population",
            "exact",
        )  # fmt: skip
        yield Figure("population.marketer", table.marketer, "average", "population", "exact")
    if uniques is not None:
        counted = "counted" in uniques.models
        how: Literal["exact", "estimate"] = "exact" if counted else "estimate"
        low, high = uniques.interval
        size = uniques.population
        span = None if counted else (low, high)
        shares = None if counted else (low / size, high / size)
        yield Figure("population.uniques", uniques.uniques, "total", "population", how, span)
        yield Figure("population.unique_share", uniques.share, "average", "population", how, shares)
    if table is None:
        yield Figure("population.smallest", individual.smallest, "minimum", "population", sure)
    yield Figure("population.individual_risk", individual.maximum, "maximum", "population", sure)
    yield Figure("population.global_risk", individual.average, "average", "population", sure)
    yield Figure("population.expected", individual.expected, "total", "sample", sure)
    if loglinear is not None:
        for name in ("tau1", "tau2"):
            value, span = getattr(loglinear.best, name), loglinear.span(name)
            yield Figure(f"population.{name}", value, "total", "sample", "estimate", span)
    if (house := individual.household) is not None:
        yield Figure("population.household_risk", house.maximum, "maximum", "population", sure)
        yield Figure("population.household_average", house.average, "average", "population", sure)
        yield Figure("population.household_expected", house.expected, "total", "sample", sure)
