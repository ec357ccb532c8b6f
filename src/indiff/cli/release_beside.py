"""``indiff test DATA --release OUT``: one release beside its original, without its sanitizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indiff.cli.shell_words import in_shell_words
from indiff.cli.verdict import INCOMPLETE, NOTHING_EXCEEDED, Verdict, judge
from indiff.cli.writing import judged, together
from indiff.errors import UserError
from indiff.files import write_text
from indiff.report.records import write_records

if TYPE_CHECKING:
    from indiff.data.table import Table
    from indiff.differential.beside.result import ReleaseResult

_PANEL = "A release beside its original"

Release = Annotated[
    Path | None,
    typer.Option(
        "--release",
        help="Test this release of DATA, whatever made it, instead of a sanitizer.",
        metavar="FILE",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The column that tells whose row of the release is whose.",
        metavar="COLUMN",
        rich_help_panel=_PANEL,
    ),
]
RowsInOrder = Annotated[
    bool,
    typer.Option(
        "--rows-in-order",
        help="The release's rows are DATA's, in its order.",
        rich_help_panel=_PANEL,
    ),
]

ReleaseEncoding = Annotated[
    str | None,
    typer.Option(
        "--release-encoding",
        help="Of the release, where it is not DATA's.",
        metavar="E",
        rich_help_panel=_PANEL,
    ),
]


def check_options(
    release: Path | None,
    key: str | None,
    rows_in_order: bool,
    encoding: str | None,
    others: Mapping[str, bool],
) -> None:
    """Refuse what does not go together; ``others`` tells which unfitting options were given."""
    if release is None:
        if key is not None or rows_in_order or encoding is not None:
            raise UserError(
                "--key, --rows-in-order and --release-encoding are for a release beside its "
                "original; add --release FILE, or leave them out."
            )
        return
    if key is not None and rows_in_order:
        raise UserError("rows are matched by --key or by --rows-in-order, not by both; leave one.")
    given = [option for option, was_given in others.items() if was_given]
    if given:
        raise UserError(
            "--release tests one release by dropping its rows, for which there is no "
            f"{', '.join(given)}",
            way_out="Leave it out",
        )


def encoding_of(release: Path, data: Path, own: str | None, others: str | None) -> str | None:
    """Return the release's own encoding, or that of the data where both are text.

    >>> encoding_of(Path("out.csv"), Path("data.csv"), None, "cp1252")
    'cp1252'
    >>> encoding_of(Path("out.parquet"), Path("data.csv"), None, "cp1252") is None
    True
    """
    from indiff.data.reading.door import TEXT

    both_text = {release.suffix.lower(), data.suffix.lower()} <= set(TEXT)
    return others if own is None and both_text else own


def run(
    table: Table,
    source: str,
    release: Path,
    *,
    key: str | None,
    rows_in_order: bool,
    model: str | None,
    distance: str,
    targets: Sequence[int] | None,
    prior: Path | None,
    known: Sequence[str] | None,
    encoding: str | None,
    limits: Mapping[str, float],
    json_file: Path | None,
    records: Path | None,
) -> int:
    """Test the release for every sensitive attribute, write and show the results."""
    from indiff.cli.options import announce_compilation
    from indiff.differential.beside.dropped_row import test_release
    from indiff.report.terminal import beside
    from indiff.report.terminal import tables as terminal

    announce_compilation()
    results: list[ReleaseResult] = [
        test_release(
            table.focus(sensitive.name), release, key=key, rows_in_order=rows_in_order,
            model=model, distance=distance, targets=targets, prior=prior, known=known,
            encoding=encoding,
        )
        for sensitive in table.sensitives
    ]  # fmt: skip
    verdict = judge_release(results, limits)
    if json_file is not None:
        write_text(json_file, as_json(results, verdict))
    if records is not None:
        write_records(records, results)
    console = terminal.open_console()
    terminal.show_table(console, table, source)
    for result in results:
        if result.skipped is not None:
            result = replace(result, skipped=in_shell_words(result.skipped))
        beside.show_release_result(console, result, known=table.notes)
    terminal.show_reasons(console, verdict.reasons, passed=verdict.code == NOTHING_EXCEEDED)
    return verdict.code


def judge_release(results: Sequence[ReleaseResult], limits: Mapping[str, float]) -> Verdict:
    """Check the limits; an approximation can show that one is exceeded, never that it is kept."""
    tests = [result.test for result in results if result.test is not None]
    verdict = judge(tests, limits)
    if verdict.code == NOTHING_EXCEEDED and limits:
        reason = (
            "nothing exceeded, but the dropped-row test is an approximation: no pass"
            if tests
            else "the dropped-row test was skipped, so no limit could be checked: no pass"
        )
        return Verdict(INCOMPLETE, verdict.checks, (reason,))
    return verdict


def as_json(results: Sequence[ReleaseResult], verdict: Verdict) -> str:
    """Return one result as its own JSON, several below their names."""
    documents = [result.to_dict() for result in results]
    return judged(together(documents, "release-tests", several=len(documents) > 1), verdict)
