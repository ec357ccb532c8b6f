"""Gives the counting kernel the rows of a source: batches of columns, and a code for each value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from indiff.data.reading.kinds import BLANKS
from indiff.data.reading.source import VIEWS, Source
from indiff.engines.duckdb.input import Rows
from indiff.errors import UserError, option

BATCH = 2**17
WIDEST_RANGE = 2**20
MISSING = 0  # the code of the missing value in every column

Batches = Iterator[list[pa.Array]]


class NotCountedHere(UserError):
    """DuckDB counts such a source."""


def parts_of(source: Source, rows: Rows) -> list[Callable[[], Batches]]:
    """Return what one thread reads at a time: a row group, or a stretch of a frame."""
    names = list(rows.columns)
    if source.kind == "parquet":
        footers = [(path, pq.read_metadata(path)) for path in source.paths]
        return [
            partial(_row_group, path, footer, group, names)
            for path, footer in footers
            for group in range(footer.num_row_groups)
        ]
    if source.frame is not None:
        table = source.frame
        step = max(BATCH, -(-table.num_rows // (os.cpu_count() or 1)))
        return [partial(_stretch, table, start, step) for start in range(0, table.num_rows, step)]
    wanted = ", ".join(f"{rows.identifier(name)} AS c{i}" for i, name in enumerate(names))
    return [lambda: split(rows.relation.select(wanted).to_arrow_reader(BATCH))]


def _row_group(path: str, footer: pq.FileMetaData, group: int, names: Sequence[str]) -> Batches:
    with pq.ParquetFile(path, metadata=footer, read_dictionary=list(names)) as file:
        batches = file.iter_batches(BATCH, [group], columns=list(names), use_threads=False)
        yield from ([batch.column(name) for name in names] for batch in batches)


def _stretch(table: pa.Table, start: int, length: int) -> Batches:
    return split(table.slice(start, length).to_batches(BATCH))


def split(batches: Any) -> Batches:
    """Yield the columns of every batch."""
    yield from (batch.columns for batch in batches)


@dataclass(frozen=True)
class Codes:
    """A batch of a column as integers, and the table that gives each integer its code."""

    integers: NDArray[Any]
    base: int
    table: NDArray[np.int32]
    size: int


class Coder:
    """The codes of one column's values, shared by all threads.

    Integers in a narrow range are looked up by their difference from ``base``; everything else
    goes through Arrow's dictionary encoding, batch by batch.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._lock = Lock()
        self._tokens = frozenset(tokens)
        self._code: dict[Any, int] = {}
        self._type: pa.DataType = pa.null()
        self._direct: tuple[int, NDArray[np.int32], int] = (0, np.empty(0, np.int32), 1)
        self._wide = False
        self._last: tuple[pa.Array, Codes] | None = None

    def values(self) -> pa.Array:
        """Return the value of every code, null for the missing one."""
        return pa.array([None, *self._code], self._type)

    def codes(self, column: pa.Array) -> Codes:
        """Return a batch as integers with their codes; some may still lack one."""
        if pa.types.is_duration(column.type):
            column = column.cast(pa.int64())  # as DuckDB and Spark read it
        if self._is_direct(column):
            base, table, size = self._direct
            kind = pa.int32() if column.type.bit_width < 32 else column.type
            kind = pa.int64() if column.null_count or kind == pa.uint32() else kind
            if column.null_count:
                column, table = column.cast(kind).fill_null(base), table.copy()
                table[:1] = MISSING
            return Codes(column.cast(kind).to_numpy(), base, table, size)
        if not pa.types.is_dictionary(column.type):
            _require_plain(column.type)
            column = _one_missing(column).dictionary_encode()
        indices = column.indices.cast(pa.int32())
        indices = (indices.fill_null(-1) if indices.null_count else indices).to_numpy()
        with self._lock:
            if self._last is None or not self._last[0].equals(column.dictionary):
                found = column.dictionary.to_pylist()
                if not self._code:
                    self._type = column.dictionary.type
                table = np.array([MISSING, *map(self._learn, found)], np.int32)
                self._last = column.dictionary, Codes(indices, -1, table, len(self._code) + 1)
            return replace(self._last[1], integers=indices)

    def learn(self, column: pa.Array) -> None:
        """Give a code to every value of a batch of integers."""
        with self._lock:
            self._type = column.type
            found = np.sort(column.drop_null().unique().cast(pa.int64()).to_numpy())
            base, table, _ = self._direct
            low, high = (int(found[0]) - 1, int(found[-1])) if len(found) else (0, 0)
            if len(table):
                low, high = min(low, base), max(high, base + len(table) - 1)
            if high - low > WIDEST_RANGE or max(-low, high) > 2**62:  # or sums could overflow
                self._wide = True
                return
            wider = np.full(high - low + 1, -1, np.int32)  # the first entry stands for missing
            wider[base - low : base - low + len(table)] = table
            for value in found.tolist():
                wider[value - low] = self._learn(value)
            self._direct = low, wider, len(self._code) + 1

    def _is_direct(self, column: pa.Array) -> bool:
        kind = column.type
        if self._wide or not pa.types.is_integer(kind) or pa.types.is_uint64(kind):
            return False
        if column.null_count and not self._within(column):
            self.learn(column)
            return not self._wide
        return True

    def _within(self, column: pa.Array) -> bool:
        """Tell whether no value of a batch with nulls is the one that stands for missing."""
        low = pc.min(column).as_py()
        return len(self._direct[1]) > 0 and (low is None or low > self._direct[0])

    def _learn(self, value: Any) -> int:
        if value is None or value != value:  # NaN
            return MISSING
        if isinstance(value, str) and value.strip(BLANKS) in self._tokens:
            return MISSING
        return self._code.setdefault(value, len(self._code) + 1)


def _require_plain(kind: pa.DataType) -> None:
    strange = isinstance(kind, pa.BaseExtensionType)
    if strange or pa.types.is_decimal256(kind) or kind in (pa.float16(), *VIEWS):
        raise NotCountedHere(
            f"the in-process engine does not count values of type {kind}",
            way_out=f"Use {option('engine', 'duckdb')}",
            field="engine",
        )


def _one_missing(column: pa.Array) -> pa.Array:
    """Return a column with null for NaN and 0 for −0."""
    if not pa.types.is_floating(column.type):
        return column
    column = pc.add(column, pa.scalar(0.0, column.type))
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
