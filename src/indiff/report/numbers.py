"""Numbers in a report: short, and never rounded across the limit they are compared with."""

from __future__ import annotations

import math
import re
from typing import Any


def number(value: Any, digits: int = 4) -> str:
    """Write a number of a document; infinity and NaN come as text, nothing as null.

    >>> number(12345.0), number(0.933781), number("Infinity"), number(None), number(True)
    ('12,345', '0.9338', '∞', '—', 'yes')
    """
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    size = float(value)
    if math.isnan(size):
        return "undefined"
    if math.isinf(size):
        return "∞" if size > 0 else "−∞"
    if size.is_integer() and abs(size) < 1e15:
        return f"{int(size):,}".replace("-", "−")
    if abs(size) >= 10 ** (digits - 1):
        return f"{size:,.1f}".replace("-", "−")
    return f"{size:.{digits}g}".replace("-", "−")


def apart(value: Any, limit: Any) -> str:
    """Write a value with so many digits that it does not read like a limit it differs from.

    >>> apart(0.1000004, 0.1), apart(0.1, 0.1), apart(0.25, 0.1)
    ('0.1000004', '0.1', '0.25')
    """
    for digits in range(4, 18):
        text = number(value, digits)
        if text != number(limit, digits) or value == limit:
            return text
    return repr(value)


def percent(share: Any) -> str:
    """Write a share; 0% and 100% only where it is exactly that.

    >>> percent(0.99999), percent(1.0), percent(0.0312), percent(0.00001), percent(None)
    ('> 99.9%', '100%', '3.1%', '< 0.1%', '—')
    """
    if share is None or not math.isfinite(float(share)):
        return number(share)
    size = 100 * float(share)
    if 0 < size < 0.1:
        return "< 0.1%"
    if 99.9 < size < 100:
        return "> 99.9%"
    return f"{size:.1f}".removesuffix(".0") + "%"


def moment(text: str) -> str:
    """Write a moment as a document has it, in Universal Time, for a reader.

    >>> moment("2026-11-16T02:44:10+00:00"), moment("yesterday")
    ('2026-11-16 02:44:10 UTC', 'yesterday')
    """
    return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\+00:00$", r"\1 \2 UTC", text)


def duration(seconds: Any) -> str:
    """Write a duration.

    >>> duration(0.25), duration(12.3), duration(3723)
    ('0.25 s', '12 s', '1 h 2 min')
    """
    size = float(seconds)
    if size < 10:
        return f"{size:.2g} s"
    if size < 120:
        return f"{size:.0f} s"
    if size < 3600:
        return f"{size / 60:.0f} min"
    return f"{int(size // 3600)} h {int(size % 3600 // 60)} min"
