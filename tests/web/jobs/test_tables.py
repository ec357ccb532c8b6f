"""Built hierarchies are hierarchies: they read back, cover every value, and nest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.hierarchy import Hierarchy
from indiff.errors import UserError
from indiff.web.jobs.tables import bands, masks


@given(
    st.sets(st.integers(-1000, 1000), min_size=1, max_size=40),
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.integers(-20, 20),
)
def test_bands_hold_their_numbers(values: set[int], factors: list[int], start: int) -> None:
    widths = [factors[0]]
    for factor in factors[1:]:
        widths.append(widths[-1] * (factor + 1))
    tree = Hierarchy.from_lines(bands(sorted(values), widths, start))
    assert {int(str(value)) for value in tree.values} == values
    for label in tree.labels:
        low, found, high = label.partition(" to ") if " to " in label else label.rpartition("-")
        if label == "*" or not found or not low or label in map(str, values):
            continue
        inside = {value for value in values if int(low) <= value <= int(high)}
        assert {int(str(value)) for value in tree.values_below(label)} == inside


def test_widths_must_nest() -> None:
    with pytest.raises(UserError, match="multiple of the one before"):
        bands([1], [5, 12])
    with pytest.raises(UserError, match="whole numbers"):
        bands([1.5], [5])


@given(st.sets(st.text("0123456789AB", min_size=1, max_size=6), min_size=1, max_size=40))
def test_masks_keep_what_they_show(values: set[str]) -> None:
    tree = Hierarchy.from_lines(masks(sorted(values)))
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
            masks([value])
