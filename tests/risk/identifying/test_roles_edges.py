"""The role of a column, at the very edge of every rule."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from indiff.risk.identifying.recognise import Column
from indiff.risk.identifying.roles import Guess, guess_all

MAILS = [f"{name}@example.org" for name in ("ann", "bob", "eve", "joe")]


def guessed(cells: list[Any], name: str = "x") -> tuple[str, str]:
    (found,) = guess_all([Column.of(name, pa.chunked_array([pa.array(cells)]))])
    return found.role, found.reason


@pytest.mark.parametrize(
    ("cells", "name", "role", "reason"),
    [
        # Half of the cells are enough; fewer are something to read.
        ([*MAILS[:2], "a", "a"], "x", "identifier", "2 of 4 cells: e-mail addresses"),
        ([*MAILS[:1], "a", "a"], "x", "other", "1 of 3 cells: e-mail addresses: READ IT"),
        # Different in every record, unless it is a number with fractions or one record.
        ([1, 2, 3], "x", "identifier", "different in every record"),
        ([1, 2], "x", "identifier", "different in every record"),
        ([1.5, 2.5, 3.5], "x", "quasi", "a number with 3 distinct values"),
        (["a"], "x", "other", "the same in every record: it tells nothing"),
        (["a", "b", None], "x", "quasi", "a text with few distinct values (2)"),
        # A name and more than half of the records.
        ([1, 2, 3, 3, 4, 4], "id", "identifier", "its name, and different in most records"),
        ([1, 2, 3, 3, 3, 3], "id", "quasi", "a number with 3 distinct values"),
        ([1, 2, 3, 3, 4, 4], "nr", "identifier", "its name, and different in most records"),
        ([1, 2, 3, 3, 4, 4], "room_nr", "identifier", "its name, and different in most records"),
        ([1, 2, 3, None, None, None, None], "nr", "quasi", "a number with 3 distinct values"),
        ([1, 2, 3, 3, 4, 4], "city", "quasi", "a number with 4 distinct values"),
        # What a name says of health or money.
        ([1, 2, 2, 2], "monthly_income", "sensitive", "its name speaks of health, money or belief"),
        (["a"] * 4, "income", "other", "the same in every record: it tells nothing"),
        # Few values are up to thirty.
        ([*map(str, range(30)), "0"], "x", "quasi", "a text with few distinct values (30)"),
        ([*map(str, range(31)), "0"], "x", "quasi", "a text with many distinct values (31)"),
    ],
)
def test_roles_and_reasons(cells: list[Any], name: str, role: str, reason: str) -> None:
    assert guessed(cells, name) == (role, reason)


def test_births_are_births_whatever_their_column_is_called() -> None:
    """Forty dates over forty years, each of them twice: too few for what names somebody."""
    dates = [date(1950 + year, 1, 1) for year in range(40)] * 2
    for name in ("x", "fax"):
        assert guessed(dates, name) == ("quasi", "dates, as spread as births are")


def table(**distinct: int) -> list[Column]:
    """Columns of texts with so many distinct values, each at least twice."""
    return [
        Column.of(name, pa.chunked_array([pa.array([f"v{at % count}" for at in range(80)])]))
        for name, count in distinct.items()
    ]


def roles(found: list[Guess]) -> dict[str, str]:
    return {one.column: one.role for one in found}


def test_the_last_column_with_few_values_is_taken_for_sensitive() -> None:
    assert roles(guess_all(table(a=3, b=30, c=31))) == {
        "a": "quasi", "b": "sensitive", "c": "quasi",
    }  # fmt: skip
    assert roles(guess_all(table(a=3, b=2, c=1))) == {
        "a": "quasi", "b": "sensitive", "c": "other",
    }  # fmt: skip
    assert roles(guess_all(table(a=40, b=39))) == {"a": "quasi", "b": "quasi"}
    assert roles(guess_all(table(a=3))) == {"a": "quasi"}  # what is left would be nothing
    assert roles(guess_all(table(a=3, c=1))) == {"a": "quasi", "c": "other"}
    (_, taken, _) = guess_all(table(a=3, b=30, c=31))
    assert taken.reason == "the last column with few values: A GUESS, choose yourself"
    assert taken.distinct == 30


def test_where_a_name_says_so_nothing_is_guessed() -> None:
    assert roles(guess_all(table(disease=3, b=30))) == {"disease": "sensitive", "b": "quasi"}
