"""A hierarchy that is built as asked: its tree fits the table, its counts are right, it warns."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.data.hierarchy import Hierarchy

WAYS: dict[str, dict[str, Any]] = {
    "age": {"intervals": [5, 10]}, "born": {"dates": ["day", "month", "year"]},
    "code": {"prefixes": "icd10"}, "place": {"priorities": [3, 1]},
    "grade": {"groups": [2, 4], "order": ["low", "mid", "high"]}, "zip": {"mask": "right"},
}  # fmt: skip


def frame(records: int = 200) -> pa.Table:
    dice = random.Random(1)
    return pa.table(
        {
            "age": [dice.choice([None, *range(18, 80)]) for _ in range(records)],
            "born": [
                datetime.date(dice.randint(1940, 1999), dice.randint(1, 9), 11)
                for _ in range(records)
            ],
            "code": [dice.choice(["J45", "J45.0", "C50.1", "D50", "Z99"]) for _ in range(records)],
            "place": [dice.choice(["a;b", 'c"d', "e", "f", "g"]) for _ in range(records)],
            "grade": [dice.choice(["low", "mid", "high"]) for _ in range(records)],
            "zip": [f"0{dice.randint(1000, 1200)}" for _ in range(records)],
            "ill": [dice.choice("ny") for _ in range(records)],
        }
    )


@pytest.mark.parametrize("name", WAYS)
def test_a_file_and_a_tree_say_the_same_and_fit_the_table(name: str, tmp_path: Path) -> None:
    table = frame()
    built = indiff.build_hierarchy(table, name, **WAYS[name])
    built.write(tmp_path / "h.csv")
    assert Hierarchy.read(tmp_path / "h.csv").paths == Hierarchy.from_lines(built.lines).paths
    for tree in (built.tree, tmp_path / "h.csv"):
        read = indiff.read_table(
            table, quasi=[name], sensitive="ill", hierarchies={name: tree}, missing="split"
        )
        assert len(read) == len(table)
        assert indiff.Recoding(k=20, suppression=0.1).sanitize(read)
    held = [value for value in table[name].to_pylist() if value is not None]
    assert built.levels[0].groups == len(set(held))
    assert built.levels[0].merged_records == 0
    assert built.levels[-1].merged_records == len(held) == built.levels[-1].most
    merged = [level.merged_values for level in built.levels]
    assert merged == sorted(merged)


def test_the_preview_counts_what_a_level_merges() -> None:
    ages = {"age": [31, 31, 33, 47, 90]}
    built = indiff.build_hierarchy(pa.table(ages), "age", intervals=[10, 20])
    assert [(one.groups, one.merged_values, one.merged_records) for one in built.levels] == [
        (4, 0, 0),
        (3, 2, 3),  # 31 and 33, held by three
        (3, 2, 3),
        (1, 4, 5),
    ]


def test_widths_can_be_chosen_by_the_range() -> None:
    built = indiff.build_hierarchy(pa.table({"age": [17, 90]}), "age", intervals="auto")
    assert built.lines == ("17;15-19;10-19;0-19;0-39;*", "90;90-94;90-99;80-99;80-119;*")


def test_codes_whose_telling_part_stays_are_warned_of() -> None:
    codes = pa.table({"code": [f"{n:03}AAA" for n in range(50)]})
    (warning,) = indiff.build_hierarchy(codes, "code", mask="right").warnings
    assert "50 of 50 values still stand apart" in warning
    assert "from the left it would be 1" in warning
    assert indiff.build_hierarchy(codes, "code", mask="left").warnings == ()


def test_dates_that_are_text_are_known_for_what_they_are() -> None:
    days = pa.table({"born": ["01.02.1976", "03.04.1980"]})
    (warning,) = indiff.build_hierarchy(days, "born", mask="right").warnings
    assert "keeps the day and the month" in warning
    assert indiff.build_hierarchy(days, "born", mask="left").warnings == ()
