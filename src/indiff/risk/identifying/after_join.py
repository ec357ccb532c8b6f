"""Counts the people whom no table of several singles out, but their join does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.joining.joined import Joined
from indiff.data.table import Table
from indiff.errors import UserError

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Alone:
    """How many people one table singles out: by one of their rows, or by all of them."""

    name: str
    columns: tuple[str, ...]
    people: int
    by_one_row: int
    by_all_rows: int


@dataclass(frozen=True)
class UniqueAfterJoin:
    """How many people are unique by their quasi-identifiers, table by table and after the join.

    Somebody is unique by one row if a row of theirs has values that nobody else's row has: what
    an attacker finds who knows of one visit. They are unique by all rows if nobody else has the
    same rows equally often, in every table and put together: what one finds who knows all of them.
    Who has no row in a table is not unique by it; after the join, that there is none is known, too.
    ``only_by_one_row`` and ``only_by_all_rows`` are the people who are unique after the join and by
    no table alone.

    These are counts of the columns as they are. That nobody is unique does not mean that nobody is
    found: two people who share everything may share the sensitive value as well.
    """

    people: int
    tables: tuple[Alone, ...]
    by_one_row: int
    by_all_rows: int
    only_by_one_row: int
    only_by_all_rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "people": self.people,
            "tables": {
                one.name: {"people": one.people, "by_one_row": one.by_one_row,
                           "by_all_rows": one.by_all_rows}
                for one in self.tables
            },
            "by_one_row": self.by_one_row,
            "by_all_rows": self.by_all_rows,
            "only_by_one_row": self.only_by_one_row,
            "only_by_all_rows": self.only_by_all_rows,
        }  # fmt: skip


def unique_after_join(table: Table) -> UniqueAfterJoin:
    """Count who is unique by each of the joined tables, and who only after the join.

    >>> import pyarrow as pa
    >>> from indiff import join_tables, read_table
    >>> people = pa.table({"id": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"]})
    >>> visits = pa.table({"id": [1, 2, 3, 4], "ward": ["x", "y", "x", "y"], "ill": list("abab")})
    >>> view = join_tables([people, visits], on="id")
    >>> found = unique_after_join(read_table(view, quasi=["sex", "ward"], sensitive="ill"))
    >>> [one.by_all_rows for one in found.tables], found.by_all_rows, found.only_by_all_rows
    ([0, 0], 4, 4)
    """
    joined = of_joined(table)
    quasi = [one.name for one in table.attributes]
    return count_unique(joined, {name: _codes(joined.frame[name]) for name in quasi})


def of_joined(table: Table) -> Joined:
    """Return the join that a table is made of; refuse a table of its own."""
    if table.joined is None:
        raise UserError(
            "people are counted after a join of several tables; this is one table",
            way_out="Join them with join_tables, and read what it gives with read_table",
        )
    return table.joined


def count_unique(joined: Joined, cells: Mapping[str, NDArray[Any]]) -> UniqueAfterJoin:
    """Count who is unique, where ``cells`` has a number for each value of each row of the view."""
    present, owner = np.unique(joined.rows[0], return_inverse=True)
    owner, people = owner.ravel(), len(present)
    tables, views = [], []
    one_row, all_rows = np.zeros(people, np.bool_), np.zeros(people, np.bool_)
    for name, own, rows in zip(joined.names, joined.columns, joined.rows, strict=True):
        columns = tuple(column for column in own if column in cells)
        present, at = np.unique(rows, return_index=True)
        at = at[present >= 0]  # each of its rows once
        kinds = _kinds([cells[column][at] for column in columns], len(at))
        views.append(_same_rows(owner[at], kinds, people))
        here = np.zeros(people, np.bool_)
        here[owner[at]] = True
        by_one = _held_by_one(owner[at], kinds, people) if columns else ~here & here
        by_all = _alone(views[-1]) & here if columns else by_one
        one_row |= by_one
        all_rows |= by_all
        counts = int(here.sum()), int(by_one.sum()), int(by_all.sum())
        tables.append(Alone(name, columns, *counts))
    kinds = _kinds(list(cells.values()), len(owner))
    views.append(_same_rows(owner, kinds, people))
    by_one = _held_by_one(owner, kinds, people)
    by_all = _alone(_kinds(views, people))
    return UniqueAfterJoin(
        people, tuple(tables), int(by_one.sum()), int(by_all.sum()),
        int((by_one & ~one_row).sum()), int((by_all & ~all_rows).sum()),
    )  # fmt: skip


def _codes(column: pa.ChunkedArray) -> Ints:
    coded = column.combine_chunks().dictionary_encode().indices
    return pc.fill_null(coded, -1).to_numpy(zero_copy_only=False).astype(np.int64)


def _kinds(columns: Sequence[NDArray[Any]], size: int) -> Ints:
    """Number the distinct combinations of several columns of numbers."""
    found = np.zeros(size, np.int64)
    for column in columns:
        _, each = np.unique(column, return_inverse=True)
        wide = int(each.max(initial=0)) + 1
        _, found = np.unique(found * wide + each.ravel(), return_inverse=True)
        found = found.ravel()
    return found


def _held_by_one(owner: Ints, kinds: Ints, people: int) -> Flags:
    """Tell of everybody whether a row of theirs is of a kind that nobody else has."""
    pairs = np.unique(kinds * people + owner)
    kind, who = pairs // people, pairs % people
    found = np.zeros(people, np.bool_)
    found[who[np.bincount(kind)[kind] == 1]] = True
    return found


def _same_rows(owner: Ints, kinds: Ints, people: int) -> Ints:
    """Number people so that those have one number who have the same kinds of rows equally often.

    The lists are read like words in a tree, a letter (a kind and how often) at a time.
    """
    pairs, times = np.unique(owner * (int(kinds.max(initial=0)) + 1) + kinds, return_counts=True)
    who = pairs // (int(kinds.max(initial=0)) + 1)
    letters = _kinds([pairs % (int(kinds.max(initial=0)) + 1), times], len(pairs))
    starts = np.searchsorted(who, np.arange(people + 1))
    found, numbers, step = np.zeros(people, np.int64), 1, 0
    left = np.flatnonzero(np.diff(starts) > 0)
    while len(left):
        _, each = np.unique(
            found[left] * (int(letters.max()) + 1) + letters[starts[left] + step],
            return_inverse=True,
        )
        found[left] = numbers + each.ravel()
        numbers += int(each.max()) + 1
        step += 1
        left = left[starts[left] + step < starts[left + 1]]
    return found


def _alone(numbers: Ints) -> Flags:
    """Tell of everybody whether nobody else has their number."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    found: Flags = counts[place.ravel()] == 1
    return found
