"""Withholds from a report the values that few records hold."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from indiff.audit.expression_names import held, other_names
from indiff.data.table import Table
from indiff.errors import Data, Message
from indiff.report.finding import MIN_CELL, Finding
from indiff.text import LONGEST_NAME
from indiff.text import name as short_name

RARE = "a rare value"
WITHHELD = "(its words are left out: they may hold values)"
HIDDEN = "a hidden text"
_TELLING_DIGITS = 4  # a shorter number in a command is an option of it


@dataclass(frozen=True, eq=False)
class Redaction:
    """Decides which values a report may show.

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
        """Return a value that enough records hold, or none hold; else ``"a rare value"``.

        >>> from indiff.data.table import read_table
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, 30, 47], "ill": ["flu", "flu", "HIV"]})
        >>> redaction = Redaction(read_table(people, quasi=["age"], sensitive="ill"), min_cell=2)
        >>> [redaction.value("ill", value) for value in ("flu", "HIV", "cold")]
        ['flu', 'a rare value', 'cold']
        """
        known = column in self.table.source.column_names
        count = held(self.table.source[column], value) if known else 0
        return RARE if not self.show_values and 0 < count < self.min_cell else value

    def text(self, text: str) -> str:
        """Return a sentence without what it marks as data, the folders of files and long names.

        >>> from indiff.data.table import read_table
        >>> from indiff.errors import UserError, from_data, said
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, 30, 47], "ill": ["flu", "flu", "HIV"]})
        >>> redaction = Redaction(read_table(people, quasi=["age"], sensitive="ill"), min_cell=2)
        >>> error = UserError("'ill' has no level for", f"{from_data('flu')}, {from_data('HIV')}")
        >>> redaction.text(str(error))
        "'ill' has no level for; got 'flu', a rare value."
        >>> redaction.text(UserError(f"it failed: {said('HIV')}").message)
        'it failed: (its words are left out: they may hold values)'
        """
        if isinstance(text, Message) and not self.show_values:
            text = text.worded(data=self._part)
        for path in self.paths:
            text = text.replace(path, Path(path).name)
        return str.__str__(self.short(self.document(text)))

    def short(self, text: str) -> str:
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
        """Return a document or a part of it, messages without data and with the other names.

        >>> from indiff.data.table import read_table
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, 47], "pay": [1, 762_431]})
        >>> redaction = Redaction(read_table(people, quasi=["age"], sensitive="pay < 762431"))
        >>> redaction.document({"limits": {"inference.pay < 762431.itpr": 0.5}})
        {'limits': {'inference.a condition on pay.itpr': 0.5}}
        """
        if isinstance(part, Mapping):
            return {self.document(key): self.document(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return [self.document(inner) for inner in part]
        if isinstance(part, Message) and not self.show_values:
            part = part.worded(data=self._part)
        if isinstance(part, str):
            for form, other in self._other_names.items():
                part = part.replace(form, other)
        return part

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
