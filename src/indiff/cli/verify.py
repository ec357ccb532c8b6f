"""``indiff verify``: says whether a report belongs to a release, and whether its numbers hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indiff.audit.verdict import Exit
from indiff.cli.warmup import compile_all

_MOST_NAMES = 20
_ENDINGS = {
    Exit.NOTHING_EXCEEDED: "they belong together",
    Exit.EXCEEDED: "they do NOT belong together",
    Exit.INCOMPLETE: "it cannot be decided whether they belong together",
}


def command(
    report: Annotated[
        Path,
        typer.Argument(
            metavar="REPORT", help="The report.json of an audit.", show_default=False
        ),
    ],
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE", help="The file to be published.", show_default=False),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DATA",
            help="The table: makes the audit once more, and compares every number.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Check that a report is about this very release; with --data, that its numbers hold.

    Exit code 0: they belong together; 1: they do not, or numbers differ; 3: it cannot be decided.
    """
    from indiff import text as plain
    from indiff.audit.verify import verify
    from indiff.report.terminal import tables as terminal

    if data is not None:
        terminal.compile_first(compile_all)
    with terminal.stages() as say:
        found = verify(report, release, data, say)
    console = terminal.open_console()
    lines = []
    for one in found.answers:
        lines.append((one.about, plain.message(one.text)))
        lines += [("differs", plain.name(name)) for name in one.names[:_MOST_NAMES]]
        if len(one.names) > _MOST_NAMES:
            lines.append(("differs", f"and {len(one.names) - _MOST_NAMES:,} more"))
    terminal.section(console, f"Report {plain.name(report.name)}", lines)
    code = found.exit_code
    terminal.show_reasons(console, [_ENDINGS[code]], passed=code == Exit.NOTHING_EXCEEDED)
    raise typer.Exit(code)
