"""A table whose rare values are tokens that occur nowhere else, and where to look for them."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

RECORDS = 80
LETTERS = "bcdfghjkmpqrtvwxz"


def token_rows() -> tuple[list[str], list[list[str]]]:
    """Return names and rows: frequent values in words, every other value a token of its own."""
    rng = np.random.default_rng(17)
    made = iter(dict.fromkeys("".join(rng.choice(list(LETTERS), 9)) for _ in range(6 * RECORDS)))
    numbers = iter(rng.choice(np.arange(1_000_003, 9_999_999, 7919), RECORDS, replace=False))
    streets = [next(made) for _ in range(12)]
    ills = [next(made) for _ in range(4)]
    stages = [next(made), next(made)]
    rows = []
    for place in range(RECORDS):
        street = streets[place % 12] if place % 4 == 0 else ("north", "south")[place % 2]
        ill = (
            ills[place % 3 + place % 2]
            if place % 7 == 0
            else ("flu", "cold")[place * place % 3 % 2]
        )
        stage = stages[place % 2] if place % 9 == 0 else ("low", "high")[place % 5 % 2]
        rows.append([next(made), str(20 + place % 5 * 7), street, str(next(numbers)), stage, ill,
                     next(made)])  # fmt: skip
    return ["who", "age", "street", "pay", "stage", "ill", "remark"], rows


def write_tokens(path: Path) -> list[str]:
    """Write the table; return every value of it that fewer than ten records hold."""
    names, rows = token_rows()
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n", encoding="utf-8")
    counted: dict[tuple[int, str], int] = {}
    for row in rows:
        for column, value in enumerate(row):
            counted[column, value] = counted.get((column, value), 0) + 1
    rare = [value for (_, value), count in counted.items() if count < 10]
    assert all(len(value) >= 7 for value in rare)
    return rare


def told(text: str | bytes, values: Iterable[str]) -> list[str]:
    """Return the values that a text or a file's bytes hold, in any case or encoding of theirs."""
    raw = text.encode() if isinstance(text, str) else text
    small = raw.lower()
    wide = small.replace(b"\0", b"")  # as UTF-16 has them
    return [one for one in values if one.encode() in small or one.encode() in wide]


def files_below(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file below a folder with its bytes, packed ones unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path, _unpacked(path.read_bytes())


def _unpacked(raw: bytes) -> bytes:
    if raw[:2] == b"\x1f\x8b":
        return gzip.decompress(raw)
    if raw[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            return b"\n".join(archive.read(name) for name in archive.namelist())
    if raw[:4] == b"PAR1":
        return str(pq.read_table(BytesIO(raw)).to_pylist()).encode()
    return raw


def spelled_numbers(values: Iterable[str]) -> list[str]:
    """Return the values with every way in which a report writes a large number."""
    found = []
    for value in values:
        found.append(value)
        if re.fullmatch(r"\d+", value):
            found += [f"{int(value):,}", f"{int(value):,}".replace(",", "\u202f")]
    return found
