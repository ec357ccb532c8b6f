"""Keys and special uniques by counts: the same on every engine as on the records themselves."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import indiff
from indiff.errors import UserError
from indiff.risk.identifying import subsets
from indiff.risk.identifying.keys import few_columns, read_keys
from tests.risk.sessions import ON_SPARK

QUASI = ["age", "sex", "zip"]
_RNG = np.random.default_rng(8)
PEOPLE = pa.table({
    "age": pa.array([None if one == 0 else int(one) for one in _RNG.integers(0, 12, 60)]),
    "sex": pa.array(["fm"[one] for one in _RNG.integers(0, 2, 60)]),
    "zip": pa.array([f"0{one}" for one in _RNG.integers(10, 20, 60)]),
    "who": pa.array([f"p{one // 2}" for one in range(60)]),
})  # fmt: skip


def test_special_uniques_of_groups_are_those_of_records(engine: Any) -> None:
    """Equal records are one row with a weight; the numbers are those of a row per record."""
    risk = indiff.measure_risk(PEOPLE, quasi=QUASI, special=3, engine=engine, details=False)
    whole = indiff.special_uniques(PEOPLE, quasi=QUASI).summary
    assert risk.special is not None
    for name, value in dataclasses.asdict(whole).items():
        assert getattr(risk.special, name) == pytest.approx(value), name
    assert whole.uniques == risk.groups.singled_out


@pytest.mark.parametrize("size", [2, 3])
def test_records_have_their_score_and_dis(size: int, engine: Any, tmp_path: Path) -> None:
    place = tmp_path / "records.parquet"
    table = PEOPLE.append_column("none", pa.nulls(60, pa.string()))
    asked: dict[str, Any] = {"special": size, "sampling": 0.2, "sensitive": "who"}
    indiff.measure_risk(
        table, quasi=[*QUASI, "none"], engine=engine, records=place, details=False, **asked
    )
    rows = ds.dataset(place).to_table().sort_by("record")
    whole = indiff.special_uniques(table, quasi=[*QUASI, "none"], size=size, sampling=0.2)
    assert rows["record"].to_pylist() == list(range(60))
    assert rows["special_score"].to_pylist() == whole.scores.tolist()
    assert rows["special_dis"].to_pylist() == pytest.approx(whole.dis.tolist(), rel=1e-12)
    assert 0 < sum(whole.scores > 0) < 60
    assert "individual_risk" in rows.column_names


def test_keys_are_measured_in_their_order(engine: Any) -> None:
    keys = ["zip+sex", ["age"], "age+sex+zip"]
    risk = indiff.measure_risk(PEOPLE, quasi=QUASI, keys=keys, engine=engine, details=False)
    assert [one.columns for one in risk.keys] == [("sex", "zip"), ("age",), ("age", "sex", "zip")]
    for one in risk.keys:
        alone = indiff.measure_risk(PEOPLE, quasi=list(one.columns), details=False)
        assert (one.k, one.singled_out) == (alone.groups.k, alone.groups.singled_out)
    assert risk.keys[2].singled_out == risk.groups.singled_out


@pytest.mark.system
@ON_SPARK
def test_the_same_where_spark_reduces(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("indiff.engines.spark.FEW_COUNTS", 0)
    test_special_uniques_of_groups_are_those_of_records("spark")
    test_records_have_their_score_and_dis(2, "spark", tmp_path)
    test_keys_are_measured_in_their_order("spark")


def test_nothing_is_measured_unasked() -> None:
    risk = indiff.measure_risk(PEOPLE, quasi=QUASI, details=False)
    assert (risk.keys, risk.special) == ((), None)


def test_a_limit_is_on_the_worst_of_the_keys() -> None:
    """Groups of 1, 1 and 4 by age, of 3 and 3 by sex."""
    frame = pa.table({"age": [1, 2, 3, 3, 3, 3], "sex": list("fffmmm")})
    risk = indiff.measure_risk(frame, quasi=["age", "sex"], keys=["age", "sex"], details=False)
    assert [(one.k, one.singled_out) for one in risk.keys] == [(1, 2), (3, 0)]
    for keys in (risk.keys, risk.keys[::-1]):
        assert few_columns(keys, None, "keys.k") == 1
        assert few_columns(keys, None, "keys.singled_out") == 2


def test_people_with_several_records_have_keys_but_no_special_uniques() -> None:
    risk = indiff.measure_risk(PEOPLE, quasi=QUASI, individual="who", keys="age+sex", details=False)
    assert risk.keys[0].k >= 1
    with pytest.raises(UserError, match="each is one person; leave individual out"):
        indiff.measure_risk(PEOPLE, quasi=QUASI, individual="who", special=2)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("age+zipp", "no quasi-identifier 'zipp': did you mean 'zip'"),
        ("age+age", "each of its columns once"),
        (["age+sex", "sex+age"], "a key may be given once"),
        ([[]], "each of its columns once"),
    ],
)
def test_what_is_no_key(keys: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read_keys(keys, QUASI)


def test_a_column_may_have_a_plus_in_its_name() -> None:
    assert read_keys(["a+b", ["a+b", "c"]], ["a+b", "c"]) == ((0,), (0, 1))


def test_sets_of_as_many_columns_as_asked_for_have_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four groups by three columns: 3 sets of one column, 7 in all."""
    frame = pa.table({"a": [1, 1, 2, 2], "b": list("xyxy"), "c": list("zzzz")})
    monkeypatch.setattr(subsets, "MOST_BITS", 3 * 4)
    found = indiff.measure_risk(frame, quasi=["a", "b", "c"], special=1)
    assert found.special is not None
    assert found.special.size == 1
    with pytest.raises(UserError, match="sets of up to 3 of 3 columns on 4 records"):
        indiff.measure_risk(frame, quasi=["a", "b", "c"], special=5)
