"""Fills options from a file of metadata; what was typed goes before, and what differs is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from indiff.audit.plan.recipe import lists, pairs, split_list
from indiff.data.metadata import read_metadata
from indiff.errors import UserError

_ROLES = ("identifier", "quasi", "sensitive", "other")


def filled(raw: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the options with what the metadata say of columns that no option speaks of.

    The risk metrics take kinds of sensitive columns alone: the others are counted as they are.
    """
    found = read_metadata(raw["metadata"], raw.get("data"))
    made, notes = dict(raw), list(found.notes)
    typed = {
        role: [name for text in raw.get(role) or () for name in split_list(text)] for role in _ROLES
    }
    taken = {name: role for role, names in typed.items() for name in names}
    for role in _ROLES:
        more = []
        for name in getattr(found, role):
            if taken.get(name, role) != role:
                notes.append(f"{name}: {role} by the metadata, taken as {taken[name]}, as typed")
            elif name not in taken:
                more.append(_quoted(name))
        if role in ("quasi", "sensitive") and typed[role] and more:  # what is typed is complete
            notes.append(f"{role} is what was typed; the metadata also name {', '.join(more)}")
        elif more:
            made[role] = [*(raw.get(role) or ()), *more]
    kinds = pairs("--kind", raw.get("kind"), "KIND")
    orders = lists("--order", [text for text in raw.get("order") or () if "=" in text])
    for name, kind in found.kinds.items():
        if command == "risk" and name not in (typed["sensitive"] or found.sensitive):
            continue
        if kinds.get(name, kind) != kind or (name in orders and kind != "ordinal"):
            notes.append(f"{name}: {kind} by the metadata, taken as typed")
        elif name not in kinds and name not in orders and "kind" in made:
            made["kind"] = [*(made["kind"] or ()), f"{_quoted(name)}={kind}"]
            if name in found.orders:
                values = ",".join(map(_quoted, found.orders[name]))
                made["order"] = [*(made["order"] or ()), f"{_quoted(name)}={values}"]
    if "missing-token" in made:
        tokens = [text for text in dict.fromkeys(found.missing_tokens) if text]
        made["missing-token"] = [*(made["missing-token"] or ()), *tokens]
    for note in notes:
        typer.echo(f"metadata: {note}", err=True)
    return made


def _quoted(name: str) -> str:
    if '"' in name:
        raise UserError("metadata may not name what has a double quote", f"{name!r}")
    return f'"{name}"'
