"""The result: frozen, complete, and the same after JSON."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, read_table
from indiff.errors import UserError
from indiff.risk import Risk, measure_risk
from tests.risk.test_definitions import random_table

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
    assert len(found["method"]["fingerprint"]) == 64


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
