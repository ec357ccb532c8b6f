"""Finds files below the folder that the server was started with, and no others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from indiff.errors import UserError
from indiff.web.access.uploads import TABLES

MOST_FILES = 1000
MOST_SEEN = 50_000  # the folder may be a whole disk, and a page waits for the list


@dataclass(frozen=True)
class FolderFile:
    """A table below the folder, by its path from there."""

    path: str
    bytes: int


def list_folder(folder: Path | None) -> list[FolderFile]:
    """Return the tables below the folder, links out of it left out."""
    if folder is None:
        return []
    root = folder.resolve()
    found: list[FolderFile] = []
    seen = 0
    for base, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names) + len(folders)
        if seen > MOST_SEEN:
            return found
        for name in sorted(names):
            path = Path(base) / name
            if path.suffix.lower() not in TABLES or name.startswith("."):
                continue
            if _inside(path, root) is not None:
                shown = str(path.relative_to(root))
                if shown.isprintable():
                    found.append(FolderFile(shown, path.stat().st_size))
            if len(found) >= MOST_FILES:
                return found
    return found


def find_in_folder(folder: Path | None, path: str) -> Path:
    """Return the file that a path from the folder names, links followed, if it is below it."""
    if folder is None:
        raise UserError("the server was started without --folder; upload the file instead.")
    found = _inside(folder.resolve() / path, folder.resolve())
    if found is None:
        raise UserError("a file must be below the server's folder; there is none of this name.")
    if found.suffix.lower() not in TABLES:
        rule = f"a file's ending must tell its format ({', '.join(TABLES)}); this one's does not."
        raise UserError(rule, field="path")
    return found


def _inside(path: Path, root: Path) -> Path | None:
    """Return the file that a path leads to, if it is one below the root."""
    try:
        found = path.resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, a circle of links
        return None
