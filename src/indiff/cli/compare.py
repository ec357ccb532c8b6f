"""``indiff compare``: measures several sanitizers or parameters side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from indiff.audit.plan.limits import check_ranges
from indiff.audit.plan.recipe import Recipe, read_limits
from indiff.audit.verdict import Exit, Verdict, with_columns
from indiff.cli.warmup import compile_all
from indiff.errors import UserError
from indiff.files import check_places, write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.audit.compare import Comparison

CHARTS = (".html", ".svg", ".png")


def command(recipe: Recipe) -> None:
    """Compare settings: what each risks against what it keeps, and which to choose."""
    from indiff.audit.compare import LIMITS, compare
    from indiff.audit.plan.values.settings import sweep
    from indiff.report.markdown import render_comparison
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.audit import show_comparison
    from indiff.sanitizers.sanitizer import as_sanitizer

    limits = read_limits(recipe["recommend"], LIMITS)
    settings = [setting.text for text in recipe["sanitizer"] for setting in sweep(text)]
    for text in settings:
        as_sanitizer(text)
    plan = recipe.plan(release={"sanitizer": settings[0]})  # of which a plan has one
    check_ranges(limits, plan.adversary.distance)
    outputs = {f"--{name}": recipe[name] for name in ("json", "markdown", "chart")}
    check_places(outputs, [Path(name) for name in plan.files], frames=())
    chart: Path | None = recipe["chart"]
    if chart is not None and chart.suffix.lower() not in CHARTS:
        raise UserError(
            f"--chart must end in {', '.join(CHARTS)}", repr(str(chart)), "Change the ending",
            field="chart",
        )  # fmt: skip
    table = plan.data.read()
    terminal.compile_first(compile_all)
    with terminal.stages() as say:
        found = compare(
            table,
            recipe["sanitizer"],
            task=recipe["task"],
            utility=recipe["utility"],
            model=recipe.model,
            **plan.settings,
            progress=say,
        )
    document = found.to_dict(limits=limits)
    console = terminal.open_console()
    try:
        if recipe["json"] is not None:
            write_text(recipe["json"], json_text(document))
        if recipe["markdown"] is not None:
            write_text(recipe["markdown"], render_comparison(document))
        if chart is not None:
            draw(document, chart)
    finally:  # what cannot be written takes the verdict along, but no number
        terminal.show_table(console, table, Path(recipe["data"]).name)
        show_comparison(console, document)
    verdict = judge_comparison(found, document)
    terminal.show_reasons(console, verdict.reasons, passed=verdict.exit_code == 0)
    raise typer.Exit(verdict.exit_code)


def judge_comparison(found: Comparison, document: Mapping[str, Any]) -> Verdict:
    """Fail where no measured setting keeps the limits; some not measured leave it incomplete.

    A recommendation stands by itself: settings that failed beside it do not take it back, nor do
    those that release columns of which nothing was measured.
    """
    from indiff.report.plain_words import recommendation

    limits = document["limits"]
    reasons = ["no limit was given with --recommend, so nothing is recommended"]
    if limits:
        reasons = [recommendation(document)]
    if found.failed:
        reasons.append(f"{len(found.failed)} of {len(found.rows)} settings failed: see above")
    if found.interrupted:
        code = Exit.INTERRUPTED
    elif document["recommended"] is not None:
        code = Exit.NOTHING_EXCEEDED
    elif limits and len(found.failed) < len(found.rows):
        code = Exit.EXCEEDED
    else:
        code = Exit.INCOMPLETE if found.failed else Exit.NOTHING_EXCEEDED
    verdict = Verdict(code, tuple(reasons), has_limits=bool(limits))
    columns = (
        [] if document["recommended"] else [one for row in found.rows for one in row.unmeasured]
    )
    return with_columns(verdict, list(dict.fromkeys(columns)))


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
