"""Rows counted by the indices in a Parquet file's pages, against PyArrow's own reading."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indiff.engines import in_process, pages
from indiff.engines.packed import FIELDS, SPARE, STATE, add_indices, find_pages, unsnap_pages
from indiff.engines.protocol import Resources, connect
from indiff.errors import UserError


@pytest.fixture(autouse=True)
def however_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process, "WORTH_INDICES", 0)


def indices_of(data: bytes, number: int, dictionary: int) -> list[int] | None:
    """Read a page without levels, in two goes; None where it is not as it should be."""
    room, state = np.frombuffer(data + bytes(SPARE), np.uint8).copy(), np.zeros(STATE, np.int64)
    layout = np.array([[number, 0, 0, len(data)]])
    keys = np.zeros(number, np.int32)
    for part in (keys[: number // 3], keys[number // 3 :]):
        read = add_indices(room, layout, state, dictionary, 0, part, np.empty(0, np.int32))
        if read != part.size:
            return None
    return [int(key) for key in keys]


def test_the_specifications_example_of_packed_numbers() -> None:
    """Encodings.md: the numbers 0 to 7 in 3 bits each are 10001000 11000110 11111010."""
    packed = bytes([0b10001000, 0b11000110, 0b11111010])
    assert indices_of(bytes([3, 1 << 1 | 1]) + packed, 8, 8) == [*range(8)]
    assert indices_of(bytes([3, 1 << 1 | 1]) + packed[:2], 8, 8) is None
    assert indices_of(bytes([3, 4 << 1, 5, 1 << 1 | 1]) + packed, 9, 8) == [5] * 4 + [*range(5)]
    assert indices_of(bytes([3, 4 << 1, 8]), 4, 8) is None  # 8 has four bits
    assert indices_of(bytes([3, 0, 5]), 4, 8) is None  # a run of none
    assert indices_of(bytes([3, 4 << 1, 5]), 5, 8) is None
    assert indices_of(bytes([5, 4 << 1, 5]), 4, 8) is None  # nobody needs 5 bits for 0 to 8
    assert indices_of(bytes([4, 4 << 1, 5]), 4, 8) == [5] * 4
    assert indices_of(bytes([0, 4 << 1]), 4, 1) == [0] * 4
    assert indices_of(bytes([3, 128, 128, 128, 128, 128, 128]), 4, 8) is None
    assert indices_of(bytes([255]), 4, 8) is None
    assert indices_of(bytes([9, 3 << 1, 44, 1]), 3, 400) == [300] * 3


def unsnapped(packed: bytes, size: int) -> bytes | None:
    out = np.zeros(size, np.uint8)
    places = np.array([[0, len(packed), 0, size]])
    data = np.frombuffer(packed + bytes(1), np.uint8).copy()
    return out.tobytes() if unsnap_pages(data, places, out) else None


def test_snappy_by_its_description() -> None:
    """format_description.txt: literals, and copies with offsets of 11, 16 and 32 bits."""
    assert unsnapped(bytes([0]), 0) == b""
    assert unsnapped(bytes([3, 2 << 2]) + b"abc", 3) == b"abc"
    assert unsnapped(bytes([10, 1 << 2]) + b"ab" + bytes([4 << 2 | 1, 2]), 10) == b"ab" * 5
    assert unsnapped(bytes([5, 1 << 2]) + b"ab" + bytes([2 << 2 | 2, 1, 0]), 5) == b"abbbb"
    assert unsnapped(bytes([5, 1 << 2]) + b"ab" + bytes([2 << 2 | 3, 2, 0, 0, 0]), 5) == b"ababa"
    assert unsnapped(bytes([3, 60 << 2, 2]) + b"abc", 3) == b"abc"
    first = bytes([61 << 2, 43, 1]) + b"x" + bytes(299)  # 300 bytes, said in two
    far = bytes([0 << 2 | 1 | 1 << 5, 44])  # 4 bytes from 256 + 44 before
    assert unsnapped(bytes([0xB0, 2]) + first + far, 304) == b"x" + bytes(299) + b"x" + bytes(3)
    for broken in (
        bytes([3, 2 << 2]) + b"ab",
        bytes([2, 2 << 2]) + b"abc",
        bytes([4, 2 << 2]) + b"abc",
        bytes([3, 0 << 2]) + b"a" + bytes([2 << 2 | 2, 2, 0]),  # before the first byte
        bytes([4, 0 << 2]) + b"a" + bytes([2 << 2 | 2, 0, 0]),  # itself
        bytes([4, 0 << 2]) + b"a" + bytes([2 << 2 | 2, 1]),
        bytes([3, 0 << 2]) + b"a" + bytes([2 << 2 | 2, 1, 0]),
        bytes([128]),
        b"",
    ):
        assert unsnapped(broken, 3 if broken[:1] != bytes([4]) else 4) is None


@given(st.lists(st.tuples(st.binary(max_size=90), st.integers(1, 40)), max_size=12), st.data())
def test_snappy_against_arrows(parts: list[tuple[bytes, int]], draw: st.DataObject) -> None:
    plain = b"".join(part * times for part, times in parts)
    packed = pa.Codec("snappy").compress(plain, asbytes=True)
    assert unsnapped(packed, len(plain)) == plain
    assert unsnapped(packed, len(plain) + 1) is None
    place = draw.draw(st.integers(0, len(packed) - 1))
    broken = packed[:place] + bytes([packed[place] ^ draw.draw(st.integers(1, 255))])
    broken += packed[place + 1 :]
    try:
        expected = pa.Codec("snappy").decompress(broken, len(plain), asbytes=True)
    except (OSError, pa.ArrowInvalid):
        expected = None
    # A place in the first bytes changes how many are said to follow, and Arrow does not compare.
    assert unsnapped(broken, len(plain)) == (expected if place > 2 else None) or place <= 2


def counted(path: str, names: list[str], threads: int = 2) -> Counter[tuple[Any, ...]]:
    """Count with the in-process engine."""
    engine = connect(
        path,
        names,
        {"cells": range(len(names))},
        engine="in-process",
        resources=Resources(threads=threads),
    )
    rows = engine.query(f"SELECT * FROM {engine.counts['cells']}")
    engine.close()
    return Counter({row[:-1]: row[-1] for row in rows})


def expected_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """Count with PyArrow; the empty text is missing."""
    names = table.column_names
    groups = table.group_by(names).aggregate([([], "count_all")])
    found: Counter[tuple[Any, ...]] = Counter()
    for row in groups.to_pylist():
        found[tuple(None if row[name] == "" else row[name] for name in names)] += row["count_all"]
    return found


def read_here(path: str, names: list[str]) -> list[bool]:
    """Tell for each row group whether it is counted by its indices."""
    footer = pq.read_metadata(path)
    leaves = pages.leaves(footer, names)
    groups = range(footer.num_row_groups)
    return [
        leaves is not None and pages.combinations(path, footer, group, leaves) is not None
        for group in groups
    ]


@pytest.mark.parametrize("may_be_missing", [True, False])
def test_columns_in_which_nothing_may_be_missing_are_read_here_too(
    may_be_missing: bool, tmp_path: Path
) -> None:
    schema = pa.schema([pa.field("a", pa.int32(), may_be_missing)])
    pq.write_table(pa.table({"a": [1, 2, 1]}, schema=schema), tmp_path / "a.parquet")
    assert read_here(str(tmp_path / "a.parquet"), ["a"]) == [True]


KINDS: dict[str, Any] = {
    "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(),
    "uint8": pa.uint8(), "uint32": pa.uint32(), "date": pa.date32(), "float": pa.float64(),
    "text": pa.string(), "coded": pa.dictionary(pa.int32(), pa.string()),
}  # fmt: skip


@st.composite
def columns(draw: st.DrawFn, rows: int) -> pa.Array:
    """Draw a column: a kind, how many values, how long they stay the same, how many are missing."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = 100 if pa.types.is_integer(kind) and kind.bit_width == 8 else 3000
    distinct = draw(st.one_of(st.integers(1, 5), st.integers(1, most)))
    stay = draw(st.sampled_from([1, 1, 2, 9, 50, 1000]))
    numbers = np.repeat(rng.integers(0, distinct, -(-rows // stay)), stay)[:rows]
    lacking = draw(st.sampled_from([0.0, 0.0, 0.02, 0.5, 1.0]))
    mask = np.repeat(rng.random(-(-rows // stay)) < lacking, stay)[:rows]
    if kind in (KINDS["text"], KINDS["coded"]):
        texts = [("" if number == 1 else f"v{number}é") for number in numbers]
        return pa.array(texts, pa.string(), mask=mask).cast(kind)
    plain = pa.int32() if kind == pa.date32() else kind
    return pa.array(numbers, mask=mask).cast(plain).cast(kind)


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "compression": draw(st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4", "brotli"])),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "data_page_size": draw(st.sampled_from([1, 100, 3000, 2**20])),
        "row_group_size": draw(st.sampled_from([1, 50, 777, 10**6])),
        "use_dictionary": draw(st.sampled_from([True, True, True, False, ["a"]])),
        "dictionary_pagesize_limit": draw(st.sampled_from([2**20, 2**20, 200])),
        "write_batch_size": draw(st.sampled_from([7, 1024])),
        "store_schema": draw(st.booleans()),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_every_layout_counts_as_pyarrow_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    rows = data.draw(st.one_of(st.integers(1, 60), st.integers(1, 5000)))
    table = pa.table({name: data.draw(columns(rows)) for name in "ab"})
    nullable = data.draw(st.booleans()) or any(table[name].null_count for name in "ab")
    fields = [pa.field(name, table[name].type, nullable) for name in "ab"]
    table = table.cast(pa.schema(fields))
    layout = data.draw(layouts())
    if rows > 60 and layout["row_group_size"] == 1:
        layout["row_group_size"] = 50
    monkeypatch.setattr(pages, "BLOCK", data.draw(st.sampled_from([64, 1000, 2**16])))
    monkeypatch.setattr(pages, "AT_ONCE", data.draw(st.sampled_from([64, 2000, 2**19])))
    monkeypatch.setattr(pages, "FEW_CELLS", data.draw(st.sampled_from([2**16, 2**22])))
    path = str(tmp_path / "a.parquet")
    pq.write_table(table, path, **layout)
    stored = pq.read_table(path)
    assert counted(path, ["a", "b"]) == expected_of(stored.select(["a", "b"]))
    assert counted(path, ["b"], threads=1) == expected_of(stored.select(["b"]))
    if layout["use_dictionary"] is True and layout["dictionary_pagesize_limit"] > 200:
        groups = [
            stored.slice(at, size)
            for size in [layout["row_group_size"]]
            for at in range(0, rows, size)
        ]
        for here, group in zip(read_here(path, ["a", "b"]), groups, strict=True):
            nothing = any(column.null_count == len(column) for column in group.columns)
            assert here or nothing or layout["compression"] == "lz4" or pages.FEW_CELLS == 2**16


@pytest.mark.parametrize("bits", range(21))
@pytest.mark.parametrize("nulls", [False, True])
def test_every_width_of_indices(
    bits: int, nulls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many values as indices of so many bits can tell apart, and one fewer."""
    monkeypatch.setattr(pages, "FEW_CELLS", 2**22)
    rng = np.random.default_rng(bits)
    for distinct in {2**bits, max(1, 2**bits - 1)}:
        numbers = np.concatenate([np.arange(distinct), rng.integers(0, distinct, 2 * distinct)])
        column = pa.array(numbers, mask=rng.random(len(numbers)) < 0.1 if nulls else None)
        path = str(tmp_path / "a.parquet")
        pq.write_table(pa.table({"a": column}), path, dictionary_pagesize_limit=2**26)
        footer = pq.read_metadata(path)
        leaves = pages.leaves(footer, ["a"])
        assert leaves is not None
        for group in range(footer.num_row_groups):
            found = pages.combinations(path, footer, group, leaves)
            assert found is not None
            expected = Counter(pq.ParquetFile(path).read_row_group(group)["a"].to_pylist())
            assert (
                dict(zip(found.columns[0].to_pylist(), found.times.tolist(), strict=True))
                == expected
            )


def by_indices(path: str) -> Counter[Any] | None:
    """Count the first row group by its indices; None where it is left to PyArrow."""
    footer = pq.read_metadata(path)
    leaves = pages.leaves(footer, ["a", "b"])
    found = None if leaves is None else pages.combinations(path, footer, 0, leaves)
    if found is None:
        return None
    total: Counter[Any] = Counter()
    for *row, times in zip(
        *(one.to_pylist() for one in found.columns), found.times.tolist(), strict=True
    ):
        total[tuple(row)] += times
    return total


def by_rows(path: str) -> Counter[Any] | None:
    """Count it by PyArrow's rows; None where it cannot be read."""
    try:
        with pq.ParquetFile(path, read_dictionary=["a", "b"]) as file:
            columns = [column.to_pylist() for column in file.read_row_group(0).columns]
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return None
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize(
    "layout",
    [
        {"compression": "none"},
        {"compression": "snappy", "data_page_version": "2.0"},
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0"},
    ],
)
def test_a_broken_byte_gives_what_pyarrow_reads_or_is_left_to_it(
    layout: dict[str, Any], tmp_path: Path
) -> None:
    """Each byte of the pages, one after the other, is changed in some of its bits and in all."""
    path = tmp_path / "a.parquet"
    # Two bits tell four values apart: the fourth index is none of these three.
    numbers = [3, 3, 3, 3, 3, 3, 3, 3, 3, 5, 7, 5, None, 5, 5, 7, 5, 3, 3, 7]
    table = pa.table({"a": pa.array(numbers, pa.int32()), "b": ["x", "y", "xyz", "u"] * 5})
    pq.write_table(table, path, data_page_size=40, write_batch_size=10, **layout)
    whole, footer = path.read_bytes(), pq.read_metadata(path)
    end = sum(footer.row_group(0).column(place).total_compressed_size for place in (0, 1)) + 4
    right = by_rows(str(path))
    assert by_indices(str(path)) == right
    left = wrong = 0
    for place in range(4, end):
        for change in (1, 4, 32, 255):
            broken = bytearray(whole)
            broken[place] ^= change
            path.write_bytes(broken)
            found = by_indices(str(path))
            assert found is None or found == by_rows(str(path)), (place, change)
            left += found is None
            wrong += found is not None and found != right
    assert min(left, wrong) > 30


def test_a_broken_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["héllo", "you"] * 5}), path, compression="none")
    whole = path.read_bytes()
    for broken in (whole.replace("é".encode(), b"\xff\xfe"), whole[:20] + b"\xff" + whole[21:]):
        path.write_bytes(broken)
        assert read_here(str(path), ["a"]) == [False]
        with pytest.raises(UserError, match="cannot be read"):
            counted(str(path), ["a"])


def people(rows: int = 20_000) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": pa.array(rng.integers(0, 120, rows), pa.int32(), mask=rng.random(rows) < 0.01),
            "ill": pa.array([f"disease {number}" for number in rng.integers(0, 50, rows)]),
        }
    )


def test_files_of_duckdb_and_polars(tmp_path: Path) -> None:
    table = people()
    path = str(tmp_path / "duckdb.parquet")
    rows = duckdb.from_arrow(table)
    for codec in ("uncompressed", "snappy", "zstd", "gzip"):
        rows.write_parquet(path, compression=codec, row_group_size=8000)
        assert counted(path, ["age", "ill"]) == expected_of(table)
        assert all(read_here(path, ["age", "ill"]))
    newer = f"COPY rows TO '{path}' (PARQUET_VERSION V2)"
    duckdb.sql(newer)
    assert counted(path, ["age", "ill"]) == expected_of(table)
    for compression in ("uncompressed", "snappy", "zstd", "gzip", "lz4"):
        path = str(tmp_path / "polars.parquet")
        pl.from_arrow(table).write_parquet(path, compression=compression, row_group_size=7000)
        assert counted(path, ["age", "ill"]) == expected_of(table)
        assert all(read_here(path, ["age", "ill"])) == (compression != "lz4")


DELTA = {"use_dictionary": False, "column_encoding": "DELTA_BINARY_PACKED"}
SPLIT = {"use_dictionary": False, "column_encoding": "BYTE_STREAM_SPLIT"}


@pytest.mark.parametrize(
    ("column", "layout"),
    [
        (pa.array([1, 2, 1] * 50), {"use_dictionary": False}),
        (pa.array([1, 2, 1] * 50), DELTA),
        (pa.array([1.0, 2.0, 1.0] * 50), SPLIT),
        (pa.array([True, False, None] * 50), {}),
        (pa.array(["a", "b", None] * 50, pa.binary()), {}),
        (pa.array([1, 2, None] * 50, pa.timestamp("us")), {}),
        (pa.array([1, 2, None] * 50, pa.timestamp("s")), {}),
        (pa.array([1, 2, None] * 50).cast(pa.decimal128(19, 0)), {}),
        (pa.array([1, 2, 1] * 50), {"compression": "lz4"}),
    ],
)  # fmt: skip
def test_what_is_left_to_pyarrow(column: pa.Array, layout: dict[str, Any], tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": column}), path, **layout)
    assert read_here(path, ["a"]) == [False]
    assert sorted(counted(path, ["a"]).values()) == sorted(Counter(column.to_pylist()).values())


def test_a_dictionary_that_was_given_up_in_the_middle(tmp_path: Path) -> None:
    """PyArrow writes plain values from there on, in the same column chunk."""
    table = pa.table({"a": [*range(5000)] * 2})
    path = str(tmp_path / "a.parquet")
    pq.write_table(table, path, dictionary_pagesize_limit=8000, data_page_size=1000)
    assert {"PLAIN", "RLE_DICTIONARY"} <= set(
        pq.read_metadata(path).row_group(0).column(0).encodings
    )
    assert read_here(path, ["a"]) == [False]
    assert set(counted(path, ["a"]).values()) == {2}


def test_several_files_some_of_them_unusual(tmp_path: Path) -> None:
    table = people(3000)
    for number, coded in enumerate([True, False, True, ["age"]]):
        part = table.slice(750 * number, 750)
        path = tmp_path / f"{number}.parquet"
        pq.write_table(part, path, use_dictionary=coded, row_group_size=200)
        assert all(read_here(str(path), ["age", "ill"])) == (coded is True)
    assert counted(str(tmp_path / "*.parquet"), ["age", "ill"]) == expected_of(table)


def test_weights_are_added_up_row_by_row(tmp_path: Path) -> None:
    """Two rows that are the same, weight included, weigh twice as much as one."""
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1, 1, 1, 2], "w": [2.0, 2.0, 3.0, 4.0]}), path)
    engine = connect(path, ["a", "w"], {"cells": [0]}, weight=1, engine="in-process")
    rows = engine.query(f"SELECT c0, n, w FROM {engine.counts['cells']} ORDER BY c0")
    engine.close()
    assert rows == [(1, 3, 7.0), (2, 1, 4.0)]


def test_only_large_row_groups_without_weights_are_counted_by_their_indices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def combinations(path: str, footer: Any, group: int, columns: Any) -> Any:
        asked.append(group)
        return pages.combinations(path, footer, group, columns)

    monkeypatch.setattr(in_process, "combinations", combinations)
    monkeypatch.setattr(in_process, "WORTH_INDICES", 4)
    path = str(tmp_path / "a.parquet")
    table = pa.table({"a": [1, 2, 1, 2, 1, 2, 2, 2, 2], "w": [1.0] * 9})
    pq.write_table(table, path, row_group_size=5)
    assert counted(path, ["a"]) == {(1,): 3, (2,): 6}
    assert asked == [0]  # the other has four rows
    connect(path, ["a", "w"], {"cells": [0]}, weight=1, engine="in-process").close()
    assert asked == [0]


def test_headers_are_found_up_to_the_one_that_is_cut() -> None:
    """A dictionary page of two bytes with an unknown text and number, and a page of nothing."""
    first = bytes([0x15, 4, 0x15, 4, 0x15, 4, 0x4C, 0x15, 6, 0x15, 0, 0x11, 0x18, 1, 65, 0, 0])
    second = bytes([0x15, 0, 0x15, 2, 0x15, 1, 0])  # less than nothing
    for data, expected in (
        (first + b"xy", 1),
        (first + b"x", 0),
        (first[:-1], 0),
        (first + b"xy" + first + b"xy", 2),
        (first + b"xy" + second, 1),
        (bytes([0x1C] * 20), 0),  # a structure in a structure, and so on
        (bytes([0x19, 0, 0]), 0),  # a list
        (bytes([5, 0, 0]), 0),  # a number far away
        (bytes([0x15, 255, 255, 255, 255, 255, 255]), 0),
        (bytes([0x18, 255, 255, 255, 127, 0]), 0),
        (b"", 0),
    ):
        headers = np.empty((5, FIELDS), np.int64)
        assert find_pages(np.frombuffer(data + b"", np.uint8).copy(), 100, headers) == expected
    found = headers[:1]
    find_pages(np.frombuffer(first + b"xy" + first + b"xy", np.uint8).copy(), 1, found)
    assert found[0, [1, 2, 3, 7, 17, 18]].tolist() == [2, 2, 2, -3, 3, 0]
