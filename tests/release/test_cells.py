"""Cells of a released column: numbers and dates as people write them."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pyarrow as pa
import pytest

from indiff import UserError, read_table
from indiff.data.table import Attribute
from indiff.release.cells import read_regions
from indiff.release.regions import Anything, Interval, Region


def attribute(values: list[Any]) -> Attribute:
    frame = pa.table({"x": values, "s": [str(one) for one in values]})
    return read_table(frame, quasi=["x"], sensitive="s").attribute("x")


def written(column: Attribute, *cells: str) -> tuple[list[Region], str | None]:
    regions, rows, style = read_regions(cells, column)
    return [regions[row] for row in rows], None if style is None else style.words


def test_numbers_are_read_as_people_write_them() -> None:
    income = attribute([500.5, 1234.5, 28810.0, 99000.0])
    comma = "numbers with a comma before the fraction"
    assert written(income, "28810,00", "500,5", "*") == (
        [Interval(28810, 28810), Interval(500.5, 500.5), Anything()], comma,
    )  # fmt: skip
    assert written(income, "[500,5; 1.234,5]", "[500,5, 28810,00]", "1234,5-99000", "<500,5") == (
        [
            Interval(500.5, 1234.5), Interval(500.5, 28810), Interval(1234.5, 99000),
            Interval(-math.inf, 500.5, high_closed=False),
        ],
        comma,
    )  # fmt: skip
    assert written(income, "1,234.5", "28,810") == (
        [Interval(1234.5, 1234.5), Interval(28810, 28810)], "numbers with signs between thousands",
    )  # fmt: skip
    # As before: a comma in brackets that stands for no fraction.
    assert written(income, "[500,28810]", "{500,1234.5}")[1] is None


def test_the_originals_values_decide_between_a_fraction_and_thousands() -> None:
    thousands, fractions = attribute([900.0, 1234.0, 4000.0]), attribute([0.9, 1.234, 4.0])
    assert written(thousands, "1.234", "2.500")[0] == [Interval(1234, 1234), Interval(2500, 2500)]
    assert written(fractions, "1.234", "2.500")[0] == [Interval(1.234, 1.234), Interval(2.5, 2.5)]
    assert written(fractions, "1,234", "2,500")[0] == [Interval(1.234, 1.234), Interval(2.5, 2.5)]
    with pytest.raises(UserError, match="can be read in more than one way"):
        written(attribute([0.5, 9000.0]), "1.234")


def test_dates_are_read_as_people_write_them() -> None:
    born = attribute([datetime.date(1976, 7, 31), datetime.date(1980, 2, 29)])

    def days(text: str) -> int:
        return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days

    assert written(born, "31.07.1976", "02.1980", "1976", "01.02.1977-29.02.1980") == (
        [
            Interval(days("1976-07-31"), days("1976-07-31")),
            Interval(days("1980-02-01"), days("1980-02-29")),
            Interval(days("1976-01-01"), days("1976-12-31")),
            Interval(days("1977-02-01"), days("1980-02-29")),
        ],
        "dates with the day first",
    )
    assert written(born, "07/31/1976")[1] == "dates with the month first"
    with pytest.raises(UserError, match="can be read in more than one way"):
        written(born, "01/02/1978")
