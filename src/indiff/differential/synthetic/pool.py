"""Puts the original, a synthetic file and held-out records into the same codes and scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.reading.door import typed
from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table, read_table
from indiff.errors import UserError, unknown
from indiff.release.reading import read_classes, read_released
from indiff.release.regions import ValueSet, plain
from indiff.release.release import Release, ReleasedColumn
from indiff.release.repeated import repeats
from indiff.release.unmeasured import Unmeasured, judge_columns
from indiff.sanitizers.perturbation.perturbed import number_column, numbers_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of the pool: where they stand in it, and the sensitive value of each.

    A sensitive value that the original lacks has a code behind the last.
    """

    numbers: Floats = field(repr=False)  # rows × ordered columns, in ranges of the original
    categories: Ints = field(repr=False)  # rows × other columns, and whether a number is missing
    quasi: Ints = field(repr=False)  # equal where all quasi-identifiers are
    whole: Ints = field(repr=False)  # equal where the sensitive value is, too
    classes: NDArray[np.int32] = field(repr=False)

    def __len__(self) -> int:
        return len(self.classes)

    def take(self, rows: NDArray[Any]) -> Part:
        """Return some of the rows."""
        return Part(
            self.numbers[rows], self.categories[rows], self.quasi[rows], self.whole[rows],
            self.classes[rows],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pool:
    """The original, the synthetic rows, and the held-out records (none where there are none)."""

    original: Part
    synthetic: Part
    held_out: Part | None
    name: str
    unmeasured: tuple[Unmeasured, ...]  # columns of the synthetic file that are not compared
    repeated: tuple[str, ...]  # that it is a copy of records, where it is


def make_pool(table: Table, synthetic: Any, held_out: Any, encoding: str | None) -> Pool:
    """Read both files by the original's columns, and code all three alike."""
    read = [_Rows.of_original(table), _Rows.read(synthetic, table, "synthetic", encoding)]
    if held_out is not None:
        read.append(_Rows.read(held_out, table, "held-out", encoding))
    parts = _coded(table, read)
    release = read[1].as_release(table)
    return Pool(
        parts[0],
        parts[1],
        parts[2] if held_out is not None else None,
        Path(synthetic).name if isinstance(synthetic, str | Path) else "frame",
        judge_columns(release, table),
        tuple(repeats(release, table)),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The columns of one of the three, each attribute with values of its own."""

    attributes: tuple[Attribute, ...]
    classes: NDArray[np.int32]
    further: pa.Table | None = None

    @staticmethod
    def of_original(table: Table) -> _Rows:
        return _Rows(table.attributes, table.sensitive.codes)

    @staticmethod
    def read(source: Any, table: Table, what: str, encoding: str | None) -> _Rows:
        """Read a file or frame of values; regions are refused, since nobody could be a copy."""
        frame: pa.Table = read_released(source, table, encoding=encoding).frame
        names = [attribute.name for attribute in table.attributes]
        wanted = [*names, *table.sensitive.columns]
        for name in wanted:
            if name not in frame.column_names:
                raise unknown(f"column of the {what} file", name, frame.column_names)
        ordinal = {a.name: [str(v) for v in a.values if v is not None]
                   for a in table.attributes if a.kind == Kind.ORDINAL}  # fmt: skip
        kinds = {a.name: str(a.kind) for a in table.attributes if a.kind == Kind.CATEGORICAL}
        read = frame.select(names)
        for place, own in enumerate(table.attributes):
            if own.kind == Kind.NUMERIC and pa.types.is_string(read[own.name].type):
                read = read.set_column(place, own.name, _typed(own.name, read[own.name]))
        there = read_table(read, quasi=names, kinds=kinds, orders=ordinal, missing="split")
        for own, other in zip(table.attributes, there.attributes, strict=True):
            if (own.kind, own.is_date) != (other.kind, other.is_date):
                wants = "dates" if own.is_date else "numbers"
                raise UserError(
                    f"a {what} file has values like the original's; {own.name!r} has no {wants}",
                    way_out="Test generalized releases without saying that they are synthetic",
                    field="synthetic",
                )
        if len(there) < 2:
            raise UserError(f"a {what} file needs at least 2 rows; it has {len(there)}.")
        further = frame.select([name for name in frame.column_names if name not in wanted])
        return _Rows(there.attributes, read_classes(frame, table, others=True), further)

    def as_release(self, table: Table) -> Release:
        """Return the rows as a release of the table, in which a value may be nobody's."""
        columns = []
        for own, other in zip(table.attributes, self.attributes, strict=True):
            if own.kind == Kind.NUMERIC:
                columns.append(number_column(own, numbers_of(other), whole=False))
            else:
                regions = [ValueSet(frozenset({plain(value)})) for value in other.values]
                columns.append(ReleasedColumn.of(own, regions, other.codes))
        return Release(
            tuple(columns), table.sensitive.name, table.sensitive.values, self.classes,
            unread=self.further,
        )  # fmt: skip


def _typed(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Read the numbers or dates of a column that a blank cell made text."""
    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    return typed(name, pc.if_else(blank, pa.scalar(None, pa.string()), column)).values


def _coded(table: Table, read: Sequence[_Rows]) -> list[Part]:
    """Code every column of all rows together, and cut them apart again."""
    ends = np.cumsum([len(rows.classes) for rows in read])[:-1]
    scaled, others = [], []
    for place, own in enumerate(table.attributes):
        columns = [rows.attributes[place] for rows in read]
        if own.kind == Kind.CATEGORICAL:
            others.append(_same_texts(columns))
            continue
        numbers = np.concatenate([_positions(own, column) for column in columns])
        known = numbers[: len(table)]
        low, high = np.nanmin(known, initial=np.inf), np.nanmax(known, initial=-np.inf)
        width = high - low if high > low else 1.0
        missing = np.isnan(numbers)
        scaled.append(np.where(missing, 0.5, (numbers - low) / width))
        if missing.any():
            others.append(missing.astype(np.int64))
    size = int(ends[-1]) + len(read[-1].classes)
    shape: Floats = np.stack(scaled, axis=1) if scaled else np.empty((size, 0))
    codes: Ints = np.stack(others, axis=1) if others else np.empty((size, 0), np.int64)
    classes = np.concatenate([rows.classes for rows in read])
    quasi = _groups([*shape.T, *codes.T], size)
    whole = _groups([quasi, classes], size)
    pieces = zip(
        *(np.split(one, ends) for one in (shape, codes, quasi, whole, classes)), strict=True
    )
    return [Part(*piece) for piece in pieces]


def _positions(own: Attribute, column: Attribute) -> Floats:
    """Return numbers as they are, and ordinal values by their place in the original's order."""
    if own.kind == Kind.NUMERIC:
        return numbers_of(column)
    place = {value: float(spot) for spot, value in enumerate(own.values.tolist())}
    found = [np.nan if one is None else place.get(one, np.nan) for one in column.values.tolist()]
    return np.array(found, np.float64)[column.codes]


def _same_texts(columns: Sequence[Attribute]) -> Ints:
    """Return the codes of a column's texts, which are the same in all rows."""
    known: dict[Any, int] = {}
    found = []
    for column in columns:
        codes = [known.setdefault(value, len(known)) for value in column.values.tolist()]
        found.append(np.array(codes, np.int64)[column.codes])
    return np.concatenate(found)


def _groups(columns: Sequence[NDArray[Any]], size: int) -> Ints:
    """Return a number for each row, which equal rows share and no others."""
    where = np.zeros(size, np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1].ravel()
        where = where * (int(codes.max(initial=0)) + 1) + codes
        where = np.unique(where, return_inverse=True)[1].ravel().astype(np.int64)
    return where
