"""How tables travel to a rival's process and back: a CSV of text and a JSON note of the kinds.

Imported on both sides, so it needs nothing but pandas, old or new. A plain ``to_csv``/``read_csv``
would turn ``"007"`` into 7 and confuse an empty string with a missing value.
"""

from __future__ import annotations

import csv
import json
import numbers
from pathlib import Path
from typing import Any

import pandas as pd

MISSING = "\N{SYMBOL FOR NULL}"


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write ``path`` (CSV without a header) and, beside it, names, kinds and index as JSON."""
    columns = [frame.iloc[:, position].tolist() for position in range(frame.shape[1])]
    note = {
        "names": [str(name) for name in frame.columns],
        "kinds": [_kind(values) for values in columns],
        "index": [int(label) for label in frame.index],
    }
    path.with_suffix(".json").write_text(json.dumps(note), encoding="utf-8")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(zip(*(map(_text, values) for values in columns), strict=True))


def read_frame(path: Path) -> pd.DataFrame:
    """Read what :func:`write_frame` wrote: numbers as numbers, text as text, missing as NaN."""
    note = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    data: dict[str, Any] = {}
    for position, (name, kind) in enumerate(zip(note["names"], note["kinds"], strict=True)):
        cells = [float("nan") if row[position] == MISSING else row[position] for row in rows]
        data[name] = pd.Series(
            [_number(cell) for cell in cells] if kind == "number" else cells,
            dtype=None if kind == "number" and cells else object,
        )
    frame = pd.DataFrame(data)
    frame.index = pd.Index(note["index"], dtype="int64")
    return frame


def _kind(values: list[Any]) -> str:
    present = [value for value in values if not pd.isna(value)]
    if all(isinstance(value, str) for value in present):
        return "text"
    if all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in present):
        return "number"
    raise TypeError("a column sent to a rival holds text only or numbers only; convert it first")


def _text(value: Any) -> str:
    if pd.isna(value):
        return MISSING
    if value == MISSING:
        raise ValueError(f"{MISSING!r} stands for a missing value and cannot be sent as one")
    return value if isinstance(value, str) else repr(value)


def _number(cell: str | float) -> int | float:
    try:
        return int(cell) if isinstance(cell, str) else cell
    except ValueError:
        return float(cell)
