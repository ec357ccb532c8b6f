"""Describes the table as it was read: its columns, and what was left out."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from indiff.audit.metrics import METRICS
from indiff.audit.redaction import Redaction
from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.report.finding import Finding


def table_block(table: Table, source: str, redaction: Redaction) -> dict[str, Any]:
    """Return the table's part of the document: counts and names, no value."""
    return {
        "source": source,
        "records": len(table),
        "dropped": table.dropped,
        "fingerprint": table.fingerprint,
        "notes": [redaction.text(note) for note in table.notes],
        "columns": _columns(table),
    }


def _columns(table: Table) -> list[dict[str, Any]]:
    frame = table.frame()
    found = []
    for column in table.schema:
        cells = frame[column.name]
        distinct = int(pc.count_distinct(cells, mode="only_valid").as_py())
        found.append(
            {
                "name": column.name,
                "role": str(column.role),
                "kind": "date" if column.is_date else str(column.kind),
                "distinct": distinct,
                "missing": int(cells.null_count),
                "note": _note(column.role, distinct, len(table)),
            }
        )
    return found


def _note(role: Role, distinct: int, records: int) -> str | None:
    if role == Role.IDENTIFIER:
        return "names people: it belongs in no release"
    if distinct == records > 1 and role in (Role.QUASI, Role.SENSITIVE):
        return "different in every record: it may be an identifier"
    if distinct <= 1 and role in (Role.QUASI, Role.SENSITIVE):
        return "the same in every record"
    return None


def profile_findings(table: Table) -> list[Finding]:
    """Return how many records the audit is about, and how much of them is missing."""
    frame = table.frame()
    used = [c.name for c in table.schema if c.role in (Role.QUASI, Role.SENSITIVE)]
    cells = len(table) * len(used)
    missing = sum(frame[name].null_count for name in used)
    dropped = {0: "None was", 1: "1 more was"}.get(table.dropped, f"{table.dropped:,} more were")
    return [
        METRICS["records"].found(
            "records", len(table), {"dropped": dropped}, exactness="exact",
            parameters={"dropped": table.dropped},
        ),
        METRICS["missing"].found(
            "missing", missing / cells if cells else 0.0, exactness="exact",
            parameters={"cells": cells, "missing": missing},
        ),
    ]  # fmt: skip
