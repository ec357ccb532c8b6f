"""A first look at a table in a worker: counts, a preview, guessed roles; built hierarchies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.parsing import sheet
from indiff.errors import UserError, unknown
from indiff.files import write_text
from indiff.web.store.hierarchies import bands, masks
from indiff.web.store.store import new_id

if TYPE_CHECKING:
    from indiff.data.reading.door import Raw
    from indiff.web.store.store import Store

PREVIEW_RECORDS = 20
LONGEST_CELL = 200
MOST_VALUES = 200_000


def _read(dataset: dict[str, Any]) -> Raw:
    import pyarrow as pa

    from indiff.data.reading.door import read_raw

    pa.set_cpu_count(1)
    reading = dataset["reading"]
    return read_raw(
        dataset["path"],
        encoding=reading.get("encoding"),
        missing_tokens=reading.get("missing_tokens", [""]),
        sheet=sheet(reading.get("sheet")),
    )


def profile(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[None, None]:
    """Read a table once, keep what it looks like and what its columns may be."""
    import pyarrow.compute as pc

    from indiff.audit.plan.guess import guess_roles

    report(step="reading the table")
    dataset = store.dataset(job["dataset"])
    raw = _read(dataset)
    report(step="looking at the columns")
    columns = [
        {
            "name": guess.column,
            "kind": "numeric" if guess.kind == "date" else guess.kind,
            "is_date": guess.kind == "date",
            "distinct": int(pc.count_distinct(raw.frame[guess.column], mode="only_valid").as_py()),
            "missing": raw.frame[guess.column].null_count,
            "guessed_role": guess.role,
            "reason": guess.reason,
        }
        for guess in guess_roles(raw.frame)
    ]
    found = {
        "records": raw.frame.num_rows,
        "columns": columns,
        "preview": _preview(raw),
        "notes": list(raw.notes),
    }
    roles = [{**column, "role": column["guessed_role"]} for column in columns]
    store.set_profile(job["dataset"], found, roles)
    return None, None


def _preview(raw: Raw) -> list[list[str | None]]:
    head = raw.frame.slice(0, PREVIEW_RECORDS)
    cells = [column.to_pylist() for column in head.columns]
    return [
        [None if value is None else str(value)[:LONGEST_CELL] for value in row]
        for row in zip(*cells, strict=True)
    ]


def build_hierarchy(
    store: Store, job: dict[str, Any], report: Callable[..., None]
) -> tuple[None, None]:
    """Build a hierarchy from a column's values and attach it."""
    import pyarrow as pa

    report(step="reading the table")
    dataset = store.dataset(job["dataset"])
    raw, task = _read(dataset), job["task"]
    if task["column"] not in raw.frame.column_names:
        raise unknown("column", task["column"], raw.frame.column_names)
    values = raw.frame[task["column"]].drop_null().unique()
    if len(values) > MOST_VALUES:
        raise UserError(
            f"a hierarchy is built from at most {MOST_VALUES:,} values; this column "
            f"has {len(values):,}",
            way_out="Attach a hierarchy file",
        )
    if task["build"] == "bands":
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            raise UserError(
                f"bands are made of numbers; column {task['column']!r} holds {values.type}",
                way_out="Mask its codes, or attach a hierarchy file",
            )
        lines = bands(sorted(values.to_pylist()), task["widths"], task["start"])
    else:
        lines = masks(sorted(str(value) for value in values.to_pylist()))
    folder = store.settings.dataset_folder(job["dataset"]) / "hierarchies"
    path = _write(folder, "\n".join(lines) + "\n")
    store.set_hierarchy(job["dataset"], task["column"], path)
    return None, None


def _write(folder: Path, text: str) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{new_id()}.csv"
    write_text(path, text)
    return path
