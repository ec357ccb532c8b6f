"""Every metric against its definition, record by record, on every engine."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff.data.hierarchy import Hierarchy
from indiff.risk import Risk, measure_risk
from indiff.risk.columns import ColumnsRisk
from tests.checker import Equal, Ordered, Tree
from tests.risk import oracle

TREE = Hierarchy.from_lines(
    ["flu;lung;*", "asthma;lung;*", "lung;*", "ulcer;stomach;belly;*", "HIV;*"]
)
ANCESTORS = {
    "flu": ("lung", "*"),
    "asthma": ("lung", "*"),
    "lung": ("*",),
    "ulcer": ("stomach", "belly", "*"),
    "HIV": ("*",),
}


def random_table(seed: int, rows: int = 60) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)

    def holes(values: list[Any]) -> list[Any]:
        return [None if rng.random() < 0.1 else value for value in values]

    return {
        "age": holes(rng.integers(20, 23, rows).tolist()),
        "zip": holes(rng.choice(["O'Brien", "", "b"], rows).tolist()),
        "petal length (cm)": [float(v) for v in rng.choice([0.0, -0.0, 1.5, math.nan], rows)],
        "income": (rng.integers(0, 6, rows) ** 2).tolist(),
        "disease": rng.choice(["flu", "asthma", "lung", "ulcer", "HIV"], rows).tolist(),
        "grade": holes(rng.choice(["low", "mid", "high"], rows).tolist()),
        "person": rng.integers(0, rows // 2, rows).tolist(),
    }


def compare(found: ColumnsRisk | Risk, data: dict[str, list[Any]], quasi: list[str]) -> None:
    rows = range(len(data["age"]))
    keys: list[Hashable] = [tuple(oracle.value(data[name][row]) for name in quasi) for row in rows]
    grounds: dict[str, Equal | Ordered | Tree] = {
        "income": Ordered(),
        "disease": Tree(ANCESTORS),
        "grade": Ordered(("low", "mid", "high", "\0missing")),
    }
    expected = oracle.information(keys, list(rows))
    expected["lambda_"] = None  # type: ignore[assignment]
    for name, number in expected.items():
        assert getattr(found.reidentification, name) == pytest.approx(number, abs=1e-12), name
    for sensitive, ground in grounds.items():
        xs = [oracle.value(x) for x in data[sensitive]]
        for name, number in oracle.information(keys, xs).items():
            got = getattr(found.inference[sensitive], name)
            assert got == pytest.approx(number, abs=1e-12), (sensitive, name)
        for name, number in oracle.models(keys, xs, ground).items():
            got = getattr(found.groups.sensitive[sensitive], name)
            assert got == pytest.approx(number, abs=1e-12), (sensitive, name)
    sizes = [counts.total() for counts in oracle.grouped(keys, keys)[0].values()]
    assert found.groups.k == min(sizes)
    assert found.groups.singled_out == sizes.count(1)
    assert found.groups.prosecutor == pytest.approx(1 / min(sizes))
    assert found.groups.marketer == pytest.approx(len(sizes) / len(keys), abs=1e-12)
    assert sum(size.groups for size in found.groups.sizes) == len(sizes)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_metric_is_its_definition(seed: int, engine: str) -> None:
    data = random_table(seed)
    quasi = ["age", "zip", "petal length (cm)"]
    risk = measure_risk(
        pa.table(data),
        quasi=quasi,
        sensitive=["income", "disease", "grade"],
        hierarchies={"disease": TREE},
        orders={"grade": ["low", "mid", "high"]},
        engine=engine,  # type: ignore[arg-type]
        details=seed == 1,
    )
    assert risk.method.engine == engine
    compare(risk, data, quasi)
    for name, alone in risk.columns.items():
        compare(alone, data, [name])


@pytest.mark.parametrize("counter", ["in-process", "duckdb"])
def test_numbering_the_texts_of_many_counts_changes_nothing(
    counter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indiff.engines.duckdb.MANY_COUNTS", 0)
    test_every_metric_is_its_definition(1, counter)


def test_what_is_nearly_known_is_less_than_a_bit() -> None:
    """Three of four in one group, three of four ill: H = log 4 − ¾ log 3, here of both."""
    frame = pa.table({"age": [1, 1, 1, 2], "ill": ["y", "n", "y", "y"]})
    found = measure_risk(frame, quasi="age", sensitive="ill")
    entropy = 2 - 0.75 * math.log2(3)
    assert found.reidentification.h_columns == pytest.approx(entropy)
    assert found.inference["ill"].h == pytest.approx(entropy)
