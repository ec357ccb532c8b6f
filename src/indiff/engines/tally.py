"""Codes the values of Arrow columns and counts rows by their codes in compiled loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.reading.kinds import BLANKS
from indiff.data.reading.source import VIEWS
from indiff.engines.held import MISSING, MOST_BITS, Combinations, packed, widths_of
from indiff.engines.protocol import LARGEST_WEIGHT
from indiff.errors import InternalError, UserError, option
from indiff.kernels import kernel

MOST_COMBINATIONS = 2**22
MOST_SORTED = 2**23
"""Rows that are sorted at most, where there are too many combinations for an array."""
MOST_VALUES = 2**16
"""Columns with more values are not sorted: Python learns each of them."""
BATCH = 2**17
WIDEST_RANGE = 2**20


class NotCountedHere(UserError):
    """DuckDB counts such a source."""


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

    @property
    def size(self) -> int:
        """How many codes there are by now."""
        return len(self._code) + 1

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
                self._last = column.dictionary, Codes(indices, -1, table, self.size)
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
            self._direct = low, wider, self.size

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


def _numbers(column: pa.Array) -> NDArray[np.float64]:
    """Return a column of weights as numbers, NaN where there is none."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise NotCountedHere(
            f"the in-process engine adds up weights that are numbers; these are {column.type}",
            way_out=f"Use {option('engine', 'duckdb')}",
            field="engine",
        )
    return column.cast(pa.float64(), safe=False).fill_null(math.nan).to_numpy()


class Tally:
    """One thread's counts: a dense array for every counting.

    Where there are too many possible combinations for an array, each batch's rows are sorted, if
    no column has more than ``most_sorted`` values. ``weighed`` says for which counting weights are
    added up, too, and which column has them.
    """

    def __init__(
        self,
        coders: Sequence[Coder],
        countings: Sequence[Sequence[int]],
        weighed: tuple[int, int] | None = None,
        most_sorted: int = 0,
    ) -> None:
        self._coders, self._countings, self._weighed = coders, countings, weighed
        self._most_sorted = most_sorted
        self._coded = sorted({position for positions in countings for position in positions})
        self.counts = [np.zeros((1,) * len(positions), np.int64) for positions in countings]
        self.sorted: list[list[Combinations]] = [[] for _ in countings]
        size = self.counts[weighed[0]].shape if weighed else (0,)
        self.weights = {"w": np.zeros(size), "unweighted": np.zeros(size, np.int64)}
        self.rows = 0
        self._keys = [np.empty(BATCH, np.int32) for _ in countings]

    def add(self, columns: Sequence[pa.Array], times: NDArray[np.int64] | None = None) -> None:
        """Count a batch: every row once, or as many ``times`` as it stands for."""
        parts: dict[int, Codes] = {}
        for _ in range(2 * len(columns) + 2):  # each failure teaches a column its new values
            for at in self._coded:
                if at not in parts:
                    parts[at] = self._coders[at].codes(columns[at])
            strange = self._try_to_add(columns, parts, times)
            if strange is None:
                return
            self._coders[strange].learn(columns[strange])
            del parts[strange]
        raise InternalError("a value has no code although its batch was learned")

    def _try_to_add(
        self,
        columns: Sequence[pa.Array],
        parts: Mapping[int, Codes],
        times: NDArray[np.int64] | None,
    ) -> int | None:
        """Count the rows, unless there is a value without a code: return its column."""
        rows = len(columns[0])
        found: list[tuple[NDArray[Any], tuple[int, ...] | None]] = []
        for number, positions in enumerate(self._countings):
            sizes = tuple(parts[p].size for p in positions)
            counts = self._room(number, sizes)
            if len(self._keys[number]) < rows:
                self._keys[number] = np.empty(rows, np.int32)
            keys, codes = self._keys[number][:rows], []
            for place, position in enumerate(positions):
                part, is_alone = parts[position], place == 0 or counts is None
                stride = 1 if counts is None else counts.strides[place] // counts.itemsize
                table = part.table * np.int32(stride)
                if not add_codes(part.integers, part.base, table, is_alone, keys):
                    return position
                if counts is None:
                    codes.append(keys.copy())
            widths = widths_of(sizes) if counts is None else None
            found.append((keys if widths is None else packed(codes, widths), widths))
        for number, (keys, widths) in enumerate(found):
            if widths is not None:
                self.sorted[number] += [Combinations.counted(keys, times, widths)] if rows else []
            elif times is None:
                count_keys(keys, self.counts[number].reshape(-1))
            else:
                np.add.at(self.counts[number].reshape(-1), keys, times)
        if self._weighed is not None:
            number, column = self._weighed
            self._enlarge(self.counts[number].shape)
            flat = [sums.reshape(-1) for sums in self.weights.values()]
            add_weights(found[number][0], _numbers(columns[column]), LARGEST_WEIGHT, *flat)
        self.rows += rows if times is None else int(times.sum())
        return None

    def _room(self, number: int, sizes: tuple[int, ...]) -> NDArray[np.int64] | None:
        """Return a counting's array, enlarged where there are more codes than it has room for.

        There is none where the rows are to be sorted.
        """
        old = self.counts[number]
        if any(size > have for size, have in zip(sizes, old.shape, strict=True)):
            shape = tuple(max(pair) for pair in zip(sizes, old.shape, strict=True))
            if not _fits_an_array(shape, self._most_sorted):
                return None
            self.counts[number] = np.zeros(shape, np.int64)
            self.counts[number][tuple(map(slice, old.shape))] = old
        return self.counts[number]

    def _enlarge(self, shape: tuple[int, ...]) -> None:
        """Give the sums of weights the shape of their counts."""
        for name, old in self.weights.items():
            if old.shape != shape:
                self.weights[name] = np.zeros(shape, old.dtype)
                self.weights[name][tuple(map(slice, old.shape))] = old

    @staticmethod
    def sums(tallies: Sequence[Tally], number: int) -> dict[str, NDArray[Any]]:
        """Return the sums of all threads' weights; nothing where this counting has none."""
        first = tallies[0]
        if first._weighed is None or first._weighed[0] != number:
            return {}
        shape = Tally.total(tallies, number).shape
        for tally in tallies:
            tally._enlarge(shape)
        parts = {name: [tally.weights[name] for tally in tallies] for name in first.weights}
        return {name: np.sum(part, axis=0) for name, part in parts.items()}

    @staticmethod
    def combinations(tallies: Sequence[Tally], number: int) -> Combinations:
        """Return the combinations that all threads counted."""
        first = tallies[0]
        fits = _fits_an_array(first._shape(number), first._most_sorted)
        parts = [part for tally in tallies for part in tally.sorted[number]]
        if fits and not parts:
            return Combinations.of(Tally.total(tallies, number))
        dense = [Combinations.of(tally.counts[number]) for tally in tallies]
        return Combinations.together([*dense, *parts])

    @staticmethod
    def total(tallies: Sequence[Tally], number: int) -> NDArray[np.int64]:
        """Return what all threads counted in arrays, in one that has room for all values.

        Where one thread met many values of one column and another many of a second, each has
        room for its own, and there may be none for both together.
        """
        shape = tallies[0]._shape(number)
        _fits_an_array(shape, 0)
        total = np.zeros(shape, np.int64)
        for tally in tallies:
            part = tally.counts[number]
            total[tuple(map(slice, part.shape))] += part
        return total

    def _shape(self, number: int) -> tuple[int, ...]:
        """Return how many codes the columns of a counting have by now."""
        return tuple(self._coders[position].size for position in self._countings[number])


def _fits_an_array(shape: Sequence[int], most_sorted: int) -> bool:
    """Tell whether counts of such a shape have an array; raise where rows cannot be sorted."""
    if math.prod(shape) <= MOST_COMBINATIONS:
        return True
    if max(shape) <= most_sorted and sum(widths_of(shape)) <= MOST_BITS:
        return False
    raise NotCountedHere(
        f"the in-process engine counts at most {MOST_COMBINATIONS:,} possible combinations of "
        f"values, or {MOST_SORTED:,} rows of columns with at most {MOST_VALUES:,} values each; "
        f"these columns have {math.prod(shape):,} combinations or more",
        way_out=f"Use {option('engine', 'duckdb')}",
        field="engine",
    )


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


@kernel
def add_weights(
    keys: NDArray[np.int32],
    weights: NDArray[np.float64],
    largest: float,
    sums: NDArray[np.float64],
    lacking: NDArray[np.int64],
) -> None:
    """Add every row's weight to its key's sum; count the rows whose weight is not positive."""
    for row in range(keys.size):
        if 0 < weights[row] < largest:
            sums[keys[row]] += weights[row]
        else:
            lacking[keys[row]] += 1
