"""What a column is taken for, at the very edge of every rule."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff.risk.identifying import national_numbers
from indiff.risk.identifying.kinds import KINDS, words_of
from indiff.risk.identifying.recognise import Column, Evidence, is_free_text


def column(cells: list[Any], name: str = "x", kind: Any = None) -> Column:
    return Column.of(name, pa.chunked_array([pa.array(cells, kind)]))


def test_values_are_counted_and_the_missing_aside() -> None:
    found = column(["a", "b", "a", None], kind=pa.string())
    assert dict(zip(found.values.to_pylist(), found.counts.tolist(), strict=True)) == {
        "a": 2, "b": 1,
    }  # fmt: skip
    assert (found.told, found.missing) == (3, 1)


def test_a_share_of_nothing_is_none() -> None:
    assert Evidence("dates", "", "value", 0, 0).share == 0
    assert Evidence("dates", "", "value", 1, 4).share == 0.25


def test_what_evidence_says() -> None:
    assert str(Evidence("names", "names", "name", 0, 9)) == "names, by its name"
    assert str(Evidence("emails", "mail", "value", 1_000, 2_000)) == "1,000 of 2,000 cells: mail"
    checked = Evidence("accounts", "IBANs", "check digits", 1, 2, sampled=True)
    assert str(checked) == "1 of 2 cells that were checked: IBANs"
    assert not Evidence("accounts", "IBANs", "check digits", 1, 2).sampled


@pytest.mark.parametrize(
    ("distinct", "told", "mean", "free"),
    [
        (31, 31, 25.0, True), (30, 30, 25.0, False), (31, 61, 25.0, True), (31, 62, 25.0, False),
        (31, 31, 24.9, False),
    ],
)  # fmt: skip
def test_free_text_is_long_and_mostly_different(
    distinct: int, told: int, mean: float, free: bool
) -> None:
    assert is_free_text(distinct, told, mean) == free


@pytest.mark.parametrize(("count", "free"), [(30, False), (31, True)])
def test_a_column_of_remarks(count: int, free: bool) -> None:
    remarks = [f"a remark of some length, {number:04d}" for number in range(count)]
    assert column(remarks).is_free_text == free
    assert not column(list(range(count))).is_free_text


@pytest.mark.parametrize(
    ("days", "values", "spread"),
    [(7305, 31, True), (7304, 31, False), (7305, 30, False)],
)
def test_births_are_spread_over_twenty_years(days: int, values: int, spread: bool) -> None:
    """From the 5th to the 95th of 100: here those are the ends, with many equal dates at both."""
    first, last = date(1960, 1, 1), date(1960, 1, 1) + timedelta(days=days)
    between = [first + timedelta(days=1 + place) for place in range(values - 2)]
    (found,) = column([*[first] * 50, *between, *[last] * 50]).evidence
    assert found.how == ("spread" if spread else "value")
    assert ("births" in found.title) == spread
    assert found.kind == "dates"
    assert found.cells == found.told == 100 + values - 2


@pytest.mark.parametrize(("apart", "spread"), [(82, True), (81, False)])
def test_the_first_and_the_last_twentieth_do_not_count(apart: int, spread: bool) -> None:
    """Of 101 dates evenly apart, 90 steps lie between the 5th and the 95th hundredth: 7,305 days
    are in 90 steps of 82 and not in 89, and in 91 steps of 81 and not in 90.
    """
    (found,) = column([date(1950, 1, 1) + timedelta(days=apart * at) for at in range(101)]).evidence
    assert found.how == ("spread" if spread else "value")


def test_no_dates_are_no_births() -> None:
    assert column([None, None], kind=pa.date32()).evidence == ()
    (found,) = column([date(1970, 1, 1)] * 2).evidence  # day 0 is a day
    assert (found.how, found.cells) == ("value", 2)


IBANS = ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606"]


def test_ibans_are_counted_by_their_check_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many to check all, what was checked is what is told of."""
    wrong = "DE89370400440532013001"
    cells = ["none of it", "nor this", "nor that", IBANS[0], IBANS[0], IBANS[1], wrong]
    (found,) = column(cells).evidence
    assert (found.kind, found.how, found.cells, found.told) == ("accounts", "check digits", 3, 7)
    assert not found.sampled
    monkeypatch.setattr(national_numbers, "CHECKED", 2)
    (found,) = column(cells).evidence
    assert found.sampled  # two of three that look like one: the first two
    assert (found.cells, found.told) == (3, 3)
    assert column([wrong, "x"]).evidence == ()
    (found,) = column([f"{wrong} or {IBANS[2]}", wrong]).evidence  # one right one is enough
    assert found.cells == 1


def numbered(count: int) -> list[str]:
    """NHS numbers by their rule: eleven minus the weighted sum modulo eleven."""
    found = []
    for body in range(400_000_000, 400_000_000 + 2 * count):
        weighed = sum(int(digit) * (10 - place) for place, digit in enumerate(f"{body}"))
        check = (11 - weighed % 11) % 11
        found += [] if check == 10 else [f"{body}{check}"]
    return found[:count]


def test_numbers_are_counted_by_their_check_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    right = numbered(12)
    cells = [*right, right[0], "4000000000"]
    (found,) = column(cells).evidence
    assert (found.kind, found.how, found.sampled) == ("health-plans", "check digits", False)
    assert (found.cells, found.told) == (13, 14)
    monkeypatch.setattr(national_numbers, "CHECKED", 11)
    (found,) = column(right).evidence
    assert found.sampled
    assert (found.cells, found.told) == (11, 11)


def test_the_most_cells_come_first_and_names_last() -> None:
    cells = ["ann@example.org", "bob@example.org", "1990-01-02", "1990-01-02", "1990-01-03"]
    found = column([*cells, "0"], name="phone")
    assert [(one.kind, one.how, one.cells, one.told) for one in found.evidence] == [
        ("dates", "value", 3, 6), ("emails", "value", 2, 6), ("phones", "name", 0, 6),
    ]  # fmt: skip
    assert [one.kind for one in column(cells, name="email").evidence] == ["dates", "emails"]


def test_a_name_that_speaks_of_births() -> None:
    found = column([30, 40, 40], name="birthYear").evidence
    assert [(one.kind, one.title, one.how, one.cells, one.told) for one in found] == [
        ("dates", "dates of birth", "name", 0, 3)
    ]


def test_accents_do_not_count() -> None:
    assert words_of("prénom_Élève") == ["prenom", "eleve"]
    assert KINDS["names"].is_named("Prénom")


@pytest.mark.parametrize(
    ("name", "is_name"),
    [("surname", True), ("mysurname", True), ("mymaiden", True), ("mynames", False),
     ("firstname", True), ("renamed", False),
     ("anom", False), ("nom", True)],
)  # fmt: skip
def test_long_words_count_wherever_they_stand(name: str, is_name: bool) -> None:
    """A word of six letters or more may be a part of another, a shorter one not."""
    assert KINDS["names"].is_named(name) == is_name


def test_who_is_named_directly() -> None:
    assert {name for name, kind in KINDS.items() if not kind.direct} == {"places", "dates"}
    assert KINDS["places"].is_named("city")


def test_numbers_with_fractions_and_flags_have_no_texts() -> None:
    for cells in ([1.5, 2.5], [True, False]):
        assert column(cells).texts.to_pylist() == []
    assert column([7, 8]).texts.to_pylist() == ["7", "8"]


def test_what_stands_in_a_dictionary_is_counted() -> None:
    coded = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])
    found = Column.of("x", coded)
    assert sorted(found.values.to_pylist()) == ["a", "b"]
    assert np.sort(found.counts).tolist() == [1, 2]


def test_what_most_cells_are_comes_first() -> None:
    found = column([*(f"{name}@example.org" for name in "abc"), "+49 30 1234567"])
    assert [(one.kind, one.cells) for one in found.evidence] == [("emails", 3), ("phones", 1)]
