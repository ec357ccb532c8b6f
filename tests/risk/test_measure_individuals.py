"""An individual with several rows is counted once where individuals are counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest

from indiff.risk import measure_risk
from tests.risk import oracle
from tests.risk.test_metrics_definitions import random_table


def test_repeats_are_counted_exactly(engine: Any) -> None:
    data = random_table(5)
    quasi = ["age", "zip"]
    risk = measure_risk(
        pa.table(data), quasi=quasi, sensitive="disease", individual="person", engine=engine
    )
    rows = range(len(data["age"]))
    for columns, found in [(quasi, risk), *(([name], risk.columns[name]) for name in quasi)]:
        keys = [tuple(oracle.value(data[name][row]) for name in columns) for row in rows]
        expected = oracle.information(keys, data["person"])
        expected["lambda_"] = None  # type: ignore[assignment]
        for name, number in expected.items():
            got = getattr(found.reidentification, name)  # type: ignore[attr-defined]
            assert got == pytest.approx(number, abs=1e-12), (columns, name)
        people: dict[Any, set[Any]] = defaultdict(set)
        for key, person in zip(keys, data["person"], strict=True):
            people[key].add(person)
        sizes = {key: len(members) for key, members in people.items()}
        assert found.groups.k == min(sizes.values())  # type: ignore[attr-defined]
        mean = sum(1 / sizes[key] for key in keys) / len(keys)
        assert found.groups.marketer == pytest.approx(mean, abs=1e-12)  # type: ignore[attr-defined]
    age = Counter(map(oracle.value, data["age"]))
    for level in risk.levels:
        if level.column == "age":
            assert level.records == age[oracle.value(level.value)]


def test_two_rows_of_one_person_do_not_hide_each_other(engine: Any) -> None:
    data = pa.table({"age": [30, 30, 40, 40], "who": ["a", "a", "b", "c"]})
    assert measure_risk(data, quasi="age", engine=engine, details=False).groups.k == 2
    risk = measure_risk(data, quasi="age", individual="who", engine=engine, details=False)
    assert (risk.groups.k, risk.groups.singled_out) == (1, 2)
    assert risk.reidentification.itpr == 1
