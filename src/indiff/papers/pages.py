"""Writes pages and their index as Markdown, charts as SVG: equal input gives equal bytes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from indiff.files import write_text
from indiff.papers.items import PAPERS, Cell, Grid, Item, Page

TIMED = "<!-- measured times: they differ from run to run and are not compared -->"
_STATUS = re.compile(r"^\*\*Status:\*\* (.+)$", re.MULTILINE)


def number(value: Cell) -> str:
    """Write a cell: whole numbers with thousands, others with four significant digits.

    >>> [number(v) for v in (9799, 0.21347, 9.611e-05, 1.0, None, "k")]
    ['9,799', '0.2135', '9.611e-05', '1', '–', 'k']
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}"


def as_markdown(item: Item, page: Page) -> str:
    """Write a page: where it stands, what is printed, our numbers, and every difference."""
    lines = [f"# {item.title}", ""]
    if page.timed:
        lines += [TIMED, ""]
    lines += [f"{PAPERS[item.paper]}. `indiff reproduce {item.name}` makes this page.", ""]
    lines += [f"**Status:** {page.status}", "", f"**Printed:** {page.printed}", ""]
    for chart in page.charts:
        lines += [f"![{chart.shows}]({chart_name(item, chart.part)})", ""]
    for grid in page.tables:
        lines += [*_grid(grid), ""]
    if page.notes:
        lines += ["## Differences, and why", "", *(f"- {note}" for note in page.notes), ""]
    return "\n".join(lines)


def chart_name(item: Item, part: str) -> str:
    """Return the file name of a chart."""
    return f"{item.stem}{part and '-' + part}.svg"


def _grid(grid: Grid) -> list[str]:
    head, *texts = (
        [number(cell).replace("|", "\\|") for cell in row] for row in (grid.header, *grid.rows)
    )
    columns = ([row[place] for row in grid.rows] for place in range(len(grid.header)))
    rule = ["---:" if _numeric(cells) else "---" for cells in columns]
    rows = [f"| {' | '.join(row)} |" for row in [head, rule, *texts]]
    return [f"### {grid.title}", "", *rows]


def _numeric(cells: Sequence[Cell]) -> bool:
    kinds = {type(cell) for cell in cells} - {type(None)}
    return bool(kinds) and str not in kinds


def as_svg(spec: Mapping[str, object]) -> str:
    """Draw a chart; the drawing holds no time, no path and no random name."""
    import vl_convert

    config = {"font": "sans-serif", "background": "white", "view": {"stroke": "#ccc"}}
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    svg: str = vl_convert.vegalite_to_svg(json.dumps({"$schema": schema, "config": config, **spec}))
    return svg.rstrip("\n") + "\n"


def write_page(item: Item, page: Page, folder: Path) -> list[Path]:
    """Write a page and its charts; return the files."""
    files = [folder / f"{item.stem}.md"]
    write_text(files[0], as_markdown(item, page))
    for chart in page.charts:
        files.append(folder / chart_name(item, chart.part))
        write_text(files[-1], as_svg(chart.spec))
    return files


def status_of(item: Item, folder: Path) -> str | None:
    """Read the status of a page in the folder; None where it was never made."""
    path = folder / f"{item.stem}.md"
    if not path.is_file():
        return None
    found = _STATUS.search(path.read_text(encoding="utf-8"))
    return found.group(1) if found else None


def write_index(items: Sequence[Item], folder: Path) -> Path:
    """Write README.md: every item of every paper with the status of its page."""
    lines = [
        "# The papers, recomputed",
        "",
        "Every table and figure of the four papers, our numbers beside the printed ones. "
        "`indiff reproduce all` makes these pages again, `indiff reproduce --list` names the "
        "items.",
        "",
    ]
    for paper, title in PAPERS.items():
        own = [item for item in items if item.paper == paper]
        if not own:
            continue
        lines += [f"## {title}", "", "| item | what | status |", "|---|---|---|"]
        for item in own:
            status = status_of(item, folder)
            name = f"[`{item.name}`]({item.stem}.md)" if status else f"`{item.name}`"
            lines.append(f"| {name} | {item.title} | {status or 'not made yet'} |")
        lines.append("")
    path = folder / "README.md"
    write_text(path, "\n".join(lines))
    return path
