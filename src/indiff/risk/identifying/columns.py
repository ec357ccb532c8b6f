"""Says which columns identify people, alone and together, by their values and by counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from indiff.data.reading.door import Raw, read_raw
from indiff.errors import UserError
from indiff.risk.identifying.recognise import Column, Evidence
from indiff.risk.identifying.roles import guess_all
from indiff.risk.identifying.subsets import (
    MOST_COLUMNS,
    SECONDS_EACH,
    Codes,
    coded,
    lattice,
    measure_sets,
    require_few,
    sets_up_to,
)
from indiff.text import FORMAT, duration, html, html_table, json_text, percent

SHARE = 0.5
SIZE = 3
QUICK = 2_000_000_000
"""Records × sets of columns that are looked at without being asked for: about 20 seconds."""


@dataclass(frozen=True)
class ColumnSet:
    """What a set of columns gives away, as ARX measures it.

    ``distinction`` is the number of different combinations of values over that of records, and
    ``separation`` the share of all pairs of records that differ in one column at least (Motwani and
    Xu 2007, "Efficient algorithms for masking and finding quasi-identifiers", α-distinction and
    α-separation). Neither says that somebody knows these columns.
    """

    columns: tuple[str, ...]
    combinations: int
    singled_out: int
    """Records that are alone by these columns."""
    distinction: float
    separation: float


@dataclass(frozen=True)
class ColumnFound:
    """One column: what it gives away alone, what its values are, and what role that suggests."""

    column: str
    kind: str
    distinct: int
    missing: int
    singled_out: int
    distinction: float
    separation: float
    evidence: tuple[Evidence, ...]
    role: str
    reason: str


@dataclass(frozen=True)
class IdentifyingColumns:
    """Every column, and the smallest sets of columns that single people out.

    ``telling`` are the minimal sets of up to ``size`` columns that single out at least ``share`` of
    the records: no column of such a set can be left out. ``most_telling`` has, for every size, the
    set that singles out most, whether or not that is enough. What a small number does not prove:
    that nobody has other columns, or rounds differently, or knows who is in the table.
    """

    records: int
    share: float
    size: int
    columns: tuple[ColumnFound, ...]
    telling: tuple[ColumnSet, ...]
    most_telling: tuple[ColumnSet, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {"format": FORMAT, "kind": "columns", **asdict(self)}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json_text(self.to_dict(), indent=1)

    def _repr_html_(self) -> str:
        rows = [
            [one.column, one.role, f"{one.distinct:,}", percent(one.distinction),
             percent(one.separation), f"{one.singled_out:,}", one.reason]
            for one in self.columns
        ]  # fmt: skip
        heads = (
            "column",
            "role (guessed)",
            "distinct",
            "distinction",
            "separation",
            "alone",
            "why",
        )
        sets = [[" + ".join(one.columns), f"{one.singled_out:,}"] for one in self.telling]
        return (
            f"<div><h3>{html(f'Columns of {self.records:,} records')}</h3>{html_table(heads, rows)}"
            f"{html_table((f'sets that single out {percent(self.share)}', 'alone'), sets)}</div>"
        )


def identifying_columns(
    source: Any, *, share: float = SHARE, size: int | None = None, **reading: Any
) -> IdentifyingColumns:
    """Say of every column, and of the smallest telling sets of columns, how far they identify.

    ``source`` is a path or a frame. ``share`` of the records must be alone by a set for it to be
    telling, and sets of up to ``size`` columns are looked at: three, or fewer where three would
    take long, which a note says. All counts are exact. ``reading`` are the options of
    :func:`indiff.read_table` that say how a file is read.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": list("ffmm"), "age": [30, 40, 30, 40], "ill": list("xxxy")})
    >>> found = identifying_columns(people, share=1)
    >>> [(one.columns, one.singled_out, one.separation) for one in found.telling]
    [(('sex', 'age'), 4, 1.0)]
    >>> found.columns[2].distinction, found.columns[2].role
    (0.5, 'sensitive')
    """
    if not 0 < share <= 1:
        raise UserError("share is above 0 and at most 1", share, field="share")
    raw = read_raw(source, **reading)
    frame = raw.frame
    if size is not None:
        require_few(frame.num_rows, frame.num_columns, size, bits=False)
    columns = [Column.of(name, frame[name]) for name in frame.column_names]
    chosen, notes = _size(frame.num_rows, frame.num_columns, size)
    table = coded(frame)
    sets = _measured(table, chosen, math.ceil(share * frame.num_rows))
    alone = {one.columns[0]: one for one in sets if len(one.columns) == 1}
    found = []
    for column, guess in zip(columns, guess_all(columns), strict=True):
        own = alone[column.name]
        found.append(
            ColumnFound(
                column.name, guess.kind, guess.distinct, column.missing, own.singled_out,
                own.distinction, own.separation, column.evidence, guess.role, guess.reason,
            )
        )  # fmt: skip
    return IdentifyingColumns(
        records=frame.num_rows,
        share=share,
        size=chosen,
        columns=tuple(found),
        telling=tuple(one for one in sets if one.singled_out >= share * frame.num_rows),
        most_telling=tuple(
            _best(sets, width) for width in range(1, chosen + 1) if _has(sets, width)
        ),
        notes=(*_told(raw), *notes),
    )


def _told(raw: Raw) -> list[str]:
    return [*raw.notes, *(question.message for question in raw.questions.values())]


def _size(records: int, columns: int, asked: int | None) -> tuple[int, list[str]]:
    """Return the size of the sets to look at, and what to say where three columns are too many."""
    if asked is not None:
        return min(asked, columns), []
    if columns > MOST_COLUMNS:
        told = f"sets are looked at in tables of up to {MOST_COLUMNS} columns"
        return 1, [f"each column was looked at alone: {told}, and this has {columns:,}"]
    chosen = min(SIZE, columns)
    while chosen > 1 and sets_up_to(columns, chosen) * records > QUICK:
        chosen -= 1
    if chosen == min(SIZE, columns):
        return chosen, []
    sets = sets_up_to(columns, chosen + 1)
    longer = duration(sets * records * SECONDS_EACH)
    return chosen, [
        f"sets of up to {chosen} columns were looked at; all {sets:,} sets of up to {chosen + 1} "
        f"would take {longer} or longer"
    ]


def _measured(table: Codes, size: int, needed: int) -> list[ColumnSet]:
    """Measure every set but those around a telling one, the smallest and most telling first."""
    rank = np.argsort(table.distinct, kind="stable")
    found = []
    records = table.records
    for part in _parts(rank, size):
        order = lattice(len(part), size)
        counted = measure_sets(
            table.codes[part], table.distinct[part], table.weights,
            (order.masks, order.column, order.depth), needed,
        )  # fmt: skip
        for mask, (combinations, alone, together) in zip(
            order.masks, counted.tolist(), strict=True
        ):
            if combinations < 0:
                continue
            places = sorted(int(one) for at, one in enumerate(part) if int(mask) >> at & 1)
            pairs = records * (records - 1) // 2
            separation = (pairs - together) / pairs if pairs else 1.0
            names = tuple(table.names[place] for place in places)
            found.append(ColumnSet(names, combinations, alone, combinations / records, separation))
    return sorted(found, key=lambda one: (len(one.columns), -one.singled_out, -one.distinction))


def _parts(rank: Any, size: int) -> list[Any]:
    """Return the columns at once, or one by one where each is looked at alone."""
    return [rank] if size > 1 else [rank[place : place + 1] for place in range(len(rank))]


def _has(sets: Sequence[ColumnSet], width: int) -> bool:
    return any(len(one.columns) == width for one in sets)


def _best(sets: Sequence[ColumnSet], width: int) -> ColumnSet:
    """Return the set of so many columns that singles out most: the first, as they are sorted."""
    return next(one for one in sets if len(one.columns) == width)
