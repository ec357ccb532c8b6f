"""Columns and sets of columns: ARX's figures, a plain count, and no value anywhere."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.errors import UserError
from indiff.risk.identifying import columns as module
from indiff.risk.identifying import subsets
from indiff.risk.identifying.columns import _size, identifying_columns
from indiff.text import duration

NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip


def test_distinction_and_separation_as_arx_prints_them(needs_data: Path) -> None:
    """The 30,162 complete records of Adult; ARX prints doubles in full."""
    lines = (needs_data / "adult.data").read_text().splitlines()
    rows = [
        [cell.strip() for cell in line.split(",")] for line in lines if line and "?" not in line
    ]
    cells = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    with (needs_data / "arx" / "attribute_risk.csv").open() as printed:
        for row in csv.DictReader(printed):
            names = row["columns"].split("|")
            frame = pa.table({name: pa.array(cells[name], pa.string()) for name in names})
            found = identifying_columns(frame, share=1, size=len(names))
            sets = {one.columns: one for one in found.most_telling}
            whole = sets[tuple(names)]
            assert whole.distinction == float(row["alpha_distinction"]), names
            assert whole.separation == pytest.approx(float(row["alpha_separation"]), rel=1e-15)
            if len(names) == 1:
                assert found.columns[0].distinction == whole.distinction


def plain_count(cells: list[list[int]], members: tuple[int, ...]) -> int:
    keys = [tuple(cells[one][row] for one in members) for row in range(len(cells[0]))]
    return sum(keys.count(key) == 1 for key in keys)


def test_minimal_sets_are_those_of_a_plain_search() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        records, width = int(rng.integers(1, 25)), int(rng.integers(1, 6))
        cells = [rng.integers(0, rng.integers(1, 9), records).tolist() for _ in range(width)]
        share, size = float(rng.choice([0.2, 0.5, 1.0])), int(rng.integers(1, 5))
        minimal: list[tuple[int, ...]] = []
        for members in (m for w in range(1, size + 1) for m in combinations(range(width), w)):
            around = any(set(one) <= set(members) for one in minimal)
            if not around and plain_count(cells, members) >= share * records:
                minimal.append(members)
        frame = pa.table({f"c{place}": one for place, one in enumerate(cells)})
        found = identifying_columns(frame, share=share, size=size)
        assert {one.columns for one in found.telling} == {
            tuple(f"c{place}" for place in members) for members in minimal
        }
        for one in (*found.telling, *found.most_telling):
            members = tuple(int(name[1:]) for name in one.columns)
            assert one.singled_out == plain_count(cells, members)
        for place, column in enumerate(found.columns):
            assert column.singled_out == plain_count(cells, (place,))


def test_every_column_has_its_role_and_its_evidence_and_no_value() -> None:
    count = 40
    frame = pa.table({
        "contact": [f"zz{row}@example.org" for row in range(count)],
        "age": [20 + row % 7 for row in range(count)],
        "remark": ["call 0228 1234567", *(f"qq{row % 9}" for row in range(1, count))],
        "ill": [("xxflu", "xxcold")[row % 2] for row in range(count)],
    })  # fmt: skip
    found = identifying_columns(frame)
    by_name = {one.column: one for one in found.columns}
    assert by_name["contact"].role == "identifier"
    assert by_name["contact"].reason == "40 of 40 cells: e-mail addresses"
    assert by_name["remark"].role == "other"
    assert by_name["remark"].reason == "1 of 40 cells: telephone numbers: READ IT"
    assert by_name["age"].evidence == ()
    text = found.to_json() + found._repr_html_()
    assert not any(value in text for value in ("zz1", "qq1", "xxflu", "1234567"))
    assert json.loads(found.to_json())["kind"] == "columns"


def test_the_roles_are_those_of_a_first_plan() -> None:
    demo = indiff.datasets.demo()
    from indiff.risk.identifying.roles import guess_roles

    found = {one.column: (one.role, one.reason) for one in identifying_columns(demo).columns}
    assert found == {one.column: (one.role, one.reason) for one in guess_roles(demo)}


def test_fewer_columns_at_a_time_where_three_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = pa.table({f"c{place}": [1, 1, 2] for place in range(5)})
    assert identifying_columns(frame).size == 3
    monkeypatch.setattr(module, "QUICK", 3 * 15)
    found = identifying_columns(frame)
    assert found.size == 2
    assert "sets of up to 2 columns were looked at; all 25 sets of up to 3" in found.notes[-1]
    assert identifying_columns(frame, size=3).size == 3


def test_how_many_columns_at_a_time() -> None:
    assert _size(3, 62, None) == (3, [])
    assert _size(3, 63, None)[0] == 1
    assert _size(3, 2, None) == (2, [])
    assert _size(3, 5, 9) == (5, [])
    assert _size(2_000_000_000 // 25, 5, None) == (3, [])
    assert _size(666_666_666, 2, None) == (2, [])  # 3 sets: twenty seconds at 10 ns each
    assert _size(666_666_667, 2, None)[0] == 1
    size, (note,) = _size(10**9, 5, None)  # 5, 15 and 25 sets of 10⁹ records, at 10 ns each
    assert size == 1
    assert note.endswith(f"all 15 sets of up to 2 would take {duration(150)} or longer")


def test_a_table_of_more_columns_than_a_set_can_have() -> None:
    wide = pa.table({f"c{place}": [1, 2, 2] for place in range(80)})
    found = identifying_columns(wide)
    assert len(found.columns) == 80
    assert (found.size, found.columns[0].singled_out) == (1, 1)
    assert "each column was looked at alone" in found.notes[-1]
    with pytest.raises(UserError, match="at most 62 columns"):
        identifying_columns(wide, size=2)


def test_one_record_and_constant_columns() -> None:
    found = identifying_columns(pa.table({"a": [1], "b": ["x"]}))
    assert [one.columns for one in found.telling] == [("a",), ("b",)]
    assert found.telling[0].separation == 1
    same = identifying_columns(pa.table({"a": [1, 1], "b": ["x", "x"]}))
    assert same.telling == ()
    assert same.most_telling[0].separation == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"share": 0.0}, "share is above 0 and at most 1; got 0"),
        ({"share": 1.5}, "got 1.5"),
        ({"size": 0}, "at least 1 column; got 0"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        identifying_columns(pa.table({"a": [1, 2]}), **asked)


def test_each_column_is_looked_at_once() -> None:
    """Alone, a tells everybody apart, b two of four, and c nobody."""
    frame = pa.table({"a": [1, 2, 3, 4], "b": [1, 2, 3, 3], "c": [5, 5, 5, 5]})
    found = identifying_columns(frame, share=0.5, size=1)
    assert [(one.columns, one.singled_out) for one in found.telling] == [(("a",), 4), (("b",), 2)]


def test_sets_are_counted_one_by_one_and_need_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What bounds the memory of special uniques is no reason to refuse."""
    monkeypatch.setattr(subsets, "MOST_BITS", 1)
    frame = pa.table({"a": [1, 2, 3, 4], "b": [1, 2, 3, 3]})
    assert identifying_columns(frame, share=1, size=2).size == 2
