"""A sensitive expression is named as it was typed only where no value in it is a secret."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.audit.expression_names import other_names
from indiff.data.table import read_table
from tests.audit.test_redaction import audited, outputs

RECORDS = 200
FRAME = pa.table(
    {
        "age": [20 + number % 10 for number in range(RECORDS)],  # 20 records each
        "pay": [1000 * (number % 20) for number in range(RECORDS - 1)] + [762_431],
        "ill": ["flu", "cold"] * 99 + ["Rarissima", "O'Rare"],
    }
)


@pytest.mark.parametrize(
    "expression",
    [
        "pay > 4500",  # nobody's, and many on both sides
        "pay > 5000",  # held by ten
        "pay > 5e3",
        '"pay" between 3000 and 5000',
        "ill = 'flu'",
        "age > 25 and ill in ('flu', 'cold')",
        "pay > age * age",
    ],
)
def test_what_many_hold_is_named(expression: str) -> None:
    assert other_names(read_table(FRAME, quasi=["age"], sensitive=expression), 10) == {}


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("pay > 762430.5", "a condition on pay"),  # one record alone above it
        ("pay = 762431", "a condition on pay"),
        ("pay > 762_430", "a condition on pay"),
        ("ill = 'Rarissima'", "a condition on ill"),
        ("ill LIKE 'Raris%'", "a condition on ill"),
        ("ill = 'O''Rare'", "a condition on ill"),
        ("ill = 'flu' /* Rarissima */", "a condition on ill"),
        ("ill = $$Rarissima$$", "a condition on ill"),
        ("pay > 4500 and ill <> 'O''Rare'", "a condition on pay and ill"),
        ("concat(ill, 'Rarissima')", "an expression over ill"),
    ],
)
def test_what_few_hold_is_not(expression: str, name: str) -> None:
    table = read_table(FRAME, quasi=["age"], sensitive=expression)
    assert other_names(table, 10) == {expression: name}


def test_two_expressions_keep_names_of_their_own() -> None:
    both = ["pay > 762430", "pay < 762000"]
    found = other_names(read_table(FRAME, quasi=["age"], sensitive=both), 10)
    assert list(found.values()) == ["a condition on pay", "a condition on pay (2)"]


def test_a_column_that_reads_like_an_expression_is_a_column() -> None:
    frame = FRAME.append_column("pay over there: 762431", FRAME["ill"])
    read = read_table(frame, quasi=["age"], sensitive="pay over there: 762431")
    assert other_names(read, 10) == {}


@pytest.mark.parametrize(
    ("expression", "secret"),
    [
        ("pay > 762430", "762430"),
        # Two kinds of quotes, which repr escapes; and longer than a title may be.
        ("ill = 'O''Rare' or \"ill\" = 'Rarissima'", "Raris"),
        ("ill = 'Rarissima'" + " or ill = 'Rarissima'" * 9, "Raris"),
    ],
)
def test_no_output_has_it(expression: str, secret: str) -> None:
    column = "ill" if "ill" in expression else "pay"
    result = audited(
        FRAME,
        data={"quasi": ["age", column], "sensitive": expression},
        limits={f"inference.{expression}.itpr": 1, "delta": 2},
        report={"parameter": "mondrian:k=2,500"},
    )
    shown = f"a condition on {column}"
    (note,) = result.document["table"]["notes"]
    assert note.replace('"', "'") == (
        f"'{column}' is a quasi-identifier and '{shown}' follows from it"
    )
    assert result.finding(f"delta:{shown}:naive-bayes").about == shown
    assert result.verdict["status"] == "pass"
    for text in outputs(result).values():
        assert secret not in text
        assert secret.upper() not in text
    assert secret not in result._repr_html_()


def test_show_values_shows_it() -> None:
    result = audited(
        FRAME,
        data={"quasi": ["age"], "sensitive": "pay > 762430"},
        report={"show_values": True},
    )
    assert "pay > 762430" in result.to_markdown().replace("\\", "")


def test_a_comparison_has_the_same_name() -> None:
    table = indiff.read_table(FRAME, quasi=["age"], sensitive="ill = 'Rarissima'")
    found: Any = indiff.compare(table, "mondrian:k=5,500")
    assert found.sensitive == found.task == "a condition on ill"
    assert found.rows[1].reason.endswith("got 500. Lower k.")
    assert "Raris" not in found.to_json()
