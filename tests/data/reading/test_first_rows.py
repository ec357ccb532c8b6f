"""The first rows of a file, shown as they are written, whatever its header is."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff.data.reading.door import read_raw
from indiff.data.reading.first_rows import first_rows
from indiff.data.reading.input_files import Reading
from indiff.errors import UserError

GERMAN = "Erhebung 2020;;\nName;Größe;geboren\nMüller;1,65;04.07.1976\nWeiß;1,70;05.07.1976\n"


def file(place: Path, data: bytes, name: str = "a.csv") -> Path:
    path = place / name
    path.write_bytes(data)
    return path


def test_rows_are_shown_with_their_numbers_and_how_they_were_told_apart(tmp_path: Path) -> None:
    found = first_rows(file(tmp_path, GERMAN.encode()))
    assert (found.encoding, found.separator, found.guessed) == ("utf-8", ";", False)
    assert found.rows[0] == (1, ("Erhebung 2020", "", ""))
    assert found.rows[2] == (3, ("Müller", "1,65", "04.07.1976"))


def test_text_of_windows_is_legible_and_said_to_be_a_guess(tmp_path: Path) -> None:
    path = file(tmp_path, GERMAN.encode("cp1252"))
    found = first_rows(path)
    assert (found.encoding, found.guessed) == ("cp1252", True)
    assert found.rows[1][1][1] == "Größe"
    assert not first_rows(path, Reading(encoding="cp1252")).guessed
    assert first_rows(path, Reading(encoding="utf-8")).guessed


def test_a_row_over_several_lines_has_the_number_of_its_first(tmp_path: Path) -> None:
    found = first_rows(file(tmp_path, b'a,b\n"x\ny",1\nz,2\n'))
    assert [number for number, _ in found.rows] == [1, 2, 4]


def test_long_files_are_looked_at_no_further_than_needed(tmp_path: Path) -> None:
    found = first_rows(file(tmp_path, b"a,b\n" + b"x" * 500 + b",1\n" * 100_000), count=5)
    assert len(found.rows) <= 5
    assert len(found.rows[1][1][0]) <= 81
    assert first_rows(file(tmp_path, b"\x89PNG\0\0" * 20_000)).rows


def test_a_workbook_tells_its_sheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["Made in 2020"])
    other = book.create_sheet("Data")
    other.append([])
    other.append(["Survey"])
    other.append(["age", "ill"])
    other.append([47, "yes"])
    book.save(tmp_path / "a.xlsx")
    found = first_rows(tmp_path / "a.xlsx")
    assert (found.sheets, found.sheet) == (("Read me", "Data"), "Read me")
    for sheet in ("Data", 1):
        found = first_rows(tmp_path / "a.xlsx", Reading(sheet=sheet))
        assert found.rows[-1] == (4, ("47", "yes"))
    told = Reading(sheet="Data", header_row=found.rows[-2][0])
    assert read_raw(tmp_path / "a.xlsx", told).frame.column_names == ["age", "ill"]


def test_the_separator_can_be_told(tmp_path: Path) -> None:
    path = file(tmp_path, b"a;b,c;d,e\n1;2,3;4,5\n")
    with pytest.raises(UserError, match="separator") as refused:
        read_raw(path)
    assert refused.value.field == "separator"
    assert read_raw(path, separator=";").frame.column_names == ["a", "b,c", "d,e"]
    assert read_raw(path, separator=",").frame.column_names == ["a;b", "c;d", "e"]
    assert first_rows(path, Reading(separator=";")).rows[0][1] == ("a", "b,c", "d,e")
    with pytest.raises(UserError, match="separator must be ',' or ';'"):
        Reading(separator=":")
    with pytest.raises(UserError, match="separator is for text files"):
        read_raw(tmp_path / "a.xlsx", separator=";")
