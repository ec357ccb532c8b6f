"""Files as people save them, made from a table that is known: what is read, what is asked about.

Each file has the truth, what to give where a program cannot know, and the word that an error or a
note must name to lead there.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import openpyxl

Row = tuple[Any, ...]
RECORDS = 40


@dataclass(frozen=True)
class Dirty:
    """One file: its bytes, what it means, and how it is read where that must be said."""

    name: str
    data: bytes
    truth: Mapping[str, Sequence[Any]]
    given: Mapping[str, Any] = field(default_factory=dict)
    """What must be given for it to be read right; nothing where it is read right as it is."""
    asks: str = ""
    """The word that the refusal, or the note, must have where something must be given."""
    is_noted: bool = False
    """Whether it is read, with a note, instead of being refused, where nothing is given."""


def people(least_day: int = 1, most_day: int = 28) -> dict[str, list[Any]]:
    """The truth: made by arithmetic, so that every run has the same."""
    days = most_day - least_day + 1
    return {
        "birth": [
            dt.date(1940 + (7 * i) % 60, 1 + (5 * i) % 12, least_day + (11 * i) % days)
            for i in range(RECORDS)
        ],
        "height": [round(1.5 + ((13 * i) % 45) / 100, 2) for i in range(RECORDS)],
        "pay": [1000 + (7919 * i) % 90_000 for i in range(RECORDS)],
        "city": [("Köln", "Zürich", "Paris", "Wien")[i % 4] for i in range(RECORDS)],
        "ill": [("no", "yes")[i % 3 == 0] for i in range(RECORDS)],
    }


def german(value: Any) -> str:
    """Write a value as a German spreadsheet does."""
    if isinstance(value, dt.date):
        return value.strftime("%d.%m.%Y")
    if isinstance(value, float):
        return f"{value:.2f}".replace(".", ",")
    return str(value)


def slashed(order: str) -> Callable[[Any], str]:
    """Write dates with slashes, day or month first."""
    return lambda value: value.strftime(order) if isinstance(value, dt.date) else str(value)


def grouped(sign: str, decimal: str = ".") -> Callable[[Any], str]:
    """Write whole numbers from 1,000 on with a sign between thousands."""

    def write(value: Any) -> str:
        if isinstance(value, int) and value >= 1000:
            return f"{value:,}".replace(",", sign)
        return f"{value:.2f}".replace(".", decimal) if isinstance(value, float) else str(value)

    return write


def text_of(
    table: Mapping[str, Sequence[Any]], write: Callable[[Any], str] = str, sign: str = ","
) -> str:
    """Write a table with a separator; a cell that contains it is quoted."""
    rows: list[Row] = [tuple(table), *zip(*table.values(), strict=True)]
    cells = [[write(value) for value in row] for row in rows]
    return "".join(
        sign.join(f'"{cell}"' if sign in cell else cell for cell in row) + "\r\n" for row in cells
    )


def book_of(rows: Sequence[Sequence[Any]], title: str = "people") -> bytes:
    """Make a workbook of one sheet beside an empty one."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    book.create_sheet("notes")
    place = io.BytesIO()
    book.save(place)
    return place.getvalue()


def dirty_files() -> list[Dirty]:
    """Make them all."""
    return [*_encodings(), *_dates(), *_numbers(), *_layouts(), *_gaps()]


def _encodings() -> list[Dirty]:
    truth = people()
    text = text_of(truth, german, ";")
    signs = {**truth, "city": ["Köln – „Süd“ €" for _ in truth["city"]]}
    windows = text_of(signs, german, ";").encode("cp1252")
    return [
        Dirty("bom.csv", text_of(truth).encode("utf-8-sig"), truth),
        Dirty("german.csv", text.encode(), truth),
        Dirty("windows.csv", windows, signs, {"encoding": "cp1252"}, "cp1252"),
        Dirty("not_latin.csv", windows, signs, {"encoding": "cp1252"}, "cp1252"),
        Dirty("utf16.tsv", text_of(truth, german, "\t").encode("utf-16"), truth),
    ]


def _dates() -> list[Dirty]:
    truth, early = people(), people(1, 12)
    short = text_of(truth, lambda v: v.strftime("%d.%m.%y") if isinstance(v, dt.date) else str(v))
    names = text_of(truth, slashed("%d-%b-%Y"))
    stamps = text_of(truth, slashed("%Y-%m-%d 00:00:00"))
    serial = {**truth, "birth": [(day - dt.date(1899, 12, 30)).days for day in truth["birth"]]}
    mixed = text_of(truth, slashed("%d/%m/%Y")).splitlines(keepends=True)
    mixed[-1] = text_of({**truth, "birth": [dt.date(1950, 7, 29)] * RECORDS}, slashed("%m/%d/%Y"))
    mixed[-1] = mixed[-1].splitlines(keepends=True)[-1]
    unclear = text_of(early, slashed("%d/%m/%Y")).encode()
    swapped = {**early, "birth": [d.replace(day=d.month, month=d.day) for d in early["birth"]]}
    return [
        Dirty("day_first.csv", text_of(truth, slashed("%d/%m/%Y")).encode(), truth),
        Dirty("month_first.csv", text_of(truth, slashed("%m/%d/%Y")).encode(), truth),
        Dirty("unclear.csv", unclear, early, {"date_format": "%d/%m/%Y"}, "%d/%m/%Y"),
        Dirty("other.csv", unclear, swapped, {"date_format": {"birth": "%m/%d/%Y"}}, "%m/%d/%Y"),
        Dirty("two_digits.csv", short.encode(), {}, {}, "'birth'"),
        Dirty("names.csv", names.encode(), truth, {"date_format": "%d-%b-%Y"}, "date_format", True),
        Dirty("stamps.csv", stamps.encode(), truth),
        Dirty("serials.csv", text_of(serial).encode(), truth, {"date_format": {"birth": "excel"}},
              "excel", True),
        Dirty("two_orders.csv", "".join(mixed).encode(), {}, {}, "'birth'", True),
    ]  # fmt: skip


def _numbers() -> list[Dirty]:
    truth = people()
    counts = {name: truth[name] for name in ("birth", "pay", "city", "ill")}
    big = {**counts, "pay": [pay * 1000 + 7 for pay in counts["pay"]]}
    return [
        Dirty("both.csv", text_of(truth, grouped(".", ","), ";").encode(), truth),
        Dirty("english.csv", text_of(truth, grouped(",")).encode(), truth),
        Dirty("blanks.csv", text_of(truth, grouped("\u00a0", ","), ";").encode(), truth),
        Dirty("swiss.csv", text_of(truth, grouped("'"), ";").encode(), truth),
        Dirty("points.csv", text_of(counts, grouped("."), ";").encode(), counts,
              {"decimal": ","}, "decimal"),
        Dirty("commas.csv", text_of(counts, grouped(",")).encode(), counts,
              {"decimal": "."}, "decimal"),
        Dirty("millions.csv", text_of(big, grouped("."), ";").encode(), big),
    ]  # fmt: skip


def _layouts() -> list[Dirty]:
    truth = people()
    text = text_of(truth, sign=";")
    title = "Patients of ward 7\r\n\r\n" + text
    padded = "Patients of ward 7;;;;\r\n;;;;\r\n" + text
    pair = {name: truth[name] for name in ("pay", "ill")}
    sheet: list[Sequence[Any]] = [tuple(truth), *zip(*truth.values(), strict=True)]
    titled = [["Patients of ward 7"], [], *sheet]
    return [
        Dirty("title.csv", title.encode(), truth, {"header_row": 3}, "header_row"),
        Dirty("padded.csv", padded.encode(), truth, {"header_row": 3}, "header_row"),
        Dirty("sep.csv", ("sep=;\r\n" + text).encode(), truth, {"header_row": 2}, "header_row"),
        Dirty("pair.csv", ("Ward,2024\r\n" + text_of(pair)).encode(), pair,
              {"header_row": 2}, "header_row", True),
        Dirty("title.xlsx", book_of(titled), truth, {"header_row": 3}, "header_row"),
        Dirty("sheets.xlsx", book_of(sheet), truth),
        Dirty("pipes.txt", text_of(truth, sign="|").replace("\r\n", "\r\n\r\n").encode(), truth),
    ]  # fmt: skip


def _gaps() -> list[Dirty]:
    truth = people()
    gaps = {**truth, "height": [None if i % 5 == 0 else h for i, h in enumerate(truth["height"])]}
    made = []
    for number, token in enumerate(("?", "NA", "-", "k.A.")):
        text = text_of(gaps, lambda value, token=token: token if value is None else str(value))  # type: ignore[misc]
        made.append(
            Dirty(f"gaps{number}.csv", text.encode(), gaps, {"missing_tokens": ["", token]},
                  repr(token), True)
        )  # fmt: skip
    return made
