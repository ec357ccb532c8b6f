"""Paths: which file, in which format, and what to do when it cannot be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.data.reading.door import read_raw
from indiff.errors import UserError


def error_of(path: Any, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_raw(path, **options)
    message = str(caught.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    return message


def test_parquet(tmp_path: Path) -> None:
    columns = {"a": [1, None], "b": [float("nan"), 0.5], "c": ["", "x"]}
    for name in ("t.parquet", "t.PQ"):
        pq.write_table(pa.table(columns), tmp_path / name)
        raw = read_raw(tmp_path / name)
        assert raw.frame.to_pydict() == {"a": [1, None], "b": [None, 0.5], "c": [None, "x"]}
        assert (raw.backend, raw.notes) == ("pyarrow", ())


def test_parquet_from_pandas(tmp_path: Path) -> None:
    sizes = pd.Categorical(["L", "S"] * 500, ["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"size": sizes}, index=[f"row {i}" for i in range(1000)])
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    raw = read_raw(tmp_path / "t.parquet")
    assert raw.frame.to_pydict() == {"size": ["L", "S"] * 500}
    assert raw.orders == {"size": ("S", "M", "L")}
    assert raw.notes == ("column '__index_level_0__' is a pandas row index: left out",)


def test_corrupt_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(1000))}), path)
    whole = path.read_bytes()
    middle = whole[:60] + bytes(60) + whole[120:]
    for data in (whole[:-10], b"a,b\n1,2\n", whole[:100], b"PAR1" + bytes(40) + b"PAR1", middle):
        path.write_bytes(data)
        assert f"a Parquet file must be readable; {str(path)!r} is not (" in error_of(path)
    path.write_bytes(b"")
    assert "is empty: check the file." in error_of(path)
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    assert "a table needs at least one record" in error_of(path)


def test_missing_file_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("a\n1\n")
    message = error_of(tmp_path / "patient.csv")
    assert message == (
        f"a file must exist; there is no {str(tmp_path / 'patient.csv')!r}: did you mean "
        "'patients.csv'?"
    )
    assert error_of(tmp_path / "zzz").endswith("zzz': check the path.")
    assert f"there is no folder {str(tmp_path / 'no')!r}" in error_of(tmp_path / "no" / "a.csv")


def test_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv' has none: name a file." in error_of(tmp_path / "folder.csv")
    (tmp_path / "null.csv").symlink_to("/dev/null")
    assert "is a device or pipe: save it as a file." in error_of(tmp_path / "null.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert "loop.csv'" in error_of(tmp_path / "loop.csv")
    # From Python 3.14 on, a name that is too long is like one that is not there.
    assert re.search(
        "a file must (be readable; |exist; there is no )'x", error_of("x" * 5000 + ".csv")
    )
    assert "a file must exist; there is no 'a\\x00.csv': check the path." in error_of("a\0.csv")
    assert "got the address 'https://example.org/a.csv': download it first." in error_of(
        "https://example.org/a.csv"
    )
    assert "got an empty name. Name the file." in error_of("")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx"])
def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")

    def refuse(self: Path, *mode: str) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    message = error_of(tmp_path / name)
    assert message == (
        f"a file must be readable; {str(tmp_path / name)!r} is not (Permission denied): check its "
        "name and permissions."
    )


@pytest.mark.parametrize("name", ["t.json", "t", "t.json.gz", ".csv"])
def test_unknown_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    assert "a file's ending must tell its format (.csv, .tsv, " in error_of(tmp_path / name)


def test_options_that_do_not_apply(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    assert "sheet is for workbooks; got sheet='x' with " in error_of(tmp_path / "t.csv", sheet="x")
    assert "encoding is for text files; got encoding='latin-1' with " in error_of(
        tmp_path / "t.parquet", encoding="latin-1"
    )


def test_real_data(needs_data: Path, tmp_path: Path) -> None:
    """Adult has blanks after its commas, no header, and a blank last line."""
    body = (needs_data / "adult.data").read_bytes()
    names = [f"c{i}" for i in range(15)]
    (tmp_path / "adult.csv").write_bytes(",".join(names).encode() + b"\n" + body)
    raw = read_raw(tmp_path / "adult.csv", missing_tokens=["?"])
    assert raw.frame.num_rows == len([line for line in body.splitlines() if line])
    assert [str(raw.frame[name].type) for name in names[:3]] == ["int64", "string", "int64"]
    assert raw.frame["c1"].null_count == body.count(b", ?, ", 0) - sum(
        line.split(b", ")[i] == b"?" for line in body.splitlines() if line for i in range(2, 15)
    )
