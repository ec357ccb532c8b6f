"""Withholds from a report the values that few records hold."""

from __future__ import annotations

import ast
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from indiff.audit.plan.shell import in_shell
from indiff.data.expressions import evaluate
from indiff.data.side_files import label_of
from indiff.data.table import Table
from indiff.errors import HIDDEN, WITHHELD, Data, Message, Option, UserError
from indiff.report.finding import MIN_CELL, Finding
from indiff.text import LONGEST_NAME
from indiff.text import name as short_name

RARE = "a rare value"
_TELLING_DIGITS = 4  # a shorter number in a command is an option of it


@dataclass(frozen=True, eq=False)
class Redaction:
    """Decides which values a report may show.

    The sentences of :func:`~indiff.explain` are not judged here: they are told what to show.

    A value may be shown if at least ``min_cell`` records hold it, or if the user asked for all of
    them (``show_values``). A message marks what in it comes from the data, and nothing else in it
    is withheld. Column names are always shown, files without their folders. A sensitive expression
    has another name where a value in it may not be shown, and so has a command in ``sanitizers``.
    """

    table: Table = field(repr=False)
    min_cell: int = MIN_CELL
    show_values: bool = False
    paths: tuple[str, ...] = ()
    sanitizers: tuple[str, ...] = ()

    def value(self, column: str, value: Any) -> Any:
        """Return a value that enough records hold, or none hold; else ``"a rare value"``."""
        known = column in self.table.source.column_names
        count = held(self.table.source[column], value) if known else 0
        return RARE if not self.show_values and 0 < count < self.min_cell else value

    def values(self, columns: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """Return a list of values, or nothing of it where one of them is rare in a column.

        The others would betray it: between II and IV of an order is III, and edges lie around one.
        """
        rare = any(self.value(name, value) == RARE for name in columns for value in values)
        return [HIDDEN] if rare else [*values]

    def text(self, text: str) -> str:
        """Return a sentence without what it marks as data, the folders of files and long names."""
        if isinstance(text, Message):
            text = self._worded(text)
        for path in self.paths:
            text = text.replace(path, Path(path).name)
        return str.__str__(self.cut_long_names(self.document(text)))

    def cut_long_names(self, text: str) -> str:
        """Return a sentence in which very long column names are cut."""
        for name in sorted(self.table.source.column_names, key=len, reverse=True):
            if len(name) > LONGEST_NAME:
                text = text.replace(name, short_name(name))
        return text

    def finding(self, finding: Finding) -> Finding:
        """Return a finding with its reason as a report may show it."""
        reason = finding.reason
        return finding if reason is None else replace(finding, reason=self.text(reason))

    def document(self, part: Any) -> Any:
        """Return a document or a part of it, messages without data and with the other names."""
        if isinstance(part, Mapping):
            return {self.document(key): self.document(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return [self.document(inner) for inner in part]
        if isinstance(part, Message):
            part = self._worded(part)
        if isinstance(part, str):
            for form, other in self._other_names.items():
                part = part.replace(form, other)
        return part

    def _worded(self, message: Message) -> str:
        return message.worded(
            _in_words, (lambda part: part.text) if self.show_values else self._part
        )

    def _part(self, part: Data) -> str:
        """Return a marked part if enough records hold it; a list or a cut text nobody can judge."""
        if part.said:
            return WITHHELD
        try:
            value = ast.literal_eval(part.text)
        except (SyntaxError, ValueError):
            value = part.text
        counts = [held(cells, value) for cells in self.table.source.columns]
        if any(0 < count < self.min_cell for count in counts):
            return RARE
        return part.text if any(counts) else HIDDEN

    @cached_property
    def _other_names(self) -> dict[str, str]:
        """The other name for every way in which a name may be written, the longest first."""
        if self.show_values:
            return {}
        named = other_names(self.table, self.min_cell)
        named |= {text: self._command(text) for text in self.sanitizers}
        forms = {
            form: other
            for name, other in named.items()
            for form in (name, short_name(name), repr(name)[1:-1])
            if name != other
        }
        return dict(sorted(forms.items(), key=lambda pair: -len(pair[0])))

    def _command(self, sanitizer: str) -> str:
        """Return a sanitizer's text; of a command without words that may hold a rare value."""
        kind, _, text = sanitizer.partition(":")
        if not kind.startswith(("command", "shell")):
            return sanitizer
        try:
            words = shlex.split(text)
        except ValueError:
            return f"{kind}:{HIDDEN}"
        if all(map(self._is_harmless, words)):
            return sanitizer
        shown = (word if self._is_harmless(word) else HIDDEN for word in words)
        return f"{kind}:{' '.join(shown)}"

    def _is_harmless(self, word: str) -> bool:
        """Tell whether a word of a command needed no quotes, and no part of it is a rare value."""
        parts = {word, *re.split(r"[^\w.-]+", word)}
        telling = [one for one in parts if not (one.isdigit() and len(one) < _TELLING_DIGITS)]
        rare = any(
            0 < held(cells, one) < self.min_cell
            for cells in self.table.source.columns
            for one in telling
        )
        return not rare and not re.search(r"[\s'\"]", word)


_TEXT, _NAME, _NUMBER = r"'(?:[^']|'')*'", r'"(?:[^"]|"")*"', r"\.?\d[\w.]*"
_PART = re.compile(
    rf"(?P<text>{_TEXT})|(?P<name>{_NAME})|(?P<number>{_NUMBER})|(?P<comment>--|/\*)"
    r"|(?P<plain>[^\W\d]\w*|\s|[-<>=!+*/%()|&,.:~^])|(?P<strange>.)",
    re.DOTALL,
)


def _in_words(part: Option) -> str:
    """Name an option for a document, which people read who know the page or the command line.

    >>> _in_words(Option("missing", "drop")), _in_words(Option("rows_in_order", True))
    ('the option “missing” (--missing drop)', 'the option “rows in order” (--rows-in-order)')
    """
    return f"the option “{part.name.replace('_', ' ')}” ({in_shell(part)})"


def other_names(table: Table, min_cell: int) -> dict[str, str]:
    """Return another name for every sensitive expression that holds what a report may not name.

    A text in it may be named if at least ``min_cell`` records hold it, a number also if none do
    and that many lie on both of its sides, as an ordinary threshold does. Of anything else nobody
    knows what it tells.
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(one for each in table.sensitives for one in each.columns):
        columns = _looked_at(table, name)
        if columns is not None and not _may_be_named(name, columns, table, min_cell):
            found[name] = _other_name(table, name, columns, [*found.values()])
    return found


def _looked_at(table: Table, name: str) -> tuple[str, ...] | None:
    """Return the columns that an expression looks at; None where the name is a column's."""
    if name.isidentifier():
        return None
    try:
        return evaluate(table.source.drop_columns([name]), name)[1]
    except UserError:
        return None


def _may_be_named(expression: str, columns: tuple[str, ...], table: Table, min_cell: int) -> bool:
    known = {name.casefold() for name in table.source.column_names}
    cells = [table.source[name] for name in columns]
    for part in _PART.finditer(expression):
        text = part.group()
        match part.lastgroup:
            case "text":
                allowed = _held_enough(text[1:-1].replace("''", "'"), cells, min_cell)
            case "number":
                allowed = _threshold(text, cells, min_cell)
            case "name":
                allowed = text[1:-1].replace('""', '"').casefold() in known
            case kind:
                allowed = kind == "plain"
        if not allowed:
            return False
    return True


def _held_enough(text: str, columns: list[pa.ChunkedArray], min_cell: int) -> bool:
    counts = [held(cells, text) for cells in columns]
    return max(counts, default=0) >= min_cell and not any(0 < one < min_cell for one in counts)


def _threshold(text: str, columns: list[pa.ChunkedArray], min_cell: int) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    if any(0 < held(cells, text) < min_cell for cells in columns):
        return False
    return _held_enough(text, columns, min_cell) or any(
        min(_count(pc.less(one, number)), _count(pc.greater(one, number))) >= min_cell
        for one in (_numbers(cells) for cells in columns)
        if one is not None
    )


def held(cells: pa.ChunkedArray, value: object) -> int:
    """Count the records that hold a value, which may be given as text."""
    text, numbers = label_of(value), _numbers(cells)
    if numbers is None:
        return _count(pc.equal(cells.cast(pa.string()), text))
    try:
        number = float(text)
    except ValueError:
        return 0
    return 0 if math.isnan(number) else _count(pc.equal(numbers, number))


def _numbers(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        return cells.cast(pa.float64(), safe=False)
    return None


def _count(told: pa.ChunkedArray) -> int:
    return int(pc.sum(told).as_py() or 0)


def _other_name(table: Table, name: str, columns: tuple[str, ...], taken: list[str]) -> str:
    values = set(table.source[name].unique().to_pylist()) - {None}
    what = "a condition on" if values <= {"true", "false"} else "an expression over"
    other = f"{what} {' and '.join(columns) or 'nothing'}"
    number = sum(one == other or one.startswith(f"{other} (") for one in taken)
    return other if not number else f"{other} ({number + 1})"
