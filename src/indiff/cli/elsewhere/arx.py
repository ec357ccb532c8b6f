"""``indiff import``: a plan from a project of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indiff.audit.plan.option import REQUIRED, Option
from indiff.audit.plan.recipe import Declared

OPTIONS = [
    Declared(
        "data", "", "data", Path, REQUIRED, (), Option("A project of ARX (.deid).", "PROJECT"),
    ),
    Declared(
        "out", "", "out", Path, Path("imported"), (),
        Option("A new folder for the plan, the table and the hierarchies.", "DIR"),
    ),
]  # fmt: skip


def command(asked: Mapping[str, Any]) -> None:
    """Read a project of ARX: write its table, its hierarchies and a plan into a new folder."""
    from indiff import text as plain
    from indiff.audit.imports.arx import import_arx
    from indiff.report.terminal import tables as terminal

    made = import_arx(asked["data"], asked["out"])
    lines = [("note", note) for note in made.notes]
    lines += [
        ("written", str(made.place)),
        ("private", "the folder has the whole table; nobody else can read it"),
        ("then run", f"indiff audit {made.place}"),
    ]
    console = terminal.open_console()
    terminal.section(console, f"Imported {plain.name(asked['data'].name)}", lines)
