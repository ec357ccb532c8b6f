"""Counts in this process: Arrow batches and a compiled kernel, for columns with few values.

Every value gets a code when it is first seen, every row a key (its codes in mixed radix), and
the kernel counts keys in a dense array. Two threads decode and count different row groups, so
counting costs little more than decoding. The counts, which are few, are then a DuckDB table like
any other: the second stage is the same SQL as everywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.reading.source import Source, in_utc
from indiff.engines.duckdb.engine import DuckDBEngine
from indiff.engines.in_process.input import BATCH, Coder, NotCountedHere, parts_of, split
from indiff.engines.protocol import Countings, Resources, no_records, unreadable
from indiff.errors import InternalError, option
from indiff.kernels import kernel

MOST_COMBINATIONS = 2**22
PROBE = 2**12


class TooManyCombinations(NotCountedHere):
    """The dense array of counts would be too large."""


def connect(
    source: Source,
    columns: Sequence[str],
    countings: Countings,
    missing_tokens: Sequence[str],
    resources: Resources,
    or_in_duckdb: bool = False,
) -> InProcessEngine:
    """Count the rows of a source in this process.

    With ``or_in_duckdb``, DuckDB counts what is not counted here: it spills to disk.
    """
    engine = InProcessEngine(source, columns, missing_tokens, resources)
    try:
        try:
            engine.count(countings)
        except NotCountedHere:
            if not or_in_duckdb:
                raise
            engine.name = DuckDBEngine.name
            DuckDBEngine.count(engine, countings)
    except BaseException:
        engine.close()
        raise
    return engine


class InProcessEngine(DuckDBEngine):
    """Stage one by the kernel; stage two by DuckDB over the counts."""

    name = "in-process"

    def count(self, countings: Countings) -> None:
        """Run stage one: a table of counts for every counting."""
        coders = [Coder(self.tokens) for _ in self.columns]
        parts = parts_of(self.source, self._rows)
        workers = max(1, min(len(parts), self._threads or os.cpu_count() or 1))
        tallies = [Tally(coders, list(countings.values())) for _ in range(workers)]
        queue, lock = iter(parts), Lock()
        if self.source.frame is not None:  # too many combinations mostly show in the first rows
            for batch in split(self.source.frame.slice(0, PROBE).to_batches()):
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
                raise TooManyCombinations(
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
