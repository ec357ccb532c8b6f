"""``indiff r``: the functions that call indiff from R with data frames."""

from __future__ import annotations

from pathlib import Path

import typer


def command() -> None:
    """Print functions for R that hand over data frames: source them there."""
    typer.echo((Path(__file__).parent / "indiff.R").read_text(encoding="utf-8"), nl=False)
