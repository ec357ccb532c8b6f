"""Finds, unpacks and reads the pages of a Parquet column chunk in compiled loops.

The layout is https://github.com/apache/parquet-format: parquet.thrift says what a page's header
has, Encodings.md how numbers of few bits are kept ("RLE/Bit-Packing Hybrid"). Snappy's is
https://github.com/google/snappy, format_description.txt. Every place is checked before it is read.
Where eight bytes are read at once, they may be followed by ``SPARE`` that mean nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import inner, kernel

SPARE = 8
FIELDS, OWN = 33, 16  # a header's fields, those of the header in it, and where the header ends
ENDS = 32
FALSE, TRUE = -2, -3  # no number of a header is negative; −1 is none
VALUES, LEVELS, INDICES, END = range(4)  # how many a page has, and where its parts start and end
# How far a chunk was read: pages, what is left of this one, the bits of an index, how many values
# were missing, and the runs of levels and of indices: where the next number is, in bits, how many
# are left, one more than the number that all of them are, and where the bytes end.
PAGE, LEFT, WIDTH, LACKING, OF_LEVELS, OF_INDICES, STATE = 0, 1, 2, 3, 4, 8, 12


@inner
def varint(data: Any, at: Any, end: Any) -> Any:
    """A number of seven bits in each byte, the least first, and where it ends: −1 if it is cut."""
    value: Any = 0
    place = 0
    while at < end and place < 35:
        byte = np.int64(data[at])
        value |= (byte & 127) << place
        at += 1
        if byte < 128:
            return value, at
        place += 7
    return value, -1


@kernel
def find_pages(data: NDArray[np.uint8], most: int, pages: NDArray[np.int64]) -> int:
    """Note the headers of the pages that lie whole in a chunk's bytes; return how many do.

    Those that come to ``most`` unpacked bytes are enough. A header is in Thrift's compact protocol:
    fields, each with how far its number is from the last one's, and its kind.
    """
    at, unpacked, depth = 0, 0, 0
    field = np.zeros(4, np.int64)  # at each depth
    for number in range(pages.shape[0]):
        page = pages[number]
        for slot in range(FIELDS):
            page[slot] = -1
        field[0] = 0
        while True:
            if at >= data.size:
                return number
            step, kind = np.int64(data[at]) >> 4, data[at] & 15
            at += 1
            if kind == 0:
                if depth == 0:
                    break
                depth -= 1
                continue
            field[depth] += step
            if step == 0 or field[depth] > 15 or kind > 12 or 8 < kind < 12:
                return number
            slot = field[depth] + OWN * depth if depth < 2 else 0
            if kind < 3:
                page[slot] = TRUE if kind == 1 else FALSE
            elif kind == 3:
                at += 1
            elif kind == 7:
                at += 8
            elif kind == 12:
                page[slot] = TRUE
                depth += 1
                if depth == 4:
                    return number
                field[depth] = 0
            else:
                value, at = varint(data, at, data.size)
                if at < 0:
                    return number
                if kind == 8:
                    at += value
                elif kind == 5:
                    page[slot] = value >> 1 ^ -(value & 1)
        page[ENDS] = at
        if page[2] < 0 or page[3] < 0 or at + page[3] > data.size:
            return number
        at += page[3]
        unpacked += page[2]
        if unpacked >= most:
            return number + 1
    return int(pages.shape[0])


@inner
def unsnap(data: Any, at: Any, end: Any, out: Any) -> Any:
    """Unpack what Snappy packed, which must fill ``out``; False where it does not."""
    size, at = varint(data, at, end)
    if at < 0 or size != out.size:
        return False
    done = 0
    while at < end:
        tag: Any = np.int64(data[at])
        offset: Any = 0
        kind, size = tag & 3, (tag >> 2) + 1
        at += 1
        extra = kind + kind // 3 if kind else max(size - 60, 0)
        if at + extra > end:
            return False
        for place in range(extra):
            offset |= np.int64(data[at + place]) << (8 * place)
        at += extra
        if kind == 0:
            size = offset + 1 if extra else size
            if size > min(end - at, out.size - done):
                return False
            start, to = np.uint64(at), np.uint64(done)
            for place in range(np.uint64(size)):
                out[to + place] = data[start + place]
            at += size
        else:
            if kind == 1:
                offset |= tag >> 5 << 8
                size = (tag >> 2 & 7) + 4
            if offset == 0 or offset > done or size > out.size - done:
                return False
            for place in range(done, done + size):
                out[place] = out[place - offset]
        done += size
    return done == out.size


@kernel
def unsnap_pages(
    data: NDArray[np.uint8], places: NDArray[np.int64], out: NDArray[np.uint8]
) -> bool:
    """Unpack pages, each from a place to a place in ``data``, to one in ``out`` up to another."""
    for number in range(places.shape[0]):
        place = places[number]
        if not unsnap(data, place[0], place[1], out[place[2] : place[3]]):
            return False
    return True


@inner
def eight_bytes(data: Any, at: Any) -> Any:
    """Eight bytes as a number: one instruction, since a place without a sign needs no look."""
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )


@inner
def next_run(data: Any, state: Any, of: Any, width: Any) -> Any:
    """Begin the next run of numbers of ``width`` bits; False where there is none."""
    said, at = varint(data, (state[of] + 7) >> 3, state[of + 3])
    many = said >> 1
    same: Any = 0
    size = many * width if said & 1 else (width + 7) >> 3
    if at < 0 or many == 0 or at + size > state[of + 3]:
        return False
    if said & 1:
        many *= 8
    else:
        for place in range(size):
            same |= np.int64(data[at + place]) << (8 * place)
        at += size
        if same >> width:
            return False
        same += 1
    state[of], state[of + 1], state[of + 2] = at * 8, many, same
    return True


@inner
def unpack(data: Any, state: Any, of: Any, width: Any, shift: Any, keys: Any) -> Any:
    """Add the next numbers of ``width`` bits, shifted, to the keys; False where they end."""
    mask, by = (np.uint64(1) << np.uint64(width)) - np.uint64(1), np.uint64(shift)
    step, row = np.uint64(width), 0
    while row < keys.size:
        if state[of + 1] == 0 and not next_run(data, state, of, width):
            return False
        many, same = min(state[of + 1], keys.size - row), state[of + 2]
        bit, to = np.uint64(state[of]), np.uint64(row)
        if same:
            for place in range(row, row + many):
                keys[place] += (same - 1) << shift
        elif width <= 8 and many >= 8 and state[of] & 7 == 0:
            many &= -8
            for _ in range(many >> 3):
                word = eight_bytes(data, bit >> np.uint64(3))
                for one in range(8):
                    value = (word >> np.uint64(one) * step) & mask
                    keys[to + np.uint64(one)] += np.int32(value << by)
                bit += step << np.uint64(3)
                to += np.uint64(8)
        else:
            many = many if width > 8 else 1  # up to where a byte starts
            for _ in range(many):
                word = eight_bytes(data, bit >> np.uint64(3)) >> (bit & np.uint64(7))
                keys[to] += np.int32((word & mask) << by)
                bit += step
                to += np.uint64(1)
        state[of] = bit
        state[of + 1] -= many
        row += many
    return True


@kernel
def add_indices(
    data: NDArray[np.uint8],
    pages: NDArray[np.int64],
    state: NDArray[np.int64],
    missing: int,
    shift: int,
    keys: NDArray[np.int32],
    room: NDArray[np.int32],
) -> int:
    """Add the indices of the next rows, shifted, to their keys; ``missing`` where there is none.

    Return how many rows these pages had; −1 where they are not as they should be. The first byte
    of indices says how many bits each has: no more than ``missing`` has.
    """
    row = 0
    while row < keys.size:
        if state[LEFT] == 0:
            if state[PAGE] == pages.shape[0]:
                return row
            page = pages[state[PAGE]]
            state[PAGE] += 1
            state[LEFT], state[WIDTH] = page[VALUES], data[page[INDICES]]
            if state[WIDTH] > 31 or (2 * missing + 1) >> state[WIDTH] == 0:
                return -1
            state[OF_LEVELS], state[OF_LEVELS + 3] = page[LEVELS] * 8, page[INDICES]
            state[OF_INDICES], state[OF_INDICES + 3] = page[INDICES] * 8 + 8, page[END]
            state[OF_LEVELS + 1] = state[OF_INDICES + 1] = 0
        many, width = min(state[LEFT], keys.size - row), state[WIDTH]
        if room.size:
            if state[OF_LEVELS + 1] == 0 and not next_run(data, state, OF_LEVELS, 1):
                return -1
            many = min(many, state[OF_LEVELS + 1], room.size // 2 - 1)
        some = to = keys[row : row + many]
        by, held, has_levels = shift, many, room.size > 0 and state[OF_LEVELS + 2] != 2
        row += many
        state[LEFT] -= many
        if has_levels:
            for place in range(2 * many + 1):
                room[place] = 0
            unpack(data, state, OF_LEVELS, 1, 0, room[:many])
            held = 0
            for place in range(many):
                held += room[place]
            by, to = 0, room[many : many + held]
        else:
            state[OF_LEVELS + 1] -= many
        if not unpack(data, state, OF_INDICES, width, by, to):
            return -1
        if has_levels:
            state[LACKING] += many - held
            at = many
            for place in range(many):
                some[place] += (room[at] if room[place] else missing) << shift
                at += room[place]
    return row
