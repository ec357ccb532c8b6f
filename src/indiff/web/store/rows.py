"""Reads and writes rows of the database: what is structured there is JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from indiff.errors import UserError

Row = dict[str, Any]
JSON_FIELDS = [
    "reading",
    "profile",
    "draft",
    "task",
    "running_cdf",
    "answer",
    "ordering",
    "problem",
]


def decoded(row: sqlite3.Row) -> Row:
    """Return a row as plain data."""
    found = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row iterates its values
    for name in JSON_FIELDS:
        if found.get(name) is not None:
            found[name] = json.loads(found[name])
    if found.get("problem") is not None:
        rule, got, way_out, field = found["problem"]
        found["problem"] = UserError(rule, got, way_out, field=field)
    return found


def _encoded(name: str, value: Any) -> Any:
    if name not in JSON_FIELDS or value is None:
        return value
    if isinstance(value, UserError):
        got = None if value.got is None else str(value.got)
        value = (value.rule, got, value.way_out, value.field)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def insert(connection: sqlite3.Connection, table: str, **values: Any) -> None:
    """Add a row."""
    places = ", ".join("?" * len(values))
    connection.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})",
        [_encoded(name, value) for name, value in values.items()],
    )


def update(
    connection: sqlite3.Connection, table: str, values: Mapping[str, Any], where: str, *known: Any
) -> int:
    """Change the rows that a condition finds; return how many."""
    changes = ", ".join(f"{name} = ?" for name in values)
    texts = [_encoded(name, value) for name, value in values.items()]
    return connection.execute(
        f"UPDATE {table} SET {changes} WHERE {where}", [*texts, *known]
    ).rowcount
