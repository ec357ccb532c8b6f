"""Plain names come before those of the command line, and sentences begin as sentences do."""

from __future__ import annotations

from typing import Any

import pytest

from indiff.report.plain_words import recommendation, sanitized, sentence, step_words


def test_no_option_stands_without_what_it_does() -> None:
    said = step_words("--fix removes at most 1 unless --budget allows more, or mondrian:k=2,l=3.")
    assert said == (
        "a fix (--fix) removes at most 1 unless a larger budget (--budget) allows more, or groups "
        "of similar people (mondrian:k=2,l=3)."
    )
    assert step_words(said) == said


@pytest.mark.parametrize("name", ["theirs.csv", "command:./a.sh", ""])
def test_what_has_no_plain_name_is_as_it_is(name: str) -> None:
    assert sanitized(name) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the time was up", "The time was up."),
        ("cell-11 is open: a point", "cell-11 is open: a point."),
        ("hipaa-safe-harbor is open", "hipaa-safe-harbor is open."),
        ("δ is 2.", "δ is 2."),
        ("'zip' is blank!", "'zip' is blank!"),
        ("5 records are alone", "5 records are alone."),
        ("k = 9 is best", "k = 9 is best."),
        ("a tree was asked", "A tree was asked."),
        ("", "."),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_with_a_name(text: str, said: str) -> None:
    assert sentence(text) == said


def test_a_recommendation_says_where_nothing_can_be_learned() -> None:
    """All 100 records in one group keep any limit on δ, and tell nothing."""
    row = {"setting": "suppress", "models": ["frequency", "naive-bayes", "tree"], "k": 100}
    document: dict[str, Any] = {
        "rows": [row], "recommended": "suppress", "limits": {"delta": 0.1}, "records": 100,
        "utility": "ncp",
    }  # fmt: skip
    assert "nothing can be learned from its columns" in recommendation(document)
    document["rows"] = [{**row, "k": 50}]
    assert "nothing can be learned" not in recommendation(document)
    assert "cells read as covering a value or not (encoding TF-TF)" in recommendation(document)
