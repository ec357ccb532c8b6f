"""Reads a table: counts, a preview and guessed roles; hierarchies made of a column's values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.recipe import sheet
from indiff.errors import UserError, marked, option, unknown
from indiff.files import write_text
from indiff.web.store.store import Store, new_id

if TYPE_CHECKING:
    from indiff.data.reading.door import Raw

PREVIEW_RECORDS = 20
LONGEST_CELL = 200
LONGEST_CODE = 40
MOST_VALUES = 200_000
FILE = f"Attach a hierarchy file ({option('hierarchy')})"


def read(dataset: dict[str, Any]) -> Raw:
    """Read a dataset's file as it was said to be read."""
    import pyarrow as pa

    from indiff.data.reading.door import read_raw

    pa.set_cpu_count(1)
    reading = dataset["reading"]
    return read_raw(dataset["path"], **{**reading, "sheet": sheet(reading["sheet"])})


def profile(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[None, None]:
    """Read a table once, keep what it looks like and what its columns may be."""
    from indiff.audit.plan.guess import guess_roles

    report(step="reading the table")
    raw = read(store.dataset(job["dataset"]))
    report(step="looking at the columns")
    columns = [
        {
            "name": guess.column,
            "kind": "numeric" if guess.kind == "date" else guess.kind,
            "is_date": guess.kind == "date",
            "distinct": guess.distinct,
            "missing": raw.frame[guess.column].null_count,
            "guessed_role": guess.role,
            "reason": guess.reason,
        }
        for guess in guess_roles(raw.frame)
    ]
    head = [column.to_pylist() for column in raw.frame.slice(0, PREVIEW_RECORDS).columns]
    found = {
        "records": raw.frame.num_rows,
        "columns": columns,
        "preview": [
            [None if value is None else str(value)[:LONGEST_CELL] for value in row]
            for row in zip(*head, strict=True)
        ],
        "notes": [marked(note) for note in (*raw.notes, *raw.questions.values())],
    }
    roles = [{**column, "role": column["guessed_role"]} for column in columns]
    store.set_profile(job["dataset"], found, roles)
    for column, path in job["task"].get("hierarchies", {}).items():
        store.set_hierarchy(job["dataset"], column, Path(path))
    return None, None


def build_hierarchy(
    store: Store, job: dict[str, Any], report: Callable[..., None]
) -> tuple[None, None]:
    """Build a hierarchy from a column's values and attach it."""
    import pyarrow as pa

    report(step="reading the table")
    frame, task = read(store.dataset(job["dataset"])).frame, job["task"]
    column = task["column"]
    if column not in frame.column_names:
        raise unknown("column", column, frame.column_names, field="column")
    values = frame[column].drop_null().unique()
    if len(values) > MOST_VALUES:
        rule = f"a hierarchy is built from at most {MOST_VALUES:,} values; this column has "
        raise UserError(f"{rule}{len(values):,}", way_out=FILE)
    if task["build"] == "bands":
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            raise UserError(
                f"bands are made of numbers; column {column!r} holds {values.type}",
                way_out=f"Mask its codes, or {FILE[0].lower()}{FILE[1:]}",
            )
        lines = bands(sorted(values.to_pylist()), task["widths"], task["start"])
    else:
        lines = masks(sorted(str(value) for value in values.to_pylist()))
    folder = store.settings.dataset_folder(job["dataset"]) / "hierarchies"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{new_id()}.csv"
    write_text(path, "\n".join(lines) + "\n")
    store.set_hierarchy(job["dataset"], column, path)
    return None, None


def bands(values: Iterable[int | float], widths: Sequence[int], start: int = 0) -> list[str]:
    """Return a hierarchy's lines: each number, the bands that hold it, and ``*``.

    >>> bands([31, 47], [5, 10])
    ['31;30-34;30-39;*', '47;45-49;40-49;*']
    """
    for narrow, wide in pairwise(widths):
        if wide <= narrow or wide % narrow:
            raise UserError(
                "each width must be a multiple of the one before, so that bands nest",
                ", ".join(map(str, widths)),
                "Try 5, 10, 20, 40",
            )
    lines = []
    for value in values:
        if value != int(value):
            raise UserError("bands are made of whole numbers; this column has others", way_out=FILE)
        number = int(value)
        levels = [str(number)]
        for width in widths:
            if width > 1:
                low = start + (number - start) // width * width
                high = low + width - 1
                levels.append(f"{low}-{high}" if low >= 0 else f"{low} to {high}")
        lines.append(";".join([*levels, "*"]))
    return lines


def masks(values: Iterable[str]) -> list[str]:
    """Return a hierarchy's lines: each code, then with one more of its last characters masked.

    >>> masks(["1234", "1299"])
    ['1234;123*;12**;1***;*', '1299;129*;12**;1***;*']
    """
    lines = []
    for value in values:
        if not value or len(value) > LONGEST_CODE or any(sign in value for sign in ';*"\n\r'):
            raise UserError(
                f"masked codes are made of texts of at most {LONGEST_CODE} characters "
                'without ";", "*" and quotation marks; this column has others',
                way_out=FILE,
            )
        levels = [value[:kept] + "*" * (len(value) - kept) for kept in range(len(value), 0, -1)]
        lines.append(";".join([*levels, "*"]))
    return lines
