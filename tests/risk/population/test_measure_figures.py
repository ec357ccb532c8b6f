"""What a limit reads of the risk against the population: every figure, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from indiff import UserError, measure_risk
from indiff.risk import Risk
from indiff.risk.population.individual import HouseholdRisk, IndividualRisk
from indiff.risk.population.loglinear import LoglinearModel, LoglinearRisk
from indiff.risk.population.measure import (
    Asked,
    Figure,
    PopulationRisk,
    _figures,
    estimate_uniques,
)
from indiff.risk.population.models import ASSUMES, Estimate, Histogram, pitman, snb, zayatz
from indiff.risk.population.table import KnownPopulation, MatchedSizes

HOUSE = HouseholdRisk("hid", 4, 0.9, 0.5, 2.5)
ONE = IndividualRisk(None, 100.0, 2.5, 0.7, 0.2, 3.5, 0)
KNOWN = KnownPopulation(
    people=100, groups=9, k_map=2, presence=(0.1, 0.8), presence_released=(0.2, 0.8),
    journalist=0.5, journalist_average=0.4, marketer=0.3, lacking_groups=0, lacking_records=0,
    crowded_groups=0, sizes=(MatchedSizes(2, 2, 3, 6), MatchedSizes(10, 10, 1, 4)),
)  # fmt: skip


def told(**parts: Any) -> dict[str, tuple[Any, ...]]:
    usual = {"table": None, "uniques": None, "individual": ONE, "loglinear": None}
    found = list(_figures(**usual | parts))
    names = [one.name.removeprefix("population.") for one in found]
    assert len(set(names)) == len(names)
    return {
        name: (one.value, one.statistic, one.of, one.exactness, one.interval)
        for name, one in zip(names, found, strict=True)
    }


def test_of_individual_risks_alone() -> None:
    assert told() == {
        "smallest": (2.5, "minimum", "population", "estimate", None),
        "individual_risk": (0.7, "maximum", "population", "estimate", None),
        "global_risk": (0.2, "average", "population", "estimate", None),
        "expected": (3.5, "total", "sample", "estimate", None),
    }


def test_of_a_table_of_the_population_every_number_is_counted() -> None:
    assert told(table=KNOWN) == {
        "k_map": (2, "minimum", "population", "exact", None),
        "presence": (0.8, "maximum", "population", "exact", None),
        "presence_low": (0.1, "minimum", "population", "exact", None),
        "journalist": (0.5, "maximum", "population", "exact", None),
        "journalist_average": (0.4, "average", "population", "exact", None),
        "marketer": (0.3, "average", "population", "exact", None),
        "individual_risk": (0.7, "maximum", "population", "exact", None),
        "global_risk": (0.2, "average", "population", "exact", None),
        "expected": (3.5, "total", "sample", "exact", None),
    }


def test_of_models_the_span_is_told_and_of_a_count_none() -> None:
    histogram = Histogram.of([(1, 40), (2, 11), (3, 6), (5, 3), (9, 1)])
    found = estimate_uniques(histogram, 1_000)
    by = [model(histogram, 1_000).uniques for model in (pitman, zayatz, snb)]
    each = [one for one in by if one is not None]
    low, high = min(each), max(each)
    assert (found.chosen, found.uniques, found.share) == ("snb", by[2], (by[2] or 0) / 1_000)
    assert found.interval == (low, high)
    figures = told(uniques=found)
    assert figures["uniques"] == (by[2], "total", "population", "estimate", (low, high))
    assert figures["unique_share"] == (
        (by[2] or 0) / 1_000, "average", "population", "estimate", (low / 1_000, high / 1_000),
    )  # fmt: skip
    everybody = estimate_uniques(histogram, histogram.people)
    assert everybody.models == {
        "counted": Estimate("counted", True, 40, 40 / 104, ASSUMES["counted"], residual=0.0)
    }
    figures = told(uniques=everybody)
    assert figures["uniques"] == (40, "total", "population", "exact", None)
    assert figures["unique_share"] == (40 / 104, "average", "population", "exact", None)


def test_where_nobody_is_alone_nobody_is_chosen_and_the_span_begins_at_none() -> None:
    found = estimate_uniques(Histogram.of([(2, 30), (5, 4), (9, 1)]), 1_000)
    assert (found.chosen, found.uniques, found.share) == (None, 0.0, 0.0)
    assert found.interval[0] == 0.0
    counted = estimate_uniques(Histogram.of([(2, 3)]), 6)
    assert (counted.chosen, counted.uniques, counted.interval) == (None, 0.0, (0.0, 0.0))


def test_of_log_linear_models_the_chosen_one_and_the_span() -> None:
    models = {
        "independence": LoglinearModel("independence", True, 3.0, 8.0, 1.0, 0.0, 0.0),
        "two-way": LoglinearModel("two-way", True, 2.0, 9.0, 1.0, 0.0, 0.0),
    }
    figures = told(loglinear=LoglinearRisk(models, "independence", 9, 20))
    assert figures["tau1"] == (3.0, "total", "sample", "estimate", (2.0, 3.0))
    assert figures["tau2"] == (8.0, "total", "sample", "estimate", (8.0, 9.0))


@pytest.mark.parametrize(("table", "sure"), [(None, "estimate"), (KNOWN, "exact")])
def test_of_households(table: Any, sure: str) -> None:
    figures = told(table=table, individual=IndividualRisk(None, 9.0, 1.0, 1.0, 1.0, 1.0, 0, HOUSE))
    assert figures["household_risk"] == (0.9, "maximum", "population", sure, None)
    assert figures["household_average"] == (0.5, "average", "population", sure, None)
    assert figures["household_expected"] == (2.5, "total", "sample", sure, None)


def test_a_limit_is_checked_against_the_upper_end() -> None:
    one = Figure("x", 2.0, "total", "sample", "estimate", (1.0, 4.0))
    assert one.worst == 4.0
    assert Figure("x", 2.0, "total", "sample", "exact").worst == 2.0


@pytest.mark.parametrize(
    ("given", "is_asked", "size", "has_table"),
    [
        ({}, False, None, False),
        ({"population": 10}, True, 10, False),
        ({"population": 10.0}, True, 10, False),
        ({"population": 1}, True, 1, False),
        ({"population": "people.csv"}, True, None, True),
        ({"sampling": 1}, True, None, False),
        ({"sampling": 0.001}, True, None, False),
        ({"weight": "w"}, True, None, False),
        ({"weight": "w", "household": "h"}, True, None, False),
        ({"population": "people.csv", "trees": {"age": "age.csv"}}, True, None, True),
    ],
)
def test_what_is_known(given: Any, is_asked: bool, size: int | None, has_table: bool) -> None:
    asked = Asked(**given)
    assert (bool(asked), asked.size, asked.table is not None) == (is_asked, size, has_table)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"population": 0}, "a population has at least one person; got 0"),
        ({"sampling": 0.0}, "above 0 and at most 1; got 0"),
        ({"sampling": 1.001}, "above 0 and at most 1; got 1.001"),
        ({"sampling": 0.5, "population": "x.csv"}, "a sampling fraction follows from the"),
        ({"sampling": 0.5, "trees": {"age": "age.csv"}}, r"\('age'\) generalizes a population"),
        ({"household": "h"}, "the risk of a household needs that of its members"),
    ],
)
def test_what_is_known_may_contradict_itself(given: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Asked(**given)


FRAME = pa.table(
    {
        "a": [1, 1, 1, 2, 2, 3, 4, 5],
        "b": list("xxyxyxyx"),
        "w": [2.0, 0.5, 9.0, 4.0, 4.0, 4.0, 4.0, 4.0],
    }
)


def measured(**known: Any) -> Any:
    return measure_risk(FRAME, quasi=["a", "b"], details=False, **known).population


def test_the_size_and_the_sampling_fraction_follow_from_what_is_known() -> None:
    for known, size, sampling in (
        ({"population": 40}, 40.0, 0.2),
        ({"sampling": 0.2}, 40.0, 0.2),
        ({"sampling": 0.3}, 27.0, 8 / 27),
        ({"sampling": 1.0}, 8.0, 1.0),
        ({"weight": "w"}, 31.5, 8 / 31.5),
        ({"population": pa.concat_tables([FRAME] * 5)}, 40.0, 0.2),
    ):
        found = measured(**known)
        assert (found.size, found.sampling) == pytest.approx((size, sampling))
    assert measured(sampling=1.0).loglinear is None
    assert measured(population=pa.concat_tables([FRAME] * 5)).loglinear is None
    assert measured(sampling=0.2).loglinear is not None


def test_groups_that_weigh_less_than_they_have_records_are_said() -> None:
    """(1, x) has two records that weigh 2.5; a lone one of ½ weighs less than itself."""
    less = FRAME.set_column(2, "w", pa.array([2.0, 0.5, 0.5, *[4.0] * 5]))
    found = measure_risk(less, quasi=["a", "b"], weight="w", details=False).population
    assert found is not None
    assert found.individual.above == 1
    assert found.notes[0] == "1 groups weigh less than they have records: their risk is 1/f"
    assert not any("weigh less" in note for note in measured(weight="w").notes)


def test_a_model_that_does_not_fit_is_said() -> None:
    """Half the cells hold nine records, the others none: no independence."""
    tied = pa.table({"a": [0] * 9 + [1] * 9 + [2], "b": [0] * 9 + [1] * 9 + [2]})
    found = measure_risk(tied, quasi=["a", "b"], sampling=0.5, details=False).population
    assert found is not None
    assert found.loglinear is not None
    note = "no log-linear model fits: τ₁ and τ₂ may be far off"
    assert (note in found.notes) == (not found.loglinear.fits)
    # The third column is the sum of the others but for two: no two of them say anything of it.
    rows = [(a, b, (a + b) % 3) for a in range(3) for b in range(3)] * 9 + [(0, 0, 1), (1, 1, 1)]
    sums = pa.table(dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True)))
    found = measure_risk(sums, quasi=["a", "b", "c"], sampling=0.5, details=False).population
    assert found is not None
    assert found.notes == (note,)


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("counted", "is"), ("estimated", "is estimated at"), ("between", "may be"), ("k", "is"),
        ("special.dis", "is estimated at"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_number(name: str, verb: str) -> None:
    figures = (
        Figure("counted", 2.0, "total", "sample", "exact"),
        Figure("estimated", 2.0, "total", "sample", "estimate"),
        Figure("between", 2.0, "total", "sample", "estimate", (1.0, 3.0)),
    )
    population = PopulationRisk(9.0, 0.5, None, None, ONE, None, figures=figures)
    found: Any = SimpleNamespace(population=population)
    assert Risk.verb_of(found, name) == verb
    without: Any = SimpleNamespace(population=None)
    assert Risk.verb_of(without, name) == (verb if name == "special.dis" else "is")
