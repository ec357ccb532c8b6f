"""Tests for the one way to write JSON."""

from __future__ import annotations

import datetime
import json
import math

import numpy as np
import pytest

from indiff.text import json_text, json_values


def test_infinite_numbers_are_written_in_one_way() -> None:
    document = {"up": math.inf, "down": -math.inf, "none": math.nan, "deep": [(np.float64("inf"),)]}
    assert json.loads(json_text(document)) == {
        "up": "Infinity", "down": "-Infinity", "none": "NaN", "deep": [["Infinity"]],
    }  # fmt: skip


def test_the_order_is_the_documents_own_and_the_end_is_a_line_end() -> None:
    text = json_text({"b": 1, "a": "ü"}, indent=1)
    assert text == '{\n "b": 1,\n "a": "ü"\n}\n'


def test_numbers_keep_their_digits_unless_they_are_rounded() -> None:
    assert json_values([0.1 + 0.2, 5]) == [0.30000000000000004, 5]
    assert json_values([0.1 + 0.2, 1e300, 12345678901234567], digits=12) == [
        0.3, 1e300, 12345678901234567,
    ]  # fmt: skip


def test_what_json_has_no_word_for_is_a_bug_and_not_a_guess() -> None:
    with pytest.raises(TypeError):
        json_text({"when": datetime.date(2026, 1, 1)})
