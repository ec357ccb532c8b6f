"""Regions as text, out and in: ours come back as they were, other tools' are read or refused.

A cell is read against the original's column; the first match wins: ``*``; a hierarchy label; a
value of the column; then by kind, as ``number_text`` and ``value_text`` say. A cell that can be
read in two ways, or in none, is an error and never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.errors import marked
from indiff.release.number_text import NumberText
from indiff.release.regions import Domain, Region, UnreadableRegion
from indiff.release.value_text import ValueText

__all__ = [
    "UnreadableRegion",
    "read_region",
    "read_regions",
    "write_region",
    "write_regions",
]


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
    texts: Sequence[str | None], domain: Domain
) -> tuple[tuple[Region, ...], NDArray[np.int32]]:
    """Return the distinct regions of a column's cells, and the place of each cell's among them.

    Every distinct text is read once. An error names the column and the first row with the text,
    counted from 1 below the header.

    >>> from types import SimpleNamespace
    >>> age = SimpleNamespace(name="age", kind=Kind.NUMERIC, is_date=False, hierarchy=None,
    ...                       values=np.array([20.0, 47.5]))
    >>> read_regions(["20-40", "47.5", "[20,40]"], age)
    ((Interval(low=20, high=40, low_closed=True, high_closed=True),
      Interval(low=47.5, high=47.5, low_closed=True, high_closed=True)),
     array([0, 1, 0], dtype=int32))
    """
    place: dict[str | None, int] = {}
    rows = np.fromiter(
        (place.setdefault(text, len(place)) for text in texts), np.int32, count=len(texts)
    )
    notation = _notation(domain)
    regions: dict[Region, int] = {}
    meaning = np.empty(len(place), np.int32)
    for text, number in place.items():
        try:
            region = notation.read(text)
        except UnreadableRegion as error:
            row = int(np.argmax(rows == number)) + 1
            raise UnreadableRegion(
                f"column {domain.name!r}, row {row:,}: {marked(error)}"
            ) from None
        meaning[number] = regions.setdefault(region, len(regions))
    return tuple(regions), meaning[rows]


def _notation(domain: Domain) -> NumberText | ValueText:
    return NumberText(domain) if domain.kind == Kind.NUMERIC else ValueText(domain)
