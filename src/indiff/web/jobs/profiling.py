"""Takes a first look at a table: counts, a preview, guessed roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.parsing import sheet

if TYPE_CHECKING:
    from indiff.data.reading.door import Raw
    from indiff.web.store.store import Store

PREVIEW_RECORDS = 20
LONGEST_CELL = 200


def read(dataset: dict[str, Any]) -> Raw:
    """Read a dataset's file as it was said to be read."""
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
    raw = read(dataset)
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
