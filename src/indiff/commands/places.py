"""Output files: refused before the work if they cannot be written, private when they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from indiff.errors import UserError
from indiff.report.files import is_same_file

FRAME_ENDINGS = (".csv", ".tsv", ".parquet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def label(name: str) -> str:
    """Return a column's name as a cell of a file about records: no spreadsheet calculates it.

    A name that a spreadsheet would take for a formula gets an apostrophe in front, which
    spreadsheets read as "this is text".

    >>> label("diagnosis"), label("=HYPERLINK(1)")
    ('diagnosis', "'=HYPERLINK(1)")
    """
    return f"'{name}" if name.lstrip(" ").startswith(_FORMULA) else name


def check_places(
    outputs: Mapping[str, Path | None], inputs: list[Path], *, frames: tuple[str, ...]
) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite an input.

    ``frames`` are the options whose file is a table, which its ending must tell.
    """
    taken = [(path, f"the input {str(path)!r}") for path in inputs]
    for option, path in outputs.items():
        if path is None:
            continue
        if option in frames and path.suffix.lower() not in FRAME_ENDINGS:
            raise UserError(
                f"{option} must end in {', '.join(FRAME_ENDINGS)}; got {str(path)!r}. "
                "Change the ending."
            )
        _check_writable(option, path)
        other = next((what for place, what in taken if is_same_file(path, place)), None)
        if other is not None:
            raise UserError(
                f"{option} must be a file of its own; got {str(path)!r}, which is {other}. "
                "Choose another name."
            )
        taken.append((path, f"also {option}"))


def _check_writable(option: str, path: Path) -> None:
    if len(os.fsencode(path.name)) > 255:
        raise UserError(f"{option} must have a name of at most 255 bytes. Choose a shorter one.")
    if path.is_dir():
        raise UserError(f"{option} must be a file; {str(path)!r} is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise UserError(
            f"{option} must be in a folder that exists; there is no {str(path.parent)!r}. "
            "Make it, or choose another place."
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(
            f"{option} must be a place that can be written; {str(path)!r} is not. "
            "Choose another place."
        )


def write_text(path: Path, text: str) -> None:
    """Write text that only its owner can read."""
    from indiff.release import open_private

    with open_private(path) as handle:
        handle.write(text.encode("utf-8"))
