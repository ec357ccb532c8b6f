"""What the terminal shows of risk metrics: every part, and no value unless asked for."""

from __future__ import annotations

import io
import re
from typing import Any

import pyarrow as pa
import pytest

from indiff.report.terminal.risk import show_risk
from indiff.report.terminal.tables import open_console
from indiff.risk import Risk, measure_risk

LONG = "v" * 12 + "w" * 13  # one letter more than fits
WIDE = "n" * 10 + "m" * 11  # a column's name, too
# Ten records that their age tells apart; nine without a value; one alone. Twelve groups.
PLACES = pa.table(
    {
        WIDE: [LONG] * 10 + [None] * 9 + ["C"],
        "age": [*range(10), *[0] * 10],
    }
)


def shown(risk: Risk, **options: Any) -> str:
    stream = io.StringIO()
    show_risk(open_console(stream), risk, "people.csv", **options)
    return stream.getvalue()


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def places() -> Risk:
    return measure_risk(PLACES, quasi=[WIDE, "age"])


def test_the_three_values_with_most_of_the_risk_are_shown_without_being_named(
    places: Risk,
) -> None:
    text = shown(places)
    short = "n" * 10 + "…" + "m" * 9
    lines = [line.split() for line in text.splitlines() if line.startswith(short)]
    assert [" ".join(line[1:]) for line in lines[1:]] == [
        "a value 10 10 83.3 %",
        "a rare value 1 1 8.33 %",
        "a rare value 9 0 8.33 %",
    ]
    assert len(re.findall(r"^age +a (?:rare )?value ", text, re.MULTILINE)) == 3
    assert "a rare value: fewer than 10 records; --show-values names them." in flat(text)
    assert LONG not in text


def test_values_are_named_where_that_was_asked_for() -> None:
    risk = measure_risk(PLACES.rename_columns(["zip", "age"]), quasi=["zip", "age"])
    text = shown(risk, show_values=True)
    assert f"{'v' * 12}…{'w' * 11} 10 10 83.3 %" in flat(text)
    assert LONG not in text
    assert re.search(r" C +1 +1 +8\.33 %$", text, re.MULTILINE)
    assert re.search(r" \(missing\) +9 +0 +8\.33 %$", text, re.MULTILINE)
    assert "a rare value" not in text
    assert "--show-values" not in text


def test_where_the_worst_comes_from(places: Risk) -> None:
    """The long value's ten are alone together with their age, and C's one by itself."""
    text = flat(shown(places))
    assert "alone 11 records in 11 groups (11 in groups of 1), 55.0 % of all" in text
    assert "1 column at most 9 records singled out 2 columns 11 records singled out" in text


def test_the_question_and_what_is_said_beside_it() -> None:
    table = pa.table({"zip": ["a", "a", "b"], "who": [1, 2, 2], "ill": ["x"] * 3, "pay": [1, 2, 3]})
    alone = flat(shown(measure_risk(table, quasi="zip")))
    assert (
        "Risk of people.csv records 3 individuals each record is one quasi zip sensitive none"
        in (alone)
    )
    assert "note journalist risk equals prosecutor risk" in alone
    assert "λ" not in alone
    risk = measure_risk(table, quasi="zip", sensitive=["ill", "pay"], individual="who", bins=None)
    text = shown(risk)
    assert "individuals who quasi zip sensitive ill (categorical), pay (numeric)" in flat(text)
    assert "note ill is constant: nothing can be learned about it" in flat(text)
    assert len(re.findall(r"^λ ", text, re.MULTILINE)) == 2, "of each sensitive attribute"
    for heading in (
        "Who: how far the columns tell to whom a record belongs",
        "What: how far the columns tell ill",
        "What: how far the columns tell pay",
        "Groups: records with equal quasi-identifiers",
        "Groups: ill in them",
        "Groups: pay in them",
        "Columns: alone, and what each adds to the others",
        "alone: records singled out by that column only; adds: what all columns lose",
        "Values: the 3 of each column with most of the risk",
    ):
        assert heading in flat(text)
    assert flat(text).count("Where the worst of it comes from") == 3
    assert "one value 3 records in 2 groups (1 in groups of 1, 2 in groups of 2), 100" in flat(text)
    assert "in no group: no metric is at its maximum" in flat(
        shown(measure_risk(table, quasi="ill", sensitive="pay"))
    )


def test_less_is_shown_where_less_was_measured() -> None:
    table = pa.table({name: [1, 2, 2] for name in "abc"})
    text = shown(measure_risk(table, quasi=[*"abc"], details=False))
    assert "3 columns 1 records singled out" in flat(text)
    assert "1 column " not in text
    for heading in ("Columns:", "Values:", "Outliers:", "Combinations:", "adds:", "rare value"):
        assert heading not in text


def test_outliers_of_every_column() -> None:
    """Two records of a thousand hold 400, one holds 9: both far below a tenth of the average."""
    table = pa.table(
        {
            "age": [30] * 500 + [40] * 498 + [400] * 2,
            "size": [1, 2] * 499 + [9, 1],
            "sex": ["f", "m"] * 500,
        }
    )
    risk = measure_risk(table, quasi=["age", "size", "sex"])
    text = flat(shown(risk))
    assert (
        "Outliers: check, correct or suppress age 1 value, held by 2 records "
        "size 1 value, held by 1 record" in text
    )
    assert "held by 2 records: 400 size 1 value, held by 1 record: 9" in flat(
        shown(risk, show_values=True)
    )
    assert len(re.findall(r" outlier$", shown(risk), re.MULTILINE)) == 2


def test_the_ten_worst_combinations() -> None:
    table = pa.table({name: [(row >> place) % 2 for row in range(16)] for place, name in
                      enumerate("abcd")})  # fmt: skip
    text = shown(measure_risk(table, quasi=[*"abcd"], combinations=4))
    assert "Combinations: the worst 10 of 15" in text
    part = text[text.index("Combinations:") :]
    assert len(re.findall(r"^ *[\d.]+ +\d+ +[\d.]+ +\d+ +[a-d, ]+$", part, re.MULTILINE)) == 10
    assert re.search(r"^ *1 +16 +1 +1 +a, b, c, d$", part, re.MULTILINE)


def test_special_uniques_are_told_by_how_many_columns_single_them_out() -> None:
    """Nobody is alone by age or sex, and who is 40 and m is by both."""
    frame = pa.table({"age": [30, 30, 30, 40, 40, 40], "sex": list("fmmffm")})
    told = flat(shown(measure_risk(frame, quasi=["age", "sex"], special=2)))
    assert "records 2 of 6 (2 by 2 columns)" in told
