"""What is read by the indices of Parquet pages and what is left to PyArrow, on hand-made pages.

Headers and pages are written here as parquet.thrift and Encodings.md say.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.engines import in_process, pages
from indiff.engines.packed import ENDS, FALSE, FIELDS, SPARE, TRUE
from indiff.engines.pages import Leaf, Unusual
from tests.engines.test_pages import counted

DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
PLAIN, RLE, BIT_PACKED, RLE_DICTIONARY = 0, 3, 4, 8
NUMBERS = Leaf(0, pa.int32(), is_optional=False)
OPTIONAL = Leaf(0, pa.int32(), is_optional=True)
TEXTS = Leaf(0, pa.string(), is_optional=False)
Fields = dict[int, Any]


def varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def header(fields: Fields) -> bytes:
    """Write a structure in Thrift's compact protocol."""
    out, last = b"", 0
    for number, value in fields.items():
        step, last = number - last << 4, number
        if isinstance(value, bool):
            out += bytes([step | (1 if value else 2)])
        elif isinstance(value, int):
            out += bytes([step | 5]) + varint(value << 1)
        elif isinstance(value, bytes):
            out += bytes([step | 8]) + varint(len(value)) + value
        else:
            out += bytes([step | 12]) + header(value)
    return out + b"\0"


def page(
    kind: int, own: Fields, body: bytes, unpacked: int = -1, more: bytes | None = None
) -> bytes:
    """Write a page: ``own`` is the header of its kind, ``more`` a field that nobody knows."""
    place = {DATA_PAGE: 5, DICTIONARY_PAGE: 7, DATA_PAGE_V2: 8}[kind]
    fields = {1: kind, 2: len(body) if unpacked < 0 else unpacked, 3: len(body), place: own}
    return header(fields | ({} if more is None else {12: more})) + body


def dictionary(*values: int, more: bytes | None = None) -> bytes:
    body = np.array(values, "<i4").tobytes()
    return page(DICTIONARY_PAGE, {1: len(values), 2: PLAIN}, body, more=more)


def text_dictionary(*values: bytes) -> bytes:
    return b"".join(len(one).to_bytes(4, "little") + one for one in values)


def run(times: int, value: int) -> bytes:
    """Write a number that is the same so many times, in at most eight bits."""
    return bytes([times << 1, value])


def old_page(rows: int, body: bytes) -> bytes:
    return page(DATA_PAGE, {1: rows, 2: RLE_DICTIONARY, 3: RLE, 4: RLE}, body)


def new_page(rows: int, nulls: int, levels: bytes, body: bytes) -> bytes:
    own = {1: rows, 2: nulls, 3: rows, 4: RLE_DICTIONARY, 5: len(levels), 6: 0}
    return page(DATA_PAGE_V2, own, levels + body)


def found_in(
    folder: Path, chunk: bytes, rows: int, leaf: Leaf = NUMBERS, **said: Any
) -> dict[Any, int] | None:
    """Count a chunk's rows by their indices; None where it is left to PyArrow."""
    path = folder / "chunk"
    path.write_bytes(b"PAR1" + chunk + bytes(SPARE))
    about = {
        "data_page_offset": 4, "dictionary_page_offset": None, "num_values": rows,
        "total_compressed_size": len(chunk), "compression": "UNCOMPRESSED",
    }  # fmt: skip
    column = SimpleNamespace(**(about | said))
    footer: Any = SimpleNamespace(
        row_group=lambda _: SimpleNamespace(num_rows=rows, column=lambda _: column)
    )
    found = pages.combinations(str(path), footer, 0, [leaf])
    if found is None:
        return None
    return dict(zip(found.columns[0].to_pylist(), found.times.tolist(), strict=True))


FIVE = dictionary(70, 90) + old_page(5, bytes([1]) + run(2, 0) + run(3, 1))


@pytest.mark.parametrize(
    ("said", "is_read"),
    [
        ({}, True),
        ({"data_page_offset": 30, "dictionary_page_offset": 4}, True),
        ({"dictionary_page_offset": 0}, True),  # there is none, as some say it
        ({"dictionary_page_offset": 30}, True),
        ({"data_page_offset": -3}, False),
        ({"dictionary_page_offset": -3}, False),
        ({"data_page_offset": 5}, False),
        ({"num_values": 4}, False),
        ({"num_values": 6}, False),
        ({"compression": "LZ4"}, False),
        ({"compression": "LZO"}, False),
        ({"compression": "SNAPPY"}, False),
        ({"total_compressed_size": 0}, False),
        ({"total_compressed_size": -2}, False),
        ({"total_compressed_size": -200}, False),
        ({"total_compressed_size": len(FIVE) - 1}, False),
        ({"total_compressed_size": 2**40}, False),
    ],
)
def test_what_the_footer_says_of_a_chunk(
    said: dict[str, Any], is_read: bool, tmp_path: Path
) -> None:
    assert found_in(tmp_path, FIVE, 5, **said) == ({70: 2, 90: 3} if is_read else None)


def test_a_group_without_rows_or_with_other_rows_than_its_pages_is_left(tmp_path: Path) -> None:
    assert found_in(tmp_path, FIVE, 0) is None
    assert found_in(tmp_path, FIVE, -1) is None
    assert found_in(tmp_path, FIVE, 4) is None
    assert found_in(tmp_path, FIVE, 6) is None


@pytest.mark.parametrize(
    ("own", "is_read"),
    [
        ({1: 2, 2: PLAIN}, True),
        ({1: 2, 2: 2}, True),  # PLAIN_DICTIONARY, the old name of the same
        ({1: 2, 2: RLE}, False),
        ({1: 2}, False),
        ({2: PLAIN}, False),  # as many as there is room for would be 2
        ({1: 3, 2: PLAIN}, False),
        ({1: 1, 2: PLAIN}, False),  # index 1 is that of no value
    ],
)
def test_the_header_of_a_dictionary(own: Fields, is_read: bool, tmp_path: Path) -> None:
    first = page(DICTIONARY_PAGE, own, np.array([70, 90], "<i4").tobytes())
    chunk = first + FIVE[len(dictionary(70, 90)) :]
    assert found_in(tmp_path, chunk, 5) == ({70: 2, 90: 3} if is_read else None)


@pytest.mark.parametrize("index", [2, 3])
def test_one_index_beyond_the_dictionary_is_enough_to_leave_all(index: int, tmp_path: Path) -> None:
    for last, expected in ((1, {70: 2, 90: 3}), (index, None)):
        data = old_page(5, bytes([2]) + run(2, 0) + run(2, 1) + run(1, last))
        assert found_in(tmp_path, dictionary(70, 90) + data, 5) == expected


def test_pages_of_both_versions_in_one_chunk(tmp_path: Path) -> None:
    levels = run(2, 1) + run(1, 0)
    old = old_page(3, len(levels).to_bytes(4, "little") + levels + bytes([1]) + run(2, 1))
    new = new_page(3, 1, levels, bytes([1]) + run(2, 0))
    for data in (old + new, new + old):
        chunk = dictionary(70, 90) + data
        assert found_in(tmp_path, chunk, 6, OPTIONAL) == {70: 2, 90: 2, None: 2}


def test_where_all_values_are_missing_neither_dictionary_nor_indices_have_bytes(
    tmp_path: Path,
) -> None:
    chunk = dictionary() + new_page(3, 3, run(3, 0), b"")
    assert found_in(tmp_path, chunk, 3, OPTIONAL) == {None: 3}
    chunk = dictionary() + new_page(3, 0, run(3, 1), bytes([0]) + run(3, 0)[:1])
    assert found_in(tmp_path, chunk, 3, OPTIONAL) is None  # there is no value to be present


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli"])
def test_columns_with_some_values_and_with_none(
    version: str, codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few rows are counted at a time, and bytes read: in several pages of each column."""
    monkeypatch.setattr(in_process, "WORTH_INDICES", 0)
    table = pa.table(
        {
            "number": pa.array([5, None, 7, 7] * 10, pa.int16()),
            "text": pa.array(["x", "y", None, "x", "é"] * 8),
            "no number": pa.array([None] * 40, pa.int64()),
            "no text": pa.array([None] * 40, pa.string()),
        }
    )
    path, names = str(tmp_path / "a.parquet"), table.column_names
    pq.write_table(
        table,
        path,
        compression=codec,
        data_page_version=version,
        data_page_size=1,
        write_batch_size=9,
    )
    expected = Counter(tuple(row.values()) for row in table.to_pylist())
    footer = pq.read_metadata(path)
    leaves = pages.leaves(footer, names)
    assert leaves is not None
    for block, first, at_once in ((1, 3, 1), (2**16, 2**12, 2**19)):
        monkeypatch.setattr(pages, "BLOCK", block)
        monkeypatch.setattr(pages, "FIRST", first)
        monkeypatch.setattr(pages, "AT_ONCE", at_once)
        found = pages.combinations(path, footer, 0, leaves)
        assert found is not None
        rows = zip(*(one.to_pylist() for one in found.columns), strict=True)
        assert dict(zip(rows, found.times.tolist(), strict=True)) == expected
        assert counted(path, names) == expected


@pytest.mark.parametrize(
    ("limits", "rows", "is_read"),
    [
        ({"FEW_CELLS": 4}, 2, True),
        ({"FEW_CELLS": 3}, 2, False),
        ({"FEW_CELLS": 3}, 4, True),  # as many rows as cells
        ({"FEW_CELLS": 3}, 3, False),
        ({"MOST_CELLS": 4}, 9, True),
        ({"MOST_CELLS": 3}, 9, False),
        ({"MOST_ROWS": 10}, 9, True),
        ({"MOST_ROWS": 9}, 9, False),
    ],
)
def test_from_how_many_cells_and_rows_on_a_group_is_left(
    limits: dict[str, int],
    rows: int,
    is_read: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two values, and the one that none of them is, have indices of two bits: four cells."""
    for name, limit in limits.items():
        monkeypatch.setattr(pages, name, limit)
    chunk = dictionary(70, 90) + old_page(rows, bytes([1]) + run(rows, 1))
    assert found_in(tmp_path, chunk, rows) == ({90: rows} if is_read else None)


@pytest.mark.parametrize("size", [40, 41])
def test_how_large_a_page_may_be(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST_PAGE", 40)
    indices = bytes([1]) + run(5, 0)
    text = text_dictionary(b"a" * (size - 4))
    first = page(DICTIONARY_PAGE, {1: 1, 2: PLAIN}, text)
    expected = {"a" * (size - 4): 5} if size == 40 else None
    assert found_in(tmp_path, first + old_page(5, indices), 5, TEXTS) == expected

    packed = pa.Codec("snappy").compress(text, asbytes=True)
    data = pa.Codec("snappy").compress(indices, asbytes=True)
    assert len(packed) < 40
    chunk = page(DICTIONARY_PAGE, {1: 1, 2: PLAIN}, packed, len(text))
    chunk += page(DATA_PAGE, {1: 5, 2: RLE_DICTIONARY, 3: RLE, 4: RLE}, data, len(indices))
    assert found_in(tmp_path, chunk, 5, TEXTS, compression="SNAPPY") == expected

    filled = old_page(5, indices + bytes(size - len(indices)))  # bytes that no row needs
    for pair in (filled + old_page(5, indices), old_page(5, indices) + filled):
        found = found_in(tmp_path, dictionary(70) + pair, 10)
        assert found == ({70: 10} if size == 40 else None)


def test_how_long_a_page_and_its_header_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as long as the page itself may be."""
    monkeypatch.setattr(pages, "LARGEST_PAGE", 40)
    data = old_page(5, bytes([1]) + run(5, 0))
    short = len(dictionary(70, more=b""))
    for first in (8, 4096):
        monkeypatch.setattr(pages, "FIRST", first)
        for length, expected in ((79, {70: 5}), (80, {70: 5}), (81, None), (119, None)):
            chunk = dictionary(70, more=bytes(length - short))
            assert len(chunk) == length
            assert found_in(tmp_path, chunk + data, 5) == expected


def test_memory_is_used_again() -> None:
    room = pages._Room()
    first = room.of(8)
    assert first.size == 8
    assert np.shares_memory(first, room.of(8))
    assert np.shares_memory(first, room.of(3))
    assert room.of(3).size == 3
    assert room.of(9).size == 9


def fields(**said: int) -> list[int]:
    """Return a header as it is kept: a number for every field, −1 where it has none."""
    kept = [-1] * FIELDS
    for name, value in said.items():
        kept[int(name[1:])] = value
    return kept


OLD = {"f1": DATA_PAGE, "f2": 10, "f3": 10, "f5": TRUE, "f17": 4, "f18": 8, "f19": RLE, "f20": RLE}
NEW = {
    "f1": DATA_PAGE_V2, "f2": 10, "f3": 10, "f8": TRUE,
    "f17": 4, "f18": 0, "f19": 4, "f20": 8, "f21": 0, "f22": 0, "f23": FALSE,
}  # fmt: skip


@pytest.mark.parametrize(
    ("base", "change", "is_read"),
    [
        (OLD, {}, True),
        (OLD, {"f18": 2}, True),
        (OLD, {"f19": 0, "f20": 0}, True),  # nobody reads levels that there are not
        (OLD, {"f19": BIT_PACKED, "f20": BIT_PACKED}, True),
        (OLD, {"f1": DICTIONARY_PAGE}, False),
        (OLD, {"f1": DATA_PAGE_V2}, False),
        (OLD, {"f1": -1}, False),
        (OLD, {"f5": -1}, False),
        (OLD, {"f8": TRUE}, False),
        (OLD, {"f17": 0}, False),
        (OLD, {"f17": -1}, False),
        (OLD, {"f18": PLAIN}, False),
        (OLD, {"f18": -1}, False),
        (OLD, {"f19": -1}, False),
        (OLD, {"f20": -1}, False),
        (NEW, {}, True),
        (NEW, {"f20": 2}, True),
        (NEW, {"f1": DATA_PAGE}, False),
        (NEW, {"f8": -1}, False),
        (NEW, {"f5": TRUE}, False),
        (NEW, {"f17": 0, "f19": 0}, False),
        (NEW, {"f17": -1, "f19": -1}, False),
        (NEW, {"f18": -1}, False),
        (NEW, {"f19": 3}, False),  # a list has more values than rows
        (NEW, {"f19": -1}, False),
        (NEW, {"f20": PLAIN}, False),
        (NEW, {"f20": -1}, False),
        (NEW, {"f21": 2}, False),  # values that cannot be missing have no levels
        (NEW, {"f21": -1}, False),
        (NEW, {"f22": 1}, False),
        (NEW, {"f22": -1}, False),
    ],
)
def test_the_header_of_a_page_of_values_that_cannot_be_missing(
    base: dict[str, int], change: dict[str, int], is_read: bool
) -> None:
    right, data = fields(**base), np.zeros(30 + SPARE, np.uint8)
    headers = np.array([right, fields(**(base | change)), right], np.int64)
    if is_read:
        found = pages._parts(headers, data, is_optional=False)
        assert found.tolist() == [[4, 0, 0, 10], [4, 10, 10, 20], [4, 20, 20, 30]]
    else:
        with pytest.raises(Unusual):
            pages._parts(headers, data, is_optional=False)


@pytest.mark.parametrize(
    ("base", "change", "length", "expected"),
    [
        (OLD, {}, 2, [4, 14, 16, 20]),
        (OLD, {}, 6, [4, 14, 20, 20]),  # of values that are all missing there are no indices
        (OLD, {}, 7, None),
        (OLD, {}, 256, None),
        (OLD, {}, 2**31, None),
        (OLD, {"f19": BIT_PACKED}, 2, None),
        (OLD, {"f20": BIT_PACKED}, 2, [4, 14, 16, 20]),
        (NEW, {}, 7, [4, 10, 10, 20]),
        (NEW, {"f21": 2}, 7, [4, 10, 12, 20]),
        (NEW, {"f21": 10}, 7, [4, 10, 20, 20]),
        (NEW, {"f21": 11}, 7, None),
        (NEW, {"f21": -1}, 7, None),
    ],
)
def test_where_the_levels_of_a_page_are(
    base: dict[str, int], change: dict[str, int], length: int, expected: list[int] | None
) -> None:
    headers = np.array([fields(**NEW), fields(**(base | change)), fields(**NEW)], np.int64)
    data = np.zeros(30 + SPARE, np.uint8)
    data[10:14] = np.frombuffer(length.to_bytes(4, "little"), np.uint8)
    if expected is None:
        with pytest.raises(Unusual):
            pages._parts(headers, data, is_optional=True)
    else:
        found = pages._parts(headers, data, is_optional=True)
        assert found.tolist() == [[4, 0, 0, 10], expected, [4, 20, 20, 30]]


SNAP = bytes([3, 2 << 2]) + b"abc"  # format_description.txt: three bytes, and the three
ZIP = gzip.compress(b"abc", mtime=0)  # the time of day would be part of the test's name


@pytest.mark.parametrize(
    ("codec", "body", "size", "change", "expected"),
    [
        ("UNCOMPRESSED", b"abc", 3, {}, b"abc"),
        ("UNCOMPRESSED", b"", 0, {}, b""),
        ("UNCOMPRESSED", b"abc", 2, {}, None),
        ("UNCOMPRESSED", b"abc", 4, {}, None),
        ("UNCOMPRESSED", b"", 1, {}, None),
        ("UNCOMPRESSED", b"abc", 3, {"f8": TRUE, "f21": 1, "f22": 0}, b"abc"),
        ("SNAPPY", SNAP, 3, {}, b"abc"),
        ("SNAPPY", SNAP, 2, {}, None),
        ("SNAPPY", SNAP, 4, {}, None),
        ("SNAPPY", bytes([0]), 0, {}, b""),
        ("SNAPPY", bytes([5]), 0, {}, None),  # five bytes, which do not follow
        ("SNAPPY", b"", 0, {}, b""),
        ("SNAPPY", b"", 1, {}, None),
        ("SNAPPY", SNAP, 3, {"f8": TRUE, "f21": 0, "f22": 0}, b"abc"),
        ("SNAPPY", b"xy" + SNAP, 5, {"f8": TRUE, "f21": 2, "f22": 0}, b"xyabc"),
        ("SNAPPY", b"xy" + SNAP, 5, {"f8": TRUE, "f21": 2, "f22": 0, "f23": TRUE}, b"xyabc"),
        ("SNAPPY", b"xyabc", 5, {"f8": TRUE, "f21": 2, "f22": 0, "f23": FALSE}, b"xyabc"),
        ("SNAPPY", b"xyabc", 6, {"f8": TRUE, "f21": 2, "f22": 0, "f23": FALSE}, None),
        ("SNAPPY", b"xyabc", 4, {"f8": TRUE, "f21": 2, "f22": 0, "f23": FALSE}, None),
        ("SNAPPY", b"xy", 2, {"f8": TRUE, "f21": 2, "f22": 0}, b"xy"),
        ("SNAPPY", b"xy", 3, {"f8": TRUE, "f21": 2, "f22": 0}, None),
        ("SNAPPY", b"xy", 2, {"f8": TRUE, "f21": 3, "f22": 0}, None),
        ("SNAPPY", b"xy", 2, {"f8": TRUE, "f21": -1, "f22": 0}, None),
        ("GZIP", ZIP, 3, {}, b"abc"),
        ("GZIP", ZIP, 2, {}, None),
        ("GZIP", ZIP, 4, {}, None),
        ("GZIP", ZIP[:-1], 3, {}, None),
        ("GZIP", ZIP + ZIP, 3, {}, None),
        ("GZIP", b"xy" + ZIP, 5, {"f8": TRUE, "f21": 2, "f22": 0}, b"xyabc"),
    ],
)
def test_pages_are_unpacked_to_as_many_bytes_as_they_say(
    codec: str, body: bytes, size: int, change: dict[str, int], expected: bytes | None
) -> None:
    """Between two pages that are as they should be, with other bytes before each."""
    plain = {"UNCOMPRESSED": b"abc", "SNAPPY": SNAP, "GZIP": ZIP}[codec]
    data, headers = b"", []
    for one, unpacked, said in ((plain, 3, {}), (body, size, change), (plain, 3, {})):
        data += b"header"
        own = {"f2": unpacked, "f3": len(one), f"f{ENDS}": len(data)} | said
        headers.append(fields(**own))
        data += one
    bytes_of = np.frombuffer(data + bytes(SPARE), np.uint8).copy()
    out = np.full(6 + size + SPARE, 77, np.uint8)
    if expected is None:
        with pytest.raises((Unusual, OSError)):  # either is left to PyArrow
            pages._unpack(bytes_of, np.array(headers), codec, out)
    else:
        pages._unpack(bytes_of, np.array(headers), codec, out)
        assert out.tobytes() == b"abc" + expected + b"abc" + bytes(SPARE)


TWO = text_dictionary(b"", b"hello")


@pytest.mark.parametrize(
    ("body", "number", "kind", "expected"),
    [
        (b"", 0, pa.string(), []),
        (TWO, 2, pa.string(), ["", "hello"]),
        (TWO, 1, pa.large_string(), [""]),
        (TWO, 3, pa.string(), None),
        (TWO, 2**34, pa.string(), None),
        (TWO[:-1], 2, pa.string(), None),
        (TWO[:7], 2, pa.string(), None),
        (text_dictionary(b""), 1, pa.string(), [""]),
        (text_dictionary(b"") + b"\0\0\0", 2, pa.string(), None),  # not the four bytes of a length
        (bytes([10, 0, 0, 0]) + b"a", 1, pa.string(), None),
        (text_dictionary(b"a", b"a"), 2, pa.string(), None),  # the same value twice
        (np.array([1, -2], "<i4").tobytes(), 2, pa.int8(), [1, -2]),
        (np.array([1, -2], "<i4").tobytes(), 3, pa.int8(), None),
        (np.array([1, -2], "<i8").tobytes(), 2, pa.int64(), [1, -2]),
        (np.array([1, -2], "<i8").tobytes(), 3, pa.int64(), None),
        (b"", 0, pa.int64(), []),
    ],
)
def test_the_values_of_a_dictionary(
    body: bytes, number: int, kind: pa.DataType, expected: list[Any] | None
) -> None:
    data = np.frombuffer(body, np.uint8)
    if expected is None:
        with pytest.raises(Unusual):
            pages._plain_values(data, number, kind)
    else:
        found = pages._plain_values(data, number, kind)
        assert (found.type, found.to_pylist()) == (kind, expected)


def leaves_of(path: Path, table: pa.Table, *names: str) -> list[Leaf] | None:
    pq.write_table(table, path)
    return pages.leaves(pq.read_metadata(path), names)


def test_a_name_must_be_that_of_one_column_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    inner = pa.array([{"b": 1}, {"b": 2}])
    plain = pa.array([3, 3])
    both = pa.table([inner, plain], ["a", "a.b"])
    assert leaves_of(path, both, "a.b") is None  # the field of a structure is called so, too
    assert leaves_of(path, pa.table([inner], ["a"]), "a.b") is None
    assert leaves_of(path, pa.table([inner, plain], ["a", "a"]), "a") is None
    assert leaves_of(path, pa.table([plain, plain], ["a", "a"]), "a") is None
    assert leaves_of(path, pa.table([plain], ["a"]), "b") is None
    assert leaves_of(path, pa.table([inner, plain], ["a", "b"]), "b") == [Leaf(1, pa.int64(), True)]


def test_text_that_was_coded_before_it_was_written_is_text(tmp_path: Path) -> None:
    path, texts = tmp_path / "a.parquet", pa.array(["x", "y", "x"])
    coded = pa.table({"a": texts.dictionary_encode()})
    assert leaves_of(path, coded, "a") == [Leaf(0, pa.string(), True)]


def test_text_stays_coded_and_numbers_do_not(tmp_path: Path) -> None:
    """Then −0 is counted as 0, as it is row by row, and text is looked at once for each value."""
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [-0.0, -0.0, 1.5], "b": ["x", "y", "y"], "c": pa.array([1, 2, 2])})
    leaves = leaves_of(path, table, "a", "b", "c")
    assert leaves is not None
    found = pages.combinations(str(path), pq.read_metadata(path), 0, leaves)
    assert found is not None
    kinds = [one.type for one in found.columns]
    assert kinds == [pa.float64(), pa.dictionary(pa.int32(), pa.string()), pa.int64()]


def test_minus_zero_is_counted_as_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [-0.0, -0.0, 1.5, 0.0]}), path)
    for least in (0, 100):
        monkeypatch.setattr(in_process, "WORTH_INDICES", least)
        found = counted(path, ["a"])
        assert found == {(0.0,): 3, (1.5,): 1}
        assert [math.copysign(1, value) for (value,) in found] == [1, 1]
