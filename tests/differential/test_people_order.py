"""Distances stand in the order in which targets were asked for, whatever measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indiff
from indiff import Laplace, Mondrian, differential_test
from tests.properties.random_tables import make_sample

ASKED = [7, 2, 11, 2, 0]
ORDER = [7, 2, 11, 0]


@pytest.mark.parametrize(
    ("sanitizer", "model", "options"),
    [
        (Mondrian(k=3), "naive-bayes", {}),
        (Mondrian(k=3), "tree", {}),
        (Mondrian(k=3), ["naive-bayes", "frequency"], {}),
        (Mondrian(k=3), "naive-bayes", {"method": "refit", "jobs": 1}),
        (Mondrian(k=3), "naive-bayes", {"order": "worst-first"}),
        (Mondrian(k=3), "naive-bayes", {"order": "random"}),
        (Laplace(1.0), "frequency", {}),
        (Laplace(1.0), "frequency", {"method": "sampled", "runs": 5, "jobs": 1}),
    ],
)
def test_in_the_order_given(sanitizer: Any, model: Any, options: dict[str, Any]) -> None:
    table = make_sample(3, 20, ["ties", "set"], 3).table
    found = differential_test(table, sanitizer, model=model, targets=ASKED, **options)
    assert found.records.tolist() == ORDER
    sorted_one = differential_test(table, sanitizer, model=model, targets=sorted(ORDER), **options)
    place = [sorted(ORDER).index(record) for record in ORDER]
    assert found.distances == pytest.approx(sorted_one.distances[place], abs=1e-12)
    assert found.to_frame()["record"].to_pylist() == ORDER
    assert found.worst(1)[0]["record"] == ORDER[int(np.argmax(found.distances))]
    assert found.delta == found.distances.max()


def test_people_in_the_order_given() -> None:
    frame = indiff.datasets.demo(records=100)
    who = np.arange(100) // 2
    visits = frame.append_column("who", [who])
    table = indiff.read_table(
        visits, identifier=["patient_id", "who"], quasi=["age", "sex"], sensitive="diagnosis"
    )
    found = differential_test(
        table, Mondrian(k=5), model="frequency", individual="who", targets=[9, 2, 8], jobs=1
    )
    assert found.records.tolist() == [8, 2]


@pytest.mark.parametrize("model", ["frequency", "naive-bayes", "tree"])
def test_beside_in_the_order_given(model: str) -> None:
    table = make_sample(3, 20, ["ties", "set"], 3).table
    release = Mondrian(k=3).sanitize(table)
    found = indiff.test_release(table, release, rows_in_order=True, targets=ASKED, model=model)
    assert found.test.records.tolist() == ORDER == found.linkage.records.tolist()
    whole = indiff.test_release(table, release, rows_in_order=True, model=model)
    assert found.test.distances == pytest.approx(whole.test.distances[ORDER], abs=1e-12)
    assert (found.shift.distances == whole.shift.distances[ORDER]).all()
    assert found.to_frame()["distance"].to_pylist() == found.test.distances.tolist()


def test_some_records_are_a_lower_bound_however_they_are_measured() -> None:
    table = make_sample(3, 12, ["ties"], 2).table
    options: dict[str, Any] = {"method": "sampled", "runs": 20, "jobs": 1}
    some = differential_test(table, Laplace(1.0), targets=[0], **options)
    assert some.exactness == "lower-bound"
    assert some.delta_interval is None
    plain = some.to_dict()
    assert plain["delta_lower"] == some.lower.max()
    assert "delta_upper" not in plain
    assert some.delta_upper == some.upper.max()  # what a limit is checked against
    everybody = differential_test(table, Laplace(1.0), **options)
    assert everybody.exactness == "estimate"
    assert everybody.delta_interval == (everybody.lower.max(), everybody.upper.max())
    both = differential_test(
        table, Laplace(1.0), model=["frequency", "naive-bayes"], targets=[0], **options
    )
    assert both.exactness == "lower-bound"
    assert both.delta_interval is None
