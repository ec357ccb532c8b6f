"""Writes values as a form's fields take them, and reads how a page writes dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# How a page writes the parts of a date, and how a plan does; the longest first.
_DATE_PARTS = {"YYYY": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "DD": "%d"}


def coded_dates(text: str) -> str:
    """Return how dates are written as a plan says it.

    >>> coded_dates("DD.MM.YYYY"), coded_dates("MMM born=MM/DD/YYYY; seen=excel")
    ('%d.%m.%Y', 'MMM born=%m/%d/%Y; seen=excel')
    """
    parts = []
    for part in text.split(";"):
        column, sign, told = part.rpartition("=")
        for letters, code in _DATE_PARTS.items():
            told = told.replace(letters, code)
        parts.append(column + sign + told)
    return ";".join(parts)


def lettered_dates(text: str) -> str:
    """Return a plan's date format as a page writes it.

    >>> lettered_dates("%d.%m.%Y")
    'DD.MM.YYYY'
    """
    for letters, code in _DATE_PARTS.items():
        text = text.replace(code, letters)
    return text


def written(value: Any) -> str:
    """Write a value as a form's field takes it.

    >>> written(["", "?", "NA"]), written({"birth": "%d.%m.%Y"}), written(5.0), written(None)
    ('"", ?, NA', 'birth=DD.MM.YYYY', '5', '')
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={lettered_dates(str(one))}" for name, one in value.items())
    if isinstance(value, str) and "%" in value:
        return lettered_dates(value)
    if isinstance(value, list | tuple):
        return ", ".join(one or '""' for one in map(str, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
