"""Risk against the population: the same on every engine, what is refused, limits and words."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import UserError, measure_risk
from indiff.audit.findings.population import figures_said
from indiff.audit.metrics import METRICS
from indiff.audit.plan.limits import POPULATION
from tests.command_line import call

RNG = np.random.default_rng(5)
PEOPLE = pa.table(
    {
        "age": RNG.integers(20, 60, 3000),
        "sex": RNG.choice(["f", "m", ""], 3000, p=[0.5, 0.45, 0.05]),
        "town": [f"t{x}" for x in RNG.geometric(0.2, 3000)],
        "ill": RNG.choice(["yes", "no"], 3000),
        "w": RNG.uniform(1, 30, 3000),
        "hid": np.arange(3000) // 3,
    }
)
QUASI = ["age", "sex", "town"]


@pytest.mark.parametrize("known", [{"sampling": 0.05}, {"population": 60_000, "weight": "w"}])
def test_the_same_numbers_on_every_engine(engine: Any, known: dict[str, Any]) -> None:
    asked = {"quasi": QUASI, "sensitive": "ill", "household": "hid", "details": False, **known}
    few = PEOPLE.slice(0, 600)  # the in-process engine counts few combinations
    there = measure_risk(few, engine=engine, **asked).population
    here = measure_risk(few, engine="duckdb", **asked).population
    assert there is not None
    assert here is not None
    assert [one.name for one in there.figures] == [one.name for one in here.figures]
    for one, other in zip(there.figures, here.figures, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert (one.statistic, one.of, one.exactness) == (
            other.statistic, other.of, other.exactness,
        )  # fmt: skip


def test_equal_weights_are_a_sampling_fraction() -> None:
    size = PEOPLE.num_rows * 20
    same = PEOPLE.set_column(PEOPLE.column_names.index("w"), "w", pa.array([20.0] * 3000))
    by_weight = measure_risk(same, quasi=QUASI, weight="w", details=False).population
    by_size = measure_risk(same, quasi=QUASI, population=size, details=False).population
    assert by_weight is not None
    assert by_size is not None
    assert by_weight.individual.expected == pytest.approx(by_size.individual.expected, rel=1e-12)
    assert by_weight.sampling == by_size.sampling == 0.05
    assert by_weight.uniques is None  # nobody said that it is a simple random sample
    assert by_weight.loglinear == by_size.loglinear


@pytest.mark.parametrize("seed", range(3))
def test_no_bit_of_a_loglinear_model_depends_on_the_order_of_the_records(seed: int) -> None:
    shuffled = PEOPLE.take(np.random.default_rng(seed).permutation(3000))
    one, other = (
        measure_risk(table, quasi=QUASI, sampling=0.05, engine="in-process", details=False)
        for table in (PEOPLE, shuffled)
    )
    assert one.population is not None
    assert other.population is not None
    assert one.population.loglinear == other.population.loglinear


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"sampling": 0}, "above 0 and at most 1; got 0"),
        ({"sampling": 1.5}, "above 0 and at most 1; got 1.5"),
        ({"population": 0}, "at least one person; got 0"),
        ({"population": 2999}, "at least as many people as the sample; got 2,999 of 3,000"),
        ({"population": 4000.5}, "a whole number of people"),
        ({"population": 9000, "sampling": 0.1}, "follows from the population"),
        ({"household": "hid"}, "needs that of its members"),
        ({"weight": "town", "quasi": ["age"]}, "3,000 records without one in column 'town'"),
        ({"weight": "w", "individual": "hid"}, "each of which is one person"),
        ({"weight": "age"}, "named once"),
        ({"sampling": 0.1, "hierarchies": {"age": "x.csv"}}, "generalizes a population"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        measure_risk(PEOPLE, **{"quasi": QUASI, **asked})


def test_every_number_has_words_and_a_limit() -> None:
    wide = measure_risk(
        PEOPLE, quasi=QUASI, sampling=0.05, household="hid", details=False
    ).population
    table = measure_risk(PEOPLE, quasi=QUASI, population=PEOPLE, details=False).population
    assert wide is not None
    assert table is not None
    names = {one.name for found in (wide, table) for one in found.figures}
    assert names == {f"population.{name}" for name in POPULATION}
    assert names == {name for name in METRICS if name.startswith("population.")}
    for finding in [*figures_said(wide), *figures_said(table)]:
        assert finding.parameters["statistic"] in ("maximum", "minimum", "average", "total")
        assert finding.parameters["of"] in ("sample", "population")
        assert finding.means.endswith(".")
        assert finding.does_not_prove.endswith((".", '"'))
    assert {one.exactness for one in figures_said(table)} == {"exact"}
    assert {one.exactness for one in figures_said(wide)} == {"estimate"}


def written(folder: Path) -> tuple[Path, Path]:
    rows = PEOPLE.to_pylist()
    for name, some in (("sample", rows[:600]), ("register", rows)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, PEOPLE.column_names)
            writer.writeheader()
            writer.writerows(some)
    return folder / "sample.csv", folder / "register.csv"


@pytest.mark.parametrize(
    ("known", "limit", "code"),
    [
        ("register", "population.k_map=1", 0),
        ("register", "population.k_map=2", 1),
        ("register", "population.presence=0.99", 1),
        ("register", "population.marketer=0.9", 0),
        ("3000", "population.uniques=3000", 0),
        ("3000", "population.uniques=1", 1),
        ("3000", "population.tau1=600", 0),
        ("3000", "population.individual_risk=0.01", 1),
        ("3000", "population.global_risk=1", 0),
        ("3000", "population.household_risk=0.01", 1),
        ("3000", "population.k_map=2", 2),
        (None, "population.uniques=1", 2),
    ],
)
def test_limits_pass_and_fail(known: str | None, limit: str, code: int, tmp_path: Path) -> None:
    sample, register = written(tmp_path)
    words: list[Any] = ["--quasi", "age,sex,town", "--no-details", "--limit", limit]
    if known is not None:
        words += ["--population", register if known == "register" else known]
        words += ["--household", "hid"]
    ended = call("risk", sample, *words, "--json", tmp_path / "out.json")
    assert ended.code == code, ended.out + ended.err
    if code == 2:
        assert "needs to know the population" in ended.err
        assert ended.err.endswith("as a table.\n") == ("k_map" in limit)
        return
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["limits"][0]["name"] == limit.partition("=")[0]
    assert document["population"]["figures"]


def test_records_have_their_own_risk(tmp_path: Path) -> None:
    sample, _ = written(tmp_path)
    place = tmp_path / "records.csv"
    risk = measure_risk(
        sample, quasi=QUASI, weight="w", household="hid", records=place, details=False
    )
    assert risk.population is not None
    one = risk.population.individual
    rows = list(csv.DictReader(place.read_text().splitlines()))
    assert len(rows) == 600
    assert sum(float(row["individual_risk"]) for row in rows) == pytest.approx(one.expected)
    assert max(float(row["household_risk"]) for row in rows) == pytest.approx(
        one.household.maximum if one.household else -1
    )
    assert min(float(row["population_size"]) for row in rows) == pytest.approx(one.smallest)
