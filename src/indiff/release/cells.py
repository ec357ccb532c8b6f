"""Reads the cells of one released column, in the one notation that all of them fit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.reading.door import GAPS
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import marked, option
from indiff.release.number_text import DATE_STYLES, NUMBER_STYLES, NumberText, Style
from indiff.release.regions import Anything, Interval, Region, UnreadableRegion, shown
from indiff.release.release import notation_of
from indiff.release.value_text import ValueText

_MOST_SHAPES = 3
_THOUSANDS = re.compile(r"(?<!\d)[1-9]\d{0,2}\.\d{3}(?!\d)")  # or a fraction of three digits


def read_regions(
    texts: Sequence[str | None],
    column: Attribute,
    suppressed: Collection[str] = (),
    *,
    index: NDArray[np.int32] | None = None,
    dropped: bool = False,
) -> tuple[tuple[Region, ...], NDArray[np.int32], Style | None]:
    """Return the distinct regions of a column's cells, and the place of each cell's among them.

    Numbers and dates may be in another style than a program's, which is returned, too. Where the
    original's records with a missing value were ``dropped``, a blank cell is that value, and covers
    nobody who is left. Every distinct text is read once. The texts in ``suppressed`` stand for
    anything, the empty one for blank cells. An error names the column, the first row that cannot be
    read, counted from 1 below the header, and up to three shapes of such cells: never a value.
    With an ``index`` the texts are distinct already, and it says which of them each cell is.
    """
    place: dict[str | None, int] = {}
    rows = np.fromiter(
        (place.setdefault(text, len(place)) for text in texts), np.int32, count=len(texts)
    )
    rows = rows if index is None else rows[index]
    tokens = frozenset(token.strip() for token in suppressed)
    is_numeric, has_missing = column.kind == Kind.NUMERIC, dropped or None
    notation = NumberText(column, None, has_missing) if is_numeric else notation_of(column)
    plain = _Told.of(place, notation, tokens)
    chosen, style = plain, None
    if is_numeric and (plain.unreadable or any(_THOUSANDS.search(x or "") for x in place)):
        chosen, style = _in_style(place, column, tokens, plain, has_missing)
    if chosen.unreadable:
        unread = np.isin(rows, [place[text] for text in chosen.unreadable])
        raise _refusal(column, chosen.unreadable, np.flatnonzero(unread))
    regions: dict[Region, int] = {}
    meaning = np.array([regions.setdefault(one, len(regions)) for one in chosen.regions], np.int32)
    return tuple(regions), meaning[rows], style


@dataclass(frozen=True)
class _Told:
    """What the distinct cells of a column say in one notation, and which cannot be read in it."""

    regions: list[Region]
    unreadable: dict[str | None, UnreadableRegion]

    @staticmethod
    def of(
        texts: Iterable[str | None], notation: NumberText | ValueText, tokens: frozenset[str]
    ) -> _Told:
        told = _Told([], {})
        for text in texts:
            try:
                region = notation.read(text) if not tokens else _read(text, notation, tokens)
            except UnreadableRegion as error:
                told.unreadable[text] = error
                continue
            told.regions.append(region)
        return told

    def fits(self, column: Attribute) -> int:
        """Count the ends of intervals that lie among the column's values."""
        known = [value for value in column.values.tolist() if value is not None and value == value]
        ends = [
            end for one in self.regions if isinstance(one, Interval) for end in (one.low, one.high)
        ]
        return sum(min(known) <= end <= max(known) for end in ends) if known else 0


def _in_style(
    texts: Iterable[str | None],
    column: Attribute,
    tokens: frozenset[str],
    plain: _Told,
    has_missing: bool | None,
) -> tuple[_Told, Style | None]:
    """Read numbers or dates as people write them, where every cell of the column allows it.

    Of two ways to read all cells, the one that lies among the original's values counts; where both
    do as often, nobody knows.
    """
    texts = list(texts)
    ways: list[tuple[_Told, Style | None]] = [] if plain.unreadable else [(plain, None)]
    for style in DATE_STYLES if column.is_date else NUMBER_STYLES:
        told = _Told.of(texts, NumberText(column, style, has_missing), tokens)
        if not told.unreadable and all(told.regions != other.regions for other, _ in ways):
            ways.append((told, style))
    if not ways:
        return plain, None
    ways.sort(key=lambda way: -way[0].fits(column))
    if len(ways) > 1 and ways[0][0].fits(column) == ways[1][0].fits(column):
        said = [
            style.words if style else "numbers with a point before the fraction"
            for _, style in ways[:2]
        ]
        raise UnreadableRegion(
            f"column {column.name!r} can be read in more than one way: {' and '.join(said)}",
            way_out="Write numbers with a point before the fraction and no other sign, and dates "
            "as 2020-01-31",
        )
    return ways[0]


def _read(text: str | None, notation: NumberText | ValueText, tokens: frozenset[str]) -> Region:
    """Read a cell that may be suppressed: a token that is also a value has two readings."""
    if (text or "").strip() not in tokens:
        return notation.read(text)
    try:
        region = notation.read(text)
    except UnreadableRegion:
        return Anything()
    if not region.covers(None):
        raise UnreadableRegion(
            f"{shown(text or '')} is said to be a suppressed cell, but this column has it as a "
            "value; write '*' for suppressed cells."
        )
    return Anything()


def _refusal(
    column: Attribute, unreadable: Mapping[str | None, UnreadableRegion], rows: NDArray[np.intp]
) -> UnreadableRegion:
    """Name the column, the first row, up to three shapes, and the option that would help."""
    first = next(iter(unreadable))
    also = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    shapes = list(dict.fromkeys(shown(text or "") for text in unreadable))
    others = [shape for shape in shapes if shape != shown(first or "")][: _MOST_SHAPES - 1]
    more = f" Other shapes: {', '.join(others)}." if others else ""
    told = marked(unreadable[first])
    if {"a", "9"} & set("".join(shape for shape in shapes if shape in told or shape in others)):
        more += " Cells are told by their shape alone: a for every letter, 9 for every digit."
    cells = ((text or "").strip() for text in unreadable)
    tokens = [cell for cell in cells if not cell or cell.casefold() in GAPS]
    if tokens:
        way_out = f"If it stands for a suppressed cell, give {option('suppressed', tokens[:1])}"
    elif column.kind == Kind.NUMERIC:
        kinds = option("kinds", {column.name: "categorical"})
        way_out = f"If its cells are codes, declare the column: {kinds}"
    else:
        way_out = (
            "If it is a group of values, name the groups' file: "
            f"{option('hierarchies', {column.name: 'FILE'})}"
        )
    return UnreadableRegion(
        f"column {column.name!r}, row {rows[0] + 1:,}{also}: {told}{more}",
        way_out=way_out,
        field="suppressed" if tokens else None,
    )
