"""Builds hierarchies from a column's values: bands of numbers, masked codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from indiff.errors import UserError, option, unknown
from indiff.files import write_text
from indiff.web.jobs.profiling import read
from indiff.web.store.store import Store, new_id

LONGEST_CODE = 40
MOST_VALUES = 200_000
FILE = f"Attach a hierarchy file ({option('hierarchy')})"


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
        raise UserError(
            f"a hierarchy is built from at most {MOST_VALUES:,} values; this column "
            f"has {len(values):,}",
            way_out=FILE,
        )
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
            raise UserError(
                "bands are made of whole numbers; this column has others",
                way_out=FILE,
            )
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
        size = len(value)
        levels = [value[: size - hidden] + "*" * hidden for hidden in range(size)]
        lines.append(";".join([*levels, "*"]))
    return lines
