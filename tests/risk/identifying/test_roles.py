"""Roles are guessed with their reasons, from names, counts and what values are."""

from __future__ import annotations

import pyarrow as pa
import pytest

import indiff
from indiff.errors import UserError
from indiff.risk.identifying.roles import guess_roles


def test_the_demo_table() -> None:
    guesses = {guess.column: guess for guess in guess_roles(indiff.datasets.demo())}
    roles = {name: guess.role for name, guess in guesses.items()}
    assert roles == {
        "patient_id": "identifier", "age": "quasi", "sex": "quasi", "zip": "quasi",
        "marital_status": "quasi", "admitted": "quasi", "diagnosis": "sensitive",
    }  # fmt: skip
    assert guesses["patient_id"].reason == "different in every record"
    assert guesses["sex"].reason == "a text with few distinct values (2)"
    assert guesses["admitted"].kind == "date"


def test_a_guess_of_the_sensitive_column_is_marked() -> None:
    frame = pa.table({"age": [1, 2, 2, 3], "a": ["x", "y", "y", "y"], "b": ["u", "v", "v", "u"]})
    last = guess_roles(frame)[-1]
    assert (last.column, last.role) == ("b", "sensitive")
    assert "A GUESS, choose yourself" in last.reason


def test_free_text_is_no_quasi_identifier() -> None:
    """Remarks repeat here and there, so that they are no identifier either; short codes are."""
    count = 200
    frame = pa.table({
        "age": [row % 50 for row in range(count)],
        "remark": [f"came in on day {row % 190} with pain, sent home" for row in range(count)],
        "code": [f"K{row % 190}" for row in range(count)],
        "illness": [("flu", "cold")[row % 2] for row in range(count)],
    })  # fmt: skip
    guesses = {guess.column: guess for guess in guess_roles(frame)}
    assert guesses["remark"].role == "other"
    assert guesses["remark"].reason.startswith("free text")
    assert guesses["code"].role == "quasi"


def test_constant_and_unique_columns() -> None:
    frame = pa.table({"same": ["x"] * 3, "key": [7, 8, 9], "illness": ["a", "b", "b"],
                      "age": [1, 1, 2]})  # fmt: skip
    roles = {guess.column: guess.role for guess in guess_roles(frame)}
    assert roles == {"same": "other", "key": "identifier", "illness": "sensitive", "age": "quasi"}


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(UserError, match="a table needs at least one record"):
        guess_roles(pa.table({"a": pa.array([], pa.int64())}))
