"""Regions as text, out and in: ours come back as they were, other tools' are read or refused.

A cell is read against the original's column; the first match wins: ``*``; a hierarchy label; a
value of the column; then by kind, as ``number_text`` and ``value_text`` say. A cell that can be
read in two ways, or in none, is an error and never a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from indiff.data.reading.door import GAPS
from indiff.data.schema import Kind
from indiff.errors import marked, option
from indiff.release.number_text import NumberText
from indiff.release.regions import Anything, Domain, Region, UnreadableRegion, shown
from indiff.release.value_text import ValueText

__all__ = [
    "UnreadableRegion",
    "is_blank",
    "read_region",
    "read_regions",
    "write_region",
    "write_regions",
]

_MOST_SHAPES = 3


def write_region(region: Region, domain: Domain) -> str:
    """Return a region as the text that :func:`read_region` understands.

    >>> from types import SimpleNamespace
    >>> age = SimpleNamespace(name="age", kind=Kind.NUMERIC, is_date=False, hierarchy=None,
    ...                       values=np.array([20.0, 47.5]))
    >>> from indiff.release.regions import Interval
    >>> [write_region(region, age) for region in (Interval(20.0, 47.5), Interval(47.5, np.inf))]
    ['[20, 47.5]', '>=47.5']
    """
    return write_regions([region], domain)[0]


def write_regions(regions: Sequence[Region], domain: Domain) -> list[str]:
    """Return several regions of one column as text, each as :func:`write_region` does.

    >>> from types import SimpleNamespace
    >>> job = SimpleNamespace(name="job", kind=Kind.CATEGORICAL, is_date=False, hierarchy=None,
    ...                       values=np.array(["*", "cook", "mason"], object))
    >>> from indiff.release.regions import Anything, Mask, ValueSet
    >>> write_regions([Anything(), ValueSet(frozenset({"*"})), Mask("ma")], job)
    ['*', '{"*"}', 'ma*']
    """
    notation = _notation(domain)
    return [notation.write(region) for region in regions]


def read_region(text: str | None, domain: Domain) -> Region:
    """Return the region a cell stands for; None is an empty cell.

    >>> from types import SimpleNamespace
    >>> age = SimpleNamespace(name="age", kind=Kind.NUMERIC, is_date=False, hierarchy=None,
    ...                       values=np.array([20.0, 47.5]))
    >>> read_region("[20, 40[", age)
    Interval(low=20, high=40, low_closed=True, high_closed=False)
    """
    return _notation(domain).read(text)


def read_regions(
    texts: Sequence[str | None], domain: Domain, suppressed: Collection[str] = ()
) -> tuple[tuple[Region, ...], NDArray[np.int32]]:
    """Return the distinct regions of a column's cells, and the place of each cell's among them.

    Every distinct text is read once. The texts in ``suppressed`` stand for anything, the empty one
    for blank cells. An error names the column, the first row that cannot be read, counted from 1
    below the header, and up to three shapes of such cells: never a value.

    >>> from types import SimpleNamespace
    >>> age = SimpleNamespace(name="age", kind=Kind.NUMERIC, is_date=False, hierarchy=None,
    ...                       values=np.array([20.0, 47.5]))
    >>> read_regions(["20-40", "47.5", "[20,40]", "NA"], age, suppressed=["NA"])
    ((Interval(low=20, high=40, low_closed=True, high_closed=True),
      Interval(low=47.5, high=47.5, low_closed=True, high_closed=True), Anything()),
     array([0, 1, 0, 2], dtype=int32))
    """
    place: dict[str | None, int] = {}
    rows = np.fromiter(
        (place.setdefault(text, len(place)) for text in texts), np.int32, count=len(texts)
    )
    notation = _notation(domain)
    tokens = frozenset(token.strip() for token in suppressed)
    regions: dict[Region, int] = {}
    meaning = np.full(len(place), -1, np.int32)
    unreadable: dict[str | None, UnreadableRegion] = {}
    for text, number in place.items():
        try:
            region = notation.read(text) if not tokens else _read(text, notation, tokens)
        except UnreadableRegion as error:
            unreadable[text] = error
            continue
        meaning[number] = regions.setdefault(region, len(regions))
    if unreadable:
        raise _refusal(domain, unreadable, np.flatnonzero(meaning[rows] < 0))
    return tuple(regions), meaning[rows]


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


def is_blank(text: str | None) -> bool:
    """Tell whether a cell is empty, but for blanks.

    >>> is_blank(None), is_blank(" "), is_blank("NA")
    (True, True, False)
    """
    return not (text or "").strip()


def _is_gap(cell: str) -> bool:
    return not cell or cell.casefold() in GAPS


def _refusal(
    domain: Domain, unreadable: Mapping[str | None, UnreadableRegion], rows: NDArray[np.intp]
) -> UnreadableRegion:
    """Name the column, the first row, up to three shapes, and the option that would help."""
    first = next(iter(unreadable))
    also = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    shapes = list(dict.fromkeys(shown(text or "") for text in unreadable))
    others = [shape for shape in shapes if shape != shown(first or "")]
    more = f" Other shapes: {', '.join(others[: _MOST_SHAPES - 1])}." if others else ""
    tokens = [cell for text in unreadable if _is_gap(cell := (text or "").strip())]
    if tokens:
        way_out = f"If it stands for a suppressed cell, pass {option('suppressed', tokens[:1])}"
    elif domain.kind == Kind.NUMERIC:
        kinds = option("kinds", {domain.name: "categorical"})
        way_out = f"If its cells are codes, declare the column: {kinds}"
    else:
        way_out = (
            "If it is a group of values, name the groups' file: "
            f"{option('hierarchies', {domain.name: 'FILE'})}"
        )
    return UnreadableRegion(
        f"column {domain.name!r}, row {rows[0] + 1:,}{also}: {marked(unreadable[first])}{more}",
        way_out=way_out,
        field="suppressed" if tokens else None,
    )


def _notation(domain: Domain) -> NumberText | ValueText:
    return NumberText(domain) if domain.kind == Kind.NUMERIC else ValueText(domain)
