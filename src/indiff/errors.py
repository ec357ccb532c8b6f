"""Tells what a user can correct from what is a bug of ours, and keeps such an error in parts."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

# Marks inside a sentence. They are never shown: every reader's words are made from the parts.
_DATA, _OPTION, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"([{_DATA}{_OPTION}])([^{_END}]*){_END}")


@dataclass(frozen=True)
class Data:
    """A part that comes from the data, or from a program that saw it: reports withhold it."""

    text: str


@dataclass(frozen=True)
class Option:
    """A part that names an option, with the value to give it: ``missing='drop'``.

    ``of`` names the text that holds the option: ``unmet=generalize`` belongs in ``sanitizer``.
    """

    name: str
    value: Any = None
    of: str | None = None

    def in_python(self) -> str:
        """Return the option as a keyword argument.

        >>> Option("missing", "drop").in_python(), Option("quasi").in_python()
        ("missing='drop'", 'quasi=')
        """
        return f"{self.name}={'' if self.value is None else repr(self.value)}"


Part = str | Data | Option


class UserError(ValueError):
    """Bad input or usage: the rule, what was received, and the way out, as parts.

    ``field`` names the option or column that it is about. The three sentences may hold parts made
    by :func:`from_data` and :func:`option`; ``str`` of the error words them for Python, and the
    command line and the pages word them for their own readers.

    >>> print(UserError("k must be at least 1", 0, "Raise k", field="k"))
    k must be at least 1; got 0. Raise k.
    >>> print(UserError("a number has a value", way_out=f"Pass {option('missing', 'drop')}"))
    a number has a value. Pass missing='drop'.
    """

    def __init__(
        self, rule: str, got: object = None, way_out: str = "", *, field: str | None = None
    ) -> None:
        self.rule, self.got, self.way_out, self.field = rule, got, way_out, field
        super().__init__(self.worded())

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.rule, self.got, self.way_out, self.field)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The whole message, cut where an option or something from the data stands."""
        first = self.rule if self.got is None else f"{self.rule}; got {self.got}"
        return tuple(_parts(" ".join(map(_ended, filter(None, (first, self.way_out))))))

    def worded(
        self,
        option: Callable[[Option], str] = Option.in_python,
        data: Callable[[Data], str] = lambda part: part.text,
    ) -> str:
        """Return the message in a reader's words for options, and for what comes from the data.

        >>> error = UserError("ages are numbers", from_data("4o"), f"See {option('bins')}")
        >>> error.worded(option=lambda part: f"--{part.name}", data=lambda part: "a value")
        'ages are numbers; got a value. See --bins.'
        """
        words = {Data: data, Option: option, str: str}
        return "".join(words[type(part)](part) for part in self.parts)  # type: ignore[operator]


class InternalError(RuntimeError):
    """A bug in indiff: the command line asks for a report and exits with 70."""


def from_data(value: object) -> str:
    """Mark a value of the table for a :class:`UserError`; it is shown as Python writes it.

    >>> str(UserError("a class is a word", from_data("flu\\n")))
    "a class is a word; got 'flu\\\\n'."
    """
    return _marked(_DATA, repr(value))


def said(words: str) -> str:
    """Mark what another program said, which may hold values of a table.

    >>> str(UserError(f"the command failed: {said('no level for 7')}"))
    'the command failed: «no level for 7».'
    """
    return _marked(_DATA, f"«{words}»")


def option(name: str, value: Any = None, *, of: str | None = None) -> str:
    """Mark an option for a :class:`UserError`: Python, shell and page each write it their way.

    >>> str(UserError("regions differ", way_out=f"Pass {option('bins', {'age': 5})}"))
    "regions differ. Pass bins={'age': 5}."
    """
    return _marked(_OPTION, json.dumps([name, value, of]))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``": did you mean 'age'?"``, or an empty string where nothing is near.

    >>> did_you_mean("agee", ["age", "sex"])
    ": did you mean 'age'?"
    >>> did_you_mean("zzz", ["age", "sex"])
    ''
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {near[0]!r}?" if near else ""


def unknown(what: str, word: str, known: Iterable[str], *, field: str | None = None) -> UserError:
    """Return the error for a name that is not one of the known ones, with the nearest of them.

    >>> print(unknown("column", "agee", ["age", "sex"]))
    no column 'agee': did you mean 'age'? Known: age, sex.
    >>> print(unknown("column", "height", ["age", "sex"]))
    no column 'height'. Known: age, sex.
    """
    known = list(known)
    shown = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    rule = f"no {what} {word!r}{did_you_mean(word, known)}"
    return UserError(rule, way_out=f"Known: {shown}", field=field)


def _rebuilt(
    kind: type[UserError], rule: str, got: object, way_out: str, field: str | None
) -> UserError:
    return kind(rule, got, way_out, field=field)


def _marked(mark: str, text: str) -> str:
    return f"{mark}{text.replace(_END, '')}{_END}"


def _parts(text: str) -> Iterable[Part]:
    place = 0
    for found in _MARKED.finditer(text):
        if found.start() > place:
            yield text[place : found.start()]
        yield Data(found[2]) if found[1] == _DATA else Option(*json.loads(found[2]))
        place = found.end()
    if place < len(text):
        yield text[place:]


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", "»")) else f"{sentence}."


def foreign(words: str) -> str:
    """Mark what another program said, which may hold values of a table: reports leave it out.

    >>> foreign("no level for «7»")
    '«no level for <7>»'
    """
    return f"«{words.replace('«', '<').replace('»', '>')}»"
