"""The fingerprint: every value counts, the order of records does not, engines agree."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, read_table
from indiff.errors import UserError
from indiff.risk import Risk, measure_risk
from indiff.risk.counts import Question
from tests.risk.sessions import ON_SPARK
from tests.risk.test_metrics_definitions import random_table

DATA = pa.table(random_table(9))


@pytest.fixture(scope="module")
def risk() -> Risk:
    return measure_risk(DATA, quasi=["age", "zip"], sensitive=["disease", "income"], combinations=2)


def test_results_cannot_be_changed(risk: Risk) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        risk.groups.k = 99  # type: ignore[misc]


def test_json_has_everything(risk: Risk) -> None:
    found = json.loads(risk.to_json())
    assert found["kind"] == "risk"
    assert found["format"] == 1
    assert found["reidentification"]["itpr"] == risk.reidentification.itpr
    assert found["inference"]["disease"]["lambda"] == risk.inference["disease"].lambda_
    assert found["groups"]["t"] == risk.groups.t
    assert found["groups"]["delta_disclosure"] == "Infinity"
    assert found["groups"]["sensitive"]["income"]["recursive"] == list(
        risk.groups.sensitive["income"].recursive
    )
    assert len(found["combinations"]) == 3
    assert found["method"]["engine"] == "in-process"
    assert found["method"]["kinds"] == {"disease": "categorical", "income": "numeric"}
    assert {"indiff", "python", "duckdb", "numba", "pyarrow"} == set(found["method"]["versions"])
    assert len(found["method"]["fingerprint"]) == 8 + 1 + 64


def test_the_fingerprint_is_of_the_data(risk: Risk) -> None:
    asked: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["disease", "income"]}
    assert measure_risk(DATA, **asked).method.fingerprint == risk.method.fingerprint
    fewer = measure_risk(DATA.slice(1), **asked)
    assert fewer.method.fingerprint != risk.method.fingerprint


def test_progress_is_reported() -> None:
    said: list[str] = []
    measure_risk(DATA, quasi=["age", "zip"], progress=said.append, combinations=1)
    assert said[0] == "counting"
    assert "column zip" in said
    assert said[-1] == "combinations"


def test_a_release_is_measured_by_its_regions() -> None:
    people = pa.table({"age": [20, 25, 30, 35, 40, 45], "ill": ["a", "b", "a", "b", "a", "b"]})
    table = read_table(people, quasi=["age"], sensitive="ill")
    assert measure_risk(table, quasi="age", sensitive="ill").groups.k == 1
    release = Mondrian(k=2).sanitize(table)
    found = measure_risk(release, quasi="age", sensitive="ill")
    assert found.groups.k >= 2
    assert found.groups.records == 6
    weighted = replace(release, weights=np.ones(6))
    with pytest.raises(UserError, match=r"risk is measured on records.*weighted rows"):
        measure_risk(weighted, quasi="age", sensitive="ill")


TIMES = [
    datetime.datetime(2020, 1, 2, 3, 4, 5, 600_000),
    datetime.datetime(1931, 1, 1, 0, 0, 0, 1),
    None,
    datetime.datetime(9999, 12, 31),
]
TYPES: dict[str, pa.Array] = {
    "int8": pa.array([1, -1, None, 3], pa.int8()),
    "uint64": pa.array([2**64 - 1, 5, None, 3], pa.uint64()),
    "float32": pa.array([0.1, math.nan, None, -0.0], pa.float32()),
    "float64": pa.array([0.1, 1e300, math.inf, -3e15]),
    "text": pa.array(["a;b", "", "🤦🏼‍♂️é", "O'Brien"]),
    "coded": pa.array(["x", None, "y", "x"]).dictionary_encode(),
    "bool": pa.array([True, False, None, True]),
    "date": pa.array([datetime.date(1, 1, 1), None, datetime.date(2020, 2, 29), None]),
    "time": pa.array(TIMES, pa.timestamp("us")),
    "zoned": pa.array(TIMES, pa.timestamp("us", "Europe/Paris")),
    "decimal": pa.array([decimal.Decimal("0.10"), decimal.Decimal("-2.00"), None, None]),
    "bytes": pa.array([b"\x00\xff", b"", None, b"a"], pa.binary()),
}


def fingerprint(table: Any, engine: Any, **options: Any) -> str:
    quasi = [name for name in table.column_names if name not in options.values()]
    risk = measure_risk(table, quasi=quasi, engine=engine, details=False, **options)
    return risk.method.fingerprint


EXPECTED = {name: fingerprint(pa.table({"x": TYPES[name]}), "duckdb") for name in TYPES}


def test_engines_agree_on_every_type(engine: str) -> None:
    for name, column in TYPES.items():
        assert fingerprint(pa.table({"x": column}), engine) == EXPECTED[name], name


@pytest.mark.system
@ON_SPARK
def test_spark_agrees_also_where_it_reduces(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indiff.engines.spark.FEW_COUNTS", 0)
    test_engines_agree_on_every_type("spark")


def people(**changes: list[Any]) -> pa.Table:
    data = {"age": [30, 30, 41, 50], "who": ["a", "b", "c", "d"], "ill": ["x", "y", "x", "x"]}
    return pa.table({**data, **changes})


@pytest.mark.parametrize("engine", ["in-process", "duckdb"])
def test_every_value_counts_and_the_order_does_not(engine: str) -> None:
    asked = {"sensitive": "ill", "individual": "who"}
    whole = fingerprint(people(), engine, **asked)
    assert fingerprint(people().take([3, 1, 0, 2]), engine, **asked) == whole
    others = [
        people(age=[30, 30, 41, 51]),  # relabelled: all counts are the same
        people(age=[30, 30, 50, 41]),  # a permuted column
        people(ill=["y", "x", "y", "y"]),
        people(ill=["x", "y", "x", None]),
        people(who=["a", "b", "c", "e"]),
        people().slice(1),
        pa.concat_tables([people(), people()]),
        people().rename_columns(["years", "who", "ill"]),
    ]
    found = {fingerprint(table, engine, **asked) for table in others}
    assert len(found) == len(others)
    assert whole not in found
    assert fingerprint(people(), engine) != whole, "roles count"


def test_texts_that_run_together_are_told_apart() -> None:
    one = pa.table({"a": ["x;1:y", "p"], "b": ["z", "q"]})
    other = pa.table({"a": ["x", "p"], "b": ["1:y;z", "q"]})
    assert fingerprint(one, "duckdb") != fingerprint(other, "duckdb")


def test_one_attribute_is_not_joined_with_anything() -> None:
    """As ranks, 1/2 and 1/4 of the records move one place each, of two; as texts, 1/2 is moved."""
    table = pa.table({"zip": ["a", "a", "b", "b"], "wage": [1, 1, 2, 9]})

    def measured(joint: bool) -> Risk:
        return measure_risk(table, quasi="zip", sensitive="wage", joint=joint)

    alone, joint = (measured(joint) for joint in (False, True))
    assert joint.groups.t == alone.groups.t == (1 / 2 + 1 / 4) / 2
    assert not Question(("zip",), ("wage",)).joint


def test_what_was_opened_is_closed(left_open: list[object]) -> None:
    table = pa.table({"zip": ["a", "a", "b"], "ill": ["x", "y", "x"]})
    measure_risk(table, quasi="zip", sensitive="ill", population=table)
    assert left_open == []
