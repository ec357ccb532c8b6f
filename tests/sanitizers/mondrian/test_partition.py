"""Where Mondrian cuts: the widest attribute first, at an order statistic, both sides checked."""

from __future__ import annotations

from typing import Any

import pytest

from indiff import Hierarchy, Mondrian
from tests.sanitizers.mondrian.test_mondrian import rows_of, table_of, texts


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ([1, 2, 3, 4], [1, 2]),
        ([1, 2, 3, 4, 5], [1, 2]),  # the 2nd of 5
        ([1, 2, 3], [1]),
        ([1, 9], [1]),
        ([2, 2, 2, 7], [2, 2, 2]),  # ties go left together
        ([1, 1, 2, 2, 2, 2], [1, 1, 2, 2, 2, 2]),  # the cut is the largest value: no cut
        ([5, 5], [5, 5]),
    ],
)
def test_the_cut_is_an_order_statistic_and_never_an_average(
    values: list[int], left: list[int]
) -> None:
    release = Mondrian(k=max(1, min(len(left), len(values) - len(left)))).sanitize(
        table_of(x=values)
    )
    groups = rows_of(release)
    assert [values[row] for row in groups[0]] == left


def test_both_sides_are_checked() -> None:
    # The median cut leaves one record on the right: the papers' implementation publishes it.
    release = Mondrian(k=2).sanitize(table_of(x=[1, 2, 2, 3]))
    assert rows_of(release) == [[0, 1, 2, 3]]


def test_the_widest_attribute_is_cut_first_and_ties_go_to_the_first_listed() -> None:
    square: dict[str, Any] = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]}
    assert rows_of(Mondrian(k=2).sanitize(table_of(**square))) == [[0, 1], [2, 3]]
    swapped: dict[str, Any] = {"y": square["y"], "x": square["x"]}
    assert rows_of(Mondrian(k=2).sanitize(table_of(**swapped))) == [[0, 2], [1, 3]]


def test_width_is_relative_to_the_table_and_not_absolute() -> None:
    # Left of the first cut (x ≤ 3), x spans 3/103 of the table and y all of it: y is cut next.
    release = Mondrian(k=2).sanitize(
        table_of(x=[0, 1, 2, 3, 100, 101, 102, 103], y=[0, 9, 0, 9, 5, 5, 5, 5])
    )
    assert rows_of(release)[:2] == [[0, 2], [1, 3]]


def test_where_the_widest_cannot_be_cut_the_next_is_tried() -> None:
    release = Mondrian(k=2).sanitize(table_of(x=[0, 9, 9, 9], y=[1, 1, 2, 2]))
    assert rows_of(release) == [[0, 1], [2, 3]]


def test_a_hierarchy_is_cut_into_all_children_that_have_records() -> None:
    tree = Hierarchy.from_lines(["a1;a;*", "a2;a;*", "b1;b;*", "c1;c;*", "d1;d;*"])
    table = table_of(x=["a1", "a2", "b1", "b1", "d1", "d1"], hierarchies={"x": tree})
    release = Mondrian(k=2).sanitize(table)
    assert rows_of(release) == [[0, 1], [2, 3], [4, 5]]
    assert texts(release, "x") == ["a", "a", "b1", "b1", "d1", "d1"]  # tight: the group's own node
    boxes = Mondrian(k=2, regions="cut").sanitize(table)
    assert boxes.covers("x", "b1").tolist() == [False, False, True, True, False, False]
    assert not boxes.covers("x", "c1").any()  # no record below that child: no part


def test_one_small_child_forbids_the_cut() -> None:
    tree = Hierarchy.from_lines(["a;*", "b;*", "c;*"])
    table = table_of(x=["a", "a", "b", "b", "c"], hierarchies={"x": tree})
    assert rows_of(Mondrian(k=2).sanitize(table)) == [[0, 1, 2, 3, 4]]


def test_a_value_that_is_an_inner_node_is_a_part_of_its_own() -> None:
    tree = Hierarchy.from_lines(["Dancer;Artist;*", "Writer;Artist;*", "Artist;*", "Miner;*"])
    table = table_of(x=["Artist", "Artist", "Dancer", "Dancer"], hierarchies={"x": tree})
    release = Mondrian(k=2).sanitize(table)
    assert rows_of(release) == [[0, 1], [2, 3]]
    assert release.covers("x", "Artist").tolist() == [True, True, False, False]
    assert release.covers("x", "Dancer").tolist() == [False, False, True, True]


def test_ordinals_are_cut_in_their_declared_order() -> None:
    table = table_of(x=["low", "high", "mid", "top"], orders={"x": ["low", "mid", "high", "top"]})
    release = Mondrian(k=2).sanitize(table)
    assert rows_of(release) == [[0, 2], [1, 3]]


def test_more_nodes_than_expected_do_not_overflow() -> None:
    values = [f"v{row:03d}" for row in range(100)]
    tree = Hierarchy.from_lines([f"{value};n{row // 5};*" for row, value in enumerate(values)])
    table = table_of(x=values, hierarchies={"x": tree})
    assert len(rows_of(Mondrian(k=1).sanitize(table))) == 100
    assert len(rows_of(Mondrian(k=5).sanitize(table))) == 20
