"""Joins a table of people with tables of their visits, prescriptions …, by the keys they share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.joining.memory import free_memory
from indiff.data.reading.door import Raw, read_raw
from indiff.errors import Message, UserError, option, unknown
from indiff.text import counted

Ints = NDArray[np.int64]
_INDEX_BYTES = 40  # of a row of the view, per table, while it is made
_BLOCK = 1 << 22  # rows taken at once: a chunk of text holds 2 GB


@dataclass(frozen=True, eq=False)
class Joined:
    """Several tables as one view: a row for each person, visit, prescription that belong together.

    ``columns`` has the columns of each table but the keys, and ``rows`` a line for each table: from
    which of its rows a row of the view comes, −1 where a person has none there. The first table
    has one row for each person, so ``rows[0]`` says whose a row is.
    """

    raw: Raw = field(repr=False)
    on: tuple[str, ...]
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    rows: Ints = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Joined({', '.join(self.names)} by {', '.join(self.on)}: {self.rows.shape[1]:,} rows)"
        )

    @property
    def frame(self) -> pa.Table:
        """The view as a PyArrow table."""
        return self.raw.frame


def join_tables(sources: Sequence[Any], *, on: Sequence[str] | str, **reading: Any) -> Joined:
    """Join a table of people with others that have rows of the same people.

    The first source has one row for each person, whom the first key of ``on`` names. Each further
    table is joined to those before it by every key that it has in common with them: visits by
    ``patient_id``, prescriptions by ``visit_id`` where they have it. The view has one row for each
    combination of rows that belong together, and one for a person of whom a table has none.
    ``reading`` is how files are read, as :func:`indiff.read_table` takes it, the same for all.

    Keys are compared as text: 7, 7.0 and "7" are one, "007" is another. Rows whose key nobody has
    are in no row of the view, and a note counts them. Two tables that are joined to the people
    alone give every visit beside every prescription: the view is counted before it is made, and
    refused where it does not fit into the memory that is free.

    >>> import pyarrow as pa
    >>> people = pa.table({"id": ["a", "b"], "age": [30, 40]})
    >>> visits = pa.table({"id": ["a", "a", "c"], "ward": ["x", "y", "x"]})
    >>> view = join_tables([people, visits], on="id")
    >>> view.frame.to_pydict()
    {'id': ['a', 'a', 'b'], 'age': [30, 30, 40], 'ward': ['x', 'y', None]}
    >>> view.raw.notes
    ("joined by 'id': 2 people of table 1, 3 rows of table 2; 3 rows in all", ...)
    """
    keys = [on] if isinstance(on, str) else list(on)
    _check(sources, keys, reading)
    names = _names(sources)
    raws = [read_raw(source, **reading) for source in sources]
    held = [[key for key in keys if key in raw.frame.column_names] for raw in raws]
    for key in keys:
        of = raws[:1] if key == keys[0] else raws
        known = list(dict.fromkeys(name for raw in of for name in raw.frame.column_names))
        if key not in known:
            raise unknown("key" if len(of) > 1 else f"column of {names[0]}", key, known, field="on")
    columns = tuple(
        tuple(name for name in raw.frame.column_names if name not in keys) for raw in raws
    )
    _refuse_equal_names(names, columns)
    codes = {key: _codes(raws, key) for key in keys}
    _check_people(names[0], keys[0], codes[keys[0]][0])
    rows: list[Ints] = [np.arange(raws[0].frame.num_rows)]
    width = _width(raws[0])
    notes: list[str] = list(raws[0].notes)
    for place in range(1, len(raws)):
        shared = [key for key in held[place] if any(key in one for one in held[:place])]
        if not shared:
            raise UserError(
                f"each table shares a key with those before it; {names[place]} has none of "
                f"{', '.join(keys)}",
                way_out=f"Name the column that it shares with {option('on')}",
                field="on",
            )
        homes = [next(t for t in range(place) if key in held[t]) for key in shared]
        before = [
            _at(codes[key][home], rows[home]) for key, home in zip(shared, homes, strict=True)
        ]
        own = [codes[key][place] for key in shared]
        sizes = [1 + max(int(c.max(initial=-1)) for c in codes[key].values()) for key in shared]
        width += _width(raws[place])
        left, right = _paired(_folded(before, sizes), _folded(own, sizes), names, width)
        rows = [one[left] for one in rows] + [right]
        notes += _notes(raws[place], names, place, right, rows)
    told = [f"{counted(r.frame.num_rows, 'row')} of {n}" for r, n in zip(raws, names, strict=True)]
    told[0] = f"{raws[0].frame.num_rows:,} people of {names[0]}"
    by = ", ".join(map(repr, keys))
    notes = [f"joined by {by}: {', '.join(told)}; {counted(len(rows[0]), 'row')} in all", *notes]
    frame = _view(raws, columns, rows, held, keys)
    raw = replace(
        raws[0], frame=frame, notes=tuple(notes),
        orders={name: order for one in raws for name, order in one.orders.items()},
        questions={name: asked for one in raws for name, asked in one.questions.items()},
    )  # fmt: skip
    return Joined(raw, tuple(keys), names, columns, np.stack(rows))


def _check(sources: Sequence[Any], keys: Sequence[str], reading: Mapping[str, Any]) -> None:
    if isinstance(sources, str | os.PathLike) or len(sources) < 2:
        raise UserError("tables are joined from 2 on", "1", "Name a second one", field="join")
    if not keys or len(set(keys)) < len(keys):
        rule = f"{option('on')} names the columns by which tables are joined, each once"
        raise UserError(rule, ", ".join(keys) or "none", field="on")
    if isinstance(reading.get("date_format"), Mapping):
        raise UserError(
            "for joined tables one way of writing dates holds for all columns",
            "one for each column",
            f"Give {option('date_format')} once, or write the dates as 2026-12-31",
            field="date_format",
        )


def _names(sources: Sequence[Any]) -> tuple[str, ...]:
    """Name files by their last part, or by all of it where two are called alike."""
    files = [one for one in sources if isinstance(one, str | os.PathLike)]
    last = [Path(os.fsdecode(one)).name for one in files]
    if len(set(last)) < len(last):
        last = [os.fsdecode(one) for one in files]
    told = dict(zip(map(id, files), last, strict=True))
    return tuple(told.get(id(one), f"table {place}") for place, one in enumerate(sources, 1))


def _refuse_equal_names(names: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    homes: dict[str, str] = {}
    for name, own in zip(names, columns, strict=True):
        for column in own:
            if column in homes:
                raise UserError(
                    f"a column of joined tables has a name of its own; {homes[column]} and {name} "
                    f"both have {column!r}",
                    way_out=f"Rename one of them, or name it with {option('on')} if it is a key",
                    field="join",
                )
            homes[column] = name


def _codes(raws: Sequence[Raw], key: str) -> dict[int, Ints]:
    """Return each table's values of a key as numbers, the same for equal texts; −1 for none."""
    having = [place for place, raw in enumerate(raws) if key in raw.frame.column_names]
    texts = [_texts(raws[place].frame[key]) for place in having]
    coded = pa.chunked_array([one.combine_chunks() for one in texts], pa.string())
    whole = coded.combine_chunks().dictionary_encode()
    codes = pc.fill_null(whole.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum([len(one) for one in texts])[:-1]
    return dict(zip(having, np.split(codes, ends), strict=True))


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a key as text; whole numbers are written without a point, the empty text is none."""
    text = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**53))
        numbers = pc.if_else(whole, column, 0.0).cast(pa.int64())
        text = pc.if_else(whole, numbers.cast(pa.string()), text)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _check_people(name: str, key: str, codes: Ints) -> None:
    lacking = int((codes < 0).sum())
    twice = len(codes) - lacking - len(np.unique(codes[codes >= 0]))
    if lacking or twice:
        raise UserError(
            f"the first table has one row for each person; column {key!r} of {name} lacks "
            f"{lacking:,} and repeats {twice:,} of {len(codes):,}",
            way_out="Put the table of people first, and give everybody a key",
            field="on",
        )


def _at(codes: Ints, rows: Ints) -> Ints:
    """Return the codes at these rows; −1 where there is no row."""
    return np.where(rows >= 0, codes[rows], -1)


def _folded(codes: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """Return one number for each combination of codes; −1 where one is missing."""
    found, lacking = codes[0], codes[0] < 0
    for size, one in zip(sizes[1:], codes[1:], strict=True):
        if float(found.max(initial=0) + 1) * size >= 2.0**62:
            raise UserError("keys of joined tables have too many values together", field="on")
        found, lacking = found * size + one, lacking | (one < 0)
    return np.where(lacking, -1, found)


def _paired(before: Ints, own: Ints, names: Sequence[str], width: float) -> tuple[Ints, Ints]:
    """Return for each row of the new view its row in the old one, and in the table, −1 for none."""
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    first = np.searchsorted(ordered, before, "left")
    matches = np.searchsorted(ordered, before, "right") - first
    matches[before < 0] = 0
    times = np.maximum(matches, 1)
    total, free = int(times.sum(dtype=np.float64)), free_memory()
    needed = total * (width + _INDEX_BYTES * len(names))
    if free is not None and needed > free:
        raise UserError(
            f"the tables joined have {total:,} rows, which need about {needed / 1e9:,.1f} GB of "
            f"memory; {free / 1e9:,.1f} GB are free",
            way_out=f"Name a key that tells which rows belong together with {option('on')} (a "
            "visit's, beside a person's), or join fewer tables at a time",
            field="join",
        )
    left = np.repeat(np.arange(len(before)), times)
    within = np.arange(total) - np.repeat(np.cumsum(times) - times, times)
    found = np.repeat(matches > 0, times)
    right = np.full(total, -1, np.int64)
    right[found] = order[(np.repeat(first, times) + within)[found]]
    return left, right


def _width(raw: Raw) -> float:
    """Return how many bytes a row has."""
    return float(raw.frame.nbytes / max(raw.frame.num_rows, 1))


def _notes(
    raw: Raw, names: Sequence[str], place: int, right: Ints, rows: Sequence[Ints]
) -> list[str]:
    """Say what was noted of a table, which of its rows are nobody's, and who has none in it."""
    name, size = names[place], raw.frame.num_rows
    notes: list[str] = [
        Message(f"{name}: {note.marked if isinstance(note, Message) else note}")
        for note in raw.notes
    ]
    strange = size - len(np.unique(right[right >= 0]))
    if strange:
        one = strange == 1
        notes.append(
            f"{counted(strange, 'row')} of {name} {'has' if one else 'have'} no key, or one that "
            "the tables before it lack: nobody's, and in no number"
        )
    people = len(np.unique(rows[0]))
    without = people - len(np.unique(rows[0][right >= 0]))
    if without:
        notes.append(f"{without:,} of {people:,} people have no row in {name}")
    return notes


def _view(
    raws: Sequence[Raw],
    columns: Sequence[Sequence[str]],
    rows: Sequence[Ints],
    held: Sequence[Sequence[str]],
    keys: Sequence[str],
) -> pa.Table:
    """Return the columns of all tables at their rows; a key as the first that has it writes it."""
    homes = {key: next(t for t, own in enumerate(held) if key in own) for key in keys}
    found = {}
    for place, (raw, own, at) in enumerate(zip(raws, columns, rows, strict=True)):
        taken = pa.array(at, mask=at < 0)
        for name in raw.frame.column_names:
            if name in own or homes.get(name) == place:
                blocks = (taken.slice(b, _BLOCK) for b in range(0, max(len(taken), 1), _BLOCK))
                whole = [raw.frame[name].take(block) for block in blocks]
                found[name] = pa.chunked_array([chunk for one in whole for chunk in one.chunks])
    return pa.table(found)
