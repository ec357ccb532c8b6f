"""A table of the population: ARX's figures, what it lacks, and what counts as equal."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff import UserError, measure_risk
from indiff.data.hierarchy import Hierarchy
from indiff.risk.population.table import KnownPopulation, _joined
from tests.risk.population import adult


def against(sample: Any, population: Any, **more: Any) -> KnownPopulation:
    quasi = more.pop("quasi", ["age", "sex"])
    found = measure_risk(sample, quasi=quasi, population=population, details=False, **more)
    assert found.population is not None
    assert found.population.table is not None
    assert found.groups.journalist == found.population.table.journalist
    return found.population.table


def test_the_figures_of_arx(needs_data: Path) -> None:
    """Where every cell is * ARX takes all records as suppressed, and every risk as 0."""
    _, everybody = adult.complete(needs_data)
    order, population = adult.drawn(needs_data), pa.Table.from_pylist(everybody)
    rows = [
        one for one in adult.figures(needs_data, "kmap_presence.csv") if one["kind"] == "measure"
    ]
    assert len(rows) > 10
    for row in rows:
        quasi, trees = row["qis"].split("|"), {}
        sample = [dict(everybody[i]) for i in order[: int(row["sample_size"])]]
        for name, level in zip(quasi, row["levels"].split("|"), strict=True):
            trees[name] = needs_data / "hierarchies" / "arx-adult" / f"{name}.csv"
            lines = [line.split(";") for line in trees[name].read_text().splitlines()]
            label = {line[0]: line[int(level)] for line in lines}
            for record in sample:
                record[name] = label[record[name]]
        released = pa.Table.from_pylist(sample)
        found = against(released, population, quasi=quasi, hierarchies=trees)
        assert found.lacking_groups == found.crowded_groups == 0
        assert found.k_map == int(row["k_map"])
        assert found.presence == (float(row["delta_min"]), float(row["delta_max"]))
        assert found.presence_released[0] == float(row["delta_min_sample_classes"])
        if float(row["journalist_highest"]):
            assert found.journalist == float(row["journalist_highest"])
            for ours, theirs in (
                (found.journalist_average, "journalist_average"),
                (found.at_risk(0.2), "journalist_records_at_risk"),
                (found.marketer, "marketer_success"),
            ):
                assert ours == pytest.approx(float(row[theirs]), rel=1e-14)


SAMPLE = pa.table({"age": ["30", "30", "47", None, None], "sex": ["f", "f", "m", "m", None]})
POPULATION = pa.table(
    {"age": [30] * 6 + [47] * 2 + [None] * 5, "sex": ["f"] * 6 + ["m"] * 2 + ["m"] * 3 + [""] * 2}
)


def test_by_hand_with_missing_values_and_numbers_as_texts(engine: Any) -> None:
    """Groups: (30, f) 2 of 6, (47, m) 1 of 2, (missing, m) 1 of 3, both missing 1 of 2."""
    found = against(SAMPLE, POPULATION, engine=engine)
    assert (found.people, found.groups, found.k_map) == (13, 4, 2)
    assert found.presence == pytest.approx((1 / 3, 1 / 2))
    assert found.marketer == pytest.approx((2 / 6 + 1 / 2 + 1 / 3 + 1 / 2) / 5)
    assert found.journalist == 0.5
    assert found.journalist_average == pytest.approx(found.marketer)
    assert found.notes == ()
    assert found.at_risk(0.4) == pytest.approx(2 / 5)


def test_groups_that_the_population_lacks_are_unsafe_and_named_by_number(engine: Any) -> None:
    sample = pa.concat_tables([SAMPLE, pa.table({"age": ["99"] * 3, "sex": ["x"] * 3})])
    found = against(sample, POPULATION, engine=engine)
    assert (found.k_map, found.journalist, found.presence[1]) == (0, 1.0, 1.0)
    assert (found.lacking_groups, found.lacking_records) == (1, 3)
    assert found.marketer == pytest.approx((2 / 6 + 1 / 2 + 1 / 3 + 1 / 2 + 3) / 8)
    assert "1 released groups (3 records) are not in the population" in found.notes[0]
    assert "99" not in found.notes[0]


def test_a_table_that_is_no_part_of_its_population_is_said_to_be_none() -> None:
    found = against(pa.table({"age": [1, 1, 2]}), pa.table({"age": [1, 2, 2]}), quasi=["age"])
    assert found.crowded_groups == 1
    assert (found.lacking_groups, found.lacking_records) == (0, 0)
    assert found.presence == (0.5, 1.0)
    assert "no part of this population" in found.notes[0]


TREE = Hierarchy.from_lines(["21;20s;*", "25;20s;*", "33;30s;*", "38;30s;*"])


def test_the_population_is_generalized_as_the_release_is(engine: Any) -> None:
    sample = pa.table({"age": ["20s", "20s", "33", "*"], "sex": ["f", "f", "m", "*"]})
    people = pa.table({"age": [21, 25, 25, 33, 38, 77], "sex": ["f", "f", "f", "m", "m", "m"]})
    found = against(sample, people, hierarchies={"age": TREE}, engine=engine)
    # Of the 33-year-old men there is one; the suppressed row fits all six.
    assert [(one.smallest, one.records) for one in found.sizes] == [(1, 1), (3, 2), (6, 1)]
    assert found.presence == (0.0, 1.0)  # of the man of 38, and the one of 33
    assert "1 people of the population have a value of 'age'" in found.notes[0]
    assert "77" not in found.notes[0]


def test_who_is_in_no_hierarchy_counts_behind_the_very_value_and_what_is_suppressed(
    engine: Any,
) -> None:
    sample, people = pa.table({"age": ["20s", "77", "*"]}), pa.table({"age": [21, 25, 77, 77]})
    found = against(sample, people, quasi=["age"], hierarchies={"age": TREE}, engine=engine)
    # The label has two people behind it, the value two, and what is suppressed all four.
    assert [(one.smallest, one.records) for one in found.sizes] == [(2, 2), (4, 1)]
    (said,) = found.notes
    assert said.startswith("2 people of the population have a value of 'age' that is not in its")
    assert "only behind rows that show this very value, or nothing" in said


def test_what_is_missing_is_in_no_hierarchy(engine: Any) -> None:
    """One of the three people has no age, and so has one of the released rows."""
    sample, people = pa.table({"age": ["20s", "20s", None]}), pa.table({"age": [21, 25, None]})
    found = against(sample, people, quasi=["age"], hierarchies={"age": TREE}, engine=engine)
    assert [(one.smallest, one.records) for one in found.sizes] == [(1, 1), (2, 2)]
    assert found.lacking_groups == 0


def test_labels_that_overlap_are_refused() -> None:
    sample = pa.table({"age": ["20s", "21"], "sex": ["f", "f"]})
    with pytest.raises(UserError, match="each value to one label; got column 'age'"):
        against(sample, POPULATION, hierarchies={"age": TREE})


def test_people_are_counted_once() -> None:
    sample = pa.table({"age": [1, 1, 2], "id": ["a", "a", "b"]})
    people = pa.table({"age": [1, 1, 1, 2, 2], "id": ["a", "a", "c", "b", "d"]})
    found = against(sample, people, quasi=["age"], individual="id")
    assert (found.k_map, found.presence) == (2, (0.5, 0.5))


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("age,sex\n30,f\n47,m\n")
    pq.write_table(POPULATION, tmp_path / "register.parquet")
    found = against(tmp_path / "sample.csv", str(tmp_path / "register.parquet"))
    assert (found.k_map, found.lacking_groups) == (2, 0)


def test_moments_are_the_same_in_both_tables() -> None:
    """A released moment is spelled as the population's is, to the microsecond."""
    moments = [datetime(2020, 1, day, 10, 30, tzinfo=UTC) for day in (1, 1, 2)]
    sample = pa.table({"at": pa.array(moments, pa.timestamp("us", "UTC"))})
    found = against(sample, pa.concat_tables([sample] * 2), quasi=["at"])
    assert (found.k_map, found.lacking_groups, found.presence) == (2, 0, (0.5, 0.5))


@pytest.mark.parametrize(
    ("released", "people", "average", "journalist"),
    [
        ([1, 2, 3], [1], 1.0, 1.0),  # three groups for one person
        ([1, 2, 3], [8, 9], 1.0, 1.0),  # nobody
        ([1, 2], [1, 2], 1.0, 1.0),
        ([1, 2], [1, 1, 2, 2], 0.5, 0.5),
        ([1, 1, 2], [1] * 4 + [2] * 2, (2 / 4 + 1 / 2) / 3, 0.5),
    ],
)
def test_the_journalists_average_is_a_share(
    released: list[int], people: list[int], average: float, journalist: float
) -> None:
    """The larger of the mean of 1/F over records, and released groups per person behind them."""
    found = against(pa.table({"age": released}), pa.table({"age": people}), quasi=["age"])
    assert found.journalist_average == pytest.approx(average)
    assert found.journalist == journalist


def test_a_population_without_a_column_is_refused() -> None:
    with pytest.raises(UserError, match="'sex'"):
        against(SAMPLE, pa.table({"age": [30]}))


def test_groups_of_about_the_same_size_are_linked_by_their_own() -> None:
    """Beyond 50,000 people groups are kept together that differ by less than a thousandth."""
    sizes = {"x": 60_000, "y": 60_010}
    people = pa.table({"age": np.repeat([*sizes], [*sizes.values()]), "sex": ["f"] * 120_010})
    found = against(pa.table({"age": ["x", "y"], "sex": ["f", "f"]}), people)
    assert (found.k_map, len(found.sizes)) == (60_000, 1)
    assert found.marketer == pytest.approx((1 / 60_000 + 1 / 60_010) / 2, rel=1e-12)


class _Place:
    """An engine that knows which tables it has."""

    def __init__(self, dialect: str, *tables: str) -> None:
        self.dialect, self.tables = dialect, {*tables}

    def fetch(self, table: str) -> str:
        assert table in self.tables
        return table

    def load(self, table: str) -> str:
        self.tables.add(table)
        return table

    def keep(self, sql: str) -> str:
        assert {*re.findall(r"(?:FROM|JOIN) (released|people)\b", sql)} <= self.tables
        return self.load("joined")


@pytest.mark.parametrize("own", ["duckdb", "spark"], ids=["groups here", "groups in a cluster"])
@pytest.mark.parametrize("other", ["duckdb", "spark"], ids=["people here", "people in a cluster"])
def test_groups_and_people_meet_in_one_place(own: str, other: str) -> None:
    """Wherever each of them is, and what comes of it is where the released groups were."""
    here, there = _Place(own, "released"), _Place(other, "people")
    if own == other == "spark":  # one session has both
        here.tables = there.tables = {"released", "people"}
    one: Any = here
    two: Any = there
    assert _joined(one, two, "released", "people", [0, 1], 9) in here.tables


def test_a_sample_is_at_most_the_whole_population() -> None:
    """Three records of two people: as a share of them it is all, and not one and a half."""
    few = pa.table({"age": [1, 2]})
    found = measure_risk(pa.table({"age": [1, 1, 2]}), quasi="age", population=few).population
    assert found is not None
    assert (found.size, found.sampling) == (2, 1)
