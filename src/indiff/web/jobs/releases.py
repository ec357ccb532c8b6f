"""Looks at a release made elsewhere before any run: its columns, its cells, whose row is whose."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indiff.errors import UserError, marked

if TYPE_CHECKING:
    import pyarrow as pa

    from indiff.data.table import Table
    from indiff.release.release import Release
    from indiff.web.store.store import Store

MOST_KEYS = 20


def check(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[Any, None]:
    """Read a release as a run does, against its table; what cannot be read is the job's problem."""
    import pyarrow as pa

    from indiff.audit.plan.plan import Plan
    from indiff.differential.test import check_testable
    from indiff.release.reading import read_released

    pa.set_cpu_count(1)
    plan = Plan(**job["task"]["plan"])
    report(step="reading the table")
    table = plan.data.read()
    report(step="reading the release")
    for sensitive in table.sensitives[1:]:
        plan.release.read(table.focus(sensitive.name))
    first = table.focus(table.sensitives[0].name)
    check_testable(first)
    release = plan.release.read(first)
    frame = read_released(plan.release.file, first, encoding=plan.release.encoding).frame
    return _found(plan.release.key, first, release, frame), None


def _found(key: str | None, table: Table, release: Release, frame: pa.Table) -> dict[str, Any]:
    from indiff.release.recognised import recognised
    from indiff.release.unmeasured import judge_columns

    shapes = recognised(release)
    return {
        "rows": len(release),
        "records": len(table),
        "columns": [
            {"name": name, "shapes": [dataclasses.asdict(one) for one in found]}
            for name, found in shapes.items()
        ],
        "unmeasured": [dataclasses.asdict(one) for one in judge_columns(release, table, key)],
        "notes": [marked(note) for note in release.notes],
        "keys": _keys(table, frame),
        "in_order": _in_order(table, release),
    }


def _keys(table: Table, frame: pa.Table) -> list[str]:
    """Return the columns of both, no quasi-identifiers, that tell whose row is whose."""
    from indiff.differential.beside.linkage import match_by_key

    known = {attribute.name for attribute in table.attributes} | set(table.sensitive.columns)
    found: list[str] = []
    for name in frame.column_names:
        if name in known or name not in table.source.column_names or len(found) == MOST_KEYS:
            continue
        try:
            matched, _ = match_by_key(table, frame, name)
        except UserError:
            continue
        if (matched >= 0).any():
            found.append(name)
    return found


def _in_order(table: Table, release: Release) -> str | None:
    """Say how well the rows fit the records in their order; nothing where they cannot be so."""
    from indiff.differential.beside.dropped_row import fit_notes
    from indiff.differential.beside.linkage import match_in_order

    try:
        matched, _ = match_in_order(table, release)
    except UserError:
        return None
    return fit_notes(release, table, matched)[0]
