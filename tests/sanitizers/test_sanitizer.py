"""Sanitizers as text: written as they are read, and refused with a way out."""

from __future__ import annotations

import pytest

from indiff.errors import UserError
from indiff.sanitizers.sanitizer import as_sanitizer


@pytest.mark.parametrize(
    "text",
    [
        "laplace:epsilon=0.5",
        "laplace:epsilon=inf",
        "geometric:epsilon=2,bins=3",
        "gaussian:sigma=1.5",
        "randomized-response:epsilon=0.5,bins=none",
    ],
)
def test_text_and_back(text: str) -> None:
    assert str(as_sanitizer(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("laplace", "laplace needs epsilon; got 'laplace'. Write laplace:epsilon=0.5."),
        ("gaussian:bins=3", "gaussian needs sigma"),
        ("laplace:epsilon=nan", "epsilon must be greater than 0 .*; got nan"),
        ("laplace:epsilon=much", "epsilon cannot be 'much'"),
        ("laplace:sigma=1", "no parameter of laplace 'sigma'"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        as_sanitizer(text)
