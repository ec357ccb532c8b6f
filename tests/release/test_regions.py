"""Regions: coverage against brute force, text against the list of forms, and both ways back."""

from __future__ import annotations

import datetime
import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import UserError
from indiff.release.number_text import NumberText
from indiff.release.reading import read_regions
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
from indiff.release.release import notation_of, write_regions


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
    ("text", "region"),
    [
        ("[20, 40[", Interval(20, 40, True, False)),
        ("[20,40)", Interval(20, 40, True, False)),
        ("[20,40]", Interval(20, 40)),
        ("]20, 40]", Interval(20, 40, False, True)),
        ("(20, 40]", Interval(20, 40, False, True)),
        ("]20, 40[", Interval(20, 40, False, False)),
        (" [ 20 , 40 ] ", Interval(20, 40)),
        ("(-inf, 40]", Interval(-math.inf, 40)),
        ("20-40", Interval(20, 40)),
        ("20 - 40", Interval(20, 40)),
        ("20~40", Interval(20, 40)),
        ("20-20", Interval(20, 20)),
        ("-5--1", Interval(-5, -1)),
        ("-5-1", Interval(-5, 1)),
        ("-5~-1", Interval(-5, -1)),
        ("1e-5-2", Interval(1e-5, 2)),
        ("1e-5-2e+3", Interval(1e-5, 2000)),
        (".5-1.", Interval(0.5, 1)),
        (">=45", Interval(45, math.inf)),
        ("≥ 45", Interval(45, math.inf)),
        ("> 45", Interval(45, math.inf, False, True)),
        ("<45", Interval(-math.inf, 45, True, False)),
        ("<=-45", Interval(-math.inf, -45)),
        ("<-45", Interval(-math.inf, -45, True, False)),
        ("47", Interval(47, 47)),
        ("47.0", Interval(47, 47)),
        ("-48.25", Interval(-48.25, -48.25)),
        ("1e-5", Interval(1e-5, 1e-5)),
        ("{20, 40}", a_set(20, 40)),
        (" * ", Anything()),
        # as people write them
        ("80+", Interval(80, math.inf)),
        ("80 +", Interval(80, math.inf)),
        ("≥80", Interval(80, math.inf)),
        (">= 80", Interval(80, math.inf)),
        ("≤ 20", Interval(-math.inf, 20)),
        ("20–29", Interval(20, 29)),
        ("20 — 29", Interval(20, 29)),
        ("20−29", Interval(20, 29)),
        ("20 to 29", Interval(20, 29)),
        ("-5 to -1.5", Interval(-5, -1.5)),
        ("[20-29]", Interval(20, 29)),
        ("[20–30[", Interval(20, 30, True, False)),
        ("(20-30]", Interval(20, 30, False, True)),
        ("[20; 30[", Interval(20, 30, True, False)),
        ("]1970, 1980]", Interval(1970, 1980, False, True)),
        ("(20.0, 30.0]", Interval(20, 30, False, True)),  # pandas
        ("[80, ∞)", Interval(80, math.inf)),
        ("**", Interval(-math.inf, math.inf)),
    ],
)
def test_numbers_in(text: str, region: Region) -> None:
    assert read_region(text, AGE) == region


@pytest.mark.parametrize(
    ("text", "low", "high", "open_end"),
    [
        ("2020-01-15", "2020-01-15", "2020-01-15", False),
        ("2020-01-14", "2020-01-14", "2020-01-14", False),
        ("2020-01-01-2020-02-01", "2020-01-01", "2020-02-01", False),
        ("2020-01-01 - 2020-02-01", "2020-01-01", "2020-02-01", False),
        ("2020-01-01~2020-02-01", "2020-01-01", "2020-02-01", False),
        ("[2020-01-01, 2020-02-01[", "2020-01-01", "2020-02-01", True),
        ("2020", "2020-01-01", "2020-12-31", False),
        ("2020-02", "2020-02-01", "2020-02-29", False),
        ("2019–2020", "2019-01-01", "2020-12-31", False),
        ("2019 to 2020", "2019-01-01", "2020-12-31", False),
        ("2019-12-2020-01", "2019-12-01", "2020-01-31", False),
        ("[2019, 2020]", "2019-01-01", "2020-12-31", False),
        ("[2019, 2020[", "2019-01-01", "2020-01-01", True),
        ("[2019-11-2020-01[", "2019-11-01", "2020-01-01", True),
        ("2020-01-15 00:00:00", "2020-01-15", "2020-01-15", False),
        ("[2020-01-01 00:00:00, 2020-02-01 00:00:00)", "2020-01-01", "2020-02-01", True),
    ],
)
def test_dates_in(text: str, low: str, high: str, open_end: bool) -> None:
    expected = Interval(days(low), days(high), high_closed=not open_end)
    assert read_region(text, VISIT) == expected


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("]2018, 2020]", Interval(days("2018-12-31"), days("2020-12-31"), False, True)),
        ("2020+", Interval(days("2020-01-01"), math.inf)),
        (">2019", Interval(days("2019-12-31"), math.inf, False)),
        (">=2020-02", Interval(days("2020-02-01"), math.inf)),
        ("<2020", Interval(-math.inf, days("2020-01-01"), True, False)),
        ("<=2019-12", Interval(-math.inf, days("2019-12-31"))),
    ],
)
def test_a_year_or_a_month_is_all_its_days(text: str, region: Region) -> None:
    assert read_region(text, VISIT) == region


CODES = numbers(7011, 35510, 35512, 75001, 75010, 75999, math.nan)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("750**", Interval(75000, 75099)),
        ("3551*", Interval(35510, 35519)),
        ("355*", Interval(35500, 35599)),  # only numbers of five digits begin so
        ("70**", Interval(7000, 7099)),
        ("*****", Interval(-math.inf, math.inf)),
    ],
)
def test_masked_numbers(text: str, region: Region) -> None:
    assert read_region(text, CODES) == region


@pytest.mark.parametrize("text", ["7****", "7*", "9*", "75.*", "-7*", "750*1"])
def test_masks_that_could_be_several_numbers_are_refused(text: str) -> None:
    with pytest.raises(UnreadableRegion):
        read_region(text, CODES)
    with pytest.raises(UnreadableRegion):
        read_region("1*", numbers(10.5, 11.5))


def test_dates_are_compared() -> None:
    region = read_region(">=2020-01-15", VISIT)
    assert covered(region, VISIT).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("text", "column", "region"),
    [
        ("Female", SEX, a_set("Female")),
        (" Female ", SEX, a_set("Female")),
        ("{Female,Male}", SEX, a_set("Female", "Male")),
        ("{ Female , Male }", SEX, a_set("Female", "Male")),
        ("{Male}", SEX, a_set("Male")),
        ("Female~Male", SEX, a_set("Female", "Male")),
        ("low~mid~high", GRADE, a_set("low", "mid", "high")),
        ("low ~ high", GRADE, a_set("low", "high")),
        ("3551*", ZIP, Mask("3551")),
        ("35***", ZIP, Mask("35")),
        ("*****", ZIP, Mask("")),
        ("3551", ZIP, a_set("3551")),
        ("*", SEX, Anything()),
        ("Artist", JOB, Node("Artist", frozenset({"Artist", "Dancer", "Writer"}))),
        ("Lawyer", JOB, Node("Lawyer", frozenset({"Lawyer"}))),
        ("{Dancer, Lawyer}", JOB, a_set("Dancer", "Lawyer")),
        ('{"Artist", Lawyer}', JOB, a_set("Artist", "Lawyer")),
        ("", texts("a", None), a_set(None)),
        ("missing", texts("a", None), a_set(None)),
        ("missing", texts("a", "missing", None), a_set("missing")),
        ("missing", tree("a;*", missing=True), Node("missing", frozenset({None}))),
        ("", tree("a;*", missing=True), Node("missing", frozenset({None}))),
        ("", texts("", "a", None), a_set("")),
        ("missing", texts("low", None, kind=Kind.ORDINAL), Missing()),
        ("", AGE_WITH_GAPS, Missing()),
        ("missing", AGE_WITH_GAPS, Missing()),
        # a value of the column is read before any form that it looks like
        ("{a, b}", texts("a", "b", "{a, b}"), a_set("{a, b}")),
        ("a~b", texts("a", "a~b", "b"), a_set("a~b")),
        ("35*", texts("35*", "351"), a_set("35*")),
        (
            "8166*",
            tree("81667;8166*;*", "81668;8166*;*"),
            Node("8166*", frozenset(["81667", "81668"])),
        ),
        # values that contain a separator, where only one reading is possible
        ("{a, b, c}", texts("a, b", "c"), a_set("a, b", "c")),
        ("a~b~c", texts("a", "b~c"), a_set("a", "b~c")),
        ("{x,y}", texts("x,y", "z"), a_set("x,y")),
    ],
)
def test_values_in(text: str, column: Attribute, region: Region) -> None:
    assert read_region(text, column) == region


def test_a_null_cell_is_the_missing_value_even_beside_empty_text() -> None:
    assert read_region(None, texts("", "a", None)) == a_set(None)
    assert read_region(None, AGE_WITH_GAPS) == Missing()


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


def test_two_readings_with_the_same_coverage_are_one() -> None:
    two, three = "a~a", "a~a~a"  # five are two and three, or three and two
    assert read_region("a~a~a~a~a", texts(two, three)) == a_set(two, three)
    with pytest.raises(UnreadableRegion, match="more than one way"):  # six: three twos, two threes
        read_region("a~a~a~a~a~a", texts(two, three))


# Whole columns


def test_distinct_texts_are_read_once_and_equal_regions_are_one() -> None:
    regions, rows = read_regions(["20-40", "*", "[20, 40]", "47", "*"], AGE)
    assert regions == (Interval(20, 40), Anything(), Interval(47, 47))
    assert rows.tolist() == [0, 1, 0, 2, 1]
    assert rows.dtype == np.int32


def test_no_rows() -> None:
    regions, rows = read_regions([], AGE)
    assert regions == ()
    assert rows.shape == (0,)


def test_an_error_names_the_column_and_the_first_row() -> None:
    column = replace(SEX, name="sex")
    with pytest.raises(
        UnreadableRegion,
        match=r"^column 'sex', row 2 and 2 more: 'aaa' is no.*'Male'",
    ):
        read_regions(["Male", "Mal", "Femal", "Mal"], column)


@pytest.mark.parametrize(
    ("cells", "column", "message"),
    [
        (["47", "Peter 7", "x", "40ish", "1/2"], AGE, r"row 2 and 3 more: 'aaaaa 9' is no "
         r"number.*Other shapes: 'a', '99aaa'\. If its cells are codes.*kinds={'column': 'cat"),
        (["NA", "47"], AGE, r"row 1: 'aa' is no number.*pass suppressed=\['NA'\]"),
        (["47", None], AGE, r"row 2: an empty cell needs.*pass suppressed=\[''\]"),
        (["Men"], SEX, r"row 1: 'aaa' is no value.*hierarchies={'column': 'FILE'}"),
        (["?", "Male"], SEX, r"pass suppressed=\['\?'\]"),
    ],
)  # fmt: skip
def test_an_error_tells_shapes_and_the_option_that_helps_but_no_cell(
    cells: list[str | None], column: Attribute, message: str
) -> None:
    with pytest.raises(UnreadableRegion, match=message) as caught:
        read_regions(cells, column)
    for secret in ("Peter", "40ish", "Men"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "column", "tokens", "covered_rows"),
    [
        (["NA", "47", "", None], AGE, ["NA", ""], [0, 2, 3]),
        ([" NA ", "Male"], SEX, ["NA"], [0]),
        ([None, "", "40", "missing"], AGE_WITH_GAPS, [""], [0, 1]),
        ([None, "a"], texts("a", None), [""], [0]),
        (["-", "20-40"], AGE, ["-"], [0]),
        (["*", "47"], AGE, ["*"], [0]),
    ],
)
def test_texts_that_stand_for_a_suppressed_cell(
    cells: list[str | None], column: Attribute, tokens: list[str], covered_rows: list[int]
) -> None:
    regions, rows = read_regions(cells, column, tokens)
    assert [row for row, place in enumerate(rows) if regions[place] == Anything()] == covered_rows


@pytest.mark.parametrize(
    ("cell", "column", "token"),
    [("NA", texts("DE", "NA"), "NA"), ("", texts("", "a", None), ""), ("47", AGE, "47")],
)
def test_a_suppressed_cell_that_is_a_value_too_is_refused(
    cell: str, column: Attribute, token: str
) -> None:
    with pytest.raises(UnreadableRegion, match=r"this column has it as a value; write '\*'"):
        read_regions([cell], column, [token])


# Properties

SOME_NUMBER = st.one_of(
    st.integers(-50, 50),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**62), 2**62),
)
NO_BLANKS = ["*", "**", "a*", "missing", "a", "b", "c", "a,b", "a~b", "b~c", '"', '"a"', 'a"b', ","]
NO_BLANKS += [
    "{",
    "}",
    "20-40",
    "<5",
    "{missing}",
    '{"*"}',
    '{""}',
    "{a}",
    '{"a"}',
    "~",
    "{}",
    "{,}",
]
HAS_BLANKS = ["", " ", " a", "a ", "a, b", "{a, b}", '{"a", "b"}', '{ "a", "b"}', "[1, 2]"]
HAS_BLANKS += ["missing value", "a\nb", "\n", "\x00"]
NASTY = st.one_of(
    st.sampled_from(NO_BLANKS + HAS_BLANKS),
    st.text(alphabet='ab,~*{}" \n', max_size=6),
    st.text(max_size=5),
)


@st.composite
def intervals(draw: st.DrawFn, number: st.SearchStrategy[float]) -> Interval:
    end = st.one_of(number, st.sampled_from([-math.inf, math.inf]))
    low, high = sorted((draw(end), draw(end)))
    same = low == high
    return Interval(low, high, same or draw(st.booleans()), same or draw(st.booleans()))


@st.composite
def numeric_cases(draw: st.DrawFn) -> tuple[Attribute, Region]:
    is_date, whole, gaps = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    number: st.SearchStrategy[float] = SOME_NUMBER
    if is_date:
        number = st.integers(days("0001-01-01"), days("9999-12-31"))
    elif whole:
        number = st.integers(-(2**62), 2**62)
    drawn = draw(st.lists(number, min_size=1, max_size=8))
    values = np.unique(np.array(drawn, np.int64 if is_date or whole else np.float64))
    if gaps:
        values = np.append(values.astype(np.float64), math.nan)
    column = a_column(np.unique(values), Kind.NUMERIC, is_date=is_date)
    known = st.sampled_from([v for v in values.tolist() if v == v])
    kinds: list[st.SearchStrategy[Region]] = [
        intervals(st.one_of(number, known)),
        st.just(Anything()),
        st.frozensets(
            st.one_of(number, known, *([st.none()] if gaps else [])), min_size=1, max_size=4
        ).map(ValueSet),
    ]
    if gaps:
        kinds.append(st.just(Missing()))
    return column, draw(st.one_of(kinds))


@given(numeric_cases())
def test_numeric_regions_cover_what_brute_force_says_and_come_back(
    case: tuple[Attribute, Region],
) -> None:
    column, region = case
    expected = [region.covers(value) for value in column.values.tolist()]
    assert covered(region, column).tolist() == expected
    back = read_region(write_region(region, column), column)
    if not (isinstance(region, ValueSet) and len(region.values) == 1):  # a point, or missing
        assert back == region
    assert covered(back, column).tolist() == expected


@st.composite
def value_cases(draw: st.DrawFn) -> tuple[Attribute, list[Region]]:
    plain_values = draw(st.lists(NASTY, min_size=1, max_size=8, unique=True))
    gaps = draw(st.booleans())
    kind = draw(st.sampled_from([Kind.CATEGORICAL, Kind.ORDINAL]))
    ordered = sorted(plain_values) if kind == Kind.CATEGORICAL else plain_values
    values = [*ordered, *([None] if gaps else [])]
    column = texts(*values, kind=kind)
    regions: list[Region] = [Anything()]
    regions += draw(
        st.lists(
            st.frozensets(st.sampled_from(values), min_size=1).map(ValueSet), min_size=1, max_size=6
        )
    )
    for value in plain_values:
        prefix = value[: draw(st.integers(0, len(value)))]
        if not prefix.endswith("*") and any(Mask(prefix).covers(other) for other in values):
            regions.append(Mask(prefix))
    if gaps and kind == Kind.ORDINAL:
        regions.append(Missing())
    return column, regions


@given(value_cases())
def test_regions_of_nasty_values_cover_what_brute_force_says_and_come_back(
    case: tuple[Attribute, list[Region]],
) -> None:
    column, regions = case
    coverage = Coverage(column)
    written = write_regions(regions, column)
    for region, text in zip(regions, written, strict=True):
        expected = [region.covers(value) for value in column.values]
        assert coverage.of(region).tolist() == expected
        back = read_region(text, column)
        assert coverage.of(back).tolist() == expected
        if isinstance(region, ValueSet) and region.values != {None}:
            assert back == region
        if isinstance(region, Missing | Anything):
            assert back == region
    read, rows = read_regions(written, column)
    assert [read[row] for row in rows] == [read_region(text, column) for text in written]


@st.composite
def tree_cases(draw: st.DrawFn) -> tuple[Attribute, list[Region]]:
    label = NASTY.map(str.strip).filter(lambda text: text not in ("", "*"))
    labels = draw(st.lists(label, min_size=1, max_size=10, unique=True))
    above = {  # a label's parent comes later in the list: no cycle
        child: draw(st.sampled_from([*labels[i + 1 :], "*"])) for i, child in enumerate(labels)
    }
    inner = set(above.values())
    paths: list[tuple[int, list[str]]] = []
    for number, start in enumerate(labels, 1):
        if start in inner and draw(st.booleans()):
            continue  # an inner node that no record holds
        path = [start]
        while path[-1] != "*":
            path.append(above[path[-1]])
        paths.append((number, path))
    hierarchy = Hierarchy.from_paths(paths)
    if draw(st.booleans()):
        assume(not ("missing" in labels and "missing value" in labels))
        hierarchy = hierarchy.with_missing()
    column = a_column(texts(*hierarchy.values).values, Kind.CATEGORICAL, hierarchy=hierarchy)
    regions = [node_region(hierarchy, label) for label in hierarchy.labels]
    sets = st.frozensets(st.sampled_from(hierarchy.values), min_size=1).map(ValueSet)
    return column, [*regions, *draw(st.lists(sets, max_size=6))]


@given(tree_cases())
def test_hierarchy_regions_come_back(case: tuple[Attribute, list[Region]]) -> None:
    column, regions = case
    for region, text in zip(regions, write_regions(regions, column), strict=True):
        expected = [region.covers(value) for value in column.values]
        assert covered(region, column).tolist() == expected
        back = read_region(text, column)
        assert covered(back, column).tolist() == expected
        if isinstance(region, Node | Anything):
            assert back == region
            assert text == (region.label if isinstance(region, Node) else "*")


def _every_split(pieces: list[str]) -> list[list[str]]:
    if not pieces:
        return [[]]
    return [
        ["~".join(pieces[:i]), *rest]
        for i in range(1, len(pieces) + 1)
        for rest in _every_split(pieces[i:])
    ]


@given(
    st.lists(st.text(alphabet="ab~", min_size=1, max_size=3), min_size=1, max_size=6, unique=True),
    st.text(alphabet="ab~", min_size=1, max_size=8),
)
def test_a_set_is_read_if_every_way_to_split_it_into_values_gives_the_same(
    values: list[str], text: str
) -> None:
    column = texts(*sorted(values))
    ways = {frozenset(way) for way in _every_split(text.split("~")) if set(way) <= set(values)}
    if text in values:
        ways = {frozenset({text})}
    region, _ = _read_or_refuse(text, column)
    assert region == (ValueSet(next(iter(ways))) if len(ways) == 1 else None)


@given(value_cases(), NASTY)
def test_any_text_is_read_or_refused_with_a_sentence(
    case: tuple[Attribute, list[Region]], text: str
) -> None:
    column, _ = case
    region, refusal = _read_or_refuse(text, column)
    if region is None:
        assert refusal.endswith((".", "?"))
        assert text not in column.values.tolist()
    else:
        assert covered(region, column).any()
        if text != "*" and text in column.values.tolist():
            assert region == a_set(text)


PIECES = [*"0159-~.,;e[]()<>=*{}+–≥ ", " to ", "1976", "-07", "2020-01-15", "inf", "**", "20"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    st.sampled_from([AGE, CODES, VISIT]),
)
def test_any_numeric_text_has_one_reading_or_is_refused_with_a_sentence(
    text: str, column: Attribute
) -> None:
    region, refusal = _read_or_refuse(text, column)
    if region is None:
        assert refusal.endswith((".", "?"))
    else:
        assert read_region(write_region(region, column), column) in (region, _point(region))
    notation = NumberText(column)
    readings = set()
    for read in notation._notations:
        with suppress(UnreadableRegion):
            readings.add(read(text.strip()) if text.strip() not in ("", "*") else None)
    span = notation._span(text)
    readings |= {None if span is None else Interval(*span)}
    assert len(readings - {None}) <= 1


WRITTEN = [
    ("{a}–{b}", True, True),
    ("{a} to {b}", True, True),
    ("{a} - {b}", True, True),
    ("{a}~{b}", True, True),
    ("[{a}-{b}]", True, True),
    ("[{a} to {b}[", True, False),
    ("[{a}, {b}]", True, True),
    ("[{a}; {b}[", True, False),
    ("]{a}, {b}]", False, True),
    ("({a}, {b}]", False, True),
    ("({a}, {b})", False, False),
]


@given(SOME_NUMBER, SOME_NUMBER, st.sampled_from(WRITTEN))
def test_every_notation_of_an_interval_comes_back(
    one: float, other: float, form: tuple[str, bool, bool]
) -> None:
    (text, *closed), (low, high) = form, sorted((one, other))
    assume(low < high)
    region = read_region(text.format(a=repr(low), b=repr(high)), AGE)
    assert region == Interval(low, high, *closed)
    assert read_region(write_region(region, AGE), AGE) == region


@given(
    st.dates(datetime.date(1, 1, 1)),
    st.dates(datetime.date(1, 1, 1)),
    st.sampled_from(WRITTEN),
    st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d"]),
)
def test_every_notation_of_dates_covers_the_days_of_its_periods(
    one: datetime.date, other: datetime.date, form: tuple[str, bool, bool], written: str
) -> None:
    """Brute force: a day is inside if its own period is, compared as text."""
    (text, low_closed, high_closed), (low, high) = form, sorted((one, other))

    def period(day: datetime.date) -> str:
        return day.isoformat()[: {"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10}[written]]

    assume(period(low) < period(high))
    region = read_region(text.format(a=period(low), b=period(high)), VISIT)
    step = datetime.timedelta(days=1)
    near = {low, high}
    for day in (low, high):
        near |= {day - step} if day > datetime.date.min else set()
        near |= {day + step} if day < datetime.date.max else set()
        near |= {day.replace(day=1), day.replace(month=1, day=1), day.replace(month=12, day=31)}
    for day in near:
        above = period(low) <= period(day) if low_closed else period(low) < period(day)
        below = period(day) <= period(high) if high_closed else period(day) < period(high)
        assert region.covers(days(day.isoformat())) == (above and below), (text, day)
    assert read_region(write_region(region, VISIT), VISIT) == region


def _read_or_refuse(text: str, column: Attribute) -> tuple[Region | None, str]:
    try:
        return read_region(text, column), ""
    except UnreadableRegion as error:
        return None, str(error)


def _point(region: Region) -> Region:
    if isinstance(region, ValueSet) and len(region.values) == 1:
        (number,) = region.values
        assert isinstance(number, float | int)
        return Interval(number, number)
    return region


@given(SOME_NUMBER, SOME_NUMBER, st.sampled_from("-~"), st.sampled_from(["", " "]))
def test_every_pair_of_numbers_has_one_way_to_split(
    one: float, other: float, mark: str, blank: str
) -> None:
    low, high = min(one, other), max(one, other)
    region = read_region(f"{low!r}{blank}{mark}{blank}{high!r}", AGE)
    assert region == Interval(low, high)
