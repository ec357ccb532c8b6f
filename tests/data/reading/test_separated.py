"""Separated text: the same values that Python's csv module reads, or one sentence why not."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.data.reading import input_files, separated
from indiff.data.reading.door import read_raw
from indiff.errors import UserError
from tests.data.reading.helpers import columns_of, error_of, raw_of


def read_text(data: bytes) -> pa.Table:
    return separated.SeparatedText(io.BytesIO(data), where="the text").table()


# --- dialects


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_separators_and_line_endings(tmp_path: Path, separator: str, end: str, last: bool) -> None:
    lines = ["age;sex", '31;"M;x"', '42;"a\nb\r\nc"""']
    text = end.join(lines).replace(";", separator) + (end if last else "")
    expected = {"age": [31, 42], "sex": [f"M{separator}x", 'a\nb\r\nc"']}
    assert columns_of(tmp_path, text) == expected


def test_line_endings_may_be_mixed(tmp_path: Path) -> None:
    text = 'a,b\r\n1,x\n2,"y\r"\r3,z\r\n'
    assert columns_of(tmp_path, text) == {"a": [1, 2, 3], "b": ["x", "y\r", "z"]}


def test_line_feed_inside_the_header_of_a_crlf_file_loses_no_row(tmp_path: Path) -> None:
    assert columns_of(tmp_path, '"a\nx",b\r\n1,2\r\n') == {"a\nx": [1], "b": [2]}


def test_quoted_separators_in_the_header_do_not_count(tmp_path: Path) -> None:
    text = '"income, gross, net";sex\n5;M\n'
    raw = raw_of(tmp_path, text)
    assert raw.frame.column_names == ["income, gross, net", "sex"]
    assert raw.notes == ("fields are separated by ';', as the header line shows",)


def test_a_header_with_two_possible_separators_is_an_error(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a;b,c\n1;2\n")
    assert "as many ',' as ';': put quotes around the names" in message


@pytest.mark.parametrize("name", ["t.txt", "t.dat", "t.TSV", "d[1]*.csv", "it's ü.csv"])
def test_names_of_text_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "d1x.csv").write_text("never,read\n1,2\n")
    assert columns_of(tmp_path, "a\tb\n1\t2\n", name) == {"a": [1], "b": [2]}


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2020"
    folder.mkdir()
    assert columns_of(folder, "a\n1\n") == {"a": [1]}
    pq.write_table(pa.table({"a": [1]}), folder / "t.parquet")
    assert read_raw(folder / "t.parquet").frame.column_names == ["a"]


def test_path_as_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    raw = read_raw(str(tmp_path / "t.csv"))
    assert raw.frame.to_pydict() == {"a": [1]}
    assert raw.backend == "pyarrow"


def test_blank_lines_hold_no_record_in_a_wide_table(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "a,b\n1,2\n\n3,4\n\n\n")
    assert raw.frame.to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert raw.notes == ("blank lines (3, the first is line 3) hold no record: left out",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n1\n\n3\n", [1, None, 3]),
        ("a\n1\n\n\n", [1, None, None]),
        ("a\r\n1\r\n\r\n", [1, None]),
        ('a\n1\n""', [1, None]),
        ("a\n\n1", [None, 1]),
    ],
)
def test_blank_lines_are_missing_values_in_a_table_of_one_column(
    tmp_path: Path, text: str, expected: list[int | None]
) -> None:
    raw = raw_of(tmp_path, text)
    assert raw.frame.to_pydict() == {"a": expected}
    assert ("blank lines" in " ".join(raw.notes)) == ('"' not in text)


def test_a_last_column_of_missing_values_is_kept(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "a,b\n1,\n2,\n")
    assert raw.frame.to_pydict() == {"a": [1, 2], "b": [None, None]}
    assert raw.notes == ("column 'b' has no values at all: read as text",)


def test_odd_unicode_survives(tmp_path: Path) -> None:
    words = [
        "e\u0301",
        "é",
        "\u2028",
        "\x85",
        "\x0b\x0c\x1c",
        "\U0001f468\u200d\U0001f469",
        "\ufeff",
        "א",
    ]
    text = "\ufeffword,n\n" + "".join(f"{word},1\n" for word in words)
    assert columns_of(tmp_path, text)["word"] == words


# --- encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings(tmp_path: Path, encoding: str) -> None:
    data = "naïve,b\né,2\n".encode(encoding)
    assert columns_of(tmp_path, data) == {"naïve": ["é"], "b": [2]}


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_both_byte_orders(tmp_path: Path, mark: bytes) -> None:
    data = mark + "a\né\n".encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be")
    assert columns_of(tmp_path, data) == {"a": ["é"]}
    assert columns_of(tmp_path, data, encoding="utf-16") == {"a": ["é"]}


def test_given_encoding(tmp_path: Path) -> None:
    data = "naïve;b\né;2\n".encode("latin-1")
    assert columns_of(tmp_path, data, encoding="latin-1") == {"naïve": ["é"], "b": [2]}
    assert columns_of(tmp_path, "a\né\n".encode("utf-16-le"), encoding="utf-16-le") == {"a": ["é"]}
    assert "byte order mark; " in error_of(tmp_path, "a\n1\n", encoding="UTF-16")
    assert columns_of(tmp_path, "a\né\n", encoding="UTF8") == {"a": ["é"]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_wrong_encoding_names_the_byte(tmp_path: Path) -> None:
    message = error_of(tmp_path, "a,b\nxé,2\n".encode("latin-1"))
    assert "has the byte 0xe9 at byte 5," in message
    assert "give encoding='cp1252'" in message
    assert "at byte 6," in error_of(tmp_path, b"\xff\xfea\x00\n\x00\x00\xd8x\x00")
    assert (
        "0x81 at byte 2, which stands for no letter there: give the encoding it was written in"
        in error_of(tmp_path, b"a\n\x81\n", encoding="cp1252")
    )
    assert "has the byte 0xe9 at byte 5," in error_of(tmp_path, b"\xef\xbb\xbfa\n\xe9\n")


@pytest.mark.parametrize("encoding", ["latin-7x", "rot13", "undefined", "a\0b", 7])
def test_unknown_encoding(tmp_path: Path, encoding: Any) -> None:
    assert "encoding must be the name of a text encoding; got" in error_of(
        tmp_path, "a\n1\n", encoding=encoding
    )


def test_encoding_that_contradicts_the_mark(tmp_path: Path) -> None:
    data = "a\né\n".encode("utf-8-sig")
    message = error_of(tmp_path, data, encoding="latin-1")
    assert "marked as utf-8, but encoding='latin-1' was given: leave encoding out." in message


# --- bad input


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "'t.csv' is empty: check the file."),
        (b"\n \r\n", "'t.csv' is empty: check the file."),
        (b"\xef\xbb\xbf", "'t.csv' is empty: check the file."),
        (b"a,b\n", "needs at least one record; 't.csv' has only a header: add rows."),
        (b"a,b", "needs at least one record; 't.csv' has only a header: add rows."),
        (b"a,b\n\n\n", "needs at least one record; 't.csv' has only a header: add rows."),
        (b"\na,b\n1,2\n", "the first line must name the columns; line 1 of 't.csv' is blank"),
        (b"a,b,a\n1,2,3\n", "has two columns called 'a' (columns 1 and 3): rename one of them."),
        (b"a, a \n1,2\n", "has two columns called 'a' (columns 1 and 2)"),
        (b",a,b\n0,1,2\n", "column 1 of 't.csv' has none: name it, or leave out the column of row"),
        (b"a, ,b\n0,1,2\n", "column 2 of 't.csv' has none"),
        (b"a,b\n1,2\n3\n", "has 1 on line 3 where the header has 2 (separator ',')"),
        (b"a,b\n1,2\n3,4,5\n", "has 3 on line 3 where the header has 2 (separator ',')"),
        (b"a,b\n1,2\n3,4,\n", "has 3 on line 3 where the header has 2"),
        (b'a,b\n"1\n\n",2\r\n3\n', "has 1 on line 5 where the header has 2"),
        (b'a,b\n1,2\n""\n', "has 1 on line 3 where the header has 2"),
        (b"a,b\n1,2\n  \n", "has 1 on line 3 where the header has 2"),
        (b"a\n1\n2,3\n", "has 2 on line 3 where the header has 1"),
        (b"a,b\n1,x\0y\n", "text has no NUL bytes; 't.csv' has one at byte 7 (line 2)"),
        ("a,b\n1,é\n".encode("utf-16-le"), "name it, for example encoding='utf-16-le'."),
        (
            b'a,b\n1,2\n3,"x\n4,y\n',
            "a quote that is opened must be closed; 't.csv' has one on line 3",
        ),
        (b'a,b\n1,2\n"', "a quote that is opened must be closed; 't.csv' has one on line 3"),
        (b'a,"b\n1,2\n', "a quote that is opened must be closed; 't.csv' has one in the header"),
        (b'a,b\n1,5" pipe\n', 'has one on line 2 that does neither: write "5"" pipe" for 5" pipe'),
        (b'a,b\n1, "x"\n', "has one on line 2 that does neither"),
        (b'a,b\n1,"x" \n', "has one on line 2 that does neither"),
        (b'a,b\n1,"x"y"\n', "has one on line 2 that does neither"),
        (b'a,b\n1,a""b\n', "has one on line 2 that does neither"),
        (
            b'a,b\n1,"x\n2,y\n3,"z"\n',
            "has one on line 4 that does neither (the field begins on line 2)",
        ),
        (b'h"a"h,b\n1,2\n', "has one on line 1 that does neither"),
        (
            b"a,b\n1," + b"x" * 10_000_000 + b"\n",
            "at most 1 MB (1,000,000 bytes); 't.csv' has a larger one",
        ),
        (b"a,b\n1,2\n3," + b"x" * 1_000_001, "that begins on line 3: shorten it, or close a quote"),
        (b'a,b\n1,"' + b"x,\n" * 4_000_000, "that begins on line 2: shorten it, or close a quote"),
        (
            b"PK\x03\x04\x14\x00",
            "'t.csv' is a zip archive or Excel workbook: name it .xlsx or unpack",
        ),
        (b"PAR1\x15\x04", "'t.csv' is a Parquet file: name it .parquet."),
        (b"\x1f\x8b\x08", "'t.csv' is compressed by gzip: unpack it."),
        (
            b"\x89PNG\r\n\x1a\n\x00\x00",
            "text has no NUL bytes; 't.csv' has one at byte 8 (line 3)",
        ),
        (b"\x7fELF\x02\x01\x00", "text has no NUL bytes; 't.csv' has one at byte 6"),
        (b"a" * 200_000 + b",b\n1,2\n", "the first line must name the columns; that of 't.csv'"),
    ],
)
def test_bad_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in error_of(Path(), data)


def test_a_cell_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    cells = columns_of(tmp_path, "a,b\n" + "1," + "x" * 1_000_000 + "\n2,y\n")["b"]
    assert [len(cell) for cell in cells] == [1_000_000, 1]


def test_a_record_longer_than_a_block_is_read(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(12)]
    rows = [["x" * 900_000] * 12, ["y\n" * 300_000] * 12, ["z"] * 12]
    frame = raw_of(tmp_path, _written(names, rows)).frame
    assert [tuple(row.values()) for row in frame.to_pylist()] == [tuple(row) for row in rows]


# --- against Python's csv module


def _written(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    separator: str = ",",
    end: str = "\r\n",
    quoting: Any = csv.QUOTE_MINIMAL,
) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue().encode()


CELL = st.text(
    st.one_of(
        st.sampled_from("ab01 ,;|\t\"\n\r'\\#é-."),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    max_size=5,
)
# Python's writer quotes a bare CR only where the line end contains one, or where it quotes all.
DIALECT = st.one_of(
    st.tuples(st.sampled_from(",;\t|"), st.just("\r\n"), st.just(csv.QUOTE_MINIMAL)),
    st.tuples(
        st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r"]), st.just(csv.QUOTE_ALL)
    ),
)


@given(st.data(), DIALECT, st.integers(1, 4), st.integers(1, 5))
def test_what_csv_writes_is_read_back(
    data: st.DataObject, dialect: tuple[str, str, Any], width: int, height: int
) -> None:
    separator, end, quoting = dialect
    separator = separator if width > 1 else ","  # a header of one name shows no separator
    names = [f"column{i}" for i in range(width)]
    rows = [[data.draw(CELL) for _ in names] for _ in range(height)]
    written = _written(names, rows, separator, end, quoting)
    if written.endswith(end.encode()) and data.draw(st.booleans()) and rows[-1] != [""]:
        written = written[: -len(end)]
    cells = read_text(written)
    assert [list(row.values()) for row in cells.to_pylist()] == rows


@given(st.data(), st.sampled_from([5, 16, 64]), st.sampled_from([64, 300]))
def test_small_windows_and_blocks_change_nothing(
    data: st.DataObject, window: int, block: int
) -> None:
    names = ["a", "b"][: data.draw(st.integers(1, 2))]
    rows = [[data.draw(CELL) for _ in names] for _ in range(data.draw(st.integers(1, 12)))]
    written = _written(names, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_files, "STEP", window)
        patch.setattr(separated, "BLOCK", block)
        cells = read_text(written)
    assert [list(row.values()) for row in cells.to_pylist()] == rows


@given(st.text('a,"\n\r', max_size=12))
def test_arbitrary_text_is_read_as_python_reads_it_or_refused(text: str) -> None:
    """Python's reader in strict mode accepts more; whatever we accept, it must read the same."""
    data = ("h,i\n" + text).encode()
    try:
        cells = read_text(data)
    except UserError:
        return
    reader = csv.reader(io.StringIO("h,i\n" + text, newline=""), strict=True)
    expected = [row for row in reader if row][1:]
    assert [list(row.values()) for row in cells.to_pylist()] == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_hundred_thousand_rows(tmp_path: Path, end: str) -> None:
    chance = random.Random(7)
    words = [
        "plain",
        "a,b",
        'say "x"',
        "two\nlines",
        "CR\r\nLF",
        "",
        " blank ",
        "naïve 🙂",
        "-",
        "''",
    ]
    names = ["n", "x", "day", "zip", "word", "other"]
    numbers = [chance.randint(-(10**12), 10**12) for _ in range(100_000)]
    floats = [chance.uniform(-1e3, 1e3) for _ in range(100_000)]
    days = [dt.date(1950, 1, 1) + dt.timedelta(chance.randrange(25_000)) for _ in range(100_000)]
    zips = [f"{chance.randrange(100_000):05d}" for _ in range(100_000)]
    first = chance.choices(words, k=100_000)
    other = chance.choices(words, k=100_000)
    rows = list(
        zip(map(str, numbers), map(repr, floats), map(str, days), zips, first, other, strict=True)
    )
    written = _written(names, rows, end=end)
    parsed = list(csv.reader(io.StringIO(written.decode(), newline="")))[1:]
    frame = raw_of(tmp_path, written).frame
    assert frame.schema.types == [pa.int64(), pa.float64(), pa.date32(), *[pa.string()] * 3]
    assert frame["n"].to_pylist() == numbers == [int(row[0]) for row in parsed]
    assert frame["x"].to_pylist() == floats
    assert frame["day"].to_pylist() == days
    assert frame["zip"].to_pylist() == zips
    assert frame["word"].to_pylist() == [row[4] or None for row in parsed]
    assert frame["other"].to_pylist() == [row[5] or None for row in parsed]
