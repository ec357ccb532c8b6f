"""Reads a table: counts, a preview and guessed roles; hierarchies over a column's values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.recipe import sheet
from indiff.errors import UserError, marked, unknown
from indiff.files import write_text
from indiff.web.store.store import Store, new_id

if TYPE_CHECKING:
    import pyarrow as pa

    from indiff.data.reading.door import Raw

PREVIEW_RECORDS = 20
LONGEST_CELL = 200


def _reading(dataset: dict[str, Any]) -> dict[str, Any]:
    """How a dataset's file was said to be read."""
    reading = dataset["reading"]
    return {**reading, "sheet": sheet(reading["sheet"])}


def read(dataset: dict[str, Any]) -> Raw:
    """Read a dataset's file as it was said to be read."""
    import pyarrow as pa

    from indiff.data.reading.door import read_raw

    pa.set_cpu_count(1)
    return read_raw(dataset["path"], **_reading(dataset))


def profile(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[Any, None]:
    """Read a table once, keep what it looks like and what its columns may be.

    The answer is the file's first rows as they are written: those help, too, where reading fails.
    """
    from indiff.data.reading.first_rows import first_rows
    from indiff.data.reading.input_files import Reading
    from indiff.risk.identifying.roles import guess_roles

    dataset = store.dataset(job["dataset"])
    first = dataclasses.asdict(first_rows(dataset["path"], Reading(**_reading(dataset))))
    report(step="reading the table", answer=first)
    raw = read(dataset)
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
    chosen = job["task"].get("chosen", {})
    roles = [
        {**column, "role": column["guessed_role"], **chosen.get(column["name"], {})}
        for column in columns
    ]
    store.set_profile(job["dataset"], found, roles)
    counted = {}
    for column, path in job["task"].get("hierarchies", {}).items():
        counted[path] = _looked_at(column, raw.frame[column], Path(path))["levels"]
        store.set_hierarchy(job["dataset"], column, Path(path))
    return {**first, "levels": counted}, None


def hierarchy(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[Any, None]:
    """Build a hierarchy from a column's values, or look at one that was sent; count its levels."""
    report(step="reading the table")
    task = job["task"]
    frame, name = read(store.dataset(job["dataset"])).frame, task["column"]
    if name not in frame.column_names:
        raise unknown("column", name, frame.column_names, field="column")
    if task["build"] == "file":
        path = Path(task["path"])
        try:
            return _looked_at(name, frame[name], path), None
        except UserError:
            store.drop_hierarchy(job["dataset"], path)
            raise
    folder = store.settings.dataset_folder(job["dataset"]) / "hierarchies"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{new_id()}.csv"
    write_text(path, "\n".join(_lines(frame[name], task)) + "\n")
    found = _looked_at(name, frame[name], path)
    store.set_hierarchy(job["dataset"], name, path)
    return found, None


def _lines(column: pa.ChunkedArray, task: dict[str, Any]) -> list[str]:
    from indiff.data import hierarchy_builders as build

    if task["build"] == "bands":
        return build.interval_lines(column, task["widths"], task["start"])
    if task["build"] == "dates":
        return build.date_lines(column, task["parts"])
    return build.mask_lines(column)


def _looked_at(name: str, column: pa.ChunkedArray, path: Path) -> dict[str, Any]:
    """Fit a hierarchy to its column as a run does, and count the records of its groups."""
    from indiff.data.built_hierarchy import count_held
    from indiff.data.coding import code_attribute
    from indiff.data.hierarchy import Hierarchy

    tree = code_attribute(name, column, None, None, Hierarchy.read(path))["hierarchy"]
    levels = [dataclasses.asdict(level) for level in count_held(tree, column)]
    return {"path": str(path), "levels": levels, "notes": list(tree.notes)}
