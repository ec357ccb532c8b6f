"""What an audit may name: a value only where enough records hold it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from indiff.audit.redaction.alias import aliases, held
from indiff.data.table import Table
from indiff.report.finding import MIN_CELL

RARE = "a rare value"
WITHHELD = "(its words are left out: they may hold values)"
HIDDEN = "a hidden text"
_FOREIGN = re.compile(r"«[^»]*(?:»|$)")  # as indiff.errors.foreign marks it; a cut text has no end
_NUMBER = re.compile(r"(?<!\w)(?<!\d\.)-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# After these words a message has what it got: there a short number is no count.
_RECEIVED = re.compile(r"\b(?:got|runs from)\b(?:(?!\. |;).)*", re.DOTALL)
_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""")
_ESCAPED = re.compile(r"\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))", re.DOTALL)
# What our own messages propose in quotes.
_PROPOSED = frozenset(("drop", "split", "error", "generalize", "sampled", "refit", "tight", "cut"))
_LONGEST = 60  # characters of a column's name in a sentence
_LONGEST_PART = 40  # words and signs of a value that stands in a sentence without quotes
_LONGEST_TEXT = 4000  # characters of a sentence
_TELLING_DIGITS = 4  # a shorter number in a sentence is a count of records or columns


def spoken(name: str, longest: int = _LONGEST) -> str:
    r"""Return a column's name as a sentence can hold it: on one line, not too long.

    >>> spoken("age\n"), len(spoken("x" * 10_000))
    ('age\\n', 60)
    """
    text = "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode("ascii")
        for one in name
    )
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[1 - longest // 2 :]}"


@dataclass(frozen=True, eq=False)
class Naming:
    """Decides what may be named.

    A value may be named if at least ``min_cell`` records hold it, or if the user asked for all
    of them (``show_values``). Column names are always named, files without their folders, and
    ``words``, which the plan chose, such as its sanitizer. A sensitive expression has another
    name where a value in it may not be named.
    """

    table: Table = field(repr=False)
    min_cell: int = MIN_CELL
    show_values: bool = False
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def value(self, column: str, value: Any) -> Any:
        """Return a value that enough records hold, or none hold; else ``"a rare value"``.

        >>> from indiff.data.table import read_table
        >>> people = pa.table({"age": [30, 30, 47], "ill": ["flu", "flu", "HIV"]})
        >>> naming = Naming(read_table(people, quasi=["age"], sensitive="ill"), min_cell=2)
        >>> naming.value("ill", "flu"), naming.value("ill", "HIV"), naming.value("ill", "cold")
        ('flu', 'a rare value', 'cold')
        """
        if self.show_values:
            return value
        count = self._count(column, value)
        return value if count == 0 or count >= self.min_cell else RARE

    def text(self, text: str) -> str:
        """Return a sentence that another module wrote, without any rare value in it.

        What another program said is left out: it may write a value in ways that nobody foresees.
        """
        if text not in self._told:
            self._told[text] = self._without_rare(text)
        return self._told[text]

    def renamed(self, part: Any) -> Any:
        """Return a document or a part of it with the other names of expressions.

        >>> from indiff.data.table import read_table
        >>> people = pa.table({"age": [30, 47], "pay": [1, 762_431]})
        >>> naming = Naming(read_table(people, quasi=["age"], sensitive="pay < 762431"))
        >>> naming.renamed({"limits": {"inference.pay < 762431.itpr": 0.5}})
        {'limits': {'inference.a condition on pay.itpr': 0.5}}
        """
        if not self._other_names:
            return part
        if isinstance(part, Mapping):
            return {self.renamed(key): self.renamed(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return [self.renamed(inner) for inner in part]
        if isinstance(part, str):
            for form, alias in self._other_names.items():
                part = part.replace(form, alias)
        return part

    def _without_rare(self, text: str) -> str:
        for path in self.paths:
            text = text.replace(path, Path(path).name)
        text = self.short(self.renamed(text))
        if self.show_values:
            return text
        text = _FOREIGN.sub(WITHHELD, text)
        text = _QUOTED.sub(self._quoted, text)[:_LONGEST_TEXT]
        for value in self._rare_parts(text):
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", RARE, text)
        text = _RECEIVED.sub(lambda part: _NUMBER.sub(self._received, part[0]), text)
        return _NUMBER.sub(self._number, text)

    def short(self, text: str) -> str:
        """Return a sentence in which very long column names are cut."""
        for name in sorted(self._names, key=len, reverse=True):
            if len(name) > _LONGEST:
                text = text.replace(name, spoken(name))
        return text

    def _quoted(self, match: re.Match[str]) -> str:
        """Leave a quoted text out, unless it is a name or enough records hold it.

        A text that no record holds may still be made of one that some do.
        """
        quoted = match.group(0)
        forms = {quoted[1:-1], _ESCAPED.sub(_unescaped, quoted[1:-1])}
        if forms & self._named:
            return quoted
        if any(self._is_rare(form) for form in forms):
            return RARE
        known = forms & _PROPOSED or any(self._is_held(form) for form in forms)
        return quoted if known else HIDDEN

    def _number(self, match: re.Match[str]) -> str:
        """Leave a rare number out, however it is written: 1,234 or -1234, alone or in a list."""
        told = [one for one in _numbers(match[0]) if _is_telling(one)]
        return RARE if any(map(self._is_rare_number, told)) else match[0]

    def _received(self, match: re.Match[str]) -> str:
        """Leave a rare number out, however short, unless the plan chose it."""
        told = [one for one in _numbers(match[0]) if one not in self._chosen]
        return RARE if any(map(self._is_rare_number, told)) else match[0]

    def _is_rare_number(self, text: str) -> bool:
        return any(self._is_rare(form) for form in {text, text.removeprefix("-")})

    def _is_rare(self, text: str) -> bool:
        counts = [self._count(name, text) for name in self.table.source.column_names]
        return any(0 < count < self.min_cell for count in counts)

    def _is_held(self, text: str) -> bool:
        return any(self._count(name, text) for name in self.table.source.column_names)

    def _count(self, column: str, value: Any) -> int:
        cells = self.table.source[column] if column in self.table.source.column_names else None
        return 0 if cells is None else held(cells, value)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.table.source.column_names)

    @cached_property
    def _named(self) -> frozenset[str]:
        files = (Path(path).name for path in self.paths)
        others = self._other_names.values()
        return frozenset({*self._names, *map(spoken, self._names), *self.words, *files, *others})

    @cached_property
    def _other_names(self) -> dict[str, str]:
        """The other name for every way in which an expression may be written, the longest first."""
        if self.show_values:
            return {}
        forms = {
            form: alias
            for name, alias in aliases(self.table, self.min_cell).items()
            for form in (name, spoken(name), repr(name)[1:-1])
        }
        return dict(sorted(forms.items(), key=lambda pair: -len(pair[0])))

    @cached_property
    def _chosen(self) -> frozenset[str]:
        """The numbers in the plan's own words, such as the 5 of ``mondrian:k=5``."""
        return frozenset(number for word in self.words for number in re.findall(r"[\d.]+", word))

    @cached_property
    def _told(self) -> dict[str, str]:
        return {}

    def _rare_parts(self, text: str) -> list[str]:
        """Return the rare texts and dates that stand in a sentence, the longest first.

        Every run of words and signs, up to a length, is looked up in every column at once, so that
        a long table costs one pass over each column and no list of its values.
        """
        ends = [(match.start(), match.end()) for match in re.finditer(r"\w+|\W", text)]
        parts = {
            text[low:high]
            for place, (low, _) in enumerate(ends)
            for _, high in ends[place : place + _LONGEST_PART]
        }
        wanted = pa.array(sorted(part for part in parts - self._names if part.strip()), pa.string())
        found: set[str] = set()
        for name in self.table.source.column_names:
            cells = self.table.source[name]
            if pa.types.is_date(cells.type):
                cells = cells.cast(pa.string())
            if pa.types.is_string(cells.type):
                here = pc.value_counts(cells.filter(pc.is_in(cells, value_set=wanted)))
                rare = pc.less(here.field("counts"), self.min_cell)
                found.update(here.field("values").filter(rare).to_pylist())
        return sorted(found, key=lambda part: (-len(part), part))


def _unescaped(match: re.Match[str]) -> str:
    """Return the character that Python's ``repr`` writes so."""
    code = match.group(1) or match.group(2) or match.group(3)
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else match.group(0)
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match.group(4), match.group(4))


def _numbers(text: str) -> list[str]:
    """Return the numbers that stand together without a blank: one in thousands, or a list.

    >>> _numbers("12,345.5"), _numbers("4711,12,0815")
    (['12345.5'], ['4711', '12', '0815'])
    """
    if _THOUSANDS.fullmatch(text):
        return [text.replace(",", "")]
    return [one for one in text.split(",") if one]


def _is_telling(number: str) -> bool:
    return sum(one.isdigit() for one in number) >= _TELLING_DIGITS or "." in number
