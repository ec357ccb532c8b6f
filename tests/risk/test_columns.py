"""Which columns, combinations and values are dangerous."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from indiff.data.reading.input_files import Reading
from indiff.engines.protocol import Resources
from indiff.risk import measure_risk
from indiff.risk.columns import measure_columns
from indiff.risk.counts import Question, count
from tests.risk import oracle
from tests.risk.test_metrics_definitions import random_table

QUASI = ["age", "zip", "income"]


def test_combinations_are_measured_as_if_alone_and_ranked(engine: Any) -> None:
    data = pa.table(random_table(3, rows=40))
    risk = measure_risk(
        data, quasi=QUASI, sensitive="disease", combinations=2, engine=engine, details=False
    )
    assert len(risk.combinations) == 6
    assert list(risk.singled_out_by_width) == [1, 2]
    pairs = [c.singled_out for c in risk.combinations if len(c.columns) == 2]
    assert risk.singled_out_by_width[2] == max(pairs)
    order = [(-c.itpr, -c.singled_out, -c.dr) for c in risk.combinations]
    assert order == sorted(order)
    for found in risk.combinations[:3]:
        alone = measure_risk(
            data, quasi=found.columns, sensitive="disease", engine="duckdb", details=False
        )
        assert found.itpr == pytest.approx(alone.reidentification.itpr, abs=1e-12)
        assert found.dr == pytest.approx(alone.reidentification.dr, abs=1e-12)
        assert found.k == alone.groups.k
        assert found.singled_out == alone.groups.singled_out
        assert found.marketer == pytest.approx(alone.groups.marketer, abs=1e-12)
        expected = alone.inference["disease"].itpr
        assert found.inference["disease"] == pytest.approx(expected, abs=1e-12)


def test_a_column_alone_tells_as_much_as_if_there_were_no_other(engine: Any) -> None:
    """Its groups hold a value in several cells, which count together."""
    data = random_table(3, rows=40)
    risk = measure_risk(pa.table(data), quasi=QUASI, sensitive="disease", engine=engine)
    for name in QUASI:
        keys = [oracle.value(one) for one in data[name]]
        expected = oracle.information(keys, data["disease"])
        found = risk.columns[name].inference["disease"]
        assert found.dr == pytest.approx(expected["dr"], abs=1e-12)
        assert found.itpr == pytest.approx(expected["itpr"], abs=1e-12)


def test_a_column_contributes_what_is_lost_without_it(engine: Any) -> None:
    data = random_table(4)
    risk = measure_risk(pa.table(data), quasi=QUASI, sensitive="disease", engine=engine)
    assert [part.column for part in risk.contributions] == QUASI
    for part in risk.contributions:
        rest = [name for name in QUASI if name != part.column]
        keys = [tuple(oracle.value(data[n][row]) for n in rest) for row in range(60)]
        without = oracle.information(keys, list(range(60)))
        inferred = oracle.information(keys, data["disease"])
        expected = risk.reidentification.dr - without["dr"]
        assert part.added_dr == pytest.approx(expected, abs=1e-12)
        expected = risk.inference["disease"].dr - inferred["dr"]
        assert part.added_inference_dr["disease"] == pytest.approx(expected, abs=1e-12)
        unique = sum(count == 1 for count in Counter(keys).values())
        assert part.added_singled_out == risk.groups.singled_out - unique
        assert part.added_dr >= 0


def test_levels_share_out_the_risk(engine: Any) -> None:
    data = random_table(6)
    risk = measure_risk(pa.table(data), quasi=QUASI, engine=engine)
    keys = [tuple(oracle.value(data[n][row]) for n in QUASI) for row in range(60)]
    sizes = Counter(keys)
    for column in QUASI:
        found = [level for level in risk.levels if level.column == column]
        assert len(found) == risk.distinct_values[column]
        assert sum(level.share_of_risk for level in found) == pytest.approx(1, abs=1e-12)
        assert sum(level.singled_out for level in found) == risk.groups.singled_out
        highest = max(level.itpr for level in found)
        assert highest == pytest.approx(risk.columns[column].reidentification.itpr, abs=1e-12)
        for level in found:
            rows = [
                row
                for row in range(60)
                if oracle.value(data[column][row]) == oracle.value(level.value)
            ]
            assert level.records == len(rows)
            expected = sum(1 / sizes[keys[row]] for row in rows) / len(sizes)
            assert level.share_of_risk == pytest.approx(expected, abs=1e-12)


def test_a_typing_error_stands_out_and_a_key_does_not(engine: Any) -> None:
    data = pa.table({"age": [30] * 50 + [40] * 49 + [400], "id": list(range(100))})
    risk = measure_risk(data, quasi=["age", "id"], engine=engine)
    assert [(level.column, level.value) for level in risk.outliers] == [("age", 400)]


def test_one_quasi_identifier_contributes_everything(engine: Any) -> None:
    data = pa.table({"age": [30, 30, 40, 50]})
    risk = measure_risk(data, quasi="age", combinations=3, engine=engine)
    (part,) = risk.contributions
    assert part.without is None
    assert part.added_dr == risk.reidentification.dr
    assert part.added_marketer == pytest.approx(3 / 4 - 1 / 4)
    assert part.added_singled_out == 2
    assert [c.columns for c in risk.combinations] == [("age",)]


def test_values_are_ranked_by_the_risk_of_all_their_records() -> None:
    """1,200 values of one record each must not push out the one of 50 records, all alone."""
    zips = [f"z{number}" for number in range(1200)] + ["town"] * 50
    ages = [0] * 1200 + list(range(50))
    risk = measure_risk(pa.table({"zip": zips, "age": ages}), quasi=["zip", "age"])
    first = next(level for level in risk.levels if level.column == "zip")
    assert (first.value, first.records, first.singled_out) == ("town", 50, 50)


def test_a_value_that_one_record_holds_is_at_its_maximum(engine: Any) -> None:
    """Its term of ITPR is 1: nothing is left to guess. Of a pair one bit of log₂ 5 is left."""
    risk = measure_risk(pa.table({"age": [1, 2, 2, 3, 3]}), quasi="age", engine=engine)
    found = {level.value: level.itpr for level in risk.levels}
    pair = 1 - 3 * 2 / 5 / math.log2(5)
    assert found == {1: 1.0, 2: pytest.approx(pair), 3: pytest.approx(pair)}


def test_what_is_made_for_one_set_of_columns_is_forgotten() -> None:
    data = pa.table(random_table(3, rows=40))
    question = Question(tuple(QUASI), ("disease",))
    counted = count(data, question, "duckdb", Reading(), Resources())
    made = "SELECT table_name FROM duckdb_tables() ORDER BY ALL"
    measure_columns(counted, counted.positions)
    before = counted.engine.query(made)
    measure_columns(counted, [0, 2])
    assert counted.engine.query(made) == before
    counted.engine.close()


def test_several_attributes_are_measured_one_by_one_unless_asked_for_together() -> None:
    data = pa.table({"q": [1, 1, 2], "a": ["x", "y", "x"], "b": ["u", "u", "v"]})
    counted = count(data, Question(("q",), ("a", "b")), "duckdb", Reading(), Resources())
    assert [one.sensitive.name for one in counted.values] == ["a", "b"]
    counted.engine.close()
