"""The group models against pyCANON, wherever its definition is the textbook one.

Where it is not (entropy ℓ, recursive ℓ, enhanced β, δ with an absent value, missing values, a
permuted index), ``tests/rivals/README.md`` says why, and ``test_measure_right_answers.py`` has the
numbers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from indiff.risk import measure_risk
from tests.risk.sessions import ON_SPARK
from tests.rivals.harness import Case, pycanon_each

MEASURES = ["k", "alpha_k", "distinct_l", "t", "basic_beta", "delta_disclosure"]


def random_case(number: int) -> Case:
    rng = np.random.default_rng(number)
    size = int(rng.integers(5, 80))
    values: Any = rng.integers(0, rng.integers(2, 8), size) ** 2
    values[:2] = 0, 1  # pyCANON's t of a constant number column raises
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + rng.integers(1, 5), size),
            "sex": rng.choice(["f", "m"], size),
            "s": values if number % 2 else [f"v{value}" for value in values],
        }
    )
    return Case(frame, ["age", "sex"], ["s"])


def compare(case: Case, theirs: dict[str, Any], engine: Any) -> None:
    (sensitive,) = case.sensitive
    risk = measure_risk(
        case.frame, quasi=case.quasi, sensitive=sensitive, engine=engine, details=False
    )
    ours = risk.groups
    assert ours.k == theirs["k"]
    assert [ours.alpha, ours.k] == pytest.approx(theirs["alpha_k"], abs=1e-12)
    assert ours.distinct_l == theirs["distinct_l"]
    assert ours.t == pytest.approx(theirs["t"], abs=1e-12)
    assert ours.beta == pytest.approx(theirs["basic_beta"], abs=1e-12)
    assert ours.delta_disclosure is not None
    if math.isfinite(ours.delta_disclosure):  # pyCANON skips the values that a group lacks
        assert ours.delta_disclosure == pytest.approx(theirs["delta_disclosure"], abs=1e-12)
    else:
        assert ours.distinct_l < case.frame[sensitive].nunique()


@pytest.mark.parametrize("count", [5, pytest.param(50, marks=pytest.mark.system)])
def test_random_tables(count: int) -> None:
    cases = [random_case(number) for number in range(count)]
    for case, theirs in zip(cases, pycanon_each(cases, measures=MEASURES), strict=True):
        for engine in ("in-process", "duckdb"):
            compare(case, theirs.values, engine)


@pytest.mark.system
@ON_SPARK
def test_random_tables_on_spark(spark: Any) -> None:
    cases = [random_case(number) for number in range(6)]
    for case, theirs in zip(cases, pycanon_each(cases, measures=MEASURES), strict=True):
        compare(case, theirs.values, "spark")


@pytest.mark.parametrize("sensitive", ["occupation", pytest.param("age", marks=pytest.mark.system)])
def test_adult(needs_data: Path, sensitive: str) -> None:
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status"]
    names += ["occupation", "relationship", "race", "sex", "gain", "loss", "hours", "country"]
    adult = pd.read_csv(
        needs_data / "adult.data",
        names=[*names, "income"],
        skipinitialspace=True,
        keep_default_na=False,
    )
    quasi = ["race", "sex", "relationship"]
    frame = adult[[*quasi, sensitive]]
    case = Case(frame, quasi, [sensitive])
    (theirs,) = pycanon_each([case], measures=MEASURES)
    for engine in ("in-process", "duckdb"):
        compare(case, theirs.values, engine)
