"""Judges by their content the columns of a release of which nothing was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.release.release import Release
from indiff.text import name as short_name

NEARLY = 0.95  # of the rows that say something: what holds for so many is taken to hold
_SAYS_NOTHING = ("*", "")
_MOST = 10  # columns that a sentence lists


@dataclass(frozen=True)
class Unmeasured:
    """A column of a release that is no quasi-identifier and not sensitive, and what it holds.

    One that ``names_people`` fails any release; of another nothing is known, so nothing passes.
    """

    name: str
    names_people: bool
    content: str


def judge_columns(
    release: Release | None, table: Table, key: str | None = None
) -> tuple[Unmeasured, ...]:
    """Judge each unmeasured column of a release by what it holds, whatever it is called.

    A column names people if it has the name or the content of an identifier of the table, stands
    for one (one-to-one with it, row by row), or is the original's row number. The content is
    compared as text, in any order of the rows. A column that says the same in every row, such as
    ``*``, tells nothing and is not listed; nor is the ``key`` by which rows are matched, which
    must be there to be tested.
    """
    carried = None if release is None else release.carried
    if release is None or carried is None:
        return ()
    original = cache(lambda name: _Cells.of(table.source[name]))
    found = []
    for name in carried.column_names:
        cells = _Cells.of(carried[name])
        if name == key or cells.is_constant:
            continue
        found.append(_judge(name, cells, original, release, table))
    return tuple(found)


def of_all(releases: Iterable[tuple[Unmeasured, ...]]) -> tuple[Unmeasured, ...]:
    """Return what was judged of several releases: a column names people if it does in one.

    >>> harmless, named = Unmeasured("x", False, ""), Unmeasured("x", True, "is an identifier")
    >>> of_all([(harmless,), (named,), ()]) == (named,)
    True
    """
    found: dict[str, Unmeasured] = {}
    for one in (column for columns in releases for column in columns):
        if one.name not in found or one.names_people > found[one.name].names_people:
            found[one.name] = one
    return tuple(found.values())


def broken(columns: Sequence[Unmeasured]) -> list[str]:
    """Say which columns name people, a sentence for each: no number makes up for that."""
    return [
        f"the release has the identifier {short_name(one.name)!r}, which names people"
        if one.content == _DECLARED
        else f"the release names people: its column {short_name(one.name)!r} {one.content}"
        for one in columns
        if one.names_people
    ]


def gaps(columns: Sequence[Unmeasured]) -> list[str]:
    """Say of which other columns nothing was measured, in one sentence or none."""
    others = [one for one in columns if not one.names_people]
    if not others:
        return []
    shown = [
        f"{short_name(one.name)!r}" + (f" ({one.content})" if one.content else "")
        for one in others[:_MOST]
    ]
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return [
        f"nothing was measured of columns that the release has: {', '.join(shown)}{more}; make "
        "them quasi-identifiers or sensitive, or publish without"
    ]


def key_notes(release: Release | None, key: str | None) -> list[str]:
    """Say that the column by which rows are matched belongs in no release, where there is one."""
    carried = None if release is None else release.carried
    if carried is None or key not in carried.column_names:
        return []
    name = short_name(str(key))
    return [f"the release has the column {name!r} to match its rows: publish it without"]


_DECLARED = "is an identifier of the table"


@dataclass(frozen=True, eq=False)
class _Cells:
    """A column as codes of its distinct texts; −1 where a cell says nothing."""

    codes: NDArray[np.int64]
    values: pa.Array
    kind: pa.DataType

    @staticmethod
    def of(column: pa.ChunkedArray) -> _Cells:
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        if (
            pa.types.is_floating(column.type)
            and pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py()
        ):  # an empty cell made them so
            column = pc.cast(column, pa.int64(), safe=False)
        try:
            text = column.cast(pa.string())
        except pa.ArrowNotImplementedError:  # lists and the like
            text = pa.chunked_array([[None if x is None else str(x) for x in column.to_pylist()]])
        text = pc.utf8_lower(pc.utf8_trim_whitespace(text))
        text = pc.replace_substring_regex(text, r" 00:00:00(\.0+)?$", "")  # a date is one
        encoded = text.combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        empty = pc.is_in(encoded.dictionary, pa.array(_SAYS_NOTHING)).to_numpy(zero_copy_only=False)
        if empty.any():
            place = np.where(empty, -1, np.cumsum(~empty) - 1)
            codes = np.where(codes < 0, -1, np.append(place, -1)[codes])
        return _Cells(codes, encoded.dictionary.filter(pa.array(~empty)), kind)

    @cached_property
    def told(self) -> NDArray[np.intp]:
        """The rows that say something."""
        return np.flatnonzero(self.codes >= 0)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each value."""
        return np.bincount(self.codes[self.told], minlength=len(self.values))

    @property
    def is_constant(self) -> bool:
        """Whether every row says the same, or nothing."""
        return len(self.values) == 0 or (
            len(self.values) == 1 and self.counts[0] == len(self.codes)
        )

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row that says something says something else."""
        return len(self.told) > 1 and len(self.values) >= NEARLY * len(self.told)


def _judge(
    name: str,
    cells: _Cells,
    original: Callable[[str], _Cells],
    release: Release,
    table: Table,
) -> Unmeasured:
    identifiers = table.schema.names(Role.IDENTIFIER)
    if name in identifiers:
        return Unmeasured(name, True, _DECLARED)
    # The column of the same name comes first: two columns may hold the same.
    names = sorted(table.source.column_names, key=lambda other: other != name)
    source = next((other for other in names if _holds(cells, original(other))), None)
    for other in identifiers:
        if other == source or _holds(cells, original(other)):
            return Unmeasured(name, True, f"holds the values of the identifier {_quoted(other)}")
        if _stands_for(cells, original(other)):
            return Unmeasured(name, True, f"stands for the identifier {_quoted(other)}")
    if _numbers_rows(cells, release, table):
        return Unmeasured(name, True, "is the original's row number")
    if source is not None:
        if table.schema[source].role == Role.OTHER and _names_everyone(original(source)):
            return Unmeasured(
                name, True, f"holds the values of {_quoted(source)}, different in every record"
            )
        same = "as it is in the original" if source == name else None
        return Unmeasured(name, False, same or f"holds the values of {_quoted(source)}")
    different = "different in nearly every row, as pseudonyms and row numbers are"
    return Unmeasured(name, False, different if cells.is_unique else "")


def _quoted(name: str) -> str:
    return repr(short_name(name))


def _holds(cells: _Cells, own: _Cells) -> bool:
    """Tell whether nearly all that a column says is what an original column says, as often."""
    place = pc.index_in(cells.values, value_set=own.values).fill_null(-1)
    place = place.to_numpy(zero_copy_only=False)
    there = np.flatnonzero(place >= 0)
    told = len(cells.told)
    if cells.counts[there].sum() < NEARLY * told:
        return False
    if own.is_unique:  # whole numbers of any meaning are among those that count records
        return 2 * len(there) >= min(told, len(own.values))
    scale = max(1.0, told / len(own.told))  # a release may have more rows
    often = np.minimum(cells.counts[there], scale * own.counts[place[there]]).sum()
    return bool(often >= NEARLY * told)


def _stands_for(cells: _Cells, own: _Cells) -> bool:
    """Tell whether a column is one-to-one with one whose values repeat, row by row.

    Any two columns that are different in every row are one-to-one: that tells nothing.
    """
    if len(cells.codes) != len(own.codes) or own.is_unique or len(own.values) < 2:
        return False
    both = (cells.codes >= 0) & (own.codes >= 0)
    if both.sum() < NEARLY * len(own.told):
        return False
    one, two = cells.codes[both], own.codes[both]
    pairs = len(np.unique(one * len(own.values) + two))
    sizes = len(np.unique(one)), len(np.unique(two))
    return NEARLY * pairs <= min(sizes)


def _numbers_rows(cells: _Cells, release: Release, table: Table) -> bool:
    """Tell whether a column is the row number in the original, from 0 or from 1.

    Numbers from 0 up may have been given anew. They are the original's if the records with these
    numbers fit the rows: their values lie in the row's regions, and the sensitive value is theirs.
    """
    if not cells.is_unique:
        return False
    try:
        numbers = cells.values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return False
    row_of = np.full(table.source.num_rows, -1, np.intp)
    row_of[table.records] = np.arange(len(table))
    for base in (0, 1):
        record = numbers[cells.codes[cells.told]] - base
        inside = (record >= 0) & (record < len(row_of))
        if inside.mean() < NEARLY:
            continue
        own, released = row_of[record[inside]], cells.told[inside]
        own, released = own[own >= 0], released[own >= 0]
        fits = release.classes[released] == table.sensitive.codes[own]
        for column in release.columns:
            fits &= column.covers_each(released, table.attribute(column.attribute.name).codes[own])
        if len(fits) and fits.mean() >= NEARLY:
            return True
    return False


def _names_everyone(own: _Cells) -> bool:
    """Tell whether an original column is different in every record, as names and numbers are."""
    if pa.types.is_integer(own.kind):
        return len(own.values) == len(own.codes) > 1
    text = pa.types.is_string(own.kind) or pa.types.is_large_string(own.kind)
    return own.is_unique and (text or pa.types.is_dictionary(own.kind))
