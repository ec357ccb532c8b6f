"""What values are: right ones and near misses in German, French, British and American writing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pyarrow as pa
import pytest

from indiff.risk.identifying.kinds import KINDS
from indiff.risk.identifying.recognise import Column, Evidence, is_free_text


def evidence(cells: Sequence[object], name: str = "x") -> dict[str, Evidence]:
    found = Column.of(name, pa.chunked_array([pa.array(cells)])).evidence
    return {one.kind: one for one in found}


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("emails", ["anna.muster@example.de", "j.o'neil+x@mail.example.co.uk"]),
        ("phones", ["+49 228 123456", "0228 1234567", "0171-1234567", "030/12345678"]),
        ("phones", ["+33 1 23 45 67 89", "01 23 45 67 89", "06.12.34.56.78", "0033 123456789"]),
        ("phones", ["020 7946 0958", "07700 900123", "+44 20 7946 0958"]),
        ("phones", ["(617) 555-0123", "617-555-0123", "617.555.0123", "+1 617 555 0123"]),
        ("accounts", ["DE89 3704 0044 0532 0130 00", "FR1420041010050500013M02606"]),
        ("accounts", ["GB82WEST12345698765432", "de89370400440532013000"]),
        ("social-security", ["123-45-6789", "AB 12 34 56 C", "AB123456C"]),
        ("ip-addresses", ["192.168.17.4", "2001:db8:0:0:1:0:0:1"]),
        ("devices", ["00:1A:2B:3C:4D:5E"]),
        ("vehicles", ["1HGBH41JXMN109186"]),
        ("urls", ["https://example.org/ann", "www.example.org"]),
        ("dates", ["03.05.2019", "5/3/19", "3 May 2019"]),
    ],
)
def test_values_of_a_kind(kind: str, cells: list[str]) -> None:
    found = evidence([*cells, *cells, "nothing"])
    assert kind in found
    assert (found[kind].cells, found[kind].told) == (2 * len(cells), 2 * len(cells) + 1)
    assert not any(cell in str(one) for one in found.values() for cell in cells)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("accounts", ["DE89 3704 0044 0532 0130 01", "GB82WEST12345698765433"]),  # check digits
        ("accounts", ["FR1420041010050500013M0260"]),  # one sign short
        ("emails", ["ann at example.org", "ann@example", "@example.org"]),
        ("phones", ["12345", "0228", "1,234,567.89", "2019-05-03", "0.123456789"]),
        ("social-security", ["123-456-789", "12-345-6789", "AO123456C", "AB123456E", "DA1234567C"]),
        ("ip-addresses", ["192.168.17", "256.1.1.1", "1.2.3.4.5", "12:30:15"]),
        ("vehicles", ["1HGBH41JXMN10918", "IHGBH41JXMN109186"]),
        ("devices", ["00:1A:2B:3C:4D", "00:1A:2B:3C:4D:5G"]),
        ("dates", ["2019", "3.14", "1970-1980", "10115"]),
    ],
)
def test_near_misses(kind: str, cells: list[str]) -> None:
    assert kind not in evidence([*cells, "nothing"])


def test_one_cell_among_remarks_is_found_and_counted() -> None:
    cells = [f"came on day {number} and went home" for number in range(200)]
    found = evidence([*cells, "write to ann@example.org or call 617-555-0123"])
    assert {(one.kind, one.cells, one.told) for one in found.values()} == {
        ("emails", 1, 201), ("phones", 1, 201),
    }  # fmt: skip
    assert str(found["emails"]) == "1 of 201 cells: e-mail addresses"


def test_names_of_columns_speak_last() -> None:
    found = Column.of("e-mail", pa.chunked_array([["ann@example.org", "none"]])).evidence
    assert [(one.kind, one.how) for one in found] == [("emails", "value")]
    found = Column.of("last_name", pa.chunked_array([["a", "b"]])).evidence
    assert [(one.kind, one.how, str(one)) for one in found] == [
        ("names", "name", "names, by its name")
    ]
    born = Column.of("Geburtsjahr", pa.chunked_array([[1970, 1980]])).evidence
    assert [one.title for one in born] == []
    born = Column.of("year_of_birth", pa.chunked_array([[1970, 1980]])).evidence
    assert [one.title for one in born] == ["dates of birth"]


def test_dates_of_birth_are_spread_over_decades() -> None:
    first = datetime.date(1930, 1, 1)
    births = [first + datetime.timedelta(days=200 * number) for number in range(120)]
    assert evidence(births)["dates"].how == "spread"
    visits = [first + datetime.timedelta(days=20 * number) for number in range(120)]
    assert evidence(visits)["dates"].how == "value"
    assert evidence([datetime.date(1930, 1, 1), datetime.date(1999, 1, 1)])["dates"].how == "value"
    assert evidence([None, None]) == {}


def test_numbers_with_fractions_and_flags_name_nobody() -> None:
    assert evidence([1.5, 2.5]) == {}
    assert evidence([True, False]) == {}


def test_digits_of_another_script_are_digits() -> None:
    shaped = KINDS["dates"].shaped(["٢٠١٩-٠٥-٠٣", "x"])
    assert shaped.tolist() == [True, False]


def test_free_text() -> None:
    assert not is_free_text(distinct=30, told=30, mean_length=100)
    assert not is_free_text(distinct=400, told=1000, mean_length=100)
    assert not is_free_text(distinct=900, told=1000, mean_length=10)
    remarks = [f"came in on day {row} with pain, sent home" for row in range(100)]
    assert Column.of("x", pa.chunked_array([remarks])).is_free_text
