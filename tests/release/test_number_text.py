"""Regions of numbers and dates as text: every notation has one reading, or is refused."""

from __future__ import annotations

import datetime
import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.release.number_text import NumberText
from indiff.release.regions import (
    Anything,
    Interval,
    Missing,
    Region,
    UnreadableRegion,
    ValueSet,
)
from tests.release.test_regions import (
    AGE,
    VISIT,
    a_column,
    a_set,
    covered,
    days,
    numbers,
    read_or_refuse,
    read_region,
    write_region,
)


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


SOME_NUMBER = st.one_of(
    st.integers(-50, 50),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**62), 2**62),
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


PIECES = [*"0159-~.,;e[]()<>=*{}+–≥ ", " to ", "1976", "-07", "2020-01-15", "inf", "**", "20"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    st.sampled_from([AGE, CODES, VISIT]),
)
def test_any_numeric_text_has_one_reading_or_is_refused_with_a_sentence(
    text: str, column: Attribute
) -> None:
    region, refusal = read_or_refuse(text, column)
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
