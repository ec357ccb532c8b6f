"""Groups the records that are left out together, those of one person, and leaves them out.

Without a column that names people every record is a person. With one, all records of a person are
left out at once. An adversary may ask about any of them, so a belief is formed for each of the
person's records, and the person's distance is the largest of theirs: a distance below a limit then
says so of every record that the person has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, unknown
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.protocol import Sanitizer

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class People:
    """Who the rows of a table belong to: ``rows`` in the order of people, cut at ``starts``."""

    rows: Rows
    starts: NDArray[np.int64]
    column: str | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, person: int) -> Rows:
        """Return the rows of one person, in the order of the table."""
        return self.rows[self.starts[person] : self.starts[person + 1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each person has."""
        return np.diff(self.starts)

    @property
    def are_records(self) -> bool:
        """Whether everybody has one record."""
        return len(self.rows) == len(self)

    @property
    def firsts(self) -> Rows:
        """The first row of each person."""
        return self.rows[self.starts[:-1]]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The person of each of ``rows``."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def places(self, persons: NDArray[Any]) -> NDArray[np.intp]:
        """Return where in ``rows`` the records of these people stand, person after person."""
        sizes = self.sizes[persons]
        ends = np.cumsum(sizes)
        within = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        return np.repeat(self.starts[:-1][persons], sizes) + within

    def choose(self, persons: NDArray[Any]) -> People:
        """Return some of the people, in this order."""
        starts = np.concatenate([[0], np.cumsum(self.sizes[persons])])
        return replace(self, rows=self.rows[self.places(persons)], starts=starts)


@dataclass(frozen=True)
class Chosen:
    """The people to test, in table order; in which order to ask; whether they are a random draw.

    ``listed`` is where in ``people`` those stand who were asked for by number, in that order.
    """

    people: People
    order: NDArray[np.intp] | None = None
    random_draw: bool = False
    listed: NDArray[np.intp] | None = None


def each_record(rows: Rows) -> People:
    """Let every record be a person."""
    return People(np.asarray(rows, np.intp), np.arange(len(rows) + 1))


def find_people(table: Table, column: str | None) -> People:
    """Group the rows of a table by the column that names people, in the order of first records.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> visits = pa.table({"who": ["b", "a", "b"], "age": [1, 2, 3], "ill": ["x", "y", "x"]})
    >>> visits = read_table(visits, quasi=["age"], sensitive="ill", identifier="who")
    >>> people = find_people(visits, "who")
    >>> [people.of(person).tolist() for person in range(len(people))]
    [[0, 2], [1]]
    """
    if column is None:
        return each_record(np.arange(len(table), dtype=np.intp))
    if column not in table.source.column_names:
        raise unknown("column", column, table.source.column_names, field="individual")
    values = table.source[column].take(table.records).combine_chunks()
    if values.null_count:
        raise UserError(
            f"the individual column must have a value in every record; {column!r} has "
            f"none in {values.null_count:,}",
            way_out="Give each of these people a value, or leave the records out",
            field="individual",
        )
    coded = values.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    rows = np.argsort(coded, kind="stable").astype(np.intp)
    starts = np.concatenate([[0], np.cumsum(np.bincount(coded))])  # codes come in order of firsts
    return People(rows, starts, column)


def describe_people(people: People) -> tuple[str, ...]:
    """Say how many records people have; nothing where each record is one."""
    if people.column is None:
        return ()
    several = int((people.sizes > 1).sum())
    most = int(people.sizes.max(initial=0))
    return (
        f"δ is over people: {len(people):,} people by {people.column!r} hold "
        f"{len(people.rows):,} records, {several:,} of them more than one, at most {most:,}; all "
        "of a person's records are left out at once, and the largest distance about any of them "
        "counts",
    )


def without_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """Return the table without these rows."""
    return table.take(np.delete(np.arange(len(table), dtype=np.intp), rows))


def fallback(sanitizer: Sanitizer) -> Sanitizer:
    """Return the sanitizer for D⁻ⁱ, which may not meet a constraint that D meets."""
    return replace(sanitizer, unmet="generalize") if isinstance(sanitizer, Mondrian) else sanitizer


def distinct_people(
    table: Table, people: People, sanitizer: object, model: object
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one person for each distinct target, and for each person which of them it equals.

    A sanitizer or model that is ``per_record`` knows more of a target than its values: none equals
    another. Someone with several records is like nobody else.
    """
    everyone = np.arange(len(people), dtype=np.intp)
    if is_per_record(sanitizer) or is_per_record(model):
        return everyone, everyone
    rows = people.firsts
    alone = np.where(people.sizes > 1, everyone + 1, 0)
    keys = [*(a.codes[rows] for a in table.attributes), table.sensitive.codes[rows], alone]
    _, first, back = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return first.astype(np.intp), back.ravel().astype(np.intp)


def is_per_record(part: object) -> bool:
    """Tell whether targets that look alike may differ to a sanitizer or model, which may say so.

    Of a stranger's it is assumed: it may look at the order of rows or at other columns. Ours do
    not, unless they carry a stranger's.

    >>> is_per_record(Mondrian(k=2)), is_per_record(object())
    (False, True)
    """
    ours = type(part).__module__.partition(".")[0] == "indiff"
    inner = getattr(part, "model", None)  # what an adversary with background knowledge learns by
    return bool(getattr(part, "per_record", not ours)) or (
        ours and inner is not None and is_per_record(inner)
    )
