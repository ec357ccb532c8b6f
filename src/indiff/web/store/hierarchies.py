"""Hierarchies built from a column's values: bands of numbers, masked codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from indiff.errors import UserError

LONGEST_CODE = 40


def bands(values: Iterable[int | float], widths: Sequence[int], start: int = 0) -> list[str]:
    """Return a hierarchy's lines: each number, the bands that hold it, and ``*``.

    >>> bands([31, 47], [5, 10])
    ['31;30-34;30-39;*', '47;45-49;40-49;*']
    """
    for narrow, wide in pairwise(widths):
        if wide <= narrow or wide % narrow:
            raise UserError(
                "each width must be a multiple of the one before, so that bands nest",
                ", ".join(map(str, widths)),
                "Try 5, 10, 20, 40",
            )
    lines = []
    for value in values:
        if value != int(value):
            raise UserError(
                "bands are made of whole numbers; this column has others",
                way_out="Attach a hierarchy file",
            )
        number = int(value)
        levels = [str(number)]
        for width in widths:
            if width > 1:
                low = start + (number - start) // width * width
                levels.append(_band(low, low + width - 1))
        lines.append(";".join([*levels, "*"]))
    return lines


def _band(low: int, high: int) -> str:
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"


def masks(values: Iterable[str]) -> list[str]:
    """Return a hierarchy's lines: each code, then with one more of its last characters masked.

    >>> masks(["1234", "1299"])
    ['1234;123*;12**;1***;*', '1299;129*;12**;1***;*']
    """
    lines = []
    for value in values:
        if not value or len(value) > LONGEST_CODE or any(sign in value for sign in ';*"\n\r'):
            raise UserError(
                f"masked codes are made of texts of at most {LONGEST_CODE} characters "
                'without ";", "*" and quotation marks; this column has others',
                way_out="Attach a hierarchy file",
            )
        size = len(value)
        levels = [value[: size - hidden] + "*" * hidden for hidden in range(size)]
        lines.append(";".join([*levels, "*"]))
    return lines
