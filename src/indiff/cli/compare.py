"""``indiff compare``: several sanitizers or parameters side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indiff.audit.plan import parsing
from indiff.cli import options
from indiff.cli.adversaries import input_files
from indiff.cli.verdict import EXCEEDED, INCOMPLETE, INTERRUPTED, NOTHING_EXCEEDED
from indiff.errors import UserError
from indiff.files import check_places, write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.audit.compare import Comparison

_COMPARE, _OUT = "The comparison", "Output"
CHARTS = (".html", ".svg", ".png")


def _option(name: str, help: str, panel: str, metavar: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel=panel, metavar=metavar, show_default=False)


def command(
    data: options.Data,
    sensitive: options.Sensitive,
    sanitizer: Annotated[
        list[str],
        _option(
            "--sanitizer",
            "name:parameter=value,…, a parameter with several values: mondrian:k=2,5,10; "
            "repeatable.",
            _COMPARE,
            "F",
        ),
    ],
    quasi: options.Quasi = None,
    joint: options.Joint = False,
    identifier: options.Identifier = None,
    other: options.Other = None,
    hierarchy: options.Hierarchies = None,
    kind: options.Kinds = None,
    order: options.Orders = None,
    bins: options.Bins = None,
    missing: options.Missing = "error",
    missing_token: options.MissingTokens = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    task: Annotated[
        str | None,
        _option(
            "--task", "What an analyst predicts. Default: the sensitive column.", _COMPARE, "COLUMN"
        ),
    ] = None,
    utility: Annotated[
        str | None,
        _option(
            "--utility",
            "What the front goes by: ncp (default), discernibility, average_group, accuracy "
            "(default with noise).",
            _COMPARE,
            "U",
        ),
    ] = None,
    recommend: Annotated[
        list[str] | None,
        _option(
            "--recommend",
            "Name what keeps most utility within delta=0.1, mean, itpr, t (at most), k, l (at "
            "least); repeatable; exit 1 if nothing does.",
            _COMPARE,
            "NAME=X",
        ),
    ] = None,
    model: options.Model = None,
    prior: options.Prior = None,
    known: options.Known = None,
    distance: options.Distance = "wasserstein",
    runs: options.Runs = 100,
    confidence: options.Confidence = 0.95,
    jobs: options.Jobs = -1,
    seed: options.Seed = 0,
    json_file: options.Json = None,
    markdown: Annotated[
        Path | None, _option("--markdown", "Write the table as Markdown.", _OUT, "FILE")
    ] = None,
    chart: Annotated[
        Path | None,
        _option("--chart", "Draw δ against utility (.html, .svg, .png).", _OUT, "FILE"),
    ] = None,
) -> None:
    """Compare settings: what each risks against what it keeps, and which to choose."""
    from indiff.audit.compare import LIMITS, compare
    from indiff.audit.plan.settings import sweep
    from indiff.report.markdown import render_comparison
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.compare import show_comparison
    from indiff.report.words import recommendation
    from indiff.sanitizers.parse import as_sanitizer

    limits = parsing.limits(recommend, LIMITS)
    for text in sanitizer:
        for setting in sweep(text):
            as_sanitizer(setting.text)
    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    check_places(
        {"--json": json_file, "--markdown": markdown, "--chart": chart},
        [data, *map(Path, hierarchies.values()), *input_files(distance, prior)],
        frames=(),
    )
    if chart is not None and chart.suffix.lower() not in CHARTS:
        raise UserError(
            f"--chart must end in {', '.join(CHARTS)}", f"{str(chart)!r}", "Change the ending"
        )
    table = options.read(
        data, quasi=quasi, sensitive=sensitive, joint=joint, identifier=identifier, other=other,
        hierarchy=hierarchy, kind=kind, order=order, bins=bins, missing=missing,
        missing_token=missing_token, encoding=encoding, sheet=sheet,
    )  # fmt: skip
    options.announce_compilation()
    models = parsing.split_lists(model)
    with terminal.stages() as say:
        found = compare(
            table,
            sanitizer,
            task=task,
            utility=utility,  # type: ignore[arg-type]  # checked there
            model=models if len(models) > 1 else models[0] if models else None,
            distance=distance,
            prior=prior,
            known=parsing.split_lists(known) or None,
            runs=runs,
            confidence=confidence,
            jobs=jobs,
            seed=seed,
            progress=lambda text, place, total: say and say(f"{text} ({place + 1} of {total})"),
        )
    document = found.to_dict(limits=limits)
    if json_file is not None:
        write_text(json_file, json_text(document))
    if markdown is not None:
        write_text(markdown, render_comparison(document))
    console = terminal.open_console()
    terminal.show_table(console, table, data.name)
    show_comparison(console, document)
    if chart is not None:
        draw(document, chart)
    code = exit_code(found, document)
    if limits:
        reasons = [recommendation(document)]
    else:
        reasons = ["no limit was given with --recommend, so nothing is recommended"]
    if found.failed:
        reasons.append(f"{len(found.failed)} of {len(found.rows)} settings failed: see above")
    terminal.show_reasons(console, reasons, passed=code == NOTHING_EXCEEDED)
    raise typer.Exit(code)


def exit_code(found: Comparison, document: Mapping[str, Any]) -> int:
    """Return 1 where no measured setting keeps the limits, 3 where some could not be measured.

    A recommendation stands by itself: settings that failed beside it do not take it back.
    """
    if found.interrupted:
        return INTERRUPTED
    if document["recommended"] is not None:
        return NOTHING_EXCEEDED
    if document["limits"] and len(found.failed) < len(found.rows):
        return EXCEEDED
    return INCOMPLETE if found.failed else NOTHING_EXCEEDED


def draw(document: Mapping[str, Any], place: Path) -> None:
    """Write the chart of δ against utility, readable by its owner only."""
    from indiff import plot
    from indiff.files import open_private

    made = plot.tradeoff(document, utility=document["utility"])
    kind = place.suffix.lower()
    if kind == ".html":
        content = made.to_html(inline=True).encode("utf-8")
    else:
        import vl_convert

        spec = made.to_dict()
        if kind == ".svg":
            content = vl_convert.vegalite_to_svg(spec).encode("utf-8")
        else:
            content = vl_convert.vegalite_to_png(spec, scale=2)
    with open_private(place) as handle:
        handle.write(content)
