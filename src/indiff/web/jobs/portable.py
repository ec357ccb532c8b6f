"""Makes a run's plan portable: its paths are relative, and what it needs beside it is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indiff.text import escaped


def portable(plan: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a plan whose files lie beside it, and where each of them is now, the table first.

    >>> plan = {"data": {"path": "/d/1/a.csv", "hierarchies": {"zip": "/d/1/h/0f.csv"}}}
    >>> found, files = portable(plan)
    >>> found["data"]["path"], found["data"]["hierarchies"], list(files.values())
    ('a.csv', {'zip': 'hierarchies/0f.csv'}, ['/d/1/a.csv', '/d/1/h/0f.csv'])
    """
    files: dict[str, str] = {}

    def beside(path: str, folder: str = "") -> str:
        name = folder + Path(path).name
        files[name] = path
        return name

    made = {section: dict(values) for section, values in plan.items()}
    data, release = made["data"], made.get("release", {})
    data["path"] = beside(data["path"])
    data["hierarchies"] = {
        column: beside(path, "hierarchies/") for column, path in data.get("hierarchies", {}).items()
    }
    if release.get("file"):
        release["file"] = beside(release["file"], "made-elsewhere/")
    return made, files


def plan_file(plan: Mapping[str, Any], command: str) -> str:
    """Return a run's plan as TOML, with what must lie beside it and how it is run again."""
    from indiff.audit.plan.plan_text import as_toml

    made, files = portable(plan)
    written = as_toml(made, command)
    told = [f"#   {escaped(name)}" for name in files]
    head, _, rest = written.partition("\n\n")
    return "\n".join(
        [head, "# It needs these files beside it, by the same names:", *told, "", rest]
    )
