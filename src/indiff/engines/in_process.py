"""Counts in this process: Arrow batches and a compiled kernel, for columns with few values.

Every value gets a code when it is first seen, every row a key (its codes in mixed radix), and
the kernel counts keys in a dense array. Two threads decode and count different row groups, so
counting costs little more than decoding. The counts, which are few, are then a DuckDB table like
any other: the second stage is the same SQL as everywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from indiff.data.reading.kinds import BLANKS
from indiff.data.reading.source import VIEWS, in_utc
from indiff.engines.duckdb import DuckDBEngine
from indiff.engines.protocol import Countings, no_records, unreadable
from indiff.errors import InternalError, UserError, option
from indiff.kernels import kernel

MOST_COLUMNS = 32  # as many dimensions as any version of NumPy has
MOST_COMBINATIONS = 2**22
PROBE = 2**12
BATCH = 2**17
WIDEST_RANGE = 2**20
MISSING = 0  # the code of the missing value in every column

Batches = Iterator[list[pa.Array]]


class NotCountedHere(UserError):
    """DuckDB counts such a source."""


def _parts_of(engine: DuckDBEngine) -> list[Callable[[], Batches]]:
    """Return what one thread reads at a time: a row group, or a stretch of a frame."""
    source, names = engine.source, engine.columns
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
    wanted = ", ".join(f"{engine.identifier(name)} AS c{i}" for i, name in enumerate(names))
    return [lambda: _split(source.relation.select(wanted).to_arrow_reader(BATCH))]


def _row_group(path: str, footer: pq.FileMetaData, group: int, names: Sequence[str]) -> Batches:
    with pq.ParquetFile(path, metadata=footer, read_dictionary=list(names)) as file:
        batches = file.iter_batches(BATCH, [group], columns=list(names), use_threads=False)
        yield from ([batch.column(name) for name in names] for batch in batches)


def _stretch(table: pa.Table, start: int, length: int) -> Batches:
    return _split(table.slice(start, length).to_batches(BATCH))


def _split(batches: Any) -> Batches:
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
        held = pa.int64() if _is_fine(self._type) else self._type
        return pa.array([None, *self._code], held).cast(self._type)

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
                values = column.dictionary
                found = (values.cast(pa.int64()) if _is_fine(values.type) else values).to_pylist()
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
        if column.null_count:  # no value may be the one that stands for missing
            low = pc.min(column).as_py()
            if not len(self._direct[1]) or (low is not None and low <= self._direct[0]):
                self.learn(column)
        return not self._wide

    def _learn(self, value: Any) -> int:
        if value is None or value != value:  # NaN
            return MISSING
        if isinstance(value, str) and value.strip(BLANKS) in self._tokens:
            return MISSING
        return self._code.setdefault(value, len(self._code) + 1)


def _is_fine(kind: pa.DataType) -> bool:
    """Tell whether a type counts nanoseconds, which no time of Python's does."""
    return bool(pa.types.is_temporal(kind)) and getattr(kind, "unit", None) == "ns"


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


class InProcessEngine(DuckDBEngine):
    """Stage one by the kernel; stage two by DuckDB over the counts."""

    name = "in-process"

    def count(self, countings: Countings) -> None:
        """Run stage one: a table of counts for every counting."""
        try:
            self._count_here(countings)
        except NotCountedHere:
            if not self._resources.spills:
                raise
            self.name = DuckDBEngine.name
            super().count(countings)

    def _count_here(self, countings: Countings) -> None:
        if max(map(len, countings.values()), default=0) > MOST_COLUMNS:
            raise NotCountedHere(
                f"the in-process engine counts at most {MOST_COLUMNS} columns together",
                len(self.columns),
                f"Use {option('engine', 'duckdb')}",
                field="engine",
            )
        coders = [Coder(self.tokens) for _ in self.columns]
        parts = _parts_of(self)
        workers = max(1, min(len(parts), self._resources.threads or os.cpu_count() or 1))
        tallies = [Tally(coders, list(countings.values())) for _ in range(workers)]
        queue, lock = iter(parts), Lock()
        if self.source.frame is not None:  # too many combinations mostly show in the first rows
            for batch in _split(self.source.frame.slice(0, PROBE).to_batches()):
                Tally(coders, list(countings.values())).add(batch)

        def work(tally: Tally) -> None:
            while True:
                with lock:
                    part = next(queue, None)
                if part is None:
                    return
                for batch in part():
                    tally.add(batch)

        try:
            if workers == 1:
                work(tallies[0])
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(work, tallies))
        except (pa.ArrowException, OSError, duckdb.Error) as error:
            raise unreadable(self.source, str(error).splitlines()[0]) from None
        if not any(tally.rows for tally in tallies):
            raise no_records(self.source)
        self.counts = {
            name: self._load(Tally.total(tallies, number), positions, coders)
            for number, (name, positions) in enumerate(countings.items())
        }

    def _load(
        self, counts: NDArray[np.int64], positions: Sequence[int], coders: Sequence[Coder]
    ) -> str:
        """Make the table of the combinations that occur."""
        places = np.nonzero(counts)
        data = {
            f"c{position}": coders[position].values().take(pa.array(place))
            for position, place in zip(positions, places, strict=True)
        }
        table = self.load(in_utc(pa.table({**data, "n": counts[places]})))
        return self.numbered(table, positions)


class Tally:
    """One thread's counts: a dense array for every counting."""

    def __init__(self, coders: Sequence[Coder], countings: Sequence[Sequence[int]]) -> None:
        self._coders, self._countings = coders, countings
        self.counts = [np.zeros((1,) * len(positions), np.int64) for positions in countings]
        self.rows = 0
        self._keys = [np.empty(BATCH, np.int32) for _ in countings]

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Count a batch."""
        for _ in range(2 * len(columns) + 2):  # each failure teaches a column its new values
            if self._try_to_add(columns):
                return
        raise InternalError("a value has no code although its batch was learned")

    def _try_to_add(self, columns: Sequence[pa.Array]) -> bool:
        rows = len(columns[0])
        parts = [coder.codes(column) for coder, column in zip(self._coders, columns, strict=True)]
        all_keys = []
        for number, positions in enumerate(self._countings):
            counts = self._room(number, tuple(parts[p].size for p in positions))
            if len(self._keys[number]) < rows:
                self._keys[number] = np.empty(rows, np.int32)
            keys = self._keys[number][:rows]
            for place, position in enumerate(positions):
                part, stride = parts[position], counts.strides[place] // counts.itemsize
                table = part.table * np.int32(stride)
                if not add_codes(part.integers, part.base, table, place == 0, keys):
                    self._coders[position].learn(columns[position])
                    return False
            all_keys.append(keys)
        for number, keys in enumerate(all_keys):
            count_keys(keys, self.counts[number].reshape(-1))
        self.rows += rows
        return True

    def _room(self, number: int, sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """Return a counting's array, enlarged where there are more codes than it has room for."""
        old = self.counts[number]
        if any(size > have for size, have in zip(sizes, old.shape, strict=True)):
            shape = tuple(max(pair) for pair in zip(sizes, old.shape, strict=True))
            if math.prod(shape) > MOST_COMBINATIONS:
                raise NotCountedHere(
                    f"the in-process engine counts at most {MOST_COMBINATIONS:,} possible "
                    f"combinations of values; these columns have {math.prod(shape):,} or more",
                    way_out=f"Use {option('engine', 'duckdb')}",
                    field="engine",
                )
            self.counts[number] = np.zeros(shape, np.int64)
            self.counts[number][tuple(map(slice, old.shape))] = old
        return self.counts[number]

    @staticmethod
    def total(tallies: Sequence[Tally], number: int) -> NDArray[np.int64]:
        """Return the counts of all threads together."""
        parts = [tally.counts[number] for tally in tallies]
        total = np.zeros(
            tuple(map(max, zip(*(part.shape for part in parts), strict=True))), np.int64
        )
        for part in parts:
            total[tuple(map(slice, part.shape))] += part
        return total


@kernel
def add_codes(
    values: NDArray[Any],
    base: int,
    codes: NDArray[np.int32],
    is_first: bool,
    keys: NDArray[np.int32],
) -> bool:
    """Add ``codes[value − base]`` to each row's key; tell whether every value had a code.

    The first column sets the keys instead. Limits are checked before the loop and negative codes
    (values without one) after it, so that the loop itself has no branch.
    """
    if values.size == 0:
        return True
    low, high = values[0], values[0]
    for row in range(values.size):
        low, high = min(low, values[row]), max(high, values[row])
    if low < base or high > base + codes.size - 1:  # high − base could overflow
        return False
    signs = np.int32(0)
    if is_first:
        for row in range(values.size):
            code = codes[values[row] - base]
            signs |= code
            keys[row] = code
    else:
        for row in range(values.size):
            code = codes[values[row] - base]
            signs |= code
            keys[row] += code
    return bool(signs >= 0)


@kernel
def count_keys(keys: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add one to the count of every row's key."""
    for row in range(keys.size):
        counts[keys[row]] += 1
