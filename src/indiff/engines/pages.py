"""Counts the combinations of values in a Parquet row group by the indices that its pages hold.

A column chunk is mostly one page of distinct values (its dictionary) and pages of indices into it,
packed into few bits each. The indices of all columns side by side are a row's key, and rows are
counted by their keys; the values are looked at once for every combination. Whatever is laid out
otherwise, or is broken, is left to PyArrow, which reads it or says why it cannot.

The layout is https://github.com/apache/parquet-format: README.md, Encodings.md, parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import FileIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.engines.packed import (
    ENDS,
    FALSE,
    FIELDS,
    LACKING,
    LEFT,
    PAGE,
    SPARE,
    STATE,
    TRUE,
    add_indices,
    find_pages,
    unsnap_pages,
)
from indiff.engines.tally import count_keys

if TYPE_CHECKING:
    import pyarrow.parquet as pq

FEW_CELLS = 2**16
MOST_CELLS = 2**22
BLOCK = 2**16
FIRST = 2**12
AT_ONCE = 2**19
LARGEST_PAGE = 2**26
MOST_PAGES = 2**12
MOST_ROWS = 2**31

# How the values of a dictionary are stored, by the type that PyArrow reads them as.
_STORED = {
    pa.string(): ("BYTE_ARRAY", ""),
    pa.large_string(): ("BYTE_ARRAY", ""),
    pa.int8(): ("INT32", "<i4"),
    pa.int16(): ("INT32", "<i4"),
    pa.int32(): ("INT32", "<i4"),
    pa.int64(): ("INT64", "<i8"),
    pa.uint8(): ("INT32", "<i4"),
    pa.uint16(): ("INT32", "<i4"),
    pa.uint32(): ("INT32", "<u4"),
    pa.uint64(): ("INT64", "<u8"),
    pa.date32(): ("INT32", "<i4"),
    pa.float32(): ("FLOAT", "<f4"),
    pa.float64(): ("DOUBLE", "<f8"),
}
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8  # encodings
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI")


class Unusual(Exception):
    """Pages that are left to PyArrow."""


class Leaf(NamedTuple):
    """A column of a file: its place there, the type of its values, and whether they may lack."""

    place: int
    kind: pa.DataType
    is_optional: bool


class Combinations(NamedTuple):
    """The combinations of values that occur, as columns, and how many rows have each."""

    columns: list[pa.Array]
    times: NDArray[np.int64]


def leaves(footer: pq.FileMetaData, names: Sequence[str]) -> list[Leaf] | None:
    """Return where the named columns are; None where one is not of a type that is read here."""
    paths = [footer.schema.column(place).path for place in range(footer.num_columns)]
    types = footer.schema.to_arrow_schema()
    found = []
    for name in names:
        if paths.count(name) != 1 or types.names.count(name) != 1:
            return None
        place, kind = paths.index(name), types.field(name).type
        if pa.types.is_dictionary(kind) and kind.value_type == pa.string():
            kind = kind.value_type
        column = footer.schema.column(place)
        stored, _ = _STORED.get(kind, ("", ""))
        levels = column.max_definition_level, column.max_repetition_level
        if column.physical_type != stored or levels not in ((0, 0), (1, 0)):
            return None
        found.append(Leaf(place, kind, levels == (1, 0)))
    return found


def combinations(
    path: str, footer: pq.FileMetaData, group: int, columns: Sequence[Leaf]
) -> Combinations | None:
    """Count a row group; return None where it is left to PyArrow."""
    about = footer.row_group(group)
    rows = about.num_rows
    try:
        with FileIO(path) as file:
            chunks = [_Chunk(file, about.column(leaf.place), leaf, rows) for leaf in columns]
            counts = _counted(chunks, rows)
        return _valued(chunks, counts)
    except (Unusual, IndexError, pa.ArrowException, OSError):
        return None


def _counted(chunks: Sequence[_Chunk], rows: int) -> NDArray[np.int64]:
    """Return how many rows have each key."""
    bits = sum(chunk.bits for chunk in chunks)
    if not 0 < rows < MOST_ROWS or 2**bits > min(max(FEW_CELLS, rows), MOST_CELLS):
        raise Unusual
    counts = np.zeros(2**bits, np.int64)
    room = np.empty(BLOCK, np.int32)
    for start in range(0, rows, BLOCK):
        keys = room[: min(BLOCK, rows - start)]
        keys.fill(0)
        shift = 0
        for chunk in chunks:
            chunk.add(keys, shift)
            shift += chunk.bits
        count_keys(keys, counts)
    if any(chunk.has_more for chunk in chunks):
        raise Unusual
    return counts


def _valued(chunks: Sequence[_Chunk], counts: NDArray[np.int64]) -> Combinations:
    """Return the values of the keys that occur."""
    keys = np.flatnonzero(counts)
    times, columns = counts[keys], []
    for chunk in chunks:
        indices, size = keys & ((1 << chunk.bits) - 1), len(chunk.values)
        keys >>= chunk.bits
        lacking = indices == size
        if times[lacking].sum() != chunk.lacking:
            raise Unusual
        coded = pa.array(indices.astype(np.int32), mask=lacking if chunk.lacking else None)
        column = pa.DictionaryArray.from_arrays(coded, chunk.values)  # refuses larger indices
        is_text = chunk.values.type in (pa.string(), pa.large_string())
        columns.append(column if is_text else column.dictionary_decode())
    return Combinations(columns, times)


class _Room:
    """Memory that is used again: to get new memory takes longer than to fill it."""

    def __init__(self) -> None:
        self._held = np.empty(0, np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        """Return so many bytes, which are no longer what they were."""
        if self._held.size < size:
            self._held = np.empty(size, np.uint8)
        return self._held[:size]


class _Chunk:
    """One column of a row group, some pages at a time.

    The index of a missing value is ``len(values)``.
    """

    def __init__(self, file: FileIO, about: Any, leaf: Leaf, rows: int) -> None:
        self._file, self._is_optional, self._codec = file, leaf.is_optional, about.compression
        first = about.data_page_offset
        self._at = min(first, about.dictionary_page_offset or first)  # some write 0 for none
        self._end = self._at + about.total_compressed_size
        if about.num_values != rows or self._codec not in _CODECS:
            raise Unusual
        self._state, self._packed, self._unpacked = np.zeros(STATE, np.int64), _Room(), _Room()
        self._room = np.empty(2 * BLOCK + 2 if leaf.is_optional else 0, np.int32)
        headers, page = self._read_pages(FIRST, 0)
        kind, header, number, encoding = headers[0, [1, 7, 17, 18]].tolist()
        if (kind, header) != (2, TRUE) or number < 0 or encoding not in (PLAIN, PLAIN_DICTIONARY):
            raise Unusual
        self.values = _plain_values(page[:-SPARE], number, leaf.kind)
        self.bits = len(self.values).bit_length()
        self._data, self._pages = page, headers[:0]

    @property
    def lacking(self) -> int:
        """How many values were missing."""
        return int(self._state[LACKING])

    @property
    def has_more(self) -> bool:
        """Whether the page has more rows."""
        return bool(self._state[LEFT])

    def add(self, keys: NDArray[np.int32], shift: int) -> None:
        """Add the indices of the next rows, shifted, to their keys."""
        while keys.size:
            done = add_indices(
                self._data, self._pages, self._state, len(self.values), shift, keys, self._room
            )
            if done < 0:
                raise Unusual
            keys = keys[done:]
            if keys.size:
                headers, self._data = self._read_pages(AT_ONCE, AT_ONCE)
                self._pages = _parts(headers, self._data, is_optional=self._is_optional)
                self._state[PAGE] = 0

    def _read_pages(self, size: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the headers of the next pages and their bytes, unpacked, one after the other."""
        rest = min(self._end - self._at, 2 * LARGEST_PAGE)
        while True:
            whole = min(size, rest)
            self._file.seek(self._at)
            data = self._packed.of(whole + SPARE)  # a file ends with more than that
            if self._file.readinto(data) != data.size:  # type: ignore[arg-type]
                raise Unusual
            headers = np.empty((MOST_PAGES, FIELDS), np.int64)
            headers = headers[: find_pages(data[:whole], most, headers)]
            if len(headers):
                break
            if whole == rest:
                raise Unusual
            size *= 2
        if headers[:, 2].max() > LARGEST_PAGE:
            raise Unusual
        self._at += int(headers[-1, ENDS] + headers[-1, 3])
        out = self._unpacked.of(int(headers[:, 2].sum()) + SPARE)
        _unpack(data, headers, self._codec, out)
        return headers, out


def _unpack(
    data: NDArray[np.uint8], headers: NDArray[np.int64], codec: str, out: NDArray[np.uint8]
) -> None:
    """Unpack pages, one after the other; each must have as many bytes as it says."""
    unpacked, packed, starts = headers[:, 2], headers[:, 3], headers[:, ENDS]
    ends = unpacked.cumsum()
    plain = np.zeros_like(packed)  # the levels of a page of version 2 are not packed, nor may it be
    new = headers[:, 8] == TRUE
    plain[new] = np.where(headers[:, 23] == FALSE, packed, headers[:, 21])[new]
    if codec == "UNCOMPRESSED":
        plain = packed
    places = np.stack([starts + plain, starts + packed, ends - unpacked + plain, ends], axis=1)
    left = (places[:, 1::2] - places[:, ::2]).T
    if np.any(plain < 0) or np.any(left < 0) or np.any((left[0] == 0) & (left[1] > 0)):
        raise Unusual
    out[-SPARE:] = 0
    for which in np.flatnonzero(plain).tolist():
        start, to, size = starts[which], ends[which] - unpacked[which], plain[which]
        out[to : to + size] = data[start : start + size]
    places = places[left[0] > 0]
    if codec == "SNAPPY":
        if not unsnap_pages(data, places, out):
            raise Unusual
    else:
        for start, end, to, stop in places.tolist():
            with pa.CompressedInputStream(pa.BufferReader(data[start:end]), codec) as one:
                if one.readinto(out[to:stop]) != stop - to or one.read(1):
                    raise Unusual


def _parts(
    headers: NDArray[np.int64], data: NDArray[np.uint8], *, is_optional: bool
) -> NDArray[np.int64]:
    """Return how many values each page has, and where its levels and indices start and end."""
    ends = headers[:, 2].cumsum()
    starts = ends - headers[:, 2]
    old = (headers[:, 1] == 0) & (headers[:, 5] == TRUE) & (headers[:, 8] == -1)
    new = (headers[:, 1] == 3) & (headers[:, 8] == TRUE) & (headers[:, 5] == -1)
    encodings, values = np.where(old, headers[:, 18], headers[:, 20]), headers[:, 17]
    levels = np.where(new, headers[:, 21], 0)
    good = old & (headers[:, 19] >= 0) & (headers[:, 20] >= 0)  # a header must have these
    good |= new & (headers[:, 18] >= 0) & (headers[:, 19] == values) & (headers[:, 22] == 0)
    if is_optional:
        first = starts[:, None] + np.arange(4)  # of a page without bytes: some of SPARE
        said = data[first].astype(np.int64) @ (256 ** np.arange(4))
        levels = np.where(old, said, levels)
        starts = np.where(old, starts + 4, starts)
        good &= new | (headers[:, 19] == RLE)
    good &= (levels >= 0) & (starts + levels <= ends) & (is_optional | (levels == 0))
    good &= (values > 0) & ((encodings == PLAIN_DICTIONARY) | (encodings == RLE_DICTIONARY))
    if not good.all():
        raise Unusual
    return np.stack([values, starts, starts + levels, ends], axis=1)


def _plain_values(page: NDArray[np.uint8], number: int, kind: pa.DataType) -> pa.Array:
    """Return the values of a dictionary."""
    _, stored = _STORED[kind]
    if stored:
        if number * np.dtype(stored).itemsize > page.size:
            raise Unusual
        return pa.array(np.frombuffer(page, stored, number).copy()).cast(kind)
    data, at, found = page.tobytes(), 0, []
    for _ in range(number):
        start = at + 4
        at = start + int.from_bytes(data[at:start], "little")
        if at > len(data):
            raise Unusual
        found.append(data[start:at])
    if len(set(found)) != number:  # PyArrow would keep one of two, and miscount the others
        raise Unusual
    return pa.array(found, pa.binary()).cast(kind)
