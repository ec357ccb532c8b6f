"""Codes: every row's place among the values, whatever the column holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.coding import code_attribute, code_sensitive
from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind


def column(cells: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """Two chunks, as files often give."""
    half = len(cells) // 2
    return pa.chunked_array([pa.array(cells[:half], kind), pa.array(cells[half:], kind)])


def rows(coded: dict[str, Any]) -> list[Any]:
    return [
        None if value is None or value != value else value
        for value in np.asarray(coded["values"], object)[coded["codes"]].tolist()
    ]


NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6, allow_nan=False))
TEXTS = st.one_of(st.none(), st.text(max_size=4))


@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_numbers_ascend_and_missing_comes_last(cells: list[float | None]) -> None:
    coded = code_attribute("x", column(cells, pa.float64()), None, None, None)
    assert coded["kind"] == Kind.NUMERIC
    assert rows(coded) == cells
    held = coded["values"][: len(coded["values"]) - coded["has_missing"]]
    assert (np.diff(held) > 0).all()
    assert coded["has_missing"] == (None in cells)


@given(st.lists(TEXTS, min_size=1, max_size=30))
def test_texts_are_sorted_and_missing_comes_last(cells: list[str | None]) -> None:
    coded = code_attribute("x", column(cells, pa.string()), None, None, None)
    assert rows(coded) == cells
    held = [value for value in coded["values"].tolist() if value is not None]
    assert held == sorted({cell for cell in cells if cell is not None})
    sensitive = code_sensitive("x", column(cells, pa.string()), None, None, None, None)
    assert rows(sensitive) == cells


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=20))
def test_the_order_of_a_hierarchy(cells: list[str | None]) -> None:
    tree = Hierarchy.from_lines(["c;x;*", "a;x;*", "b;*", "z;*"])
    coded = code_attribute("x", column(cells, pa.string()), None, None, tree)
    assert rows(coded) == cells
    assert [v for v in coded["values"].tolist() if v is not None] == list(tree.values)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.integers(2, 5))
def test_bins_partition_the_numbers_in_order(cells: list[int], bins: int) -> None:
    coded = code_sensitive("x", column(cells, pa.int64()), None, None, None, bins)
    assert coded["kind"] == Kind.ORDINAL
    assert len(coded["values"]) <= bins
    place = dict(zip(cells, coded["codes"].tolist(), strict=True))
    ordered = [place[number] for number in sorted(place)]
    assert ordered == sorted(ordered)
    assert set(ordered) == set(range(len(coded["values"])))


def test_a_declared_value_that_nobody_holds_is_no_sensitive_value() -> None:
    coded = code_sensitive("x", column(["b", "a"], pa.string()), None, ["c", "b", "a"], None, None)
    assert coded["values"] == ("b", "a")
    assert coded["codes"].tolist() == [0, 1]
