"""Mondrian: its rules by hand, its promises by an independent checker, its groups by a rewrite."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Hierarchy, Mondrian, Release, Table, UserError, read_table
from indiff.sanitizers.sanitizer import as_sanitizer
from tests import checker
from tests.properties.random_tables import (
    Sample,
    bernoulli,
    encode,
    make_sample,
    samples,
    sanitizers,
)


def table_of(sensitive: str | list[str] = "s", **columns: Any) -> Table:
    options = {name: columns.pop(name) for name in ("orders", "hierarchies") if name in columns}
    size = len(next(iter(columns.values())))
    values = list(sensitive) if len(sensitive) == size else [f"v{row % 2}" for row in range(size)]
    return read_table(
        pa.table({**columns, "sensitive": values}),
        quasi=list(columns),
        sensitive="sensitive",
        **options,
    )


def rows_of(release: Release) -> list[list[int]]:
    groups = release.groups
    assert groups is not None
    return sorted(np.flatnonzero(groups == group).tolist() for group in set(groups.tolist()))


def texts(release: Release, name: str) -> list[str]:
    return release.to_arrow()[name].to_pylist()


# ── the rules by hand ────────────────────────────────────────────────────────────────────────


def test_tight_sets_hold_the_groups_own_values_and_cut_sets_all_between_the_cuts() -> None:
    table = table_of(y=[0, 0, 9, 0, 0, 9], x=["a", "c", "b", "d", "f", "e"])
    tight = Mondrian(k=2).sanitize(table)
    assert rows_of(tight) == [[0, 1], [2, 5], [3, 4]]
    assert texts(tight, "x") == ["{a, c}", "{a, c}", "{b, e}", "{d, f}", "{d, f}", "{b, e}"]
    cut = Mondrian(k=2, regions="cut").sanitize(table)
    assert cut.covers("x", "b")[0]


def test_a_tight_ordinal_region_runs_from_lowest_to_highest() -> None:
    table = table_of(x=["a", "c", "a", "c"], orders={"x": ["a", "b", "c", "d"]})
    release = Mondrian(k=4).sanitize(table)
    assert release.covers("x", "b").all()  # between them, though nobody holds it
    assert not release.covers("x", "d").any()


# ── against the rewrite ──────────────────────────────────────────────────────────────────────


def compare(sample: Sample, sanitizer: Mondrian) -> None:
    """The same groups and the same regions as the plain implementation, and every promise kept."""
    table = sample.table
    release = sanitizer.sanitize(table)
    groups = sample.reference(sanitizer, list(range(len(table))))
    assert release.constraint_met == (groups is not None)
    assert release.groups is not None
    if groups is None:
        assert set(release.groups.tolist()) == {0}
        assert all(text == "*" for c in release.columns for text in c.texts)
        return
    assert rows_of(release) == sorted(sorted(group.rows) for group in groups)
    for group in groups:
        for place, column in enumerate(release.columns):
            row = group.rows[0]
            mine = [
                bool(column.covering(code)[row]) for code in range(len(column.attribute.values))
            ]
            values = [
                None if value is None or value != value else value
                for value in column.attribute.values.tolist()
            ]
            assert mine == [bool(group.covers[place](value)) for value in values]
            region = column.regions[column.index[row]]
            assert mine == [region.covers(value) for value in values]
            assert not checker.uncovered(
                (sample.columns[place].cells[member], region.covers) for member in group.rows
            )
    assert not checker.violations(
        release.groups.tolist(),
        sample.sensitive,
        k=sanitizer.k,
        l=sanitizer.l,
        distinct_l=sanitizer.distinct_l,
        entropy_l=sanitizer.entropy_l,
        recursive=sanitizer.recursive,
        t=sanitizer.t,
        ground=sample.ground if sanitizer.t is not None else None,
    )
    assert not checker.lost_or_invented(sample.sensitive, release.sensitive.tolist())


@given(samples(), sanitizers())
def test_groups_regions_and_promises(sample: Sample, sanitizer: Mondrian) -> None:
    compare(sample, sanitizer)


@pytest.mark.long
@given(samples(most=200, attributes=6), sanitizers())
def test_groups_regions_and_promises_at_length(sample: Sample, sanitizer: Mondrian) -> None:
    compare(sample, sanitizer)


@given(samples(), sanitizers(), st.integers(0, 2**32))
def test_the_order_of_the_rows_does_not_matter(
    sample: Sample, sanitizer: Mondrian, seed: int
) -> None:
    order = list(range(len(sample.table)))
    random.Random(seed).shuffle(order)
    straight = sanitizer.sanitize(sample.table)
    shuffled = sanitizer.sanitize(sample.table.take(order))
    assert straight.to_arrow().take(pa.array(order)).equals(shuffled.to_arrow())
    assert straight.groups is not None
    assert shuffled.groups is not None
    assert len(set(straight.groups.tolist())) == len(set(shuffled.groups.tolist()))


@given(samples(most=30), st.integers(1, 5))
def test_fewer_records_than_twice_k_stay_together(sample: Sample, k: int) -> None:
    table = sample.table.take(list(range(min(len(sample.table), 2 * k - 1))))
    if any(attribute.has_missing for attribute in table.attributes):
        return
    release = Mondrian(k=k, unmet="generalize").sanitize(table)
    assert release.groups is not None
    assert set(release.groups.tolist()) == {0}


def test_a_hierarchical_sensitive_attribute_gives_t_its_ground_distance() -> None:
    lines = ["flu;lung;*", "cold;lung;*", "ulcer;gut;*", "gastritis;gut;*"]
    ancestors = {line.split(";")[0]: tuple(line.split(";")[1:]) for line in lines}
    dice = random.Random(3)
    sensitive = [dice.choice(list(ancestors)) for _ in range(60)]
    table = read_table(
        pa.table({"x": [dice.random() for _ in sensitive], "s": sensitive}),
        quasi=["x"],
        sensitive="s",
        hierarchies={"s": Hierarchy.from_lines(lines)},
    )
    sizes = set()
    for t in (0.05, 0.1, 0.2, 0.3, 0.4):
        release = Mondrian(t=t).sanitize(table)
        assert release.groups is not None
        groups = release.groups.tolist()
        assert not checker.violations(groups, sensitive, t=t, ground=checker.Tree(ancestors))
        sizes.add(len(set(groups)))
    assert len(sizes) > 1


def test_the_way_out_names_the_largest_l() -> None:
    """Of 10 people 6 have flu: more than half of any one group, so no ℓ above 1 can be had."""

    def refused(ill: list[str], l: int) -> str:  # noqa: E741 - the literature's name
        frame = pa.table({"age": list(range(len(ill))), "ill": ill})
        table = read_table(frame, quasi=["age"], sensitive="ill")
        with pytest.raises(UserError) as caught:
            Mondrian(l=l).sanitize(table)
        return str(caught.value)

    assert "No l above 1 is possible here" in refused(["flu"] * 6 + ["cold"] * 4, 2)
    assert "Lower l, which is at most 2 here" in refused(["flu"] * 5 + ["cold"] * 5, 3)


# ── constraints that cannot be met ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sanitizer", "text"),
    [
        (
            Mondrian(k=20),
            r"k must be at least 1 and at most the number of records \(4\); got 20\. Lower k\.",
        ),
        (Mondrian(l=3), r"l=3 cannot be met: the whole table has only 2 distinct values of"),
        (Mondrian(distinct_l=3), r"distinct_l=3 cannot be met: the whole table has only 2"),
        (Mondrian(entropy_l=2.5), r"entropy_l=2.5 cannot be met: the whole table has only 2"),
        (
            Mondrian(l=2),
            r"l=2 cannot be met even by the whole table as one group: the sensitive value 'flu' is "
            r"held by 75\.0% of its 4 records",
        ),
        (Mondrian(entropy_l=2), r"entropy_l=2 cannot be met even by the whole table"),
        (Mondrian(recursive=(3.0, 2)), r"recursive=3.0/2 cannot be met even by the whole table"),
    ],
)
def test_what_cannot_be_met_is_said(sanitizer: Mondrian, text: str) -> None:
    table = table_of(["flu", "flu", "flu", "cold"], x=[1, 2, 3, 4])
    with pytest.raises(UserError, match=text):
        sanitizer.sanitize(table)
    generalizing = Mondrian(
        **{
            name: getattr(sanitizer, name)
            for name in ("k", "l", "distinct_l", "entropy_l", "recursive")
        },
        unmet="generalize",
    )
    release = generalizing.sanitize(table)
    assert not release.constraint_met
    assert texts(release, "x") == ["*"] * 4
    assert release.covers("x", 1e9).all()


def test_a_part_of_missing_values_must_meet_the_constraints_too() -> None:
    table = read_table(
        pa.table({"x": [1, 2, 3, 4, None], "s": list("ababa")}),
        quasi=["x"],
        sensitive="s",
        missing="split",
    )
    with pytest.raises(
        UserError, match=r"k=2 cannot be met: a part with missing values has only 1 records?\."
    ):
        Mondrian(k=2).sanitize(table)
    release = Mondrian(k=1).sanitize(table)
    assert texts(release, "x")[4] == "missing"
    assert release.covers("x", None).tolist() == [False] * 4 + [True]


def test_where_a_number_is_missing_it_has_no_width_and_the_widest_is_still_first() -> None:
    table = read_table(
        pa.table(
            {
                "p": [0, 1, 0, 1, 0, 10, 5, 6],
                "x": [None, None, None, None, 1, 2, 3, 4],
                "y": [0, 0, 9, 9, 1, 2, 3, 4],
                "s": list("uvuvuvuv"),
            }
        ),
        quasi=["p", "x", "y"],
        sensitive="s",
        missing="split",
    )
    # Among the first four, p spans 1/10 of the table and y all of it.
    assert [0, 1] in rows_of(Mondrian(k=2).sanitize(table))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"k": 0}, r"k must be a whole number of at least 1; got 0"),
        ({"k": 2.5}, r"k must be a whole number of at least 1; got 2\.5"),
        ({"k": True}, r"k must be a whole number of at least 1; got True"),
        ({"l": 0}, r"l must be a whole number of at least 1; got 0"),
        ({"entropy_l": 0.5}, r"entropy_l must be a number of at least 1; got 0\.5"),
        ({"t": 1.5}, r"t must be a number from 0 to 1; got 1\.5"),
        ({"t": float("nan")}, r"t must be a number from 0 to 1; got nan"),
        ({"recursive": 3}, r"recursive must be a pair \(c, l\) such as \(3, 2\); got 3"),
        ({"recursive": (0, 2)}, r"recursive=\(c, l\) needs a positive number c"),
        ({"regions": "loose"}, r"regions must be 'tight' or 'cut'; got 'loose'"),
        ({"unmet": "skip"}, r"unmet must be 'error' or 'generalize'; got 'skip'"),
    ],
)
def test_limits_that_make_no_sense(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        Mondrian(**options)


@given(sanitizers(unmet="error"))
def test_a_sanitizer_is_written_as_it_is_read(sanitizer: Mondrian) -> None:
    again = as_sanitizer(str(sanitizer))
    assert isinstance(again, Mondrian)
    assert again == sanitizer


def test_the_encoding_of_the_rewrite_is_the_papers() -> None:
    sample = make_sample(1, 12, ["ties", "set"], 3)
    sanitizer = Mondrian(k=3)
    rows = list(range(12))
    features = encode(sample.reference(sanitizer, rows), sample, rows, 4)
    assert features[4].tolist() == [1, 1]
    belief = bernoulli(features, sample.sensitive, sample.table.sensitive.values)
    assert belief.sum() == pytest.approx(1)
    assert all(low <= high for low, high in pairwise([0.0, *np.cumsum(belief)]))


def test_sets_are_the_same_whether_cells_are_marked_or_sorted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(3)
    rows = {"town": [f"t{rng.randrange(9)}" for _ in range(80)],
            "job": [f"j{rng.randrange(30)}" for _ in range(80)],
            "ill": [rng.choice("yn") for _ in range(80)]}  # fmt: skip
    table = read_table(pa.table(rows), quasi=["town", "job"], sensitive="ill")
    marked = Mondrian(k=3).sanitize(table)
    monkeypatch.setattr("indiff.sanitizers.mondrian.mondrian.MOST_CELLS_PER_ROW", 0)
    sorted_ones = Mondrian(k=3).sanitize(table)
    assert marked.to_arrow().equals(sorted_ones.to_arrow())
    for one, other in zip(marked.columns, sorted_ones.columns, strict=True):
        for name in ("span_region", "span_low", "span_high"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
            assert getattr(one, name).dtype == getattr(other, name).dtype


def test_records_that_lack_different_numbers_are_apart_however_many_columns_there_are() -> None:
    names = [f"q{place}" for place in range(70)]
    columns = {name: pa.array([1, 2, 3, 4, 5, 6], pa.int64()) for name in names}
    columns["q0"] = pa.array([None, None, 3, 4, 5, 6], pa.int64())
    columns["q69"] = pa.array([1, 2, None, None, 5, 6], pa.int64())
    for name in names[1:69]:
        columns[name] = pa.array([1, 2, 3, 4, 5, None], pa.int64())
    table = read_table(
        pa.table({**columns, "s": list("ababab")}), quasi=names, sensitive="s", missing="split"
    )
    release = Mondrian(k=1).sanitize(table)
    assert release.covers("q0", None).tolist() == [True, True] + [False] * 4
    assert release.covers("q69", None).tolist() == [False] * 2 + [True, True] + [False] * 2
    assert release.covers("q1", None).tolist() == [False] * 5 + [True]
