"""Sums up the numbers of several draws, and compares them with a printed one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the middle, lowest and highest of some numbers.

    >>> spread([3.0, 1.0, 2.0])
    (2.0, 1.0, 3.0)
    """
    return float(np.median(values)), float(min(values)), float(max(values))


def span(values: Sequence[float], digits: str = ".4g") -> str:
    """Write the range of some numbers; one number alone as it is.

    >>> span([0.2, 0.1]), span([9.611e-05]), span([7960, 7920], ",")
    ('0.1 … 0.2', '9.611e-05', '7,920 … 7,960')
    """
    low, high = min(values), max(values)
    return format(low, digits) if low == high else f"{low:{digits}} … {high:{digits}}"


def place(printed: float, values: Sequence[float], digits: float) -> str:
    """Tell whether a printed number, rounded to ``digits``, lies inside the range of ours.

    >>> place(0.43, [0.4353], 0.01), place(0.44, [0.4353], 0.01), place(0.2, [0.1, 0.3], 0.1)
    ('same, truncated', 'same', 'inside')
    """
    low, high = min(values) - digits / 2, max(values) + digits / 2
    alone = len(set(values)) == 1
    if low <= printed <= high:
        return "same" if alone else "inside"
    if alone and printed <= values[0] < printed + digits:
        return "same, truncated"
    return "below ours" if printed < low else "above ours"


def same(ours: object, printed: object) -> str:
    """Tell whether our number, as written, is the printed one.

    >>> same("2/3", "2/3"), same("2/3", "1/2")
    ('same', 'differs')
    """
    return "same" if ours == printed else "differs"
