"""A report on disk: three files for their owner alone, each written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.audit.result import AuditResult

NAMES = ("report.html", "report.json", "report.md")


def make_folder(folder: Path) -> None:
    """Make a folder for reports, with its parents, for its owner only."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"--out must be a folder that can be made; {str(folder)!r} cannot "
            f"({error.strerror}). Choose another place."
        ) from None
    if not os.access(folder, os.W_OK):
        raise UserError(
            f"--out must be a folder that can be written; {str(folder)!r} is not. "
            "Choose another place."
        )


def check_report_places(folder: Path, inputs: list[Path]) -> None:
    """Refuse a folder in which a report would overwrite an input."""
    refuse_inputs("report", folder, NAMES, inputs)


def refuse_inputs(what: str, folder: Path, names: Iterable[str], inputs: list[Path]) -> None:
    """Refuse a folder in which one of some files is an input, by whatever link."""
    for place in (folder / name for name in names):
        if any(is_same_file(place, path) for path in inputs):
            raise UserError(
                f"a {what} must not overwrite its input; {str(place)!r} is one. "
                "Choose another folder with --out."
            )


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file: by links of either kind, or before it exists.

    >>> is_same_file(Path("a.csv"), Path("folder/../a.csv")), is_same_file(Path("a"), Path("b"))
    (True, False)
    """
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there yet, or cannot be looked at
        return os.path.realpath(one) == os.path.realpath(other)


def write_report(result: AuditResult, folder: Path) -> dict[str, Path]:
    """Write the page, the document and the Markdown of an audit; return their places."""
    check_report_places(folder, [Path(name) for name in result.inputs])
    make_folder(folder)
    texts = {
        "report.html": result.to_html(),
        "report.json": result.to_json(),
        "report.md": result.to_markdown(),
    }
    for name, text in texts.items():
        write_whole(folder / name, text)
    return {name: folder / name for name in NAMES}


def write_whole(path: Path, text: str) -> None:
    """Write a private file so that no reader ever sees half of it."""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as handle:  # mkstemp lets only its owner read it
            handle.write(text.encode("utf-8", "backslashreplace"))
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(f"{str(path)!r} cannot be written ({error.strerror}); choose another place.")
