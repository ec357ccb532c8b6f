"""Regions: coverage against brute force, text against the list of forms, and both ways back."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import UserError
from indiff.release.regions import (
    Anything,
    Coverage,
    Interval,
    Mask,
    Missing,
    Node,
    Region,
    UnreadableRegion,
    Value,
    ValueSet,
    node_region,
)
from indiff.release.release import notation_of


def a_column(
    values: NDArray[Any], kind: Kind, is_date: bool = False, hierarchy: Hierarchy | None = None
) -> Attribute:
    return Attribute("column", kind, values, np.empty(0, np.int32), is_date, hierarchy)


def covered(region: Region, column: Attribute) -> NDArray[np.bool_]:
    return Coverage(column).of(region)


def read_region(text: str | None, column: Attribute) -> Region:
    return notation_of(column).read(text)


def write_region(region: Region, column: Attribute) -> str:
    return notation_of(column).write(region)


def read_or_refuse(text: str, column: Attribute) -> tuple[Region | None, str]:
    try:
        return read_region(text, column), ""
    except UnreadableRegion as error:
        return None, str(error)


def numbers(*values: float) -> Attribute:
    return a_column(np.array(values), Kind.NUMERIC)


def dates(*values: str) -> Attribute:
    return a_column(np.array(values, "datetime64[D]").astype(np.int64), Kind.NUMERIC, is_date=True)


def texts(*values: str | None, kind: Kind = Kind.CATEGORICAL) -> Attribute:
    array = np.empty(len(values), object)
    array[:] = values
    return a_column(array, kind)


def tree(*lines: str, missing: bool = False) -> Attribute:
    hierarchy = Hierarchy.from_lines(lines)
    if missing:
        hierarchy = hierarchy.with_missing()
    return a_column(texts(*hierarchy.values).values, Kind.CATEGORICAL, hierarchy=hierarchy)


def a_set(*values: Value) -> ValueSet:
    return ValueSet(frozenset(values))


def days(text: str) -> int:
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


AGE = numbers(19.0, 20.0, 30.5, 40.0, 45.0, 47.0)
AGE_WITH_GAPS = numbers(19.0, 40.0, math.nan)
VISIT = dates("2019-12-31", "2020-01-01", "2020-01-15", "2020-02-01")
SEX = texts("Female", "Male")
GRADE = texts("low", "mid", "high", kind=Kind.ORDINAL)
ZIP = texts("35510", "35511", "35520", "3551", "36000")
JOB = tree("Dancer;Artist;*", "Writer;Artist;*", "Artist;*", "Lawyer;*")


# What regions cover


@pytest.mark.parametrize(
    ("region", "inside", "outside"),
    [
        (Interval(20, 40), [20, 30.5, 40], [19.9, 40.1, None, "20", math.nan]),
        (Interval(20, 40, False, False), [20.1, 39.9], [20, 40]),
        (Interval(-math.inf, 45), [-math.inf, -1e300, 45], [45.1, None]),
        (a_set("a", None), ["a", None, math.nan], ["b", ""]),
        (a_set(1, 2), [1, 2.0], [3, None]),
        (Node("n", frozenset({"a"})), ["a"], ["n", None]),
        (Mask("35"), ["351", "3511"], ["35", "361", None, 351]),
        (Mask(""), ["a"], ["", None]),
        (Anything(), ["a", 1, None], []),
        (Missing(), [None, math.nan], [0, "", "missing"]),
    ],
)
def test_covers(region: Region, inside: list[Value], outside: list[Value]) -> None:
    assert all(region.covers(value) for value in inside)
    assert not any(region.covers(value) for value in outside)


def test_regions_are_values_validated_when_made() -> None:
    assert len({Interval(20, 40), Interval(20.0, np.float64(40)), a_set("a"), a_set("a")}) == 2
    assert Interval(-math.inf, 5, low_closed=False) == Interval(-math.inf, 5)
    with pytest.raises(UserError, match="must not start above its end; got 40 to 20"):
        Interval(40, 20)
    with pytest.raises(UserError, match="must cover a number; got 20 to 20 with an open end"):
        Interval(20, 20, high_closed=False)
    with pytest.raises(UserError, match="must be numbers; got None"):
        Interval(math.nan, 20)
    with pytest.raises(UserError, match="must have a value"):
        a_set()
    with pytest.raises(UserError, match=r"must not end in '\*'"):
        Mask("35*")


def test_interval_coverage_is_exact_beyond_two_to_the_53() -> None:
    big = 2**53
    column = a_column(np.array([big, big + 1, big + 2]), Kind.NUMERIC)
    assert covered(Interval(big, big + 1, low_closed=False), column).tolist() == [
        False,
        True,
        False,
    ]
    column = numbers(float(big), float(big + 2))
    assert covered(Interval(big + 1, math.inf), column).tolist() == [False, True]


def test_root_is_anything_and_inner_nodes_hold_their_own_value() -> None:
    assert JOB.hierarchy is not None
    assert node_region(JOB.hierarchy, "*") == Anything()
    artist = node_region(JOB.hierarchy, "Artist")
    assert artist == Node("Artist", frozenset({"Artist", "Dancer", "Writer"}))
    assert covered(artist, JOB).tolist() == [v != "Lawyer" for v in JOB.values]


# Text out


@pytest.mark.parametrize(
    ("region", "column", "text"),
    [
        (Interval(47.0, 47.0), AGE, "47"),
        (Interval(30.5, 30.5), AGE, "30.5"),
        (Interval(0.1, 1e22), AGE, "[0.1, 1e+22]"),
        (Interval(20.0, 40.0), AGE, "[20, 40]"),
        (Interval(20, 45, low_closed=False), AGE, "(20, 45]"),
        (Interval(20, 45, high_closed=False), AGE, "[20, 45)"),
        (Interval(20, 45, False, False), AGE, "(20, 45)"),
        (Interval(-5, -1), AGE, "[-5, -1]"),
        (Interval(-math.inf, 45), AGE, "<=45"),
        (Interval(-math.inf, 45, high_closed=False), AGE, "<45"),
        (Interval(45, math.inf), AGE, ">=45"),
        (Interval(45, math.inf, low_closed=False), AGE, ">45"),
        (Interval(-math.inf, math.inf), AGE, "[-inf, inf]"),
        (Missing(), AGE_WITH_GAPS, "missing"),
        (a_set(40, 19, None), AGE_WITH_GAPS, "{19, 40, missing}"),
        (Interval(days("2020-01-31"), days("2020-01-31")), VISIT, "2020-01-31"),
        (Interval(days("2020-01-01"), days("2020-02-01")), VISIT, "[2020-01-01, 2020-02-01]"),
        (Interval(-math.inf, days("1969-12-31")), VISIT, "<=1969-12-31"),
        (a_set("Female"), SEX, "Female"),
        (a_set("Male", "Female"), SEX, "{Female, Male}"),
        (a_set("high", "mid"), GRADE, "{mid, high}"),
        (Mask("355"), ZIP, "355*"),
        (Mask(""), ZIP, "**"),
        (Anything(), SEX, "*"),
        (node_region(Hierarchy.from_lines(["Lawyer;*"]), "Lawyer"), JOB, "Lawyer"),
        (a_set("Artist"), JOB, '{"Artist"}'),
        (a_set("*"), texts("*", "a"), '{"*"}'),
        (a_set("missing"), texts("a", "missing"), '{"missing"}'),
        (a_set("35*"), texts("35*", "351"), '{"35*"}'),
        (a_set(""), texts("", "a"), '{""}'),
        (a_set(" a"), texts(" a", "a"), '{" a"}'),
        (a_set("{a}"), texts("a", "{a}"), '{"{a}"}'),
        (a_set('5" nail', "b"), texts('5" nail', "b"), '{"5"" nail", b}'),
        (a_set("a, b", "c"), texts("a, b", "c"), '{"a, b", c}'),
        (a_set("a", "b"), texts("a", "a, b", "b"), '{"a", "b"}'),
        (a_set("a", None), texts("a", None), "{a, missing}"),
        (a_set(None), texts("a", None), "missing"),
        (a_set(None), texts("missing", None), "missing value"),
        (a_set("missing", None), texts("missing", None), '{"missing", missing value}'),
        (a_set(">50K"), texts("<=50K", ">50K"), ">50K"),
        (a_set("10-19"), texts("10-19", "20-29"), "10-19"),
    ],
)
def test_text_out_and_back(region: Region, column: Attribute, text: str) -> None:
    assert write_region(region, column) == text
    back = read_region(text, column)
    assert covered(back, column).tolist() == covered(region, column).tolist()


@pytest.mark.parametrize(
    ("region", "column", "message"),
    [
        (Interval(1, 2), SEX, "an interval needs a numeric column"),
        (Mask("35"), AGE, "Declare the column categorical"),
        (a_set("x"), AGE, "a set in a numeric column holds numbers; got 'x'"),
        (a_set("Other"), SEX, "must be made of values of its column; 'Other' is none"),
        (Mask("zz"), SEX, "covers none"),
        (Missing(), AGE, "this one has none"),
        (Missing(), SEX, "None is none"),
        (Interval(0.5, 0.5), VISIT, "a whole number of days; got 0.5"),
        (Interval(10**7, 10**7), VISIT, "dates run from 0001-01-01 to 9999-12-31"),
    ],
)
def test_a_region_that_does_not_fit_its_column(
    region: Region, column: Attribute, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        write_region(region, column)


# Text in


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("40-20", AGE, "'99-99' runs downwards; write the smaller end first"),
        ("[40, 20]", AGE, "runs downwards"),
        ("2020-02-01~2020-01-01", VISIT, "runs downwards"),
        ("(20, 20]", AGE, "covers nothing; close both ends"),
        ("twenty", AGE, r"'aaaaaa' is no number or interval; write 20, \[20, 40\]"),
        ("2020-01-01", AGE, "is no number or interval"),
        ("20--", AGE, "is no number or interval"),
        ("1-2-3", AGE, "is no number or interval"),
        ("[20, 30, 40]", AGE, "is no number or interval"),
        ("[2,5, 3,5]", AGE, "is no number or interval"),
        ("<", AGE, "is no number or interval"),
        ("<inf", AGE, "compares with infinity"),
        ("nan", AGE, "is no number or interval"),
        ("1e999", AGE, "is no number or interval"),
        ("9" * 5000, AGE, "…' is no number or interval"),
        ("-" * 100_000, AGE, "…' is no number or interval"),
        ("1_000", AGE, "is no number or interval"),
        ("٣", AGE, "is no number or interval"),
        ("47", VISIT, "'99' is no date or interval; write 2020, 2020-01, 2020-01-31"),
        ("2020-02-30", VISIT, "is no date or interval"),
        ("2020-13", VISIT, "is no date or interval"),
        ("2020-00", VISIT, "is no date or interval"),
        ("0000", VISIT, "is no date or interval"),
        ("{2020, 2021}", VISIT, "which is no date"),
        ("(20-40)", AGE, "is no number or interval"),  # open ends, or a remark in brackets
        ("20-40+", AGE, "is no number or interval"),
        ("+", AGE, "is no number or interval"),
        ("inf+", AGE, "is no number or interval"),
        ("]2020, 2020-03]", VISIT, "covers nothing"),
        ("{20, x}", AGE, "has 'a', which is no number"),
        ("{}", AGE, "has '', which is no number"),
        (
            "3551*",
            AGE,
            "'9999\\*' is a mask that stands for no number of this column; declare the column cat",
        ),
        ("", AGE, r"an empty cell needs a column with missing values.*write '\*'"),
        ("missing", AGE, "'missing' needs a column with missing values"),
        ("", SEX, r"an empty cell needs a column with missing values.*write '\*'"),
        ("missing", SEX, "'missing' needs a column with missing values"),
        ("Femle", SEX, "'aaaaa' is no value of this column: did you mean 'Female'?"),
        ("20-40", SEX, "'99-99' is no value of this column; write a value of it"),
        ("Artst", JOB, "did you mean 'Artist'?"),
        ("{Male, Femle}", SEX, "a set has 'aaaaa', which is no value.*did you mean 'Female'?"),
        ("Male~Femle", SEX, "a set has 'aaaaa', which is no value.*did you mean 'Female'?"),
        ("{Male, }", SEX, "a set has an empty member"),
        ("{}", texts("", "a"), "a set has an empty member"),
        ('{"Male}', SEX, "a quoted member that does not end"),
        ('{"Male"x, Female}', SEX, "a quoted member that does not end"),
        ('{"', SEX, "is no value of this column"),
        ('{"""}', SEX, "a quoted member that does not end"),
        ("37*", ZIP, "the mask '99\\*' matches no value of this column"),
        ("{Artist, Lawyer}", JOB, "'aaaaaa' in a set may be that value or all.*put it in quotes"),
        ("{*, a}", texts("*", "a"), r"'\*' in a set may be that value or all"),
        ("{*, a}", texts("a", "b"), r"a set has '\*', which is no value"),
        (
            "a~b~c",
            texts("a", "a~b", "b~c", "c"),
            "'a~a~a' can be read in more than one way; put its values in quotes",
        ),
        ("{a, b}", texts("a", "a,b", "b", "a, b"), "can be read in more than one way"),
        ("a~b*", texts("a", "a~bc", "b*"), "can be read in more than one way"),
        (" a*", texts(" ab", "ab"), "can be read in more than one way"),
        ("x" * 10_000_000, SEX, "…' is no value of this column"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, column: Attribute, message: str) -> None:
    with pytest.raises(UnreadableRegion, match=message):
        read_region(text, column)
