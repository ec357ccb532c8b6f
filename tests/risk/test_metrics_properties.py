"""What must hold for every table (hypothesis)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indiff.errors import UserError
from indiff.risk import Risk, measure_risk

ROW = st.tuples(
    st.sampled_from([None, "x", "y", "z"]),
    st.integers(0, 3),
    st.sampled_from(["a", "b", "c", ""]),
)
TABLES = st.lists(ROW, min_size=1, max_size=40)
LOCAL = ("in-process", "duckdb")


def measure(rows: list[tuple[Any, ...]], quasi: list[str], sensitive: str, engine: Any) -> Risk:
    data = pa.table(
        {
            "one": pa.array([row[0] for row in rows], pa.string()),
            "two": pa.array([row[1] for row in rows], pa.int64()),
            "s": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    return measure_risk(data, quasi=quasi, sensitive=sensitive, engine=engine, details=False)


def numbers(risk: Risk) -> dict[str, Any]:
    found = risk.to_dict()
    found.pop("method")
    return found


def flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {k: v for key, part in value.items() for k, v in flat(part, f"{path}/{key}").items()}
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in flat(part, f"{path}/{i}").items()}
    return {path: value}


def same(one: Risk, other: Risk) -> None:
    left, right = flat(numbers(one)), flat(numbers(other))
    assert left.keys() == right.keys()
    for path, value in left.items():
        if isinstance(value, float) and isinstance(right[path], float):
            assert value == pytest.approx(right[path], abs=1e-12), path
        else:
            assert value == right[path], path


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_bounds(engine: str, rows: list[tuple[Any, ...]]) -> None:
    risk = measure(rows, ["one", "two"], "s", engine)
    for found in (risk.reidentification, risk.inference["s"]):
        assert 0 <= found.dr <= found.itpr <= 1
        assert 0 <= found.cp < 1
        assert 0 <= found.h_conditional <= found.h + 1e-12
        assert found.mi <= found.mil + 1e-12
        assert 0 < found.eld <= 1
    groups = risk.groups
    assert groups.l is not None
    assert groups.distinct_l is not None
    assert groups.entropy_l is not None
    assert groups.t is not None
    assert 1 <= groups.l <= groups.entropy_l + 1e-12 <= groups.distinct_l + 2e-12
    assert 0 <= groups.t <= 1
    assert sum(size.records for size in groups.sizes) == len(rows)


@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_engines_agree(rows: list[tuple[Any, ...]]) -> None:
    one, other = (measure(rows, ["one", "two"], "s", engine) for engine in LOCAL)
    same(one, other)
    assert one.method.fingerprint == other.method.fingerprint


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES, seed=st.integers(0, 99))
def test_row_order_does_not_matter(engine: str, rows: list[tuple[Any, ...]], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    one, other = (measure(part, ["one", "two"], "s", engine) for part in (rows, shuffled))
    same(one, other)
    assert one.method.fingerprint == other.method.fingerprint


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_relabelling_does_not_matter(engine: str, rows: list[tuple[Any, ...]]) -> None:
    new = {None: "y", "x": "q", "y": None, "z": "x"}
    values = {"a": "c", "b": "a", "c": "", "": "O'Brien"}
    renamed = [(new[one], 7 - 2 * two, values[s]) for one, two, s in rows]
    same(measure(rows, ["one", "two"], "s", engine), measure(renamed, ["one", "two"], "s", engine))


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_mutual_information_is_symmetric(engine: str, rows: list[tuple[Any, ...]]) -> None:
    one = measure(rows, ["one"], "s", engine).inference["s"]
    other = measure(rows, ["s"], "one", engine).inference["one"]
    assert one.mi == pytest.approx(other.mi, abs=1e-12)
    assert one.h_joint == pytest.approx(other.h_joint, abs=1e-12)


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_a_column_more_never_lowers_mutual_information(
    engine: str, rows: list[tuple[Any, ...]]
) -> None:
    fewer, more = (measure(rows, quasi, "s", engine) for quasi in (["one"], ["one", "two"]))
    assert more.inference["s"].mi >= fewer.inference["s"].mi - 1e-12
    assert more.reidentification.mi >= fewer.reidentification.mi - 1e-12
    assert more.groups.k <= fewer.groups.k
    assert more.groups.marketer >= fewer.groups.marketer - 1e-12


@pytest.mark.parametrize("engine", LOCAL)
@settings(max_examples=settings().max_examples // 6)
@given(rows=TABLES)
def test_nothing_is_learned_about_a_constant(engine: str, rows: list[tuple[Any, ...]]) -> None:
    constant = [(*row[:2], "a") for row in rows]
    found = measure(constant, ["one", "two"], "s", engine).inference["s"]
    assert (found.dr, found.mi, found.cp, found.itpr) == (0, 0, 0, 0)


def test_an_empty_table_is_an_error(engine: Any) -> None:
    with pytest.raises(UserError, match="at least one record; Table has none"):
        measure([], ["one"], "s", engine)
