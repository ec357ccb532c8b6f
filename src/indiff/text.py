"""Writes names, messages, numbers, percentages and JSON, safe to print."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, TextIO

from indiff.errors import Message

LONGEST_NAME = 60
LONGEST_MESSAGE = 1200
FORMAT = 1
"""The number that every JSON document of indiff has as ``format``."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "record"), counted(1200, "record")
    ('1 record', '1,200 records')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def escaped(text: str) -> str:
    r"""Write every character that does not print, line ends included, as its escape.

    >>> escaped("age\x1b[31m\u202e\n")
    'age\\x1b[31m\\u202e\\n'
    """
    if text.isprintable():  # nearly all: looked at letter by letter, it took a seventh of a report
        return str.__str__(text)  # plain, whatever kind of text it is
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def name(text: str) -> str:
    """Return a column's name as it can be shown; a very long one is cut.

    >>> name("age")
    'age'
    >>> len(name("x" * 1000))
    60
    """
    return shortened(escaped(text), LONGEST_NAME)


def message(text: str) -> str:
    """Return a message as one line; of a very long one the middle is left out."""
    return shortened(escaped(text), LONGEST_MESSAGE)


def shortened(text: str, longest: int) -> str:
    """Cut the middle out of a text that is too long, so that its beginning and end stay.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= longest:
        return text
    head = longest // 2
    return text[:head] + "…" + text[len(text) - (longest - head - 1) :]


def is_text(value: object) -> bool:
    """Tell whether something is a text that a file can hold.

    A terminal may send bytes that are no UTF-8, which Python takes for halves of characters.

    >>> is_text("größer"), is_text("\\udcff"), is_text(7)
    (True, False, False)
    """
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def forget_output(stream: TextIO) -> None:
    """Send what is still to be written nowhere: the reader at the other end has left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


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


def percent_down(count: int, total: int) -> str:
    """Write a share of a column of shares, rounded down, so that 100 % means all.

    >>> percent_down(4999, 5000), percent_down(5000, 5000)
    ('99.9 %', '100.0 %')
    """
    return f"{math.floor(1000 * count / total) / 10:.1f} %"


def fingerprint(text: str) -> str:
    """Return how a fingerprint begins: the name of its key, and enough to tell two apart."""
    return text[: 8 + 1 + 16]


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


def describe(part: object) -> str:
    """Name a sanitizer or model as the command line does.

    >>> describe(describe)
    'function'
    """
    text = str(part)
    nameless = "<lambda>" in text or " at 0x" in text  # a shell command may well have a "<"
    named = type(part).__str__ is not object.__str__ and not nameless
    return text if named else type(part).__name__.lower()


def html_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table for a notebook; every cell is escaped.

    >>> html_table(["δ"], [["<1"]])
    '<table><thead><tr><th>δ</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html(one)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html(text: Any) -> str:
    """Return a text on one line, escaped for a page."""
    return escape(message(str(text)))


def json_text(document: Any, *, indent: int = 2) -> str:
    r"""Write a document as JSON, in the document's own order: the one way for every result.

    JSON has no infinite numbers and no NaN: they are the texts that :func:`json_values` writes.

    >>> json_text({"delta": math.inf, "name": "größer"})
    '{\n  "delta": "Infinity",\n  "name": "größer"\n}\n'
    """
    values = json_values(document)
    return json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def json_values(value: Any, *, digits: int | None = None) -> Any:
    """Turn infinite numbers and NaN into text, tuples into lists; round floats if asked to.

    A :class:`~indiff.errors.Message` is written without values and without what a program said.

    >>> json_values({"d": (1 / 3, math.inf, -math.inf, math.nan, 5)}, digits=12)
    {'d': [0.333333333333, 'Infinity', '-Infinity', 'NaN', 5]}
    """
    if isinstance(value, Mapping):
        return {str(key): json_values(part, digits=digits) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(part, digits=digits) for part in value]
    if isinstance(value, Message):
        return value.for_files
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value if digits is None else float(f"{value:.{digits}g}")
