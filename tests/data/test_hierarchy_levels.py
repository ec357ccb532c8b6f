"""Levels of a hierarchy count the groups of records that hold their values."""

from __future__ import annotations

from indiff.data.hierarchy import Hierarchy
from indiff.data.hierarchy_levels import count_levels


def test_levels_count_the_groups_of_records_and_leave_out_what_nobody_holds() -> None:
    tree = Hierarchy.from_lines(["a;x;*", "b;x;*", "c;y;*", "d;z;*", "e;*"])
    levels = count_levels(tree, {"a": 5, "b": 1, "c": 2, "e": 4, "d": 0, "unknown": 9})
    assert [(one.groups, one.fewest, one.most) for one in levels] == [
        (4, 1, 5),
        (3, 2, 6),
        (1, 12, 12),
    ]
    assert [one.example for one in levels] == ["a", "x", "*"]
    assert count_levels(tree, {}) == []
