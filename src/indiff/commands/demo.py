"""``indiff demo``: the whole job on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indiff.commands import options
from indiff.commands.places import write_text
from indiff.commands.test import as_json, run, show, write_records
from indiff.commands.verdict import judge
from indiff.errors import UserError

SANITIZER = "mondrian:k=5"


def command(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write release.csv, result.json and records.csv.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Sanitize and test a made-up table of 5,000 patients, six of them outliers."""
    from indiff.datasets import demo_outliers, demo_table
    from indiff.report import terminal
    from indiff.sanitizers.parse import as_sanitizer

    if out is not None:
        _make_folder(out)
    table = demo_table(seed=seed)
    options.announce_compilation()
    release = as_sanitizer(SANITIZER).sanitize(table)
    results, untested = run(table, SANITIZER, seed=seed)
    verdict = judge(results, {}, untested)
    if out is not None:
        release.write(out / "release.csv", seed=seed)
        write_text(out / "result.json", as_json(table, results, verdict))
        write_records(out / "records.csv", results)
    show(table, "demo (made-up patients)", results, verdict)
    terminal.show_outliers(terminal.open_console(), results[0], demo_outliers(seed=seed))
    raise typer.Exit(verdict.code)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"--out must be a folder that can be made; {str(folder)!r} cannot "
            f"({error.strerror}). Choose another place."
        ) from None
