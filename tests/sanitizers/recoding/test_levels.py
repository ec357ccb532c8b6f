from __future__ import annotations

import datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa

from indiff import Hierarchy, Table, read_table
from indiff.data.table import Attribute
from indiff.release.release import write_regions
from indiff.sanitizers.recoding.levels import levels_of


def texts(attribute: Attribute) -> list[list[str]]:
    """Return how every value is written at each level."""
    return [
        write_regions([level.region(int(label)) for label in level.of], attribute)
        for level in levels_of(attribute)
    ]


def table(column: Any, **options: Any) -> Table:
    """Return a table with one quasi-identifier."""
    size = len(column)
    frame = pa.table({"q": column, "ill": (["n", "y"] * size)[:size]})
    return read_table(frame, quasi=["q"], sensitive="ill", missing="split", **options)


def test_whole_numbers_get_nested_intervals() -> None:
    ages = table([1, 10, 16, 17, 34, 80]).attributes[0]
    assert texts(ages) == [
        ["1", "10", "16", "17", "34", "80"],
        ["[0, 4]", "[10, 14]", "[15, 19]", "[15, 19]", "[30, 34]", "[80, 84]"],
        ["[0, 9]", "[10, 19]", "[10, 19]", "[10, 19]", "[30, 39]", "[80, 89]"],
        [*["[0, 19]"] * 4, "[20, 39]", "[80, 99]"],
        [*["[0, 39]"] * 5, "[80, 119]"],
        ["*"] * 6,
    ]


def test_a_level_that_merges_nothing_is_none() -> None:
    ages = table([17, 34, 35, 90]).attributes[0]  # of 5, 10, 20 and 40 years only two merge more
    assert [len(level) for level in levels_of(ages)] == [
        4,
        3,
        2,
        1,
    ]


def test_every_label_covers_its_values_and_levels_nest() -> None:
    columns: list[tuple[Any, dict[str, Any]]] = [
        ([-7, -1, 0, 3, 8, 55], {}),
        ([0.1, 0.25, 0.7, 1.5, None], {}),
        ([datetime.date(1999, 12, 31), datetime.date(2000, 1, 1), datetime.date(2003, 5, 6)], {}),
        (list("abcde"), {"orders": {"q": list("abcde")}}),
        (["x", "y", None], {}),
    ]
    for cells, options in columns:
        attribute = table(cells, **options).attributes[0]
        levels = levels_of(attribute)
        assert len(levels[-1]) == 1
        for below, above in pairwise(levels):
            assert len(above) < len(below)
            pairs = set(zip(below.of.tolist(), above.of.tolist(), strict=True))
            assert len(pairs) == len(below)
        for level in levels:
            for code, label in enumerate(level.of.tolist()):
                assert level.low[label] <= code <= level.high[label]
                value = attribute.values[code]
                missing = code == attribute.missing_code
                assert level.region(label).covers(None if missing else value)


def test_dates_get_the_parts_of_the_calendar() -> None:
    days = [datetime.date(1999, 12, 31), datetime.date(2000, 1, 1), datetime.date(2000, 2, 1)]
    shown = texts(table(days).attributes[0])
    assert [len(set(level)) for level in shown] == [3, 2, 1]


def test_a_ragged_hierarchy_goes_up_step_by_step() -> None:
    tree = Hierarchy.from_lines(["tango;dance;art;*", "poet;art;*", "law;*"])
    attribute = table(["tango", "poet", "law", None], hierarchies={"q": tree}).attributes[0]
    shown = dict(zip(attribute.values.tolist(), zip(*texts(attribute), strict=True), strict=True))
    assert shown["tango"] == ("tango", "dance", "art", "*")
    assert shown["poet"] == ("poet", "art", "*", "*")
    assert shown["law"] == ("law", "*", "*", "*")
    assert shown[None] == ("missing", "missing", "missing", "*")
    level = levels_of(attribute)[1]
    codes = {value: code for code, value in enumerate(attribute.values.tolist())}
    covering = {int(label) for label in level.covering[:, codes["tango"]] if label >= 0}
    assert {write_regions([level.region(one)], attribute)[0] for one in covering} == {
        "dance", "art", "*",
    }  # fmt: skip
