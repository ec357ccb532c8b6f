"""Tells what a user can correct from what is a bug of ours, and keeps such an error in parts."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple  # dataclasses would take half of the time of ``import indiff``

WITHHELD = "(its words are left out: they may hold values)"
HIDDEN = "a hidden text"
# Marks inside a sentence. They are never shown: every reader's words are made from the parts.
_DATA, _OPTION, _END, _SAID = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKED = re.compile(f"([{_DATA}{_OPTION}{_SAID}])([^{_END}]*){_END}")


class Data(NamedTuple):
    """A part that comes from the data, or that a program ``said``: reports withhold it."""

    text: str
    said: bool = False


class Option(NamedTuple):
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


class Message(str):
    """A sentence that reads as plain text and still knows which parts come from the data.

    A :class:`UserError` is told in one; so is what failed for a record. Where it stands in another
    sentence, :func:`marked` keeps its parts.

    >>> told = Message(f"no level for {from_data(47)}")
    >>> print(told)
    no level for 47
    >>> told.worded(data=lambda part: "a value")
    'no level for a value'
    """

    marked: str

    def __new__(cls, marked: str) -> Message:
        """Take the sentence with its marks."""
        made = super().__new__(cls, _worded(marked, Option.in_python, lambda part: part.text))
        made.marked = marked
        return made

    def __str__(self) -> str:
        return self  # ``str`` of a message keeps its parts

    def worded(
        self,
        option: Callable[[Option], str] = Option.in_python,
        data: Callable[[Data], str] = lambda part: part.text,
    ) -> str:
        """Return the sentence in a reader's words for options and for what comes from the data."""
        return _worded(self.marked, option, data)

    @property
    def for_files(self) -> str:
        """The sentence without what comes from the data, or from another program.

        >>> Message(f"it failed: {said('row 7 of Ann')}").for_files
        'it failed: (its words are left out: they may hold values)'
        """
        return self.worded(data=lambda part: WITHHELD if part.said else HIDDEN)

    def shortened(self, longest: int) -> Message:
        """Return it on one line and with at most so many characters; what is left keeps its marks.

        >>> Message(f"it failed: {said('no level')}").shortened(15).worded(data=repr)
        "it failed: Data(text='«no', said=True)…"
        """
        line = Message(" ".join(self.marked.split()))
        if len(line) <= longest:
            return line
        kept, left = "", longest - 1
        for part in _parts(line.marked):
            text = part.in_python() if isinstance(part, Option) else getattr(part, "text", part)
            text = str(text)[:left]
            mark = (_SAID if part.said else _DATA) if isinstance(part, Data) else ""
            kept, left = kept + (_marked(mark, text) if mark else text), left - len(text)
        return Message(f"{kept}…")


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
        super().__init__(self.message)

    def __reduce__(self) -> Any:
        return type(self), (self.rule, self.got, self.way_out), {"field": self.field}

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> Message:
        """The whole message, which keeps its parts."""
        first = self.rule if self.got is None else f"{self.rule}; got {self.got}"
        return Message(" ".join(map(_ended, filter(None, (first, self.way_out)))))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The whole message, cut where an option or something from the data stands."""
        return tuple(_parts(self.message.marked))

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
        return self.message.worded(option, data)

    def with_options(self, word: Callable[[Option], str]) -> UserError:
        """Return the error with its options in other words; what comes from the data stays marked.

        >>> error = UserError("an age is a number", way_out=f"Give {option('missing', 'drop')}")
        >>> print(error.with_options(lambda part: f"{part.name} = {part.value}"))
        an age is a number. Give missing = drop.
        """

        def put(found: re.Match[str]) -> str:
            part = _option(found[2]) if found[1] == _OPTION else None
            return word(part) if isinstance(part, Option) else found[0]

        rule, way_out = (_MARKED.sub(put, text) for text in (self.rule, self.way_out))
        return UserError(rule, self.got, way_out, field=self.field)


class InternalError(RuntimeError):
    """A bug in indiff: the command line asks for a report and exits with 70."""


def from_data(value: object, written: Callable[[Any], str] = repr) -> str:
    """Mark a value of the table for a :class:`UserError`; it is shown as Python writes it.

    >>> str(UserError("a class is a word", from_data("flu\\n")))
    "a class is a word; got 'flu\\\\n'."
    """
    return _marked(_DATA, written(value))


def marked(text: object) -> str:
    """Return an error or a message with its marks, to stand in another sentence.

    >>> inner = UserError("ages are numbers", from_data("4o"))
    >>> UserError(f"row 3: {marked(inner)}").worded(data=lambda part: "a value")
    'row 3: ages are numbers; got a value.'
    """
    told = text.message if isinstance(text, UserError) else text
    return told.marked if isinstance(told, Message) else str(told)


def said(words: str, written: Callable[[str], str] = "«{}»".format) -> str:
    """Mark what another program said, which may hold values of a table.

    >>> str(UserError(f"the command failed: {said('no level for 7')}"))
    'the command failed: «no level for 7»'
    """
    return _marked(_SAID, written(words))


def reason_of(error: BaseException) -> str:
    """Return what a library says in its first line, without the name of its error.

    >>> reason_of(ValueError("Binder Error: it has no such column."))
    'it has no such column'
    >>> reason_of(ValueError("I/O error: syntax error: line 1, column 0"))
    'line 1, column 0'
    """
    first, *_ = str(error).splitlines() or [type(error).__name__]
    return re.sub(r"^([^:'\"]*\b(error|exception): )+", "", first, flags=re.IGNORECASE).rstrip(".")


def option(name: str, value: Any = None, *, of: str | None = None) -> str:
    """Mark an option for a :class:`UserError`: Python, shell and page each write it their way.

    >>> str(UserError("regions differ", way_out=f"Pass {option('bins', {'age': 5})}"))
    "regions differ. Pass bins={'age': 5}."
    """
    import json

    return _marked(_OPTION, json.dumps([name, value, of]))


def check_whole(name: str, value: Any, least: int, way_out: str = "") -> None:
    """Raise where a value is not a whole number of at least ``least``.

    >>> check_whole("k", True, 1)
    Traceback (most recent call last):
    indiff.errors.UserError: k must be a whole number of at least 1; got True.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        rule = f"{name} must be a whole number of at least {least}"
        raise UserError(rule, repr(value), way_out, field=name)


def did_you_mean(word: str, known: Iterable[str], written: Callable[[object], str] = repr) -> str:
    """Return ``": did you mean 'age'?"``, or an empty string where nothing is near.

    Values of a table are ``written`` by :func:`from_data`.

    >>> did_you_mean("agee", ["age", "sex"])
    ": did you mean 'age'?"
    >>> did_you_mean("zzz", ["age", "sex"])
    ''
    """
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {written(near[0])}?" if near else ""


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


def _marked(mark: str, text: str) -> str:
    return f"{mark}{text.replace(_END, '')}{_END}"


def _parts(text: str) -> Iterable[Part]:
    place = 0
    for found in _MARKED.finditer(text):
        if found.start() > place:
            yield text[place : found.start()]
        is_option = found[1] == _OPTION
        yield _option(found[2]) if is_option else Data(found[2], found[1] == _SAID)
        place = found.end()
    if place < len(text):
        yield text[place:]


def _option(text: str) -> Part:
    import json

    try:
        return Option(*json.loads(text))
    except (TypeError, ValueError):  # a text of the user's that holds our mark
        return text


def _worded(text: str, option: Callable[[Option], str], data: Callable[[Data], str]) -> str:
    words = {Data: data, Option: option, str: str}
    return "".join(words[type(part)](part) for part in _parts(text))  # type: ignore[operator]


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", "»", f"»{_END}")) else f"{sentence}."


def why_exhausted(error: BaseException | None) -> str | None:
    """Say what gave way, memory or disk; None where it was something else.

    >>> why_exhausted(MemoryError()), why_exhausted(OSError(errno.ENOSPC, "full"))
    ('the memory of this machine does not suffice', 'there is no room left on the disk')
    """
    if isinstance(error, UserError):  # such as that a file cannot be written
        error = error.__context__
    if isinstance(error, MemoryError):
        return "the memory of this machine does not suffice"
    return _DISK.get(error.errno or 0) if isinstance(error, OSError) else None


_DISK = {
    errno.ENOSPC: "there is no room left on the disk",
    errno.EDQUOT: "there is no room left on the disk",
    errno.EIO: "the disk failed",
}
