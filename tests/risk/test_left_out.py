"""Groups without each column in turn: the same as grouping again, at the cost of a few passes."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indiff.engines.protocol import connect
from indiff.risk import measure_risk
from indiff.risk.left_out import FEW_COLUMNS, without_each
from tests.risk import oracle


def table_of(seed: int, columns: int, rows: int, values: int) -> dict[str, list[Any]]:
    """Return columns of few values, some missing, where every second row has a near twin."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, values + 1, (rows, columns))
    for row in range(1, rows, 2):  # differs from the row before it in one column, or in none
        cells[row] = cells[row - 1]
        cells[row, rng.integers(columns)] = rng.integers(0, values + 1)
    texts = [[None if cell == values else f"v{cell}" for cell in row] for row in cells.tolist()]
    return {f"q{place}": [row[place] for row in texts] for place in range(columns)}


def parts(keys: list[Any], counts: list[int]) -> list[int]:
    """Return the sizes of the groups of equal keys, in order."""
    found: Counter[Any] = Counter()
    for key, count in zip(keys, counts, strict=True):
        found[key] += count
    return sorted(found.values())


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 20),
    rows=st.integers(1, 30),
    values=st.integers(1, 3),
)
def test_every_partition_is_that_of_the_other_columns(
    seed: int, columns: int, rows: int, values: int
) -> None:
    data = table_of(seed, columns, rows, values)
    names = list(data)
    engine = connect(pa.table(data), names, {"cells": range(columns)}, engine="duckdb")
    try:
        cells = engine.counts["cells"]
        counted = engine.query(f"SELECT * FROM {cells}")
        groups, seen = len(counted), []
        for position, found in without_each(engine, cells, range(columns), "n", groups):
            seen.append(position)
            sizes = [row[-1] for row in counted]
            expected = parts([row[:position] + row[position + 1 : -1] for row in counted], sizes)
            if found is None:
                assert expected == sorted(sizes)
            elif found.by:
                rows_of = f"SELECT CAST(SUM(n) AS BIGINT) FROM {found.table} GROUP BY {found.by}"
                assert sorted(count for (count,) in engine.query(rows_of)) == expected
        assert seen == list(range(columns))
    finally:
        engine.close()


@pytest.mark.parametrize("individual", [None, "who"])
@pytest.mark.parametrize("sensitive", [(), ("ill", "wage")])
@pytest.mark.parametrize("columns", [2, FEW_COLUMNS + 2])
def test_contributions_of_many_columns_are_those_of_the_definitions(
    engine: Any, columns: int, sensitive: tuple[str, ...], individual: str | None
) -> None:
    rows = 40
    data = table_of(columns, columns, rows, 1)
    quasi = list(data)
    rng = np.random.default_rng(7)
    data |= {
        "ill": [f"ill{code}" for code in rng.integers(0, 3, rows)],
        "wage": [f"wage{code}" for code in rng.integers(0, 4, rows)],
        "who": [f"person{row // 3}" for row in range(rows)],
    }
    risk = measure_risk(
        pa.table(data), quasi=quasi, sensitive=sensitive, individual=individual, engine=engine
    )
    assert [part.column for part in risk.contributions] == quasi
    whose = data["who"] if individual else list(range(rows))
    for part in risk.contributions:
        rest = [name for name in quasi if name != part.column]
        keys = [tuple(oracle.value(data[name][row]) for name in rest) for row in range(rows)]
        expected = oracle.information(keys, whose)
        assert part.without is not None
        assert part.without.columns == tuple(rest)
        assert part.without.dr == pytest.approx(expected["dr"], abs=1e-12)
        assert part.without.itpr == pytest.approx(expected["itpr"], abs=1e-12)
        assert part.added_dr == pytest.approx(risk.reidentification.dr - expected["dr"], abs=1e-12)
        people = [len({w for w, k in zip(whose, keys, strict=True) if k == key}) for key in keys]
        assert part.without.k == min(people)
        assert part.without.singled_out == people.count(1)
        assert part.without.marketer == pytest.approx(
            math.fsum(1 / size for size in people) / rows, abs=1e-12
        )
        for name in sensitive:
            inferred = oracle.information(keys, data[name])
            assert part.without.inference[name] == pytest.approx(inferred["itpr"], abs=1e-12)
            added = risk.inference[name].dr - inferred["dr"]
            assert part.added_inference_dr[name] == pytest.approx(added, abs=1e-12)


@pytest.mark.parametrize("columns", [64, 128])
def test_a_column_is_ranked_once_for_each_halving(columns: int) -> None:
    """With a twin for every column, no half can be left out: the worst case."""
    rows = np.zeros((columns + 1, columns), np.int64)
    rows[np.arange(columns), np.arange(columns)] = 1
    names = [f"q{place}" for place in range(columns)]
    data = pa.table(dict(zip(names, rows.T, strict=True)))
    engine = connect(data, names, {"cells": range(columns)}, engine="duckdb")
    keep, ranked = engine.keep, []

    def watch(sql: str) -> str:
        ranked.append(sql.split("ORDER BY")[1].count(","))
        return keep(sql)

    engine.keep = watch  # type: ignore[method-assign]
    found = dict(without_each(engine, engine.counts["cells"], range(columns), "n", columns + 1))
    engine.close()
    assert len(found) == columns
    assert all(found.values())
    assert sum(ranked) <= columns * math.log2(columns) + 2 * columns


def test_columns_that_tell_nobody_apart_are_not_looked_into() -> None:
    names = [f"q{place}" for place in range(32)]
    data = pa.table({name: list(range(10)) for name in names})
    engine = connect(data, names, {"cells": range(32)}, engine="duckdb")
    found = dict(without_each(engine, engine.counts["cells"], range(32), "n", 10))
    assert found == dict.fromkeys(range(32))
    assert not engine.query("SELECT 1 FROM duckdb_tables() WHERE table_name <> 't0' LIMIT 1")
    engine.close()
