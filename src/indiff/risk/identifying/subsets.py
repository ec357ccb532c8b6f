"""Splits records by every set of columns up to a size, each set one step finer than another.

Sets are visited in the order of their numbers in binary (column 0 is the last digit), so that every
subset of a set comes before it. A record that is alone stays alone by any further column: it is
left out below, and only the others are split again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.errors import UserError
from indiff.kernels import kernel
from indiff.text import duration

MOST_COLUMNS = 62  # a set is a whole number of 64 bits
MOST_STEPS = 50_000_000_000
MOST_BITS = 2 << 33
"""Of memory: which sets single out which record, two gigabytes."""
SECONDS_EACH = 1e-8
_DIRECT = 4  # cells of a table that counts directly, for each record, before keys are hashed


@dataclass(frozen=True, eq=False)
class Codes:
    """Records as whole numbers, column by column: equal numbers are equal values.

    A missing value is a value of its own. ``weights`` tells how many records a row stands for.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    distinct: NDArray[np.int64]
    weights: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def records(self) -> int:
        """How many records the rows stand for."""
        return int(self.weights.sum())


def coded(frame: pa.Table, weights: NDArray[np.int64] | None = None) -> Codes:
    """Return a frame's columns as codes.

    >>> coded(pa.table({"age": [30, None, 30]})).codes.tolist()
    [[0, 1, 0]]
    """
    codes = np.empty((frame.num_columns, frame.num_rows), np.int32)
    distinct = np.zeros(frame.num_columns, np.int64)
    for place, cells in enumerate(frame.columns):
        if pa.types.is_dictionary(cells.type):  # whose own dictionary may name a value twice
            cells = cells.cast(cells.type.value_type)
        whole = cells.dictionary_encode().unify_dictionaries().combine_chunks()
        whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
        codes[place] = whole.indices.fill_null(len(whole.dictionary)).to_numpy(zero_copy_only=False)
        distinct[place] = len(whole.dictionary) + (whole.indices.null_count > 0)
    weights = np.ones(frame.num_rows, np.int64) if weights is None else weights
    return Codes(tuple(frame.column_names), codes, distinct, weights)


@dataclass(frozen=True, eq=False)
class Lattice:
    """All sets of up to so many columns in their order, each with the one that it refines.

    ``column`` is what a set has beyond the set above it, and ``depth`` how many columns it has.
    ``subsets`` are the places of the sets without one of the other columns, -1 where there is none.
    """

    masks: NDArray[np.int64]
    column: NDArray[np.int64]
    depth: NDArray[np.int64]
    subsets: NDArray[np.int64]


def sets_up_to(columns: int, size: int) -> int:
    """Return how many sets of up to ``size`` columns there are.

    >>> sets_up_to(10, 3)
    175
    """
    return sum(math.comb(columns, width) for width in range(1, min(size, columns) + 1))


def lattice(columns: int, size: int) -> Lattice:
    """Return the sets of up to ``size`` columns in their order.

    >>> [bin(mask) for mask in lattice(3, 2).masks]
    ['0b1', '0b10', '0b11', '0b100', '0b101', '0b110']
    """
    masks: list[int] = []

    def below(mask: int, first: int, left: int) -> None:
        for column in range(first):
            masks.append(mask | 1 << column)
            if left > 1:
                below(masks[-1], column, left - 1)

    below(0, columns, size)
    place = {mask: number for number, mask in enumerate(masks)}
    column, depth = np.empty(len(masks), np.int64), np.empty(len(masks), np.int64)
    subsets = np.full((len(masks), size), -1, np.int64)
    for number, mask in enumerate(masks):
        members = [one for one in range(columns) if mask >> one & 1]
        column[number], depth[number] = members[0], len(members)
        for at, one in enumerate(members[1:]):
            subsets[number, at] = place[mask & ~(1 << one)]
    return Lattice(np.array(masks, np.int64), column, depth, subsets)


def require_few(records: int, columns: int, size: int, *, bits: bool) -> None:
    """Raise where so many sets of columns would take hours, or more memory than is reasonable."""
    if columns > MOST_COLUMNS:
        raise UserError(
            f"sets of at most {MOST_COLUMNS} columns are looked at", columns, "Name fewer columns",
            field="quasi",
        )  # fmt: skip
    if size < 1:
        raise UserError("a set has at least 1 column", size, field="size")
    sets = sets_up_to(columns, size)
    too_long, too_large = sets * records > MOST_STEPS, bits and sets * records > MOST_BITS
    if not too_long and not too_large:
        return
    smaller = max(
        (one for one in range(1, size) if sets_up_to(columns, one) * records <= MOST_BITS),
        default=0,
    )
    way_out = f"Look for sets of up to {smaller} columns" if smaller else "Name fewer columns"
    time = duration(sets * records * SECONDS_EACH)
    raise UserError(
        "sets of columns are looked at where that takes minutes",
        f"{sets:,} sets of up to {size} of {columns} columns on {records:,} records, which would "
        f"take {time} or longer",
        f"{way_out}, or name fewer columns" if smaller else way_out,
        field="size",
    )


class Way(NamedTuple):
    """The rows that are not alone after each column of a set, their groups, and room to split them.

    ``left`` and ``many`` count the rows and groups of each depth; ``alone`` lists the rows that the
    last split left alone.
    """

    rows: NDArray[np.int32]
    groups: NDArray[np.int32]
    left: NDArray[np.int64]
    many: NDArray[np.int64]
    alone: NDArray[np.int32]
    slots: NDArray[np.int64]
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    names: NDArray[np.int32]


@kernel
def begin(records: Any, size: Any) -> Any:
    """Return the way down to sets of so many columns, with all rows in one group."""
    room = _DIRECT * records + 2048
    way = Way(
        np.empty((size + 1, records), np.int32),
        np.zeros((size + 1, records), np.int32),
        np.zeros(size + 1, np.int64),
        np.ones(size + 1, np.int64),
        np.empty(records, np.int32),
        np.empty(records, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
    )
    for row in range(records):
        way.rows[0, row] = row
    way.left[0] = records
    return way


@kernel
def split(way: Any, depth: Any, codes: Any, distinct: Any, weights: Any) -> Any:
    """Split the groups that one column less has left by the codes of one more.

    Returns how many rows became alone, and how many pairs of records stay together.
    """
    rows, groups = way.rows[depth - 1], way.groups[depth - 1]
    number, many = way.left[depth - 1], way.many[depth - 1]
    finer_rows, finer_groups = way.rows[depth], way.groups[depth]
    slots, keys, counts, names, alone = way.slots, way.keys, way.counts, way.names, way.alone
    direct = many * distinct <= _DIRECT * number + 1024
    if direct:
        size = many * distinct
    else:
        size = 1024
        while size < 2 * number:
            size *= 2
    for slot in range(size):
        counts[slot] = 0
    if not direct:
        for slot in range(size):
            keys[slot] = -1
    for place in range(number):
        key = np.int64(groups[place]) * distinct + codes[rows[place]]
        slot = key
        if not direct:
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(mixed >> np.uint64(20)) & (size - 1)
            while keys[slot] != key and keys[slot] != -1:
                slot = (slot + 1) & (size - 1)
            keys[slot] = key
        slots[place] = slot
        if counts[slot] == 0:
            names[slot] = -1
        counts[slot] += weights[rows[place]]
    left, found, single, together = 0, 0, 0, 0
    for place in range(number):
        slot = slots[place]
        if counts[slot] == 1:
            alone[single] = rows[place]
            single += 1
            continue
        if names[slot] < 0:
            names[slot] = found
            found += 1
            together += counts[slot] * (counts[slot] - 1) // 2
        finer_rows[left] = rows[place]
        finer_groups[left] = names[slot]
        left += 1
    way.left[depth], way.many[depth] = left, found
    return single, together


@kernel
def measure_sets(codes: Any, distinct: Any, weights: Any, order: Any, needed: Any) -> Any:
    """Count groups, records alone and pairs that stay together for every set of columns.

    ``order`` has the sets, the column that each adds, and its size. A set that singles out
    ``needed`` records or more is telling, and no set around it is looked at: it has -1 groups.
    """
    masks, added, depths = order
    way, gone = begin(codes.shape[1], depths.max()), np.zeros(depths.max() + 1, np.int64)
    found, telling = np.full((masks.shape[0], 3), -1, np.int64), np.empty(masks.shape[0], np.int64)
    known = 0
    for number in range(masks.shape[0]):
        depth, around = depths[number], False
        for place in range(known):
            if masks[number] & telling[place] == telling[place]:
                around = True
                break
        if around:
            continue
        column = added[number]
        single, together = split(way, depth, codes[column], distinct[column], weights)
        gone[depth] = gone[depth - 1] + single
        found[number, 0] = way.many[depth] + gone[depth]
        found[number, 1] = gone[depth]
        found[number, 2] = together
        if gone[depth] >= needed:
            telling[known] = masks[number]
            known += 1
    return found


@kernel
def minimal_uniques(codes: Any, distinct: Any, weights: Any, order: Any, subsets: Any) -> Any:
    """Count the minimal sample uniques of every row by size, and of every set of columns.

    A row is unique on a set and, before, was not on the set above it. It is minimal if it is alone
    on none of the other subsets with one column less, each of which has met the row: on the set
    above such a subset it was not alone either.
    """
    masks, added, depths = order
    rows_in, size = codes.shape[1], depths.max()
    way = begin(rows_in, size)
    unique = np.zeros((rows_in, masks.shape[0] // 64 + 1), np.uint64)
    by_size, by_set = np.zeros((rows_in, size), np.int32), np.zeros(masks.shape[0], np.int64)
    for number in range(masks.shape[0]):
        depth, column = depths[number], added[number]
        single, _ = split(way, depth, codes[column], distinct[column], weights)
        for place in range(single):
            row, minimal = way.alone[place], True
            for at in range(depth - 1):
                other = subsets[number, at]
                if unique[row, other // 64] >> np.uint64(other % 64) & np.uint64(1):
                    minimal = False
                    break
            unique[row, number // 64] |= np.uint64(1) << np.uint64(number % 64)
            if minimal:
                by_size[row, depth - 1] += 1
                by_set[number] += 1
    return by_size, by_set
