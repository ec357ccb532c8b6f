"""Numbers are recognised by check digits alone: right ones, wrong ones, and ordinary numbers."""

from __future__ import annotations

import importlib
import string

import numpy as np
import pyarrow as pa
import pytest

from indiff.risk.identifying.national_numbers import (
    CHECKED,
    NUMBERS,
    Number,
    evenly,
    is_beyond_chance,
    numbers_in,
)


def titles(texts: list[str]) -> list[str]:
    return [one.number.title for one in numbers_in(pa.array(texts, pa.string()))]


def digits(rng: np.random.Generator, count: int) -> str:
    return "".join(str(one) for one in rng.integers(0, 10, count))


def made_up(module: str, body: list[str], *, wrong: bool = False) -> list[str]:
    """Return numbers with a check digit that python-stdnum takes, or the next digit beside it."""
    checker = importlib.import_module(f"stdnum.{module}")
    found = []
    for start in body:
        right = [f"{start}{last}" for last in range(10) if checker.is_valid(f"{start}{last}")]
        if right:
            found.append(
                right[0] if not wrong else right[0][:-1] + str((int(right[0][-1]) + 1) % 10)
            )
    return found


NHS = made_up("gb.nhs", [digits(np.random.default_rng(n), 9) for n in range(40)])
CPF = ["390.533.447-05", "231.002.999-00", "529.982.247-25", "111.444.777-35", "168.995.350-09"]
# By the published rule: 97 minus the number of 13 digits modulo 97.
NIR = [
    f"{body}{97 - body % 97:02d}"
    for body in (1_84_12_76_451_089, 2_55_08_14_168_025, 2_90_01_75_112_001, 1_60_11_33_063_456)
]


def test_german_tax_numbers_by_their_own_rule() -> None:
    """Eleven digits; one occurs twice or thrice in the first ten; ISO 7064 mod 11, 10."""

    def idnr(body: str) -> str:
        product = 10
        for digit in body:
            total = (int(digit) + product) % 10 or 10
            product = 2 * total % 11
        return body + str((11 - product) % 10)

    right = [idnr(f"102345678{digit}") for digit in "12345678"]  # nine is missing, one repeats
    assert titles(right)[0] == "German tax numbers (IdNr)"
    wrong = [one[:-1] + str((int(one[-1]) + 1) % 10) for one in right]
    assert "German tax numbers (IdNr)" not in titles(wrong)


def test_french_numbers_with_and_without_blanks() -> None:
    assert all(importlib.import_module("stdnum.fr.nir").is_valid(one) for one in NIR)
    assert titles(NIR) == ["French social security numbers (NIR)"]
    spaced = [f"{x[0]} {x[1:3]} {x[3:5]} {x[5:7]} {x[7:10]} {x[10:13]} {x[13:]}" for x in NIR]
    assert titles(spaced) == titles(NIR)
    assert titles([one[:-1] + str((int(one[-1]) + 1) % 10) for one in NIR]) == []


def test_right_digits_in_any_writing_and_wrong_ones_in_none() -> None:
    assert titles(NHS)[0] == "NHS numbers of the United Kingdom"
    assert titles([f"{x[:3]} {x[3:6]} {x[6:]}" for x in NHS])[0] == titles(NHS)[0]
    assert titles([f"{x[:3]}-{x[3:6]}-{x[6:]}" for x in NHS])[0] == titles(NHS)[0]
    wrong = [one[:-1] + str((int(one[-1]) + 1) % 10) for one in NHS]
    assert "NHS numbers of the United Kingdom" not in titles(wrong)
    assert titles(CPF) == ["Brazilian CPF numbers"]


def test_half_of_a_column_may_be_something_else_and_not_more() -> None:
    other = [f"A{number}" for number in range(40)]
    assert titles(NHS + other[: len(NHS)])
    assert not titles([*NHS, *other, *(f"B{number}" for number in range(40))])


@pytest.mark.parametrize("width", range(3, 19))
def test_ordinary_numbers_are_no_numbers_of_people(width: int) -> None:
    """Random ones and running ones of any length; one of ten or so is right by chance."""
    rng = np.random.default_rng(width)
    assert titles(sorted({digits(rng, width) for _ in range(500)})) == []
    start = 10 ** (width - 1)
    assert titles([str(start + one) for one in range(500)]) == []
    assert titles([str(start + 10 * one) for one in range(90)]) == []


@pytest.mark.parametrize("number", NUMBERS, ids=lambda one: one.module)
def test_every_kind_can_be_asked_and_chance_is_no_more_than_said(number: Number) -> None:
    """Of random texts of its form, about as many are right as ``chance`` says, or fewer."""
    rng = np.random.default_rng(5)
    is_valid = number.is_valid
    width = {r"\d{11}": 11, r"\d{10}": 10, r"\d{9}": 9, r"\d{13}": 13, r"\d{15}": 15}.get(
        number.form
    )
    assert not is_valid("x")
    if width:
        texts = [digits(rng, width) for _ in range(4000)]
        assert np.mean([is_valid(text) for text in texts]) < number.chance * 1.25 + 0.002


@pytest.mark.parametrize(
    ("module", "bodies", "last"),
    [
        ("gb.nhs", [f"{body:09d}" for body in range(401_000_000, 401_002_200)], string.digits),
        ("it.codicefiscale", ["RCCMNL83S18D969"], string.ascii_uppercase),
    ],
)
def test_the_chance_is_that_of_the_check_digit(module: str, bodies: list[str], last: str) -> None:
    (number,) = (one for one in NUMBERS if one.module == module)
    right = [number.is_valid(f"{body}{end}") for body in bodies for end in last]
    assert np.mean(right) == pytest.approx(number.chance, rel=0.02)


# How many check characters there are to choose from, by each country's rule; two digits are 100.
CHECKS = {
    "fr.nir": 97, "be.nn": 97, "gb.nhs": 11, "nl.bsn": 11, "au.tfn": 11, "es.dni": 23,
    "es.nie": 23, "ie.pps": 23, "it.codicefiscale": 26, "fi.hetu": 31, "no.fodselsnummer": 100,
    "tr.tckimlik": 100, "br.cpf": 100,
}  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS, ids=lambda one: one.module)
def test_one_of_the_possible_check_characters_is_right(number: Number) -> None:
    assert number.chance == pytest.approx(1 / CHECKS.get(number.module, 10))
    assert is_beyond_chance(6, 6, number.chance)  # a column of six is enough for every kind


def test_a_long_column_is_looked_at_in_an_even_spread() -> None:
    texts = [f"{number:010d}" for number in range(3 * CHECKED)]
    texts[::3] = [NHS[place % len(NHS)] for place in range(CHECKED)]
    (found,) = numbers_in(pa.array(texts))
    assert len(found.looked_at) == CHECKED
    assert found.valid.all()


def test_few_right_ones_may_be_chance() -> None:
    assert titles(NHS[:4]) == []
    assert not is_beyond_chance(0, 0, 0.1)
    assert titles([]) == []


def test_of_few_every_one_is_looked_at_once() -> None:
    for count in (1, 100, CHECKED):
        assert evenly(np.arange(count)).tolist() == [*range(count)]
    some = evenly(np.arange(CHECKED + 1))
    assert len({*some.tolist()}) == CHECKED
