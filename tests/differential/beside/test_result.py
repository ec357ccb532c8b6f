"""What one release beside its original tells, by hand on numbers that are easy to check."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.differential.beside.result import Shift


def test_a_shift_in_numbers() -> None:
    """Of three records one is believed more than before, one less, one as much but for rounding."""
    shift = Shift(
        distances=np.array([0.2, 0.6, 0.1]),
        beliefs=np.array([[0.7, 0.3], [0.2, 0.8], [0.5 + 1e-13, 0.5 - 1e-13]]),
        prior=np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]),
        classes=np.array([0, 0, 0], np.int32),
    )
    assert shift.true_beliefs.tolist() == pytest.approx([0.7, 0.2, 0.5])
    assert shift.true_priors.tolist() == [0.5, 0.5, 0.5]
    assert shift.raised == 1
    told = shift.to_dict()
    assert told.pop("mean_belief_in_true_value") == pytest.approx(1.4 / 3)
    assert told.pop("mean") == pytest.approx(0.3)
    assert told == {"largest": 0.6, "true_value_raised": 1, "mean_share_of_true_value": 0.5}


TABLE = pa.table({"id": list("abcd"), "age": [28, 36, 47, 55], "ill": ["no", "yes", "no", "no"]})
RELEASE = pa.table({"id": list("bad"), "age": ["<40", "<40", ">=40"], "ill": ["yes", "no", "no"]})


@pytest.fixture(scope="module")
def found() -> Any:
    table = indiff.read_table(TABLE, identifier="id", quasi=["age"], sensitive="ill")
    return indiff.test_release(table, RELEASE, key="id", model="frequency")


def test_the_table_of_records_has_null_where_there_is_no_row_to_drop(found: Any) -> None:
    rows = found.to_arrow().to_pydict()
    assert rows["record"] == [0, 1, 2, 3]
    assert rows["candidates"] == [2, 2, 1, 1]
    assert rows["distance"][2] is None  # c has no row in the release
    assert rows["belief_without"][2] is None
    # Without a's row only b's is left below 40, without d's nothing above: the other two rows'.
    assert rows["distance"][:2] == pytest.approx([1.0, 1.0])
    assert rows["belief_without"] == [pytest.approx(0.0), pytest.approx(0.0), None, 0.5]
    assert rows["share_among_candidates"] == [0.5, 0.5, 1.0, 1.0]


def test_without_known_rows_there_is_no_such_column(found: Any) -> None:
    table = indiff.read_table(TABLE, identifier="id", quasi=["age"], sensitive="ill")
    alone = indiff.test_release(table, RELEASE.drop_columns(["id"]), model="frequency")
    assert "distance" not in alone.to_arrow().column_names
    assert alone.to_dict()["test"] is None
    assert alone.to_dict()["skipped"].startswith("no row of the release is known")
    assert found.to_dict()["skipped"] is None


def test_as_many_of_the_worst_as_are_asked_for() -> None:
    rows = 30
    frame = pa.table({"age": np.arange(rows) // 2, "ill": ["no", "yes"] * (rows // 2)})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    found = indiff.test_release(table, frame, rows_in_order=True, model="frequency")
    assert len(found.to_dict()["test"]["worst"]) == 10
    assert len(json.loads(found.to_json())["test"]["worst"]) == 10
    assert len(found.to_dict(worst=3)["test"]["worst"]) == 3
    assert len(json.loads(found.to_json(worst=3))["test"]["worst"]) == 3


def test_a_result_is_itself_alone(found: Any) -> None:
    """Arrays have no single answer to whether they are equal: a result is equal to itself."""
    assert len({found, found, found.shift, found.linkage, found.test}) == 4
