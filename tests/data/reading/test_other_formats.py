"""Workbooks: typed cells, one sheet, and nothing lost between rows."""

from __future__ import annotations

import datetime as dt
import struct
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from indiff.data.reading.door import read_raw
from indiff.errors import UserError


def book(
    folder: Path, rows: list[list[Any]], name: str = "t.xlsx", **more: list[list[Any]]
) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "people"
    for row in rows:
        sheet.append(row)
    for title, others in more.items():
        sheet = workbook.create_sheet(title)
        for row in others:
            sheet.append(row)
    workbook.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def error_of(path: Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_raw(path, **options)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def test_types(tmp_path: Path) -> None:
    day = dt.date(2020, 2, 29)
    raw = read_raw(
        book(
            tmp_path,
            [
                ["n", "x", "word", "yes", "day", "zip", "mixed", "stamp"],
                [1, 0.5, "a", True, day, "01234", 5, dt.datetime(2020, 2, 29)],
                [None, 2, "", None, None, None, "high", None],
                [-3, None, " b ", False, day, "9", "5", None],
            ],
        )
    )
    assert raw.frame.to_pydict() == {
        "n": [1, None, -3],
        "x": [0.5, 2.0, None],
        "word": ["a", None, " b "],
        "yes": [True, None, False],
        "day": [day, None, day],
        "zip": ["01234", None, "9"],
        "mixed": ["5", "high", "5"],
        "stamp": [day, None, None],
    }
    kinds = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.string()]
    assert raw.frame.schema.types == [*kinds, pa.string(), pa.date32()]
    assert raw.notes == ("column 'mixed' mixes integer and text: read as text",)
    assert raw.backend == "pyarrow"


def test_cells_that_hold_no_value_are_said(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["unused"])
    sheet = workbook.create_sheet("people")
    sheet.append(["age", "ill"])
    for row in range(2, 20_000):  # more than one block of the sheet's text
        sheet.append([row, "flu"])
    for place in ("B2", "B15000", "B19999"):
        sheet[place].value, sheet[place].data_type = "#N/A", "e"
    sheet["A3"], sheet["A4"] = "=1/0", "=A2+1"  # never solved: no spreadsheet program saved it
    workbook.save(tmp_path / "w.xlsx")
    raw = read_raw(tmp_path / "w.xlsx", sheet="people")
    assert raw.frame["ill"].null_count == 3
    assert raw.frame["age"].null_count == 2
    assert raw.notes == (
        "cells that hold an error such as #N/A (3) are missing values",
        "formulas whose result is not stored (2) are missing values: open the workbook in a "
        "spreadsheet program and save it",
    )
    text = 'a t="e" b</f>'
    sheet = openpyxl.Workbook()
    sheet.active.append(["a", "b"])
    sheet.active.append([text, 1])
    sheet.save(tmp_path / "w.xlsx")
    assert read_raw(tmp_path / "w.xlsx").notes == ()


def test_where_cells_without_a_value_are_not_counted_that_is_said(tmp_path: Path) -> None:
    names = "urn:oasis:names:tc:opendocument:xmlns"
    rows = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string">'
            f"<text:p>{text}</text:p></table:table-cell>"
            for text in row
        )
        + "</table:table-row>"
        for row in (("age", "ill"), ("young", "flu"), ("old", "flu"))
    )
    content = (
        f'<office:document-content xmlns:office="{names}:office:1.0" '
        f'xmlns:table="{names}:table:1.0" xmlns:text="{names}:text:1.0"><office:body>'
        f'<office:spreadsheet><table:table table:name="people">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "w.ods", "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr("META-INF/manifest.xml", "<manifest/>")
        parts.writestr("content.xml", content)
    raw = read_raw(tmp_path / "w.ods")
    assert raw.frame["age"].to_pylist() == ["young", "old"]
    assert "in this kind of workbook they are not counted" in raw.notes[0]


def test_missing_tokens(tmp_path: Path) -> None:
    path = book(tmp_path, [["a", "b"], [-9, "?"], [5, "x"]])
    frame = read_raw(path, missing_tokens=["-9", "?"]).frame
    assert frame.to_pydict() == {"a": [None, 5], "b": [None, "x"]}


def test_blank_rows(tmp_path: Path) -> None:
    raw = read_raw(book(tmp_path, [["a", "b"], [1, 2], [None, None], [3, None], [None, None]]))
    assert raw.frame.to_pydict() == {"a": [1, 3], "b": [2, None]}
    assert raw.notes == ("blank rows (1) hold no record: left out",)
    raw = read_raw(book(tmp_path, [["a"], [1], [None], [3]]))
    assert raw.frame.to_pydict() == {"a": [1, None, 3]}


def test_sheets(tmp_path: Path) -> None:
    path = book(tmp_path, [["a"], [1]], extra=[["b"], [2]])
    raw = read_raw(path)
    assert raw.frame.column_names == ["a"]
    assert raw.notes == ("sheet 'people' was read, not 'extra'",)
    for sheet in ("extra", 1):
        raw = read_raw(path, sheet=sheet)
        assert (raw.frame.column_names, raw.notes) == (["b"], ())
    assert "no sheet 'extre': did you mean 'extra'? Known: people, extra." in error_of(
        path, sheet="extre"
    )
    for position in (2, -1):
        assert f"a position from 0 to 1; got {position} for " in error_of(path, sheet=position)


def test_bad_workbooks(tmp_path: Path) -> None:
    assert "sheet 'people' of " in error_of(book(tmp_path, []))
    assert "has only a header: add rows." in error_of(book(tmp_path, [["a", "b"]]))
    two = book(tmp_path, [["made in 2024"]], data=[["a", "b"], [1, 2]], more=[])
    others = "To read another sheet give sheet='data' or sheet='more'."
    assert error_of(two).endswith(f"add rows. {others}")
    assert "another sheet" not in error_of(book(tmp_path, [["a", "b"]]))
    assert "has two columns called 'a'" in error_of(book(tmp_path, [["a", "a"], [1, 2]]))
    assert "every column needs a name; column 2 of sheet 'people'" in error_of(
        book(tmp_path, [["a", None], [1, 2]])
    )
    assert "column 'a' has a time in record 0" in error_of(book(tmp_path, [["a"], [dt.time(5)]]))
    assert "a date has no time of day; column 'a' has 2020-01-01 05:00:00" in error_of(
        book(tmp_path, [["a"], [dt.datetime(2020, 1, 1, 5)]])
    )
    for name in ("t.xlsx", "t.xls", "t.ods"):
        path = tmp_path / name
        for data in (b"", b"PK\x03\x04garbage", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0" + bytes(600)):
            path.write_bytes(data)
            assert f"a workbook must be readable; {str(path)!r} is not (" in error_of(path)


def test_numbers_name_columns_as_they_are_shown(tmp_path: Path) -> None:
    assert read_raw(book(tmp_path, [[2020, 2021], [1, 2]])).frame.column_names == ["2020", "2021"]


@pytest.mark.parametrize(("offset", "text"), [(10**8, "out of bounds"), (-1, "offset")])
def test_an_arrow_file_whose_offsets_lead_elsewhere_is_refused(
    tmp_path: Path, offset: int, text: str
) -> None:
    """Arrow reads such a file; whoever looks at its texts reads memory that is not theirs."""
    frame = pa.table({"ill": ["x", "yy", "zzz"], "age": [1, 2, 3]})
    kept = pa.BufferOutputStream()
    with pa.ipc.new_file(kept, frame.schema) as writer:
        writer.write(frame)
    raw, offsets = kept.getvalue().to_pybytes(), struct.pack("<4i", 0, 1, 3, 6)
    assert raw.count(offsets) == 1
    path = tmp_path / "t.feather"
    path.write_bytes(raw)
    assert read_raw(path).frame["ill"].to_pylist() == ["x", "yy", "zzz"]
    path.write_bytes(raw.replace(offsets, struct.pack("<4i", 0, offset, 3, 6)))
    with pytest.raises(UserError, match=f"an Arrow file must be readable; .*{text}"):
        read_raw(path)
