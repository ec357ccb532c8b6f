"""Benedetti and Franconi's risk against its definition, and households against brute force."""

from __future__ import annotations

from typing import Any

import duckdb
import mpmath
import numpy as np
import pyarrow as pa
import pytest

from indiff import UserError, measure_risk
from indiff.risk.population.individual import franconi_sql


def franconi(f: int, p: float) -> float:
    return float(duckdb.sql(f"SELECT {franconi_sql(str(f), repr(p))}").fetchall()[0][0])


def by_its_sum(f: int, p: float) -> Any:
    """Σ over F ≥ f of 1/F · C(F−1, f−1) p^f (1−p)^(F−f), term by term, with 40 digits."""
    with mpmath.workdps(40):
        chance = mpmath.mpf(p)
        term, total, size = chance**f, mpmath.mpf(0), f
        while True:
            added = term / size
            total += added
            if added < total * mpmath.mpf(10) ** -20 and size > f / chance:
                return total
            term *= (1 - chance) * size / (size - f + 1)
            size += 1


@pytest.mark.parametrize("f", [1, 2, 3, 8, 9, 10, 11, 60])
@pytest.mark.parametrize("p", [0.02, 0.1, 0.4999, 0.5, 0.5001, 0.9, 0.999999])
def test_it_is_the_negative_binomials_mean_of_one_over_the_size(f: int, p: float) -> None:
    assert franconi(f, p) == pytest.approx(float(by_its_sum(f, p)), rel=1e-10)


@pytest.mark.parametrize("f", [1, 2, 5, 9, 10, 11, 100, 10_000, 10**6])
@pytest.mark.parametrize("p", [1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.75, 1 - 1e-12, 1.0])
def test_from_a_billionth_to_one_and_up_to_a_million_records(f: int, p: float) -> None:
    """The sum is an integral, of y^(f−1)·p/(p + (1−p)y), where it has too many terms."""
    with mpmath.workdps(40):
        q = mpmath.mpf(1) - mpmath.mpf(p)
        # y = exp(−x/f) spreads the integrand over [0, ∞); panels resolve where p meets q·y.
        turn = f * mpmath.log(q / p) if 0 < p < 0.5 else mpmath.mpf(1)
        edges = sorted(
            {
                mpmath.mpf(0),
                mpmath.mpf(1),
                mpmath.mpf(10),
                turn,
                turn + 10 * f,
                turn + 100 * f + 100,
                mpmath.mpf(60),
            }
        )
        true = mpmath.quad(
            lambda x: mpmath.exp(-x) * p / (p + q * mpmath.exp(-x / f)) / f, [*edges, mpmath.inf]
        )
    assert franconi(f, p) == pytest.approx(float(true), rel=1e-10)


PEOPLE: dict[str, list[Any]] = {
    "age": [30, 30, 47, 47, 47, None, None],
    "w": [2.0, 3.5, 1.0, 1.0, 0.5, 40.0, 1.25],
    "hid": ["a", "b", "a", "c", "c", "d", "d"],
}


def test_weights_and_households_by_hand(engine: Any) -> None:
    found = measure_risk(
        pa.table(PEOPLE),
        quasi="age",
        weight="w",
        household="hid",
        engine=engine,
    ).population
    assert found is not None
    risk = {30: franconi(2, 2 / 5.5), 47: 1 / 3, None: franconi(2, 2 / 41.25)}  # 47: weighs 2.5
    each = [risk[age] for age in PEOPLE["age"]]
    one = found.individual
    assert one.population == pytest.approx(49.25)
    assert one.smallest == pytest.approx(2.5)
    assert one.above == 1
    assert one.maximum == pytest.approx(max(each), rel=1e-10)
    assert one.expected == pytest.approx(sum(each), rel=1e-10)
    assert one.average == pytest.approx(np.mean(each), rel=1e-10)
    houses: dict[Any, float] = {}
    for house, r in zip(PEOPLE["hid"], each, strict=True):
        houses[house] = houses.get(house, 1.0) * (1 - r)
    assert one.household is not None
    assert one.household.households == 4
    assert one.household.maximum == pytest.approx(1 - min(houses.values()), rel=1e-10)
    assert one.household.expected == pytest.approx(sum(1 - x for x in houses.values()), rel=1e-10)
    average = np.mean([1 - houses[house] for house in PEOPLE["hid"]])
    assert one.household.average == pytest.approx(average, rel=1e-10)
    assert "1 groups weigh less" in found.notes[0]


@pytest.mark.parametrize("weight", [0.0, -1.0, None, float("nan"), float("inf"), "a lot"])
def test_a_record_without_a_weight_is_refused(engine: str, weight: Any) -> None:
    weights: list[Any] = ["1", weight] if isinstance(weight, str) else [1.0, weight]
    frame = pa.table({"age": [1, 2], "w": weights})
    chosen: Any = "duckdb" if engine == "in-process" and isinstance(weight, str) else engine
    with pytest.raises(UserError, match=r"positive number.*1 records without one in column 'w'"):
        measure_risk(frame, quasi="age", weight="w", engine=chosen)


def test_weights_that_are_texts_are_numbers(engine: str) -> None:
    chosen: Any = "duckdb" if engine == "in-process" else engine
    frame = pa.table({"age": [1, 1, 2], "w": ["1.5", "2", "1e1"]})
    found = measure_risk(frame, quasi="age", weight="w", engine=chosen).population
    assert found is not None
    assert found.size == 13.5


def test_a_record_without_a_household_is_refused() -> None:
    frame = pa.table({"age": [1, 2], "hid": ["a", None]})
    with pytest.raises(UserError, match="every record belongs to a household"):
        measure_risk(frame, quasi="age", sampling=0.1, household="hid")


def test_small_risks_of_a_household_keep_their_digits(engine: Any) -> None:
    """1 − Π(1 − r) of risks around a thousandth and below, with 40 digits."""
    weights = [900.0, 3e4, 1e6, 1e9, 2e3, 5e5, 8e4]
    houses = ["a", "a", "b", "b", "c", "d", "d"]
    frame = pa.table({"age": list(range(7)), "w": weights, "hid": houses})
    found = measure_risk(frame, quasi="age", weight="w", household="hid", engine=engine).population
    assert found is not None
    assert found.individual.household is not None
    with mpmath.workdps(40):
        safe: dict[str, Any] = {}
        for house, weight in zip(houses, weights, strict=True):
            p = mpmath.mpf(1) / mpmath.mpf(weight)  # of one record: r = −p·ln p / (1 − p)
            safe[house] = safe.get(house, 1) * (1 + p * mpmath.log(p) / (1 - p))
        each = {house: float(1 - one) for house, one in safe.items()}
    household = found.individual.household
    assert min(each.values()) < 1e-3 < max(each.values())
    assert household.maximum == pytest.approx(max(each.values()), rel=1e-12)
    assert household.expected == pytest.approx(sum(each.values()), rel=1e-12)
    average = sum(each[house] for house in houses) / 7
    assert household.average == pytest.approx(average, rel=1e-12)


@pytest.mark.parametrize("weights", [[3e4, 4e4], [1e4, 1e4], [1e5, 2e7], [1.0, 1e4], [1.0, 1.0]])
def test_a_household_of_two(weights: list[float]) -> None:
    """Each alone, so that the largest risk is that of the household; who is certain, is found."""
    frame = pa.table({"age": [1, 2], "w": weights, "hid": ["a", "a"]})
    found = measure_risk(frame, quasi="age", weight="w", household="hid").population
    assert found is not None
    assert found.individual.household is not None
    with mpmath.workdps(40):
        safe = mpmath.mpf(1)
        for weight in weights:
            p = mpmath.mpf(1) / mpmath.mpf(weight)
            safe *= 0 if p == 1 else 1 + p * mpmath.log(p) / (1 - p)
    assert found.individual.household.maximum == pytest.approx(float(1 - safe), rel=1e-12)


def test_people_without_any_value_weigh_as_much(engine: Any) -> None:
    frame = pa.table({"age": pa.array([None] * 3, pa.int64()), "w": [1.0, 2.0, 3.5]})
    found = measure_risk(frame, quasi="age", weight="w", engine=engine).population
    assert found is not None
    assert (found.individual.population, found.individual.smallest) == (6.5, 6.5)
