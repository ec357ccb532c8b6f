"""Text that is safe to print: one line, no control characters, of a bounded length."""

from __future__ import annotations

import os
from typing import TextIO

LONGEST_NAME = 60
LONGEST_MESSAGE = 1200


def escaped(text: str) -> str:
    r"""Write every character that does not print, line ends included, as its escape.

    >>> escaped("age\x1b[31m\u202e\n")
    'age\\x1b[31m\\u202e\\n'
    """
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


def forget_output(stream: TextIO) -> None:
    """Send what is still to be written nowhere: the reader at the other end has left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
