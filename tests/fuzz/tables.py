"""Writes the people in every format, changed a little, wildly or not at all."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

from tests.fuzz.strange import TEXTS, changed, near, separated, strength
from tests.fuzz.valid import (
    NAMES,
    RECORDS,
    arrow_columns,
    arrow_table,
    json_lines,
    people,
    workbook,
)


def csv_table(dice: random.Random, folder: Path) -> str:
    """Write separated text, sometimes packed."""
    text, name = separated(dice, people()), "table.csv"
    if dice.random() < 0.1:
        text, name = gzip.compress(text), "table.csv.gz"
        text = changed(dice, text) if strength(dice) == "wildly" else text
    (folder / name).write_bytes(text)
    return name


def json_table(dice: random.Random, folder: Path) -> str:
    """Write lines of JSON."""
    match strength(dice):
        case "nothing":
            made = json_lines().encode()
        case "wildly":
            made = changed(dice, json_lines().encode())
        case _:
            lines: list[Any] = [json.loads(line) for line in json_lines().splitlines()]
            for line in dice.sample(range(RECORDS), dice.choice((1, 1, 2, RECORDS))):
                name = dice.choice(NAMES)
                lines[line][name] = dice.choice(
                    (None, True, 1, -0.0, 1e300, 10**30, dice.choice(TEXTS), [], {}, [[1]])
                )  # fmt: skip
            if dice.random() < 0.2:
                lines[dice.randrange(RECORDS)] = dice.choice(([], 1, "x", None, {}, {"new": 1}))
            made = "\n".join(map(json.dumps, lines)).encode()
    (folder / "table.jsonl").write_bytes(made)
    return "table.jsonl"


def typed_table(dice: random.Random) -> Any:
    """Return the people, one column or several of any of Arrow's types."""
    import pyarrow as pa

    made = arrow_table()
    if strength(dice) == "nothing":
        return made
    if dice.random() < 0.9:
        column = dice.choice(("age", "age", "town", "ill", "wage"))
        made = arrow_table(dice.choice(arrow_columns(RECORDS, dice))(), column)
    match dice.randrange(12):
        case 0:
            made = made.slice(0, dice.choice((0, 1, 2, 5)))
        case 1:
            made = pa.concat_tables([made.slice(0, 7), made.slice(7, 0), made.slice(7)])
        case 2:
            names = list(made.column_names)
            names[dice.randrange(len(names))] = dice.choice((*NAMES, *TEXTS[:30]))
            made = made.rename_columns(names)
        case 3:
            made = made.replace_schema_metadata({dice.choice((b"pandas", b"x")): b"{"})
        case 4:
            place = dice.randrange(made.num_columns)
            some = pa.nulls(RECORDS, made.column(place).type)
            made = made.set_column(place, made.column_names[place], some)
        case 5:
            made = made.drop_columns(dice.choice(NAMES))
        case 6:
            made = made.append_column("more", dice.choice(arrow_columns(RECORDS, dice))())
        case _:
            pass
    return made


def parquet_table(dice: random.Random, folder: Path) -> str:
    """Write Parquet, in any of its layouts."""
    import pyarrow.parquet as pq

    path = folder / "table.parquet"
    layout = {
        "compression": dice.choice(("snappy", "none", "gzip", "zstd")),
        "version": dice.choice(("1.0", "2.4", "2.6")), "use_dictionary": dice.random() < 0.5,
        "data_page_version": dice.choice(("1.0", "2.0")),
        "row_group_size": dice.choice((1, 7, 1000)),
    }  # fmt: skip
    try:
        pq.write_table(typed_table(dice), path, **layout)
    except Exception:  # noqa: BLE001 - a type that the format lacks
        pq.write_table(arrow_table(), path)
    if strength(dice) == "wildly":
        path.write_bytes(changed(dice, path.read_bytes()))
    return path.name


def feather_table(dice: random.Random, folder: Path) -> str:
    """Write Feather or an Arrow stream."""
    import pyarrow as pa

    path = folder / dice.choice(("table.feather", "table.arrow"))
    opened = dice.choice((pa.ipc.new_file, pa.ipc.new_file, pa.ipc.new_stream))
    pack = pa.ipc.IpcWriteOptions(compression=dice.choice((None, "lz4", "zstd")))

    def write(made: Any) -> None:
        with opened(path, made.schema, options=pack) as writer:
            writer.write_table(made, max_chunksize=dice.choice((1, 1000)))

    try:
        write(typed_table(dice))
    except Exception:  # noqa: BLE001 - a type that the format lacks
        write(arrow_table())
    if strength(dice) == "wildly":
        path.write_bytes(changed(dice, path.read_bytes()))
    return path.name


def excel_table(dice: random.Random, folder: Path) -> str:
    """Write a workbook, its cells, its sheets or its inner files changed."""
    book, path = workbook(), folder / "table.xlsx"
    sheet, rows = book.active, people()
    how = strength(dice)
    for _ in range(dice.choice((1, 1, 2)) if how == "a little" else 0):
        row, column = dice.randrange(1, RECORDS + 2), dice.randrange(1, 8)
        match dice.randrange(12):
            case 0:
                place = (dice.choice((50, 1_048_576)), dice.choice((9, 300, 16_384)))
                sheet.cell(*place, dice.choice(("x", 1, None, True, 1e300)))
            case 1:
                sheet.merge_cells(start_row=row, end_row=row + 1, start_column=1, end_column=column)
            case 2 if sheet.max_row < 100:
                sheet.insert_rows(1, dice.choice((1, 3)))
                sheet.cell(1, 1, "A title")
            case 3:
                book.create_sheet("Other", dice.choice((0, 1))).append(["a", "b"])
            case 4 if sheet.max_row < 100:  # openpyxl would make every cell up to a stray one
                sheet.delete_rows(row, dice.choice((1, RECORDS)))
            case 5:
                sheet.cell(row, column).number_format = dice.choice(("0%", "yyyy", "[h]:mm", "@"))
            case 6 if sheet.max_row < 100:
                sheet.insert_cols(column)
            case 7:
                sheet.row_dimensions[row].hidden = True
            case _:
                other = rows[row - 1][column - 1]
                strange = (
                    None, True, 0, -0.0, 1e300, 2**60, "=1+1", "#N/A", "=1/0", datetime.time(1, 2),
                    datetime.datetime(1900, 1, 1), datetime.datetime(9999, 12, 31),
                    datetime.timedelta(days=3), near(dice, other, rows, column - 1),
                )  # fmt: skip
                value = dice.choice(strange)
                if isinstance(value, str):  # what XML cannot hold, no workbook has
                    value = "".join(sign for sign in value if sign >= " ")[:30_000]
                sheet.cell(row, column).value = value
    book.save(path)
    if how == "wildly":
        path.write_bytes(
            changed(dice, path.read_bytes()) if dice.random() < 0.4 else inside(dice, path)
        )
    return path.name


def inside(dice: random.Random, path: Path) -> bytes:
    """Return a workbook with one of its inner files changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        broken = dice.choice(old.namelist())
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, changed(dice, text) if name == broken else text)
    return made.getvalue()


FORMATS = {
    "CSV": csv_table, "JSON lines": json_table, "Parquet": parquet_table, "Feather": feather_table,
    "Excel": excel_table,
}  # fmt: skip
