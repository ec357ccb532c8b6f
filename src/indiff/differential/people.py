"""Chooses whom to test: which records are left out together, in which order, and until when.

Without a column that names people every record is a person. With one, all records of a person are
left out at once. An adversary may ask about any of them, so a belief is formed for each of the
person's records, and the person's distance is the largest of theirs: a distance below a limit then
says so of every record that the person has.
"""

from __future__ import annotations

import math
import re
import time as clock
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, option, unknown
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Sanitizer

Rows = NDArray[np.intp]
Order = Literal["worst-first", "random", "given"]
ORDERS = ("worst-first", "random", "given")

# Of the random numbers that choose targets; runs have keys of two numbers.
_CHOOSING = 2

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


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
        return self.rows if self.are_records else self.rows[self.starts[:-1]]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The person of each of ``rows``."""
        everyone = np.arange(len(self))
        return everyone if self.are_records else np.repeat(everyone, self.sizes)

    def places(self, persons: NDArray[Any]) -> NDArray[np.intp]:
        """Return where in ``rows`` the records of these people stand, person after person."""
        sizes = self.sizes[persons]
        ends = np.cumsum(sizes)
        within = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        return np.repeat(self.starts[:-1][persons], sizes) + within

    def choose(self, persons: NDArray[Any]) -> People:
        """Return some of the people, in this order."""
        if np.array_equal(persons, np.arange(len(self))):
            return self
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
    if column is None and table.joined is not None:
        raise UserError(
            "a row of joined tables is a person's visit, not a person",
            way_out=f"Pass {option('individual', table.joined.on[0])}",
            field="individual",
        )
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


@dataclass(frozen=True)
class Deadline:
    """A moment on :func:`time.monotonic`'s clock, after which nothing new is begun."""

    moment: float


def as_deadline(time: float | str | Deadline | None) -> Deadline | None:
    """Return when a budget that begins now is used up; None where there is none."""
    if time is None or isinstance(time, Deadline):
        return time
    return Deadline(clock.monotonic() + seconds_of(time))


def seconds_of(time: float | str) -> float:
    """Read a span of time: seconds, or a text such as 90s, 10m, 2h, 1d or 1h30m.

    >>> seconds_of("90s"), seconds_of("10m"), seconds_of("2h"), seconds_of("1h30m"), seconds_of(5)
    (90.0, 600.0, 7200.0, 5400.0, 5.0)
    """
    if isinstance(time, str):
        text = time.strip().lower()
        parts = re.findall(r"([0-9]*\.?[0-9]+)\s*(min|[smhd]|$)\s*", text)
        whole = re.fullmatch(r"(?:[0-9]*\.?[0-9]+\s*(?:min|[smhd]|$)\s*)+", text)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts) if whole else 0.0
    else:
        seconds = math.nan if isinstance(time, bool) else float(time)
    if not 0 < seconds < math.inf:
        raise UserError("time is a span above 0, such as 90s, 10m or 2h", repr(time), field="time")
    return seconds


def choose_targets(
    table: Table,
    everyone: People,
    targets: Iterable[int] | int | None,
    *,
    order: str | None = None,
    timed: bool = False,
    seed: int = 0,
    rank: Callable[[], Rows] | None = None,
) -> Chosen:
    """Choose people by number or by their records, and the order in which to ask.

    A number N takes the first N people in the order, which is random unless another one is
    asked for. Where time may run out, it is random, too; otherwise as given. ``rank`` returns all
    rows, those that look most exposed first.
    """
    if order is not None and order not in ORDERS:
        raise unknown("order", order, ORDERS, field="order")
    count = targets if isinstance(targets, int) else None
    if isinstance(targets, bool) or (count is not None and count < 1):
        raise UserError(
            "targets is a number of at least 1, or record numbers", repr(targets), field="targets"
        )
    how = order or ("random" if count is not None or timed else "given")
    if how == "given" and targets is None:
        return Chosen(everyone)
    persons = np.arange(len(everyone), dtype=np.intp)
    if targets is not None and not isinstance(targets, int):
        persons = _persons(everyone, as_rows(table, targets))
    if how == "random":
        rng = np.random.default_rng(SeedSequence(seed, spawn_key=(_CHOOSING,)))
        ranked = rng.permutation(np.sort(persons))
    elif how == "worst-first":
        assert rank is not None
        exposed = _persons(everyone, rank())
        ranked = exposed[np.isin(exposed, persons)]
    else:
        ranked = persons
    drawn = count is not None and count < len(ranked)
    ranked = ranked if count is None else ranked[:count]
    kept = np.sort(ranked)
    return Chosen(
        everyone.choose(kept),
        None if how == "given" and count is None and (np.diff(ranked) > 0).all()
        else np.searchsorted(kept, ranked),
        random_draw=drawn and how == "random",
        listed=None if targets is None or count is not None else np.searchsorted(kept, persons),
    )  # fmt: skip


def _persons(everyone: People, rows: Rows) -> Rows:
    """Return the people whom these rows belong to, each once, in the order of the rows."""
    owner = np.empty(len(everyone.rows), np.intp)
    owner[everyone.rows] = everyone.owners
    return np.array(list(dict.fromkeys(owner[rows].tolist())), np.intp)


def as_rows(table: Table, targets: Iterable[Any] | None) -> Rows:
    """Translate record numbers (positions in the input) to rows of the table, in their order."""
    if targets is None:
        return np.arange(len(table), dtype=np.intp)
    numbers = list(targets)
    if not numbers:
        raise UserError(
            "targets names no record; leave it out to test all of them.", field="targets"
        )
    for number in numbers:
        if isinstance(number, bool | np.bool_) or not isinstance(number, Integral):
            raise UserError(
                "targets are record numbers, whole ones from 0",
                f"{number!r}",
                "Write a mask as numpy.flatnonzero(mask)",
                field="targets",
            )
    wanted = np.array(list(dict.fromkeys(map(int, numbers))), np.int64)
    place = np.searchsorted(table.records, wanted)
    found = table.records[np.minimum(place, len(table) - 1)] == wanted
    if not found.all():
        stray = int(wanted[~found][0])
        raise UserError(
            f"targets are record numbers from 0 to {int(table.records[-1]):,} that "
            "were not dropped",
            f"{stray:,}",
            field="targets",
        )
    return place.astype(np.intp)


def without_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """Return the table without these rows."""
    return table.take(np.delete(np.arange(len(table), dtype=np.intp), rows))


def fallback(sanitizer: Sanitizer) -> Sanitizer:
    """Return the sanitizer for D⁻ⁱ, which may not meet a constraint that D meets."""
    if isinstance(sanitizer, Mondrian | Recoding):
        return replace(sanitizer, unmet="generalize")
    return sanitizer


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
    alone = np.where(people.sizes > 1, everyone, -1)
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
