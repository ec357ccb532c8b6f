"""How coarse each column of a release is, on tables small enough to be counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import indiff
from indiff.audit.findings.columns import released_columns


def seen(sanitizer: Any, frame: pa.Table) -> dict[str, Any]:
    table = indiff.read_table(frame, identifier="who", quasi=["age", "sex"], sensitive="ill")
    return {one["name"]: one for one in released_columns([sanitizer.sanitize(table)], table)}


PEOPLE = pa.table(
    {
        "who": list("abcdef"),
        "age": [1, 2, 3, 11, 12, 13],
        "sex": list("ffffff"),
        "ill": list("ynynyn"),
    }
)


def test_two_groups_of_three_ages_each() -> None:
    found = seen(indiff.Mondrian(k=3), PEOPLE)
    assert found["age"]["how"] == "coarser"
    assert found["age"]["seen"] == {
        "values": 6, "released": 2, "typical": 3, "exact": 0.0, "suppressed": 0.0,
    }  # fmt: skip
    assert found["sex"]["how"] == "unchanged"
    assert found["sex"]["seen"]["exact"] == 1.0
    assert found["sex"]["seen"]["suppressed"] == 0.0  # its one value is no star
    assert (found["ill"]["how"], found["ill"]["seen"]) == ("unchanged", None)
    assert (found["who"]["how"], found["who"]["seen"]) == ("left out", None)


def test_of_two_in_the_middle_the_finer_is_typical() -> None:
    """Two rows show their value, two stand for three values each."""
    frame = pa.table({"age": [1, 2, 3, 4, 5], "ill": list("ynyny")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    shown = pa.table({"age": ["1", "2", "[3, 5]", "[3, 5]"], "ill": list("ynyn")})
    made = indiff.read_release(shown, table)
    (age, *_) = released_columns([made], table)
    assert age["seen"] == {
        "values": 5, "released": 3, "typical": 1, "exact": 0.5, "suppressed": 0.0,
    }  # fmt: skip
    assert age["how"] == "coarser"  # since not every row shows its value


def test_the_one_in_the_middle_is_typical() -> None:
    """Three rows that stand for one, two and four values."""
    frame = pa.table({"age": [1, 2, 3, 4, 5], "ill": list("ynyny")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    shown = pa.table({"age": ["1", "[2, 3]", "[2, 5]"], "ill": list("yny")})
    (age, *_) = released_columns([indiff.read_release(shown, table)], table)
    assert age["seen"]["typical"] == 2


def test_a_range_that_holds_one_value_of_the_table_does_not_show_it() -> None:
    frame = pa.table({"age": [1, 2, 8, 9], "ill": list("ynyn")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    shown = pa.table({"age": ["[0, 1]", "2", "8", "9"], "ill": list("ynyn")})
    (age, *_) = released_columns([indiff.read_release(shown, table)], table)
    assert (age["seen"]["typical"], age["seen"]["exact"]) == (1, 0.75)
    assert age["how"] == "coarser"


def test_noisy_counts_have_no_cells_to_look_at() -> None:
    table = indiff.read_table(PEOPLE, identifier="who", quasi=["age", "sex"], sensitive="ill")
    made = indiff.Laplace(epsilon=1).sanitize(table, np.random.default_rng(0))
    assert {one["seen"] for one in released_columns([made], table)} == {None}


def test_one_row_is_all_of_them() -> None:
    found = seen(indiff.Identity(), PEOPLE.slice(0, 1))
    assert found["age"]["seen"]["exact"] == 1.0
    assert found["age"]["how"] == "unchanged"


def test_stars_are_suppressed_cells() -> None:
    found = seen(indiff.Suppress(), PEOPLE)
    assert found["age"]["seen"]["suppressed"] == 1.0
    assert (found["age"]["seen"]["released"], found["age"]["seen"]["typical"]) == (1, 6)


def test_without_a_release_everything_is_left_out() -> None:
    table = indiff.read_table(PEOPLE, identifier="who", quasi=["age", "sex"], sensitive="ill")
    assert {one["how"] for one in released_columns([], table)} == {"left out"}


def test_each_of_several_sensitive_attributes_is_published() -> None:
    frame = PEOPLE.append_column("poor", pa.array(list("nnynny")))
    table = indiff.read_table(
        frame, identifier="who", quasi=["age", "sex"], sensitive=["ill", "poor"]
    )
    made = [indiff.Mondrian(k=3).sanitize(table.focus(name)) for name in ("ill", "poor")]
    found = {one["name"]: one["how"] for one in released_columns(made, table)}
    assert (found["ill"], found["poor"], found["who"]) == ("unchanged", "unchanged", "left out")


def test_a_sensitive_attribute_in_bins_is_coarser() -> None:
    frame = pa.table({"age": [20, 30, 40, 50], "cost": [1.0, 2.0, 3.0, 4.0]})
    for bins, how in ((2, "coarser"), (None, "unchanged")):
        table = indiff.read_table(frame, quasi=["age"], sensitive="cost", bins=bins)
        release = indiff.Mondrian(k=2).sanitize(table)
        (cost,) = (one for one in released_columns([release], table) if one["name"] == "cost")
        assert cost["how"] == how


def test_each_of_two_sensitive_columns_taken_together_is_released() -> None:
    frame = pa.table({"age": [1, 2, 3, 4], "ill": list("ynyn"), "poor": list("nnyy")})
    table = indiff.read_table(frame, quasi=["age"], sensitive=["ill", "poor"], joint=True)
    found = released_columns([indiff.Mondrian(k=2).sanitize(table)], table)
    assert {one["name"]: one["how"] for one in found} == {
        "age": "coarser", "ill": "unchanged", "poor": "unchanged",
    }  # fmt: skip


def test_a_column_that_nobody_looks_at_is_said_to_be_unmeasured() -> None:
    frame = pa.table({"age": [1, 2, 3, 4], "ill": list("ynyn")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    shown = frame.append_column("pay", pa.array([5, 6, 7, 8]))
    found = released_columns([indiff.read_release(shown, table)], table)
    assert {one["name"]: one["how"] for one in found} == {
        "age": "unchanged", "ill": "unchanged", "pay": "unmeasured",
    }  # fmt: skip


def test_a_star_that_stands_for_two_values_hides_both() -> None:
    frame = pa.table({"sex": list("fmfm"), "ill": list("ynyn")})
    table = indiff.read_table(frame, quasi=["sex"], sensitive="ill")
    (sex, *_) = released_columns([indiff.Suppress().sanitize(table)], table)
    assert sex["seen"] == {
        "values": 2, "released": 1, "typical": 2, "exact": 0.0, "suppressed": 1.0,
    }  # fmt: skip
