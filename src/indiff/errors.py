"""The two ways a call can fail: the user's to change, or ours to fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """Bad input or usage: the message states the rule, the value received and the way out.

    The command line prints the message as it is and exits with 2.
    """


class InternalError(RuntimeError):
    """A bug in indiff: the command line asks for a report and exits with 70."""


def foreign(words: str) -> str:
    """Mark what another program said, which may hold values of a table: reports leave it out.

    >>> foreign("no level for «7»")
    '«no level for <7>»'
    """
    return f"«{words.replace('«', '<').replace('»', '>')}»"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``": did you mean 'age'?"``, or an empty string where nothing is near.

    >>> did_you_mean("agee", ["age", "sex"])
    ": did you mean 'age'?"
    >>> did_you_mean("zzz", ["age", "sex"])
    ''
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {near[0]!r}?" if near else ""


def unknown(what: str, word: str, known: Iterable[str]) -> UserError:
    """Return the error for a name that is not one of the known ones, with the nearest of them.

    >>> print(unknown("column", "agee", ["age", "sex"]))
    no column 'agee': did you mean 'age'? Known: age, sex.
    >>> print(unknown("column", "height", ["age", "sex"]))
    no column 'height'. Known: age, sex.
    """
    known = list(known)
    shown = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    return UserError(f"no {what} {word!r}{did_you_mean(word, known) or '.'} Known: {shown}.")
