"""Hierarchies that are built from a column's values: they nest, hold every value, and count."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.hierarchy import Hierarchy
from indiff.data.hierarchy_builders import (
    PARTS,
    date_lines,
    interval_lines,
    mask_lines,
)
from indiff.data.table import read_table
from indiff.errors import UserError


def column(values: Sequence[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40))
def test_every_number_lies_in_each_interval_above_it(numbers: list[int]) -> None:
    for line in interval_lines(column(numbers), [5, 10, 40]):
        value, *above, root = line.split(";")
        assert root == "*"
        for label, width in zip(above, (5, 10, 40), strict=True):
            low, high = map(int, label.split(" to ") if " to " in label else label.split("-"))
            assert low <= int(value) <= high
            assert high - low + 1 == width
            assert low % width == 0
    Hierarchy.from_lines(interval_lines(column(numbers), [5, 10, 40]))  # every label has one parent


@given(st.lists(st.decimals(-1000, 1000, places=2).map(float), min_size=1, max_size=40))
def test_decimal_numbers_lie_between_the_ends(numbers: list[float]) -> None:
    lines = interval_lines(column(numbers), [0.5, 2])
    for line in lines:
        value, *above, _ = line.split(";")
        for label in above:
            if " to <" in label:
                low, high = map(float, label.split(" to <"))
                assert low <= float(value) < high
    Hierarchy.from_lines(lines)


@given(st.lists(st.dates(), min_size=1, max_size=40))
def test_every_day_lies_in_its_month_quarter_year_and_decade(days: list[datetime.date]) -> None:
    lines = date_lines(column(days))
    tree = Hierarchy.from_lines(lines)
    for day in days:
        decade = next(label for label in tree.labels if label == _decade(day))
        assert day.isoformat() in tree.values_below(decade)
        assert day.isoformat() in tree.values_below(f"{day.year:04}-{day.month:02}")
    assert all(len(line.split(";")) == 2 + len(PARTS) for line in lines)


def _decade(day: datetime.date) -> str:
    first = day.year - day.year % 10
    return f"{first:04}-{first + 9:04}"


def test_a_built_hierarchy_fits_its_own_column() -> None:
    days = [datetime.date(1976, 7, 4), None, datetime.date(1980, 1, 31)]
    frame = pa.table({"born": days, "height": [1.62, 2.0, 1.7], "ill": ["no", "yes", "no"]})
    trees = {
        "born": Hierarchy.from_lines(date_lines(frame["born"])),
        "height": Hierarchy.from_lines(interval_lines(frame["height"], [0.1, 1])),
    }
    table = read_table(frame, quasi=["born", "height"], sensitive="ill", hierarchies=trees)
    assert table.attribute("height").hierarchy is not None
    assert len(table) == 3


@pytest.mark.parametrize(
    "widths",
    [[], [5, 12], [10, 5], [0], [-5], [5, 5], [float("nan")], [5, float("inf")], [5, 1e300]],
)
def test_widths_that_do_not_nest_are_refused(widths: list[float]) -> None:
    with pytest.raises(UserError, match="each width must be a multiple of the one before"):
        interval_lines(column([1, 2]), widths)


def test_what_the_column_does_not_hold_is_refused() -> None:
    with pytest.raises(UserError, match="intervals are made of numbers"):
        interval_lines(column(["a"]), [5])
    with pytest.raises(UserError, match="read as something else") as refused:
        date_lines(column([19760704]))
    assert refused.value.field == "date_format"
    with pytest.raises(UserError, match="dates are put together by month"):
        date_lines(column([datetime.date(1976, 7, 4)]), ["week"])
    with pytest.raises(UserError, match="masked codes"):
        mask_lines(column(["a*"]))
    with pytest.raises(UserError, match="finite"):
        interval_lines(column([float("inf")]), [5])


@given(
    st.sets(st.integers(-1000, 1000), min_size=1, max_size=40),
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.integers(-20, 20),
)
def test_intervals_hold_their_numbers(values: set[int], factors: list[int], start: int) -> None:
    widths = [factors[0]]
    for factor in factors[1:]:
        widths.append(widths[-1] * (factor + 1))
    tree = Hierarchy.from_lines(interval_lines(column(sorted(values)), widths, start))
    assert {int(str(value)) for value in tree.values} == values
    for label in tree.labels:
        low, found, high = label.partition(" to ") if " to " in label else label.rpartition("-")
        if label == "*" or not found or not low or label in map(str, values):
            continue
        inside = {value for value in values if int(low) <= value <= int(high)}
        assert {int(str(value)) for value in tree.values_below(label)} == inside


@given(st.sets(st.text("0123456789AB", min_size=1, max_size=6), min_size=1, max_size=40))
def test_masks_keep_what_they_show(values: set[str]) -> None:
    tree = Hierarchy.from_lines(mask_lines(column(sorted(values))))
    assert set(tree.values) == values
    for label in tree.labels:
        if label == "*" or label in values:
            continue
        shown = label.rstrip("*")
        inside = {v for v in values if len(v) == len(label) and v.startswith(shown)}
        assert set(tree.values_below(label)) == inside


def test_codes_that_cannot_be_written_are_refused() -> None:
    for value in ("a;b", "a*", 'a"b', "", "x" * 41):
        with pytest.raises(UserError, match="masked codes"):
            mask_lines(column([value]))
